//! Commands in the background.

use countersign::permission::AllowAll;
use countersign::protocol::FromCli;
use countersign::protocol::ids::TaskId;
use countersign::protocol::system::SystemMessage;
use countersign::turn::TurnEvent;
use countersign::{ControlError, Session};
use countersign_lab::Lab;
use libtest_mimic::Trial;

use super::{has, turn};
use crate::kit::{Cli, Outcome, V62, V197, builder, close, lab, on_real, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_real("control::tasks::one_is_looked_at_and_stopped", V62, stopped),
        on_real("control::tasks::a_command_is_moved_to_the_background", V197, moved),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const BACKGROUND: &str = r#"
otherwise = "ok"

[[answer]]
tool = { name = "Bash", input = { command = "echo I am here; sleep 1000", run_in_background = true } }

[[answer]]
text = "It runs."
"#;

/// Reads on until a task has ended, and says how.
async fn task_end(session: &mut Session, task: &TaskId) -> String {
    loop {
        let message = soon("a message", session.next_message()).await.unwrap();
        match message.frame() {
            Some(FromCli::System(SystemMessage::TaskUpdated(updated)))
                if updated.task_id == *task =>
            {
                if let Some(status) = &updated.patch.status {
                    return status.to_string();
                }
            }
            Some(FromCli::System(SystemMessage::TaskNotification(told)))
                if told.task_id == *task =>
            {
                return told.status.to_string();
            }
            _ => {}
        }
    }
}

/// Whether the command runs.
fn sleeps(lab: &Lab) -> bool {
    let lines = lab
        .processes()
        .into_iter()
        .filter_map(|process| std::fs::read(format!("/proc/{process}/cmdline")).ok());
    lines.into_iter().any(|line| line.starts_with(b"sleep\x001000"))
}

async fn stopped(cli: Cli) -> Outcome {
    let own = lab(cli, BACKGROUND).await;
    let lab = &own;
    let mut session = soon("the start", builder(lab).on_permission(AllowAll).connect()).await?;
    let (.., outcome) = turn(&mut session, "Run it.").await;
    assert_eq!(outcome.answer(), "It runs.");
    let [task] = &outcome.sub_agents[..] else { panic!("{outcome:?}") };
    assert_eq!(task.ended, None);
    if has(cli, "get_task_output") {
        let output = async {
            loop {
                let output = session.task_output(task.task.clone()).await.unwrap();
                if output.total_bytes > 0 {
                    return output.output;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        assert_eq!(soon("output", output).await, "I am here\n");
    }
    let until = |running: bool| async move {
        while sleeps(lab) != running {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    soon("the command", until(true)).await;
    session.stop_task(task.task.clone()).await?;
    soon("its end", until(false)).await;
    // 2.1.62 says nothing of it.
    if cli.version() >= V197 {
        let end = task_end(&mut session, &task.task).await;
        assert!(matches!(&*end, "killed" | "stopped"), "{end}");
    }
    close(session, own).await;
    Ok(())
}

const FOREGROUND: &str = r#"
otherwise = "ok"

[[answer]]
tool = { name = "Bash", input = { command = "while [ ! -e go ]; do sleep 0.05; done", timeout = 600000 } }

[[answer]]
text = "It runs on."
"#;

async fn moved(cli: Cli) -> Outcome {
    let lab = lab(cli, FOREGROUND).await;
    let mut session = soon("the start", builder(&lab).on_permission(AllowAll).connect()).await?;
    let mut turn = session.send("Run it.").await?;
    let call = loop {
        if let TurnEvent::ToolCall(call) = soon("an event", turn.next()).await.unwrap() {
            break call;
        }
    };
    let handle = turn.session().handle();
    let moving = async {
        // It can be moved once it runs.
        while !handle.background_tool_call(call.id.clone()).await? {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Ok::<_, ControlError>(())
    };
    soon("the move", moving).await?;
    let outcome = soon("the end", turn.finish()).await?;
    assert_eq!(outcome.answer(), "It runs on.");
    session.background_tasks().await?;
    close(session, lab).await;
    Ok(())
}
