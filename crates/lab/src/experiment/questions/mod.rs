//! L: the tools that are about the person, not about the computer.

mod forms;
mod who;

use serde_json::{Value, json};

use super::{Case, Experiment};
use crate::driver::with;

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "L",
    "questions",
    "The model enters plan mode, or asks the person a question. Is the client asked in every mode, \
     and which forms of an answer does the model get to read?",
    &[
        Case::new("forms", SCRIPT, forms::FACTS, |trial| Box::pin(forms::steps(trial))),
        Case::new("bypass", SCRIPT, who::BYPASS, |trial| Box::pin(who::bypass(trial))),
        Case::new("rule-and-hook", SCRIPT, who::RULE_AND_HOOK, |trial| {
            Box::pin(who::rule_and_hook(trial))
        }),
    ],
);

const SCRIPT: &str = r#"
otherwise = "done"

[[answer]]
when = { text = "Think first." }
tool = { name = "EnterPlanMode", input = {} }

[[answer]]
when = { text = "Ask me." }
[answer.tool]
name = "AskUserQuestion"
[answer.tool.input]
questions = [
    { question = "Which color?", header = "Color", multiSelect = false, options = [
        { label = "Red", description = "Warm" }, { label = "Green", description = "Calm" } ] },
    { question = "Which fruits?", header = "Fruits", multiSelect = true, options = [
        { label = "Apple", description = "Round" }, { label = "Plum", description = "Small" } ] },
]
"#;

/// Answers the questions of a request: its input, and these fields besides.
fn answered(request: &Value, fields: &Value) -> Value {
    let mut input = request["input"].clone();
    for (key, value) in fields.as_object().into_iter().flatten() {
        input = with(input, key, value.clone());
    }
    json!({"behavior": "allow", "updatedInput": input})
}

fn green_and_apple() -> Value {
    json!({"answers": {"Which color?": "Green", "Which fruits?": "Apple"}})
}
