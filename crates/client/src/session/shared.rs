//! What the owner of a session and its handles have in common.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use countersign_protocol::ask::CanUseTool;
use countersign_protocol::control::{ControlCancelRequest, ControlResponse, Response};
use countersign_protocol::ids::{MessageUuid, RequestId, ToolUseId};
use countersign_protocol::request::{Call as _, Initialize, InitializeResponse, SetPermissionMode};
use countersign_protocol::{Frame as _, RawJson, ToCli};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use tracing::Span;

use super::duty::Failing;
use super::place::Place;
use super::snapshot::Snapshot;
use crate::counters::Counters;
use crate::link::{Outbox, OutboxClosed};
use crate::permission::FreshStart;
use crate::process::ProcessId;
use crate::turn::{Decision, Decisions};

/// How the names of our requests begin.
const OURS: &str = "cs-";

/// How the names of those begin whose answer nobody waits for. It is not late when it comes.
const POSTED: &str = "post-";

/// What came of a request of ours: an answer, or why it cannot be read.
type Answered = Result<ControlResponse, String>;

/// A request of ours that waits for an answer.
#[derive(Debug)]
struct Waiting {
    sender: oneshot::Sender<Answered>,
    /// Whether the answer says which permission mode is in force.
    sets_mode: bool,
}

/// How a session was set up, as far as requests depend on it.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Whether messages are sent as they are.
    pub(crate) verbatim: bool,
    /// Whether the CLI was launched so that permissions may be bypassed.
    pub(crate) may_bypass: bool,
    /// The MCP servers of this process.
    pub(crate) in_process_mcp: Vec<String>,
    /// What the CLI was told first.
    pub(crate) initialize: Initialize,
}

/// A request of the CLI that waits for an answer.
#[derive(Debug)]
pub(super) struct Open {
    cancelled: CancellationToken,
    /// How it is refused.
    failing: Failing,
    /// Who is asked.
    asked: Asked,
}

/// What came of a refusal.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Nobody waits for an answer any more: there is one, or the request was parked or withdrawn.
    NotWanted,
    /// A permission is denied.
    Permission(Decision),
    /// Something else is refused.
    Other,
}

/// Who is asked.
#[derive(Debug)]
pub(super) enum Asked {
    /// This program.
    Program,
    /// A person.
    Person,
    /// A person, for a permission.
    Permission(Arc<CanUseTool>),
}

impl Asked {
    fn permission(&self) -> Option<&Arc<CanUseTool>> {
        match self {
            Self::Permission(request) => Some(request),
            Self::Program | Self::Person => None,
        }
    }
}

/// What the owner of a session and its handles have in common.
///
/// Locks are held for a few instructions, never while something is waited for.
pub(crate) struct Shared {
    pub(crate) outbox: Outbox,
    /// What is told of the session belongs to it.
    pub(crate) span: Span,
    pub(crate) counters: Arc<Counters>,
    /// Asks the owner to end the session in order.
    pub(crate) close: CancellationToken,
    /// Asks the owner to end the session at once.
    pub(crate) kill: CancellationToken,
    pub(crate) snapshot: watch::Sender<Snapshot>,
    /// Nothing that is asked can be answered any more.
    pub(crate) ending: AtomicBool,
    /// How long the CLI may take to answer.
    pub(crate) request_timeout: Duration,
    pub(crate) setup: Setup,
    place: Place,
    /// The process of the CLI, once it was looked up: that takes longer than starting it.
    process: OnceLock<ProcessId>,
    /// What the CLI said of itself at the start, as text: few ask for it, and in types it takes
    /// several times as much.
    said_of_itself: OnceLock<RawJson>,
    initialized: OnceLock<Option<InitializeResponse>>,
    /// Requests of ours that wait for an answer.
    outgoing: Mutex<HashMap<RequestId, Waiting>>,
    /// Requests of the CLI that wait for an answer.
    incoming: Mutex<HashMap<RequestId, Open>>,
    next_request: AtomicU64,
    /// A plan that was approved to be carried out in a new conversation.
    fresh_start: Mutex<Option<FreshStart>>,
    /// The message whose turn was followed last, and what says that it was withdrawn. Whoever
    /// follows one has the session, so there is one at a time.
    followed: Mutex<Option<(MessageUuid, CancellationToken)>>,
    decisions: Decisions,
}

