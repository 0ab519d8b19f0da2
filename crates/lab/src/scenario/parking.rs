//! Parking: a call that waits for a person without a process.

use serde_json::{Value, json};

use super::{Outcome, Reply, Scenario, ensure, is_result, serve};
use crate::lab::{Lab, Launch};
use crate::version::Version;

const WRITE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;

pub(super) const SCENARIOS: &[Scenario] = &[Scenario::new(
    "park-and-resume",
    "A call that a hook puts off is asked for again by a new process, and runs.",
    WRITE,
    |lab| Box::pin(park(lab)),
)
.since(Version::new(2, 1, 197))];

fn hooks() -> Value {
    json!({"hooks": {"PreToolUse": [{"hookCallbackIds": ["gate"]}]}})
}

async fn park(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(hooks()).await?;
    cli.say("Write it.").await?;
    let hook = cli.asked("hook_callback").await?;
    let call = hook["request"]["input"]["tool_use_id"].clone();
    cli.answer(
        &hook,
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}),
    )
    .await?;
    let result = cli.result().await?;
    ensure(result["deferred_tool_use"]["id"] == call, "the result names the call", &result)?;
    let session = result["session_id"].as_str().unwrap_or_default().to_owned();
    let before = cli.close().await?;

    // The call is raised without a word from the client. Nothing is sent first: whether the call
    // or the answer to `initialize` comes first would be a matter of luck.
    let mut cli = lab.launch(Launch::new().resume(&session)).await?;
    let mut asked = Vec::new();
    let reply = |ask: &Value| {
        asked.push(ask["request"]["tool_use_id"].clone());
        let input = &ask["request"]["input"];
        Reply::Success(json!({"behavior": "allow", "updatedInput": input}))
    };
    let result = serve(&mut cli, "a result", is_result, reply).await?;
    ensure(asked == [call], "the same call is asked for", &json!(asked))?;
    ensure(lab.work().join("new.txt").exists(), "the file is written", &result)?;
    Ok(vec![before, cli.close().await?])
}
