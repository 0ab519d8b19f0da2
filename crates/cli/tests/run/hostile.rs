//! Text that is meant for the terminal and not for the person.

use libtest_mimic::Trial;

use crate::kit::{Cli, LARGE, Outcome, lab, run, simulated};

/// Sets the title of the window, asks the terminal to answer, and moves the cursor; in the text, the
/// input, the name of the file, a question and a plan.
const HOSTILE: &str = r#"
[[answer]]
thinking = "T\u001b]0;owned\u0007"
text = "A\u001b]0;owned\u0007B\u001b[6nC\u009b2JD\r\u202eE"
tool = { name = "Write", input = { file_path = "${cwd}/a\u001b[2Jb.txt", content = "x\u001b]0;owned\u0007\ny\n" } }

[[answer]]
tool = { name = "Bash", input = { command = "ls \u001b]0;owned\u0007", description = "D\u001b[6n" }, result = "R\u001b]0;owned\u0007" }

[[answer]]
tool = { name = "AskUserQuestion", input_json = '''{"questions": [{"question": "Q\u001b]0;owned\u0007?", "header": "H\u001b[6n", "multiSelect": false, "options": [{"label": "A\u001b]0;owned\u0007", "description": "a\u001b[6n"}, {"label": "B", "description": "b"}]}]}''' }

[[answer]]
text = "The end: ${result}"
"#;

pub(crate) fn trials() -> Vec<Trial> {
    simulated("hostile::nothing_reaches_the_terminal", hostile)
}

async fn hostile(cli: Cli) -> Outcome {
    let lab = lab(cli, HOSTILE).await;
    let mut pty = run(&lab, LARGE, &["Be\u{1b}]0;owned\u{7} hostile."]);
    let asked = pty.see("Esc denies");
    assert!(asked.contains("\\u{1b}]0;owned\\u{7}"), "{asked}");
    pty.press("y");
    pty.until("the command", |screen| {
        screen.contains("ls \\u{1b}]0;owned")
            && screen.contains("D\\u{1b}[6n")
            && screen.contains("Esc denies")
    });
    pty.press("y");
    pty.until("the question", |screen| {
        screen.contains("H\\u{1b}[6n") && screen.contains("Esc answers nothing")
    });
    pty.press("1");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    // Nothing but colours, cursor movements and modes of our own has reached the terminal.
    let bytes = String::from_utf8(ended.bytes)?;
    for control in ["\u{1b}]", "\u{7}", "\u{1b}[6n", "\u{9b}", "\u{202e}", "\u{1b}[2J"] {
        assert!(!bytes.contains(control), "{control:?} is in what was written");
    }
    lab.close().await?;
    Ok(())
}
