//! A CLI that asks what it is told to ask, for requests that the others do not make.

use std::fs::Permissions;
use std::io::{BufRead as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;

use countersign::SessionBuilder;
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::asking::{say, start};

/// Says to this very program that it is to be that CLI, and what it asks: a list of requests.
const ASKER: &str = "COUNTERSIGN_TEST_ASKER";

/// What that CLI writes to its standard error.
pub(crate) const MUTTERS: &str = "COUNTERSIGN_TEST_ASKER_MUTTERS";

/// Plays a CLI, if that is what this program was started for: asks everything at once, and says in
/// its only turn what it was told.
pub(crate) fn as_an_asker() -> Option<ExitCode> {
    let requests = std::env::var(ASKER).ok()?;
    let requests: Vec<Value> = serde_json::from_str(&requests).unwrap();
    let (mut initialize, mut answers) = (Value::Null, vec![Value::Null; requests.len()]);
    let (mut is_asked, mut left) = (false, requests.len());
    if let Ok(words) = std::env::var(MUTTERS) {
        std::io::stderr().write_all(words.as_bytes()).unwrap();
    }
    for line in std::io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match line["type"].as_str() {
            Some("control_request") => {
                let response = json!({
                    "subtype": "success",
                    "request_id": line["request_id"],
                    "response": {
                        "commands": [], "agents": [], "models": [], "account": {},
                        "output_style": "default", "available_output_styles": [],
                    },
                });
                write_line(&json!({"type": "control_response", "response": response}));
                initialize = line["request"].clone();
                for (number, request) in requests.iter().enumerate() {
                    let id = number.to_string();
                    write_line(
                        &json!({"type": "control_request", "request_id": id, "request": request}),
                    );
                }
            }
            Some("control_response") => {
                let id: usize = line["response"]["request_id"].as_str().unwrap().parse().unwrap();
                answers[id] = line["response"].clone();
                left -= 1;
            }
            Some("user") => is_asked = true,
            _ => {}
        }
        if is_asked && left == 0 {
            write_line(&json!({
                "type": "result", "subtype": "success", "is_error": false, "session_id": "asker",
                "duration_ms": 0, "duration_api_ms": 0, "num_turns": 1, "total_cost_usd": 0,
                "result": json!([initialize, answers]).to_string(),
            }));
        }
    }
    Some(ExitCode::SUCCESS)
}

/// Writes a line for whoever started this program.
pub(crate) fn write_line(line: &Value) {
    #[expect(clippy::disallowed_methods, reason = "it is what the program that is played does")]
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}

/// What that CLI was told: `initialize`, and the answers to these requests.
async fn told(builder: SessionBuilder, requests: &[Value]) -> Result<(Value, Vec<Value>), Failed> {
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("claude");
    let this = std::env::current_exe()?;
    std::fs::write(&script, format!("#!/bin/sh\nexec '{}' \"$@\"\n", this.display()))?;
    std::fs::set_permissions(&script, Permissions::from_mode(0o755))?;
    let builder = builder.executable(&script).env(ASKER, json!(requests).to_string());
    let mut session = start(builder).await?;
    let outcome = say(&mut session, "What were you told?").await?;
    session.close().await;
    Ok(serde_json::from_str(outcome.answer())?)
}

/// The answers to these requests.
pub(crate) async fn answers(
    builder: SessionBuilder,
    requests: &[Value],
) -> Result<Vec<Value>, Failed> {
    Ok(told(builder, requests).await?.1)
}

/// What the CLI is told at the start.
pub(crate) async fn initialized_with(builder: SessionBuilder) -> Result<Value, Failed> {
    Ok(told(builder, &[]).await?.0)
}
