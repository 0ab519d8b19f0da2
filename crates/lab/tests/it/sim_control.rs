//! Control requests, interrupts, and messages that wait.

use std::time::Duration;

use serde_json::{Value, json};

use super::sim_client::{Client, Place, Setup};

const WORDS: &str =
    "[[answer]]\ntext = \"one two three four\"\nhang = 4\n[[answer]]\ntext = \"next\"\n";

fn session(version: &str, place: &Place, script: &str) -> Client {
    let mut client = Setup::new(version).args(&["--include-partial-messages"]).start(place, script);
    client.ask("i", &json!({"subtype": "initialize"}));
    client.response("i");
    client
}

fn wait_for_delta(client: &mut Client) {
    client.until("delta", |frame| frame["event"]["type"] == "content_block_delta");
}

#[test]
fn initialize_tells_what_there_is() {
    for version in ["2.1.325", "2.1.197", "2.1.62"] {
        let place = Place::new();
        let mut client = Setup::new(version).start(&place, "");
        client.ask("i", &json!({"subtype": "initialize"}));
        let response = client.response("i");
        for list in ["commands", "models", "available_output_styles"] {
            assert!(response["response"][list].is_array(), "{version} has no {list}");
        }
        assert!(response["response"]["pid"].is_u64(), "{version}");
    }
}

#[test]
fn a_second_initialize_lists_what_is_pending_or_is_refused() {
    let script = "[[answer]]\ntool = { name = \"Write\", input = { file_path = \"${cwd}/a\", content = \"a\" } }\n";
    for (version, subtype) in [("2.1.325", "success"), ("2.1.197", "success"), ("2.1.62", "error")]
    {
        let place = Place::new();
        let mut client = session(version, &place, script);
        client.say("go");
        let asked = client.request("can_use_tool");
        client.ask("again", &json!({"subtype": "initialize"}));
        let response = client.response("again");
        assert_eq!(response["subtype"], subtype, "{version}");
        let pending = &response["pending_permission_requests"];
        assert_eq!(pending[0]["request_id"], asked["request_id"], "{version}");
    }
}

#[test]
fn an_interrupt_ends_the_words_of_the_model() {
    let place = Place::new();
    let mut client = session("2.1.325", &place, WORDS);
    client.say("go");
    wait_for_delta(&mut client);
    wait_for_delta(&mut client);
    client.ask("x", &json!({"subtype": "interrupt"}));
    assert_eq!(client.response("x")["response"]["still_queued"], json!([]));
    let said = client.until("assistant", |frame| frame["type"] == "assistant");
    assert_eq!(
        (&said["aborted"], &said["message"]["content"][0]["text"]),
        (&json!(true), &json!("one two "))
    );
    let result = client.result();
    assert_eq!(result["terminal_reason"], "aborted_streaming");
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("error_during_execution"), &json!(true))
    );
    client.say("and now?");
    assert_eq!(client.result()["result"], "next");
}

#[test]
fn an_old_version_loses_the_words_that_were_interrupted() {
    let place = Place::new();
    let mut client = session("2.1.62", &place, WORDS);
    client.say("go");
    wait_for_delta(&mut client);
    client.ask("x", &json!({"subtype": "interrupt"}));
    let result = client.result();
    assert_eq!(result["is_error"], false);
    assert!(client.seen.iter().all(|frame| frame["type"] != "assistant"));
}

#[test]
fn an_interrupt_withdraws_what_is_asked() {
    let place = Place::new();
    let script = "[[answer]]\ntool = { name = \"Write\", input = { file_path = \"${cwd}/a\", content = \"a\" } }\n";
    let mut client = session("2.1.325", &place, script);
    client.say("go");
    let asked = client.request("can_use_tool");
    client.ask("x", &json!({"subtype": "interrupt"}));
    let cancelled = client.until("cancel", |frame| frame["type"] == "control_cancel_request");
    assert_eq!(cancelled["request_id"], asked["request_id"]);
    assert_eq!(client.result()["terminal_reason"], "aborted_tools");
}

#[test]
fn an_interrupt_stops_a_tool_that_runs() {
    let place = Place::new();
    let script = "[[answer]]\ntool = { name = \"Bash\", input = { command = \"sleep 99\" }, takes = \"99s\" }\n";
    let mut client = session("2.1.325", &place, script);
    client.say("go");
    client.until("assistant", |frame| frame["type"] == "assistant");
    client.ask("x", &json!({"subtype": "interrupt"}));
    assert_eq!(client.result()["terminal_reason"], "aborted_tools");
}

#[test]
fn an_interrupt_of_nothing_is_answered() {
    let place = Place::new();
    let mut client = session("2.1.325", &place, "");
    client.ask("x", &json!({"subtype": "interrupt"}));
    assert_eq!(client.response("x")["subtype"], "success");
}

