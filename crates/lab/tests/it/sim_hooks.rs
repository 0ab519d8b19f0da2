//! Hooks of the client.

use serde_json::{Value, json};

use super::sim_client::{Client, Place, Setup};

const WRITE: &str = r#"
    [[answer]]
    tool = { name = "Write", input = { file_path = "${cwd}/a.txt", content = "a" } }
    [[answer]]
    text = "${result}"
"#;

/// A client with a hook for an event; the model wants to write a file.
fn hooked(place: &Place, version: &str, event: &str, more: &Value) -> Client {
    let mut client = Setup::new(version).start(place, WRITE);
    let mut hook = json!({"matcher": null, "hookCallbackIds": ["h"]});
    for (key, value) in more.as_object().unwrap() {
        hook[key] = value.clone();
    }
    client.ask("i", &json!({"subtype": "initialize", "hooks": {event: [hook]}}));
    client.response("i");
    client.say("write");
    client
}

fn decision(decision: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "because"}})
}

fn written(place: &Place) -> bool {
    place.cwd().join("a.txt").exists()
}

#[test]
fn a_hook_is_told_what_the_tool_is_about_to_do() {
    let place = Place::new();
    let mut client = hooked(&place, "2.1.325", "PreToolUse", &json!({}));
    let call = client.request("hook_callback");
    assert_eq!(call["request"]["callback_id"], "h");
    let input = &call["request"]["input"];
    assert_eq!(
        (&input["hook_event_name"], &input["tool_name"]),
        (&json!("PreToolUse"), &json!("Write"))
    );
    assert_eq!(input["tool_input"]["content"], "a");
    assert_eq!(input["permission_mode"], "default");
    assert_eq!(input["tool_use_id"], call["request"]["tool_use_id"]);
}

#[test]
fn a_hook_may_allow_deny_or_leave_it_to_the_client() {
    let place = Place::new();
    let mut client = hooked(&place, "2.1.325", "PreToolUse", &json!({}));
    let call = client.request("hook_callback");
    client.answer(&call, &decision("deny"));
    let result = client.result();
    assert!(result["result"].as_str().unwrap().contains("because"), "{result}");
    assert!(!written(&place));

    let mut client = hooked(&place, "2.1.325", "PreToolUse", &json!({}));
    let call = client.request("hook_callback");
    client.answer(&call, &decision("ask"));
    let asked = client.request("can_use_tool");
    assert_eq!(asked["request"]["decision_reason"], "because");

    let mut client = hooked(&place, "2.1.325", "PreToolUse", &json!({}));
    let call = client.request("hook_callback");
    client.answer(&call, &decision("allow"));
    client.result();
    assert!(written(&place));
}

#[test]
fn a_hook_may_change_the_input() {
    let place = Place::new();
    let mut client = hooked(&place, "2.1.325", "PreToolUse", &json!({}));
    let call = client.request("hook_callback");
    let mut input = call["request"]["input"]["tool_input"].clone();
    input["content"] = "from the hook".into();
    let mut output = decision("allow");
    output["hookSpecificOutput"]["updatedInput"] = input;
    client.answer(&call, &output);
    client.result();
    assert_eq!(std::fs::read_to_string(place.cwd().join("a.txt")).unwrap(), "from the hook");
}

#[test]
fn a_matcher_picks_the_tools() {
    let place = Place::new();
    let mut client = hooked(&place, "2.1.325", "PreToolUse", &json!({"matcher": "Bash|Edit"}));
    let asked = client.until("request", |frame| frame["type"] == "control_request");
    assert_eq!(asked["request"]["subtype"], "can_use_tool");
}

#[test]
fn a_hook_that_takes_too_long_is_withdrawn_and_the_tool_does_not_run() {
    let place = Place::new();
    let mut client = hooked(&place, "2.1.325", "PreToolUse", &json!({"timeout": 0.05}));
    let call = client.request("hook_callback");
    let cancelled = client.until("cancel", |frame| frame["type"] == "control_cancel_request");
    assert_eq!(cancelled["request_id"], call["request_id"]);
    let result = client.result();
    assert!(
        result["result"].as_str().unwrap().contains("did not respond before its timeout"),
        "{result}"
    );
    assert!(!written(&place));
    // An older version goes on as if there were no hook.
    let mut client = hooked(&place, "2.1.62", "PreToolUse", &json!({"timeout": 0.05}));
    client.request("can_use_tool");
}

