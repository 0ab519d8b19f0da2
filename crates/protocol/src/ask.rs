//! What the CLI asks of a client, and the answers.

use countersign_protocol_derive::{WireObject, WireTagged};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::hook::{HookInput, HookOutput};
use crate::ids::{AgentId, ElicitationId, HookCallbackId, MessageUuid, ToolUseId};
use crate::names::open_enum;
use crate::permission::{PermissionResult, PermissionUpdate};
use crate::request::{McpMessage, RuleSource};
use crate::wire::{Extra, Named, Num, RawJson};

/// A control request of the CLI, by its subtype.
///
/// They come at any time: before the answer to `initialize`, after a result, several at once.
/// Each gets exactly one answer; what a client does not know it answers with an error, because
/// the CLI waits for ever.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "subtype")]
#[non_exhaustive]
pub enum CliRequest {
    /// May this tool run? Answered with a
    /// [`PermissionResult`].
    #[wire(name = "can_use_tool")]
    CanUseTool(Box<CanUseTool>),
    /// Runs a hook of the client. Answered with a [`HookOutput`].
    #[wire(name = "hook_callback")]
    HookCallback(Box<HookCallback>),
    /// A message to an MCP server that lives in the client. Answered with an [`McpReply`].
    #[wire(name = "mcp_message")]
    McpMessage(McpMessage),
    /// An MCP server asks the user something. Answered with an [`ElicitationAnswer`].
    #[wire(name = "elicitation")]
    Elicitation(Box<Elicitation>),
    /// A dialog. Answered with a [`DialogAnswer`], and only if the client said in `initialize`
    /// that it shows dialogs of that kind.
    #[wire(name = "request_user_dialog")]
    RequestUserDialog(RequestUserDialog),
    /// The OAuth token is no longer good. Answered with an [`OauthTokenAnswer`]. Not part of the
    /// public types.
    #[wire(name = "oauth_token_refresh")]
    OauthTokenRefresh(OauthTokenRefresh),
    /// The host's token is no longer good. Answered with a [`HostAuthTokenAnswer`]. Not part of
    /// the public types.
    #[wire(name = "host_auth_token_refresh")]
    HostAuthTokenRefresh(HostAuthTokenRefresh),
    /// Requests of hosted workers and of plugin-drawn user interfaces.
    #[wire(internal(
        "remote_control_work_secret",
        "remote_tool_call",
        "remote_plumbing_call",
        "remote_tools_probe",
        "remote_tools_reannounce",
        "ui_copy",
        "ui_prompt_read",
        "ui_prompt_fill",
        "ui_prompt_paint",
        "ui_prompt_suggest",
        "ui_read_selection"
    ))]
    Internal(Named),
    /// A request this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// A request of the CLI that has an answer of its own type.
///
/// It keeps an answer from being sent to another kind of request:
///
/// ```
/// use countersign_protocol::ask::CanUseTool;
/// use countersign_protocol::control::ControlResponse;
/// use countersign_protocol::permission::Deny;
///
/// let response = ControlResponse::answer::<CanUseTool>("request-1", &Deny::new("no").into())?;
/// assert_eq!(
///     serde_json::to_string(&response)?,
///     r#"{"response":{"subtype":"success","request_id":"request-1","response":{"behavior":"deny","message":"no"}}}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
pub trait Ask {
    /// The payload of the answer.
    type Answer: Serialize + DeserializeOwned;
}

impl Ask for CanUseTool {
    type Answer = PermissionResult;
}

impl Ask for HookCallback {
    type Answer = HookOutput;
}

impl Ask for McpMessage {
    type Answer = McpReply;
}

impl Ask for Elicitation {
    type Answer = ElicitationAnswer;
}

impl Ask for RequestUserDialog {
    type Answer = DialogAnswer;
}

impl Ask for OauthTokenRefresh {
    type Answer = OauthTokenAnswer;
}

impl Ask for HostAuthTokenRefresh {
    type Answer = HostAuthTokenAnswer;
}

