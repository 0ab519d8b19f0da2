//! Commands that come again.

use std::sync::Arc;

use super::sample::{self, noted};
use super::tester::{Reason, Tester, same, wrong};
use super::writing::at_once;
use crate::access::Clock as _;
use crate::id::{SessionId, TurnId};
use crate::session::{InterruptAsked, Refused};
use crate::store::{Command, Write, WriteError, Written};

fn command(owner: &str, key: &str, fingerprint: &str) -> Command {
    let (owner, key) = (owner.to_owned(), key.to_owned());
    let response = format!(r#"{{"for":"{fingerprint}","nul":"\u0000"}}"#);
    Command { owner, key, fingerprint: fingerprint.to_owned(), response }
}

fn note(session: SessionId, command: Command) -> Write {
    Write::to(session, vec![noted("because of a command")]).because_of(Some(command))
}

async fn before(tester: &Tester, write: Write) -> Result<String, Reason> {
    match tester.store.write(write).await? {
        Written::Before { response } => Ok(response),
        Written::Now { .. } => wrong("it was written again"),
    }
}

pub(super) async fn again(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("commanded").await?;
    let first = command("ada", "key", "note");
    tester.write(note(session, first.clone())).await?;
    let log = tester.log(session).await?.len();
    let mut second = first.clone();
    second.response = "another answer".into();
    for _ in 0..2 {
        let response = before(tester, note(session, second.clone())).await?;
        same("what is answered", &first.response, &response)?;
    }
    // Whatever came of the session meanwhile.
    let gone = before(tester, note(SessionId::new(), second)).await?;
    same("what is answered for what would be refused now", &first.response, &gone)?;
    same("the log", &log, &tester.log(session).await?.len())?;
    // A command that changes nothing is kept as well.
    let nothing = || Write::default().because_of(Some(command("ada", "nothing", "nothing")));
    tester.write(nothing()).await?;
    before(tester, nothing()).await?;
    // And so is one with an odd key.
    for key in ["", "\0", "\0\0", "\u{fffd}", &"long ".repeat(2000), "' OR TRUE --"] {
        let odd = || note(session, command("ada", key, key));
        tester.write(odd()).await?;
        before(tester, odd()).await?;
    }
    Ok(())
}

pub(super) async fn together(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("commanded").await?;
    let store = Arc::clone(&tester.store);
    let results = at_once(20, |_| {
        let store = Arc::clone(&store);
        Box::pin(async move { store.write(note(session, command("ada", "key", "note"))).await })
    });
    let mut now = 0;
    for result in results.await? {
        now += usize::from(matches!(result?, Written::Now { .. }));
    }
    same("how often it was carried out", &1, &now)?;
    same("the log", &2, &tester.log(session).await?.len())
}

pub(super) async fn reused(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("commanded").await?;
    tester.write(note(session, command("ada", "key", "note"))).await?;
    let log = tester.log(session).await?.len();
    match tester.store.write(note(session, command("ada", "key", "something else"))).await {
        Err(WriteError::KeyReused(key)) => same("the key", "key", &*key)?,
        other => return wrong(format!("a key for another command: {other:?}")),
    }
    same("the log", &log, &tester.log(session).await?.len())?;
    tester.write(note(session, command("bob", "key", "something else"))).await?;
    // Owner and key are apart: neither is the other's beginning.
    tester.write(note(session, command("ad", "akey", "something else"))).await?;
    tester.write(note(session, command("adakey", "", "something else"))).await?;
    same("the log", &(log + 3), &tester.log(session).await?.len())
}

pub(super) async fn refused(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let interrupt = |turn| {
        let asked = InterruptAsked { turn, by: sample::person() };
        let command = command("ada", "key", "interrupt");
        Write::to(running.session, vec![asked.into()]).because_of(Some(command))
    };
    let refused = tester.refused(interrupt(TurnId::new())).await?;
    same("whether it is refused", &true, &matches!(refused, Refused::StaleTurn { .. }))?;
    tester.write(interrupt(running.turn)).await?;
    before(tester, interrupt(running.turn)).await.map(drop)
}

pub(super) async fn forgotten(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("commanded").await?;
    tester.write(note(session, command("ada", "old", "note"))).await?;
    let between = tester.time.now();
    tester.write(note(session, command("ada", "new", "note"))).await?;
    same("how many are forgotten", &1, &tester.store.forget_commands(between).await?)?;
    same("how many are forgotten then", &0, &tester.store.forget_commands(between).await?)?;
    tester.write(note(session, command("ada", "old", "note"))).await?;
    before(tester, note(session, command("ada", "new", "note"))).await.map(drop)
}
