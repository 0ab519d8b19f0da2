//! Sessions: transcripts, resuming, and calls that are put off.

use std::fs;

use serde_json::{Value, json};

use super::sim_client::{Client, Place, Setup, transcripts};

const TALK: &str = "[[answer]]\nwhen = { text = \"what did I say first\" }\ntext = \"${result}\"\n[[answer]]\nwhen = { first = \"/remember (.*)/\", text = \"again\" }\ntext = \"You said ${match.1}.\"\n[[answer]]\ntext = \"ok\"\n";
const WRITE: &str = r#"
    [[answer]]
    tool = { name = "Write", input = { file_path = "${cwd}/a.txt", content = "a" }, id = "toolu_write" }
    [[answer]]
    text = "${result}"
"#;

/// A session in which something was said.
fn talk(place: &Place, version: &str) -> String {
    let mut client = Setup::new(version).start(place, TALK);
    client.say("remember the milk");
    let id = client.result()["session_id"].as_str().unwrap().to_owned();
    assert_eq!(client.finish(), Some(0));
    id
}

/// What a resumed session knows of the first message.
fn recall(place: &Place, args: &[&str]) -> (String, String) {
    let mut client = Setup::new("2.1.325").args(args).start(place, TALK);
    client.say("again");
    let result = client.result();
    (
        result["result"].as_str().unwrap().to_owned(),
        result["session_id"].as_str().unwrap().to_owned(),
    )
}

fn entries(place: &Place, id: &str) -> Vec<Value> {
    let path =
        transcripts(place).into_iter().find(|path| path.to_string_lossy().contains(id)).unwrap();
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_transcript_is_a_chain_of_entries_as_the_cli_writes_it() {
    let place = Place::new();
    let id = talk(&place, "2.1.325");
    let entries = entries(&place, &id);
    let chain: Vec<&Value> = entries.iter().filter(|entry| entry["uuid"].is_string()).collect();
    assert_eq!(chain[0]["parentUuid"], Value::Null);
    for pair in chain.windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"]);
    }
    let kinds: Vec<&str> = chain.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "assistant"]);
    for entry in chain {
        assert_eq!((&entry["sessionId"], &entry["version"]), (&json!(id), &json!("2.1.325")));
        assert_eq!(entry["cwd"], place.cwd().to_str().unwrap());
    }
}

#[test]
fn a_resumed_session_knows_what_was_said() {
    let place = Place::new();
    let id = talk(&place, "2.1.325");
    assert_eq!(recall(&place, &["--resume", &id]), ("You said the milk.".to_owned(), id));
}

#[test]
fn a_resumed_session_goes_on_with_its_script_and_begins_another_one() {
    let place = Place::new();
    let script = "[[answer]]\ntext = \"One.\"\n[[answer]]\ntext = \"Two.\"\n";
    let said = |args: &[&str], script: &str| {
        let mut client = Setup::new("2.1.325").args(args).start(&place, script);
        client.say("go on");
        let result = client.result();
        assert_eq!(client.finish(), Some(0));
        let text = |key: &str| result[key].as_str().unwrap().to_owned();
        (text("result"), text("session_id"))
    };
    let (first, id) = said(&[], script);
    assert_eq!(first, "One.");
    assert_eq!(said(&["--resume", &id], script).0, "Two.");
    assert_eq!(said(&["--resume", &id], "[[answer]]\ntext = \"Uno.\"\n").0, "Uno.");
}

#[test]
fn the_latest_session_is_continued() {
    let place = Place::new();
    let id = talk(&place, "2.1.325");
    assert_eq!(recall(&place, &["--continue"]), ("You said the milk.".to_owned(), id));
}

#[test]
fn a_fork_knows_the_same_under_another_id() {
    let place = Place::new();
    let id = talk(&place, "2.1.325");
    let (said, fork) = recall(&place, &["--resume", &id, "--fork-session"]);
    assert_eq!(said, "You said the milk.");
    assert_ne!(fork, id);
    assert_eq!(transcripts(&place).len(), 2);
}

