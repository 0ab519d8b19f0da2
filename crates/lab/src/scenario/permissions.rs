//! Who is asked before a tool runs, and what the answers do.

use serde_json::{Value, json};

use super::{Outcome, Reply, Scenario, ScenarioError, at_least, ensure, is_result, serve};
use crate::driver::{Cli, with};
use crate::lab::{Lab, Launch};
use crate::talk::WRITE_TWICE;

const WRITE: &str = r#"
[[answer]]
text = "I will write it."
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "tool-allow",
        "A tool that needs permission is asked for, and runs when it is allowed.",
        WRITE,
        |lab| Box::pin(allow(lab)),
    ),
    Scenario::new(
        "tool-deny",
        "A tool that is denied does not run, and the model reads the reason.",
        WRITE,
        |lab| Box::pin(deny(lab)),
    ),
    Scenario::new("tool-deny-and-stop", "A denial can end the turn.", WRITE, |lab| {
        Box::pin(deny_and_stop(lab))
    }),
    Scenario::new(
        "tool-changed-input",
        "A tool runs with the input of the answer.",
        WRITE,
        |lab| Box::pin(changed_input(lab)),
    ),
    Scenario::new("tool-error-answer", "An error as an answer refuses the tool.", WRITE, |lab| {
        Box::pin(error_answer(lab))
    }),
    Scenario::new(
        "tool-accept-edits",
        "An answer can switch to accepting edits, and the next edit is not asked for.",
        WRITE_TWICE,
        |lab| Box::pin(accept_edits(lab)),
    ),
    Scenario::new(
        "tool-add-rule",
        "An answer can add a rule, and the next call that it covers is not asked for.",
        WRITE_TWICE,
        |lab| Box::pin(add_rule(lab)),
    ),
    Scenario::new(
        "tool-interrupt-pending",
        "An interrupt withdraws a permission request.",
        WRITE,
        |lab| Box::pin(interrupt_pending(lab)),
    ),
    Scenario::new(
        "tools-together",
        "Two reading tools in one message run without asking.",
        r#"
        [[answer]]
        tools = [
            { name = "Read", input = { file_path = "${cwd}/hello.txt" } },
            { name = "Bash", input = { command = "echo here" }, result = "here" },
        ]

        [[answer]]
        text = "Both."
        "#,
        |lab| Box::pin(together(lab)),
    ),
    Scenario::new(
        "mode-bypass",
        "In the mode that asks for nothing, a tool runs unasked.",
        WRITE,
        |lab| Box::pin(unasked(lab, "bypassPermissions", true)),
    ),
    Scenario::new(
        "mode-accept-edits",
        "In the mode that accepts edits, a file is written unasked.",
        WRITE,
        |lab| Box::pin(unasked(lab, "acceptEdits", true)),
    ),
    Scenario::new(
        "mode-dont-ask",
        "In the mode that does not ask, a tool is refused unasked.",
        WRITE,
        |lab| Box::pin(unasked(lab, "dontAsk", false)),
    ),
    Scenario::new(
        "no-prompts",
        "Without the flag for prompts, a tool is refused unasked.",
        WRITE,
        |lab| Box::pin(no_prompts(lab)),
    ),
];

async fn started(lab: &Lab, launch: Launch) -> Result<Cli, ScenarioError> {
    let mut cli = lab.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Write it.").await?;
    Ok(cli)
}

fn denials(result: &Value) -> usize {
    result["permission_denials"].as_array().map_or(0, Vec::len)
}

async fn allow(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let ask = cli.asked("can_use_tool").await?;
    ensure(ask["request"]["tool_name"] == "Write", "the tool is named", &ask)?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is written before", &ask)?;
    cli.allow(&ask).await?;
    let result = cli.result().await?;
    ensure(lab.work().join("new.txt").exists(), "the file is written", &result)?;
    ensure(denials(&result) == 0, "nothing was denied", &result)?;
    Ok(vec![cli.close().await?])
}

