//! Who is told of what was written.

use std::sync::Arc;

use tokio::sync::broadcast::error::TryRecvError;

use super::sample::{self, noted};
use super::tester::{Reason, Tester, same, same_events, some, wrong};
use super::writing::at_once;
use crate::bus::News;
use crate::id::{SessionId, TurnId};
use crate::session::{Event, Head, InterruptAsked};
use crate::store::{Command, Write, WriteError};

type Told = (Arc<Event>, Arc<Head>);

fn told(from: &mut tokio::sync::broadcast::Receiver<News>) -> Result<Vec<Told>, Reason> {
    let mut all = Vec::new();
    loop {
        match from.try_recv() {
            Ok(News::Event { event, head }) => all.push((event, head)),
            Ok(other) => return wrong(format!("told of something else: {other:?}")),
            Err(TryRecvError::Empty) => return Ok(all),
            Err(error) => return wrong(format!("not told everything: {error}")),
        }
    }
}

pub(super) async fn in_order(tester: &Tester) -> Result<(), Reason> {
    let mut all = tester.bus.subscribe_all();
    let sessions: [SessionId; 4] = std::array::from_fn(|_| SessionId::new());
    let mut write = Write::default();
    for session in sessions {
        write = write.and_to(session, vec![sample::created("told")]);
    }
    tester.write(write).await?;
    let [first, ..] = sessions;
    let mut one = tester.bus.subscribe(first);
    let store = Arc::clone(&tester.store);
    let results = at_once(20, |number| {
        let store = Arc::clone(&store);
        let session = sessions.get(number % sessions.len()).copied().unwrap_or(first);
        Box::pin(async move {
            for _ in 0..5 {
                store.write(Write::to(session, vec![noted("a"), noted("b")])).await?;
            }
            Ok::<_, WriteError>(())
        })
    });
    for result in results.await? {
        result?;
    }
    // Whoever wrote was answered after everybody was told.
    let told_all = told(&mut all)?;
    let events: Vec<_> = told_all.iter().map(|(event, _)| Arc::clone(event)).collect();
    let on_disk = tester.store.all_events(0, &[], 1000).await?;
    same_events("what subscribers were told", &on_disk, &events)?;
    let json = |events: &[Arc<Event>]| events.iter().map(|e| e.json()).collect::<Vec<_>>();
    same("as JSON", &json(&on_disk), &json(&events))?;
    let told_one = told(&mut one)?;
    let events: Vec<_> = told_one.iter().map(|(event, _)| Arc::clone(event)).collect();
    same_events("of one session", &tester.store.events(first, 1, 1000).await?, &events)?;
    for (event, head) in told_one {
        // Two were written at once, so the head is after both.
        let expected = if event.seq % 2 == 0 { event.seq + 1 } else { event.seq };
        same("the head", &(event.session, expected), &(head.id, head.seq))?;
    }
    let last = told_all.iter().rfind(|(event, _)| event.session == first);
    let (_, head) = some("the last event", last)?;
    same("the last head", head, &tester.head(first).await?)
}

pub(super) async fn nothing_else(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("quiet").await?;
    let mut all = tester.bus.subscribe_all();
    let stale = InterruptAsked { turn: TurnId::new(), by: sample::person() };
    tester.refused(Write::to(session, vec![noted("a"), stale.into()])).await?;
    same("of what was refused", &0, &told(&mut all)?.len())?;
    let command = Command {
        owner: "ada".into(),
        key: "key".into(),
        fingerprint: "note".into(),
        response: "{}".into(),
    };
    let write = Write::to(session, vec![noted("a")]).because_of(Some(command));
    for expected in [1, 0] {
        tester.store.write(write.clone()).await?;
        same("of a command", &expected, &told(&mut all)?.len())?;
    }
    tester.store.delete(session, sample::person()).await?;
    let told = told(&mut all)?;
    same("of its end", &1, &told.len())?;
    let (event, head) = some("its end", told.into_iter().next())?;
    same("the kind", "session.deleted", event.happening.kind())?;
    same("the head after it", &(session, event.seq), &(head.id, head.seq))
}
