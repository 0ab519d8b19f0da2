//! A conversation: prompts, Ctrl-C, windows, and going on with it.

use libtest_mimic::Trial;
use serde_json::json;

use crate::kit::{
    Cli, LARGE, Outcome, USUAL, WRITE, lab, on_both, run, run_in, run_with, simulated,
};
use crate::puppet;

/// The model says a word, and then nothing more.
const HANGS: &str = r#"
[[answer]]
text = "I begin and never come to an end."
hang = 4

[[answer]]
text = "I am here again."

[[answer]]
text = "And once more."
"#;

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_both("conversation::ctrl_c_interrupts_and_it_goes_on", interrupted),
        simulated("conversation::ctrl_c_in_a_dialog", interrupted_in_a_dialog),
        simulated("conversation::ctrl_c_twice_ends_it", ended),
        on_both("conversation::resume", resumed),
        simulated("conversation::a_message_of_several_lines", lines),
        simulated("conversation::a_long_text_is_pasted", pasted),
        simulated("conversation::commands_of_our_own", commands),
        on_both("conversation::commands_of_the_cli", commands_of_the_cli),
        simulated("conversation::sub_agents_and_retries", agents),
        simulated("conversation::without_colours", colourless),
        simulated("conversation::another_window", resized),
        simulated("conversation::a_signal_ends_it", signalled),
        simulated("conversation::stopped_and_continued", suspended),
        simulated("conversation::the_terminal_is_gone", hung_up),
        simulated("conversation::ctrl_c_in_a_turn_that_nobody_asked_for", interrupted_by_itself),
        simulated("conversation::a_result_that_cannot_be_read", unreadable),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn interrupted(cli: Cli) -> Outcome {
    let lab = lab(cli, HANGS).await;
    let before = lab.processes();
    let mut pty = run(&lab, USUAL, &["-i", "Begin."]);
    pty.see("Ctrl-C interrupts");
    pty.see("I begin");
    pty.press("\u{3}");
    pty.see("interrupted");
    pty.see("Enter sends");
    pty.press("Are you there?\r");
    pty.see("I am here again.");
    pty.see("Enter sends");
    // Ctrl-D on an empty line.
    pty.press("\u{4}");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.is_restored);
    assert_eq!(lab.processes(), before);
    lab.close().await?;
    Ok(())
}

async fn interrupted_in_a_dialog(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run(&lab, USUAL, &["-i", "Write a file."]);
    pty.see("Esc denies");
    pty.press("\u{3}");
    let screen = pty.see("Enter sends");
    assert!(screen.contains("interrupted"), "{screen}");
    assert!(!screen.contains("Do you want to allow this?"), "{screen}");
    assert!(!lab.work().join("new.txt").exists());
    // With nothing running it ends the session.
    pty.press("\u{3}");
    let ended = pty.end();
    assert_eq!(ended.code, 130, "{}", ended.screen);
    lab.close().await?;
    Ok(())
}

async fn ended(cli: Cli) -> Outcome {
    let lab = lab(cli, HANGS).await;
    let before = lab.processes();
    let mut pty = run(&lab, USUAL, &["Begin."]);
    pty.see("I begin");
    pty.press("\u{3}\u{3}");
    let ended = pty.end();
    assert_eq!(ended.code, 130, "{}", ended.screen);
    assert!(ended.is_restored);
    assert_eq!(lab.processes(), before);
    lab.close().await?;
    Ok(())
}

async fn resumed(cli: Cli) -> Outcome {
    let lab = lab(cli, "[[answer]]\ntext = \"First.\"\n\n[[answer]]\ntext = \"Second.\"\n").await;
    let first = run(&lab, LARGE, &["Say it."]).end();
    assert_eq!(first.code, 0, "{}", first.screen);
    let id = first.screen.split("--resume ").nth(1).unwrap().split_whitespace().next().unwrap();
    let second = run(&lab, LARGE, &["--resume", id, "Go on."]).end();
    assert_eq!(second.code, 0, "{}", second.screen);
    assert!(second.screen.contains(id), "{}", second.screen);
    if let Some(requests) = crate::kit::requests(cli, &lab) {
        let last = requests.last().unwrap()["messages"].to_string();
        assert!(last.contains("Say it.") && last.contains("First."), "{last}");
    }
    // One that there is not, by its id and by its title.
    let none = "00000000-0000-4000-8000-000000000000";
    for (id, words) in [(none, "No conversation found"), ("nosuch", "session title")] {
        let third = run(&lab, LARGE, &["--resume", id, "Go on."]).end();
        assert_eq!(third.code, 1, "{}", third.screen);
        assert!(third.screen.contains(words), "{}", third.screen);
        let hint = third.screen.lines().last();
        let expected = "`countersign transcripts list` lists the sessions of this folder.";
        assert_eq!(hint, Some(expected), "{}", third.screen);
    }
    lab.close().await?;
    Ok(())
}

