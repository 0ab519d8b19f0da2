//! What a client asks of the CLI, and what it is told.
//!
//! Each request is a struct named after its `subtype`. [`ClientRequest`] holds any of them and
//! is what stands in the `request` field of a control request; [`Call`] ties each to the payload
//! of its success response.
//!
//! Not every version knows every request: what a version has never heard of it answers with an
//! error, from 2.1.325 on with [`ErrorCode::UnsupportedRequest`]. Requests and fields marked
//! *unstable* are known to the CLI but not part of its public types, and may change with any
//! release.

mod agent;
mod context;
mod conversation;
mod error_code;
mod files;
mod initialize;
mod listing;
mod mcp;
mod mcp_server;
mod model;
mod session;
mod settings;
mod task;
#[cfg(test)]
mod tests;
mod usage;

use std::fmt::Debug;

use countersign_protocol_derive::{WireObject, WireTagged};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::{Extra, Named, RawJson};

pub use self::agent::{AgentDefinition, AgentEffort, AgentInfo, AgentMemory};
pub use self::context::{
    CategoryId, CategoryKind, ContextAgent, ContextCategory, ContextDetail, ContextMcpTool,
    ContextSkill, ContextUsageAgent, ContextUsageCategory, ContextUsageMcpTool, ContextUsageReport,
    ContextUsageSkill, DeferredTool, GetContextUsage, GetContextUsageResponse, GridSquare,
    McpInstructions, MemoryFile, MessageBreakdown, NamedTokens, OverLimit, OverLimitKind,
    SkillTokens, SlashCommandTokens, ToolCallTokens,
};
pub use self::conversation::{
    ExportConversation, ExportConversationResponse, FeedbackKind, ForkConversation,
    ForkConversationResponse, GetPlan, GetPlanResponse, MessageRated, RatedSurface,
    RefusalFallback, RewindConversation, RewindConversationResponse, Sentiment,
    SetPromptSuggestionsPaused, SideExchange, SideQuestion, SideQuestionResponse, SubmitFeedback,
    SubmitFeedbackResponse,
};
pub use self::error_code::ErrorCode;
pub use self::files::{
    DiffFile, DiffFileStatus, DiffOmitted, DiffSource, DiffStats, FileEncoding, FileHunks,
    FileSuggestion, FileSuggestions, FileSuggestionsResponse, GetWorkspaceDiff,
    GetWorkspaceDiffResponse, NoDiffReason, ReadFile, ReadFileResponse, RegisterRepoRoot,
    RegisterRepoRootResponse, RewindFiles, RewindFilesResponse, SeedReadState, WorkspaceDiff,
};
pub use self::initialize::{
    AccountInfo, ApiProvider, Initialize, InitializeResponse, ManifestOutcome, ManifestsOrigin,
    PluginConfig, PluginKind, SdkMcpServerManifest, SdkMcpServerSettings, SlashCommand,
    SystemPrompt, WorkspaceTrust,
};
pub use self::listing::{
    BareMode, Editability, EditableHook, GetHooksListing, GetHooksListingResponse, HookEventInfo,
    HookPolicy, ListPermissionRules, ListPermissionRulesResponse, ListedHook, ListedHookEvent,
    ListedRule, PermissionRulesState, RuleDescription, RuleSource, SafeMode, WorkspaceDirectory,
};
pub use self::mcp::{
    AskForTool, McpAuthenticate, McpAuthenticateResponse, McpCall, McpCallResponse, McpClearAuth,
    McpInputFile, McpMessage, McpOauthCallbackUrl, McpOutputFile, McpReadResource,
    McpReadResourceResponse, McpReconnect, McpResource, McpSetServers, McpSetServersResponse,
    McpStatus, McpStatusResponse, McpToggle, SetMcpPermissionModeOverride,
    SetMcpPermissionModeOverrideResponse,
};
pub use self::mcp_server::{
    McpConnection, McpServerConfig, McpServerInfo, McpServerStatus, McpServerTool,
    McpToolAnnotations, McpTransport, OrgMaxPermission, ToolPermissionPolicy, ToolPolicy,
};
pub use self::model::{
    EffortLevel, FastModeDisabledReason, FastModeState, ListModels, ListModelsResponse, ModelInfo,
    ProactivityLevel, SetMaxThinkingTokens, SetModel, SetModelResponse, SetPermissionMode,
    SetPermissionModeResponse, SetProactivityLevel, ThinkingDisplay,
};
pub use self::session::{
    CancelAsyncMessage, CancelAsyncMessageResponse, ClaimSession, ClaimSessionResponse, CwdChanged,
    CwdNeedsTrust, CwdRejected, CwdRejection, EndSession, GenerateSessionTitle,
    GenerateSessionTitleResponse, GetBinaryVersion, GetBinaryVersionResponse, GetStatus,
    GetStatusResponse, Interrupt, InterruptResponse, InterruptedTurn, RenameSession, SendNow,
    SetColor, SetCwd, SetCwdResponse, SetHasSubscribers, StatusRow, StatusSection, TitleSource,
};
pub use self::settings::{
    AppliedSettings, ApplyFlagSettings, CacheImpact, GetSettings, GetSettingsResponse,
    LspToolChange, PluginInfo, ReloadOutputStyles, ReloadOutputStylesResponse, ReloadPlugins,
    ReloadPluginsResponse, ReloadSkills, ReloadSkillsResponse, SettingsError, SettingsLayer,
    SettingsSource, UpdateSettings,
};
pub use self::task::{
    BackgroundTasks, BackgroundTasksResponse, GetTaskOutput, GetTaskOutputResponse, StopTask,
};
pub use self::usage::{
    Behavior, BehaviorPeriod, Behaviors, ExtraUsage, GetSessionCost, GetSessionCostResponse,
    GetUsage, GetUsageResponse, LimitLabel, ModelRateWindow, RateLimits, RateWindow,
    Recommendation, SessionUsage, Share, SuggestedFix, UsageLimit, UsageLimitScope, UsageReport,
    UsageReportLimits,
};

