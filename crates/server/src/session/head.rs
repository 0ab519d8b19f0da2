//! What a session is, made of all that happened in it.

mod apply;
mod loss;
#[cfg(test)]
mod tests;
mod wants;

use std::collections::{BTreeMap, BTreeSet};

use countersign::process::{Mark, ProcessId};
use countersign_protocol::permission::PermissionMode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::approval::{ApprovalKind, Stage};
use super::event::GoesOn;
use super::options::{Parent, SessionOptions};
use super::rules::Rules;
use super::state::State;
use crate::id::{ApprovalId, ConversationId, MessageId, SessionId, TurnId};

/// What a session is now.
///
/// It is small: what messages say and what is asked is elsewhere. It is kept beside the log, and can
/// be made again from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Head {
    /// The session.
    pub id: SessionId,
    /// The number of the last event.
    pub seq: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When something last happened.
    pub updated_at: Timestamp,
    /// Its title.
    pub title: String,
    /// The message that the title is made of, as long as nobody gave it another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_of: Option<MessageId>,
    /// Its labels.
    pub labels: BTreeSet<String>,
    /// Whether it is in the archive.
    pub archived: bool,
    /// The folder that it works in.
    pub folder: String,
    /// How it is set up.
    pub options: SessionOptions,
    /// Where it comes from.
    pub parent: Option<Parent>,
    /// The mode in force, or the one that the next process begins in.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub mode: PermissionMode,
    /// The mode that somebody wants.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub wanted_mode: Option<PermissionMode>,
    /// The model; the CLI's own choice if absent.
    pub model: Option<String>,
    /// The model that somebody wants.
    pub wanted_model: Option<WantedModel>,
    /// Rules and folders that it was given while it ran.
    pub rules: Rules,
    /// The conversation of the CLI.
    pub conversation: Conversation,
    /// Its process.
    pub process: Process,
    /// How many processes it has had.
    pub generation: u64,
    /// The turn that is running, or that goes on with an answer.
    pub turn: Option<Turn>,
    /// Messages that wait, in their order.
    pub queue: Vec<Queued>,
    /// What a person is asked, as far as it is not closed.
    pub approvals: BTreeMap<ApprovalId, Pending>,
    /// Calls that no person is asked about, as far as they have no result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, Call>,
    /// Calls that may run once.
    pub grants: Vec<Grant>,
    /// The turn that somebody wants to end.
    pub interrupt: Option<TurnId>,
    /// Whether somebody wants it to stop.
    pub stop: bool,
    /// Why it does not go on by itself.
    pub failure: Option<String>,
    /// What the model is told when the turn that was cut off goes on.
    pub goes_on: Option<GoesOn>,
    /// When processes failed, since the last turn that ended well.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub failures: Vec<Timestamp>,
    /// How many plans were made.
    pub plans: u32,
    /// What it has used.
    pub usage: Usage,
    /// What its tools have changed in files.
    #[serde(default)]
    pub changes: Changes,
}

/// What the tools of a session have changed in files, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Changes {
    /// Lines that were added.
    pub added: u64,
    /// Lines that were removed.
    pub removed: u64,
}

/// A model that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WantedModel {
    /// The model; the CLI's own choice if absent.
    pub model: Option<String>,
}

/// A conversation of the CLI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Conversation {
    /// Names it.
    pub id: ConversationId,
    /// Whether it has begun, so that there is something to resume.
    pub begun: bool,
    /// Whether the model has to be told what was said before.
    #[serde(default)]
    pub retell: bool,
}

/// The process of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Process {
    /// There is none.
    #[default]
    None,
    /// There is none, and one is wanted.
    Awaited,
    /// It is being started.
    Starting,
    /// It is there.
    Alive {
        /// The process.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        process: Option<ProcessId>,
        /// What it and all that it starts carry.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        mark: Option<Mark>,
        /// The version of the CLI.
        version: Option<String>,
    },
}

impl Process {
    /// Whether there is one, or there will be in a moment.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        matches!(self, Self::Starting | Self::Alive { .. })
    }
}

/// A turn that is not over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Turn {
    /// Names it.
    pub id: TurnId,
    /// When it began.
    pub began_at: Timestamp,
    /// The messages that the CLI was given for it.
    pub messages: Vec<MessageId>,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Queued {
    /// The message.
    pub message: MessageId,
    /// Whether it goes into the turn that is running.
    pub now: bool,
    /// Whether it was given to the CLI before, which may know it.
    #[serde(default)]
    pub again: bool,
}

/// Something that a person is asked, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Pending {
    /// What is asked for.
    pub kind: ApprovalKind,
    /// The tool, or the MCP server.
    pub tool: String,
    /// The call.
    pub tool_use_id: Option<String>,
    /// How far it has come: open, answered or delivered.
    pub stage: Stage,
    /// When it was asked.
    pub opened_at: Timestamp,
    /// The process that asked, or that was given the answer.
    pub generation: u64,
    /// Whether there is what brings the call back.
    pub has_token: bool,
    /// Whether what is asked for happens because of the answer.
    pub allows: bool,
    /// Whether the turn ends with the answer.
    pub stops: bool,
    /// Whether nobody answered in time, and so it is refused.
    #[serde(default)]
    pub expired: bool,
    /// Whether the answer went out in words: the call that it was for does not come back.
    #[serde(default)]
    pub told: bool,
}

