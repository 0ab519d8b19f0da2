//! Parking: a call that waits for a person without a process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Outcome, Reply, Scenario, ScenarioError, ensure, is_result, serve};
use crate::Version;
use crate::driver::Ended;
use crate::lab::{Lab, Launch};
use crate::talk::WRITE;
use crate::transcript::{is_written, mark, transcript};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "park-and-resume",
        "A call that a hook puts off is asked for again by a new process, and runs.",
        WRITE,
        |lab| Box::pin(park(lab)),
    )
    .since(Version::new(2, 1, 197)),
    Scenario::new(
        "killed-and-resumed",
        "A call that was asked for when the process was killed is not asked for again.",
        WRITE,
        |lab| Box::pin(killed(lab)),
    ),
    Scenario::new(
        "killed-and-parked",
        "With a mark in the transcript, a call is asked for again after the process was killed.",
        WRITE,
        |lab| Box::pin(killed_and_parked(lab)),
    )
    .since(Version::new(2, 1, 197)),
];

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

    Ok(vec![before, raised_again(lab, &session, &call).await?])
}

/// Resumes a session whose call was put off: it is raised without a word from the client, and runs.
/// Nothing is sent first: whether the call or the answer to `initialize` comes first would be a
/// matter of luck.
async fn raised_again(lab: &Lab, session: &str, call: &Value) -> Result<Ended, ScenarioError> {
    let mut cli = lab.launch(Launch::new().resume(session)).await?;
    let mut asked = Vec::new();
    let reply = |ask: &Value| {
        asked.push(ask["request"]["tool_use_id"].clone());
        let input = &ask["request"]["input"];
        Reply::Success(json!({"behavior": "allow", "updatedInput": input}))
    };
    let result = serve(&mut cli, "a result", is_result, reply).await?;
    ensure(asked == [call.clone()], "the same call is asked for", &json!(asked))?;
    ensure(lab.work().join("new.txt").exists(), "the file is written", &result)?;
    Ok(cli.close().await?)
}

/// A process that is killed while it asks. Gives back what it asked, and where its transcript is.
async fn killed_while_asking(lab: &Lab) -> Result<(Value, PathBuf, Ended), ScenarioError> {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Write it.").await?;
    let init = cli.wait("init", |frame| frame["subtype"] == "init").await?;
    let session = init["session_id"].as_str().unwrap_or_default().to_owned();
    let ask = cli.asked("can_use_tool").await?;
    let call = ask["request"]["tool_use_id"].as_str().unwrap_or_default().to_owned();
    let transcript = transcript(lab, &session);
    let written = is_written(&transcript, &call, Duration::from_secs(60)).await;
    ensure(written, "the transcript has the call", &ask)?;
    cli.signal(Signal::KILL);
    Ok((ask, transcript, cli.ended().await?))
}

fn session_of(transcript: &Path) -> String {
    transcript.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

async fn killed(lab: &Lab) -> Outcome {
    let (_, transcript, before) = killed_while_asking(lab).await?;
    let mut cli = lab.launch(Launch::new().resume(&session_of(&transcript))).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Go on.").await?;
    let result = serve(&mut cli, "a result", is_result, |_| Reply::Error("not again")).await?;
    ensure(result["result"] == "That was it.", "the turn runs", &result)?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is written", &result)?;
    Ok(vec![before, cli.close().await?])
}

async fn killed_and_parked(lab: &Lab) -> Outcome {
    let (ask, transcript, before) = killed_while_asking(lab).await?;
    let call = &ask["request"]["tool_use_id"];
    let marked = mark(&transcript, &ask["request"], "default");
    ensure(marked.is_ok(), "the transcript is marked", &json!(transcript))?;
    let session = session_of(&transcript);
    Ok(vec![before, raised_again(lab, &session, call).await?])
}
