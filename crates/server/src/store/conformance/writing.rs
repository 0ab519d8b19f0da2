//! What is written, and what is not.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::agree::agrees;
use super::sample::{self, Running, allowed, closed, created, life, noted, said};
use super::tester::{Reason, Tester, same, some, wrong};
use crate::id::{ApprovalId, MessageId, SessionId, TurnId};
use crate::session::{
    ApprovalEnd, Happening, InterruptAsked, MessageContent, MessageEdited, Refused, TurnEnd,
    TurnEnded,
};
use crate::store::{SessionFilter, StoreError, Write, WriteError, Written};

/// How many write at the same time.
const MANY: usize = 50;

/// Runs something many times at once.
pub(super) async fn at_once<T: Send + 'static>(
    count: usize,
    task: impl Fn(usize) -> crate::store::StoreFuture<'static, T, WriteError>,
) -> Result<Vec<Result<T, WriteError>>, Reason> {
    let mut tasks = JoinSet::new();
    for number in 0..count {
        tasks.spawn(task(number));
    }
    let mut results = Vec::new();
    while let Some(joined) = tasks.join_next().await {
        results.push(joined.map_err(|error| StoreError::Unavailable(Box::new(error)))?);
    }
    Ok(results)
}

pub(super) async fn refused_whole(tester: &Tester) -> Result<(), Reason> {
    let (one, two, new) =
        (tester.create("one").await?, tester.create("two").await?, SessionId::new());
    let before = (tester.head(one).await?, tester.head(two).await?);
    let position = tester.store.last_position().await?;
    let message = MessageId::new();
    let stale = InterruptAsked { turn: TurnId::new(), by: sample::person() };
    let write = Write::to(new, vec![created("new"), said(message, "Searched for")])
        .and_to(one, vec![noted("good"), noted("good")])
        .and_to(two, vec![noted("good"), stale.into()]);
    match tester.store.write(write).await {
        Err(WriteError::Refused { session, refused: Refused::StaleTurn { .. } }) => {
            same("the session that refused", &two, &session)?;
        }
        other => return wrong(format!("not refused as it should be: {other:?}")),
    }
    same("the sessions", &before, &(tester.head(one).await?, tester.head(two).await?))?;
    same("the session that would be new", &None, &tester.store.head(new).await?)?;
    same("the log of the new one", &0, &tester.log(new).await?.len())?;
    same("the message", &None, &tester.store.message(message).await?)?;
    same("the last position", &position, &tester.store.last_position().await?)?;
    let words = SessionFilter { words: Some("searched".into()), ..SessionFilter::default() };
    same("what is found", &0, &tester.store.sessions(words).await?.items.len())?;
    let audit = tester.store.audit(Default::default()).await?;
    same("the audit", &2, &audit.items.len())?;
    // And it goes on where it was.
    let (events, _) = tester.write(Write::to(two, vec![noted("good")])).await?;
    same("the next number", &Some(2), &events.first().map(|event| event.seq))?;
    agrees(&*tester.store, two).await
}

pub(super) async fn others_go_on(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("busy").await?;
    let store = Arc::clone(&tester.store);
    let results = at_once(MANY, |number| {
        let store = Arc::clone(&store);
        Box::pin(async move {
            let happening: Happening = if number % 2 == 0 {
                noted("good")
            } else {
                InterruptAsked { turn: TurnId::new(), by: sample::person() }.into()
            };
            store.write(Write::to(session, vec![noted("first"), happening])).await
        })
    });
    let results = results.await?;
    let written = results.iter().filter(|result| result.is_ok()).count();
    let refused =
        results.iter().filter(|result| matches!(result, Err(WriteError::Refused { .. }))).count();
    same("how many were written and refused", &(MANY / 2, MANY / 2), &(written, refused))?;
    same("how many events there are", &(MANY + 1), &tester.log(session).await?.len())?;
    agrees(&*tester.store, session).await
}

pub(super) async fn several_sessions(tester: &Tester) -> Result<(), Reason> {
    let (one, two) = (SessionId::new(), SessionId::new());
    let write = Write::to(one, vec![created("one"), noted("a")])
        .and_to(two, vec![created("two")])
        .and_to(one, vec![noted("b")])
        .and_to(two, vec![]);
    let (events, heads) = tester.write(write).await?;
    let order: Vec<_> = events.iter().map(|event| (event.session, event.seq)).collect();
    same("the events", &vec![(one, 1), (one, 2), (two, 1), (one, 3)], &order)?;
    let heads: Vec<_> = heads.iter().map(|head| (head.id, head.seq)).collect();
    same("the heads", &vec![(one, 3), (two, 1), (one, 3), (two, 1)], &heads)?;
    agrees(&*tester.store, one).await?;
    agrees(&*tester.store, two).await?;
    let (events, heads) = tester.write(Write::default()).await?;
    same("a write of nothing", &(0, 0), &(events.len(), heads.len()))
}

