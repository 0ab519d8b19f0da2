//! The document that compares this library with the official SDKs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The options of the TypeScript SDK that concern what the CLI is told.
const TYPESCRIPT: &str = "model fallbackModel effort thinking maxThinkingTokens betas maxTurns \
    maxBudgetUsd taskBudget outputFormat systemPrompt planModeInstructions verbatimPrompts title \
    promptSuggestions tools allowedTools disallowedTools toolAliases toolConfig skills agents agent \
    forwardSubagentText agentProgressSummaries perTaskStopAffordance permissionMode \
    allowDangerouslySkipPermissions permissionPrompts permissionPromptToolName sandbox \
    includeHookEvents mcpServers strictMcpConfig plugins pluginDelivery settingSources settings \
    managedSettings projectConfigRoot continue resume sessionId forkSession resumeSessionAt \
    resumeDropsTurn persistSession enableFileCheckpointing cwd additionalDirectories env \
    pathToClaudeCodeExecutable executable executableArgs extraArgs debug debugFile \
    includePartialMessages";

/// The options of the Python SDK that concern what the CLI is told.
const PYTHON: &str = "model fallback_model effort thinking max_thinking_tokens betas max_turns \
    max_budget_usd task_budget output_format system_prompt verbatim_prompts tools allowed_tools \
    disallowed_tools skills agents forward_subagent_text permission_mode \
    permission_prompt_tool_name sandbox include_hook_events mcp_servers strict_mcp_config plugins \
    setting_sources settings continue_conversation resume session_id fork_session \
    resume_session_at resume_drops_turn enable_file_checkpointing cwd add_dirs env cli_path user \
    extra_args debug_stderr client_app include_partial_messages";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// What stands in backticks in one column of the tables, from one heading on.
fn names(column: usize, heading: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs/parity.md")).unwrap();
    let part = text.split_once(heading).unwrap().1;
    let rows = part.lines().filter(|line| line.starts_with('|'));
    rows.filter_map(|row| row.split('|').nth(column))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

/// The methods of the builder that set an option, and those that look at what was set.
fn methods() -> BTreeSet<String> {
    let folder = root().join("crates/client/src/options");
    let mut methods = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for part in text.split("\nimpl SessionBuilder {").skip(1) {
            let part = part.split_once("\n}\n").unwrap().0;
            let signatures = part.lines().filter_map(|line| line.strip_prefix("    pub fn "));
            methods
                .extend(signatures.map(|line| line.split(['(', '<']).next().unwrap().to_owned()));
        }
    }
    methods
}

#[test]
fn every_option_of_the_official_sdks_has_a_row() {
    for (column, options) in [(2, TYPESCRIPT), (3, PYTHON)] {
        let named = names(column, "## The CLI");
        for option in options.split_whitespace() {
            assert!(named.contains(option), "{option} is not in column {column}");
        }
    }
}

#[test]
fn every_method_of_the_document_exists_and_every_option_is_in_it() {
    let methods = methods();
    assert!(methods.len() > 70, "{methods:?}");
    let named = names(4, "## The CLI");
    for name in named.iter().filter(|name| !name.contains(':')) {
        assert!(methods.contains(name), "{name} is named, but is no method");
    }
    for method in &methods {
        assert!(named.contains(method), "{method} is not in docs/parity.md");
    }
}

#[test]
fn the_types_of_the_document_exist() {
    use countersign::protocol::hook::{HookEvent, SessionEndReason};
    use countersign::protocol::request::SystemPrompt;
    use countersign::protocol::tool::ToolInput;

    let named = names(4, "## Constants");
    for name in [
        std::any::type_name::<HookEvent>(),
        std::any::type_name::<SessionEndReason>(),
        std::any::type_name::<ToolInput>(),
    ] {
        let name = name.rsplit("::").next().unwrap();
        assert!(named.iter().any(|path| path.ends_with(name)), "{name} in {named:?}");
    }
    assert!(!SystemPrompt::DYNAMIC_BOUNDARY.is_empty());
}
