//! Every event and every kind of answer, with all fields that are documented.

use serde_json::{Map, Value, json};

use super::*;

const EVENTS: [HookEvent; 33] = [
    HookEvent::PreToolUse,
    HookEvent::PostToolUse,
    HookEvent::PostToolUseFailure,
    HookEvent::PostToolBatch,
    HookEvent::PermissionRequest,
    HookEvent::PermissionDenied,
    HookEvent::Notification,
    HookEvent::UserPromptSubmit,
    HookEvent::UserPromptExpansion,
    HookEvent::SessionStart,
    HookEvent::SessionEnd,
    HookEvent::Setup,
    HookEvent::Stop,
    HookEvent::StopFailure,
    HookEvent::SubagentStart,
    HookEvent::SubagentStop,
    HookEvent::PreCompact,
    HookEvent::PostCompact,
    HookEvent::PreModelSwitch,
    HookEvent::PostModelSwitch,
    HookEvent::TeammateIdle,
    HookEvent::TaskCreated,
    HookEvent::TaskCompleted,
    HookEvent::Elicitation,
    HookEvent::ElicitationResult,
    HookEvent::ConfigChange,
    HookEvent::WorktreeCreate,
    HookEvent::WorktreeRemove,
    HookEvent::InstructionsLoaded,
    HookEvent::CwdChanged,
    HookEvent::FileChanged,
    HookEvent::DirectoryAdded,
    HookEvent::MessageDisplay,
];

/// The base fields that every version sends.
fn least() -> Value {
    json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p"})
}

/// All base fields but those about the agent.
fn base() -> Value {
    with(
        &least(),
        &json!({"prompt_id": "p", "permission_mode": "default", "effort": {"level": "high"}}),
    )
}

fn with(object: &Value, more: &Value) -> Value {
    let mut all: Map<String, Value> = object.as_object().unwrap().clone();
    all.extend(more.as_object().unwrap().clone());
    Value::Object(all)
}