async fn deny(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let ask = cli.asked("can_use_tool").await?;
    cli.deny(&ask, "Not today.").await?;
    let read = cli.wait("a tool result", |frame| frame["type"] == "user").await?;
    ensure(read.to_string().contains("Not today."), "the model reads the reason", &read)?;
    let result = cli.result().await?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is written", &result)?;
    ensure(denials(&result) == 1, "the denial is listed", &result)?;
    Ok(vec![cli.close().await?])
}

async fn deny_and_stop(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let ask = cli.asked("can_use_tool").await?;
    let answer = json!({"behavior": "deny", "message": "Stop it.", "interrupt": true});
    cli.answer(&ask, answer).await?;
    let result = cli.result().await?;
    ensure(result["result"] != "That was it.", "the model is not asked again", &result)?;
    Ok(vec![cli.close().await?])
}

async fn changed_input(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let ask = cli.asked("can_use_tool").await?;
    let input = with(ask["request"]["input"].clone(), "content", "changed\n");
    cli.answer(&ask, json!({"behavior": "allow", "updatedInput": input})).await?;
    let result = cli.result().await?;
    let written = std::fs::read_to_string(lab.work().join("new.txt")).unwrap_or_default();
    ensure(written == "changed\n", "the changed text is written", &result)?;
    Ok(vec![cli.close().await?])
}

async fn error_answer(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let ask = cli.asked("can_use_tool").await?;
    cli.refuse(&ask, "the handler broke").await?;
    let result = cli.result().await?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is written", &result)?;
    Ok(vec![cli.close().await?])
}

async fn updated(lab: &Lab, updates: Value) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let mut asked = 0;
    let reply = |ask: &Value| {
        asked += 1;
        let input = &ask["request"]["input"];
        Reply::Success(json!({
            "behavior": "allow", "updatedInput": input, "updatedPermissions": updates,
        }))
    };
    let result = serve(&mut cli, "a result", is_result, reply).await?;
    ensure(asked == 1, "only the first call is asked for", &json!(asked))?;
    ensure(lab.work().join("two.txt").exists(), "both files are written", &result)?;
    Ok(vec![cli.close().await?])
}

async fn accept_edits(lab: &Lab) -> Outcome {
    updated(lab, json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]))
        .await
}

async fn add_rule(lab: &Lab) -> Outcome {
    let rules = json!([{"toolName": "Write"}]);
    let update =
        json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"});
    updated(lab, json!([update])).await
}

async fn interrupt_pending(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let ask = cli.asked("can_use_tool").await?;
    let id = cli.post(json!({"subtype": "interrupt"})).await?;
    let cancel = cli
        .wait("the request to be withdrawn", |frame| frame["type"] == "control_cancel_request")
        .await?;
    ensure(cancel["request_id"] == ask["request_id"], "this request is withdrawn", &cancel)?;
    cli.answer_to(&id).await?;
    let result = cli.result().await?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is written", &result)?;
    // An answer that comes too late is passed over.
    cli.allow(&ask).await?;
    let answer = cli.request(json!({"subtype": "interrupt"})).await?;
    ensure(answer["subtype"] == "success", "the CLI goes on", &answer)?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is written later either", &result)?;
    Ok(vec![cli.close().await?])
}

async fn together(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Both.", "both were run", &result)?;
    Ok(vec![cli.close().await?])
}

async fn unasked(lab: &Lab, mode: &str, runs: bool) -> Outcome {
    let mut cli = started(lab, Launch::new().mode(mode)).await?;
    let reply = |_: &Value| Reply::Error("nothing should be asked");
    let result = serve(&mut cli, "a result", is_result, reply).await?;
    ensure(lab.work().join("new.txt").exists() == runs, "it runs as the mode says", &result)?;
    let denied = usize::from(!runs);
    ensure(denials(&result) == denied, "what was refused is listed", &result)?;
    Ok(vec![cli.close().await?])
}

async fn no_prompts(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new().without_prompts()).await?;
    let result = cli.result().await?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is written", &result)?;
    ensure(denials(&result) == 1, "the denial is listed", &result)?;
    let ended = cli.close().await?;
    if at_least(lab, 325) {
        let told = super::frames(&ended).any(|frame| frame["subtype"] == "permission_denied");
        ensure(told, "the denial is told", &result)?;
    }
    Ok(vec![ended])
}