#[test]
fn messages_that_wait_become_one_turn_and_each_is_told_of() {
    let place = Place::new();
    let script =
        "[[answer]]\ntext = \"first\"\ndelay = \"100ms\"\n[[answer]]\ntext = \"${text}\"\n";
    let mut client = session("2.1.325", &place, script);
    client.say("one");
    client.until("init", |frame| frame["subtype"] == "init");
    let ids = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    for (id, text) in ids.iter().zip(["two", "three"]) {
        let message = json!({"role": "user", "content": text});
        client.send(&json!({"type": "user", "message": message, "uuid": id}));
    }
    client.result();
    let result = client.result();
    assert_eq!(
        (&result["result"], &result["user_message_uuids"]),
        (&json!("two\nthree"), &json!(ids))
    );
    let states = |client: &Client, id: &str| -> Vec<Value> {
        let of = client.seen.iter().filter(|frame| frame["command_uuid"] == id);
        of.map(|frame| frame["state"].clone()).collect()
    };
    assert_eq!(states(&client, ids[0])[..2], [json!("queued"), json!("started")]);
}

#[test]
fn a_message_that_was_here_before_is_not_answered_again() {
    let place = Place::new();
    let script = "[[answer]]\ntext = \"one\"\n[[answer]]\ntext = \"two\"\n";
    let mut client = session("2.1.325", &place, script);
    let message = json!({"role": "user", "content": "hi"});
    let frame =
        json!({"type": "user", "message": message, "uuid": "11111111-1111-4111-8111-111111111111"});
    client.send(&frame);
    client.result();
    client.send(&frame);
    client.say("next");
    assert_eq!(client.result()["result"], "two");
}

#[test]
fn a_message_that_waits_can_be_taken_back() {
    let place = Place::new();
    let script = "[[answer]]\ntext = \"one\"\ndelay = \"100ms\"\n";
    let mut client = session("2.1.325", &place, script);
    client.say("one");
    client.until("init", |frame| frame["subtype"] == "init");
    let id = "11111111-1111-4111-8111-111111111111";
    let message = json!({"role": "user", "content": "two"});
    client.send(&json!({"type": "user", "message": message, "uuid": id}));
    client.ask("c", &json!({"subtype": "cancel_async_message", "message_uuid": id}));
    assert_eq!(client.response("c")["response"]["cancelled"], true);
    client.result();
    assert_eq!(client.finish(), Some(0));
    assert_eq!(client.seen.iter().filter(|frame| frame["type"] == "result").count(), 1);
}

#[test]
fn a_message_during_a_turn_with_tools_reaches_the_model_in_that_turn() {
    let place = Place::new();
    let script = r#"
        [[answer]]
        tool = { name = "Write", input = { file_path = "${cwd}/a", content = "a" } }
        [[answer]]
        text = "I heard: ${text}"
    "#;
    let mut client = session("2.1.325", &place, script);
    client.say("go");
    let asked = client.request("can_use_tool");
    client.say("and this");
    client.allow(&asked);
    assert_eq!(client.result()["result"], "I heard: and this");
}

#[test]
fn the_client_sees_its_own_messages_if_it_wants_to() {
    let place = Place::new();
    let setup = Setup::new("2.1.325").args(&["--replay-user-messages"]);
    let mut client = setup.start(&place, "[[answer]]\ntext = \"hi\"\n");
    client.say("hello");
    let replay = client.until("replay", |frame| frame["isReplay"] == true);
    assert_eq!(replay["message"]["content"], "hello");
    client.result();
}