/// The fields of an event that are always there, and those that may be missing.
fn fields(event: &HookEvent) -> (Value, Value) {
    let none = json!({});
    let call = json!({"tool_name": "mcp__a__b", "tool_input": {"x": 1}, "tool_use_id": "toolu_1"});
    let server = json!({"mcp_server": {"name": "a", "source": "project"}});
    let task = json!({"task_id": "1", "task_subject": "Do it"});
    let task_more = json!({"task_description": "All", "teammate_name": "ann", "team_name": "t"});
    let stop_more = json!({
        "last_assistant_message": "Done.",
        "background_tasks": [
            {"id": "b1", "type": "shell", "status": "running", "description": "d"},
            {
                "id": "b2", "type": "mcp", "status": "pending", "description": "d", "command": "c",
                "agent_type": "Explore", "server": "s", "tool": "t", "name": "n",
            },
        ],
        "session_crons": [{"id": "c", "schedule": "* * * * *", "recurring": true, "prompt": "go"}],
    });
    let switch = |source: &str| {
        json!({
            "from_model": "a", "to_model": "b", "requested_model": "opus", "source": source,
            "context_tokens": 182_340, "prompt_cache_warm": true, "cache_ttl": "5m",
            "estimated_cache_write_usd": 1.1396, "pricing": "catalog",
        })
    };
    match event {
        HookEvent::PreToolUse => (call, server),
        HookEvent::PostToolUse => (
            with(&call, &json!({"tool_response": [null]})),
            with(&server, &json!({"duration_ms": 599.389})),
        ),
        HookEvent::PostToolUseFailure => (
            with(&call, &json!({"error": "Exit code 1"})),
            with(&server, &json!({"is_interrupt": false, "duration_ms": 5})),
        ),
        HookEvent::PostToolBatch => {
            let answered = with(&call, &json!({"tool_response": "text"}));
            (json!({"tool_calls": [call, answered]}), none)
        }
        HookEvent::PermissionRequest => (
            json!({"tool_name": "Write", "tool_input": {}}),
            with(
                &server,
                &json!({"permission_suggestions": [
                    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
                ]}),
            ),
        ),
        HookEvent::PermissionDenied => (with(&call, &json!({"reason": "no"})), server),
        HookEvent::Notification => {
            (json!({"message": "m", "notification_type": "idle_prompt"}), json!({"title": "t"}))
        }
        HookEvent::UserPromptSubmit => {
            (json!({"prompt": "go"}), json!({"source": "sdk", "session_title": "t"}))
        }
        HookEvent::UserPromptExpansion => (
            json!({
                "expansion_type": "slash_command", "command_name": "review",
                "command_args": "--all", "prompt": "/review --all",
            }),
            json!({"command_source": "plugin"}),
        ),
        HookEvent::SessionStart => (
            json!({"source": "fork"}),
            json!({
                "model": "m", "session_title": "t", "seconds_since_last_response": 12.5,
                "context_tokens": 5, "prompt_cache_likely_expired": true,
                "estimated_cache_write_usd": 0.25,
            }),
        ),
        HookEvent::SessionEnd => (json!({"reason": "other"}), none),
        HookEvent::Setup => (json!({"trigger": "init"}), none),
        HookEvent::Stop => (json!({"stop_hook_active": false}), stop_more),
        HookEvent::StopFailure => (
            json!({"error": "rate_limit"}),
            json!({"error_details": "429", "last_assistant_message": "Well"}),
        ),
        HookEvent::SubagentStart => (json!({"agent_id": "a1", "agent_type": "Explore"}), none),
        HookEvent::SubagentStop => (
            json!({
                "stop_hook_active": true, "agent_id": "a1", "agent_transcript_path": "/a1.jsonl",
                "agent_type": "Explore",
            }),
            stop_more,
        ),
        HookEvent::PreCompact => {
            (json!({"trigger": "manual"}), json!({"custom_instructions": "keep names"}))
        }
        HookEvent::PostCompact => (json!({"trigger": "auto", "compact_summary": "s"}), none),
        HookEvent::PreModelSwitch => (switch("picker"), none),
        HookEvent::PostModelSwitch => (switch("resume"), none),
        HookEvent::TeammateIdle => (json!({"teammate_name": "ann", "team_name": "t"}), none),
        HookEvent::TaskCreated | HookEvent::TaskCompleted => (task, task_more),
        HookEvent::Elicitation => (
            json!({"mcp_server_name": "s", "message": "Who?"}),
            json!({
                "mode": "form", "url": "https://example.org", "elicitation_id": "e",
                "requested_schema": {"type": "object"},
            }),
        ),
        HookEvent::ElicitationResult => (
            json!({"mcp_server_name": "s", "action": "accept"}),
            json!({"elicitation_id": "e", "mode": "url", "content": {"name": "Bo"}}),
        ),
        HookEvent::ConfigChange => (json!({"source": "skills"}), json!({"file_path": "/s.json"})),
        HookEvent::WorktreeCreate => (json!({"name": "bold-oak"}), none),
        HookEvent::WorktreeRemove => (json!({"worktree_path": "/w"}), none),
        HookEvent::InstructionsLoaded => (
            json!({"file_path": "/p/C.md", "memory_type": "Project", "load_reason": "include"}),
            json!({"globs": ["*.rs"], "trigger_file_path": "/p/a.rs", "parent_file_path": "/p/b"}),
        ),
        HookEvent::CwdChanged => (json!({"old_cwd": "/p", "new_cwd": "/q"}), none),
        HookEvent::FileChanged => (json!({"file_path": "/p/a", "event": "unlink"}), none),
        HookEvent::DirectoryAdded => {
            (json!({"directory": "/d", "source": "register_repo_root"}), none)
        }
        HookEvent::MessageDisplay => (
            json!({"turn_id": "t", "message_id": "m", "index": 0, "final": true, "delta": "Hi"}),
            none,
        ),
        HookEvent::Other(name) => panic!("{name}"),
    }
}

/// Reads an input and writes it again. Every field and every value must be known.
#[track_caller]
fn check(event: &HookEvent, example: &Value) -> HookInput {
    let example = with(example, &json!({"hook_event_name": event.as_str()}));
    let input: HookInput = serde_json::from_value(example.clone()).unwrap();
    assert_eq!(input.event(), *event);
    assert!(input.is_known());
    assert_eq!(input.base().unwrap().session_id.as_str(), "s");
    check_known(&input);
    assert_eq!(serde_json::to_value(&input).unwrap(), example);
    input
}

/// Nothing is in an `extra` and nothing in an `Other`, however deep.
#[track_caller]
fn check_known(value: &impl std::fmt::Debug) {
    let shown = format!("{value:?}");
    assert!(!shown.contains("fields: [("), "a field is not named: {shown}");
    assert!(!shown.contains("Other("), "a value is not known: {shown}");
}

#[test]
fn every_event_is_read_with_all_its_fields() {
    for event in &EVENTS {
        let (required, optional) = fields(event);
        check(event, &with(&with(&base(), &required), &optional));
    }
}

#[test]
fn every_event_is_read_with_required_fields_only() {
    for event in &EVENTS {
        check(event, &with(&least(), &fields(event).0));
    }
}

