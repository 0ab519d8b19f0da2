//! Sessions that are deleted.

use countersign::store::StoreKey;
use countersign::transcript::ProjectKey;

use super::agree::agrees;
use super::sample::{self, Running, created, life, noted, person, raw, said};
use super::tester::{Reason, Tester, same, some, wrong};
use crate::id::{ApprovalId, ConversationId, MessageId, SessionId};
use crate::session::{
    ApprovalKind, Archived, By, ConversationChanged, Deleted, Happening, Parent, Refused,
    TurnBegan, TurnCause,
};
use crate::store::{
    ApprovalFilter, AuditFilter, Command, SessionFilter, StoreError, Write, WriteError, Written,
};

pub(super) async fn by_itself(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("in use").await?;
    match tester.store.delete(session, By::Server).await {
        Err(WriteError::Refused { refused: Refused::State { .. }, .. }) => {}
        other => return wrong(format!("a session in use was deleted: {other:?}")),
    }
    let put_away = Archived { archived: true, by: person() };
    tester.happen(session, vec![put_away.into()]).await?;
    tester.store.delete(session, By::Server).await?;
    same("the head", &None, &tester.store.head(session).await?)
}

pub(super) async fn everything(tester: &Tester) -> Result<(), Reason> {
    let (gone, stays) = (SessionId::new(), SessionId::new());
    for session in [gone, stays] {
        tester.happen(session, life(session)).await?;
    }
    let (message, approval) = (MessageId::new(), ApprovalId::new());
    let mut more = vec![said(message, "Unforgettable")];
    more.extend(sample::started(2));
    let mut asks = Running::new(gone).asks_for(approval, ApprovalKind::Tool);
    asks.generation = 2;
    asks.token = Some(sample::token());
    more.push(asks.into());
    let why = "over".to_owned();
    let end = crate::session::ProcessEnded { generation: 2, why, failed: false };
    more.push(end.into());
    let head = tester.happen(gone, more).await?;
    let store = &tester.store;
    let audit = AuditFilter { session: Some(gone), ..AuditFilter::default() };
    let audited = store.audit(audit.clone()).await?.items;
    store.delete(gone, person()).await?;

    same("the head", &None, &store.head(gone).await?)?;
    same("the message", &None, &store.message(message).await?)?;
    same("the approval", &None, &store.approval(approval).await?)?;
    same("its token", &None, &store.parking_token(approval).await?)?;
    same("what waits", &0, &store.queued_messages(gone).await?.len())?;
    let filter = ApprovalFilter { session: Some(gone), ..ApprovalFilter::default() };
    same("its approvals", &0, &store.approvals(filter).await?.items.len())?;
    for filter in [
        SessionFilter::default(),
        SessionFilter { words: Some("a life".into()), ..SessionFilter::default() },
        SessionFilter { labels: vec!["two".into()], ..SessionFilter::default() },
    ] {
        let listed: Vec<_> =
            store.sessions(filter).await?.items.iter().map(|head| head.id).collect();
        same("those that are listed", &vec![stays], &listed)?;
    }
    let words = SessionFilter { words: Some("unforgettable".into()), ..SessionFilter::default() };
    same("by its words", &0, &store.sessions(words).await?.items.len())?;
    same("whether it is unsettled", &false, &store.unsettled().await?.contains(&gone))?;
    same("how many there are", &1, &store.totals().await?.sessions.values().sum::<u64>())?;

    let log = tester.log(gone).await?;
    let left = some("the event that says so", log.first())?;
    same("how many events are left", &1, &log.len())?;
    same("its number", &(head.seq + 1), &left.seq)?;
    same("its kind", "session.deleted", left.happening.kind())?;
    same("the last position", &left.position, &store.last_position().await?)?;
    let all = store.all_events(0, &["session.deleted"], 10).await?;
    same("in the log of all", &vec![gone], &all.iter().map(|e| e.session).collect::<Vec<_>>())?;
    let after = store.audit(audit).await?.items;
    let expected: Vec<_> = audited.iter().map(|entry| &*entry.kind).collect();
    let mut got: Vec<_> = after.iter().map(|entry| &*entry.kind).collect();
    same("the newest of the audit", "session.deleted", got.remove(0))?;
    same("the audit", &expected, &got)?;

    agrees(&**store, gone).await?;
    agrees(&**store, stays).await?;
    let again = tester.refused(Write::to(gone, vec![created("again")])).await?;
    same("a session of the same name", &Refused::Exists(gone), &again)?;
    let more = tester.refused(Write::to(gone, vec![noted("more")])).await?;
    same("something after the end", &Refused::NoSession(gone), &more)
}

