//! What the CLI is told, and what is refused before anything is started.
#![expect(clippy::needless_pass_by_value, reason = "a case is one line, and is used once")]

use std::ffi::{OsStr, OsString};
use std::path::Path;

use countersign::cli::{Capability, CapabilityKind, Version};
use countersign::protocol::RawJson;
use countersign::protocol::permission::PermissionMode;
use countersign::protocol::request::{
    AgentDefinition, EffortLevel, McpServerConfig, SystemPrompt, ThinkingDisplay,
};
use countersign::{
    Environment, Launch, OptionsError, PermissionPrompts, PreviewFormat, SessionBuilder,
    SettingSource, Skills, Thinking, ToolSet,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const OLDEST: Version = Version::new(2, 1, 62);
const ID: &str = "5f0d4b0e-93a4-4c2e-8f4c-5b8f6c0a1d11";
const SPAN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn builder() -> SessionBuilder {
    // Any program will do: nothing is started.
    SessionBuilder::default().executable("/bin/sh")
}

fn arguments(launch: &Launch) -> Vec<&str> {
    launch.arguments.iter().map(|argument| argument.to_str().unwrap()).collect()
}

fn initialize(launch: &Launch) -> Value {
    serde_json::to_value(&launch.initialize).unwrap()
}

fn variable<'a>(launch: &'a Launch, name: &str) -> Option<&'a OsStr> {
    let found = launch.environment.set.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_os_str())
}

/// Checks that the options add these arguments to those of every session.
#[track_caller]
fn passes(builder: SessionBuilder, expected: &[&str]) {
    let plain = self::builder().preview().unwrap();
    let launch = builder.preview().unwrap();
    let always = arguments(&plain);
    let added: Vec<_> =
        arguments(&launch).into_iter().filter(|argument| !always.contains(argument)).collect();
    assert_eq!(added, expected);
}

/// Checks that the options make this `initialize`.
#[track_caller]
fn tells(builder: SessionBuilder, expected: Value) {
    assert_eq!(initialize(&builder.preview().unwrap()), expected);
}

/// Checks that the options are refused, in words that have this in them.
#[track_caller]
fn refused(builder: SessionBuilder, words: &str) {
    let error = builder.preview().unwrap_err().to_string();
    assert!(error.contains(words), "{error:?} does not say {words:?}");
}

/// Options of every topic, as many as go together, for the oldest tested version.
pub(crate) fn since_62() -> SessionBuilder {
    let agent = AgentDefinition::new("Reviews a change.", "You review changes.");
    SessionBuilder::default()
        .model("sonnet")
        .fallback_model("haiku")
        .effort(EffortLevel::High)
        .thinking(Thinking::Adaptive)
        .beta("context-1m-2025-08-07")
        .max_turns(7)
        .max_budget_usd(1.5)
        .append_system_prompt("-be brief\nand kind")
        .tools(ToolSet::only(["Bash", "Read", "Write", "Edit", "WebFetch"]))
        .allow_tool("Bash(git log, --format=a,b:*)")
        .disallow_tool("WebFetch")
        .disallow_tool("Write")
        .skills(Skills::All)
        .agent("reviewer", agent)
        .permission_mode(PermissionMode::Plan)
        .allow_dangerously_skip_permissions()
        .setting_sources([])
        .settings(json!({"cleanupPeriodDays": 9}))
        .sandbox(json!({"enabled": false}))
        .ask_in_plan_mode()
        .mcp_server("none", McpServerConfig::stdio("/bin/false"))
        .strict_mcp_config()
        .session_id(ID)
        .file_checkpointing()
        .partial_messages()
        .prompt_suggestions()
        .auth_status()
        .output_schema(json!({"type": "object", "properties": {"n": {"type": "number"}}}))
        .add_dir("/tmp")
        .client_app("countersign-test/1")
}

