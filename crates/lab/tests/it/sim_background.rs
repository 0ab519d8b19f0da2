//! Tasks in the background, and subagents.

use serde_json::{Value, json};

use super::sim_client::{Client, Place, Setup};

fn system<'a>(client: &'a Client, subtype: &str) -> Vec<&'a Value> {
    client.seen.iter().filter(|frame| frame["subtype"] == subtype).collect()
}

const SLOW: &str = r#"
    [[answer]]
    tool = { name = "Bash", input = { command = "make", run_in_background = true }, result = "built", takes = "200ms" }
    [[answer]]
    text = "started"
    [[answer]]
    text = "it is done"
"#;

#[test]
fn the_end_of_a_command_in_the_background_starts_a_turn() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").args(&["--allowedTools", "Bash"]).start(&place, SLOW);
    client.say("go");
    assert_eq!(client.result()["result"], "started");
    let ended = client.until("notification", |frame| frame["subtype"] == "task_notification");
    assert_eq!(ended["status"], "completed");
    let output = ended["output_file"].as_str().unwrap().to_owned();
    let result = client.result();
    assert_eq!(
        (&result["result"], &result["origin"]["kind"]),
        (&json!("it is done"), &json!("task-notification"))
    );
    assert_eq!(std::fs::read_to_string(output).unwrap(), "built");
    assert_eq!(system(&client, "task_started").len(), 1);
}

#[test]
fn a_command_in_the_background_can_be_stopped() {
    let place = Place::new();
    let script = SLOW.replace("200ms", "60s");
    let mut client = Setup::new("2.1.325").args(&["--allowedTools", "Bash"]).start(&place, &script);
    client.say("go");
    client.result();
    let id = system(&client, "task_started")[0]["task_id"].clone();
    client.ask("s", &json!({"subtype": "stop_task", "task_id": id}));
    let ended = client.until("notification", |frame| frame["subtype"] == "task_notification");
    assert_eq!((&ended["task_id"], &ended["status"]), (&id, &json!("stopped")));
}

const AGENT: &str = r#"
    [[answer]]
    when = { agent = true, result = "File created" }
    text = "the agent is done"
    [[answer]]
    when = { agent = true }
    tool = { name = "Write", input = { file_path = "${cwd}/a.txt", content = "a" } }
    [[answer]]
    tool = { name = "Agent", input = { description = "write", prompt = "write a.txt", subagent_type = "general-purpose", run_in_background = false }, id = "toolu_agent" }
    [[answer]]
    text = "all done"
"#;

#[test]
fn a_subagent_asks_for_leave_and_its_frames_name_its_call() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").start(&place, AGENT);
    client.say("go");
    let asked = client.request("can_use_tool");
    assert!(asked["request"]["agent_id"].is_string());
    client.allow(&asked);
    assert_eq!(client.result()["result"], "all done");
    let inner = client.seen.iter().filter(|frame| frame["parent_tool_use_id"] == "toolu_agent");
    let kinds: Vec<&str> = inner.map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "assistant", "user"], "the task, the call and its result");
    let ended = system(&client, "task_notification");
    assert_eq!(ended[0]["summary"], "the agent is done");
}

#[test]
fn an_agent_in_the_background_lets_the_turn_end() {
    let place = Place::new();
    let script = AGENT.replace("run_in_background = false", "run_in_background = true");
    let mut client = Setup::new("2.1.325").start(&place, &script);
    client.say("go");
    let asked = client.request("can_use_tool");
    if !client.seen.iter().any(|frame| frame["type"] == "result") {
        client.result();
    }
    client.allow(&asked);
    client.until("notification", |frame| frame["subtype"] == "task_notification");
    client.result();
    assert!(place.cwd().join("a.txt").exists());
}