pub(super) async fn refused(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    match tester.store.delete(running.session, person()).await {
        Err(WriteError::Refused { refused: Refused::State { .. }, .. }) => {}
        other => return wrong(format!("deleted with a process: {other:?}")),
    }
    agrees(&*tester.store, running.session).await?;
    let unknown = SessionId::new();
    match tester.store.delete(unknown, person()).await {
        Err(WriteError::Refused { refused, .. }) => {
            same("of no session", &Refused::NoSession(unknown), &refused)?;
        }
        other => return wrong(format!("deleted, and was not there: {other:?}")),
    }
    // As part of a write, and because of a command that comes again.
    let session = tester.create("short").await?;
    let command = Command {
        owner: "ada".into(),
        key: "delete".into(),
        fingerprint: "delete".into(),
        response: "{}".into(),
    };
    let delete = || -> Happening { Deleted { by: person() }.into() };
    let write = Write::to(session, vec![noted("a last word"), delete()]);
    let write = write.because_of(Some(command));
    tester.write(write.clone()).await?;
    same("what is left", &1, &tester.log(session).await?.len())?;
    match tester.store.write(write).await? {
        Written::Before { .. } => {}
        Written::Now { .. } => return wrong("deleted again"),
    }
    let short = SessionId::new();
    let all = vec![created("very short"), said(MessageId::new(), "Hi"), delete(), noted("after")];
    same(
        "after the end",
        &Refused::NoSession(short),
        &tester.refused(Write::to(short, all)).await?,
    )?;
    tester.write(Write::to(short, vec![created("very short"), delete()])).await?;
    same("what is left", &1, &tester.log(short).await?.len())?;
    agrees(&*tester.store, short).await
}

fn key(project: &str, conversation: ConversationId) -> Result<StoreKey, Reason> {
    let session = conversation.to_string().into();
    StoreKey::new(ProjectKey::of_text(project), session)
        .map_err(|error| StoreError::Unavailable(Box::new(error)).into())
}

pub(super) async fn transcripts(tester: &Tester) -> Result<(), Reason> {
    let store = tester.store.transcripts();
    let [first, second, copied, other]: [ConversationId; 4] =
        std::array::from_fn(|_| ConversationId::new());
    let begin = |conversation| -> Happening {
        let mut creation = sample::creation("with transcripts");
        creation.conversation = conversation;
        creation.into()
    };
    let (session, stays) = (SessionId::new(), SessionId::new());
    let changed = |conversation| -> Happening {
        ConversationChanged { conversation, begun: true, retell: false }.into()
    };
    let all = vec![begin(first), changed(copied), changed(second)];
    tester.happen(session, all).await?;
    tester.happen(stays, vec![begin(other)]).await?;
    let entries = [raw(r#"{"type":"x"}"#)];
    for conversation in [first, second, copied, other] {
        store.append(&key("/work", conversation)?, &entries).await?;
    }
    store.append(&key("/elsewhere", first)?, &entries).await?;
    // A copy that was not made yet needs what it is a copy of; one that was made does not.
    for (conversation, is_made) in [(copied, false), (first, true)] {
        let child = SessionId::new();
        let mut creation = sample::creation("copy");
        creation.parent = Some(Parent::Fork { session, conversation, at: None });
        tester.happen(child, vec![creation.into()]).await?;
        if is_made {
            let mut made = sample::started(1);
            let turn = crate::id::TurnId::new();
            made.push(TurnBegan { turn, cause: TurnCause::Cli }.into());
            tester.happen(child, made).await?;
        }
    }
    tester.store.delete(session, person()).await?;
    for (what, project, conversation, is_there) in [
        ("its first conversation", "/work", first, false),
        ("the same in another project", "/elsewhere", first, false),
        ("its second conversation", "/work", second, false),
        ("what a copy is to be made of", "/work", copied, true),
        ("that of another session", "/work", other, true),
    ] {
        let found = store.load(&key(project, conversation)?).await?;
        same(what, &is_there, &found.is_some())?;
    }
    Ok(())
}