/// The same, with what 2.1.197 has besides.
pub(crate) fn since_197(builder: SessionBuilder) -> SessionBuilder {
    builder
        .effort(EffortLevel::Xhigh)
        .thinking_display(ThinkingDisplay::Summarized)
        .task_budget(100_000)
        .append_subagent_system_prompt("Be brief.")
        .exclude_dynamic_sections()
        .plan_mode_instructions("Plan.")
        .tool_alias("Shell", "Bash")
        .skills(Skills::only(["deploy"]))
        .question_previews(PreviewFormat::Markdown)
        .managed_settings(json!({"permissions": {"deny": ["Read(/secret)"]}}))
        .title("A session")
        .hook_events()
        .progress_summaries()
        .forward_subagent_text()
        .session_state_events()
        .trace_parent(SPAN)
        .trace_state("a=b")
}

/// The same, with what the newest tested version has besides.
pub(crate) fn many() -> SessionBuilder {
    since_197(since_62())
        .system_prompt_snapshot(true)
        .verbatim_prompts()
        .stops_single_tasks()
        .await_initialize()
        .extra_arg("autocompact", "auto")
        .initialize_field("forwardNestedSubagentToolCalls", json!(true))
}

#[test]
fn every_session_speaks_the_protocol_and_asks_this_program() {
    let launch = builder().preview().unwrap();
    assert_eq!(
        arguments(&launch),
        [
            "--output-format=stream-json",
            "--verbose",
            "--input-format=stream-json",
            "--permission-mode=default",
            "--permission-prompt-tool=stdio",
            "--replay-user-messages",
        ]
    );
    assert_eq!(initialize(&launch), json!({}));
    assert_eq!(launch.needs, []);
    assert_eq!(launch.cwd, None);
}

#[test]
fn model_and_limits() {
    passes(builder().model("-x"), &["--model=-x"]);
    passes(builder().fallback_model("a").fallback_model("b"), &["--fallback-model=a,b"]);
    passes(builder().effort(EffortLevel::Max), &["--effort=max"]);
    passes(builder().thinking(Thinking::Adaptive), &["--thinking=adaptive"]);
    passes(builder().thinking(Thinking::Budget(2000)), &["--max-thinking-tokens=2000"]);
    passes(builder().thinking(Thinking::Budget(0)), &["--thinking=disabled"]);
    passes(builder().beta("a").beta("b"), &["--betas=a,b"]);
    passes(builder().max_turns(3), &["--max-turns=3"]);
    passes(builder().max_budget_usd(0.25), &["--max-budget-usd=0.25"]);
    passes(builder().task_budget(9), &["--task-budget=9"]);
    refused(builder().model(""), "empty");
    refused(builder().fallback_model("a,b"), "comma");
    refused(builder().max_turns(0), "one is the least");
    for dollars in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(builder().max_budget_usd(dollars), "more than nothing");
    }
}

#[test]
fn prompts() {
    tells(builder().system_prompt(""), json!({"systemPrompt": ""}));
    let blocks = vec!["a".to_owned(), SystemPrompt::DYNAMIC_BOUNDARY.to_owned(), "b".to_owned()];
    tells(builder().system_prompt(blocks.clone()), json!({"systemPrompt": blocks}));
    tells(builder().append_system_prompt("x"), json!({"appendSystemPrompt": "x"}));
    tells(builder().exclude_dynamic_sections(), json!({"excludeDynamicSections": true}));
    tells(builder().system_prompt_snapshot(false), json!({"systemPromptSnapshot": false}));
    tells(builder().plan_mode_instructions("x"), json!({"planModeInstructions": "x"}));
    passes(builder().system_prompt_file("-p.md"), &["--system-prompt-file=-p.md"]);
    passes(builder().append_system_prompt_file("p"), &["--append-system-prompt-file=p"]);
    assert!(builder().verbatim_prompts().preview().unwrap().verbatim_prompts);
    refused(builder().system_prompt("a").system_prompt_file("b"), "not both");
    refused(builder().append_system_prompt("a").append_system_prompt_file("b"), "not both");
    refused(builder().system_prompt("a").exclude_dynamic_sections(), "no dynamic sections");
}

