//! What a write changes: judged by the rules of sessions, and the same for every store.
//!
//! A store looks up what [`Needs`] names, lets [`Plan::new`] judge, and writes the plan down as it
//! is. Nothing here knows a database.

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use countersign_protocol::RawJson;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::clock::to_number;
use super::error::{StoreError, WriteError};
use super::projection::{AuditEntry, derive, open_approval, update_approval};
use super::query::StoredMessage;
use super::words::{folded, storable, words_of};
use super::{Command, ServerRun, Write, Written};
use crate::bus::Bus;
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{Approval, Event, Happening, Head, Process, Refused, Stage};

/// What has to be looked up before a write can be judged.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Sessions, each once.
    pub(super) sessions: Vec<SessionId>,
    /// Approvals that are changed, or whose name must be new.
    pub(super) approvals: Vec<ApprovalId>,
    /// Messages whose name must be new.
    pub(super) messages: Vec<MessageId>,
}

impl Needs {
    pub(super) fn of(write: &Write) -> Self {
        let mut needs = Self::default();
        let mut seen = HashSet::new();
        for append in &write.appends {
            if seen.insert(append.session) {
                needs.sessions.push(append.session);
            }
            for happening in &append.happenings {
                needs.approvals.extend(approval_of(happening));
                if let Happening::MessageQueued(queued) = happening {
                    needs.messages.push(queued.message);
                }
            }
        }
        needs
    }
}

const fn approval_of(happening: &Happening) -> Option<ApprovalId> {
    match happening {
        Happening::ApprovalOpened(body) => Some(body.approval),
        Happening::ApprovalAnswered(body) => Some(body.approval),
        Happening::ApprovalDelivered(body) => Some(body.approval),
        Happening::ApprovalClosed(body) => Some(body.approval),
        _ => None,
    }
}

/// What was found of it.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The sessions that there are.
    pub(super) heads: HashMap<SessionId, Arc<Head>>,
    /// Sessions that there were, and that were deleted. Their names are not used again.
    pub(super) deleted: HashSet<SessionId>,
    /// The approvals that there are.
    pub(super) approvals: HashMap<ApprovalId, Approval>,
    /// The messages that there are.
    pub(super) messages: HashSet<MessageId>,
}

/// What a write changes.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What is added to the log, in this order.
    pub(super) records: Vec<Record>,
    /// What becomes of the sessions, each once.
    pub(super) sessions: Vec<Change>,
    /// The approvals that are new or changed.
    pub(super) approvals: BTreeMap<ApprovalId, ChangedApproval>,
    /// The messages that are new or changed.
    pub(super) messages: BTreeMap<MessageId, StoredMessage>,
    /// What is added to the audit, in this order.
    pub(super) audit: Vec<AuditEntry>,
}

/// An event before it is in the log.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) session: SessionId,
    pub(super) seq: u64,
    pub(super) kind: &'static str,
    pub(super) body: String,
    /// What happened, as it can be read from the body.
    happening: Happening,
    /// The words that the session can be found by from now on.
    pub(super) words: Vec<String>,
    /// The message whose words before this it cannot be found by any more, as the bodies of its events
    /// begin.
    pub(super) unsays: Option<String>,
}

/// What becomes of a session.
#[derive(Debug)]
pub(super) struct Change {
    /// What it was; nothing if it is new.
    pub(super) before: Option<Arc<Head>>,
    /// What it is.
    pub(super) after: Arc<Head>,
    /// Whether everything that it had is deleted.
    pub(super) is_deleted: bool,
}

impl Change {
    /// Whether the labels have to be written.
    pub(super) fn changes_labels(&self) -> bool {
        match &self.before {
            Some(before) => before.labels != self.after.labels,
            None => !self.after.labels.is_empty(),
        }
    }
}

/// An approval that is new or changed.
#[derive(Debug)]
pub(super) struct ChangedApproval {
    pub(super) approval: Approval,
    /// What brings its call back; for a new one only.
    pub(super) token: Option<RawJson>,
    pub(super) is_new: bool,
}

impl Plan {
    /// Judges a write.
    pub(super) fn new(write: &Write, at: Timestamp, known: &Known) -> Result<Self, WriteError> {
        let mut planner = Planner { at, known, sessions: Vec::new(), plan: Self::default() };
        for append in &write.appends {
            let session = append.session;
            let place = planner.place_of(session);
            for happening in &append.happenings {
                planner.add(place, session, happening)?;
            }
            let is_there = planner.sessions.get(place).is_some_and(|working| working.now.is_some());
            if append.happenings.is_empty() && !is_there {
                let refused = Refused::NoSession(session);
                return Err(WriteError::Refused { session, refused });
            }
        }
        Ok(planner.finish())
    }

    /// What the session is after the write.
    pub(super) fn head(&self, session: SessionId) -> Option<&Arc<Head>> {
        let found = self.sessions.iter().find(|change| change.after.id == session);
        found.map(|change| &change.after)
    }

