//! Leave for tools: modes, rules, questions and answers.

use serde_json::{Value, json};

use super::sim_client::{Client, Place, Setup};

const WRITE: &str = r#"
    [[answer]]
    tool = { name = "Write", input = { file_path = "${cwd}/a.txt", content = "a" } }
    times = 9
    [[answer]]
    when = { tool = "Write" }
    text = "${result}"
"#;

/// A model that wants to write a file, and a client that has said so.
fn wants_to_write(place: &Place, version: &str, args: &[&str]) -> Client {
    let mut client = Setup::new(version).args(args).start(place, WRITE);
    client.say("write");
    client
}

fn written(place: &Place) -> Option<String> {
    std::fs::read_to_string(place.cwd().join("a.txt")).ok()
}

#[test]
fn what_is_asked_has_the_fields_of_the_version() {
    let keys = |version: &str| {
        let place = Place::new();
        let request = wants_to_write(&place, version, &[]).request("can_use_tool");
        let keys: Vec<String> = request["request"].as_object().unwrap().keys().cloned().collect();
        keys
    };
    let old = ["input", "permission_suggestions", "subtype", "tool_name", "tool_use_id"];
    assert_eq!(keys("2.1.62"), old);
    let newer = ["description", "display_name", "input", "permission_suggestions"];
    assert_eq!(keys("2.1.197"), [&newer[..], &["subtype", "tool_name", "tool_use_id"]].concat());
    let newest = ["server_policy_ask_only", "subtype", "tool_name", "tool_use_id"];
    assert_eq!(keys("2.1.325"), [&newer[..], &newest].concat());
}

#[test]
fn what_is_allowed_happens() {
    let place = Place::new();
    let mut client = wants_to_write(&place, "2.1.325", &[]);
    let request = client.request("can_use_tool");
    assert_eq!(written(&place), None);
    client.allow(&request);
    let result = client.result();
    assert_eq!(written(&place).as_deref(), Some("a"));
    assert_eq!(result["permission_denials"], json!([]));
}

#[test]
fn a_changed_input_is_the_one_that_counts() {
    let place = Place::new();
    let mut client = wants_to_write(&place, "2.1.325", &[]);
    let request = client.request("can_use_tool");
    let mut input = request["request"]["input"].clone();
    input["content"] = "changed".into();
    client.answer(&request, &json!({"behavior": "allow", "updatedInput": input}));
    client.result();
    assert_eq!(written(&place).as_deref(), Some("changed"));
}

#[test]
fn only_the_newest_version_takes_an_answer_without_an_input() {
    for (version, taken) in [("2.1.325", true), ("2.1.197", false), ("2.1.62", false)] {
        let place = Place::new();
        let mut client = wants_to_write(&place, version, &[]);
        let request = client.request("can_use_tool");
        client.answer(&request, &json!({"behavior": "allow"}));
        client.result();
        assert_eq!(written(&place).is_some(), taken, "{version}");
    }
}

#[test]
fn what_is_denied_does_not_happen_and_the_model_is_told_why() {
    let place = Place::new();
    let mut client = wants_to_write(&place, "2.1.325", &[]);
    let request = client.request("can_use_tool");
    client.answer(&request, &json!({"behavior": "deny", "message": "not today"}));
    let result = client.result();
    assert_eq!((written(&place), &result["result"]), (None, &json!("not today")));
    assert_eq!(result["permission_denials"][0]["tool_name"], "Write");
}

#[test]
fn a_denial_can_end_the_turn() {
    let place = Place::new();
    let mut client = wants_to_write(&place, "2.1.325", &[]);
    let request = client.request("can_use_tool");
    client.answer(&request, &json!({"behavior": "deny", "message": "stop", "interrupt": true}));
    let result = client.result();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["terminal_reason"], "aborted_tools");
}

#[test]
fn an_answer_that_is_none_is_a_denial() {
    let place = Place::new();
    let mut client = wants_to_write(&place, "2.1.325", &[]);
    let request = client.request("can_use_tool");
    client.answer(&request, &json!({"subtype": "allow"}));
    client.result();
    assert_eq!(written(&place), None);
}

