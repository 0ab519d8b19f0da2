//! The session as a whole: stop it, name it, move it, end it.

use std::collections::BTreeMap;

use countersign_protocol_derive::{WireObject, WireTagged};

use super::{InitializeResponse, WorkspaceTrust};
use crate::ids::{MessageUuid, SessionId};
use crate::names::open_enum;
use crate::permission::PermissionMode;
use crate::wire::{Extra, Named, Num, RawJson};

/// Stops the running turn.
///
/// The turn ends with an `error_during_execution` result, after this request was answered. Open
/// permission requests are withdrawn. Messages that are queued survive and start the next turn,
/// unless `cancel_queued` is set. Without a turn it is answered, and nothing happens.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Interrupt {
    /// Whether queued messages are dropped. From 2.1.325 on; older versions ignore it.
    pub cancel_queued: Option<bool>,
    /// Why. *Unstable.*
    pub reason: Option<String>,
    /// Whether a queued message is to be sent at once. *Unstable.*
    pub send_now: Option<bool>,
    /// Which one. *Unstable.*
    pub message_uuid: Option<MessageUuid>,
    /// Stop only a turn that answers one of these messages, at most eight. *Unstable.*
    pub for_user_message_uuids: Option<Vec<MessageUuid>>,
    /// Whether background tasks go on. *Unstable.*
    pub spare_background_tasks: Option<bool>,
    /// The number of the worker that is meant. Only for hosted workers. *Unstable.*
    pub worker_epoch: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What an [`Interrupt`] left behind. Versions before 2.1.325 send no payload.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct InterruptResponse {
    /// Messages that are still to be answered, by their `uuid`. A message that was sent without
    /// one runs but is not listed; ids that the client never sent may be.
    pub still_queued: Option<Vec<MessageUuid>>,
    /// Messages that were dropped. Only with [`Interrupt::cancel_queued`].
    pub cancelled: Option<Vec<MessageUuid>>,
    /// Messages that were put back into the queue. *Unstable.*
    pub put_back: Option<Vec<MessageUuid>>,
    /// What became of [`Interrupt::send_now`]. *Unstable.*
    pub send_now: Option<SendNow>,
    /// What became of the turn. *Unstable.*
    pub turn: Option<InterruptedTurn>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Withdraws a queued message. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CancelAsyncMessage {
    /// The `uuid` it was sent with.
    pub message_uuid: MessageUuid,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`CancelAsyncMessage`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CancelAsyncMessageResponse {
    /// Whether it was still in the queue.
    pub cancelled: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Names the session. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RenameSession {
    /// The title.
    pub title: String,
    /// Who chose it. Absent: `remote`.
    pub source: Option<TitleSource>,
    /// The session that is meant. When the process has moved on to another one, the request is
    /// refused.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Has the model make a title. From 2.1.197 on. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GenerateSessionTitle {
    /// What the session is about.
    pub description: String,
    /// Whether the title is kept.
    pub persist: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GenerateSessionTitle`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GenerateSessionTitleResponse {
    /// The title, if one could be made.
    pub title: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Sets the accent colour. All versions refuse it over local stdio.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetColor {
    /// The name of a colour, or `default`.
    pub color: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Ends the process, with exit code 0. From 2.1.197 on. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct EndSession {
    /// Why.
    pub reason: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Moves the session to another folder. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetCwd {
    /// The folder.
    pub path: String,
    /// Whether a person accepted to work there.
    pub trust_accepted: Option<bool>,
    /// What they accepted: the folder that [`CwdNeedsTrust`] named.
    pub trusted_directory: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`SetCwd`]. A success response does not mean that the folder was changed.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "status")]
#[non_exhaustive]
pub enum SetCwdResponse {
    /// The session works there now.
    #[wire(name = "ok")]
    Ok(CwdChanged),
    /// A person has to accept the folder first.
    #[wire(name = "needs_trust")]
    NeedsTrust(CwdNeedsTrust),
    /// The session cannot work there.
    #[wire(name = "rejected")]
    Rejected(CwdRejected),
    /// An answer this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// The session works in this folder.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CwdChanged {
    /// The folder.
    pub cwd: String,
    /// Whether it is another one than before.
    pub changed: bool,
    /// Whether the transcript moved with it.
    pub transcript_relocated: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A person has to accept the folder first.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CwdNeedsTrust {
    /// The folder to accept.
    pub directory: String,
    /// The folder that the trust will be kept for, where that is another one.
    pub trust_root: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The session cannot work in the folder.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CwdRejected {
    /// Why.
    pub reason: CwdRejection,
    /// Why, for a person.
    pub message: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Makes a session of a process that was started in advance. *Unstable.*
///
/// Only a process that was started with `--await-claim` accepts it, and only once.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ClaimSession {
    /// The folder to work in.
    pub cwd: String,
    /// Environment variables.
    pub env: Option<BTreeMap<String, String>>,
    /// Further folders that tools may read.
    pub additional_directories: Option<Vec<String>>,
    /// The permission mode.
    pub permission_mode: Option<PermissionMode>,
    /// The system prompt, in blocks.
    pub system_prompt: Option<Vec<String>>,
    /// What is added to the system prompt.
    pub append_system_prompt: Option<String>,
    /// Sub-agents, by name: each as in [`AgentDefinition`](super::AgentDefinition).
    pub agents: Option<BTreeMap<String, RawJson>>,
    /// The title of the session.
    pub title: Option<String>,
    /// The names of MCP servers that run in this process.
    pub sdk_mcp_servers: Option<Vec<String>>,
    /// Whether the answer has what [`Initialize`](super::Initialize) would be answered.
    pub include_initialize: Option<bool>,
    /// That a person trusts the folder.
    pub workspace_trust: Option<WorkspaceTrust>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`ClaimSession`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ClaimSessionResponse {
    /// `ok`.
    pub status: String,
    /// The session.
    pub session_id: SessionId,
    /// The folder it works in.
    pub cwd: Option<String>,
    /// How long the process had been waiting, in milliseconds.
    pub parked_ms: Option<Num>,
    /// Whether the in-process MCP servers are connected.
    pub sdk_mcp_settled: bool,
    /// What [`Initialize`](super::Initialize) would be answered.
    pub initialize: Option<InitializeResponse>,
    /// Whether the trust was kept.
    pub workspace_trust_recorded: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks for what `/status` shows. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetStatus {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetStatus`]: text to show, not to evaluate.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetStatusResponse {
    /// The sections.
    pub sections: Vec<StatusSection>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A section of what `/status` shows.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct StatusSection {
    /// Its title.
    pub title: String,
    /// Its rows.
    pub rows: Vec<StatusRow>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A row of what `/status` shows.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct StatusRow {
    /// What it says something about.
    pub label: Option<String>,
    /// What it says.
    pub value: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks for the version of the program. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetBinaryVersion {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetBinaryVersion`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetBinaryVersionResponse {
    /// The version.
    pub version: String,
    /// When it was built, as an ISO 8601 time.
    pub build_time: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Says whether anybody is watching what the client passes on.
///
/// It only matters to a process that was told to hold back deltas: it may hold them longer while
/// nobody watches. Nothing is dropped.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetHasSubscribers {
    /// Whether somebody is. `null` means that the client does not know, which counts as yes: see
    /// [`SetHasSubscribers::unknown`].
    #[wire(new, nullable)]
    pub has_subscribers: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl SetHasSubscribers {
    /// Says that the client does not know: `null` on the wire.
    #[must_use]
    pub fn unknown() -> Self {
        Self::new(true).with_has_subscribers_null()
    }
}

open_enum! {
    /// Who chose a title.
    TitleSource {
        /// A person, elsewhere.
        Remote = "remote",
        /// A person, in the client.
        Host = "host",
    }

    /// What became of a message that was to be sent at once.
    SendNow {
        /// The turn was stopped for it.
        Stopped = "stopped",
        /// It is on its way.
        Delivering = "delivering",
        /// There was none.
        NothingWaiting = "nothing_waiting",
    }

    /// What became of the turn that was to be stopped.
    InterruptedTurn {
        /// It was stopped.
        Stopped = "stopped",
        /// There was none.
        Idle = "idle",
        /// It goes on.
        Spared = "spared",
    }

    /// Why a session cannot work in a folder.
    CwdRejection {
        /// It does not exist.
        NotFound = "not_found",
        /// It is not a folder.
        NotADirectory = "not_a_directory",
        /// A rule forbids it.
        BlockedByRule = "blocked_by_rule",
        /// The session is at work.
        Busy = "busy",
        /// The path is spelled in a way that could mean something else.
        UnsafePath = "unsafe_path",
        /// The request came from afar.
        RemoteOrigin = "remote_origin",
    }
}