#[test]
fn tools_and_rules() {
    passes(builder().tools(ToolSet::Default), &["--tools=default"]);
    passes(builder().tools(ToolSet::Empty), &["--tools="]);
    passes(builder().tools(ToolSet::only(["Read", "Bash"])), &["--tools=Read,Bash"]);
    passes(
        builder().allow_tool("Read").allow_tool("Bash(a, b:*)").disallow_tool("mcp__x"),
        &["--allowedTools=Read", "--allowedTools=Bash(a, b:*)", "--disallowedTools=mcp__x"],
    );
    passes(builder().skills(Skills::All), &["--allowedTools=Skill"]);
    let skills = builder().skills(Skills::only(["a", "b"]));
    passes(skills.clone(), &["--allowedTools=Skill(a)", "--allowedTools=Skill(b)"]);
    tells(skills, json!({"skills": ["a", "b"]}));
    tells(builder().tool_alias("Shell", "Bash"), json!({"toolAliases": {"Shell": "Bash"}}));
    // What the CLI would take for something else, it is not given.
    for rule in [
        "",
        " ",
        "Read,Write",
        "Read Write",
        "Bash(rm",
        "Bash)",
        "(x)",
        "Bash(a) b",
        "Bash(a)(b), c)",
    ] {
        assert!(builder().disallow_tool(rule).preview().is_err(), "{rule}");
        assert!(builder().allow_tool(rule).preview().is_err(), "{rule}");
    }
    refused(builder().skills(Skills::only(["a)"])), "not a rule");
    refused(builder().tools(ToolSet::only(["a,b"])), "comma");
}

#[test]
fn permissions() {
    let mode = |mode| builder().permission_mode(mode).preview();
    let given = |launch: &Launch, argument| arguments(launch).contains(&argument);
    assert!(given(&mode(PermissionMode::Manual).unwrap(), "--permission-mode=default"));
    assert!(given(&mode(PermissionMode::Plan).unwrap(), "--permission-mode=plan"));
    refused(
        builder().permission_mode(PermissionMode::BypassPermissions),
        "allow_dangerously_skip_permissions",
    );
    let bypass = builder()
        .permission_mode(PermissionMode::BypassPermissions)
        .allow_dangerously_skip_permissions();
    passes(
        bypass,
        &["--permission-mode=bypassPermissions", "--allow-dangerously-skip-permissions"],
    );
    let tool = PermissionPrompts::McpTool("mcp__gate__decide".to_owned());
    passes(builder().permission_prompts(tool), &["--permission-prompt-tool=mcp__gate__decide"]);
    let nobody = builder().permission_prompts(PermissionPrompts::Nobody).preview().unwrap();
    assert!(!given(&nobody, "--permission-prompt-tool=stdio"));
    // `stdio` would put the questions to a handler that nobody meant to be asked.
    let stdio = PermissionPrompts::McpTool("stdio".to_owned());
    refused(builder().permission_prompts(stdio), "full name of an MCP tool");
}

