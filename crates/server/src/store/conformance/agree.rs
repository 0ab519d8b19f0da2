//! Whether what is kept is what the log makes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::tester::{Reason, same, whole_log, wrong};
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{Approval, Event, Happening, Head};
use crate::store::{ApprovalFilter, Store, StoredMessage, derive, open_approval, update_approval};

/// What a log makes of a session, its approvals and its messages.
#[derive(Debug, Default)]
pub struct Folded {
    /// The session; nothing for a log without events, or of one that was deleted.
    pub head: Option<Head>,
    /// What a person was asked.
    pub approvals: BTreeMap<ApprovalId, Approval>,
    /// What was said.
    pub messages: BTreeMap<MessageId, StoredMessage>,
}

/// Makes everything again from a log.
///
/// # Errors
/// When the log is not one that the rules allow.
pub fn fold(events: &[Arc<Event>]) -> Result<Folded, Reason> {
    let mut folded = Folded::default();
    for event in events {
        let (session, at, happening) = (event.session, event.at, &event.happening);
        let judged = match folded.head.take() {
            Some(mut head) => head.apply(at, happening).map(|()| head),
            // All that is left of a session that was deleted.
            None if matches!(happening, Happening::Deleted(_)) => return Ok(Folded::default()),
            None => Head::create(session, at, happening),
        };
        let head = match judged {
            Ok(head) => head,
            Err(refused) => return wrong(format!("the log has what the rules refuse: {refused}")),
        };
        let derived = derive(session, at, happening);
        folded.messages.extend(derived.message.map(|message| (message.id, message)));
        if let Some((approval, _)) = open_approval(&head, at, happening) {
            folded.approvals.insert(approval.id, approval);
        } else if let Some(approval) = derived.approval.and_then(|id| folded.approvals.get_mut(&id))
        {
            update_approval(approval, at, happening);
        }
        same("the number of an event", &head.seq, &event.seq)?;
        folded.head = Some(head);
    }
    Ok(folded)
}

/// Looks whether the head, the approvals and the messages of a session are those that its log makes.
///
/// # Errors
/// When they are not, or the store fails.
pub async fn agrees(store: &dyn Store, session: SessionId) -> Result<(), Reason> {
    let events = whole_log(store, session).await?;
    let folded = fold(&events)?;
    same("the head", &folded.head.map(Arc::new), &store.head(session).await?)?;
    let mut filter = ApprovalFilter { session: Some(session), ..ApprovalFilter::default() };
    let mut listed = BTreeMap::new();
    loop {
        let page = store.approvals(filter.clone()).await?;
        listed.extend(page.items.into_iter().map(|approval| (approval.id, approval)));
        let Some(next) = page.next else { break };
        filter.after = Some(next);
    }
    same("the approvals", &folded.approvals, &listed)?;
    for (id, message) in folded.messages {
        same("a message", &Some(message), &store.message(id).await?)?;
    }
    Ok(())
}
