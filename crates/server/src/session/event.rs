//! What happens in a session: the log.
//!
//! Everything else about a session is made of its events. An event has a kind, which is its name in
//! the API and in the store, and a body, which is one of the types here.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use countersign::process::{Mark, ProcessId};
use countersign_protocol::RawJson;
use countersign_protocol::permission::{PermissionMode, PermissionUpdate};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;
#[cfg(feature = "openapi")]
use utoipa::openapi::{RefOr, Schema};

use super::answer::Answer;
use super::approval::ApprovalKind;
use super::by::By;
use super::message::MessageContent;
use super::options::{Parent, SessionOptions};
use crate::id::{ApprovalId, ConversationId, MessageId, SessionId, TurnId};

/// Something that happened in a session, as it is on disk.
#[derive(Debug)]
pub struct Event {
    /// The session.
    pub session: SessionId,
    /// Its number within the session, from 1, without gaps.
    pub seq: u64,
    /// Its number among the events of all sessions. It grows; there may be gaps.
    pub position: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub happening: Happening,
    json: OnceLock<Arc<str>>,
}

impl Event {
    /// An event as it was written.
    #[must_use]
    pub const fn new(
        session: SessionId,
        seq: u64,
        position: u64,
        at: Timestamp,
        happening: Happening,
    ) -> Self {
        Self { session, seq, position, at, happening, json: OnceLock::new() }
    }

    /// The event as subscribers get it. It is written once, however many there are.
    #[must_use]
    pub fn json(&self) -> Arc<str> {
        let write = || {
            // A body that is JSON already, and texts: there is nothing that could fail.
            let body = self.happening.shown().unwrap_or_else(|_| "null".to_owned());
            let Self { session, seq, position, at, .. } = self;
            let kind = self.happening.kind();
            let text = format!(
                r#"{{"session":"{session}","seq":{seq},"position":{position},"at":"{at}","kind":"{kind}","body":{body}}}"#
            );
            Arc::from(text)
        };
        Arc::clone(self.json.get_or_init(write))
    }
}

/// An event in the store is none that is known.
#[derive(Debug, Error)]
pub enum UnreadableEvent {
    /// A kind that this version does not know.
    #[error(
        "the log has an event of the kind {0:?}, which this version does not know: a newer one wrote it"
    )]
    Kind(String),
    /// A body of another shape.
    #[error("the log has an event of the kind {kind} that cannot be read: {source}")]
    Body {
        /// The kind.
        kind: &'static str,
        /// Why.
        source: serde_json::Error,
    },
}

/// A kind of events, for the description of the API.
#[cfg(feature = "openapi")]
pub(crate) struct KindSchema {
    /// The kind.
    pub(crate) kind: &'static str,
    /// What happened.
    pub(crate) about: &'static str,
    /// The body.
    pub(crate) body: RefOr<Schema>,
    /// What the body is made of, by name.
    pub(crate) needs: Vec<(String, RefOr<Schema>)>,
}

