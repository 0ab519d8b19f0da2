//! May this tool run?

use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, USUAL, WRITE, lab, on_both, requests, run};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_both("permissions::approve", approve),
        on_both("permissions::deny_with_a_message", deny_with_a_message),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn approve(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run(&lab, USUAL, &["Write a file."]);
    let asked = pty.see("Do you want to allow this?");
    assert!(asked.contains("Write new.txt") && asked.contains("1 + new"), "{asked}");
    assert!(!lab.work().join("new.txt").exists(), "it was written before anybody allowed it");
    pty.press("y");
    let ended = pty.end();
    let screen = &ended.screen;
    assert_eq!(ended.code, 0, "{screen}");
    assert!(screen.contains("I will write it."), "{screen}");
    assert!(screen.contains(": allowed") && screen.contains("✓"), "{screen}");
    assert!(screen.contains("countersign run --resume"), "{screen}");
    assert!(!screen.contains("Do you want to allow this?"), "{screen}");
    assert!(ended.is_restored);
    assert_eq!(std::fs::read_to_string(lab.work().join("new.txt"))?, "new\n");
    lab.close().await?;
    Ok(())
}

async fn deny_with_a_message(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run(&lab, USUAL, &["Write a file."]);
    pty.see("Do you want to allow this?");
    pty.press("n");
    pty.see("What should Claude do differently?");
    pty.press("Use another name\r");
    let ended = pty.end();
    let screen = &ended.screen;
    assert_eq!(ended.code, 0, "{screen}");
    // The model reads it, and says what it has read.
    assert!(screen.contains("I read: ") && screen.contains("denied: Write"), "{screen}");
    let after = screen.split("I read: ").last().unwrap_or_default();
    assert!(after.contains("Use another name"), "{screen}");
    assert!(!lab.work().join("new.txt").exists());
    if let Some(requests) = requests(cli, &lab) {
        let last = requests.last().unwrap()["messages"].to_string();
        assert!(last.contains("Use another name"), "{last}");
    }
    lab.close().await?;
    Ok(())
}
