//! M: what happens to a turn while it runs, and what else a message can be.

mod interrupts;
mod processes;
mod queue;
mod several;
mod special;

use serde_json::{Value, json};

use super::{Case, Experiment};
use crate::driver::{Cli, DriverError};
use crate::lab::Launch;

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "M",
    "course-of-a-turn",
    "A turn is interrupted at every stage, messages come while it runs, one message of the model \
     calls several tools, and messages are commands or pictures. What is told, and what runs?",
    &[
        Case::new("interrupts", SCRIPT, interrupts::FACTS, |trial| {
            Box::pin(interrupts::steps(trial))
        }),
        Case::new("processes", SCRIPT, processes::FACTS, |trial| Box::pin(processes::steps(trial))),
        Case::new("several-tools", several::SCRIPT, several::FACTS, |trial| {
            Box::pin(several::steps(trial))
        }),
        Case::new("queue", SCRIPT, queue::FACTS, |trial| Box::pin(queue::steps(trial))),
        Case::new("commands-and-pictures", SCRIPT, special::FACTS, |trial| {
            Box::pin(special::steps(trial))
        }),
    ],
);

/// The model does as it is told. An answer that never ends is given once: a request after it may
/// have the same words in it, because the model has said nothing since.
const SCRIPT: &str = r#"
otherwise = "heard"

[[answer]]
when = { text = "Go on for ever." }
times = 1
text = "I will go on for ever and ever and never stop."
hang = 6

[[answer]]
when = { text = "Go on once more." }
times = 1
text = "I will go on for ever and ever and never stop."
hang = 6

[[answer]]
when = { text = "Go on a third time." }
times = 1
text = "I will go on for ever and ever and never stop."
hang = 6

[[answer]]
when = { text = "Be busy." }
times = 1
error = { status = 529, retry_after = 50 }

[[answer]]
when = { text = "Last." }
text = "the last"

[[answer]]
when = { text = '/(?m)^write (\S+)$/' }
tool = { name = "Write", input = { file_path = "${match.1}", content = "as asked\n" } }

[[answer]]
when = { text = "Watch." }
tool = { name = "Bash", input = { command = "tail -f hello.txt", description = "Watch it", timeout = 600000 }, result = "", takes = "9m" }

[[answer]]
when = { text = "Watch on the side." }
tool = { name = "Bash", input = { command = "tail -F hello.txt", description = "Watch it", run_in_background = true }, result = "", takes = "9m" }
"#;

/// A client that is told the parts of a message as they come, so that it knows when it comes.
fn in_parts() -> Launch {
    Launch::new().arg("--include-partial-messages")
}

/// Has the model begin an answer that does not end, and waits for its beginning.
async fn begun(cli: &mut Cli, message: &Value) -> Result<(), DriverError> {
    cli.send(message).await?;
    cli.wait("a delta", |frame| frame["event"]["type"] == "content_block_delta").await?;
    Ok(())
}

fn interrupt() -> Value {
    json!({"subtype": "interrupt"})
}
