//! Plan mode and questions.

use serde_json::json;

use super::sim_client::{Client, Place, Setup};

const PLAN: &str = r#"
    [[answer]]
    tool = { name = "Write", input = { file_path = "${plan_file}", content = "1. Look\n" } }
    [[answer]]
    tool = { name = "ExitPlanMode" }
    [[answer]]
    text = "${result}"
"#;

fn plans(place: &Place, version: &str) -> Client {
    let mut client = Setup::new(version).args(&["--permission-mode", "plan"]).start(place, PLAN);
    client.say("make a plan for me");
    client
}

#[test]
fn the_plan_file_is_written_without_a_question_and_shown_with_the_plan() {
    let place = Place::new();
    let mut client = plans(&place, "2.1.325");
    let request = client.request("can_use_tool");
    let input = &request["request"]["input"];
    assert_eq!(request["request"]["tool_name"], "ExitPlanMode");
    assert_eq!(input["plan"], "1. Look\n");
    let file = input["planFilePath"].as_str().unwrap();
    assert!(
        file.starts_with(place.home().join(".claude/plans/make-a-plan-for").to_str().unwrap()),
        "{file}"
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), "1. Look\n");
}

#[test]
fn an_approved_plan_leaves_plan_mode() {
    for version in ["2.1.325", "2.1.197", "2.1.62"] {
        let place = Place::new();
        let mut client = plans(&place, version);
        let request = client.request("can_use_tool");
        client.allow(&request);
        let status = client.until("status", |frame| frame["subtype"] == "status");
        assert_eq!(status["permissionMode"], "default", "{version}");
        let result = client.result();
        assert!(
            result["result"].as_str().unwrap().starts_with("User has approved your plan"),
            "{result}"
        );
    }
}

#[test]
fn a_plan_can_be_approved_with_a_mode() {
    let place = Place::new();
    let mut client = plans(&place, "2.1.325");
    let request = client.request("can_use_tool");
    let mode = json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
    let input = &request["request"]["input"];
    client.answer(
        &request,
        &json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": mode}),
    );
    let status = client.until("status", |frame| frame["subtype"] == "status");
    assert_eq!(status["permissionMode"], "acceptEdits");
}

#[test]
fn an_edited_plan_is_told_as_edited() {
    let place = Place::new();
    let mut client = plans(&place, "2.1.325");
    let request = client.request("can_use_tool");
    let mut input = request["request"]["input"].clone();
    input["plan"] = "1. Leap\n".into();
    client.answer(&request, &json!({"behavior": "allow", "updatedInput": input}));
    let text = client.result()["result"].as_str().unwrap().to_owned();
    assert!(text.contains("edited by user") && text.contains("1. Leap"), "{text}");
}

#[test]
fn a_rejected_plan_stays_in_plan_mode() {
    let place = Place::new();
    let mut client = plans(&place, "2.1.325");
    let request = client.request("can_use_tool");
    client.answer(&request, &json!({"behavior": "deny", "message": "think again"}));
    assert_eq!(client.result()["result"], "think again");
    client.say("and?");
    let init = client.until("init", |frame| frame["subtype"] == "init");
    assert_eq!(init["permissionMode"], "plan");
}

#[test]
fn in_plan_mode_other_files_are_asked_about() {
    let place = Place::new();
    let script = "[[answer]]\ntool = { name = \"Write\", input = { file_path = \"${cwd}/a.txt\", content = \"a\" } }\n";
    let mut client =
        Setup::new("2.1.325").args(&["--permission-mode", "plan"]).start(&place, script);
    client.say("write");
    let request = client.request("can_use_tool");
    assert_eq!(request["request"]["decision_reason_type"], "mode");
}

#[test]
fn a_plan_that_the_client_began_goes_back_to_the_mode_before_it_where_that_is_noted() {
    for (version, mode) in
        [("2.1.325", "bypassPermissions"), ("2.1.197", "bypassPermissions"), ("2.1.62", "default")]
    {
        let place = Place::new();
        let setup = Setup::new(version).args(&["--permission-mode", "bypassPermissions"]);
        let mut client = setup.start(&place, PLAN);
        client.ask("m", &json!({"subtype": "set_permission_mode", "mode": "plan"}));
        client.response("m");
        client.say("make a plan for me");
        let request = client.request("can_use_tool");
        client.allow(&request);
        client.result();
        client.say("and?");
        let init = client.until("init", |frame| frame["subtype"] == "init");
        assert_eq!(init["permissionMode"], mode, "{version}");
    }
}

#[test]
fn in_plan_mode_older_versions_ask_for_nothing_where_bypass_may_be_chosen() {
    let script = "[[answer]]\ntool = { name = \"Write\", input = { file_path = \"${cwd}/a.txt\", content = \"a\" } }\n[[answer]]\ntext = \"done\"\n";
    for (version, asks) in [("2.1.325", true), ("2.1.197", false), ("2.1.62", false)] {
        let place = Place::new();
        let args = ["--permission-mode", "plan", "--allow-dangerously-skip-permissions"];
        let mut client = Setup::new(version).args(&args).start(&place, script);
        client.say("write");
        if asks {
            let request = client.request("can_use_tool");
            client.allow(&request);
        }
        assert_eq!(client.result()["result"], "done");
        let asked = client.seen.iter().any(|frame| frame["type"] == "control_request");
        assert_eq!(asked, asks, "{version}");
    }
}

#[test]
fn the_model_can_enter_plan_mode_itself() {
    let place = Place::new();
    let script =
        "[[answer]]\ntool = { name = \"EnterPlanMode\" }\n[[answer]]\ntext = \"planning\"\n";
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.say("plan");
    let status = client.until("status", |frame| frame["subtype"] == "status");
    assert_eq!(status["permissionMode"], "plan");
    client.result();
}

const QUESTION: &str = r#"
    [[answer]]
    [answer.tool]
    name = "AskUserQuestion"
    [[answer.tool.input.questions]]
    question = "Which colour?"
    header = "Colour"
    multiSelect = false
    options = [{ label = "red", description = "r" }, { label = "blue", description = "b" }]
    [[answer]]
    text = "${result}"
"#;

#[test]
fn a_question_is_answered_in_the_input() {
    for (version, told) in [
        ("2.1.325", "Your questions have been answered: \"Which colour?\"=\"red\"."),
        ("2.1.197", "Your questions have been answered: \"Which colour?\"=\"red\"."),
        ("2.1.62", "User has answered your questions: \"Which colour?\"=\"red\"."),
    ] {
        let place = Place::new();
        let mut client = Setup::new(version).start(&place, QUESTION);
        client.say("ask");
        let request = client.request("can_use_tool");
        let mut input = request["request"]["input"].clone();
        input["answers"] = json!({"Which colour?": "red"});
        client.answer(&request, &json!({"behavior": "allow", "updatedInput": input}));
        let result = client.result();
        assert!(result["result"].as_str().unwrap().starts_with(told), "{version}: {result}");
    }
}

#[test]
fn a_question_that_is_not_answered_is_told_as_such() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").start(&place, QUESTION);
    client.say("ask");
    let request = client.request("can_use_tool");
    assert_eq!(request["request"]["requires_user_interaction"], true);
    client.allow(&request);
    assert_eq!(client.result()["result"], "The user did not answer the questions.");
}
