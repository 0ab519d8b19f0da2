//! What is to become of a plan?

use libtest_mimic::Trial;
use serde_json::json;

use crate::kit::{Cli, LARGE, Outcome, editor, lab, on_both, on_old, run, run_with, simulated};
use crate::puppet::Stage;

/// The model writes its plan to the file that the CLI names, shows it, and does it.
const PLAN: &str = r##"
[[answer]]
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# The plan\n\n1. Write it.\n" } }

[[answer]]
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
when = { error = true, tool = "ExitPlanMode" }
text = "I read: ${result}"

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "The plan is done."
"##;

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_both("plans::accept_edits", accept_edits),
        simulated("plans::by_hand", by_hand),
        on_both("plans::clear_context", clear_context),
        on_old("plans::clear_context", clear_context),
        simulated("plans::ctrl_c_while_a_new_conversation_begins", given_up),
        simulated("plans::keep_planning", keep_planning),
        simulated("plans::edited", edited),
        simulated("plans::what_is_asked_for_besides", wishes),
        simulated("plans::in_a_turn_that_nobody_asked_for", by_itself),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const ASKED: &str = "Esc keeps planning";

async fn accept_edits(cli: Cli) -> Outcome {
    let lab = lab(cli, PLAN).await;
    let mut pty = run(&lab, LARGE, &["--mode", "plan", "Make a plan."]);
    let asked = pty.see(ASKED);
    assert!(asked.contains("1. Write it."), "{asked}");
    pty.press("2");
    // Nobody is asked for the edit.
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("The plan is done."), "{}", ended.screen);
    assert!(ended.screen.contains(": approved"), "{}", ended.screen);
    assert!(lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

async fn by_hand(cli: Cli) -> Outcome {
    let lab = lab(cli, PLAN).await;
    let mut pty = run(&lab, LARGE, &["--mode", "plan", "Make a plan."]);
    pty.see(ASKED);
    pty.press("3");
    // The edit is asked for.
    pty.see("Esc denies");
    assert!(!lab.work().join("new.txt").exists());
    pty.press("y");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

async fn clear_context(cli: Cli) -> Outcome {
    let script = r##"
        [[answer]]
        tool = { name = "Write", input = { file_path = "${plan_file}", content = "# The plan\n\n1. Write it.\n" } }

        [[answer]]
        tool = { name = "ExitPlanMode", input = {} }

        [[answer]]
        when = { text = "Implement the following plan", first = "Implement the following plan" }
        tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

        [[answer]]
        when = { first = "Implement the following plan", tool = "Write" }
        text = "The plan is done."
    "##;
    let lab = lab(cli, script).await;
    let mut pty = run(&lab, LARGE, &["--mode", "plan", "Make a plan."]);
    pty.see(ASKED);
    pty.press("1");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("a new conversation begins"), "{}", ended.screen);
    assert!(ended.screen.contains("The plan is done."), "{}", ended.screen);
    // Nothing looks like a refusal.
    assert!(ended.screen.contains("The plan: approved, in a new conversation"), "{}", ended.screen);
    for words in ["interrupted", "denied"] {
        assert!(!ended.screen.contains(words), "{}", ended.screen);
    }
    assert!(lab.work().join("new.txt").exists());
    // It is another session.
    let sessions: std::collections::BTreeSet<_> = ended
        .screen
        .split("session ")
        .skip(1)
        .filter_map(|rest| rest.split_whitespace().next())
        .collect();
    assert_eq!(sessions.len(), 2, "{}", ended.screen);
    lab.close().await?;
    Ok(())
}

/// It ends the session, though the CLI that was started for it does not answer.
async fn given_up(_: Cli) -> Outcome {
    let ask = json!({"subtype": "can_use_tool", "tool_name": "ExitPlanMode", "tool_use_id": "t",
        "input": {"plan": "1. Do it."}});
    let stage = Stage::that_asks(ask).starting_once();
    let mut pty = stage.run(LARGE);
    pty.see(ASKED);
    pty.press("1");
    pty.see("a new conversation begins");
    while !stage.has_started_again() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    pty.press("\u{3}");
    let ended = pty.end();
    assert_eq!(ended.code, 130, "{}", ended.screen);
    assert!(ended.is_restored);
    Ok(())
}

async fn keep_planning(cli: Cli) -> Outcome {
    let lab = lab(cli, PLAN).await;
    let mut pty = run(&lab, LARGE, &["--mode", "plan", "Make a plan."]);
    pty.see(ASKED);
    pty.press("n");
    pty.see("What should Claude change?");
    pty.press("Measure first\r");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    let read = ended.screen.split("I read: ").last().unwrap_or_default();
    assert!(read.contains("Measure first"), "{}", ended.screen);
    assert!(!lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

async fn edited(cli: Cli) -> Outcome {
    let lab = lab(cli, PLAN).await;
    let tape = lab.root().join("tape.jsonl");
    let editor = editor(&lab, "# The plan\n\n1. Measure.\n");
    let record = tape.to_string_lossy();
    let arguments = ["--mode", "plan", "Make a plan.", "--record", &record];
    let mut pty = run_with(&lab, LARGE, &arguments, &[("VISUAL", &editor)]);
    pty.see(ASKED);
    pty.press("e");
    let asked = pty.until("the plan as it is now", |screen| {
        screen.contains("(edited by you)") && screen.contains(ASKED)
    });
    assert!(asked.contains("1. Measure."), "{asked}");
    pty.press("2");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("approved, as you edited it"), "{}", ended.screen);
    assert!(std::fs::read_to_string(tape)?.contains("1. Measure."));
    lab.close().await?;
    Ok(())
}

/// It is seen before it is granted, and what became of it is said.
async fn wishes(_: Cli) -> Outcome {
    let prompts: Vec<_> =
        (1..=40).map(|n| json!({"tool": "Bash", "prompt": format!("task {n}.")})).collect();
    let ask = json!({"subtype": "can_use_tool", "tool_name": "ExitPlanMode", "tool_use_id": "t",
        "input": {"plan": "1. Do it.", "allowedPrompts": prompts}});
    for (choice, words) in [("2", "is granted"), ("1", "is not granted there")] {
        let stage = Stage::that_asks(ask.clone());
        let mut pty = stage.run(LARGE);
        let asked = pty.see(ASKED);
        assert!(asked.contains("40 things above that it asks for: not granted"), "{asked}");
        pty.press("g");
        pty.see("granted, but not for a new conversation");
        pty.press(choice);
        if choice == "1" {
            // The same is asked in the new conversation, at once and at length.
            pty.see_go_by("a new conversation begins");
            pty.press("\u{3}\u{3}");
        }
        let ended = pty.end();
        assert!(ended.screen.contains("Bash: task 1.\n"), "{}", ended.screen);
        let words = format!("what it asked for {words}");
        assert!(ended.screen.contains(&words), "{}", ended.screen);
    }
    Ok(())
}

/// What was approved is carried out, whoever began the turn.
async fn by_itself(_: Cli) -> Outcome {
    let ask = json!({"subtype": "can_use_tool", "tool_name": "ExitPlanMode", "tool_use_id": "t",
        "input": {"plan": "1. Do it."}});
    let stage = Stage::that_asks(ask).by_itself();
    let mut pty = stage.run(LARGE);
    pty.see("Enter sends");
    stage.go_on();
    pty.see(ASKED);
    pty.press("1");
    pty.until("the plan is carried out", |screen| {
        screen.contains("I carry it out.") && screen.contains("Enter sends")
    });
    pty.press("\u{4}");
    assert_eq!(pty.end().code, 0);
    Ok(())
}
