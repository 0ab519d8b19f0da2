//! K: how a plan is approved, changed or sent back.

mod elsewhere;
mod options;
mod order;

use serde_json::{Value, json};

use super::puppet::{Turn, allow, turn};
use super::{Case, Experiment};
use crate::driver::{Cli, DriverError, with};

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "K",
    "leaving-plan-mode",
    "The model shows its plan with ExitPlanMode. What does the request carry, which mode follows each \
     answer, and does a hook or a request beside the answer change that?",
    &[
        Case::new("options", SCRIPT, options::FACTS, |trial| Box::pin(options::steps(trial))),
        Case::new("order", SCRIPT, order::FACTS, |trial| Box::pin(order::steps(trial))),
        Case::new("from-bypass", SCRIPT, elsewhere::FROM_BYPASS, |trial| {
            Box::pin(elsewhere::from_bypass(trial))
        }),
        Case::new("with-a-hook", SCRIPT, elsewhere::WITH_A_HOOK, |trial| {
            Box::pin(elsewhere::with_a_hook(trial))
        }),
    ],
);

/// The model does as it is told. Its second way of leaving has a plan of its own in the input, which
/// is not the one in the file.
const SCRIPT: &str = r##"
otherwise = "done"

[[answer]]
when = { text = '/^write (\S+)$/' }
tool = { name = "Write", input = { file_path = "${match.1}", content = "as asked\n" } }

[[answer]]
when = { text = '/^run (.+)$/' }
tool = { name = "Bash", input = { command = "${match.1}", description = "Run it" }, result = "" }

[[answer]]
when = { text = "Make a plan." }
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Write it.\n" } }

[[answer]]
when = { text = "Enter plan mode." }
tool = { name = "EnterPlanMode", input = {} }

[[answer]]
when = { text = "Show it." }
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
when = { text = "Show it in your words." }
tool = { name = "ExitPlanMode", input = { plan = "Mine.", allowedPrompts = [{ tool = "Bash", prompt = "make folders" }] } }
"##;

/// Enters plan mode, has the plan shown, and answers.
async fn shown(
    cli: &mut Cli,
    text: &str,
    answer: impl FnMut(&Value) -> Value + Send,
) -> Result<Turn, DriverError> {
    set_mode(cli, "plan").await?;
    turn(cli, text, answer).await
}

async fn set_mode(cli: &mut Cli, mode: &str) -> Result<(), DriverError> {
    cli.request(json!({"subtype": "set_permission_mode", "mode": mode})).await?;
    Ok(())
}

/// Allows it, and sets the mode that follows.
fn allow_in(mode: &str) -> impl Fn(&Value) -> Value {
    let update = json!([{"type": "setMode", "mode": mode, "destination": "session"}]);
    move |request| with(allow(request), "updatedPermissions", update.clone())
}