#[test]
fn a_required_field_that_is_missing_is_an_error() {
    for event in &EVENTS {
        let mut example = with(&least(), &fields(event).0);
        // Fields that the public types require and that some version leaves out, or may.
        for lenient in ["requested_model", "notification_type"] {
            example.as_object_mut().unwrap().remove(lenient);
        }
        if matches!(event, HookEvent::SubagentStop) {
            example.as_object_mut().unwrap().remove("agent_type");
        }
        if matches!(event, HookEvent::TeammateIdle) {
            example.as_object_mut().unwrap().remove("team_name");
        }
        let example = with(&example, &json!({"hook_event_name": event.as_str()}));
        for name in example.as_object().unwrap().keys() {
            let mut without = example.clone();
            without.as_object_mut().unwrap().remove(name);
            let error = serde_json::from_value::<HookInput>(without).unwrap_err();
            assert!(error.to_string().contains(name), "{event}: {error}");
        }
    }
}

#[test]
fn null_is_written_as_null() {
    let compact = json!({"trigger": "auto", "custom_instructions": null});
    check(&HookEvent::PreCompact, &with(&base(), &compact));
    let switch = with(&fields(&HookEvent::PreModelSwitch).0, &json!({"requested_model": null}));
    check(&HookEvent::PreModelSwitch, &with(&base(), &switch));
    check(&HookEvent::Setup, &with(&least(), &json!({"trigger": "init", "agent_id": null})));
}

#[test]
fn the_agent_is_in_the_base_unless_the_event_is_about_it() {
    let agent = json!({"agent_id": "a1", "agent_type": "Explore"});
    let call = with(&fields(&HookEvent::PreToolUse).0, &agent);
    let input = check(&HookEvent::PreToolUse, &with(&base(), &call));
    let inside = input.base().unwrap();
    assert_eq!(inside.agent_id, Some("a1".into()));
    assert_eq!(inside.agent_type.as_deref(), Some("Explore"));

    let input = check(&HookEvent::SubagentStart, &with(&base(), &agent));
    assert_eq!(input.base().unwrap().agent_id, None);
    let HookInput::SubagentStart(start) = input else { panic!() };
    assert_eq!(start.agent_id, "a1".into());
    assert_eq!(start.agent_type, "Explore");
}

#[test]
fn an_unknown_event_and_an_unknown_field_survive() {
    let text = r#"{"cwd":"/p","hook_event_name":"MoonRise","phase":0.50}"#;
    let input: HookInput = serde_json::from_str(text).unwrap();
    assert_eq!(input.event(), HookEvent::Other("MoonRise".into()));
    assert!(input.base().is_none() && !input.is_known());
    let HookInput::Other(named) = &input else { panic!() };
    assert_eq!(named.fields.get("phase").unwrap().as_str(), "0.50");

    let example = with(&least(), &json!({"trigger": "init", "mood": {"level": 3}}));
    let example = with(&example, &json!({"hook_event_name": "Setup"}));
    let input: HookInput = serde_json::from_value(example.clone()).unwrap();
    let HookInput::Setup(setup) = &input else { panic!() };
    assert_eq!(setup.extra.len(), 1);
    assert!(setup.base.extra.is_empty());
    assert_eq!(serde_json::to_value(&input).unwrap(), example);
}

#[test]
fn the_tool_input_is_kept_as_it_was_written() {
    let input: HookInput = serde_json::from_str(
        r#"{"tool_input":{"b": 1.0, "a":10000000000000000000000},"session_id":"s",
            "transcript_path":"/t","cwd":"/p","tool_name":"T","tool_use_id":"u",
            "hook_event_name":"PreToolUse"}"#,
    )
    .unwrap();
    let HookInput::PreToolUse(call) = input else { panic!() };
    assert_eq!(call.tool_input.as_str(), r#"{"b": 1.0, "a":10000000000000000000000}"#);
}

#[test]
fn every_documented_value_is_known() {
    macro_rules! known {
        ($($name:ident: $values:literal;)+) => {$(
            for value in $values.split(' ') {
                assert!($name::from(value).is_known(), "{} of {}", value, stringify!($name));
            }
        )+};
    }
    known! {
        OnFailure: "continue block";
        PromptSource: "user sdk system loop_wakeup schedule_wakeup poll_event";
        ExpansionType: "slash_command mcp_prompt";
        SessionStartSource: "startup resume clear compact fork";
        SessionEndReason: "clear resume logout prompt_input_exit other";
        SetupTrigger: "init maintenance";
        ModelSwitchSource: "command picker sdk auto resume";
        PricingBasis: "configured catalog default";
        ConfigSource: "user_settings project_settings local_settings policy_settings skills";
        MemoryType: "User Project Local Managed";
        LoadReason: "session_start nested_traversal path_glob_match include compact";
        FileEvent: "change add unlink";
        DirectorySource: "slash_command register_repo_root";
        HookDecision: "approve block";
        HookPermission: "allow deny ask defer";
    }
    for event in &EVENTS {
        assert!(event.is_known());
    }
}