/// Pasted, and typed with Alt-Enter and with a backslash.
async fn lines(cli: Cli) -> Outcome {
    let script = r#"
        [[answer]]
        when = { text = "/one\ntwo\nthree\nfour/" }
        text = "All four."
    "#;
    let lab = lab(cli, &script.replace("\\n", "\\\\n")).await;
    let mut pty = run(&lab, USUAL, &[]);
    pty.see("Enter sends");
    pty.press("\u{1b}[200~one\rtwo\u{1b}[201~");
    pty.see("two");
    pty.press("\u{1b}\rthree\\\rfour");
    let typed = pty.see("four");
    assert!(typed.contains("❯ one\n  two\n  three\n  four"), "{typed}");
    pty.press("\r");
    pty.see("All four.");
    // It comes back.
    pty.see("Enter sends");
    pty.press("\u{1b}[A");
    pty.until("the message", |screen| screen.matches("❯ one").count() == 2);
    // Ctrl-C takes it back, and then ends.
    pty.press("\u{3}");
    pty.until("no message", |screen| screen.matches("❯ one").count() == 1);
    pty.press("\u{3}");
    assert_eq!(pty.end().code, 130);
    lab.close().await?;
    Ok(())
}

/// Much longer than the window, in one piece.
async fn pasted(cli: Cli) -> Outcome {
    let script =
        "[[answer]]\nwhen = { text = \"the last of 500\" }\ntext = \"I have all of it.\"\n";
    let lab = lab(cli, script).await;
    let mut pty = run(&lab, USUAL, &[]);
    pty.see("Enter sends");
    let text: String = (1..=500).map(|number| format!("line {number}\r")).collect();
    pty.press(&format!("\u{1b}[200~{text}the last of 500\u{1b}[201~"));
    let typed = pty.see("the last of 500");
    assert!(typed.contains("line 500") && !typed.contains("I have"), "{typed}");
    pty.press("\r");
    pty.see("I have all of it.");
    pty.see("Enter sends");
    pty.press("\u{4}");
    assert_eq!(pty.end().code, 0);
    lab.close().await?;
    Ok(())
}

async fn commands(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run(&lab, LARGE, &[]);
    pty.see("Enter sends");
    pty.press("/mode accept-edits\r");
    pty.see("the mode is acceptEdits now");
    pty.see("acceptEdits · Enter sends");
    pty.press("/mode bypass-permissions\r");
    pty.see("Cannot set permission mode to bypassPermissions");
    pty.press("/model opus\r");
    pty.see("the model is");
    pty.press("/help\r");
    pty.see("go to Claude Code as they are");
    pty.press("Write a file.\r");
    // Edits are accepted.
    pty.see("I read:");
    pty.see("Enter sends");
    pty.press("/quit\r");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

/// They go there as they are, and what comes of them is shown.
async fn commands_of_the_cli(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run(&lab, LARGE, &[]);
    pty.see("Enter sends");
    pty.press("/context\r");
    pty.until("what the CLI says", |screen| {
        screen.contains("Context Usage")
            && screen.contains("tokens in")
            && screen.contains("Enter sends")
    });
    pty.press("/clear\r");
    pty.until("the end of it", |screen| {
        let cleared = screen.split("/clear").nth(1).unwrap_or_default();
        cleared.contains("tokens in") && cleared.contains("Enter sends")
    });
    pty.press("\u{4}");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    lab.close().await?;
    Ok(())
}

async fn agents(cli: Cli) -> Outcome {
    let script = r#"
        [[answer]]
        error = { status = 529 }

        [[answer]]
        thinking = "Somebody else should look."
        tool = { name = "Agent", input = { description = "Look around", prompt = "Look around here.", subagent_type = "general-purpose" } }

        [[answer]]
        when = { agent = true, tool = "Read" }
        text = "I have looked."

        [[answer]]
        when = { agent = true }
        tool = { name = "Read", input = { file_path = "${cwd}/hello.txt" } }

        [[answer]]
        text = "Somebody looks."

        [[answer]]
        text = "That is all."
    "#;
    let lab = lab(cli, script).await;
    let ended = run(&lab, LARGE, &["Look."]).end();
    let screen = &ended.screen;
    assert_eq!(ended.code, 0, "{screen}");
    assert!(screen.contains("the API failed"), "{screen}");
    assert!(screen.contains("✻ Somebody else should look."), "{screen}");
    assert!(screen.contains("\n  ● Read  hello.txt ✓"), "{screen}");
    assert!(screen.contains("\n● Agent  Look around (general-purpose) ✓"), "{screen}");
    assert!(screen.contains("That is all."), "{screen}");
    lab.close().await?;
    Ok(())
}

/// The cursor still moves, but nothing has a colour.
async fn colourless(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run_with(&lab, USUAL, &["Write a file."], &[("NO_COLOR", "1")]);
    pty.see("Esc denies");
    pty.press("y");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    let bytes = String::from_utf8(ended.bytes)?;
    let styles = bytes.split("\u{1b}[").skip(1).filter(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic());
        end.is_some_and(|end| rest[end..].starts_with('m'))
    });
    assert_eq!(styles.count(), 0, "{bytes:?}");
    assert!(!ended.screen.contains("Do you want to allow this?"), "{}", ended.screen);
    lab.close().await?;
    Ok(())
}