#[test]
fn a_hook_that_fails_counts_as_it_says() {
    let place = Place::new();
    for (more, asked) in [(json!({}), true), (json!({"onFailure": "block"}), false)] {
        let mut client = hooked(&place, "2.1.325", "PreToolUse", &more);
        let call = client.request("hook_callback");
        let response =
            json!({"subtype": "error", "request_id": call["request_id"], "error": "boom"});
        client.send(&json!({"type": "control_response", "response": response}));
        let next = client.until("request or result", |frame| {
            frame["type"] == "control_request" || frame["type"] == "result"
        });
        assert_eq!(next["type"] == "control_request", asked, "{more}");
    }
}

#[test]
fn a_hook_may_end_the_turn() {
    let place = Place::new();
    let mut client = hooked(&place, "2.1.325", "PreToolUse", &json!({}));
    let call = client.request("hook_callback");
    let mut output = decision("allow");
    output["continue"] = false.into();
    client.answer(&call, &output);
    assert_eq!(client.result()["terminal_reason"], "hook_stopped");
}

#[test]
fn a_prompt_may_be_blocked() {
    let place = Place::new();
    let mut client = hooked(&place, "2.1.325", "UserPromptSubmit", &json!({}));
    let call = client.request("hook_callback");
    assert_eq!(call["request"]["input"]["prompt"], "write");
    client.answer(&call, &json!({"decision": "block", "reason": "bad prompt"}));
    let result = client.result();
    assert!(result["result"].as_str().unwrap().contains("bad prompt"), "{result}");
    assert!(client.seen.iter().all(|frame| frame["type"] != "assistant"));
}

#[test]
fn a_stop_hook_makes_the_model_go_on() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325")
        .start(&place, "[[answer]]\ntext = \"one\"\n[[answer]]\ntext = \"two\"\n");
    client.ask(
        "i",
        &json!({"subtype": "initialize", "hooks": {"Stop": [{"hookCallbackIds": ["h"]}]}}),
    );
    client.response("i");
    client.say("go");
    let call = client.request("hook_callback");
    assert_eq!(call["request"]["input"]["last_assistant_message"], "one");
    client.answer(&call, &json!({"decision": "block", "reason": "more"}));
    let call = client.request("hook_callback");
    assert_eq!(call["request"]["input"]["stop_hook_active"], true);
    client.answer(&call, &json!({}));
    assert_eq!(client.result()["result"], "two");
}

#[test]
fn what_a_hook_adds_after_a_tool_reaches_the_model() {
    let place = Place::new();
    let script = r#"
        [[answer]]
        tool = { name = "Read", input = { file_path = "${cwd}/hello.py" } }
        [[answer]]
        text = "done"
    "#;
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.ask(
        "i",
        &json!({"subtype": "initialize", "hooks": {"PostToolUse": [{"hookCallbackIds": ["h"]}]}}),
    );
    client.response("i");
    client.say("go");
    let call = client.request("hook_callback");
    let input = &call["request"]["input"];
    assert_eq!(
        input["tool_response"]["file"]["filePath"],
        place.cwd().join("hello.py").to_str().unwrap()
    );
    let output = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "note"}});
    client.answer(&call, &output);
    assert_eq!(client.result()["result"], "done");
}

#[test]
fn a_permission_request_may_be_answered_by_a_hook_first() {
    let place = Place::new();
    let mut client = hooked(&place, "2.1.325", "PermissionRequest", &json!({}));
    let asked = client.request("can_use_tool");
    let call = client.request("hook_callback");
    let output = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}});
    client.answer(&call, &output);
    let cancelled = client.until("cancel", |frame| frame["type"] == "control_cancel_request");
    assert_eq!(cancelled["request_id"], asked["request_id"]);
    client.result();
    assert!(written(&place));
}

#[test]
fn only_the_newest_version_takes_hooks_a_second_time() {
    for (version, taken) in [("2.1.325", true), ("2.1.197", false)] {
        let place = Place::new();
        let mut client = Setup::new(version).start(&place, WRITE);
        client.ask("1", &json!({"subtype": "initialize"}));
        client.response("1");
        let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["h"]}]});
        client.ask("2", &json!({"subtype": "initialize", "hooks": hooks}));
        client.response("2");
        client.say("write");
        let first = client.until("request", |frame| frame["type"] == "control_request");
        assert_eq!(first["request"]["subtype"] == "hook_callback", taken, "{version}");
    }
}

#[test]
fn older_versions_complain_that_the_end_of_the_session_cannot_be_told() {
    for (version, complains) in [("2.1.325", false), ("2.1.197", true), ("2.1.62", true)] {
        let place = Place::new();
        let mut client = hooked(&place, version, "SessionEnd", &json!({}));
        let request = client.request("can_use_tool");
        client.allow(&request);
        client.result();
        client.close();
        let (code, errors) = client.wait();
        assert_eq!(code, Some(0));
        let complaint = "Error in hook callback h: Error: Stream closed";
        assert_eq!(errors.contains(complaint), complains, "{version}: {errors}");
    }
}
