//! The table of what came with which version.
//!
//! Flags were found by giving each to each version, and requests by sending each to each; a test
//! with the real programs repeats that. Hook events and fields of `initialize` were read from the
//! schemas inside the programs, and variables are those whose names are in them: that a version
//! knows such a name does not prove that it acts on it. Behaviours were seen on the wire.

use countersign_protocol::Version;

use super::capability::Capability;
use super::capability::CapabilityKind::{
    Behavior, Flag, FlagValue, HookEvent, InitializeField, PermissionMode, Request, Variable,
};

const V62: Version = Version::new(2, 1, 62);
const V197: Version = Version::new(2, 1, 197);
const V248: Version = Version::new(2, 1, 248);
const V325: Version = Version::new(2, 1, 325);

/// The oldest version that is supported.
pub(super) const OLDEST: Version = V62;

/// What has a name on the wire or the command line.
pub(super) const TABLE: &[Capability] = &[
    Capability::new(Request, "initialize", V62),
    Capability::new(Request, "interrupt", V62),
    Capability::new(Request, "set_permission_mode", V62),
    Capability::new(Request, "set_model", V62),
    Capability::new(Request, "set_max_thinking_tokens", V62),
    Capability::new(Request, "mcp_status", V62),
    Capability::new(Request, "mcp_set_servers", V62),
    Capability::new(Request, "mcp_reconnect", V62),
    Capability::new(Request, "mcp_toggle", V62),
    Capability::new(Request, "mcp_message", V62),
    Capability::new(Request, "mcp_authenticate", V62),
    Capability::new(Request, "mcp_clear_auth", V62),
    Capability::new(Request, "rewind_files", V62),
    Capability::new(Request, "apply_flag_settings", V62),
    Capability::new(Request, "stop_task", V62),
    Capability::new(Request, "cancel_async_message", V197),
    Capability::new(Request, "rename_session", V197),
    Capability::new(Request, "generate_session_title", V197),
    Capability::new(Request, "end_session", V197),
    Capability::new(Request, "get_binary_version", V197),
    Capability::new(Request, "side_question", V197),
    Capability::new(Request, "rewind_conversation", V197),
    Capability::new(Request, "message_rated", V197),
    Capability::new(Request, "submit_feedback", V197),
    Capability::new(Request, "mcp_call", V197),
    Capability::new(Request, "mcp_oauth_callback_url", V197),
    Capability::new(Request, "set_mcp_permission_mode_override", V197),
    Capability::new(Request, "read_file", V197),
    Capability::new(Request, "file_suggestions", V197),
    Capability::new(Request, "seed_read_state", V197),
    Capability::new(Request, "register_repo_root", V197),
    Capability::new(Request, "get_settings", V197),
    Capability::new(Request, "reload_plugins", V197),
    Capability::new(Request, "reload_skills", V197),
    Capability::new(Request, "get_context_usage", V197),
    Capability::new(Request, "get_usage", V197),
    Capability::new(Request, "get_session_cost", V197),
    Capability::new(Request, "background_tasks", V197),
    Capability::new(Request, "set_cwd", V325),
    Capability::new(Request, "claim_session", V325),
    Capability::new(Request, "get_status", V325),
    Capability::new(Request, "set_has_subscribers", V325),
    Capability::new(Request, "get_plan", V325),
    Capability::new(Request, "fork_conversation", V325),
    Capability::new(Request, "export_conversation", V325),
    Capability::new(Request, "set_prompt_suggestions_paused", V325),
    Capability::new(Request, "list_models", V325),
    Capability::new(Request, "set_proactivity_level", V325),
    Capability::new(Request, "mcp_read_resource", V325),
    Capability::new(Request, "get_workspace_diff", V325),
    Capability::new(Request, "update_settings", V325),
    Capability::new(Request, "get_hooks_listing", V325),
    Capability::new(Request, "list_permission_rules", V325),
    Capability::new(Request, "reload_output_styles", V325),
    Capability::new(Request, "get_task_output", V325),
    Capability::new(Flag, "--output-format", V62),
    Capability::new(Flag, "--verbose", V62),
    Capability::new(Flag, "--input-format", V62),
    Capability::new(Flag, "--permission-prompt-tool", V62),
    Capability::new(Flag, "--permission-mode", V62),
    Capability::new(Flag, "--allow-dangerously-skip-permissions", V62),
    Capability::new(Flag, "--system-prompt", V62),
    Capability::new(Flag, "--system-prompt-file", V62),
    Capability::new(Flag, "--append-system-prompt", V62),
    Capability::new(Flag, "--append-system-prompt-file", V62),
    Capability::new(Flag, "--tools", V62),
    Capability::new(Flag, "--allowedTools", V62),
    Capability::new(Flag, "--disallowedTools", V62),
    Capability::new(Flag, "--model", V62),
    Capability::new(Flag, "--fallback-model", V62),
    Capability::new(Flag, "--max-turns", V62),
    Capability::new(Flag, "--max-budget-usd", V62),
    Capability::new(Flag, "--thinking", V62),
    Capability::new(Flag, "--max-thinking-tokens", V62),
    Capability::new(Flag, "--effort", V62),
    Capability::new(Flag, "--betas", V62),
    Capability::new(Flag, "--json-schema", V62),
    Capability::new(Flag, "--mcp-config", V62),
    Capability::new(Flag, "--strict-mcp-config", V62),
    Capability::new(Flag, "--setting-sources", V62),
    Capability::new(Flag, "--settings", V62),
    Capability::new(Flag, "--add-dir", V62),
    Capability::new(Flag, "--agent", V62),
    Capability::new(Flag, "--agents", V62),
    Capability::new(Flag, "--continue", V62),
    Capability::new(Flag, "--resume", V62),
    Capability::new(Flag, "--fork-session", V62),
    Capability::new(Flag, "--session-id", V62),
    Capability::new(Flag, "--resume-session-at", V62),
    Capability::new(Flag, "--no-session-persistence", V62),
    Capability::new(Flag, "--include-partial-messages", V62),
    Capability::new(Flag, "--plugin-dir", V62),
    Capability::new(Flag, "--debug", V62),
    Capability::new(Flag, "--debug-file", V62),
    Capability::new(Flag, "--replay-user-messages", V62),
    Capability::new(Flag, "--rewind-files", V62),
    Capability::new(Flag, "--enable-auth-status", V62),
    Capability::new(Flag, "--init", V62),
    Capability::new(Flag, "--init-only", V62),
    Capability::new(Flag, "--maintenance", V62),
    Capability::new(Flag, "--disable-slash-commands", V62),
    Capability::new(Flag, "--worktree", V62),
    Capability::new(Flag, "--file", V62),
    Capability::new(Flag, "--task-budget", V197),
    Capability::new(Flag, "--thinking-display", V197),
    Capability::new(Flag, "--managed-settings", V197),
    Capability::new(Flag, "--session-mirror", V197),
    Capability::new(Flag, "--include-hook-events", V197),
    Capability::new(Flag, "--plugin-dir-no-mcp", V197),
    Capability::new(Flag, "--prompt-suggestions", V197),
    Capability::new(Flag, "--plan-mode-instructions", V197),
    Capability::new(Flag, "--exclude-dynamic-system-prompt-sections", V197),
    Capability::new(Flag, "--bare", V197),
    Capability::new(Flag, "--safe-mode", V197),
    Capability::new(Flag, "--name", V197),
    Capability::new(Flag, "--plugin-url", V197),
    Capability::new(Flag, "--advisor", V197),
    Capability::new(Flag, "--workload", V197),
    Capability::new(Flag, "--channels", V197),
    Capability::new(Flag, "--permission-prompts", V325),
    Capability::new(Flag, "--project-config-root", V325),
    Capability::new(Flag, "--resume-drops-turn", V325),
    Capability::new(Flag, "--await-initialize", V325),
    Capability::new(Flag, "--managed-settings-in-initialize", V325),
    Capability::new(Flag, "--await-claim", V325),
    Capability::new(Flag, "--forward-subagent-text", V325),
    Capability::new(Flag, "--append-subagent-system-prompt", V325),
    Capability::new(Flag, "--append-subagent-system-prompt-file", V325),
    Capability::new(Flag, "--system-prompt-snapshot", V325),
    Capability::new(Flag, "--restricted", V325),
    Capability::new(Flag, "--autocompact", V325),
    Capability::new(FlagValue, "--effort=xhigh", V197),
    Capability::new(FlagValue, "--thinking-display=highlights", V325),
    Capability::new(InitializeField, "hooks", V62),
    Capability::new(InitializeField, "sdkMcpServers", V62),
    Capability::new(InitializeField, "jsonSchema", V62),
    Capability::new(InitializeField, "systemPrompt", V62),
    Capability::new(InitializeField, "appendSystemPrompt", V62),
    Capability::new(InitializeField, "agents", V62),
    Capability::new(InitializeField, "promptSuggestions", V62),
    Capability::new(InitializeField, "planModeInstructions", V197),
    Capability::new(InitializeField, "appendSubagentSystemPrompt", V197),
    Capability::new(InitializeField, "toolAliases", V197),
    Capability::new(InitializeField, "excludeDynamicSections", V197),
    Capability::new(InitializeField, "title", V197),
    Capability::new(InitializeField, "skills", V197),
    Capability::new(InitializeField, "agentProgressSummaries", V197),
    Capability::new(InitializeField, "forwardSubagentText", V197),
    Capability::new(InitializeField, "supportedDialogKinds", V197),
    Capability::new(InitializeField, "sdkMcpServerConfigs", V325),
    Capability::new(InitializeField, "sdkMcpServerManifests", V325),
    Capability::new(InitializeField, "sdkMcpServerManifestsOrigin", V325),
    Capability::new(InitializeField, "systemPromptSnapshot", V325),
    Capability::new(InitializeField, "perTaskStopAffordance", V325),
    Capability::new(InitializeField, "plugins", V325),
    Capability::new(InitializeField, "managedSettings", V325),
    Capability::new(InitializeField, "workspaceTrust", V325),
    Capability::new(InitializeField, "forwardNestedSubagentToolCalls", V325),
    Capability::new(HookEvent, "PreToolUse", V62),
    Capability::new(HookEvent, "PostToolUse", V62),
    Capability::new(HookEvent, "PostToolUseFailure", V62),
    Capability::new(HookEvent, "PermissionRequest", V62),
    Capability::new(HookEvent, "Notification", V62),
    Capability::new(HookEvent, "UserPromptSubmit", V62),
    Capability::new(HookEvent, "SessionStart", V62),
    Capability::new(HookEvent, "SessionEnd", V62),
    Capability::new(HookEvent, "Setup", V62),
    Capability::new(HookEvent, "Stop", V62),
    Capability::new(HookEvent, "SubagentStart", V62),
    Capability::new(HookEvent, "SubagentStop", V62),
    Capability::new(HookEvent, "PreCompact", V62),
    Capability::new(HookEvent, "TeammateIdle", V62),
    Capability::new(HookEvent, "TaskCompleted", V62),
    Capability::new(HookEvent, "ConfigChange", V62),
    Capability::new(HookEvent, "WorktreeCreate", V62),
    Capability::new(HookEvent, "WorktreeRemove", V62),
    Capability::new(HookEvent, "PostToolBatch", V197),
    Capability::new(HookEvent, "PermissionDenied", V197),
    Capability::new(HookEvent, "UserPromptExpansion", V197),
    Capability::new(HookEvent, "StopFailure", V197),
    Capability::new(HookEvent, "PostCompact", V197),
    Capability::new(HookEvent, "TaskCreated", V197),
    Capability::new(HookEvent, "Elicitation", V197),
    Capability::new(HookEvent, "ElicitationResult", V197),
    Capability::new(HookEvent, "InstructionsLoaded", V197),
    Capability::new(HookEvent, "CwdChanged", V197),
    Capability::new(HookEvent, "FileChanged", V197),
    Capability::new(HookEvent, "MessageDisplay", V197),
    Capability::new(HookEvent, "PreModelSwitch", V325),
    Capability::new(HookEvent, "PostModelSwitch", V325),
    Capability::new(HookEvent, "DirectoryAdded", V325),
    Capability::new(PermissionMode, "default", V62),
    Capability::new(PermissionMode, "acceptEdits", V62),
    Capability::new(PermissionMode, "plan", V62),
    Capability::new(PermissionMode, "bypassPermissions", V62),
    Capability::new(PermissionMode, "dontAsk", V62),
    Capability::new(PermissionMode, "auto", V197),
    Capability::new(PermissionMode, "manual", V325),
    Capability::new(Variable, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", V62),
    Capability::new(Variable, "CLAUDE_AGENT_SDK_CLIENT_APP", V62),
    Capability::new(Variable, "CLAUDE_AGENT_SDK_VERSION", V62),
    Capability::new(Variable, "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", V197),
    Capability::new(Variable, "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", V197),
    Capability::new(Variable, "CLAUDE_CODE_RESUME_INTERRUPTED_TURN", V197),
    Capability::new(Variable, "TRACEPARENT", V197),
    Capability::new(Variable, "CLAUDE_CODE_SDK_READS_SESSION_STATE", V325),
    Capability::new(Variable, "CLAUDE_CODE_SDK_READS_STARTUP_MARKS", V325),
    Capability::new(Variable, "CLAUDE_CODE_STARTUP_FAILURE_RESULTS", V325),
    Capability::new(Variable, "CLAUDE_CODE_PROJECT_DIR_NAME", V325),
];

/// Makes a constant of each behaviour, and the list of them all.
macro_rules! behaviors {
    ($($(#[$doc:meta])+ $name:ident = $text:literal, $since:ident;)+) => {
        /// What the CLI does, where no single name on the wire stands for it.
        impl Capability {
            $($(#[$doc])+ pub const $name: Self = Self::new(Behavior, $text, $since);)+
        }

        pub(super) const BEHAVIORS: &[Capability] = &[$(Capability::$name),+];
    };
}

behaviors! {
    /// That the CLI waits for `initialize` before it does anything, with `--await-initialize`. Without
    /// it, a call that was deferred may be raised again before the hooks are in place.
    AWAIT_INITIALIZE = "that the CLI waits for `initialize` before it does anything", V325;
    /// A hook may answer `defer`: the turn ends, and a resume raises the same call again. This is what
    /// parking a session rests on.
    DEFER = "deferring a tool call", V197;
    /// A hook with `onFailure: "block"` refuses the call when it fails. Without it, a hook that fails
    /// lets the call go on.
    HOOK_ON_FAILURE = "refusing a tool call when its hook fails", V325;
    /// A hook that answers `ask` has the call put to the host in every mode, also when nothing else
    /// is asked for.
    HOOK_ASK = "that a hook has a call put to the host in every mode", V197;
    /// `initialize` may be sent again. 2.1.62 answers an error, which still lists what is open.
    REPEAT_INITIALIZE = "sending `initialize` again", V197;
    /// The hooks of a repeated `initialize` take the place of the first ones.
    REPLACE_HOOKS = "replacing the hooks of a running session", V325;
    /// `command_lifecycle` tells what becomes of a message that has a `uuid`, and results name the
    /// messages they answer.
    MESSAGE_LIFECYCLE = "telling what becomes of a queued message", V325;
    /// The answer to `interrupt` names the messages that are still queued.
    INTERRUPT_RECEIPT = "telling which messages survive an interrupt", V325;
    /// `interrupt` with `cancel_queued` drops queued messages as well.
    CANCEL_QUEUED = "an interrupt that drops queued messages as well", V325;
    /// The message `/clear` begins a new session in the same process.
    CLEAR = "clearing the conversation in place", V197;
    /// A message marked `client_composed` is not searched for commands and paths.
    VERBATIM_MESSAGES = "messages that are taken as they are", V248;
    /// The system prompt of `initialize` may be a list of blocks. A single text always may.
    SYSTEM_PROMPT_BLOCKS = "a system prompt of several blocks", V197;
    /// `session_state_changed` says whether the session runs, waits or is idle.
    SESSION_STATE = "telling whether the session is idle", V197;
    /// A running session refuses `bypassPermissions` unless it was launched for it. 2.1.62 obeys.
    BYPASS_BY_LAUNCH = "keeping `bypassPermissions` from sessions that were not launched for it", V197;
    /// `set_permission_mode` refuses a mode that does not exist. Earlier versions answer success to
    /// anything.
    MODES_CHECKED = "refusing unknown permission modes", V325;
    /// A call may be allowed without repeating its input.
    OPTIONAL_UPDATED_INPUT = "allowing a call without repeating its input", V325;
    /// Errors of requests have a code.
    ERROR_CODES = "codes with errors", V325;
    /// The answer to `initialize` tells the version.
    VERSION_IN_INITIALIZE = "telling the version in the answer to `initialize`", V325;
    /// A resume runs an interrupted turn again, with `CLAUDE_CODE_RESUME_INTERRUPTED_TURN`.
    RESUME_INTERRUPTED_TURN = "running an interrupted turn again", V197;
    /// A session is found from any folder, not only from its own.
    RESUME_FROM_ANYWHERE = "resuming a session of another folder", V325;
    /// Agents in the background ask for permission after the result of the turn. 2.1.62 refuses their
    /// calls.
    BACKGROUND_AGENTS_ASK = "that agents in the background ask for permission", V197;
    /// `system/api_retry` tells that a request to the model is tried again.
    RETRY_NOTICES = "telling that a request to the model is tried again", V197;
    /// An in-process MCP server may change its tools while the session runs.
    TOOLS_LIST_CHANGED = "that an in-process MCP server changes its tools", V325;
}
