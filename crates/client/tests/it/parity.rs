//! The document that compares this library with the official SDKs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The options of the TypeScript SDK.
const TYPESCRIPT: &str = "model fallbackModel effort thinking maxThinkingTokens betas maxTurns \
    maxBudgetUsd taskBudget outputFormat systemPrompt planModeInstructions verbatimPrompts title \
    promptSuggestions tools allowedTools disallowedTools toolAliases toolConfig skills agents agent \
    forwardSubagentText agentProgressSummaries perTaskStopAffordance permissionMode \
    allowDangerouslySkipPermissions permissionPrompts permissionPromptToolName sandbox \
    includeHookEvents mcpServers strictMcpConfig plugins pluginDelivery settingSources settings \
    managedSettings projectConfigRoot continue resume sessionId forkSession resumeSessionAt \
    resumeDropsTurn persistSession enableFileCheckpointing cwd additionalDirectories env \
    pathToClaudeCodeExecutable executable executableArgs extraArgs debug debugFile \
    includePartialMessages canUseTool hooks onElicitation onUserDialog supportedDialogKinds \
    sessionStore sessionStoreFlush loadTimeoutMs stderr abortController";

/// The options of the Python SDK.
const PYTHON: &str = "model fallback_model effort thinking max_thinking_tokens betas max_turns \
    max_budget_usd task_budget output_format system_prompt verbatim_prompts tools allowed_tools \
    disallowed_tools skills agents forward_subagent_text permission_mode \
    permission_prompt_tool_name sandbox include_hook_events mcp_servers strict_mcp_config plugins \
    setting_sources settings continue_conversation resume session_id fork_session \
    resume_session_at resume_drops_turn enable_file_checkpointing cwd add_dirs env cli_path user \
    extra_args debug_stderr client_app include_partial_messages can_use_tool hooks session_store \
    session_store_flush load_timeout_ms stderr max_buffer_size";

/// What the TypeScript SDK has besides options: functions, methods and classes.
const TYPESCRIPT_FUNCTIONS: &str = "query startup prewarm spawnClaudeCodeProcess Transport \
    streamInput interrupt setPermissionMode setMcpPermissionModeOverride setModel \
    setMaxThinkingTokens applyFlagSettings updateSettings initializationResult reinitialize \
    supportedCommands supportedModels supportedAgents accountInfo mcpServerStatus \
    reconnectMcpServer toggleMcpServer setMcpServers readMcpResource getContextUsage \
    usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET readFile seedReadState rewindFiles \
    reloadPlugins reloadSkills reloadOutputStyles stopTask backgroundTasks close askSideQuestion \
    generateSessionTitle cancelAsyncMessage getSettings getHooksListing getTaskOutput \
    listPermissionRules getPlan getStatus exportConversation setCwd claimSession renameSession \
    enableRemoteControl submitFeedback mcpAuthenticate listSessions getSessionInfo \
    getSessionMessages listSubagents getSubagentMessages tagSession deleteSession forkSession \
    archiveSession unarchiveSession importSessionToStore foldSessionSummary SessionStore \
    InMemorySessionStore tool createSdkMcpServer HookCallbackMatcher SDKMessage AbortError \
    resolveSettings filterEscalatingDefaultMode matchDeniedModels HOOK_EVENTS EXIT_REASONS \
    BUILTIN_TOOL_NAMES LEGACY_TOOL_NAME_ALIASES SYSTEM_PROMPT_DYNAMIC_BOUNDARY \
    USAGE_LIMIT_ERROR_PREFIXES USAGE_WARNING_PREFIXES USAGE_TRANSITION_PREFIXES \
    ORG_POLICY_LIMIT_PREFIXES Settings";

