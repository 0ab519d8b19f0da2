//! What is known of a session.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;

use countersign_protocol::Version;
use countersign_protocol::ids::{MessageUuid, SessionId};
use countersign_protocol::message::{ResultMessage, UserMessage};
use countersign_protocol::permission::PermissionMode;
use countersign_protocol::system::{SessionState, SystemInit};

use crate::limits::LimitReached;
use crate::process::{self, HowEnded, ProcessInfo};

/// What is known of a session at one moment.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Snapshot {
    /// The session. Known from the first turn on, or from the start when it was given; changes when
    /// the conversation is cleared.
    pub session_id: Option<SessionId>,
    /// The mode in force.
    pub permission_mode: Option<PermissionMode>,
    /// The model in use.
    pub model: Option<Arc<str>>,
    /// The version of the CLI.
    pub version: Option<Version>,
    /// Whether a turn is running.
    pub is_running: bool,
    /// What all turns cost so far, in US dollars, as the CLI says.
    pub total_cost_usd: f64,
    /// How many results there were.
    pub results: u64,
    /// The last limit that was reached.
    pub limit_reached: Option<LimitReached>,
    /// How often one was reached.
    pub limits_reached: u64,
    /// Whether the CLI has said the mode since the last result.
    pub(super) mode_told: bool,
    /// How many results there were, with those that cannot be read.
    pub(super) turns_over: u64,
    /// Whether the CLI has begun a turn that is not over.
    pub(super) has_begun: bool,
    /// Messages that were sent since the last result, and that it has not dropped.
    pub(super) sent: Vec<Sent>,
    /// How the session ended, once it has.
    pub ended: Option<Arc<SessionEnd>>,
}

/// A message on its way to the CLI.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    /// The message.
    pub(crate) id: MessageUuid,
    /// Whether its id came from outside, so that the CLI may know it.
    pub(crate) may_be_known: bool,
}

impl Sent {
    /// The message, which is given an id if it has none.
    pub(crate) fn new(message: &mut UserMessage) -> Self {
        let may_be_known = message.uuid.is_some();
        let new = || MessageUuid::from(uuid::Uuid::new_v4().to_string());
        Self { id: message.uuid.get_or_insert_with(new).clone(), may_be_known }
    }
}

impl Snapshot {
    /// A message is about to be sent. Says whether something is running because of it that was not
    /// before.
    pub(super) fn sent(&mut self, sent: Sent) -> bool {
        self.sent.push(sent);
        !std::mem::replace(&mut self.is_running, true)
    }

    /// The messages that were sent, and perhaps not begun with.
    pub(crate) fn on_their_way(&self) -> Vec<MessageUuid> {
        self.sent.iter().map(|sent| sent.id.clone()).collect()
    }

    /// There will be no turn for a message. Says whether nothing is running because of that.
    pub(super) fn dropped(&mut self, message: &MessageUuid) -> bool {
        let before = self.sent.len();
        self.sent.retain(|sent| sent.id != *message);
        let was_all = before > 0 && self.sent.is_empty() && !self.has_begun;
        was_all && std::mem::replace(&mut self.is_running, false)
    }

    /// A turn is over, whatever it says.
    pub(super) fn over(&mut self) {
        self.turns_over += 1;
        self.has_begun = false;
        self.is_running = false;
        self.sent.clear();
    }

    /// A turn began.
    pub(super) fn began(&mut self, init: &SystemInit) {
        self.session_id = Some(init.session_id.clone());
        // 2.1.197 begins a turn that it resumes with the mode before the answer, after it has said
        // the one that is in force.
        if !self.mode_told {
            self.permission_mode = Some(init.permission_mode.clone());
        }
        self.model = Some(init.model.as_str().into());
        if self.version.is_none() {
            self.version = init.claude_code_version.parse().ok();
        }
        self.has_begun = true;
        self.is_running = true;
    }

    /// The mode has changed.
    pub(super) fn mode(&mut self, mode: PermissionMode) {
        self.permission_mode = Some(mode);
        self.mode_told = true;
    }

    pub(super) fn state(&mut self, state: &SessionState) {
        self.is_running = *state != SessionState::Idle;
        self.has_begun &= self.is_running;
    }

    /// A turn ended.
    pub(super) fn result(&mut self, result: &ResultMessage) {
        if let Some(session) = &result.session_id {
            self.session_id = Some(session.clone());
        }
        if let Some(cost) = &result.total_cost_usd {
            self.total_cost_usd = cost.as_f64();
        }
        self.results += 1;
        self.mode_told = false;
        self.over();
        self.is_running = result.queued_turn_count.is_some_and(|queued| queued > 0);
    }
}

/// How a session ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionEnd {
    /// How the process ended; none if that could not be learned.
    pub exit: Option<ExitStatus>,
    /// What had to be done for it.
    pub how: HowEnded,
    /// Processes that the CLI had started and left running. They were ended.
    pub left_running: Vec<ProcessInfo>,
    /// What could not be ended; see [`process::Ended`].
    pub still_running: Vec<ProcessInfo>,
    /// The last that the CLI wrote to its standard error.
    pub stderr: String,
    /// What the last result said went wrong. 2.1.62 says there, and nowhere else, that there is no
    /// session to go on with.
    pub errors: Vec<String>,
    /// The limit that ended it, if one did.
    pub limit: Option<LimitReached>,
}

impl SessionEnd {
    pub(super) fn new(
        end: Option<process::Ended>,
        stderr: String,
        errors: Vec<String>,
        limit: Option<LimitReached>,
    ) -> Self {
        let process::Ended { exit, how, left_running, still_running } =
            end.unwrap_or(process::Ended {
                exit: None,
                how: HowEnded::Killed,
                left_running: Vec::new(),
                still_running: Vec::new(),
            });
        Self { exit, how, left_running, still_running, stderr, errors, limit }
    }
}

impl fmt::Display for SessionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exit {
            Some(status) => write!(f, "{status}")?,
            None => f.write_str("it is not known how")?,
        }
        if let Some(limit) = self.limit {
            write!(f, "; a limit was reached: {limit}")?;
        }
        let last = self.stderr.trim_end();
        let errors = self.errors.iter().map(|error| error.trim_end());
        // Newer versions say the same in both places.
        let errors = errors.filter(|error| !last.contains(error));
        for said in [last].into_iter().chain(errors).filter(|said| !said.is_empty()) {
            write!(f, "; it said: {said}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SessionEnd {}