impl Shared {
    pub(crate) fn new(
        outbox: Outbox,
        span: Span,
        counters: Arc<Counters>,
        snapshot: Snapshot,
        place: Place,
        setup: Setup,
        request_timeout: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            outbox,
            span,
            counters,
            close: CancellationToken::new(),
            kill: CancellationToken::new(),
            ending: AtomicBool::new(false),
            snapshot: watch::Sender::new(snapshot),
            request_timeout,
            setup,
            place,
            process: OnceLock::new(),
            said_of_itself: OnceLock::new(),
            initialized: OnceLock::new(),
            outgoing: Mutex::default(),
            incoming: Mutex::default(),
            next_request: AtomicU64::new(0),
            fresh_start: Mutex::default(),
            followed: Mutex::default(),
            decisions: Decisions::default(),
        })
    }

    /// Somebody begins to follow the turn of a message. Gives what says that the message was
    /// withdrawn: before 2.1.325 the CLI does not.
    pub(crate) fn follow(&self, message: MessageUuid) -> CancellationToken {
        let withdrawn = CancellationToken::new();
        *lock(&self.followed) = Some((message, withdrawn.clone()));
        withdrawn
    }

    /// A message was withdrawn before the CLI began with it.
    pub(crate) fn withdrawn(&self, message: &MessageUuid) {
        self.snapshot.send_if_modified(|snapshot| snapshot.dropped(message));
        if let Some((followed, withdrawn)) = &*lock(&self.followed)
            && followed == message
        {
            withdrawn.cancel();
        }
    }

    /// A name for the next request of ours.
    pub(crate) fn next_request_id(&self) -> RequestId {
        self.next_id(OURS)
    }

    /// A name for the next request of ours whose answer nobody waits for.
    pub(crate) fn next_post_id(&self) -> RequestId {
        self.next_id(POSTED)
    }

    fn next_id(&self, prefix: &str) -> RequestId {
        let number = self.next_request.fetch_add(1, Ordering::Relaxed);
        RequestId::from(format!("{prefix}{number}"))
    }

    /// Waits for the answer to a request that is about to be sent. None when the session has ended.
    pub(crate) fn expect(
        &self,
        id: RequestId,
        sets_mode: bool,
    ) -> Option<oneshot::Receiver<Answered>> {
        let (sender, receiver) = oneshot::channel();
        let mut outgoing = lock(&self.outgoing);
        if self.snapshot.borrow().ended.is_some() {
            return None;
        }
        outgoing.insert(id, Waiting { sender, sets_mode });
        Some(receiver)
    }

    /// An answer came.
    pub(crate) fn answered(&self, response: ControlResponse) {
        let Some(id) = response.response.request_id() else { return };
        let waiting = lock(&self.outgoing).remove(&id);
        match waiting {
            Some(Waiting { sender, sets_mode }) => {
                if sets_mode {
                    self.mode_set(&response);
                }
                // Whoever waited may have gone this moment.
                drop(sender.send(Ok(response)));
            }
            // A second answer, or one that came too late. Our own answers are echoed, too.
            None if id.as_str().starts_with(OURS) => self.counters.late_answer(),
            None => {}
        }
    }

    /// Notes the mode that the CLI says is in force. This is done where the answer is read, and not
    /// by whoever asked: of two who ask at the same time, the CLI obeyed the later one last.
    fn mode_set(&self, response: &ControlResponse) {
        if let Response::Success(success) = &response.response
            && let Ok(response) = SetPermissionMode::read_response(success.response.as_ref())
            && let Some(mode) = response.mode
        {
            self.snapshot.send_modify(|snapshot| snapshot.permission_mode = Some(mode));
        }
    }

    /// An answer came that cannot be read.
    pub(crate) fn answered_unreadably(&self, id: &RequestId, reason: String) {
        if let Some(waiting) = lock(&self.outgoing).remove(id) {
            drop(waiting.sender.send(Err(reason)));
        }
    }

    /// Nobody waits for an answer any more; the CLI is told.
    pub(crate) fn withdraw(&self, id: &RequestId) {
        if lock(&self.outgoing).remove(id).is_some() {
            let cancel = ToCli::from(ControlCancelRequest::new(id.clone()));
            if let Ok(line) = cancel.to_line() {
                // A session that has ended has nothing to cancel.
                self.outbox.push(&line).ok();
            }
        }
    }

    /// The CLI asks. None if it asks this already; else what says that it wants no answer any more.
    pub(super) fn open(
        &self,
        id: &RequestId,
        failing: Failing,
        asked: Asked,
    ) -> Option<CancellationToken> {
        match lock(&self.incoming).entry(id.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => {
                let cancelled = CancellationToken::new();
                place.insert(Open { cancelled: cancelled.clone(), failing, asked });
                Some(cancelled)
            }
        }
    }

    /// A person is asked because of this request.
    pub(super) fn asks_a_person(&self, id: &RequestId) {
        if let Some(open) = lock(&self.incoming).get_mut(id)
            && matches!(open.asked, Asked::Program)
        {
            open.asked = Asked::Person;
        }
        // From now on, and not from when something is heard of again.
        self.snapshot.send_modify(|_| {});
    }

    /// Whether a person is asked, and has not answered.
    pub(crate) fn is_asking(&self) -> bool {
        lock(&self.incoming).values().any(|open| !matches!(open.asked, Asked::Program))
    }

    /// The permissions that are asked for.
    pub(crate) fn open_permissions(&self) -> Vec<Arc<CanUseTool>> {
        lock(&self.incoming).values().filter_map(|open| open.asked.permission().cloned()).collect()
    }

    /// The process of the CLI was looked up, while it certainly is that.
    pub(crate) fn is_process(&self, process: ProcessId) {
        self.span.record("pid", process.pid());
        // It is looked up once.
        self.process.set(process).ok();
    }

    pub(crate) fn process_id(&self) -> Option<ProcessId> {
        self.process.get().copied()
    }

    /// Where the session is.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// The CLI has said of itself what can be read.
    pub(crate) fn initialized(&self, response: RawJson) {
        // The first one counts; a session is opened once.
        self.said_of_itself.set(response).ok();
    }

    pub(crate) fn initialization(&self) -> Option<&InitializeResponse> {
        let raw = self.said_of_itself.get()?;
        self.initialized.get_or_init(|| Initialize::read_response(Some(raw)).ok()).as_ref()
    }

    /// Sends an answer to a request of the CLI, unless it has one or wants none; `note` is called
    /// before it is on its way.
    pub(crate) fn answer(&self, id: &RequestId, lines: &[u8], note: impl FnOnce()) -> bool {
        // Whoever takes the request from the list is the one who answers.
        if lock(&self.incoming).remove(id).is_none() {
            return false;
        }
        note();
        self.outbox.push(lines) != Err(OutboxClosed)
    }

    /// Refuses a request of the CLI, unless it has an answer or wants none. Whoever is still at it
    /// learns that nothing is wanted any more.
    pub(crate) fn refuse(&self, id: &RequestId, reason: &str) {
        self.refuse_deciding(id, reason);
    }

    /// [`refuse`](Self::refuse), and says what came of it.
    pub(crate) fn refuse_deciding(&self, id: &RequestId, reason: &str) -> Refused {
        let Some(open) = lock(&self.incoming).remove(id) else { return Refused::NotWanted };
        let Open { cancelled, failing, asked } = open;
        let line = failing.line(id, reason);
        let denied = match (failing, asked) {
            (Failing::Deny { asked: at }, Asked::Permission(request)) => {
                let denied = Decision::Denied { reason: reason.to_owned(), waited: at.elapsed() };
                // Before the CLI can act on it.
                self.decisions.note(request.tool_use_id.clone(), denied.clone());
                Refused::Permission(denied)
            }
            _ => Refused::Other,
        };
        match line {
            // A session that has ended has nobody to tell.
            Ok(line) => drop(self.outbox.push(&line)),
            // A reason is text, which can always be written.
            Err(error) => tracing::error!(%error, "a refusal cannot be written"),
        }
        cancelled.cancel();
        denied
    }

    /// Refuses whatever the CLI still asks.
    pub(crate) fn refuse_all(&self, reason: &str) {
        let open: Vec<_> = lock(&self.incoming).keys().cloned().collect();
        for id in open {
            self.refuse(&id, reason);
        }
    }

    /// The CLI wants no answer any more.
    pub(crate) fn cancelled(&self, id: &RequestId) {
        if let Some(open) = lock(&self.incoming).remove(id) {
            open.cancelled.cancel();
        }
    }

    /// Takes the one permission that is asked for out of the list, without an answer: from now on
    /// nobody can give one. Whoever is still at it learns that nothing is wanted any more.
    ///
    /// # Errors
    /// With the number of permissions that are asked for, when it is not this call alone.
    pub(crate) fn put_off(&self, call: &ToolUseId) -> Result<(), usize> {
        let mut incoming = lock(&self.incoming);
        let mut asked =
            incoming.iter().filter_map(|(id, open)| Some((id, open.asked.permission()?)));
        let id = match (asked.next(), asked.count()) {
            (Some((id, request)), 0) if request.tool_use_id == *call => id.clone(),
            (Some(_), 0) | (None, _) => return Err(0),
            (Some(_), others) => return Err(others + 1),
        };
        if let Some(open) = incoming.remove(&id) {
            open.cancelled.cancel();
        }
        Ok(())
    }

    /// How many requests of the CLI wait for an answer.
    pub(crate) fn open_requests(&self) -> usize {
        lock(&self.incoming).len()
    }

    /// Nothing more can come or go.
    pub(crate) fn end(&self, ended: Arc<super::SessionEnd>) {
        self.outbox.close();
        // Before the lists are emptied: who comes later sees it.
        self.snapshot.send_modify(|snapshot| {
            snapshot.ended = Some(ended);
            snapshot.is_running = false;
        });
        lock(&self.outgoing).clear();
        for (_, open) in lock(&self.incoming).drain() {
            open.cancelled.cancel();
        }
    }

    /// What was decided about tool calls.
    pub(crate) fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    pub(crate) fn plan_fresh_start(&self, fresh: FreshStart) {
        *lock(&self.fresh_start) = Some(fresh);
    }

    pub(crate) fn take_fresh_start(&self) -> Option<FreshStart> {
        lock(&self.fresh_start).take()
    }
}

impl fmt::Debug for Shared {
    /// Without what is said and asked, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Copied first: whoever writes it down must not hold the session up.
        let (session, is_running) = {
            let snapshot = self.snapshot.borrow();
            (snapshot.session_id.clone(), snapshot.is_running)
        };
        f.debug_struct("Shared")
            .field("session_id", &session)
            .field("is_running", &is_running)
            .field("process", &self.process_id())
            .field("open_requests", &self.open_requests())
            .finish_non_exhaustive()
    }
}

/// Nothing that is done under these locks can panic between two states that belong together.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
