//! Parking: an answer that outlives the process that asked.

use countersign::SessionBuilder;
use countersign::park::{ParkingToken, Raised};
use countersign::permission::PermissionAsk;
use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, V197, builder, close, lab, on_all, soon};

const WRITE: &str = r#"
[[answer]]
text = "I will write it."
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."

[[answer]]
text = "And more."
"#;

pub(crate) fn trials() -> Vec<Trial> {
    [on_all("parking::a_tool_is_allowed_later", V197, tool)].into_iter().flatten().collect()
}

/// Waits for an answer that never comes.
async fn nobody(ask: PermissionAsk) -> countersign::permission::PermissionAnswer {
    ask.cancelled().await;
    ask.deny("too late")
}

/// Starts a session, and parks it when it asks.
async fn parked(builder: SessionBuilder, prompt: &str) -> ParkingToken {
    let session = soon("the start", builder.on_permission(nobody).connect()).await.unwrap();
    session.post(prompt).await.unwrap();
    soon("the ask", async {
        while session.open_permissions().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
    let token = soon("parking", session.park()).await.map_err(|(_, error)| error).unwrap();
    // Through text and back, as it would be kept.
    serde_json::from_str(&serde_json::to_string(&token).unwrap()).unwrap()
}

async fn tool(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let token = parked(builder(&lab), "Write it.").await;
    assert!(!lab.work().join("new.txt").exists());
    let resumed = builder(&lab).resume_parked(&token, |ask| Ok(ask.allow()));
    let mut resumed = soon("the resume", resumed).await?;
    assert_eq!(resumed.raised, Raised::SameCall);
    let outcome = soon("the turn", resumed.session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(std::fs::read_to_string(lab.work().join("new.txt"))?, "new\n");
    close(resumed.session, lab).await;
    Ok(())
}