/// A request that has an answer of its own type.
///
/// A response may come without a payload: always for what is only acknowledged, and from older
/// versions also where newer ones send one. Absent is the same as the empty object, so read it
/// with [`Call::read_response`].
///
/// Serializing a request gives its fields alone. What goes on the wire is the [`ClientRequest`]
/// it converts into, which has the `subtype` as well.
///
/// ```
/// use countersign_protocol::request::{Call, ClientRequest, SetModel};
///
/// let request = ClientRequest::from(SetModel::new("haiku"));
/// assert_eq!(serde_json::to_string(&request)?, r#"{"subtype":"set_model","model":"haiku"}"#);
///
/// // 2.1.325 names the model that was chosen; 2.1.197 sends no payload.
/// let payload = r#"{"model":"claude-haiku-5-5"}"#.parse()?;
/// let response = SetModel::read_response(Some(&payload))?;
/// assert_eq!(response.model.as_deref(), Some("claude-haiku-5-5"));
/// assert_eq!(SetModel::read_response(None)?.model, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Call: Serialize + Into<ClientRequest> {
    /// The name of the request on the wire.
    const SUBTYPE: &'static str;

    /// The payload of a success response.
    type Response: DeserializeOwned + Serialize + Debug + Clone + PartialEq + Send + Sync + 'static;

    /// Reads the payload of a success response. Absent is the same as the empty object.
    ///
    /// # Errors
    /// When the payload has another shape.
    fn read_response(payload: Option<&RawJson>) -> Result<Self::Response, serde_json::Error> {
        match payload {
            Some(payload) => payload.decode(),
            None => RawJson::empty_object().decode(),
        }
    }
}

/// The payload of a response that only acknowledges.
///
/// On the wire it is the empty object or absent; both are read as this.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Ack {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Makes [`ClientRequest`] and, for each request, its [`Call`].
macro_rules! client_requests {
    ($(
        $(#[doc = $doc:literal])+
        $subtype:tt: $request:ident($($field:tt)+) -> $response:ident;
    )+) => {
        /// A request to the CLI: what stands in the `request` field of a control request.
        #[derive(Debug, Clone, PartialEq, WireTagged)]
        #[wire(tag = "subtype")]
        #[non_exhaustive]
        pub enum ClientRequest {
            $(
                $(#[doc = $doc])+
                #[wire(name = $subtype)]
                $request($($field)+),
            )+
            /// A request for which this crate has no types: dialogs of the terminal, features of
            /// other products, and what only hosted workers answer.
            #[wire(internal(
                "add_directory", "channel_enable", "claude_authenticate", "claude_oauth_callback",
                "claude_oauth_wait_for_completion", "get_chrome_browsers", "get_chrome_dialog",
                "get_cloud_session", "get_cloud_session_transcript", "get_memory_dialog",
                "get_sandbox_dialog", "get_skills_dialog", "list_cloud_sessions", "list_directory",
                "mcp_tasks_changed", "poll_event", "prefetch_attachments", "register_device_hooks",
                "remote_control", "remote_tools_announce", "select_chrome_browser",
                "send_task_message", "set_attached_project", "set_chrome_browser_hints",
                "stage_file", "start_shell_task", "submit_survey_feedback", "turn_handoff",
                "ui_attach", "ui_client_fault", "ui_client_module", "ui_client_press", "ui_close",
                "ui_detach", "ui_focus", "ui_input", "ui_message", "ui_pane_focus", "ui_pane_show",
                "ui_panes", "ui_press", "ui_prompt_autocomplete", "ui_prompt_edit", "ui_render",
                "ui_scroll", "ui_select", "ultrareview_launch", "upload_device_hook_template"
            ))]
            Internal(Named),
            /// A request that only the CLI makes. Sent to it, it is refused.
            #[wire(internal(
                "can_use_tool", "elicitation", "hook_callback", "host_auth_token_refresh",
                "oauth_token_refresh", "request_user_dialog"
            ))]
            Misdirected(Named),
            /// A request this crate does not know.
            #[wire(other)]
            Other(Named),
        }

        $(
            impl Call for $request {
                const SUBTYPE: &'static str = $subtype;
                type Response = $response;
            }
        )+
    };
}

