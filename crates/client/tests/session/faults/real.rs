//! Faults that the real CLI can be made to have.

use countersign::permission::PermissionAsk;
use countersign::process::Leftovers;
use countersign::{Session, TurnError};
use countersign_lab::Lab;
use libtest_mimic::Trial;
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc;

use crate::kit::{Cli, Outcome, V62, builder, lab, on_all, soon};
use crate::puppet::until;

const WRITE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("faults::is_killed_with_a_permission_open", V62, killed),
        on_all("faults::is_dropped_with_a_permission_open", V62, dropped),
        on_all("faults::is_closed_with_a_permission_open", V62, closed),
        on_all("faults::answers_at_length", V62, at_length),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A session that asks, and who is told when it does so no more.
async fn asking(lab: &Lab) -> (Session, mpsc::Receiver<()>) {
    let (gone, is_gone) = mpsc::channel(1);
    let handler = move |ask: PermissionAsk| {
        let gone = gone.clone();
        async move {
            ask.cancelled().await;
            gone.send(()).await.ok();
            ask.allow()
        }
    };
    let session = soon("the start", builder(lab).on_permission(handler).connect()).await.unwrap();
    session.post("Write it.").await.unwrap();
    until("the ask", || !session.open_permissions().is_empty()).await;
    (session, is_gone)
}

/// Nothing is left of the session, and nothing was written.
async fn over(lab: Lab, mark: countersign::process::Mark, mut is_gone: mpsc::Receiver<()>) {
    assert_eq!(soon("the handler", is_gone.recv()).await, Some(()));
    assert_eq!(Leftovers::of_mark(mark).find(), []);
    assert!(!lab.work().join("new.txt").exists());
    lab.close().await.unwrap();
}

async fn killed(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let (mut session, is_gone) = asking(&lab).await;
    let mark = session.mark().unwrap();
    // The CLI itself, below whatever it is started with.
    for process in Leftovers::of_mark(mark).find() {
        kill_process(Pid::from_raw(process.id.pid()).unwrap(), Signal::KILL)?;
    }
    let error = soon("the turn", session.current_turn().finish()).await.unwrap_err();
    let TurnError::SessionEnded(end) = error else { panic!("{error:?}") };
    assert!(end.exit.is_some_and(|exit| !exit.success()), "{end:?}");
    over(lab, mark, is_gone).await;
    Ok(())
}

async fn dropped(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let (session, is_gone) = asking(&lab).await;
    let handle = session.handle();
    drop(session);
    soon("the end", handle.ended()).await;
    over(lab, handle.mark().unwrap(), is_gone).await;
    Ok(())
}

async fn closed(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let (session, is_gone) = asking(&lab).await;
    let mark = session.mark().unwrap();
    let end = soon("the end", session.close()).await;
    assert!(end.still_running.is_empty(), "{end:?}");
    over(lab, mark, is_gone).await;
    Ok(())
}

/// The message of the model and the result have more than a line may have.
async fn at_length(cli: Cli) -> Outcome {
    let script = format!(
        "[[answer]]\ntext = \"{}\"\n\n[[answer]]\ntext = \"In short.\"\n",
        "long ".repeat(15_000)
    );
    let lab = lab(cli, &script).await;
    let mut session = soon("the start", builder(&lab).max_line(50_000).connect()).await?;
    let turn = session.send("Say it.").await?;
    let error = soon("the end of the turn", turn.finish()).await.unwrap_err();
    let TurnError::ResultTooLong { length } = error else { panic!("{error:?}") };
    assert!(length > 75_000, "{length}");
    assert_eq!(session.snapshot().results, 1);
    let turn = session.send("In short?").await?;
    assert_eq!(soon("the end of the turn", turn.finish()).await?.answer(), "In short.");
    soon("the end", session.close()).await;
    lab.close().await?;
    Ok(())
}
