//! A hook that puts a tool off.

use serde_json::Value;

use super::{Fact, Outcome, Trial};
use crate::experiment::turn::{callbacks, decides, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::Reply;

pub(super) const SCRIPT: &str = r#"
[[answer]]
when = { text = "Write one" }
tool = { name = "Write", input = { file_path = "${cwd}/one.txt", content = "1\n" } }

[[answer]]
when = { text = "Write two" }
tools = [
  { name = "Write", input = { file_path = "${cwd}/one.txt", content = "1\n" } },
  { name = "Write", input = { file_path = "${cwd}/two.txt", content = "2\n" } },
]

[[answer]]
when = { text = "Go on" }
text = "Something is missing."
"#;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("one call: stop_reason", "tool_deferred"),
    Fact::always("one call: the result names", "the call"),
    Fact::always("one call: a message instead of a resume: the model is told", "yes")
        .of_the_model(),
    Fact::always("two calls: stop_reason", "tool_deferred"),
    Fact::always("two calls: the result names", "the last call"),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(callbacks(&["PreToolUse"])).await?;
    let put_off = |_: &Value| Reply::Success(decides("defer"));
    for (case, text) in [("one call", "Write one."), ("two calls", "Write two.")] {
        let turn = turn(&mut cli, text, put_off).await?;
        trial.found(&format!("{case}: stop_reason"), turn.result["stop_reason"].clone());
        let calls: Vec<_> = turn.asked.iter().map(|ask| &ask["request"]["tool_use_id"]).collect();
        let named = &turn.result["deferred_tool_use"];
        let whole = named["name"] == "Write" && named["input"].is_object();
        let place = calls.iter().position(|call| *call == &named["id"]).filter(|_| whole);
        let place = match (place.map(|place| place + 1), calls.len()) {
            (Some(1), 1) => "the call",
            (Some(place), all) if place == all => "the last call",
            (Some(_), _) => "another call",
            (None, _) => "none",
        };
        trial.found(&format!("{case}: the result names"), place);
        if case == "one call" {
            cli.say("Go on.").await?;
            cli.result().await?;
            let requests = trial.lab().model().model_requests();
            let told = requests.iter().any(|request| {
                let text = request.body["messages"].to_string();
                text.contains("[Tool result missing due to internal error]")
            });
            trial.found(
                "one call: a message instead of a resume: the model is told",
                yes_or_no(told),
            );
        }
    }
    cli.close().await?;
    Ok(())
}