    /// What the caller is told, and what subscribers are told, after the events were given these
    /// positions.
    pub(super) fn written(
        mut self,
        write: &Write,
        at: Timestamp,
        positions: &[u64],
    ) -> (Written, Vec<Published>) {
        let (mut events, mut news) = (Vec::new(), Vec::new());
        for (record, position) in std::mem::take(&mut self.records).into_iter().zip(positions) {
            let Record { session, seq, happening, .. } = record;
            let event = Arc::new(Event::new(session, seq, *position, at, happening));
            let head = self.head(session).cloned();
            news.extend(head.map(|head| Published { event: Arc::clone(&event), head }));
            events.push(event);
        }
        let heads = write.appends.iter().filter_map(|append| self.head(append.session));
        (Written::Now { events, heads: heads.cloned().collect() }, news)
    }
}

/// What subscribers are told once it is on disk.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) event: Arc<Event>,
    pub(super) head: Arc<Head>,
}

impl Published {
    pub(super) fn publish(self, bus: &Bus) {
        bus.publish(self.event, self.head);
    }
}

struct Planner<'a> {
    at: Timestamp,
    known: &'a Known,
    sessions: Vec<Working>,
    plan: Plan,
}

/// A session while it is judged.
struct Working {
    session: SessionId,
    before: Option<Arc<Head>>,
    now: Option<Head>,
    deleted: Option<Head>,
}

impl Planner<'_> {
    fn place_of(&mut self, session: SessionId) -> usize {
        if let Some(place) = self.sessions.iter().position(|working| working.session == session) {
            return place;
        }
        let before = self.known.heads.get(&session).cloned();
        let now = before.as_deref().cloned();
        self.sessions.push(Working { session, before, now, deleted: None });
        self.sessions.len() - 1
    }

    /// Judges one thing that happens.
    fn add(
        &mut self,
        place: usize,
        session: SessionId,
        happening: &Happening,
    ) -> Result<(), WriteError> {
        let (at, known) = (self.at, self.known);
        let refuse = |refused| WriteError::Refused { session, refused };
        let working = self.sessions.get_mut(place);
        let working = working.ok_or_else(|| refuse(Refused::NoSession(session)))?;
        let was_deleted = working.deleted.is_some() || known.deleted.contains(&session);
        let judged = match working.now.take() {
            Some(mut head) => head.apply(at, happening).map(|()| head),
            None if was_deleted && matches!(happening, Happening::Created(_)) => {
                Err(Refused::Exists(session))
            }
            None => Head::create(session, at, happening),
        };
        let head = judged.map_err(refuse)?;
        let plan = &mut self.plan;
        let derived = derive(session, at, happening);
        if let (Some(message), Happening::MessageQueued(_)) = (&derived.message, happening)
            && (known.messages.contains(&message.id) || plan.messages.contains_key(&message.id))
        {
            return Err(refuse(Refused::MessageExists(message.id)));
        }
        let approval = derived.approval.map(|id| {
            change_approval(&mut plan.approvals, known.approvals.get(&id), &head, at, id, happening)
        });
        let approval = approval.transpose().map_err(refuse)?;
        plan.audit.extend(AuditEntry::of(session, at, happening, approval)?);
        let unreadable = |source| StoreError::Unreadable { what: "an event to be written", source };
        let words = derived.words.as_deref().map(words_of).unwrap_or_default();
        let (kind, body) = (happening.kind(), happening.body().map_err(unreadable)?);
        plan.records.push(Record {
            session,
            seq: head.seq,
            kind,
            // What could not be read again must not get into the log.
            happening: Happening::read(kind, &body).map_err(StoreError::from)?,
            body,
            words: words.into_iter().collect(),
            unsays: unsaid(happening),
        });
        plan.messages.extend(derived.message.map(|message| (message.id, message)));
        if matches!(happening, Happening::Deleted(_)) {
            working.deleted = Some(head);
        } else {
            working.now = Some(head);
        }
        Ok(())
    }

    fn finish(self) -> Plan {
        let mut plan = self.plan;
        for Working { session, before, now, deleted } in self.sessions {
            let is_deleted = deleted.is_some();
            if is_deleted {
                plan.approvals.retain(|_, changed| changed.approval.session != session);
                plan.messages.retain(|_, message| message.session != session);
            }
            if let Some(after) = deleted.or(now) {
                plan.sessions.push(Change { before, after: Arc::new(after), is_deleted });
            }
        }
        plan
    }
}