#[test]
fn the_past_can_end_earlier() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").start(&place, TALK);
    client.say("remember the milk");
    let id = client.result()["session_id"].as_str().unwrap().to_owned();
    client.finish();
    let prompt =
        entries(&place, &id).iter().find(|entry| entry["type"] == "user").unwrap()["uuid"].clone();
    let at = format!("--resume-session-at={}", prompt.as_str().unwrap());
    assert_eq!(recall(&place, &["--resume", &id, &at]).0, "You said the milk.");
    let (code, errors) = refused(&place, &["--resume", &id, "--resume-session-at=nothing"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("No message found"), "{errors}");
}

fn refused(place: &Place, args: &[&str]) -> (Option<i32>, String) {
    let mut client = Setup::new("2.1.325").args(args).start(place, TALK);
    client.wait()
}

#[test]
fn an_unknown_session_is_an_error_result() {
    let place = Place::new();
    let unknown = "11111111-1111-4111-8111-111111111111";
    let mut client = Setup::new("2.1.325").args(&["--resume", unknown]).start(&place, TALK);
    assert_eq!(client.wait().0, Some(1));
    let result = &client.seen[0];
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(
        result["errors"],
        json!([format!("No conversation found with session ID: {unknown}")])
    );
}

#[test]
fn an_id_is_given_once() {
    let place = Place::new();
    let id = "11111111-1111-4111-8111-111111111111";
    let mut client = Setup::new("2.1.325").args(&["--session-id", id]).start(&place, TALK);
    client.say("hi");
    assert_eq!(client.result()["session_id"], id);
    client.finish();
    let (code, errors) = refused(&place, &["--session-id", id]);
    assert_eq!(code, Some(1));
    assert!(errors.contains(&format!("Session ID {id} is already in use.")), "{errors}");
}

#[test]
fn a_session_that_is_not_kept_leaves_nothing_behind() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").args(&["--no-session-persistence"]).start(&place, TALK);
    client.say("hi");
    client.result();
    client.finish();
    assert_eq!(transcripts(&place), Vec::<std::path::PathBuf>::new());
}

#[test]
fn the_config_home_can_be_elsewhere() {
    let place = Place::new();
    let script = place.script(TALK);
    let state = place.home().join("elsewhere");
    let own = ["--script", script.to_str().unwrap(), "--state", state.to_str().unwrap()];
    let mut client = Setup::new("2.1.325").start_with(&place, &own);
    client.say("hi");
    client.result();
    client.finish();
    assert!(state.join("projects").is_dir());
    assert_eq!(transcripts(&place), Vec::<std::path::PathBuf>::new());
}

/// A session whose call a hook has put off.
fn defer(place: &Place) -> (String, Value) {
    let mut client = Setup::new("2.1.325").start(place, WRITE);
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["h"]}]});
    client.ask("i", &json!({"subtype": "initialize", "hooks": hooks}));
    client.response("i");
    client.say("write");
    let call = client.request("hook_callback");
    let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}});
    client.answer(&call, &output);
    let result = client.result();
    assert_eq!(client.finish(), Some(0));
    (result["session_id"].as_str().unwrap().to_owned(), result)
}

#[test]
fn a_call_that_is_put_off_ends_the_turn() {
    let place = Place::new();
    let (_, result) = defer(&place);
    assert_eq!(
        (&result["stop_reason"], &result["terminal_reason"]),
        (&json!("tool_deferred"), &json!("tool_deferred"))
    );
    assert_eq!(result["deferred_tool_use"]["name"], "Write");
    assert!(!place.cwd().join("a.txt").exists());
}

/// A resumed session whose model only says what the tool said.
fn resumed(place: &Place, id: &str) -> Client {
    Setup::new("2.1.325").args(&["--resume", id]).start(place, "[[answer]]\ntext = \"${result}\"\n")
}

#[test]
fn a_call_that_was_put_off_is_raised_again_on_resume() {
    let place = Place::new();
    let (id, _) = defer(&place);
    let mut client = resumed(&place, &id);
    let asked = client.request("can_use_tool");
    assert_eq!(asked["request"]["tool_use_id"], "toolu_write");
    client.allow(&asked);
    let result = client.result();
    assert!(result["result"].as_str().unwrap().starts_with("File created"), "{result}");
    assert!(place.cwd().join("a.txt").exists());
}