#[test]
fn a_mode_is_set_told_and_checked() {
    let place = Place::new();
    let mut client = session("2.1.325", &place, "");
    client.ask("m", &json!({"subtype": "set_permission_mode", "mode": "plan"}));
    assert_eq!(client.response("m")["response"]["mode"], "plan");
    let status = client.until("status", |frame| frame["subtype"] == "status");
    assert_eq!(status["permissionMode"], "plan");
    client.ask("b", &json!({"subtype": "set_permission_mode", "mode": "bogus"}));
    assert_eq!(client.response("b")["error_code"], "invalid_mode");
    client.ask("y", &json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"}));
    assert_eq!(client.response("y")["error_code"], "bypass_not_launched");
    // An older version takes anything.
    let mut client = session("2.1.62", &place, "");
    client.ask("b", &json!({"subtype": "set_permission_mode", "mode": "bogus"}));
    assert_eq!(client.response("b")["subtype"], "success");
}

#[test]
fn a_model_is_set_for_the_next_turn() {
    let place = Place::new();
    let mut client = session("2.1.325", &place, "[[answer]]\ntext = \"hi\"\n");
    client.ask("m", &json!({"subtype": "set_model", "model": "haiku"}));
    let model = client.response("m")["response"]["model"].clone();
    client.say("hello");
    let init = client.until("init", |frame| frame["subtype"] == "init");
    assert_eq!(init["model"], model);
    assert!(model.as_str().unwrap().starts_with("claude-haiku"), "{model}");
}

#[test]
fn requests_for_information_are_answered() {
    let place = Place::new();
    let mut client = session("2.1.325", &place, "");
    for (subtype, key) in [
        ("mcp_status", "mcpServers"),
        ("get_context_usage", "categories"),
        ("get_settings", "effective"),
        ("get_session_cost", "text"),
        ("list_models", "models"),
        ("list_permission_rules", "state"),
        ("get_binary_version", "version"),
    ] {
        client.ask(subtype, &json!({"subtype": subtype}));
        let response = client.response(subtype);
        assert!(!response["response"][key].is_null(), "{subtype}: {response}");
    }
}

#[test]
fn a_request_that_nobody_knows_is_an_error() {
    let place = Place::new();
    let mut client = session("2.1.325", &place, "");
    client.ask("u", &json!({"subtype": "make_coffee"}));
    let response = client.response("u");
    assert_eq!(response["error"], "Unsupported control request subtype: make_coffee");
    assert_eq!(response["error_code"], "unsupported_request");
}

#[test]
fn files_go_back_to_what_they_were_before_a_message() {
    let place = Place::new();
    let script = r#"
        [[answer]]
        tool = { name = "Write", input = { file_path = "${cwd}/hello.py", content = "new" } }
        [[answer]]
        text = "done"
    "#;
    let setup = Setup::new("2.1.325")
        .args(&["--allowedTools", "Write"])
        .env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "1");
    let mut client = setup.start(&place, script);
    let id = "11111111-1111-4111-8111-111111111111";
    let message = json!({"role": "user", "content": "write"});
    client.send(&json!({"type": "user", "message": message, "uuid": id}));
    client.result();
    let file = place.cwd().join("hello.py");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    client.ask("r", &json!({"subtype": "rewind_files", "user_message_id": id}));
    assert_eq!(client.response("r")["response"]["canRewind"], true);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "print('hi'\n");
}

#[test]
fn settings_can_change_while_the_session_runs() {
    let place = Place::new();
    let script = "[[answer]]\ntool = { name = \"Write\", input = { file_path = \"${cwd}/a\", content = \"a\" } }\n";
    let mut client = session("2.1.325", &place, script);
    let settings = json!({"permissions": {"allow": ["Write"]}});
    client.ask("s", &json!({"subtype": "apply_flag_settings", "settings": settings}));
    assert_eq!(client.response("s")["subtype"], "success");
    client.say("go");
    client.result();
    assert!(place.cwd().join("a").exists());
}

#[test]
fn after_a_request_that_wedges_the_version_nothing_is_answered() {
    let place = Place::new();
    let mut client = session("2.1.197", &place, WORDS);
    let request = |subtype: &str| json!({"type": "control_request", "request_id": subtype, "request": {"subtype": subtype}});
    // In one write, so that the second is there already when the first is dealt with.
    let both = format!("{}\n{}\n", request("apply_flag_settings"), request("mcp_status"));
    client.write(both.as_bytes());
    assert_eq!(client.line_within(Duration::from_millis(300)), Err(()));
}

#[test]
fn a_session_can_be_ended() {
    let place = Place::new();
    let mut client = session("2.1.325", &place, WORDS);
    client.say("go");
    wait_for_delta(&mut client);
    client.ask("e", &json!({"subtype": "end_session"}));
    assert_eq!(client.response("e")["subtype"], "success");
    assert_eq!(client.wait().0, Some(0));
}

#[test]
fn the_state_of_the_session_is_told_to_those_who_want_to_know() {
    let place = Place::new();
    let setup = Setup::new("2.1.325").env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
    let script = "[[answer]]\ntool = { name = \"Write\", input = { file_path = \"${cwd}/a\", content = \"a\" } }\n";
    let mut client = setup.start(&place, script);
    client.say("go");
    let asked = client.request("can_use_tool");
    client.allow(&asked);
    client.result();
    client.until("idle", |frame| frame["state"] == "idle");
    let states = client.seen.iter().filter(|frame| frame["subtype"] == "session_state_changed");
    let states: Vec<&str> = states.map(|frame| frame["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["running", "requires_action", "running", "idle"]);
}

#[test]
fn local_commands_are_answered_without_the_model() {
    let place = Place::new();
    let mut client = session(
        "2.1.325",
        &place,
        "[[answer]]\nwhen = { side = true }\ntext = \"<summary>We spoke.</summary>\"\n[[answer]]\ntext = \"hi\"\n",
    );
    client.say("hello");
    client.result();
    for (command, text) in [("/cost", "Total cost"), ("/context", "## Context Usage")] {
        client.say(command);
        let result = client.result();
        assert!(result["result"].as_str().unwrap().starts_with(text), "{command}: {result}");
        assert_eq!(result["num_turns"], 0);
    }
    client.say("/compact");
    client.until("boundary", |frame| frame["subtype"] == "compact_boundary");
    client.result();
    let before = client.seen.last().unwrap()["session_id"].clone();
    client.say("/clear");
    let reset = client.until("reset", |frame| frame["type"] == "conversation_reset");
    assert_ne!(reset["new_conversation_id"], before);
}
