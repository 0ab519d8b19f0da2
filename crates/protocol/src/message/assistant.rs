//! The `assistant` frame.

use countersign_protocol_derive::WireObject;

use crate::content::{Content, ContentBlock};
use crate::ids::{AgentId, ApiMessageId, ApiRequestId, MessageUuid, SessionId, ToolUseId};
use crate::names::open_enum;
use crate::request::{ContextUsageReport, UsageReport};
use crate::usage::Usage;
use crate::wire::{Extra, Num, RawJson};

/// One finished content block of the model, or a text that the CLI made in its stead.
///
/// The frames of one response share `message.id`; their `stop_reason` is null and their usage
/// partial. The [`ResultMessage`](super::ResultMessage) has the figures of the turn.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The message as the API gives it, with one block.
    pub message: ModelMessage,
    /// The `Agent` call in which this was said; none in the main conversation.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Why the API gave no answer. The text of the message says it in words.
    pub error: Option<AssistantErrorKind>,
    /// The request to the API that this came from.
    pub request_id: Option<ApiRequestId>,
    /// When it was said, in ISO 8601.
    pub timestamp: Option<String>,
    /// The user message that this answers. On the first frame of a turn only.
    pub user_message_uuid: Option<MessageUuid>,
    /// All user messages that this answers. On the first frame of a turn only.
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// The sub-agent that said it.
    pub agent_id: Option<AgentId>,
    /// The kind of sub-agent.
    pub subagent_type: Option<String>,
    /// What the sub-agent was asked to do, in short.
    pub task_description: Option<String>,
    /// Messages that this one replaces, and that should no longer be shown.
    pub supersedes: Option<Vec<MessageUuid>>,
    /// Whether the block was cut off by an interrupt.
    pub aborted: Option<bool>,
    /// Why the turn was resumed.
    pub resume_reason: Option<String>,
    /// Whether the turn was resumed in the middle of its reasoning.
    pub resumed_from_incomplete_thinking: Option<bool>,
    /// What fills the context, as an answer to `/context`.
    pub context_usage: Option<Box<ContextUsageReport>>,
    /// Cost and limits, as an answer to `/usage`.
    pub usage_report: Option<Box<UsageReport>>,
    /// How tool calls are named to people. Not part of the public types.
    pub tool_use_meta: Option<Vec<ToolUseMeta>>,
    /// How long the model reasoned. Not part of the public types.
    pub thinking_duration_ms: Option<Num>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A message of the Messages API, as the model writes it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ModelMessage {
    /// Names the response; all its frames carry it.
    pub id: Option<ApiMessageId>,
    /// Always `message`.
    #[wire(name = "type")]
    pub kind: Option<String>,
    /// Always `assistant`.
    pub role: Role,
    /// The model, or `<synthetic>` for a text that the CLI made.
    pub model: Option<String>,
    /// The blocks; in a frame of the CLI there is one.
    pub content: Content,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
    /// The sequence at which it stopped.
    pub stop_sequence: Option<String>,
    /// Details of why it stopped.
    pub stop_details: Option<RawJson>,
    /// Tokens so far.
    pub usage: Option<Usage>,
    /// What the API left out of the context.
    pub context_management: Option<RawJson>,
    /// The container in which the API ran code.
    pub container: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl ModelMessage {
    /// The blocks, where the content is made of blocks.
    #[must_use]
    pub fn blocks(&self) -> &[ContentBlock] {
        match &self.content {
            Content::Text(_) => &[],
            Content::Blocks(blocks) => blocks,
        }
    }
}

/// How a tool call is named to people.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ToolUseMeta {
    /// The call.
    pub id: ToolUseId,
    /// The tool.
    pub display_name: Option<String>,
    /// The MCP server.
    pub server_display_name: Option<String>,
    /// The name that the server has for the tool.
    pub tool_name: Option<String>,
    /// A picture of it.
    pub icon_url: Option<String>,
    /// The server.
    pub server_id: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Who said it.
    Role {
        /// The user, or a tool.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }

    /// Why the API gave no answer.
    AssistantErrorKind {
        /// The key or token is not good.
        AuthenticationFailed = "authentication_failed",
        /// The organisation may not sign in this way.
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        /// The account is on hold.
        AccountOnHold = "account_on_hold",
        /// The account has to be verified.
        VerificationRequired = "verification_required",
        /// There is something wrong with the payment.
        BillingError = "billing_error",
        /// Too many requests.
        RateLimit = "rate_limit",
        /// The API is overloaded.
        Overloaded = "overloaded",
        /// The API refused the request.
        InvalidRequest = "invalid_request",
        /// There is no such model.
        ModelNotFound = "model_not_found",
        /// The API failed.
        ServerError = "server_error",
        /// Something else.
        Unknown = "unknown",
        /// The answer was cut off at its longest.
        MaxOutputTokens = "max_output_tokens",
        /// The credential of the cloud provider is not good.
        CloudCredentialError = "cloud_credential_error",
    }
}
