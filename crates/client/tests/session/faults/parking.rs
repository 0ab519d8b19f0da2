//! Parking, while somebody answers.

use std::path::Path;
use std::sync::Arc;

use countersign::hook::Hook;
use countersign::park::{ParkError, ParkingToken, Raised, ResumeError};
use countersign::permission::PermissionAsk;
use countersign::protocol::hook::{HookOutput, PreToolUseInput, PreToolUseOutput};
use countersign::transcript::ProjectKey;
use serde_json::json;
use tokio::sync::Notify;

use crate::kit::{Outcome, soon};
use crate::puppet::{Fault, Puppet, Stage, connect, fault, report_at_the_end, until};

const SESSION: &str = "6f1c1f5e-3a53-4a0c-8a1c-5a2f4f4a9d10";

pub(super) fn faults() -> Vec<Fault> {
    vec![
        fault("is_parked_while_somebody_answers", asks_one, it_is_not_parked),
        fault("raises_a_call_before_it_knows_the_hooks", asks_too_early, the_hook_sees_it),
        fault("dies_while_a_parked_call_is_decided", dies_on_a_sign, the_handler_learns_of_it),
    ]
}

fn asks_one(puppet: &mut Puppet) {
    puppet.open();
    puppet.ask("r1", "Write", &json!({}));
    puppet.read_type("control_response");
    puppet.sign("answered");
    puppet.report_answers();
}

/// The transcript has the call only after it was answered: the tool runs, and must not be raised
/// again.
async fn it_is_not_parked(stage: Stage) -> Outcome {
    let home = tempfile::tempdir()?;
    let decided = Arc::new(Notify::new());
    let decision = Arc::clone(&decided);
    let builder = stage
        .builder()
        .cwd(home.path())
        .env("CLAUDE_CONFIG_DIR", home.path())
        .session_id(SESSION)
        .on_permission(move |ask: PermissionAsk| {
            let decision = Arc::clone(&decision);
            async move {
                decision.notified().await;
                ask.allow()
            }
        });
    let session = connect(builder).await;
    until("the ask", || session.open_permissions().len() == 1).await;
    let answering = async {
        decided.notify_one();
        stage.signed("answered").await;
        write_call(home.path())
    };
    let (parked, written) = soon("parking", async {
        // In this order: it waits for the transcript when the answer comes.
        tokio::join!(biased; session.park(), answering)
    })
    .await;
    written?;
    let (mut session, error) = parked.unwrap_err();
    assert!(matches!(error, ParkError::NotAsking), "{error}");
    report_at_the_end(&mut session).await;
    Ok(())
}

fn dies_on_a_sign(puppet: &mut Puppet) {
    puppet.open();
    puppet.wait_for("asked");
}

/// A call that the CLI does not bring back is decided about while the CLI waits for nothing.
async fn the_handler_learns_of_it(stage: Stage) -> Outcome {
    let home = tempfile::tempdir()?;
    let request = json!({ "tool_name": "Write", "input": {}, "tool_use_id": "toolu_r1" });
    let token: ParkingToken = serde_json::from_value(json!({
        "session": SESSION, "cwd": home.path(), "version": "2.1.62",
        "request": request.to_string(),
    }))?;
    let signs = stage.clone();
    let builder = stage.builder().env("CLAUDE_CONFIG_DIR", home.path()).on_permission(
        move |ask: PermissionAsk| {
            let signs = signs.clone();
            async move {
                signs.sign("asked");
                ask.cancelled().await;
                signs.sign("cancelled");
                ask.allow()
            }
        },
    );
    let unparked = soon("the end", Box::pin(builder.unpark(&token))).await;
    assert!(matches!(unparked, Err(ResumeError::Send(_))), "{unparked:?}");
    stage.signed("cancelled").await;
    Ok(())
}

fn asks_too_early(puppet: &mut Puppet) {
    if std::env::args().any(|argument| argument == "--version") {
        return puppet.write("2.1.197 (Claude Code)\n");
    }
    puppet.ask("r1", "Write", &json!({}));
    puppet.open();
    puppet.report_answers();
}

/// A version that does not wait for `initialize` must not get an answer past the gate.
async fn the_hook_sees_it(stage: Stage) -> Outcome {
    let home = tempfile::tempdir()?;
    write_call(home.path())?;
    let request = json!({ "tool_name": "Write", "input": {}, "tool_use_id": "toolu_r1" });
    let token: ParkingToken = serde_json::from_value(json!({
        "session": SESSION, "cwd": home.path(), "version": "2.1.197",
        "request": request.to_string(),
    }))?;
    let gate = Hook::new(|input: PreToolUseInput, _| async move {
        HookOutput::from(PreToolUseOutput::deny(format!("not {}", input.tool_use_id)))
    });
    let builder = stage.builder().env("CLAUDE_CONFIG_DIR", home.path()).hook(gate);
    let resumed = Box::pin(builder.resume_parked(&token, |ask| Ok(ask.allow())));
    let mut resumed = soon("the resume", resumed).await?;
    assert_eq!(resumed.raised, Raised::SameCall);
    let report = report_at_the_end(&mut resumed.session).await;
    assert_eq!(report["r1"][0]["response"]["behavior"], "deny", "{report}");
    assert_eq!(report["r1"][0]["response"]["message"], "not toolu_r1");
    Ok(())
}

/// Writes a transcript with the call that the puppet asks for.
fn write_call(home: &Path) -> std::io::Result<()> {
    let folder = home.join("projects").join(ProjectKey::of(home).as_str());
    std::fs::create_dir_all(&folder)?;
    let call = json!({ "type": "tool_use", "id": "toolu_r1", "name": "Write", "input": {} });
    let entry = json!({
        "type": "assistant", "uuid": "a", "sessionId": SESSION,
        "message": { "id": "m", "role": "assistant", "content": [call] },
    });
    std::fs::write(folder.join(format!("{SESSION}.jsonl")), format!("{entry}\n"))
}