#[test]
fn a_call_is_raised_again_when_somebody_notes_in_the_transcript_that_it_was_put_off() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").start(&place, WRITE);
    client.say("write");
    client.request("can_use_tool");
    let id = client.seen[0]["session_id"].as_str().unwrap().to_owned();
    client.kill();
    let leaf =
        entries(&place, &id).iter().rev().find(|entry| entry["uuid"].is_string()).unwrap().clone();
    let attachment = json!({
        "type": "hook_deferred_tool", "toolUseID": "toolu_write", "toolName": "Write",
        "toolInput": {"file_path": place.cwd().join("a.txt"), "content": "a"},
        "hookName": "PreToolUse:Write", "hookEvent": "PreToolUse", "permissionMode": "default",
    });
    let entry = json!({
        "parentUuid": leaf["uuid"], "isSidechain": false, "type": "attachment", "attachment": attachment,
        "uuid": "99999999-9999-4999-8999-999999999999", "timestamp": "2026-11-15T20:08:36.066Z",
        "sessionId": id, "cwd": place.cwd(), "version": "2.1.325",
    });
    let path = transcripts(&place).pop().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{entry}\n")).unwrap();
    let mut client = resumed(&place, &id);
    let asked = client.request("can_use_tool");
    assert_eq!(asked["request"]["tool_use_id"], "toolu_write");
    client.allow(&asked);
    client.result();
    assert!(place.cwd().join("a.txt").exists());
}

#[test]
fn a_call_that_nobody_saw_the_end_of_is_told_as_lost() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").start(&place, WRITE);
    client.say("write");
    client.request("can_use_tool");
    let id = client.seen[0]["session_id"].as_str().unwrap().to_owned();
    client.kill();
    let mut client = resumed(&place, &id);
    client.say("and?");
    let result = client.result();
    assert!(result["result"].as_str().unwrap().contains("outcome is unknown"), "{result}");
}

#[test]
fn what_was_said_before_a_call_that_nobody_saw_the_end_of_is_not_said_again() {
    let script = r#"
        [[answer]]
        when = { text = "write" }
        tool = { name = "Write", input = { file_path = "${cwd}/a.txt", content = "a" } }
        [[answer]]
        when = { text = "go on" }
        text = "I do."
    "#;
    for version in ["2.1.325", "2.1.197", "2.1.62"] {
        let place = Place::new();
        let mut client = Setup::new(version).start(&place, script);
        client.say("write");
        let init = client.until("init", |frame| frame["subtype"] == "init");
        client.request("can_use_tool");
        client.kill();
        let id = init["session_id"].as_str().unwrap();
        let mut client = Setup::new(version).args(&["--resume", id]).start(&place, script);
        client.say("go on");
        assert_eq!(client.result()["result"], "I do.", "{version}");
    }
}

#[test]
fn a_turn_that_was_cut_short_is_run_again_if_the_client_wants_it() {
    let place = Place::new();
    let mut client =
        Setup::new("2.1.325").start(&place, "[[answer]]\ntext = \"never\"\nhang = 2\n");
    client.say("go");
    let init = client.until("init", |frame| frame["subtype"] == "init");
    let id = init["session_id"].as_str().unwrap().to_owned();
    client.ask("s", &json!({"subtype": "mcp_status"}));
    client.response("s");
    client.kill();
    let setup = Setup::new("2.1.325")
        .args(&["--resume", &id])
        .env("CLAUDE_CODE_RESUME_INTERRUPTED_TURN", "1");
    let mut client = setup.start(&place, "[[answer]]\ntext = \"${text} once more\"\n");
    let result = client.result();
    assert_eq!(
        (&result["result"], &result["resume_reason"]),
        (&json!("go once more"), &json!("interrupted_turn"))
    );
}

#[test]
fn a_mirror_is_shown_every_entry() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").args(&["--session-mirror"]).start(&place, TALK);
    client.say("hi");
    let id = client.result()["session_id"].as_str().unwrap().to_owned();
    client.finish();
    let mirrored: Vec<Value> = client
        .seen
        .iter()
        .filter(|frame| frame["type"] == "transcript_mirror")
        .flat_map(|frame| frame["entries"].as_array().unwrap().clone())
        .collect();
    assert_eq!(mirrored, entries(&place, &id));
}
