//! `inbox`, `approve`, `deny` and `answer`: what sessions ask, and what people decide.

use std::fs;

use serde_json::{Value, json};

use crate::served::Served;
use crate::serving::WRITE;
use crate::support::{ran, script};

/// What is asked depends on what is said first.
const ALL: &str = r##"
[[answer]]
when = { text = "Run it" }
tool = { name = "Bash", input = { command = "npm test", description = "Test it" }, result = "fine" }

[[answer]]
when = { text = "Read both" }
tools = [
    { name = "Read", input = { file_path = "${home}/one.txt" }, result = "one" },
    { name = "Read", input = { file_path = "${home}/two.txt" }, result = "two" },
]

[[answer]]
when = { text = "Ask me" }
[answer.tool]
name = "AskUserQuestion"
[answer.tool.input]
questions = [
    { question = "Which colour?", header = "Colour", multiSelect = false, options = [
        { label = "Green", description = "as grass" }, { label = "Red", description = "$(touch pasted)" } ] },
    { question = "Which sizes?", header = "Sizes", multiSelect = true, options = [
        { label = "Small", description = "" }, { label = "Large", description = "" } ] },
]

[[answer]]
when = { text = "Think first" }
tool = { name = "EnterPlanMode", input = {} }

[[answer]]
when = { tool = "Read" }
text = "Both are decided."

[[answer]]
when = { result = "/./" }
text = "I read: ${result}"
"##;

/// The model writes its plan to the file that the CLI names, shows it, and does it.
const PLAN: &str = r##"
[[answer]]
when = { text = "Implement the following plan" }
tool = { name = "Write", input = { file_path = "${cwd}/fresh.txt", content = "fresh\n" } }

[[answer]]
when = { first = "Implement the following plan" }
text = "It is done afresh."

[[answer]]
when = { text = "Make a plan" }
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Write it.\n" } }

[[answer]]
when = { error = true, tool = "ExitPlanMode" }
times = 1
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Write it.\n2. Test it.\n" } }

