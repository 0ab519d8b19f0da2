//! Where a message came from.

use countersign_protocol_derive::{WireObject, WireTagged};

use crate::ids::{RunId, TaskId};
use crate::names::open_enum;
use crate::wire::{Extra, Named};

/// Where a message came from. Absent means that nobody said.
///
/// From a host the CLI honours [`Human`](Self::Human) only.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "kind")]
#[non_exhaustive]
pub enum MessageOrigin {
    /// A person.
    #[wire(name = "human")]
    Human(HumanOrigin),
    /// A channel of an MCP server.
    #[wire(name = "channel")]
    Channel(ChannelOrigin),
    /// Another session.
    #[wire(name = "peer")]
    Peer(PeerOrigin),
    /// A background task that has something to say. Such a message starts a turn that nobody
    /// asked for.
    #[wire(name = "task-notification")]
    TaskNotification(TaskNotificationOrigin),
    /// An observing agent.
    #[wire(name = "observer")]
    Observer(ObserverOrigin),
    /// The agent that coordinates others.
    #[wire(name = "coordinator")]
    Coordinator(UnattributedOrigin),
    /// Nobody in particular.
    #[wire(name = "unclassified")]
    Unclassified(UnattributedOrigin),
    /// The CLI itself, to carry on.
    #[wire(name = "auto-continuation")]
    AutoContinuation(UnattributedOrigin),
    /// What an observing agent did.
    #[wire(name = "observer-activity")]
    ObserverActivity(UnattributedOrigin),
    /// Origins that the CLI keeps to itself.
    #[wire(internal("voice-call"))]
    Internal(Named),
    /// An origin this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// A person.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct HumanOrigin {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An origin of which nothing more is said.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UnattributedOrigin {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A channel of an MCP server.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ChannelOrigin {
    /// The server.
    pub server: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Another session.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PeerOrigin {
    /// Who sent it.
    pub from: String,
    /// Whether the sender asks for permissions.
    pub from_mode: Option<PeerMode>,
    /// The sender's name.
    pub name: Option<String>,
    /// The sender's session.
    pub from_session: Option<String>,
    /// The sender's task.
    pub sender_task_id: Option<TaskId>,
    /// What was sent.
    pub body: Option<String>,
    /// The sender's process, where it could be verified.
    pub verified_peer_pid: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A background task that has something to say.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskNotificationOrigin {
    /// What kind of notification: `scheduled-trigger`, `peer-send-message`, `projects-relay` or
    /// `session-inbox`.
    pub subkind: Option<String>,
    /// Why it fired.
    pub fire_reason: Option<String>,
    /// The run of the task.
    pub run_id: Option<RunId>,
    /// What made it. Not part of the public types.
    pub producer: Option<String>,
    /// The kind of task. Not part of the public types.
    pub task_kind: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An observing agent.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ObserverOrigin {
    /// Who sent it.
    pub from: String,
    /// The sender's task.
    pub sender_task_id: Option<TaskId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Whether a peer asks for permissions.
    PeerMode {
        /// It does not.
        Bypass = "bypass",
        /// It does.
        Prompting = "prompting",
    }
}
