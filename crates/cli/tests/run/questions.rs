//! Questions of the model.

use libtest_mimic::Trial;
use serde_json::json;

use crate::kit::{Cli, LARGE, Outcome, USUAL, lab, on_both, run, simulated};
use crate::puppet::Stage;

const QUESTIONS: &str = r#"
[[answer]]
[answer.tool]
name = "AskUserQuestion"
input_json = '''{"questions": [
    {"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Red", "description": "Warm"}, {"label": "Green", "description": "Calm"}]},
    {"question": "Which fruits?", "header": "Fruits", "multiSelect": true, "options": [
        {"label": "Apple", "description": "Round"}, {"label": "Plum", "description": "Small"}]}
]}'''

[[answer]]
text = "I read: ${result}"
"#;

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_both("questions::several_and_words_of_ones_own", several),
        simulated("questions::all_are_skipped", skipped),
        simulated("questions::a_form_of_an_mcp_server", form),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn several(cli: Cli) -> Outcome {
    let lab = lab(cli, QUESTIONS).await;
    let mut pty = run(&lab, LARGE, &["Ask me."]);
    let asked = pty.see("Esc answers nothing");
    assert!(asked.contains("Which colour?"), "{asked}");
    assert!(asked.contains("question 1 of 2") && asked.contains("Calm"), "{asked}");
    // Down to the second.
    pty.press("\u{1b}[B\r");
    pty.see("question 2 of 2");
    pty.press(" ");
    pty.see("[✓] Apple");
    pty.press("o");
    pty.see("Enter answers with this");
    pty.press("ripe figs\r");
    pty.see("ripe figs");
    pty.press("\r");
    let ended = pty.end();
    let screen = &ended.screen;
    assert_eq!(ended.code, 0, "{screen}");
    let read = screen.split("I read: ").last().unwrap_or_default();
    let read = read.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(read.contains(r#""Which colour?"="Green""#), "{screen}");
    assert!(read.contains(r#""Which fruits?"="Apple, ripe figs""#), "{screen}");
    lab.close().await?;
    Ok(())
}

async fn skipped(cli: Cli) -> Outcome {
    let lab = lab(cli, QUESTIONS).await;
    let mut pty = run(&lab, USUAL, &["Ask me."]);
    pty.see("Esc answers nothing");
    pty.press("\u{1b}");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("(skipped) / (skipped)"), "{}", ended.screen);
    lab.close().await?;
    Ok(())
}

async fn form(_: Cli) -> Outcome {
    let schema = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "title": "Your name"},
        "tea": {"type": "boolean", "title": "Tea?"},
    }});
    let asks = json!({"subtype": "elicitation", "mcp_server_name": "kitchen",
        "message": "Who is it for?", "mode": "form", "requested_schema": schema});
    let stage = Stage::that_asks(asks);
    let mut pty = stage.run(USUAL);
    let asked = pty.see("Esc declines");
    assert!(
        asked.contains("The MCP server kitchen asks") && asked.contains("Your name"),
        "{asked}"
    );
    pty.press("Ada\r");
    pty.see("Tea?");
    pty.press("2");
    pty.see("Send this");
    pty.press("y");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    let told = ended.screen.replace('\n', "");
    assert!(told.contains(r#""action":"accept""#), "{told}");
    assert!(told.contains(r#"{"name":"Ada","tea":false}"#), "{told}");
    // Declined.
    let mut pty = stage.run(USUAL);
    pty.see("Esc declines");
    pty.press("\u{1b}");
    let ended = pty.end();
    assert!(ended.screen.contains(r#""action":"decline""#), "{}", ended.screen);
    Ok(())
}