[[answer]]
when = { tool = "Write", result = "plans" }
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
when = { error = false, tool = "ExitPlanMode" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { tool = "Write" }
text = "The plan is done."
"##;

#[test]
fn a_tool_is_allowed_with_a_rule_with_another_input_or_not_at_all() {
    let served = Served::new(ALL);
    let session = served.session("Run it, please.");
    let asked = served.ask(&session);
    let inbox = served.ok(&["inbox"]);
    let short = &asked[asked.len() - 8..];
    for part in ["Bash", "npm test", "--rule 1: Yes, and don't ask again for Bash(npm test", short]
    {
        assert!(inbox.out.contains(part), "{part} in {}", inbox.out);
    }
    // By the end of its id, and with the rule in another place than the CLI suggests.
    let approved = served.ok(&["approve", short, "--rule", "1", "--in", "session"]);
    assert!(
        approved.out.starts_with("Bash npm test: allowed, and not asked again"),
        "{approved:?}"
    );
    assert_eq!(served.last_text(&session), "I read: fine");
    let rules = &served.head(&session)["rules"]["rules"];
    assert_eq!(rules[0]["destination"], "session", "{rules}");
    served.ok(&["send", &session, "Run it again."]);
    served.rest(&session);
    assert_eq!(served.json(&["inbox"]), [Value::Null; 0], "it is not asked again");

    let other = served.session("Run it.");
    let asked = served.ask(&other);
    fs::write(served.work().join("input.json"), r#"{"command": "npm test -- --all"}"#).unwrap();
    served.ok(&["approve", &asked, "--input", "input.json"]);
    served.rest(&other);
    let shown = served.object(&["inbox", &asked]);
    let input = &shown["given"]["answer"]["allow"]["input"];
    assert_eq!(input["command"], "npm test -- --all", "{shown}");
    assert_eq!(shown["stage"], "done");

    let third = served.session("Run it.");
    let asked = served.ask(&third);
    let denied = served.ok(&["deny", &asked, "not \u{1b}[2Jtoday"]);
    assert!(denied.out.contains("denied: not \\u{1b}[2Jtoday"), "{denied:?}");
    assert!(served.last_text(&third).contains("today"), "{}", served.log());
    let fourth = served.session("Run it.");
    let asked = served.ask(&fourth);
    served.ok(&["deny", &asked, "no", "--stop"]);
    let events = served.rest(&fourth);
    let ended = events.iter().rfind(|event| event["kind"] == "turn.ended").unwrap();
    assert_eq!(ended["body"]["end"], "interrupted", "{ended}");
}

#[test]
fn the_first_answer_counts_and_the_second_is_told_whose_it_was() {
    let served = Served::new(WRITE);
    let session = served.session("Write it.");
    let asked = served.ask(&session);
    let taken = served.object(&["approve", &asked, "--mode", "accept-edits"]);
    assert_eq!(taken, json!({"session": session, "approval": asked}));
    let late = served.run(&["deny", &asked[asked.len() - 6..]]);
    assert_eq!(late.code, Some(1), "{late:?}");
    assert!(late.err.contains("first start was first"), "{late:?}");
    assert!(late.err.contains("allowed, and mode acceptEdits"), "{late:?}");
    served.rest(&session);
    assert_eq!(served.head(&session)["mode"], "acceptEdits");
}

#[test]
fn two_at_once_are_answered_in_any_order() {
    let served = Served::new(ALL);
    for name in ["one.txt", "two.txt"] {
        fs::write(served.path(name), name).unwrap();
    }
    let session = served.session("Read both.");
    // The second may be a moment behind the first.
    let open = loop {
        let open = served.asked(&session);
        if open.len() == 2 {
            break open;
        }
    };
    let id = |at: usize| open[at]["id"].as_str().unwrap();
    served.ok(&["deny", id(1)]);
    served.ok(&["approve", id(0)]);
    assert_eq!(served.last_text(&session), "Both are decided.");
}

#[test]
fn questions_are_answered_by_label_by_number_and_in_words() {
    let served = Served::new(ALL);
    let session = served.session("Ask me.");
    let asked = served.ask(&session);
    let inbox = served.ok(&["inbox", &asked]);
    for part in ["1. Which colour?", "Green  as grass", "2. Which sizes?  (several)"] {
        assert!(inbox.out.contains(part), "{part} in {}", inbox.out);
    }
    for (wrong, says) in [
        (&["--choose", "Green"][..], "say which one"),
        (&["--choose", "1=Blue"], "no answer \"Blue\""),
        (&["--note", "1=x"], "there is no answer"),
        (&[], "there is no answer"),
        (&["--plan", "accept-edits"], "this is a question"),
    ] {
        let refused = served.run(&[&["answer", &asked], wrong].concat());
        assert_eq!(refused.code, Some(2), "{wrong:?}: {refused:?}");
        assert!(refused.err.contains(says), "{wrong:?}: {refused:?}");
    }
    let approve = served.run(&["approve", &asked]);
    assert_eq!(approve.code, Some(2), "{approve:?}");
    assert!(approve.err.contains("--choose 1=LABEL"), "{approve:?}");
    served.ok(&[
        "answer",
        &asked,
        "--choose",
        "1=green",
        "--note",
        "1=dark",
        "--choose",
        "2=1",
        "--choose",
        "2=Large",
        "--text",
        "2=and one more",
    ]);
    let answer = served.last_text(&session);
    for part in ["Green", "Small", "Large", "and one more"] {
        assert!(answer.contains(part), "{part} in {answer}");
    }
    for (words, says) in [(&["--skip"][..], "I read: "), (&["--reply", "neither"], "neither")] {
        let session = served.session("Ask me.");
        let asked = served.ask(&session);
        served.ok(&[&["answer", &asked], words].concat());
        let said = served.last_text(&session);
        assert!(said.contains(says), "{says} in {said}");
    }
}

/// What is shown to be pasted runs nothing that the model made up.
#[test]
fn what_can_be_pasted_is_quoted() {
    let script = ALL.replace("label = \"Green\"", "label = \"$(touch pasted)'`touch pasted`\"");
    let served = Served::new(&script);
    let session = served.session("Ask me.");
    served.ask(&session);
    let inbox = served.ok(&["inbox"]);
    let line = inbox.out.lines().find(|line| line.contains("--choose")).unwrap();
    let bin = served.path("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(crate::support::PROGRAM, bin.join("countersign")).unwrap();
    let mut shell = crate::support::shell(&served.work(), line.trim());
    shell.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    shell.env("COUNTERSIGN_SERVER", &served.url).env("COUNTERSIGN_DATA", served.path("data"));
    let pasted = ran(&mut shell);
    assert_eq!(pasted.code, Some(0), "{line}: {pasted:?}");
    assert!(!served.work().join("pasted").exists(), "{line}");
}

#[test]
fn plans_are_sent_back_approved_and_edited() {
    let served = Served::new(PLAN);
    let session = served.session_with("Make a plan.", &["--mode", "plan"]);
    let first = served.ask(&session);
    let shown = served.ok(&["inbox"]);
    assert!(shown.out.contains("Plan, round 1") && shown.out.contains("1. Write it."), "{shown:?}");
    for (wrong, says) in [
        (&["--plan", "keep"][..], "what is to change is not said"),
        (&["--plan", "manual", "shorter"], "not to be changed"),
        (&["--plan", "keep", "x", "--compact"], "for a plan that is approved"),
        (&["--skip"], "this is a plan"),
    ] {
        let refused = served.run(&[&["answer", &first], wrong].concat());
        assert_eq!(refused.code, Some(2), "{wrong:?}: {refused:?}");
        assert!(refused.err.contains(says), "{wrong:?}: {refused:?}");
    }
    served.ok(&["answer", &first, "--plan", "keep", "test it, too"]);
    let second = served.ask(&session);
    assert_ne!(first, second);
    let rounds = served.json(&["sessions", "plans", &session]);
    assert_eq!(rounds.len(), 2);
    assert!(rounds[1]["diff"].as_str().unwrap().contains("+2. Test it."), "{rounds:?}");
    let text = served.ok(&["sessions", "plans", &session, "--diff"]);
    assert!(text.out.contains("⇒ keep planning: test it, too"), "{text:?}");
    assert!(text.out.contains("  +2. Test it."), "{text:?}");

    fs::write(served.work().join("plan.md"), "# My plan\n").unwrap();
    let edited = ["answer", &second, "--plan", "accept-edits", "--edited", "plan.md", "--compact"];
    served.ok(&edited);
    let events = served.rest(&session);
    assert!(served.work().join("new.txt").is_file());
    let sent = events.iter().filter(|event| event["kind"] == "message.sent").count();
    assert_eq!(sent, 2, "it was compacted after the turn");
    let given = &served.object(&["inbox", &second])["given"]["answer"]["plan"];
    assert_eq!(given["plan"], "# My plan\n", "{given}");
}

#[test]
fn a_plan_is_carried_out_in_a_session_of_its_own() {
    let served = Served::new(PLAN);
    let session = served.session_with("Make a plan.", &["--mode", "plan"]);
    let asked = served.ask(&session);
    let taken = served.object(&["answer", &asked, "--plan", "clear-context"]);
    let child = taken["child"].as_str().unwrap();
    assert_eq!(served.last_text(child), "It is done afresh.");
    assert!(served.work().join("fresh.txt").is_file());
    let children = served.json(&["sessions", "list", "--parent", &session]);
    assert_eq!(children[0]["id"], *child);
    let shown = served.ok(&["sessions", "show", child]);
    assert!(shown.out.contains("from     the plan of "), "{shown:?}");
}

#[test]
fn making_a_plan_first_is_asked_for() {
    let served = Served::new(ALL);
    let session = served.session("Think first.");
    let asked = served.ask(&session);
    let shown = served.ok(&["inbox"]);
    assert!(shown.out.contains("Wants to make a plan first"), "{shown:?}");
    served.ok(&["approve", &asked]);
    served.rest(&session);
    assert_eq!(served.head(&session)["mode"], "plan");
}

/// A CLI that asks for what an MCP server wants to know, and says what it was told.
const ASKS_A_FORM: &str = r#"#!/bin/sh
[ "$1" = --version ] && exec echo '2.1.325 (Claude Code)'
id() { rest=${line#*'"request_id":"'}; echo "${rest%%'"'*}"; }
session=$(echo "$*" | grep -oE '[0-9a-f-]{36}' | head -n 1)
while read -r line; do
  case $line in
    *'"subtype":"initialize"'*)
      echo "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"$(id)\",\"response\":{}}}" ;;
    *'"type":"control_request"'*)
      echo "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"$(id)\",\"response\":{}}}" ;;
    *'"type":"user"'*)
      echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$session\",\"permissionMode\":\"default\",\"model\":\"m\",\"cwd\":\"/\",\"tools\":[]}"
      echo '{"type":"control_request","request_id":"form-1","request":{"subtype":"elicitation","mcp_server_name":"shop","message":"How many?","requested_schema":{"type":"object","required":["count"],"properties":{"count":{"type":"integer"}}}}}' ;;
    *'"form-1"'*)
      said=$(echo "$line" | sed 's/["\\]/\\&/g')
      echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"$said\",\"session_id\":\"$session\",\"num_turns\":1,\"total_cost_usd\":0}" ;;
  esac
done
"#;

#[test]
fn forms_of_mcp_servers_are_filled_in_or_declined() {
    let served = Served::new(WRITE);
    script(&served.path("claude"), ASKS_A_FORM);
    let session = served.session("Order some.");
    let asked = served.ask(&session);
    let shown = served.ok(&["inbox"]);
    assert!(shown.out.contains("The MCP server shop asks"), "{shown:?}");
    assert!(shown.out.contains("count  integer, needed"), "{shown:?}");
    fs::write(served.work().join("form.json"), "[1]").unwrap();
    assert_eq!(served.run(&["answer", &asked, "--form", "form.json"]).code, Some(2));
    fs::write(served.work().join("form.json"), "{\"count\": 3}").unwrap();
    served.ok(&["answer", &asked, "--form", "form.json"]);
    let said = served.last_text(&session);
    assert!(said.contains("accept") && said.contains("\"count\""), "{said}");

    served.ok(&["send", &session, "Order more."]);
    let asked = served.ask(&session);
    served.ok(&["answer", &asked, "--decline"]);
    let said = served.last_text(&session);
    assert!(said.contains("decline"), "{said}");
}