/// A call that no person is asked about, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// The mode in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub mode: Option<PermissionMode>,
    /// The sub-agent that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// A call that may run once, because it was approved for a process that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Grant {
    /// The approval.
    pub approval: ApprovalId,
    /// The tool.
    pub tool: String,
    /// The digest of its input.
    pub input: String,
}

/// What a session has used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Usage {
    /// What it cost, in US dollars.
    pub cost_usd: f64,
    /// Tokens that the model read, those from a cache included.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// How many tokens were in the context when the last turn ended.
    pub context_tokens: u64,
    /// How many tokens the context can have; 0 as long as that is not known.
    pub context_window: u64,
    /// Turns that have ended.
    pub turns: u64,
    /// How often the model was called.
    pub model_calls: u64,
    /// The time that turns took, in milliseconds.
    pub duration_ms: u64,
    /// What the CLI last said of the limits of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub limit_notice: Option<serde_json::Value>,
    /// What the CLI last said that its process has cost.
    pub cli_total_usd: f64,
    /// Which process said it.
    pub cli_total_of: u64,
}

impl Usage {
    /// How many tokens are in the context after the model has said something that has used these.
    #[must_use]
    pub fn in_context(used: &countersign_protocol::usage::Usage) -> u64 {
        let all = [
            used.input_tokens,
            used.cache_creation_input_tokens,
            used.cache_read_input_tokens,
            used.output_tokens,
        ];
        all.into_iter().flatten().fold(0, u64::saturating_add)
    }
}

/// Why something cannot happen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// There is a session of that name already.
    #[error("there is a session {0} already")]
    Exists(SessionId),
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// Another turn is running than the one that is meant, or none.
    #[error("{}", stale(.meant, .running.as_ref()))]
    StaleTurn {
        /// The one that was meant.
        meant: TurnId,
        /// The one that is running.
        running: Option<TurnId>,
    },
    /// There is no such message, or the CLI has it.
    #[error("the message {0} does not wait any more: the CLI has it, or it was removed")]
    NotQueued(MessageId),
    /// A message of that name is there already.
    #[error("there is a message {0} already")]
    MessageExists(MessageId),
    /// The new order is not one of the messages that wait.
    #[error("the order has to name each message that waits once, and nothing else")]
    NotAnOrder,
    /// It has cost all that it may.
    #[error("the session has cost all that it may: start another one")]
    OverBudget,
    /// There is no such call, or it is known what became of it.
    #[error("it is known already what became of the call {0}")]
    NoCall(String),
    /// There is no such approval, or it is closed.
    #[error("the approval {0} is not open any more")]
    NotOpen(ApprovalId),
    /// Somebody was first.
    #[error("the approval {0} was answered already")]
    Answered(ApprovalId),
    /// It has not been answered.
    #[error("the approval {0} has no answer yet")]
    Unanswered(ApprovalId),
    /// The process that it is about is not the one that there is.
    #[error("process {meant} of the session is gone: it is at {current}")]
    Gone {
        /// The one that is meant.
        meant: u64,
        /// The one that there is.
        current: u64,
    },
    /// It is not possible as the session is now.
    #[error("this cannot be done while the session is {state}: {instead}")]
    State {
        /// What the session is doing.
        state: State,
        /// What to do instead.
        instead: &'static str,
    },
    /// The session would come into a state that cannot follow. It is a defect of this program.
    #[error("a session cannot become {next} when it is {state}")]
    Transition {
        /// What it is doing.
        state: State,
        /// What it would be doing.
        next: State,
    },
}

fn stale(meant: &TurnId, running: Option<&TurnId>) -> String {
    match running {
        Some(running) => format!("turn {meant} is over: {running} is running"),
        None => format!("turn {meant} is over: no turn is running"),
    }
}

impl Head {
    /// What the session is doing.
    #[must_use]
    pub fn state(&self) -> State {
        match &self.process {
            Process::Starting => State::Starting,
            Process::Alive { .. } if self.is_asking() => State::Waiting,
            Process::Alive { .. } if self.turn.is_some() => State::Running,
            Process::Alive { .. } => State::Ready,
            Process::None | Process::Awaited if self.failure.is_some() => State::Failed,
            Process::None | Process::Awaited if self.stop => State::Ended,
            Process::Awaited => State::Queued,
            Process::None if self.is_asking() => State::Parked,
            Process::None => State::Idle,
        }
    }

    /// Whether somebody wants it to stop, or its turn to end, and that is not done yet.
    #[must_use]
    pub const fn is_being_ended(&self) -> bool {
        self.stop || self.interrupt.is_some()
    }

    /// Whether a person is asked.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        self.approvals.values().any(|pending| pending.stage == Stage::Open)
    }

    /// The version of the CLI that is running.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        match &self.process {
            Process::Alive { version, .. } => version.as_deref(),
            _ => None,
        }
    }

    /// Whether somebody gave it its title. One that was taken over from another session may be made of
    /// what was said there.
    #[must_use]
    pub const fn has_own_title(&self) -> bool {
        self.title_of.is_none() && self.parent.is_none() && !self.title.is_empty()
    }

    /// Whether a message waits with which a turn can begin.
    #[must_use]
    pub fn has_next(&self) -> bool {
        !self.queue.is_empty() && !self.is_over_budget()
    }

    /// Whether it has cost all that it may.
    #[must_use]
    pub fn is_over_budget(&self) -> bool {
        self.options.limits.budget_usd.is_some_and(|budget| self.usage.cost_usd >= budget)
    }
}
