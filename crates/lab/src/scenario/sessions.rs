//! Conversations that outlive their process.

use serde_json::{Value, json};

use super::{Outcome, Scenario, ScenarioError, ensure};
use crate::driver::{Cli, Ended};
use crate::lab::{Lab, Launch};

const TWO: &str = r#"
[[answer]]
text = "I will remember."

[[answer]]
text = "I remember."
"#;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("resume", "A conversation goes on in a new process.", TWO, |lab| {
        Box::pin(resume(lab))
    }),
    Scenario::new("fork", "A conversation goes on under a new id.", TWO, |lab| Box::pin(fork(lab))),
    Scenario::new("continue", "The latest conversation goes on.", TWO, |lab| Box::pin(latest(lab))),
    Scenario::new(
        "session-named",
        "A conversation gets the id that the client gives it, once.",
        TWO,
        |lab| Box::pin(named(lab)),
    ),
    Scenario::new(
        "session-not-kept",
        "A conversation that is not kept cannot go on.",
        TWO,
        |lab| Box::pin(not_kept(lab)),
    ),
    Scenario::new(
        "resume-same-message",
        "A message that was there before the resume is passed over.",
        TWO,
        |lab| Box::pin(same_message(lab)),
    ),
    Scenario::new("resume-unknown", "A conversation that there is not is an error.", "", |lab| {
        Box::pin(resume_unknown(lab))
    }),
];

async fn turn(cli: &mut Cli, text: &str) -> Result<Value, ScenarioError> {
    cli.initialize(json!({"hooks": null})).await?;
    cli.say(text).await?;
    Ok(cli.result().await?)
}

async fn first(lab: &Lab) -> Result<(String, Ended), ScenarioError> {
    let mut cli = lab.launch(Launch::new()).await?;
    let result = turn(&mut cli, "Remember the number 7.").await?;
    let session = result["session_id"].as_str().unwrap_or_default().to_owned();
    Ok((session, cli.close().await?))
}

async fn resume(lab: &Lab) -> Outcome {
    let (session, before) = first(lab).await?;
    let mut cli = lab.launch(Launch::new().resume(&session)).await?;
    let result = turn(&mut cli, "Which number?").await?;
    ensure(result["session_id"] == session.as_str(), "the session is the same", &result)?;
    ensure(result["result"] == "I remember.", "the turn runs", &result)?;
    Ok(vec![before, cli.close().await?])
}

async fn fork(lab: &Lab) -> Outcome {
    let (session, before) = first(lab).await?;
    let launch = Launch::new().resume(&session).arg("--fork-session");
    let mut cli = lab.launch(launch).await?;
    let result = turn(&mut cli, "Which number?").await?;
    ensure(result["session_id"] != session.as_str(), "the session is another", &result)?;
    Ok(vec![before, cli.close().await?])
}

async fn latest(lab: &Lab) -> Outcome {
    let (session, before) = first(lab).await?;
    let mut cli = lab.launch(Launch::new().arg("--continue")).await?;
    let result = turn(&mut cli, "Which number?").await?;
    ensure(result["session_id"] == session.as_str(), "the session is the same", &result)?;
    Ok(vec![before, cli.close().await?])
}

async fn named(lab: &Lab) -> Outcome {
    let session = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3faa";
    let launch = || Launch::new().arg("--session-id").arg(session);
    let mut cli = lab.launch(launch()).await?;
    let result = turn(&mut cli, "Remember the number 7.").await?;
    ensure(result["session_id"] == session, "the session is named so", &result)?;
    let before = cli.close().await?;
    let ended = lab.launch(launch()).await?.ended().await?;
    ensure(ended.status.code() == Some(1), "the name is taken", &json!(ended.status.to_string()))?;
    Ok(vec![before, ended])
}

async fn not_kept(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().arg("--no-session-persistence")).await?;
    let result = turn(&mut cli, "Remember the number 7.").await?;
    let session = result["session_id"].as_str().unwrap_or_default().to_owned();
    let before = cli.close().await?;
    let mut cli = lab.launch(Launch::new().resume(&session)).await?;
    let result = cli.result().await?;
    ensure(result["is_error"] == true, "there is no such conversation", &result)?;
    Ok(vec![before, cli.ended().await?])
}

async fn same_message(lab: &Lab) -> Outcome {
    let message = |text: &str, last: char| {
        json!({
            "type": "user",
            "message": {"role": "user", "content": text},
            "uuid": format!("7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f0{last}"),
        })
    };
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.send(&message("Remember the number 7.", '1')).await?;
    let result = cli.result().await?;
    let session = result["session_id"].as_str().unwrap_or_default().to_owned();
    let before = cli.close().await?;
    let mut cli = lab.launch(Launch::new().resume(&session)).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.send(&message("Remember the number 7.", '1')).await?;
    cli.send(&message("Which number?", '2')).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "I remember.", "only the new message has a turn", &result)?;
    Ok(vec![before, cli.close().await?])
}

async fn resume_unknown(lab: &Lab) -> Outcome {
    let session = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3fff";
    let mut cli = lab.launch(Launch::new().resume(session)).await?;
    // The process may be gone before it reads: that is what is shown.
    let id = cli.post(json!({"subtype": "initialize", "hooks": null})).await;
    let result = cli.result().await?;
    ensure(result["is_error"] == true, "the result is an error", &result)?;
    drop(id);
    let ended = cli.ended().await?;
    ensure(ended.status.code() == Some(1), "it exits with 1", &json!(ended.status.to_string()))?;
    Ok(vec![ended])
}