pub(super) async fn no_session(tester: &Tester) -> Result<(), Reason> {
    let unknown = SessionId::new();
    let no = Refused::NoSession(unknown);
    same("to no session", &no, &tester.refused(Write::to(unknown, vec![noted("a")])).await?)?;
    same("nothing to no session", &no, &tester.refused(Write::to(unknown, vec![])).await?)?;
    same("the head of no session", &None, &tester.store.head(unknown).await?)?;
    let session = tester.create("once").await?;
    let again = tester.refused(Write::to(session, vec![created("twice")])).await?;
    same("made again", &Refused::Exists(session), &again)?;
    same("the title", "once", &*tester.head(session).await?.title)
}

pub(super) async fn first_answer(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let (session, approval) = (running.session, ApprovalId::new());
    tester.happen(session, vec![running.asks(approval)]).await?;
    let store = Arc::clone(&tester.store);
    let results = at_once(MANY, |_| {
        let store = Arc::clone(&store);
        Box::pin(async move { store.write(Write::to(session, vec![allowed(approval)])).await })
    });
    let mut winner = None;
    for result in results.await? {
        match result {
            Ok(Written::Now { events, .. }) => {
                same("whether another one was first", &true, &winner.is_none())?;
                winner = events.into_iter().next();
            }
            Err(WriteError::Refused { refused, .. }) => {
                same("why it is refused", &Refused::Answered(approval), &refused)?;
            }
            other => return wrong(format!("neither written nor refused: {other:?}")),
        }
    }
    let winner = some("the first answer", winner)?;
    let Happening::ApprovalAnswered(answered) = &winner.happening else {
        return wrong("something else than an answer was written");
    };
    let kept = some("the approval", tester.store.approval(approval).await?)?;
    let given = some("its answer", kept.given)?;
    same("who answered", &answered.by, &given.by)?;
    agrees(&*tester.store, session).await
}

pub(super) async fn many_writers(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("busy").await?;
    let store = Arc::clone(&tester.store);
    let results = at_once(MANY, |number| {
        let store = Arc::clone(&store);
        Box::pin(async move {
            for n in 0..4 {
                let texts = [0, 1].map(|part| noted(&format!("{number} {n} {part}")));
                store.write(Write::to(session, texts.to_vec())).await?;
            }
            Ok(())
        })
    });
    for result in results.await? {
        result?;
    }
    let log = tester.log(session).await?;
    same("how many events there are", &(MANY * 8 + 1), &log.len())?;
    let texts: Vec<_> = log
        .iter()
        .filter_map(|event| match &event.happening {
            Happening::Noted(noted) => Some(&*noted.text),
            _ => None,
        })
        .collect();
    for pair in texts.chunks(2) {
        let of = |text: Option<&&str>| {
            text.and_then(|text| text.rsplit_once(' ')).map(|(of, _)| of.to_owned())
        };
        same("what was written at once", &of(pair.first()), &of(pair.last()))?;
    }
    agrees(&*tester.store, session).await
}

pub(super) async fn stale_turn(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let (session, turn) = (running.session, running.turn);
    let interrupt =
        || Write::to(session, vec![InterruptAsked { turn, by: sample::person() }.into()]);
    tester.write(interrupt()).await?;
    let end = TurnEnd::Interrupted;
    tester.happen(session, vec![TurnEnded { turn, end, used: None, why: None }.into()]).await?;
    let stale = tester.refused(interrupt()).await?;
    same("why", &Refused::StaleTurn { meant: turn, running: None }, &stale)
}

pub(super) async fn names(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let other = tester.running().await?;
    let approval = ApprovalId::new();
    let ask = |of: &Running| Write::to(of.session, vec![of.asks(approval)]);
    tester.write(ask(&running)).await?;
    let not_open = Refused::NotOpen(approval);
    same("opened in another session", &not_open, &tester.refused(ask(&other)).await?)?;
    same("opened again", &not_open, &tester.refused(ask(&running)).await?)?;
    let foreign = Write::to(other.session, vec![allowed(approval)]);
    same("answered in another session", &not_open, &tester.refused(foreign).await?)?;
    let cancelled = closed(approval, ApprovalEnd::Cancelled);
    tester.happen(running.session, vec![cancelled]).await?;
    same("opened after it was closed", &not_open, &tester.refused(ask(&running)).await?)?;
    let twice = ApprovalId::new();
    let write = Write::to(running.session, vec![running.asks(twice), running.asks(twice)]);
    same("opened twice at once", &Refused::NotOpen(twice), &tester.refused(write).await?)?;

    let exists = Refused::MessageExists(running.message);
    for session in [running.session, other.session] {
        let write = Write::to(session, vec![said(running.message, "Again")]);
        same("said again", &exists, &tester.refused(write).await?)?;
    }
    let content = MessageContent::text("Changed");
    let (message, by) = (running.message, sample::person());
    let edited = MessageEdited { message, content, by };
    let edited = tester.refused(Write::to(other.session, vec![edited.into()])).await?;
    same("edited in another session", &Refused::NotQueued(message), &edited)?;
    agrees(&*tester.store, running.session).await?;
    agrees(&*tester.store, other.session).await
}

pub(super) async fn head_is_the_log(tester: &Tester) -> Result<(), Reason> {
    let session = SessionId::new();
    for happening in life(session) {
        let head = tester.happen(session, vec![happening]).await?;
        same("what is read", &head, &tester.head(session).await?)?;
        agrees(&*tester.store, session).await?;
    }
    Ok(())
}