macro_rules! happenings {
    ($($(#[doc = $about:literal])+ $name:ident = $kind:literal;)+) => {
        /// What can happen in a session.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Happening {
            $($(#[doc = $about])+ $name($name),)+
        }

        impl Happening {
            /// The names of all kinds.
            pub const KINDS: &[&str] = &[$($kind),+];

            /// Its kind: the name in the API and in the store.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $kind,)+
                }
            }

            /// Its body, as JSON.
            ///
            /// # Errors
            /// When it cannot be written as JSON, which does not happen.
            pub fn body(&self) -> Result<String, serde_json::Error> {
                match self {
                    $(Self::$name(body) => serde_json::to_string(body),)+
                }
            }

            /// All kinds, as they are described.
            #[cfg(feature = "openapi")]
            pub(crate) fn schemas() -> Vec<KindSchema> {
                vec![$({
                    let mut needs = Vec::new();
                    <$name as utoipa::ToSchema>::schemas(&mut needs);
                    let about = concat!($($about),+);
                    let body = <$name as utoipa::PartialSchema>::schema();
                    KindSchema { kind: $kind, about, body, needs }
                }),+]
            }

            /// Reads what [`kind`](Self::kind) and [`body`](Self::body) gave.
            ///
            /// # Errors
            /// When the kind is not known, or the body has another shape.
            pub fn read(kind: &str, body: &str) -> Result<Self, UnreadableEvent> {
                match kind {
                    $($kind => match serde_json::from_str(body) {
                        Ok(body) => Ok(Self::$name(body)),
                        Err(source) => Err(UnreadableEvent::Body { kind: $kind, source }),
                    },)+
                    other => Err(UnreadableEvent::Kind(other.to_owned())),
                }
            }
        }

        $(impl From<$name> for Happening {
            fn from(body: $name) -> Self {
                Self::$name(body)
            }
        })+
    };
}

impl Happening {
    /// Its body as it may be shown, as JSON: without secrets, which are only for the CLI.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which does not happen.
    pub fn shown(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Created(created) if created.options.mcp_servers.is_some() => {
                let options = Box::new(created.options.shown());
                serde_json::to_string(&Created { options, ..created.clone() })
            }
            _ => self.body(),
        }
    }
}

happenings! {
    /// The session was made.
    Created = "session.created";
    /// Its title changed.
    Renamed = "session.renamed";
    /// Its labels changed.
    Labelled = "session.labelled";
    /// It was put into the archive, or taken out.
    Archived = "session.archived";
    /// It was deleted, with everything that it had.
    Deleted = "session.deleted";
    /// Somebody wants it to stop.
    StopAsked = "session.stop_asked";
    /// Somebody wants it to go on, after it was stopped or has failed.
    ResumeAsked = "session.resume_asked";
    /// It does not go on by itself.
    Failed = "session.failed";
    /// It waits until it may have a process.
    AwaitsProcess = "session.awaits_process";
    /// Something was said about it that a person should read.
    Noted = "session.noted";

    /// Somebody says something.
    MessageQueued = "message.queued";
    /// It was changed before the CLI was given it.
    MessageEdited = "message.edited";
    /// It was taken back before the CLI was given it.
    MessageRemoved = "message.removed";
    /// Messages that wait are in another order.
    MessagesOrdered = "message.ordered";
    /// It is given to the CLI. Written before it is.
    MessageSent = "message.sent";
    /// The CLI did not take note of it before it ended, so it waits again.
    MessageReturned = "message.returned";

    /// A turn began.
    TurnBegan = "turn.began";
    /// A turn ended.
    TurnEnded = "turn.ended";
    /// Somebody wants a turn to end.
    InterruptAsked = "turn.interrupt_asked";
    /// A turn was cut off, and goes on in the next process.
    GoesOn = "turn.goes_on";

    /// Somebody wants another mode.
    ModeWanted = "mode.wanted";
    /// Another mode is in force.
    ModeChanged = "mode.changed";
    /// Somebody wants another model.
    ModelWanted = "model.wanted";
    /// Another model is in use.
    ModelChanged = "model.changed";
    /// The CLI does not do what somebody wants: another mode, another model.
    WishRefused = "wish.refused";
    /// Rules or folders changed for as long as the session lives.
    RulesChanged = "rules.changed";

    /// A process is about to be started. Written before it is.
    ProcessStarting = "process.starting";
    /// It has started.
    ProcessStarted = "process.started";
    /// It is gone.
    ProcessEnded = "process.ended";
    /// The CLI has begun another conversation.
    ConversationChanged = "conversation.changed";

    /// A person is asked.
    ApprovalOpened = "approval.opened";
    /// Somebody has answered, and nobody else can any more.
    ApprovalAnswered = "approval.answered";
    /// The answer goes out. Written before it does.
    ApprovalDelivered = "approval.delivered";
    /// The approval is closed.
    ApprovalClosed = "approval.closed";
    /// The same call may run once, because it was approved for a process that is gone.
    GrantMade = "grant.made";
    /// It did.
    GrantUsed = "grant.used";
    /// The session waits for a person without a process.
    Parked = "session.parked";

    /// A tool is about to be run, or to be asked about. Written before it is.
    ToolCalled = "tool.called";
    /// What became of a call about which no person was asked.
    ToolDecided = "tool.decided";
    /// A tool has changed a file.
    FileChanged = "file.changed";
    /// The CLI told of a limit of the account.
    LimitNoted = "limit.noted";
    /// The CLI said something.
    Frame = "cli.frame";
}

