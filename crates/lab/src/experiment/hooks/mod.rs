//! O: hooks that call the client.

mod answers;
mod defer;
mod failures;
mod gate;
mod order;

use super::{Case, Experiment, Fact, Outcome, Trial, V62, V197, V325};

/// The model writes the file that it is told to write, or touches it with a command.
const FILES: &str = r#"
[[answer]]
when = { text = '/write ([\w-]+\.txt)/' }
tool = { name = "Write", input = { file_path = "${cwd}/${match.1}", content = "new\n" } }

[[answer]]
when = { text = '/touch ([\w-]+\.txt)/' }
tool = { name = "Bash", input = { command = "touch ${match.1}", description = "Touch a file" } }

[[answer]]
when = { tool = "Write" }
text = "That was it."

[[answer]]
when = { tool = "Bash" }
text = "That was it."

[[answer]]
when = { text = "The hook wants more" }
text = "More."

[[answer]]
when = { text = "Say something" }
text = "Something."
"#;

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "O",
    "hooks",
    "A client registers hooks. In what order are they called, what can each answer bring about, \
     what happens when the answer fails, and is there any way around them?",
    &[
        Case::new("order", FILES, order::FACTS, |trial| Box::pin(order::steps(trial))),
        Case::new("answers", FILES, answers::FACTS, |trial| Box::pin(answers::steps(trial))),
        Case::new("failures", FILES, failures::FACTS, |trial| Box::pin(failures::steps(trial))),
        Case::new("turns", FILES, answers::TURN_FACTS, |trial| Box::pin(answers::turns(trial))),
        Case::new("modes", FILES, gate::MODE_FACTS, |trial| Box::pin(gate::modes(trial))),
        Case::new("agents", gate::AGENTS, gate::AGENT_FACTS, |trial| Box::pin(gate::agents(trial))),
        Case::new("defer", defer::SCRIPT, defer::FACTS, |trial| Box::pin(defer::steps(trial)))
            .since(V197),
    ],
);
