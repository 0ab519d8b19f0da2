//! What else is kept.

use std::sync::{Arc, Mutex, PoisonError};

use countersign::process::{Mark, ProcessId};
use countersign::store::{MemoryStore, StoreKey};
use countersign::transcript::ProjectKey;
use jiff::SignedDuration;

use super::Place;
use super::agree::agrees;
use super::sample::{life, noted, person, raw};
use super::tester::{Reason, Tester, same, same_events, wrong};
use crate::access::Clock as _;
use crate::bus::Bus;
use crate::id::SessionId;
use crate::store::{ServerRun, StoreError, Write, WriteError};

/// The rules of another suite, which a store keeps as well.
pub(super) const TRANSCRIPTS: &str = "transcripts are kept as a session store keeps them";

pub(super) async fn transcripts(fresh: impl AsyncFn() -> Arc<dyn Place>) -> Result<(), Reason> {
    let opened = Mutex::new(Vec::new());
    let keep = |tester| opened.lock().unwrap_or_else(PoisonError::into_inner).push(tester);
    let report = countersign::store::conformance::check(async || {
        let tester = Tester::open(fresh().await).await;
        let store = match &tester {
            Ok(tester) => tester.store.transcripts(),
            Err(_) => Arc::new(MemoryStore::new()),
        };
        keep(tester);
        store
    });
    let report = report.await?;
    for tester in opened.into_inner().unwrap_or_else(PoisonError::into_inner) {
        tester?.store.close().await?;
    }
    same("the rules that it does not offer", &Vec::<&str>::new(), &report.skipped)
}

pub(super) async fn cursors(tester: &Tester) -> Result<(), Reason> {
    let store = &tester.store;
    same("at first", &None, &store.cursor("hook").await?)?;
    for position in [5, 3, u64::try_from(i64::MAX).unwrap_or_default()] {
        store.set_cursor("hook", position).await?;
        same("how far it has come", &Some(position), &store.cursor("hook").await?)?;
    }
    store.set_cursor("hook 'two' %", 1).await?;
    same("of another", &Some(1), &store.cursor("hook 'two' %").await?)?;
    same("of none", &None, &store.cursor("Hook").await?)
}

fn mark(number: u8) -> Result<Mark, Reason> {
    let text = format!("COUNTERSIGN_OWNER=00000000-0000-4000-8000-0000000000{number:02}");
    text.parse().map_err(|error| StoreError::Unavailable(Box::new(error)).into())
}

pub(super) async fn runs(tester: &Tester) -> Result<(), Reason> {
    let store = &tester.store;
    let mut before = Vec::new();
    for number in 1..4 {
        let process = (number != 2).then(ProcessId::of_this_process).flatten();
        let began_at = tester.time.now();
        let run = ServerRun { mark: mark(number)?, process, began_at };
        same("those before it", &before, &store.begin_run(run.clone()).await?)?;
        before.push(run);
    }
    // One that begins again is not one before it.
    let last = before.pop();
    if let Some(last) = &last {
        same("the others", &before, &store.begin_run(last.clone()).await?)?;
    }
    store.end_run(mark(1)?).await?;
    store.end_run(mark(9)?).await?;
    before.remove(0);
    before.extend(last);
    let began_at = tester.time.now();
    let run = ServerRun { mark: mark(5)?, process: None, began_at };
    same("those that are left", &before, &store.begin_run(run).await?)
}

pub(super) async fn in_use(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("mine").await?;
    let second = tester.place.open(Arc::new(Bus::new()), Arc::new(tester.time.clone())).await;
    match second.map(drop) {
        Err(StoreError::InUse(message)) => {
            same("whether it says what to do", &true, &message.contains("stop"))?;
        }
        other => return wrong(format!("opened by a second server: {other:?}")),
    }
    tester.happen(session, vec![noted("still mine")]).await?;
    Ok(())
}

pub(super) async fn again(tester: &Tester) -> Result<(), Reason> {
    let sessions: [SessionId; 3] = std::array::from_fn(|_| SessionId::new());
    for session in sessions {
        tester.happen(session, life(session)).await?;
    }
    let [gone, first, second] = sessions;
    tester.store.delete(gone, person()).await?;
    tester.store.set_cursor("hook", 7).await?;
    let transcript = StoreKey::new(ProjectKey::of_text("/work"), first.to_string().into());
    let transcript = transcript.map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    let entries = vec![raw(r#"{ "type": "x" }"#)];
    tester.store.transcripts().append(&transcript, &entries).await?;
    let before = tester.store.all_events(0, &[], 1000).await?;
    let listed = tester.store.sessions(Default::default()).await?;
    let approvals = tester.store.approvals(Default::default()).await?;
    let audit = tester.store.audit(Default::default()).await?;
    let totals = tester.store.totals().await?;
    tester.store.close().await?;

    let bus = Arc::new(Bus::new());
    let store = tester.place.open(Arc::clone(&bus), Arc::new(tester.time.clone())).await?;
    same_events("the log", &before, &store.all_events(0, &[], 1000).await?)?;
    same("the sessions", &listed, &store.sessions(Default::default()).await?)?;
    same("the approvals", &approvals, &store.approvals(Default::default()).await?)?;
    same("the audit", &audit, &store.audit(Default::default()).await?)?;
    same("the totals", &totals, &store.totals().await?)?;
    same("the cursor", &Some(7), &store.cursor("hook").await?)?;
    let loaded = store.transcripts().load(&transcript).await?;
    same("the transcript", &Some(entries), &loaded)?;
    let mut told = bus.subscribe_all();
    let last = store.last_position().await?;
    store.write(Write::to(second, vec![noted("again")])).await?;
    same("whether the position has grown", &true, &(store.last_position().await? > last))?;
    same("whether subscribers are told", &true, &told.try_recv().is_ok())?;
    let old = store.write(Write::to(gone, vec![noted("gone")])).await;
    same("the deleted one", &true, &matches!(old, Err(WriteError::Refused { .. })))?;
    agrees(&*store, first).await?;
    agrees(&*store, second).await?;
    Ok(store.close().await?)
}

pub(super) async fn closed(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("closed").await?;
    let (store, transcripts) = (&tester.store, tester.store.transcripts());
    let waiting = store.write(Write::to(session, vec![noted("last")]));
    let (written, closed) = tokio::join!(waiting, store.close());
    closed?;
    // Whatever came first, it is known what became of it.
    match written {
        Ok(_) | Err(WriteError::Store(StoreError::Closed)) => {}
        Err(other) => return Err(other.into()),
    }
    let is_closed = |result: Result<(), StoreError>| match result {
        Err(StoreError::Closed) => Ok(()),
        Err(other) => Err(other.into()),
        Ok(()) => wrong("a closed store was used"),
    };
    is_closed(store.head(session).await.map(drop))?;
    is_closed(store.check().await)?;
    is_closed(store.set_cursor("hook", 1).await)?;
    match store.write(Write::to(session, vec![noted("too late")])).await {
        Err(WriteError::Store(StoreError::Closed)) => {}
        other => return wrong(format!("written to a closed store: {other:?}")),
    }
    let project = ProjectKey::of_text("/work");
    same("transcripts", &true, &transcripts.list_sessions(&project).await.is_err())?;
    Ok(store.close().await?)
}

pub(super) async fn can_be_written(tester: &Tester) -> Result<(), Reason> {
    for _ in 0..2 {
        tester.store.check().await?;
        tester.time.pass(SignedDuration::from_hours(-5));
    }
    same("the log", &0, &tester.store.last_position().await?)
}