#[test]
fn a_late_answer_and_an_answer_to_nothing_are_passed_over() {
    let place = Place::new();
    let mut client = wants_to_write(&place, "2.1.325", &[]);
    let request = client.request("can_use_tool");
    client.ask("i", &json!({"subtype": "interrupt"}));
    client.result();
    client.allow(&request);
    client.answer(&json!({"request_id": "nobody"}), &json!({"behavior": "allow"}));
    client.ask("s", &json!({"subtype": "mcp_status"}));
    assert_eq!(client.response("s")["subtype"], "success");
    assert_eq!(written(&place), None);
}

#[test]
fn modes_decide_without_a_question() {
    let cases = [("acceptEdits", true), ("bypassPermissions", true), ("dontAsk", false)];
    for (mode, happens) in cases {
        let place = Place::new();
        let mut client = wants_to_write(&place, "2.1.325", &["--permission-mode", mode]);
        let result = client.result();
        assert_eq!(written(&place).is_some(), happens, "{mode}");
        assert_eq!(result["permission_denials"].as_array().unwrap().is_empty(), happens, "{mode}");
        assert!(client.seen.iter().all(|frame| frame["type"] != "control_request"), "{mode}");
    }
}

#[test]
fn rules_of_the_command_line_and_of_settings_decide() {
    let settings = json!({"permissions": {"allow": ["Write(a.*)"]}}).to_string();
    let forbidding = json!({"permissions": {"deny": ["Write"]}}).to_string();
    let cases: [(&[&str], bool); 3] = [
        (&["--allowedTools", "Write"], true),
        (&["--settings", &settings], true),
        (&["--settings", &forbidding, "--allowedTools", "Write"], false),
    ];
    for (args, happens) in cases {
        let place = Place::new();
        wants_to_write(&place, "2.1.325", args).result();
        assert_eq!(written(&place).is_some(), happens, "{args:?}");
    }
}

#[test]
fn what_is_allowed_for_the_session_is_not_asked_again() {
    let place = Place::new();
    let mut client = wants_to_write(&place, "2.1.325", &[]);
    let request = client.request("can_use_tool");
    let rules = json!([{"type": "addRules", "rules": [{"toolName": "Write"}], "behavior": "allow", "destination": "session"}]);
    let input = &request["request"]["input"];
    client.answer(
        &request,
        &json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": rules}),
    );
    client.result();
    let asked = |client: &Client| {
        client.seen.iter().filter(|frame| frame["type"] == "control_request").count()
    };
    assert_eq!(asked(&client), 1);
    client.say("again");
    client.result();
    assert_eq!(asked(&client), 1);
}

#[test]
fn a_suggestion_that_is_taken_changes_the_mode() {
    let place = Place::new();
    let mut client = wants_to_write(&place, "2.1.325", &[]);
    let request = client.request("can_use_tool");
    let suggestions = &request["request"]["permission_suggestions"];
    assert_eq!(
        suggestions,
        &json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])
    );
    client.answer(&request, &json!({"behavior": "allow", "updatedPermissions": suggestions}));
    let status = client.until("status", |frame| frame["subtype"] == "status");
    assert_eq!(status["permissionMode"], "acceptEdits");
}

