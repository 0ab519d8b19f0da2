//! One process of one session, from its start to its end.
//!
//! The actor does what the head of the session asks for, and writes down what the CLI says. It
//! decides nothing: answers, messages, modes and interrupts are written by whoever wants them, and
//! the actor is poked. What it does that cannot be undone is written before it is done.

mod delivery;
mod desk;
mod files;
mod frames;
mod launch;
mod live;
mod opening;
mod words;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use countersign::park::{ParkError, Parkable};
use countersign::{SessionEnd, SessionHandle};
use countersign_protocol::permission::PermissionMode;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use self::delivery::Waiter;
use self::desk::{Ask, Desk};
use self::frames::Watching;
pub(crate) use self::launch::check_options;
use self::launch::{NotOpened, is_no_conversation};
pub(crate) use self::words::without_stderr;
use crate::hub::{Hub, Slot};
use crate::id::{ApprovalId, ConversationId, SessionId, TurnId};
use crate::session::{
    Approval, ConversationChanged, Failed, Happening, Head, Noted, Parked, ProcessStarting,
};
use crate::store::{StoreError, WriteError};

/// Something that the actor waits for beside everything else.
type Work = Pin<Box<dyn Future<Output = Done> + Send>>;

/// What came of it.
enum Done {
    /// The turn is to be interrupted, and this is what the CLI says.
    Interrupt(Result<(), String>),
    /// Another mode was asked for.
    Mode(PermissionMode, Result<(), String>),
    /// Another model was asked for.
    Model(Option<String>, Result<(), String>),
    /// The process was asked to end.
    Closed,
    /// The CLI does not want this to be answered any more.
    Withdrawn(ApprovalId),
    /// The session can be parked on this, or why it cannot.
    Parkable(ApprovalId, Result<Parkable, ParkError>),
    /// Somebody has the answer, or nobody waits for it any more.
    Answered,
}

/// Why the actor is done.
enum Leave {
    /// The process has ended, or is to be ended, because of this.
    Closed(&'static str),
    /// The session waits for a person without its process.
    Parked,
    /// The process has ended by itself.
    Lost(Box<SessionEnd>),
    /// It was not started.
    NotOpened(NotOpened),
    /// What happens cannot be written down any more, or what is needed cannot be read.
    Unwritten,
}

/// One process of one session.
struct Actor {
    hub: Arc<Hub>,
    id: SessionId,
    head: Arc<Head>,
    generation: u64,
    poke: Arc<Notify>,
    slot: Slot,
    desk: Desk,
    asks: mpsc::Receiver<Ask>,
    /// The file with its MCP servers, which is gone with it.
    servers: Option<tempfile::NamedTempFile>,
    /// What came before the CLI had started, and has to wait for that.
    early: Vec<Ask>,
    waiters: HashMap<ApprovalId, Waiter>,
    /// Calls that may run because they were approved for a process that is gone, with the digests of
    /// their inputs.
    granted: HashMap<String, String>,
    work: FuturesUnordered<Work>,
    watching: Watching,
    /// What the CLI was asked, and has not answered yet.
    pending: Asked,
    /// Since when it has nothing to do.
    resting_since: Option<Instant>,
    /// What the process is to be given up for, while a person is asked.
    parking: Parking,
    /// When parking is tried again, after it could not be done.
    park_not_before: Option<Instant>,
    /// Whether it was started so that it may bypass permissions.
    may_bypass: bool,
    /// Somebody else needs the process more.
    give_up: bool,
    /// Since when the CLI does not seem to know of the turn.
    stalled_since: Option<Instant>,
    /// The server stops.
    is_closing: bool,
    /// It is being ended, because of this.
    leaving: Option<&'static str>,
}

/// How far the session is on its way to be parked.
#[derive(Default)]
enum Parking {
    /// It is not.
    #[default]
    No,
    /// What brings the call of this approval back is being written.
    Prepared(ApprovalId),
    /// It is written.
    Ready(ApprovalId, Box<Parkable>),
}

/// What the CLI was asked.
#[derive(Default)]
struct Asked {
    interrupt: Option<TurnId>,
    mode: bool,
    model: bool,
}

/// Runs one process of a session, which wants one.
pub(crate) async fn run(hub: &Arc<Hub>, id: SessionId, poke: Arc<Notify>, slot: Slot) {
    let head = match hub.store().head(id).await {
        Ok(Some(head)) if head.wants_process() && !head.is_being_ended() => head,
        _ => return,
    };
    let generation = head.generation + 1;
    let starting = vec![ProcessStarting { generation }.into()];
    let head = match hub.write(id, starting).await {
        Ok(head) => head,
        Err(error) => {
            tracing::warn!(session = %id, %error, "a session is not started");
            return;
        }
    };
    let (desk, asks) = Desk::open();
    let may_bypass = head.mode == PermissionMode::BypassPermissions;
    let mut actor = Actor {
        hub: Arc::clone(hub),
        id,
        head,
        generation,
        poke,
        slot,
        desk,
        asks,
        servers: None,
        early: Vec::new(),
        waiters: HashMap::new(),
        granted: HashMap::new(),
        work: FuturesUnordered::new(),
        watching: Watching::default(),
        pending: Asked::default(),
        resting_since: None,
        parking: Parking::No,
        park_not_before: None,
        may_bypass,
        give_up: false,
        stalled_since: None,
        is_closing: false,
        leaving: None,
    };
    let leave = actor.live().await;
    hub.process_ended(id);
    actor.end(leave).await;
}

impl Actor {
    /// The whole life of the process.
    async fn live(&mut self) -> Leave {
        let mut session = match self.open().await {
            Ok(session) => session,
            Err(leave) => return leave,
        };
        self.hub.process_began(self.id, session.handle());
        let leave = self.attend(&mut session).await;
        // Nothing is said of a process that is gone while it may still do something.
        session.handle().kill().await;
        leave
    }