#[test]
fn settings() {
    passes(builder().setting_sources([]), &["--setting-sources="]);
    let two = [SettingSource::User, SettingSource::Local];
    passes(builder().setting_sources(two), &["--setting-sources=user,local"]);
    let spaced: RawJson = r#"{ "a": 1.10 }"#.parse().unwrap();
    passes(builder().settings(spaced.clone()), &[r#"--settings={ "a": 1.10 }"#]);
    passes(
        builder().settings(spaced).sandbox(json!({"enabled": true})).ask_in_plan_mode(),
        &[r#"--settings={ "a": 1.10 ,"sandbox":{"enabled":true},"useAutoModeDuringPlan":false}"#],
    );
    passes(builder().ask_in_plan_mode(), &[r#"--settings={"useAutoModeDuringPlan":false}"#]);
    passes(builder().settings_file("s.json"), &["--settings=s.json"]);
    passes(builder().project_config_root("/p"), &["--project-config-root=/p"]);
    refused(builder().settings(json!({})).settings_file("s"), "not both");
    refused(builder().settings_file("s").ask_in_plan_mode(), "to the file");
    refused(builder().settings(json!([])), "JSON object");
    refused(builder().managed_settings(json!(1)), "JSON object");
    refused(builder().settings(json!({"sandbox": 1})).sandbox(json!({})), "leave `sandbox`");
    let huge = json!({"a": "x".repeat(200_000)});
    refused(builder().settings(huge), "name the file");
}

#[test]
fn servers_and_plugins() {
    let server = McpServerConfig::stdio("npx");
    passes(
        builder().mcp_server("a b", server).mcp_config_file("f").strict_mcp_config(),
        &[
            r#"--mcp-config={"mcpServers":{"a b":{"type":"stdio","command":"npx","args":[]}}}"#,
            "--mcp-config=f",
            "--strict-mcp-config",
        ],
    );
    passes(
        builder().plugin("p").plugin_without_mcp("q"),
        &["--plugin-dir=p", "--plugin-dir-no-mcp=q"],
    );
    refused(builder().mcp_server("x", McpServerConfig::sdk("x")), "registered as such");
}

#[test]
fn sessions() {
    passes(builder().resume("-title"), &["--resume=-title"]);
    passes(builder().continue_latest(), &["--continue"]);
    passes(builder().session_id(ID), &[&format!("--session-id={ID}")]);
    passes(
        builder().resume("x").fork().session_id(ID),
        &["--resume=x", "--fork-session", &format!("--session-id={ID}")],
    );
    passes(
        builder().resume("x").resume_at(ID).resume_drops_turn(ID),
        &["--resume=x", &format!("--resume-session-at={ID}"), &format!("--resume-drops-turn={ID}")],
    );
    passes(builder().without_persistence(), &["--no-session-persistence"]);
    refused(builder().resume("x").continue_latest(), "use one of them");
    refused(builder().fork(), "`resume`");
    refused(builder().resume("x").session_id(ID), "add `fork`");
    refused(builder().continue_latest().session_id(ID), "add `fork`");
    refused(builder().resume_at(ID), "name it with `resume`");
    refused(builder().resume("x").resume_drops_turn(ID), "`resume_at`");
    refused(builder().resume_interrupted_turn(), "`resume`");
    refused(builder().resume("x").title("t"), "keeps its title");
    refused(builder().session_id("x"), "UUID");
    refused(builder().resume(""), "empty");
}

#[test]
fn the_environment_is_inherited_without_what_would_mislead() {
    let launch = builder().preview().unwrap();
    assert!(!launch.environment.clear);
    for name in ["CLAUDECODE", "NODE_OPTIONS", "CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH"] {
        assert!(launch.environment.remove.iter().any(|removed| removed == name), "{name}");
    }
    assert_eq!(variable(&launch, "CLAUDE_CODE_ENTRYPOINT"), Some(OsStr::new("sdk-rust")));
    assert_eq!(variable(&launch, "CLAUDE_CODE_SDK_READS_SESSION_STATE"), Some(OsStr::new("1")));
    assert!(variable(&launch, "CLAUDE_AGENT_SDK_VERSION").is_some());

    // The caller has the last word.
    let launch = builder()
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_ENTRYPOINT", "mine")
        .env_remove("SECRET")
        .env_remove("CLAUDE_AGENT_SDK_VERSION")
        .preview()
        .unwrap();
    assert_eq!(variable(&launch, "CLAUDECODE"), Some(OsStr::new("1")));
    assert_eq!(variable(&launch, "CLAUDE_CODE_ENTRYPOINT"), Some(OsStr::new("mine")));
    assert_eq!(variable(&launch, "CLAUDE_AGENT_SDK_VERSION"), None);
    let removed = |name: &str| launch.environment.remove.iter().any(|removed| removed == name);
    assert!(removed("SECRET") && removed("CLAUDE_AGENT_SDK_VERSION") && !removed("CLAUDECODE"));
}

#[test]
fn the_environment_can_be_replaced() {
    let environment = Environment::replace([("HOME", "/h"), ("NODE_OPTIONS", "--x")]);
    let launch = builder().environment(environment).env("A", "b").preview().unwrap();
    assert!(launch.environment.clear);
    assert_eq!(launch.environment.remove, [] as [&OsStr; 0]);
    for (name, value) in [("HOME", "/h"), ("NODE_OPTIONS", "--x"), ("A", "b")] {
        assert_eq!(variable(&launch, name), Some(OsStr::new(value)));
    }
    assert!(variable(&launch, "CLAUDE_CODE_ENTRYPOINT").is_some());
    refused(builder().env("", "x"), "name of a variable");
    refused(builder().env("a=b", "x"), "name of a variable");
    refused(builder().env("a", "x\0y"), "NUL");
}

#[test]
fn values_of_the_environment_are_not_shown() {
    let secret = "sk-very-secret";
    let environment = Environment::replace([("KEY", secret)]);
    let builder = builder().environment(environment).env("OTHER", secret);
    let launch = builder.preview().unwrap();
    for text in [format!("{builder:?}"), format!("{:?}", launch.environment)] {
        assert!(!text.contains(secret), "{text}");
        assert!(text.contains("KEY"), "{text}");
    }
}

#[test]
fn what_may_be_a_secret_is_not_shown() {
    let secret = "sk-very-secret";
    let of = |key: &str| json!({ key: secret });
    let server: McpServerConfig = serde_json::from_value(json!({
        "type": "http", "url": "https://example.com", "headers": { "Authorization": secret },
    }))
    .unwrap();
    let all = [
        builder().mcp_server("s", server),
        builder().settings(of("apiKeyHelper")),
        builder().managed_settings(of("apiKeyHelper")),
        builder().sandbox(of("key")),
        builder().system_prompt(secret),
        builder().append_system_prompt(secret),
        builder().plan_mode_instructions(secret),
        builder().extra_arg("key", secret),
        builder().initialize_field("key", json!(secret)),
        builder().output_schema(of("const")),
    ];
    for builder in all {
        let launch = builder.preview().unwrap();
        let holds = |argument: &OsString| argument.to_string_lossy().contains(secret);
        let initialize = serde_json::to_string(&launch.initialize).unwrap();
        let is_there = launch.arguments.iter().any(holds) || initialize.contains(secret);
        assert!(is_there, "{:?} {initialize}", launch.arguments);
        for text in [format!("{builder:?}"), format!("{launch:#?}")] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(format!("{launch:?}").contains("--output-format"), "{launch:?}");
    }
}

#[test]
fn the_process() {
    let launch = builder().cwd("/w").add_dir("-d").debug("").preview().unwrap();
    assert_eq!(launch.cwd.as_deref(), Some(Path::new("/w")));
    assert_eq!(variable(&launch, "PWD"), Some(OsStr::new("/w")));
    assert_eq!(variable(&builder().preview().unwrap(), "PWD"), None);
    passes(builder().add_dir("a").add_dir("b"), &["--add-dir=a", "--add-dir=b"]);
    passes(builder().debug(""), &["--debug"]);
    passes(builder().debug("api").debug_file("f"), &["--debug=api", "--debug-file=f"]);
    let launch = builder().trace_parent(SPAN).trace_state("a=b").preview().unwrap();
    assert_eq!(variable(&launch, "TRACEPARENT"), Some(OsStr::new(SPAN)));
    assert_eq!(variable(&launch, "TRACESTATE"), Some(OsStr::new("a=b")));
    refused(builder().trace_state("a=b"), "`trace_parent`");
    refused(builder().trace_parent("abc"), "hex digits");
    refused(builder().client_app("a\nb"), "one line");
    // A token that is made of it is used by processes in other folders.
    let here = std::env::current_dir().unwrap();
    let launch = builder().cwd("a/b").preview().unwrap();
    assert_eq!(launch.cwd.as_deref(), Some(&*here.join("a/b")));
    refused(builder().cwd(""), "empty");
    refused(builder().executable("/nowhere/claude"), "/nowhere/claude (not there)");
}

#[test]
fn raw_flags_and_fields() {
    passes(
        builder().extra_arg("autocompact", "-x\ny").extra_flag("--bare"),
        &["--autocompact=-x\ny", "--bare"],
    );
    refused(builder().model("a").extra_arg("model", "b"), "use its method alone");
    for flag in ["print", "--output-format", "dangerously-skip-permissions", "permission-mode"] {
        refused(builder().extra_flag(flag), "belongs to the library");
    }
    for flag in ["", "-", "--", "-p", "a b", "a=b", "--model=x", "ä"] {
        refused(builder().extra_flag(flag), "long name of a flag");
    }
    refused(builder().extra_arg("bare", "a\0b"), "NUL");
    tells(builder().initialize_field("mood", json!({"a": 1})), json!({"mood": {"a": 1}}));
    tells(
        builder().title("t").initialize_field("managedSettings", json!({})),
        json!({"title": "t", "managedSettings": {}}),
    );
    // A field of a known type ends up in its place, and twice is once too often.
    let launch = builder().initialize_field("title", json!("t")).preview().unwrap();
    assert_eq!(launch.initialize.title.as_deref(), Some("t"));
    let twice = builder().title("a").initialize_field("title", json!("b")).preview();
    assert!(matches!(twice, Err(OptionsError::InitializeField(_))));
    let other_type = builder().initialize_field("title", json!(1)).preview();
    assert!(matches!(other_type, Err(OptionsError::InitializeField(_))));
    refused(builder().initialize_field("hooks", json!({})), "registered with the builder");
}

#[test]
fn what_the_oldest_version_lacks_is_needed_and_nothing_else() {
    let needs = |builder: SessionBuilder| {
        let launch = builder.preview().unwrap();
        let names: Vec<_> = launch.needs.iter().map(|need| need.name()).collect();
        assert_eq!(launch.check(OLDEST).is_err(), !names.is_empty());
        launch.check(Version::new(2, 1, 325)).unwrap();
        names
    };
    assert!(
        needs(builder().model("x").resume("y").system_prompt("z").tools(ToolSet::Empty)).is_empty()
    );
    assert_eq!(needs(builder().hook_events()), ["--include-hook-events"]);
    assert_eq!(needs(builder().effort(EffortLevel::Xhigh)), ["--effort=xhigh"]);
    assert_eq!(needs(builder().permission_mode(PermissionMode::Auto)), ["auto"]);
    assert_eq!(needs(builder().permission_mode(PermissionMode::Manual)), [] as [&str; 0]);
    assert_eq!(needs(builder().title("t")), ["title"]);
    assert_eq!(
        needs(builder().initialize_field("workspaceTrust", json!(null))),
        ["workspaceTrust"]
    );
    assert_eq!(needs(builder().extra_arg("autocompact", "x")), ["--autocompact"]);
    assert_eq!(needs(builder().trace_parent(SPAN)), ["TRACEPARENT"]);
    assert_eq!(needs(builder().system_prompt(vec![])), [Capability::SYSTEM_PROMPT_BLOCKS.name()]);
    assert_eq!(needs(builder().verbatim_prompts()), [Capability::VERBATIM_MESSAGES.name()]);
    let error = builder().hook_events().preview().unwrap().check(OLDEST).unwrap_err();
    assert!(error.to_string().contains("--include-hook-events` needs version 2.1.197"), "{error}");
}

#[test]
fn every_flag_is_in_the_table_of_capabilities() {
    let launch = many().executable("/bin/sh").preview().unwrap();
    for argument in arguments(&launch) {
        let flag = argument.split('=').next().unwrap();
        assert!(Capability::flag(flag).is_some(), "{flag}");
    }
    let Value::Object(fields) = initialize(&launch) else { panic!() };
    for field in fields.keys() {
        assert!(Capability::initialize_field(field).is_some(), "{field}");
    }
    assert!(launch.needs.iter().any(|need| need.kind() == CapabilityKind::Variable));
    let check = |builder: SessionBuilder, version| {
        builder.executable("/bin/sh").preview().unwrap().check(version)
    };
    check(since_62(), OLDEST).unwrap();
    check(since_197(since_62()), Version::new(2, 1, 197)).unwrap();
    check(many(), Version::new(2, 1, 325)).unwrap();
}

proptest! {
    /// Whatever a value is, it is refused, or it stays one argument after its flag.
    #[test]
    fn a_value_is_never_taken_for_a_flag(value in any::<String>()) {
        for (built, flag) in [
            (builder().model(value.clone()), "--model="),
            (builder().resume(value.clone()), "--resume="),
            (builder().extra_arg("some-flag", value.clone()), "--some-flag="),
            (builder().add_dir(value.clone()), "--add-dir="),
            (builder().disallow_tool(value.clone()), "--disallowedTools="),
        ] {
            match built.preview() {
                Ok(launch) => {
                    let expected = format!("{flag}{value}");
                    prop_assert_eq!(arguments(&launch).iter().filter(|a| **a == expected).count(), 1);
                    prop_assert_eq!(launch.arguments.len(), 7);
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
