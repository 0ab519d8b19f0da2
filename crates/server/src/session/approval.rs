//! What a person is asked, from the question to what became of it.

use countersign::park::ParkingToken;
use countersign::permission::{AskKind, PermissionAsk};
use countersign_protocol::RawJson;
use countersign_protocol::ask::{CanUseTool, Elicitation};
use countersign_protocol::hook::PreToolUseInput;
use countersign_protocol::permission::{PermissionMode, PermissionResult};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, NotAnAnswer};
use super::by::By;
use super::rules::mode_set_by;
use crate::id::{ApprovalId, SessionId, TurnId};

/// What a person is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// May this tool run?
    Tool,
    /// Is this plan good?
    Plan,
    /// May the model enter plan mode?
    EnterPlan,
    /// The model has questions.
    Question,
    /// An MCP server has a form to be filled in.
    Elicitation,
}

impl ApprovalKind {
    /// The name, as it is in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Plan => "plan",
            Self::EnterPlan => "enter_plan",
            Self::Question => "question",
            Self::Elicitation => "elicitation",
        }
    }

    /// What can be answered, in words.
    #[must_use]
    pub const fn answers(self) -> &'static str {
        match self {
            Self::Tool => "answer with allow or deny",
            Self::Plan => "answer with plan, keep_planning or deny",
            Self::EnterPlan => "answer with a plain allow, or deny",
            Self::Question => "answer with answers, reply, skip or deny",
            Self::Elicitation => "answer with form or deny",
        }
    }

    /// What a permission asks for.
    #[must_use]
    pub const fn of_ask(kind: &AskKind) -> Self {
        match kind {
            AskKind::Plan(_) => Self::Plan,
            AskKind::Questions(_) => Self::Question,
            _ => Self::Tool,
        }
    }

    /// Whether it is asked as a permission, so that the CLI can be made to ask again.
    #[must_use]
    pub const fn is_permission(self) -> bool {
        matches!(self, Self::Tool | Self::Plan | Self::Question)
    }
}

/// How far an approval has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Somebody has to answer.
    Open,
    /// Somebody has answered; the answer is on disk, and not on its way yet.
    Answered,
    /// The answer goes out, or has gone out.
    Delivered,
    /// The answer had its effect.
    Done,
    /// It is not asked any more.
    Cancelled,
    /// Nobody answered in time; it was refused.
    Expired,
    /// The answer went out, and its process ended before it said what became of it.
    Unknown,
}

impl Stage {
    /// The name, as it is in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Delivered => "delivered",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Unknown => "unknown",
        }
    }

    /// Whether nothing comes after it.
    #[must_use]
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Expired | Self::Unknown)
    }
}

/// Something that a person is asked, with everything that became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Approval {
    /// Names it.
    pub id: ApprovalId,
    /// The session that asks.
    pub session: SessionId,
    /// The turn in which it is asked.
    pub turn: Option<TurnId>,
    /// What is asked for.
    pub kind: ApprovalKind,
    /// The tool; for an elicitation, the MCP server.
    pub tool: String,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The sub-agent that asks; none if it is the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The request as the CLI made it: the whole input, suggestions, reason, blocked path.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::api::shape::CliRequest))]
    pub request: RawJson,
    /// Of a plan: which round it is, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// How far it has come.
    pub stage: Stage,
    /// When it was asked.
    pub opened_at: Timestamp,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
    /// When the answer went out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// When it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// Why it was closed, where that is not plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// An answer that was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Given {
    /// The answer.
    pub answer: Answer,
    /// Who gave it.
    pub by: By,
    /// When.
    pub at: Timestamp,
    /// The session in which a plan is carried out, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<SessionId>,
}

/// What an answer changes beside the call it is for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// Rules and folders.
    pub updates: Vec<countersign_protocol::permission::PermissionUpdate>,
    /// The mode.
    pub mode: Option<PermissionMode>,
    /// The plan that is carried out in a new session.
    pub fresh_plan: Option<String>,
}

impl Approval {
    /// The permission that is asked for, for those kinds that are one.
    ///
    /// # Errors
    /// When the request cannot be read.
    pub fn permission(&self) -> Result<CanUseTool, serde_json::Error> {
        self.request.decode()
    }

    /// The tool and the input that a person is shown, for those kinds that are a call.
    #[must_use]
    pub fn call(&self) -> Option<(String, RawJson)> {
        match self.kind {
            ApprovalKind::Elicitation => None,
            ApprovalKind::EnterPlan => {
                let input = self.request.decode::<PreToolUseInput>().ok()?;
                Some((input.tool_name, input.tool_input))
            }
            ApprovalKind::Tool | ApprovalKind::Plan | ApprovalKind::Question => {
                let request = self.permission().ok()?;
                Some((request.tool_name, request.input))
            }
        }
    }

    /// Looks whether this is an answer to it, and says what it would change besides.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, answer: &Answer) -> Result<Effects, NotAnAnswer> {
        match self.kind {
            ApprovalKind::Elicitation => {
                drop(self.request.decode::<Elicitation>()?);
                answer.to_elicitation()?;
                Ok(Effects::default())
            }
            ApprovalKind::EnterPlan => {
                answer.to_enter_plan()?;
                Ok(Effects::default())
            }
            ApprovalKind::Tool | ApprovalKind::Plan | ApprovalKind::Question => {
                let request = self.permission()?;
                let fresh_plan = fresh_plan(&request, answer);
                let answer = answer.to_permission(PermissionAsk::again(request))?;
                let updates = match answer.result() {
                    PermissionResult::Allow(allow) => allow.updated_permissions.clone(),
                    _ => None,
                };
                let updates = updates.unwrap_or_default();
                let mode = mode_set_by(&updates).cloned();
                Ok(Effects { updates, mode, fresh_plan })
            }
        }
    }
}

/// The plan that an answer has carried out in a new session.
fn fresh_plan(request: &CanUseTool, answer: &Answer) -> Option<String> {
    let Answer::Plan(approved) = answer else { return None };
    if !answer.clears_context() {
        return None;
    }
    if let Some(plan) = &approved.plan {
        return Some(plan.clone());
    }
    match PermissionAsk::again(request.clone()).into_kind() {
        AskKind::Plan(plan) => plan.plan().map(str::to_owned),
        _ => None,
    }
}

/// A token with which a call that waits can be brought back, as it is kept.
///
/// # Errors
/// When it was changed and cannot be read.
pub fn read_token(token: &RawJson) -> Result<ParkingToken, serde_json::Error> {
    token.decode()
}
