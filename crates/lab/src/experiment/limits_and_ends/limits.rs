//! Limits that the client sets.

use serde_json::json;

use super::{Fact, Outcome, Trial};
use crate::lab::Launch;

pub(super) const SCRIPT: &str = r#"
[[answer]]
when = { text = "Read it" }
tool = { name = "Read", input = { file_path = "${cwd}/hello.txt" } }

[[answer]]
when = { text = "/Say|And now/" }
text = "Something."
"#;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("--max-turns", "error_max_turns"),
    Fact::always("the next message after --max-turns", "success"),
    Fact::always("exit code after a good result", "0"),
    Fact::always("--max-budget-usd", "error_max_budget_usd"),
    Fact::always("the next message after --max-budget-usd", "error_max_budget_usd"),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    for (flag, limit, text) in
        [("--max-turns", "1", "Read it."), ("--max-budget-usd", "0.0001", "Say something.")]
    {
        let mut cli = trial.launch(Launch::new().arg(flag).arg(limit)).await?;
        cli.initialize(json!({"hooks": null})).await?;
        cli.say(text).await?;
        trial.found(flag, cli.result().await?["subtype"].clone());
        cli.say("And now?").await?;
        let next = cli.result().await?["subtype"].clone();
        trial.found(&format!("the next message after {flag}"), next);
        let code = cli.close().await?.status.code();
        if flag == "--max-turns" {
            trial.found("exit code after a good result", code);
        }
    }
    Ok(())
}