#[test]
fn rules_can_be_written_to_the_settings_of_the_project() {
    let place = Place::new();
    let mut client = wants_to_write(&place, "2.1.325", &[]);
    let request = client.request("can_use_tool");
    let rules = json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "make:*"}], "behavior": "allow", "destination": "localSettings"}]);
    client.answer(&request, &json!({"behavior": "allow", "updatedPermissions": rules}));
    client.result();
    let text = std::fs::read_to_string(place.cwd().join(".claude/settings.local.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(settings["permissions"]["allow"], json!(["Bash(make:*)"]));
}

#[test]
fn rules_of_a_workspace_that_nobody_trusts_are_told_as_ignored_once() {
    for (version, told) in [
        ("2.1.325", Some(".claude/settings.json")),
        ("2.1.197", Some(".claude/settings.local.json")),
        ("2.1.62", None),
    ] {
        let place = Place::new();
        let mut client = wants_to_write(&place, version, &["--setting-sources", "project,local"]);
        let request = client.request("can_use_tool");
        let rule = |to: &str| json!({"type": "addRules", "rules": [{"toolName": "Read"}], "behavior": "allow", "destination": to});
        let updates = json!([rule("localSettings"), rule("projectSettings"), rule("session")]);
        let input = &request["request"]["input"];
        let answer =
            json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": updates});
        client.answer(&request, &answer);
        client.result();
        client.close();
        let complaints: Vec<_> = client.wait().1.lines().map(str::to_owned).collect();
        let begins = told.map(|file| format!("Ignoring 1 permissions.allow entry from {file}: "));
        assert_eq!(complaints.len(), usize::from(begins.is_some()), "{version}: {complaints:?}");
        if let (Some(begins), [complaint]) = (begins, &complaints[..]) {
            assert!(complaint.starts_with(&begins), "{version}: {complaint}");
        }
    }
}

#[test]
fn a_mode_that_may_not_be_chosen_is_not_kept() {
    for (version, kept) in [("2.1.325", false), ("2.1.197", false), ("2.1.62", true)] {
        let place = Place::new();
        let mut client = wants_to_write(&place, version, &[]);
        let request = client.request("can_use_tool");
        let updates = json!([{"type": "setMode", "mode": "bypassPermissions", "destination": "localSettings"}]);
        let input = &request["request"]["input"];
        let answer =
            json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": updates});
        client.answer(&request, &answer);
        client.result();
        assert!(written(&place).is_some());
        assert_eq!(place.cwd().join(".claude/settings.local.json").exists(), kept, "{version}");
    }
}

#[test]
fn without_somebody_to_ask_the_answer_is_no() {
    let place = Place::new();
    let mut client = Setup::bare("2.1.325").args(&["--setting-sources", ""]).start(&place, WRITE);
    client.say("write");
    let result = client.result();
    assert!(result["result"].as_str().unwrap().contains("haven't granted it yet"), "{result}");
    assert!(client.seen.iter().any(|frame| frame["subtype"] == "permission_denied"));
}

#[test]
fn tools_that_write_run_one_after_another_and_tools_that_read_side_by_side() {
    let place = Place::new();
    let script = r#"
        [[answer]]
        tools = [
            { name = "Write", input = { file_path = "${cwd}/a.txt", content = "a" } },
            { name = "Write", input = { file_path = "${cwd}/b.txt", content = "b" } },
        ]
        [[answer]]
        tools = [
            { name = "Read", input = { file_path = "/etc/one" }, result = "1" },
            { name = "Read", input = { file_path = "/etc/two" }, result = "2" },
        ]
        [[answer]]
        text = "done"
    "#;
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.say("go");
    let first = client.request("can_use_tool");
    client.ask("s", &json!({"subtype": "mcp_status"}));
    client.response("s");
    let asked = client.seen.iter().filter(|frame| frame["type"] == "control_request").count();
    assert_eq!(asked, 1, "the second write waits for the first one");
    client.allow(&first);
    let second = client.request("can_use_tool");
    client.allow(&second);
    let reads = [client.request("can_use_tool"), client.request("can_use_tool")];
    for read in reads.iter().rev() {
        client.allow(read);
    }
    assert_eq!(client.result()["result"], "done");
}

#[test]
fn commands_are_looked_at() {
    let place = Place::new();
    let script = r#"
        [[answer]]
        tool = { name = "Bash", input = { command = "ls && make all" } }
        [[answer]]
        text = "done"
    "#;
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.say("go");
    let request = client.request("can_use_tool");
    let rules = &request["request"]["permission_suggestions"][0]["rules"];
    assert_eq!(rules, &json!([{"toolName": "Bash", "ruleContent": "make all *"}]));
    assert_eq!(request["request"]["decision_reason_type"], "subcommandResults");
}