client_requests! {
    /// Opens the conversation: hooks, in-process servers, prompts.
    "initialize": Initialize(Box<Initialize>) -> InitializeResponse;

    /// Stops the running turn.
    "interrupt": Interrupt(Interrupt) -> InterruptResponse;
    /// Withdraws a queued message.
    "cancel_async_message": CancelAsyncMessage(CancelAsyncMessage) -> CancelAsyncMessageResponse;
    /// Names the session.
    "rename_session": RenameSession(RenameSession) -> Ack;
    /// Has a title made. *Unstable.*
    "generate_session_title":
        GenerateSessionTitle(GenerateSessionTitle) -> GenerateSessionTitleResponse;
    /// Sets the accent colour. Not supported over local stdio.
    "set_color": SetColor(SetColor) -> Ack;
    /// Ends the process. *Unstable.*
    "end_session": EndSession(EndSession) -> Ack;
    /// Moves the session to another folder. *Unstable.*
    "set_cwd": SetCwd(SetCwd) -> SetCwdResponse;
    /// Makes a session of a process that was started in advance. *Unstable.*
    "claim_session": ClaimSession(Box<ClaimSession>) -> ClaimSessionResponse;
    /// Asks for what `/status` shows. *Unstable.*
    "get_status": GetStatus(GetStatus) -> GetStatusResponse;
    /// Asks for the version of the program.
    "get_binary_version": GetBinaryVersion(GetBinaryVersion) -> GetBinaryVersionResponse;
    /// Says whether anybody is watching.
    "set_has_subscribers": SetHasSubscribers(SetHasSubscribers) -> Ack;

    /// Asks something beside the conversation. *Unstable.*
    "side_question": SideQuestion(SideQuestion) -> SideQuestionResponse;
    /// Asks for the plan file. *Unstable.*
    "get_plan": GetPlan(GetPlan) -> GetPlanResponse;
    /// Cuts the conversation back to a message. *Unstable.*
    "rewind_conversation":
        RewindConversation(RewindConversation) -> RewindConversationResponse;
    /// Branches the conversation off. *Unstable.*
    "fork_conversation": ForkConversation(ForkConversation) -> ForkConversationResponse;
    /// Asks for the conversation as text. *Unstable.*
    "export_conversation":
        ExportConversation(ExportConversation) -> ExportConversationResponse;
    /// Holds back suggested prompts. *Unstable.*
    "set_prompt_suggestions_paused":
        SetPromptSuggestionsPaused(SetPromptSuggestionsPaused) -> Ack;
    /// Reports what a person thought of a message. *Unstable.*
    "message_rated": MessageRated(MessageRated) -> Ack;
    /// Sends feedback to the vendor. *Unstable.*
    "submit_feedback": SubmitFeedback(SubmitFeedback) -> SubmitFeedbackResponse;

    /// Changes the permission mode.
    "set_permission_mode": SetPermissionMode(SetPermissionMode) -> SetPermissionModeResponse;
    /// Changes the model.
    "set_model": SetModel(SetModel) -> SetModelResponse;
    /// Asks which models can be chosen.
    "list_models": ListModels(ListModels) -> ListModelsResponse;
    /// Changes how much the model thinks, and how that is shown.
    "set_max_thinking_tokens": SetMaxThinkingTokens(SetMaxThinkingTokens) -> Ack;
    /// Changes how much the model does unasked. *Unstable.*
    "set_proactivity_level": SetProactivityLevel(SetProactivityLevel) -> Ack;

    /// Asks how the MCP servers are.
    "mcp_status": McpStatus(McpStatus) -> McpStatusResponse;
    /// Replaces the MCP servers that were added by request.
    "mcp_set_servers": McpSetServers(McpSetServers) -> McpSetServersResponse;
    /// Connects an MCP server again.
    "mcp_reconnect": McpReconnect(McpReconnect) -> Ack;
    /// Switches an MCP server on or off.
    "mcp_toggle": McpToggle(McpToggle) -> Ack;
    /// Calls a tool of an MCP server, without the model.
    "mcp_call": McpCall(McpCall) -> McpCallResponse;
    /// Reads a `ui://` resource of an MCP server.
    "mcp_read_resource": McpReadResource(McpReadResource) -> McpReadResourceResponse;
    /// Carries a message of an in-process MCP server.
    "mcp_message": McpMessage(McpMessage) -> Ack;
    /// Begins to log in to an MCP server. *Unstable.*
    "mcp_authenticate": McpAuthenticate(McpAuthenticate) -> McpAuthenticateResponse;
    /// Hands over where the login to an MCP server led. *Unstable.*
    "mcp_oauth_callback_url": McpOauthCallbackUrl(McpOauthCallbackUrl) -> Ack;
    /// Logs out of an MCP server. *Unstable.*
    "mcp_clear_auth": McpClearAuth(McpClearAuth) -> Ack;
    /// Has the tools of one MCP server asked for in another way. *Unstable.*
    "set_mcp_permission_mode_override":
        SetMcpPermissionModeOverride(SetMcpPermissionModeOverride)
            -> SetMcpPermissionModeOverrideResponse;

    /// Reads a file.
    "read_file": ReadFile(ReadFile) -> ReadFileResponse;
    /// Asks which files a few letters could mean.
    "file_suggestions": FileSuggestions(FileSuggestions) -> FileSuggestionsResponse;
    /// Takes a file as read by the model.
    "seed_read_state": SeedReadState(SeedReadState) -> Ack;
    /// Puts files back to what they were at a message.
    "rewind_files": RewindFiles(RewindFiles) -> RewindFilesResponse;
    /// Adds a folder to the workspace.
    "register_repo_root": RegisterRepoRoot(RegisterRepoRoot) -> RegisterRepoRootResponse;
    /// Asks what changed in the workspace. *Unstable.*
    "get_workspace_diff": GetWorkspaceDiff(GetWorkspaceDiff) -> GetWorkspaceDiffResponse;

    /// Changes settings for this session.
    "apply_flag_settings": ApplyFlagSettings(ApplyFlagSettings) -> Ack;
    /// Asks for the settings and where they come from.
    "get_settings": GetSettings(GetSettings) -> GetSettingsResponse;
    /// Writes to a settings file.
    "update_settings": UpdateSettings(UpdateSettings) -> Ack;
    /// Asks for the hooks of the settings files.
    "get_hooks_listing": GetHooksListing(GetHooksListing) -> GetHooksListingResponse;
    /// Asks for the permission rules that hold.
    "list_permission_rules":
        ListPermissionRules(ListPermissionRules) -> ListPermissionRulesResponse;
    /// Loads the plugins again.
    "reload_plugins": ReloadPlugins(ReloadPlugins) -> ReloadPluginsResponse;
    /// Loads the skills again.
    "reload_skills": ReloadSkills(ReloadSkills) -> ReloadSkillsResponse;
    /// Loads the output styles again.
    "reload_output_styles":
        ReloadOutputStyles(ReloadOutputStyles) -> ReloadOutputStylesResponse;

    /// Asks what the context is filled with.
    "get_context_usage": GetContextUsage(GetContextUsage) -> GetContextUsageResponse;
    /// Asks what was used, and how much of the plan's limits.
    "get_usage": GetUsage(GetUsage) -> GetUsageResponse;
    /// Asks for the cost of the session, as text.
    "get_session_cost": GetSessionCost(GetSessionCost) -> GetSessionCostResponse;

    /// Stops a background task.
    "stop_task": StopTask(StopTask) -> Ack;
    /// Moves what is running to the background.
    "background_tasks": BackgroundTasks(BackgroundTasks) -> BackgroundTasksResponse;
    /// Asks for the end of a task's output.
    "get_task_output": GetTaskOutput(GetTaskOutput) -> GetTaskOutputResponse;
}