/// May this tool run?
///
/// There is no deadline. An error as the answer refuses the call.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CanUseTool {
    /// The tool.
    pub tool_name: String,
    /// Its input, with defaults filled in. Allowing the call sends it back as it is; see
    /// [`ToolInput`](crate::tool::ToolInput) for types.
    pub input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What "always allow" would mean; sent back with the answer.
    pub permission_suggestions: Option<Vec<PermissionUpdate>>,
    /// The tool, as people call it.
    pub display_name: Option<String>,
    /// The whole question in a sentence.
    pub title: Option<String>,
    /// A line below it.
    pub description: Option<String>,
    /// The path that is not allowed.
    pub blocked_path: Option<String>,
    /// Why it is asked. May hold the escape codes of a terminal.
    pub decision_reason: Option<String>,
    /// What kind of reason.
    pub decision_reason_type: Option<DecisionReasonType>,
    /// False when a safety check needs a person.
    pub classifier_approvable: Option<bool>,
    /// Whether no lasting choice should be offered.
    pub suppress_always_allow_rule: Option<bool>,
    /// Whether refusing should be the choice at hand.
    pub default_to_no: Option<bool>,
    /// The rule that says to ask.
    pub matched_ask_rule: Option<MatchedAskRule>,
    /// Whether the answer is input and not consent: a question, a plan.
    pub requires_user_interaction: Option<bool>,
    /// The sub-agent that makes the call.
    pub agent_id: Option<AgentId>,
    /// The MCP server whose tool it is.
    pub mcp_server: Option<McpServerRef>,
    /// The reason as a code. Not part of the public types.
    pub decision_reason_code: Option<String>,
    /// Whether a policy of the MCP server says to ask. Not part of the public types.
    pub server_policy_ask_only: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The rule that says to ask.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MatchedAskRule {
    /// Where it is kept.
    pub source: RuleSource,
    /// The tool.
    pub tool_name: String,
    /// What of its input it covers.
    pub rule_content: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpServerRef {
    /// Its name.
    pub name: String,
    /// Where it was configured: `sdk`, `plugin`, `user`, `project`, `local`, `dynamic`, `managed`,
    /// `enterprise`, `claudeai` or `agent`.
    pub source: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Runs a hook of the client.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct HookCallback {
    /// The hook, as the client named it.
    pub callback_id: HookCallbackId,
    /// What happened.
    pub input: HookInput,
    /// The call it is about; made up for events that are about none.
    pub tool_use_id: Option<ToolUseId>,
    /// When it was sent. Not part of the public types.
    pub issued_at: Option<Num>,
    /// How long it is waited for. Not part of the public types.
    pub deadline_ms: Option<Num>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The reply of an MCP server that lives in the client.
///
/// A notification has no reply, but the control request still gets an answer.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpReply {
    /// The JSON-RPC reply.
    pub mcp_response: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An MCP server asks the user something.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Elicitation {
    /// The server.
    pub mcp_server_name: String,
    /// The question.
    pub message: String,
    /// How it is answered.
    pub mode: Option<ElicitationMode>,
    /// Where it is answered.
    pub url: Option<String>,
    /// Names it.
    pub elicitation_id: Option<ElicitationId>,
    /// What the answer looks like.
    pub requested_schema: Option<RawJson>,
    /// In which order to ask.
    pub property_order: Option<Vec<String>>,
    /// A title.
    pub title: Option<String>,
    /// The server, as people call it.
    pub display_name: Option<String>,
    /// A line below it.
    pub description: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to an elicitation. An error instead of it cancels.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ElicitationAnswer {
    /// What the user did.
    pub action: ElicitationAction,
    /// What the user filled in.
    pub content: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A dialog.
///
/// Of the kinds that the CLI has, `refusal_fallback_prompt` is documented: see
/// [`RefusalFallbackPrompt`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RequestUserDialog {
    /// Which dialog.
    pub dialog_kind: String,
    /// What it shows.
    pub payload: RawJson,
    /// The call it is about.
    pub tool_use_id: Option<ToolUseId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What the dialog `refusal_fallback_prompt` shows. The result is `retry_fallback`, `edit_prompt`
/// or `cancelled`, as a string.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RefusalFallbackPrompt {
    /// The model that refused.
    pub original_model: String,
    /// The one that would take over.
    pub fallback_model: String,
    /// What kind of refusal.
    pub api_refusal_category: Option<String>,
    /// What to tell the user.
    pub guidance_text: Option<String>,
    /// Messages that no longer count.
    pub retracted_message_uuids: Option<Vec<MessageUuid>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to a dialog.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct DialogAnswer {
    /// Whether it was answered.
    pub behavior: DialogBehavior,
    /// What was chosen.
    pub result: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The OAuth token is no longer good.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct OauthTokenRefresh {
    /// `sessions`.
    pub kind: Option<String>,
    /// `refused` or `not_refused`.
    pub token_state: Option<String>,
    /// `model`, `connector` or `other`.
    pub refused_call: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`OauthTokenRefresh`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OauthTokenAnswer {
    /// The new token, or `null` when there is none.
    #[wire(nullable)]
    pub access_token: Option<String>,
    /// Why there is none: `signed_out`, `identity_changed`, `transient` or `refresh_failed`.
    pub reason: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The host's token is no longer good.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct HostAuthTokenRefresh {
    /// The HTTP status that said so.
    pub status: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`HostAuthTokenRefresh`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HostAuthTokenAnswer {
    /// The new token, or `null` when there is none.
    #[wire(nullable)]
    pub auth_token: Option<String>,
    /// Whether it is the same as before.
    pub material_unchanged: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Why a person is asked.
    DecisionReasonType {
        /// A rule says so.
        Rule = "rule",
        /// The mode says so.
        Mode = "mode",
        /// A part of the command says so.
        SubcommandResults = "subcommandResults",
        /// The permission tool says so.
        PermissionPromptTool = "permissionPromptTool",
        /// A hook says so.
        Hook = "hook",
        /// An agent in the background asks.
        AsyncAgent = "asyncAgent",
        /// It would leave the sandbox.
        SandboxOverride = "sandboxOverride",
        /// It is outside the working directory.
        WorkingDir = "workingDir",
        /// A safety check says so.
        SafetyCheck = "safetyCheck",
        /// A classifier says so.
        Classifier = "classifier",
        /// Another reason.
        Unspecified = "other",
    }

    /// How an elicitation is answered.
    ElicitationMode {
        /// In a form.
        Form = "form",
        /// On a page.
        Url = "url",
    }

    /// What the user did with an elicitation.
    ElicitationAction {
        /// Answered it.
        Accept = "accept",
        /// Refused to answer.
        Decline = "decline",
        /// Closed it.
        Cancel = "cancel",
    }

    /// Whether a dialog was answered.
    DialogBehavior {
        /// It was.
        Completed = "completed",
        /// It was closed.
        Cancelled = "cancelled",
    }
}