async fn resized(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let mut pty = run(&lab, LARGE, &["Write a file."]);
    pty.until("the dialog below the text", |screen| {
        screen.contains("I will write it.") && screen.contains("Esc denies")
    });
    pty.resize(50, 18);
    let narrow = pty.until("the narrow dialog", |screen| {
        screen.lines().any(|line| line.chars().count() == 49 && line.starts_with('─'))
            && screen.contains("Esc denies")
    });
    assert_eq!(narrow.matches("Do you want to allow this?").count(), 1, "{narrow}");
    assert!(narrow.contains("I will write it."), "{narrow}");
    pty.resize(100, 30);
    let wide = pty.until("the wide dialog", |screen| {
        screen.lines().any(|line| line.chars().count() == 99 && line.starts_with('─'))
            && screen.contains("Esc denies")
    });
    assert_eq!(wide.matches("Do you want to allow this?").count(), 1, "{wide}");
    pty.press("y");
    assert_eq!(pty.end().code, 0);
    lab.close().await?;
    Ok(())
}

async fn signalled(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let before = lab.processes();
    let pty = run(&lab, USUAL, &["Write a file."]);
    pty.see("Esc denies");
    signal(pty.process(), rustix::process::Signal::TERM);
    let ended = pty.end();
    assert_eq!(ended.code, 143, "{}", ended.screen);
    assert!(ended.is_restored);
    assert!(!lab.work().join("new.txt").exists());
    assert_eq!(lab.processes(), before);
    lab.close().await?;
    Ok(())
}

/// Nobody can be shown anything, and nothing is allowed because of it.
async fn hung_up(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let pty = run(&lab, USUAL, &["Write a file."]);
    pty.see("Esc denies");
    signal(pty.process(), rustix::process::Signal::HUP);
    let ended = pty.end();
    assert_eq!(ended.code, 129, "{}", ended.screen);
    assert!(!lab.work().join("new.txt").exists());
    let pty = run(&lab, USUAL, &["Write a file."]);
    pty.see("Esc denies");
    assert_eq!(pty.take_away(), 129);
    assert!(!lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

/// Ctrl-Z gives the terminal back to the shell, and the dialog is there again afterwards.
async fn suspended(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let shell = "set -m; \"$@\"; echo It is stopped.; read word; fg";
    let mut pty = run_in(&lab, USUAL, &["/bin/sh", "-c", shell, "sh"], &["Write a file."]);
    pty.see("Esc denies");
    pty.press("\u{1a}");
    let stopped = pty.see("It is stopped.");
    assert!(!stopped.contains("Do you want to allow this?"), "{stopped}");
    // The shell reads lines again, and shows what is typed.
    pty.press("fg now\r");
    let again = pty.see("Esc denies");
    assert!(again.contains("fg now"), "{again}");
    pty.press("y");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

/// It interrupts that turn, and does not end the session.
async fn interrupted_by_itself(_: Cli) -> Outcome {
    let running = json!({"type": "system", "subtype": "session_state_changed", "state": "running",
        "session_id": "puppet", "uuid": "00000000-0000-4000-8000-000000000003"});
    let begins = json!([running, puppet::text("I begin.")]);
    let stage = puppet::Stage::that_says(begins).by_itself();
    let mut pty = stage.run(USUAL);
    pty.see("Enter sends");
    stage.go_on();
    pty.see("I begin.");
    pty.press("\u{3}");
    pty.until("the end of both turns", |screen| {
        screen.matches("0 ms").count() == 2 && screen.contains("Enter sends")
    });
    pty.press("\u{4}");
    assert_eq!(pty.end().code, 0);
    Ok(())
}

/// The turn is lost, and the conversation goes on.
async fn unreadable(_: Cli) -> Outcome {
    let result = json!([{"type": "result", "subtype": "success", "session_id": 7}]);
    let stage = puppet::Stage::that_says(result);
    let mut pty = stage.run(USUAL);
    pty.see("the result of the turn cannot be read");
    pty.see("Enter sends");
    pty.press("\u{4}");
    assert_eq!(pty.end().code, 0);
    Ok(())
}

fn signal(process: u32, signal: rustix::process::Signal) {
    let process = rustix::process::Pid::from_raw(process.try_into().unwrap()).unwrap();
    rustix::process::kill_process(process, signal).unwrap();
}