#[test]
fn every_answer_is_read_and_written() {
    let context = json!({"additionalContext": "remember the milk"});
    let outputs = [
        (
            "PreToolUse",
            json!({
                "permissionDecision": "ask", "permissionDecisionReason": "r",
                "updatedInput": {"x": 1}, "additionalContext": "c",
                "permissionDisplay": {"title": "t", "description": "d", "displayName": "n"},
            }),
        ),
        (
            "PermissionRequest",
            json!({"decision": {
                "behavior": "allow", "updatedInput": {},
                "updatedPermissions": [
                    {"type": "addDirectories", "directories": ["/d"], "destination": "session"},
                ],
            }}),
        ),
        (
            "PermissionRequest",
            json!({"decision": {"behavior": "deny", "message": "no", "interrupt": true}}),
        ),
        ("PermissionRequest", json!({"decision": {"behavior": "deny"}})),
        (
            "PostToolUse",
            json!({
                "additionalContext": "c", "updatedToolOutput": {"a": 1},
                "updatedMCPToolOutput": "text", "classifierContext": "k",
            }),
        ),
        (
            "UserPromptSubmit",
            json!({"additionalContext": "c", "sessionTitle": "t", "suppressOriginalPrompt": true}),
        ),
        ("UserPromptExpansion", json!({"additionalContext": "c", "suppressOriginalPrompt": false})),
        (
            "SessionStart",
            json!({
                "additionalContext": "c", "initialUserMessage": "go", "sessionTitle": "t",
                "watchPaths": ["/p/.env"], "reloadSkills": true,
            }),
        ),
        (
            "PreModelSwitch",
            json!({"permissionDecision": "deny", "permissionDecisionReason": "too dear"}),
        ),
        ("PermissionDenied", json!({"retry": true})),
        ("Elicitation", json!({"action": "accept", "content": {"name": "Bo"}})),
        ("ElicitationResult", json!({"action": "cancel", "content": {}})),
        ("CwdChanged", json!({"watchPaths": []})),
        ("FileChanged", json!({"watchPaths": ["/p/.env"]})),
        ("WorktreeCreate", json!({"worktreePath": "/w"})),
        ("MessageDisplay", json!({"displayContent": "***"})),
        ("Setup", context.clone()),
        ("PostModelSwitch", context.clone()),
        ("SubagentStart", context.clone()),
        ("SubagentStop", context.clone()),
        ("Stop", context.clone()),
        ("Notification", context.clone()),
        ("PostToolUseFailure", context.clone()),
        ("PostToolBatch", context),
    ];
    for (event, fields) in outputs {
        let example = json!({
            "continue": true, "suppressOutput": true, "stopReason": "halt", "decision": "block",
            "reason": "because", "systemMessage": "look", "terminalSequence": "\u{7}",
            "hookSpecificOutput": with(&fields, &json!({"hookEventName": event})),
        });
        let output: HookOutput = serde_json::from_value(example.clone()).unwrap();
        check_known(&output);
        assert_eq!(output.hook_specific_output.as_ref().unwrap().name(), event);
        assert_eq!(serde_json::to_value(&output).unwrap(), example);
    }
}

#[test]
fn answers_are_made_in_few_words() {
    let check = |output: HookOutput, text: &str| {
        assert_eq!(serde_json::to_string(&output).unwrap(), text);
        assert_eq!(serde_json::from_str::<HookOutput>(text).unwrap(), output);
    };
    check(HookOutput::no_opinion(), "{}");
    check(HookOutput::block("why"), r#"{"decision":"block","reason":"why"}"#);
    check(
        HookOutput::in_background(std::time::Duration::from_secs(5)),
        r#"{"async":true,"asyncTimeout":5000}"#,
    );
    check(
        PreToolUseOutput::allow().into(),
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
    );
    check(
        PreToolUseOutput::defer().into(),
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#,
    );
    check(
        HookSpecificOutput::from(PreToolUseOutput::ask("sure?")).into(),
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#,
    );
    check(
        PermissionRequestOutput::allow().into(),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
    );
    check(
        PermissionRequestOutput::deny("no").into(),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}"#,
    );
    check(
        PreModelSwitchOutput::deny("no").into(),
        r#"{"hookSpecificOutput":{"hookEventName":"PreModelSwitch","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
    );
}

#[test]
fn a_matcher_is_read_and_written() {
    let example = json!({
        "matcher": "Write|Edit", "hookCallbackIds": ["h1", "h2"], "timeout": 2.5,
        "onFailure": "block",
    });
    let matcher: HookMatcher = serde_json::from_value(example.clone()).unwrap();
    check_known(&matcher);
    assert_eq!(serde_json::to_value(&matcher).unwrap(), example);
    let everything = json!({"matcher": null, "hookCallbackIds": ["h"]});
    let matcher: HookMatcher = serde_json::from_value(everything.clone()).unwrap();
    assert_eq!(matcher.matcher, None);
    assert_eq!(serde_json::to_value(&matcher).unwrap(), everything);
}