    /// Writes down what the end of the process means.
    async fn end(mut self, leave: Leave) {
        self.waiters.clear();
        // An answer, a message, an interrupt may have come since.
        self.look().await;
        let generation = self.generation;
        let lost = |why: &str, failed| self.head.lose_process(why, failed);
        let mut happens: Vec<Happening> = match leave {
            Leave::Closed(why) => lost(why, false),
            Leave::Parked => {
                let mut happens = vec![Parked { generation }.into()];
                happens.extend(lost("the session is parked", false));
                happens
            }
            Leave::Lost(end) => {
                let why = end.to_string();
                // Whoever has said something has the conversation.
                if is_no_conversation(&why) && !self.watching.has_spoken {
                    begin_anew(&self.head)
                } else if let Some(limit) = end.limit {
                    self.head.lose_process_at_limit(&why, &frames::limit_words(limit))
                } else {
                    lost(&format!("the CLI ended: {why}"), true)
                }
            }
            Leave::NotOpened(NotOpened::NoConversation) => begin_anew(&self.head),
            Leave::NotOpened(NotOpened::Failed(why)) => lost(&why, true),
            Leave::NotOpened(NotOpened::Hopeless(why)) => {
                let mut happens = lost(&why, true);
                happens.push(Failed { why }.into());
                happens
            }
            Leave::Unwritten => lost("the store could not be used for it", true),
        };
        self.hub.add_inputs(&self.head, &mut happens).await;
        if let Err(error) = self.hub.write(self.id, happens).await {
            tracing::error!(session = %self.id, %error, "the end of a process was not written down");
        }
    }

    /// Writes down what happens. None when that cannot be done, and the process has to end.
    async fn write(&mut self, happenings: Vec<Happening>) -> Result<(), Leave> {
        match self.hub.write(self.id, happenings).await {
            Ok(head) => {
                self.head = head;
                Ok(())
            }
            Err(error) => Err(self.unwritten(&error)),
        }
    }

    /// Writes down what happens, unless it cannot happen any more: somebody was faster, and it is looked
    /// at again what the session is. Says whether it was written.
    async fn write_unless_refused(&mut self, happenings: Vec<Happening>) -> Result<bool, Leave> {
        match self.hub.write(self.id, happenings).await {
            Ok(head) => {
                self.head = head;
                Ok(true)
            }
            Err(WriteError::Refused { .. }) => {
                self.look().await;
                Ok(false)
            }
            Err(error) => Err(self.unwritten(&error)),
        }
    }

    /// An approval with its answer. It is waited for: what was decided depends on it.
    async fn approval(&mut self, approval: ApprovalId) -> Result<Option<Approval>, Leave> {
        let found = self.hub.read(self.id, |store| store.approval(approval)).await;
        found.map_err(|error| self.unread(&error))
    }

    fn unread(&self, error: &StoreError) -> Leave {
        tracing::error!(session = %self.id, %error, "what a session needs cannot be read");
        Leave::Unwritten
    }

    fn unwritten(&mut self, error: &WriteError) -> Leave {
        tracing::error!(session = %self.id, %error, "what a session does cannot be written down");
        Leave::Unwritten
    }

    /// Looks again what the session is.
    async fn look(&mut self) {
        match self.hub.store().head(self.id).await {
            Ok(Some(head)) if head.seq >= self.head.seq => self.head = head,
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "a session cannot be looked at");
            }
        }
    }

    async fn note(&mut self, text: String) -> Result<(), Leave> {
        self.write(vec![Noted { text }.into()]).await
    }
}

/// The conversation is lost: another one begins, and the model is told what was said.
fn begin_anew(head: &Head) -> Vec<Happening> {
    let text = "The CLI does not have the conversation any more. It begins anew, and the model is \
                told what was said until now.";
    let conversation = ConversationId::new();
    let mut happens = vec![
        Noted { text: text.to_owned() }.into(),
        ConversationChanged { conversation, begun: false, retell: true }.into(),
    ];
    happens.extend(head.lose_process(text, false));
    happens
}

/// What a session that has started is known by.
fn started(generation: u64, handle: &SessionHandle) -> Happening {
    let version = handle.snapshot().version.map(|version| version.to_string());
    let (process, mark) = (handle.process_id(), handle.mark());
    crate::session::ProcessStarted { generation, process, mark, version }.into()
}