/// See [`Happening::Created`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Created {
    /// The folder that it works in.
    pub folder: String,
    /// Its title; made of its first message if empty.
    pub title: String,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<String>,
    /// The mode that it begins in.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub mode: PermissionMode,
    /// The model; the CLI's own choice if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How it is set up.
    #[serde(default)]
    pub options: Box<SessionOptions>,
    /// The conversation that its first process begins.
    pub conversation: ConversationId,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// Who made it.
    pub by: By,
}

macro_rules! bodies {
    ($($(#[$about:meta])* $name:ident { $($(#[$field_about:meta])* $field:ident: $type:ty,)* })+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub struct $name {
            $($(#[$field_about])* pub $field: $type,)*
        }
    )+};
}

bodies! {
    /// See [`Happening::Renamed`].
    Renamed {
        /// The new title.
        title: String,
        /// Who did it.
        by: By,
    }
    /// See [`Happening::Labelled`].
    Labelled {
        /// All labels that it has now.
        labels: BTreeSet<String>,
        /// Who did it.
        by: By,
    }
    /// See [`Happening::Archived`].
    Archived {
        /// Whether it is in the archive.
        archived: bool,
        /// Who did it.
        by: By,
    }
    /// See [`Happening::Deleted`].
    Deleted {
        /// Who did it.
        by: By,
    }
    /// See [`Happening::StopAsked`].
    StopAsked {
        /// Who asked.
        by: By,
    }
    /// See [`Happening::ResumeAsked`].
    ResumeAsked {
        /// Who asked.
        by: By,
    }
    /// See [`Happening::Failed`].
    Failed {
        /// Why, and what to do.
        why: String,
    }
    /// See [`Happening::AwaitsProcess`].
    AwaitsProcess {}
    /// See [`Happening::Noted`].
    Noted {
        /// What.
        text: String,
    }
    /// See [`Happening::MessageQueued`].
    MessageQueued {
        /// Names the message.
        message: MessageId,
        /// What is said.
        content: MessageContent,
        /// Whether it goes into the turn that is running, in the place of waiting for its end.
        #[serde(default)]
        now: bool,
        /// Whether it comes before all others.
        #[serde(default)]
        first: bool,
        /// Who says it.
        by: By,
    }
    /// See [`Happening::MessageEdited`].
    MessageEdited {
        /// The message.
        message: MessageId,
        /// What is said now.
        content: MessageContent,
        /// Who changed it.
        by: By,
    }
    /// See [`Happening::MessageRemoved`].
    MessageRemoved {
        /// The message.
        message: MessageId,
        /// Who took it back.
        by: By,
    }
    /// See [`Happening::MessagesOrdered`].
    MessagesOrdered {
        /// All that wait, in their new order.
        order: Vec<MessageId>,
        /// Who did it.
        by: By,
    }
    /// See [`Happening::MessageSent`].
    MessageSent {
        /// The message.
        message: MessageId,
        /// The turn that it is part of.
        turn: TurnId,
    }
    /// See [`Happening::MessageReturned`].
    MessageReturned {
        /// The message.
        message: MessageId,
    }
    /// See [`Happening::TurnBegan`].
    TurnBegan {
        /// Names the turn.
        turn: TurnId,
        /// What began it.
        cause: TurnCause,
    }
    /// See [`Happening::TurnEnded`].
    TurnEnded {
        /// The turn.
        turn: TurnId,
        /// How.
        end: TurnEnd,
        /// What the session has used until now, and in this turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used: Option<Used>,
        /// Why, where it did not end by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    }
    /// See [`Happening::InterruptAsked`].
    InterruptAsked {
        /// The turn.
        turn: TurnId,
        /// Who asked.
        by: By,
    }
    /// See [`Happening::GoesOn`].
    GoesOn {
        /// The turn that was cut off.
        turn: TurnId,
        /// What the model is told.
        say: String,
    }
    /// See [`Happening::ModeWanted`].
    ModeWanted {
        /// The mode.
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        mode: PermissionMode,
        /// Who wants it.
        by: By,
    }
    /// See [`Happening::ModeChanged`].
    ModeChanged {
        /// The mode.
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        mode: PermissionMode,
    }
    /// See [`Happening::ModelWanted`].
    ModelWanted {
        /// The model; the CLI's own choice if absent.
        #[serde(default)]
        model: Option<String>,
        /// Who wants it.
        by: By,
    }
    /// See [`Happening::ModelChanged`].
    ModelChanged {
        /// The model; the CLI's own choice if absent.
        #[serde(default)]
        model: Option<String>,
    }
    /// See [`Happening::WishRefused`].
    WishRefused {
        /// What was wanted.
        wish: Wish,
        /// The mode, or the model; the CLI's own choice of a model if absent.
        #[serde(default)]
        value: Option<String>,
        /// Why it is not done.
        why: String,
    }
    /// See [`Happening::RulesChanged`].
    RulesChanged {
        /// What changed.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::api::shape::PermissionUpdate>))]
        updates: Vec<PermissionUpdate>,
        /// The answer that it came with.
        #[serde(default)]
        approval: Option<ApprovalId>,
    }
    /// See [`Happening::ProcessStarting`].
    ProcessStarting {
        /// Which process of the session it is, from 1.
        generation: u64,
    }
    /// See [`Happening::ProcessStarted`].
    ProcessStarted {
        /// Which process of the session it is.
        generation: u64,
        /// The process.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        process: Option<ProcessId>,
        /// What it and all that it starts carry.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        mark: Option<Mark>,
        /// The version of the CLI.
        version: Option<String>,
    }
    /// See [`Happening::ProcessEnded`].
    ProcessEnded {
        /// Which process of the session it was.
        generation: u64,
        /// Why, in words.
        why: String,
        /// Whether it counts as a failure of the process.
        failed: bool,
    }
    /// See [`Happening::ConversationChanged`].
    ConversationChanged {
        /// The conversation.
        conversation: ConversationId,
        /// Whether the CLI has a transcript of it, so that it can be resumed.
        #[serde(default)]
        begun: bool,
        /// Whether the model has to be told what was said before, because the transcript is lost.
        #[serde(default)]
        retell: bool,
    }
    /// See [`Happening::ApprovalOpened`].
    ApprovalOpened {
        /// Names it.
        approval: ApprovalId,
        /// The process that asks.
        generation: u64,
        /// The turn in which it is asked.
        turn: Option<TurnId>,
        /// What is asked for.
        kind: ApprovalKind,
        /// The tool, or the MCP server.
        tool: String,
        /// The call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
        /// The sub-agent that asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The request as it came.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::api::shape::CliRequest))]
        request: RawJson,
        /// What brings the call back when the process is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
        token: Option<RawJson>,
    }
    /// See [`Happening::ApprovalAnswered`].
    ApprovalAnswered {
        /// The approval.
        approval: ApprovalId,
        /// The answer.
        answer: Answer,
        /// Who gave it.
        by: By,
        /// The session in which a plan is carried out, if that is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<SessionId>,
    }
    /// See [`Happening::ApprovalDelivered`].
    ApprovalDelivered {
        /// The approval.
        approval: ApprovalId,
        /// The process that is given the answer.
        generation: u64,
        /// How it gets there.
        how: Delivery,
    }
    /// See [`Happening::ApprovalClosed`].
    ApprovalClosed {
        /// The approval.
        approval: ApprovalId,
        /// How.
        end: ApprovalEnd,
        /// Why, where that is not plain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    }
    /// See [`Happening::GrantMade`].
    GrantMade {
        /// The approval.
        approval: ApprovalId,
        /// The tool.
        tool: String,
        /// The digest of its input.
        input: String,
    }
    /// See [`Happening::GrantUsed`].
    GrantUsed {
        /// The approval that it was made by.
        approval: ApprovalId,
        /// The call that runs because of it.
        tool_use_id: String,
    }
    /// See [`Happening::Parked`].
    Parked {
        /// Which process of the session is given up.
        generation: u64,
    }
    /// See [`Happening::ToolCalled`].
    ToolCalled {
        /// The call.
        tool_use_id: String,
        /// The tool.
        tool: String,
        /// The mode in force.
        #[serde(default)]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        mode: Option<PermissionMode>,
        /// The sub-agent that calls it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The folder that it is called in: a command may have left that of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// What it is called with, as it came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
        input: Option<RawJson>,
    }
    /// See [`Happening::ToolDecided`].
    ToolDecided {
        /// The call.
        tool_use_id: String,
        /// The tool.
        tool: String,
        /// The sub-agent that called it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// What it was called with, as it came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
        input: Option<RawJson>,
        /// What became of it.
        outcome: CallOutcome,
        /// What decided: a rule, or the mode that was in force.
        by: By,
    }
    /// See [`Happening::FileChanged`].
    FileChanged {
        /// The file, as the CLI names it.
        path: String,
        /// Whether it was not there before.
        #[serde(default)]
        is_new: bool,
        /// How many lines were added.
        added: u64,
        /// How many lines were removed.
        removed: u64,
        /// The call that changed it.
        tool_use_id: String,
    }
    /// See [`Happening::LimitNoted`].
    LimitNoted {
        /// What it said.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        notice: RawJson,
    }
    /// See [`Happening::Frame`].
    Frame {
        /// Which process of the session said it.
        generation: u64,
        /// The line, as it came.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        line: RawJson,
    }
}

/// What became of a call about which no person was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It ran.
    Ran,
    /// Its result is an error: it ran and failed, or something other than a permission was in its way.
    Failed,
    /// It was refused.
    Refused,
    /// It may have run: its turn or its process ended before it had a result.
    Unknown,
}

/// What somebody wants of the CLI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// Another mode.
    Mode,
    /// Another model.
    Model,
}

/// What begins a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnCause {
    /// A message.
    Message,
    /// The answer to something that was asked before the process was started.
    Answer,
    /// It was cut off before.
    GoesOn,
    /// The CLI itself: a task in the background has ended.
    Cli,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model was done.
    Done,
    /// Something went wrong.
    Failed,
    /// Somebody interrupted it.
    Interrupted,
    /// The process ended before it did, and it does not go on.
    CutOff,
}

/// How an answer gets to what asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// To the process that asked, which is alive.
    Live,
    /// To a process that was started for it, and that asks for the same call again.
    Resumed,
    /// The model is told what was decided, and makes the call again if that was to allow it.
    Told,
    /// There is nothing to be told: the turn is over, or goes on elsewhere.
    Nothing,
}

/// How an approval is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalEnd {
    /// The answer had its effect.
    Done,
    /// It is not asked any more.
    Cancelled,
    /// Nobody answered in time.
    Expired,
    /// The answer went out, and its process ended before it said what became of it.
    Unknown,
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Used {
    /// What the turn cost, in US dollars.
    pub cost_usd: f64,
    /// What the CLI says that everything in this process cost.
    pub cli_total_usd: f64,
    /// Tokens that the model read, those from a cache included.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// How many tokens were in the context at the end.
    pub context_tokens: u64,
    /// How many tokens the context can have; 0 if the CLI did not say.
    pub context_window: u64,
    /// How often the model was called.
    pub model_calls: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}
