//! What is asked.

use std::sync::Arc;

use countersign_protocol::RawJson;
use countersign_protocol::ask::CanUseTool;
use countersign_protocol::ids::{RequestId, ToolUseId};
use countersign_protocol::permission::{Deny, PermissionResult, PermissionUpdate};
use countersign_protocol::tool::ToolInput;
use tokio_util::sync::CancellationToken;

use super::answer::{Allowing, PermissionAnswer};
use super::plan::PlanAsk;
use super::question::QuestionAsk;

/// The CLI asks whether a tool may run.
///
/// It is answered by one of its own methods, which take it: there is one answer to each ask, and
/// it carries the input that was asked about, byte for byte, unless it is changed.
///
/// ```
/// # use countersign::permission::{PermissionAsk, PermissionAnswer};
/// use countersign::protocol::tool::ToolInput;
///
/// fn decide(ask: PermissionAsk) -> PermissionAnswer {
///     match ask.tool() {
///         ToolInput::Read(_) => ask.allow(),
///         ToolInput::Bash(bash) if bash.command == "make test" => ask.allow(),
///         _ => ask.deny("only reading and `make test` are part of this job"),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct PermissionAsk {
    pub(super) request_id: RequestId,
    pub(super) request: Arc<CanUseTool>,
    cancelled: CancellationToken,
}

/// What kind of answer is wanted: consent, a decision about a plan, or answers to questions.
#[derive(Debug)]
#[non_exhaustive]
pub enum AskKind {
    /// May this tool run?
    Tool(PermissionAsk),
    /// The model has made a plan and wants to begin.
    Plan(PlanAsk),
    /// The model has questions.
    Questions(QuestionAsk),
}

impl PermissionAsk {
    pub(crate) fn new(
        request_id: RequestId,
        request: Arc<CanUseTool>,
        cancelled: CancellationToken,
    ) -> Self {
        Self { request_id, request, cancelled }
    }

    /// An ask for a request that was kept, such as the one in a
    /// [`ParkingToken`](crate::park::ParkingToken): to see what can be answered, and to check an
    /// answer before it is given. No CLI waits for what is made of it.
    #[must_use]
    pub fn again(request: CanUseTool) -> Self {
        Self::new(RequestId::from("kept"), Arc::new(request), CancellationToken::new())
    }

    /// The same ask about another input.
    pub(crate) fn with_input(mut self, input: RawJson) -> Self {
        Arc::make_mut(&mut self.request).input = input;
        self
    }

    /// Says when the CLI no longer wants an answer.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.cancelled.clone()
    }

    /// The name of the tool.
    #[must_use]
    pub fn tool_name(&self) -> &str {
        &self.request.tool_name
    }

    /// The input of the tool, by type. [`ToolInput::Other`] when the tool has no type here, or its
    /// input does not have the shape that the type has; the raw one is always there.
    #[must_use]
    pub fn tool(&self) -> ToolInput {
        ToolInput::parse(&self.request.tool_name, &self.request.input).unwrap_or(ToolInput::Other)
    }

    /// The input of the tool, as it came.
    #[must_use]
    pub fn input(&self) -> &RawJson {
        &self.request.input
    }

    /// The call.
    #[must_use]
    pub fn tool_use_id(&self) -> &ToolUseId {
        &self.request.tool_use_id
    }

    /// The request. A session that is asked again for the same call has another one.
    #[must_use]
    pub fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    /// Everything that was sent: suggestions, the reason, the blocked path, title and description,
    /// the sub-agent, the MCP server.
    #[must_use]
    pub fn request(&self) -> &CanUseTool {
        &self.request
    }

    /// What "always allow" would change.
    #[must_use]
    pub fn suggestions(&self) -> &[PermissionUpdate] {
        self.request.permission_suggestions.as_deref().unwrap_or_default()
    }

    /// Whether the CLI no longer wants an answer: the turn was interrupted, or the session ended.
    /// What is answered then goes nowhere.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Waits until the CLI no longer wants an answer, so that a question can be taken off a screen.
    ///
    /// The future is independent of the ask, which can be answered meanwhile.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.cancelled.clone().cancelled_owned()
    }

    /// What kind of answer is wanted.
    ///
    /// A plan or a question whose input cannot be read is a [`AskKind::Tool`]; allowing it
    /// approves the plan as it is, or tells the model that nobody answered.
    #[must_use]
    pub fn into_kind(self) -> AskKind {
        match self.tool() {
            ToolInput::ExitPlanMode(input) => AskKind::Plan(PlanAsk::new(self, input)),
            ToolInput::AskUserQuestion(input) => AskKind::Questions(QuestionAsk::new(self, *input)),
            _ => AskKind::Tool(self),
        }
    }

    /// Lets the tool run, this time.
    pub fn allow(self) -> PermissionAnswer {
        self.allowing().answer()
    }

    /// Lets the tool run, and applies what the CLI suggested, so that it does not ask again.
    ///
    /// Without a suggestion it is the same as [`allow`](Self::allow).
    pub fn allow_always(self) -> PermissionAnswer {
        let suggestions = self.suggestions().to_vec();
        self.allowing().updates(suggestions).answer()
    }

    /// Lets the tool run with another input, which must be an object that the tool understands.
    /// The model does not learn of the change.
    ///
    /// # Errors
    /// When the input is not an object.
    pub fn allow_with_input(self, input: RawJson) -> Result<PermissionAnswer, super::AnswerError> {
        Ok(self.allowing().input(input)?.answer())
    }

    /// Begins an answer that lets the tool run, to change the input, rules or mode with it.
    pub fn allowing(self) -> Allowing {
        Allowing::new(&self)
    }

    /// Refuses. The model reads the reason and goes on.
    pub fn deny(self, reason: impl Into<String>) -> PermissionAnswer {
        let deny = Deny::new(reason);
        PermissionAnswer::new(self.request.tool_use_id.clone(), deny.into())
    }

    /// Refuses, and ends the turn. From 2.1.197 on the model does not read the reason.
    pub fn deny_and_stop(self, reason: impl Into<String>) -> PermissionAnswer {
        let mut deny = Deny::new(reason);
        deny.interrupt = Some(true);
        PermissionAnswer::new(self.request.tool_use_id.clone(), PermissionResult::Deny(deny))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spaces, the order of keys, numbers that no float holds: all of it comes back as it came.
    #[test]
    fn an_answer_carries_the_input_byte_for_byte() {
        let input = r#"{ "z":12345678901234567890, "a":[1.0,1e2,-0.0], "a":"\u00e9" }"#;
        let request = format!(
            r#"{{"tool_name":"mcp__x__y","input":{input},"tool_use_id":"toolu_1","permission_suggestions":[{{"type":"setMode","mode":"acceptEdits","destination":"session"}}]}}"#
        );
        let ask = || {
            let request = Arc::new(serde_json::from_str(&request).unwrap());
            PermissionAsk::new(RequestId::from("r"), request, CancellationToken::new())
        };
        let allowed = serde_json::to_string(ask().allow().result()).unwrap();
        assert_eq!(allowed, format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#));
        let always = serde_json::to_string(ask().allow_always().result()).unwrap();
        assert!(always.contains(input) && always.contains("acceptEdits"), "{always}");
        let same = serde_json::from_str(input).unwrap();
        assert!(!ask().allow_with_input(same).unwrap().input_changed);
        assert!(ask().allow_with_input(serde_json::from_str("[]").unwrap()).is_err());
    }
}