/// How the bodies of those events begin that say what is not said any more: the message comes first in
/// them.
fn unsaid(happening: &Happening) -> Option<String> {
    let message = match happening {
        Happening::MessageEdited(edited) => edited.message,
        Happening::MessageRemoved(removed) => removed.message,
        _ => return None,
    };
    Some(format!(r#"{{"message":"{message}""#))
}

/// The kinds of events whose words are taken back with their message.
pub(super) const SAYING: [&str; 2] = ["message.queued", "message.edited"];

/// What an event makes of an approval; `found` is what it was before the write.
fn change_approval<'a>(
    changed: &'a mut BTreeMap<ApprovalId, ChangedApproval>,
    found: Option<&Approval>,
    head: &Head,
    at: Timestamp,
    id: ApprovalId,
    happening: &Happening,
) -> Result<&'a Approval, Refused> {
    let changed = changed.entry(id);
    if let Some((approval, token)) = open_approval(head, at, happening) {
        return match (changed, found) {
            (Entry::Vacant(new), None) => {
                Ok(&new.insert(ChangedApproval { approval, token, is_new: true }).approval)
            }
            // A name that was used: opened again it could be answered again.
            _ => Err(Refused::NotOpen(id)),
        };
    }
    let changed = match changed {
        Entry::Occupied(changed) => changed.into_mut(),
        Entry::Vacant(changed) => {
            let approval = found.filter(|found| found.session == head.id).cloned();
            let approval = approval.ok_or(Refused::NotOpen(id))?;
            changed.insert(ChangedApproval { approval, token: None, is_new: false })
        }
    };
    update_approval(&mut changed.approval, at, happening);
    Ok(&changed.approval)
}

/// What is kept of a session so that it can be found.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) state: &'static str,
    pub(super) archived: bool,
    pub(super) created: i64,
    pub(super) updated: i64,
    pub(super) title: String,
    pub(super) folder: String,
    pub(super) parent: Option<Uuid>,
    pub(super) open_approvals: i64,
    pub(super) is_unsettled: bool,
    pub(super) cost: f64,
    pub(super) input_tokens: i64,
    pub(super) output_tokens: i64,
    pub(super) turns: i64,
    /// The whole head, as JSON.
    pub(super) head: String,
}

impl Row {
    pub(super) fn of(head: &Head) -> Result<Self, StoreError> {
        let unreadable =
            |source| StoreError::Unreadable { what: "a session to be written", source };
        let pending = head.approvals.values();
        let open = pending.filter(|pending| pending.stage == Stage::Open).count();
        let wants =
            head.process != Process::None || head.wants_process() || !head.settle().is_empty();
        let text = serde_json::to_string(head).map_err(unreadable)?;
        // One that could not be read again would be in the way of all others.
        serde_json::from_str::<Head>(&text).map_err(unreadable)?;
        Ok(Self {
            id: head.id.uuid(),
            state: head.state().name(),
            archived: head.archived,
            created: to_number(head.created_at),
            updated: to_number(head.updated_at),
            title: folded(&head.title),
            folder: storable(&head.folder),
            parent: head.parent.as_ref().map(|parent| parent.session().uuid()),
            open_approvals: to_i64(open),
            is_unsettled: wants,
            cost: head.usage.cost_usd,
            input_tokens: to_i64(head.usage.input_tokens),
            output_tokens: to_i64(head.usage.output_tokens),
            turns: to_i64(head.usage.turns),
            head: text,
        })
    }
}

/// A number as databases have it. None is so large that it would not fit.
pub(super) fn to_i64(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A number as databases have it. None is negative.
pub(super) fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// What is kept of a command: its name and what was asked for, as digests of one length.
#[derive(Debug)]
pub(super) struct CommandKey {
    pub(super) name: [u8; 32],
    pub(super) fingerprint: [u8; 32],
}

impl CommandKey {
    pub(super) fn of(command: &Command) -> Self {
        let length = u64::try_from(command.owner.len()).unwrap_or(u64::MAX);
        let name = Sha256::new()
            .chain_update(length.to_le_bytes())
            .chain_update(&command.owner)
            .chain_update(&command.key);
        let fingerprint = Sha256::digest(&command.fingerprint);
        Self { name: name.finalize().into(), fingerprint: fingerprint.into() }
    }

    /// What comes of a command that was carried out before.
    pub(super) fn again(
        &self,
        command: &Command,
        fingerprint: &[u8],
        response: String,
    ) -> Result<Written, WriteError> {
        let response = self.before(command, fingerprint, response)?;
        Ok(Written::Before { response })
    }

    /// What a command was answered with that was carried out before.
    pub(super) fn before(
        &self,
        command: &Command,
        fingerprint: &[u8],
        response: String,
    ) -> Result<String, WriteError> {
        if fingerprint != self.fingerprint {
            return Err(WriteError::KeyReused(command.key.clone()));
        }
        Ok(response)
    }
}

/// The conversations of a session, as its log names them.
pub(super) fn conversation_of(happening: &Happening) -> Option<Uuid> {
    match happening {
        Happening::Created(created) => Some(created.conversation.uuid()),
        Happening::ConversationChanged(changed) => Some(changed.conversation.uuid()),
        _ => None,
    }
}

/// The kinds of events that name a conversation.
pub(super) const NAMING_A_CONVERSATION: [&str; 2] = ["session.created", "conversation.changed"];

/// A run of a server, as it is kept.
pub(super) fn read_run(
    mark: String,
    process: Option<String>,
    began_at: Timestamp,
) -> Result<ServerRun, StoreError> {
    fn read<T: DeserializeOwned>(text: String) -> Result<T, StoreError> {
        let unreadable = |source| StoreError::Unreadable { what: "the run of a server", source };
        serde_json::from_value(text.into()).map_err(unreadable)
    }
    Ok(ServerRun { mark: read(mark)?, process: process.map(read).transpose()?, began_at })
}
