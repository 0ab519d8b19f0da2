//! Several requests at once, and a client that comes back to them.

use serde_json::{Value, json};

use super::{Outcome, Reply, Scenario, ScenarioError, ensure, frames, is_result, serve};
use crate::Version;
use crate::driver::Cli;
use crate::lab::{Lab, Launch};
use crate::talk::WRITE_TWICE;

const READ_BOTH: &str = r#"
[[answer]]
tools = [
    { name = "Read", input = { file_path = "${home}/one.txt" } },
    { name = "Read", input = { file_path = "${home}/two.txt" } },
]

[[answer]]
text = "I have read neither."
"#;

const WRITE_BOTH: &str = r#"
[[answer]]
tools = [
    { name = "Write", input = { file_path = "${cwd}/one.txt", content = "1\n" } },
    { name = "Write", input = { file_path = "${cwd}/two.txt", content = "2\n" } },
]

[[answer]]
text = "That was it."
"#;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "asked-at-once",
        "Reading tools of one message ask at the same time, and may be answered in any order.",
        READ_BOTH,
        |lab| Box::pin(at_once(lab)),
    ),
    Scenario::new(
        "asked-at-once-interrupted",
        "An interrupt withdraws every request that is open.",
        READ_BOTH,
        |lab| Box::pin(at_once_interrupted(lab)),
    ),
    Scenario::new(
        "asked-in-turn",
        "Writing tools of one message ask one after the other, and each answer is its own.",
        WRITE_BOTH,
        |lab| Box::pin(in_turn(lab)),
    ),
    Scenario::new(
        "mode-while-asking",
        "The mode is switched while a request is open; it stays open, and the next edit runs.",
        WRITE_TWICE,
        |lab| Box::pin(mode_while_asking(lab)),
    ),
    Scenario::new(
        "initialize-again",
        "A client that initializes again is told of the requests that are open.",
        WRITE_TWICE,
        |lab| Box::pin(initialize_again(lab)),
    ),
    Scenario::new(
        "session-states",
        "When asked to, the CLI tells when it runs, when it waits, and when it is idle.",
        WRITE_TWICE,
        |lab| Box::pin(states(lab)),
    )
    .since(Version::new(2, 1, 197)),
];

async fn started(lab: &Lab, launch: Launch) -> Result<Cli, ScenarioError> {
    for name in ["one.txt", "two.txt"] {
        let file = lab.home().join(name);
        let written = std::fs::write(&file, format!("{name}\n"));
        ensure(written.is_ok(), "the file can be written", &json!(file))?;
    }
    let mut cli = lab.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Do it.").await?;
    Ok(cli)
}

async fn at_once(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let first = cli.asked("can_use_tool").await?;
    let second = cli.asked("can_use_tool").await?;
    cli.deny(&second, "Not the second.").await?;
    let read = cli.wait("a tool result", |frame| frame["type"] == "user").await?;
    let id = &second["request"]["tool_use_id"];
    ensure(read["message"]["content"][0]["tool_use_id"] == *id, "each answer is its own", &read)?;
    cli.deny(&first, "Not the first.").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "I have read neither.", "the turn goes on", &result)?;
    let denials = result["permission_denials"].as_array().map_or(0, Vec::len);
    ensure(denials == 2, "both are listed", &result)?;
    Ok(vec![cli.close().await?])
}

async fn at_once_interrupted(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    cli.asked("can_use_tool").await?;
    cli.asked("can_use_tool").await?;
    let id = cli.post(json!({"subtype": "interrupt"})).await?;
    cli.answer_to(&id).await?;
    cli.result().await?;
    let ended = cli.close().await?;
    let withdrawn = frames(&ended).filter(|frame| frame["type"] == "control_cancel_request");
    let count = withdrawn.count();
    ensure(count == 2, "both are withdrawn", &json!(count))?;
    Ok(vec![ended])
}

async fn in_turn(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let first = cli.asked("can_use_tool").await?;
    cli.deny(&first, "Not this one.").await?;
    let second = cli.asked("can_use_tool").await?;
    cli.allow(&second).await?;
    let result = cli.result().await?;
    ensure(!lab.work().join("one.txt").exists(), "the first is not written", &result)?;
    ensure(lab.work().join("two.txt").exists(), "the second is", &result)?;
    Ok(vec![cli.close().await?])
}

async fn mode_while_asking(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let ask = cli.asked("can_use_tool").await?;
    let set_mode = json!({"subtype": "set_permission_mode", "mode": "acceptEdits"});
    let answer = cli.request(set_mode).await?;
    ensure(answer["subtype"] == "success", "the mode is switched", &answer)?;
    ensure(!lab.work().join("one.txt").exists(), "the request stays open", &answer)?;
    cli.allow(&ask).await?;
    let reply = |_: &Value| Reply::Error("nothing should be asked");
    let result = serve(&mut cli, "a result", is_result, reply).await?;
    ensure(lab.work().join("two.txt").exists(), "the next edit runs unasked", &result)?;
    Ok(vec![cli.close().await?])
}

async fn initialize_again(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let ask = cli.asked("can_use_tool").await?;
    let answer = cli.initialize(json!({"hooks": null})).await?;
    let open = &answer["pending_permission_requests"][0];
    ensure(open["request_id"] == ask["request_id"], "the open request is listed", &answer)?;
    cli.allow(&ask).await?;
    let ask = cli.asked("can_use_tool").await?;
    cli.allow(&ask).await?;
    cli.result().await?;
    Ok(vec![cli.close().await?])
}

async fn states(lab: &Lab) -> Outcome {
    let launch = Launch::new().env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
    let mut cli = started(lab, launch).await?;
    for _ in 0..2 {
        let ask = cli.asked("can_use_tool").await?;
        cli.allow(&ask).await?;
    }
    let idle =
        |frame: &Value| frame["subtype"] == "session_state_changed" && frame["state"] == "idle";
    cli.wait("the session to be idle", idle).await?;
    let ended = cli.close().await?;
    let waits = |frame: &&Value| frame["state"] == "requires_action";
    let count = frames(&ended).filter(waits).count();
    ensure(count == 2, "it waits twice", &json!(count))?;
    Ok(vec![ended])
}
