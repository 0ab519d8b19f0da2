//! Tools that the user answers: questions, and plans to approve.

use std::collections::BTreeMap;

use countersign_protocol_derive::WireObject;

use crate::tool::input::{Annotation, Answer, Question};
use crate::wire::{Extra, Num};

/// Questions, with the user's answers.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AskUserQuestionOutput {
    /// The questions. 2.1.62 leaves them out when the host did.
    pub questions: Option<Vec<Question>>,
    /// The answers as the host gave them. A key that is no question's text is kept here, though
    /// to the model it is no answer.
    pub answers: BTreeMap<String, Answer>,
    /// What the user said instead of answering.
    pub response: Option<String>,
    /// What was said about answers.
    pub annotations: Option<BTreeMap<String, Annotation>>,
    /// After how many milliseconds the CLI gave up on the user.
    pub afk_timeout_ms: Option<Num>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A plan that was allowed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExitPlanModeOutput {
    /// The plan. `null` when there was no plan file.
    pub plan: Option<String>,
    /// Whether a sub-agent made it.
    pub is_agent: bool,
    /// The plan file. Named even if it does not exist.
    pub file_path: Option<String>,
    /// Whether the model can start sub-agents.
    pub has_task_tool: Option<bool>,
    /// Whether the user changed the plan. 2.1.197 says so of every plan; 2.1.62 never does.
    pub plan_was_edited: Option<bool>,
    /// Whether the agent that leads has still to approve.
    pub awaiting_leader_approval: Option<bool>,
    /// Names the request to that agent.
    pub request_id: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Plan mode was entered.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct EnterPlanModeOutput {
    /// What the model is told.
    pub message: String,
    /// Fields this type does not name.
    pub extra: Extra,
}