/// What the Python SDK has besides options.
const PYTHON_FUNCTIONS: &str = "query ClaudeSDKClient Transport connect receive_messages \
    receive_response interrupt set_permission_mode set_model get_server_info get_mcp_status \
    reconnect_mcp_server toggle_mcp_server get_context_usage rewind_files stop_task disconnect \
    list_sessions list_sessions_from_store get_session_info get_session_info_from_store \
    get_session_messages get_session_messages_from_store list_subagents get_subagent_messages \
    list_subagents_from_store get_subagent_messages_from_store rename_session tag_session \
    delete_session rename_session_via_store tag_session_via_store delete_session_via_store \
    fork_session fork_session_via_store import_session_to_store fold_session_summary \
    project_key_for_directory SessionStore InMemorySessionStore run_session_store_conformance tool \
    create_sdk_mcp_server HookMatcher PermissionResultAllow PermissionResultDeny \
    CanUseToolShadowedWarning ClaudeSDKError CLIConnectionError CLINotFoundError ProcessError \
    ResultError CLIJSONDecodeError MessageParseError TERMINAL_TASK_STATUSES";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn document() -> String {
    fs::read_to_string(root().join("docs/parity.md")).unwrap()
}

/// What stands in backticks in one column of the tables of a text.
fn names(column: usize, text: &str) -> BTreeSet<String> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.filter_map(|row| row.split('|').nth(column))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

/// The text below a heading, up to the next one.
fn section<'a>(document: &'a str, heading: &str) -> &'a str {
    let (_, rest) = document.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

/// All Rust files below a folder, one after the other.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    text
}

/// The public methods of a type in some sources.
fn methods_of(kind: &str, sources: &str) -> BTreeSet<String> {
    let mut methods = BTreeSet::new();
    for part in sources.split(&format!("\nimpl {kind} {{")).skip(1) {
        let part = part.split_once("\n}\n").unwrap().0;
        for line in part.lines() {
            let signature = ["    pub fn ", "    pub async fn ", "    pub const fn "];
            if let Some(rest) = signature.iter().find_map(|begins| line.strip_prefix(begins)) {
                methods.insert(rest.split(['(', '<']).next().unwrap().to_owned());
            }
        }
    }
    methods
}

/// The words of some sources.
fn words(sources: &str) -> BTreeSet<&str> {
    sources.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect()
}

#[test]
fn everything_that_the_official_sdks_have_has_a_row() {
    let document = document();
    for (column, names_of_sdk) in
        [(2, TYPESCRIPT), (3, PYTHON), (2, TYPESCRIPT_FUNCTIONS), (3, PYTHON_FUNCTIONS)]
    {
        let named = names(column, &document);
        for name in names_of_sdk.split_whitespace() {
            assert!(named.contains(name), "{name} is not in column {column}");
        }
    }
}

#[test]
fn every_option_of_the_document_exists_and_every_option_is_in_it() {
    let document = document();
    let options = sources(&root().join("crates/client/src/options"));
    let methods = methods_of("SessionBuilder", &options);
    assert!(methods.len() > 70, "{methods:?}");
    let (the_cli, the_options) = (section(&document, "The CLI"), section(&document, "Options"));
    let mut named = names(4, the_cli);
    named.extend(names(4, the_options));
    for name in named.iter().filter(|name| !name.contains(':') && *name != "Turn") {
        assert!(methods.contains(name), "{name} is named, but is no method");
    }
    for method in &methods {
        assert!(named.contains(method), "{method} is not in docs/parity.md");
    }
}

#[test]
fn every_control_request_of_the_handle_is_in_the_document() {
    let document = document();
    let client = root().join("crates/client/src");
    let methods = methods_of("SessionHandle", &sources(&client.join("session/control")));
    assert!(methods.len() > 50, "{methods:?}");
    let named = names(4, section(&document, "Methods of a running session"));
    for method in &methods {
        assert!(named.contains(method), "{method} is not in docs/parity.md");
    }
    let all = sources(&client);
    let mut known = methods_of("SessionHandle", &all);
    known.extend(methods_of("Session", &all));
    for name in named.iter().filter(|name| !name.contains(':')) {
        assert!(known.contains(name), "{name} is named, but is no method");
    }
}

#[test]
fn what_the_document_names_exists() {
    let document = document();
    let mut text = sources(&root().join("crates/client/src"));
    text.push_str(&sources(&root().join("crates/protocol/src")));
    let words = words(&text);
    for name in names(4, &document) {
        for part in name.split("::") {
            assert!(words.contains(part.trim_end_matches("()")), "{part} of {name}");
        }
    }
}
