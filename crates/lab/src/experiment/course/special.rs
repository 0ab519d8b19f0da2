//! Messages that are commands of the CLI, and messages with pictures.

use serde_json::{Value, json};

use super::super::puppet::{Turn, deny, turn};
use super::super::{Fact, Outcome, Trial, V62, V197, V325};
use crate::driver::Cli;
use crate::lab::Launch;
use crate::script::RequestKind;

const TOLD_BY: &[(crate::Version, &str)] = &[(V62, "user"), (V197, "assistant")];

pub(super) const FACTS: &[Fact] = &[
    Fact::by_version("/cost is told by", TOLD_BY),
    Fact::always("/cost: turns", "0").since(V197),
    Fact::by_version("/context is told by", TOLD_BY),
    Fact::always("/context: turns", "0").since(V197),
    Fact::always("/usage is told by", "assistant").since(V197),
    Fact::always("/usage: turns", "0").since(V197),
    Fact::always("/compact says", "status compacting, compact_boundary, summary, result"),
    Fact::always("/compact: turns", "0").since(V197),
    Fact::by_version(
        "an unknown command",
        &[(V62, "Unknown skill"), (V197, "Unknown command"), (V325, "a prompt")],
    ),
    Fact::by_version("/clear: session", &[(V62, "the same"), (V197, "another")]),
    Fact::by_version("/clear: conversation_reset before init", &[(V62, "false"), (V325, "true")]),
    Fact::always("requests of the commands to the model", "0").of_the_model(),
    Fact::always("a picture: result", "success"),
    Fact::always("a picture reaches the model", "as it was sent").of_the_model(),
    Fact::always("a broken picture: result", "success"),
    Fact::always("a broken picture reaches the model", "as it was sent").of_the_model(),
];

/// One red dot.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// No picture: the words `not a picture`.
const BROKEN: &str = "bm90IGEgcGljdHVyZQ==";

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    pictures(trial, &mut cli).await?;
    let before = requests(trial).len();
    let usage = (trial.version() >= V197).then_some("/usage");
    for command in ["/cost", "/context"].into_iter().chain(usage) {
        let turn = turn(&mut cli, command, deny).await?;
        trial.found(&format!("{command} is told by"), told_by(&turn));
        trial.found(&format!("{command}: turns"), turn.result["num_turns"].clone());
    }
    trial.found("requests of the commands to the model", requests(trial).len() - before);

    let compact = turn(&mut cli, "/compact", deny).await?;
    let says: Vec<_> = compact.frames().filter_map(step_of_compacting).collect();
    trial.found("/compact says", says.join(", "));
    trial.found("/compact: turns", compact.result["num_turns"].clone());

    let unknown = turn(&mut cli, "/no-such-command", deny).await?;
    let unknown = match unknown.result["result"].as_str().unwrap_or_default() {
        "heard" => "a prompt",
        text if text.starts_with("Unknown skill") => "Unknown skill",
        text if text.starts_with("Unknown command") => "Unknown command",
        _ => "something else",
    };
    trial.found("an unknown command", unknown);

    let clear = turn(&mut cli, "/clear", deny).await?;
    let init = |frame: &Value| frame["subtype"] == "init";
    let session = clear.frames().find(|frame| init(frame)).map(|frame| frame["session_id"].clone());
    let same = session.as_ref() == Some(&compact.result["session_id"]);
    trial.found("/clear: session", if same { "the same" } else { "another" });
    let mut before = clear.frames().take_while(|frame| !init(frame));
    let reset = before.any(|frame| frame["type"] == "conversation_reset");
    trial.found("/clear: conversation_reset before init", reset);
    cli.close().await?;
    Ok(())
}

/// Who tells what a command says: the assistant, or the user as the output of a command.
fn told_by(turn: &Turn) -> &'static str {
    let is_output = |frame: &&Value| {
        frame["type"] == "user"
            && frame["message"]["content"]
                .as_str()
                .is_some_and(|text| text.starts_with("<local-command-stdout>"))
    };
    if turn.frames().any(|frame| frame["type"] == "assistant") {
        "assistant"
    } else if turn.frames().any(|frame| is_output(&frame)) {
        "user"
    } else {
        "nobody"
    }
}

fn step_of_compacting(frame: &Value) -> Option<&'static str> {
    let text = frame["message"]["content"].as_str().unwrap_or_default();
    match (frame["type"].as_str()?, frame["subtype"].as_str().unwrap_or_default()) {
        ("system", "status") if frame["status"] == "compacting" => Some("status compacting"),
        ("system", "compact_boundary") => Some("compact_boundary"),
        ("user", _) if text.starts_with("This session is being continued") => Some("summary"),
        ("result", _) => Some("result"),
        _ => None,
    }
}

/// The bodies of the requests of the main conversation.
fn requests(trial: &Trial) -> Vec<Value> {
    let requests = trial.lab().model().model_requests();
    let main = requests.iter().filter(|request| request.kind == Some(RequestKind::Main));
    main.map(|request| request.body.clone()).collect()
}

async fn pictures(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    for (name, data) in [("a picture", PICTURE), ("a broken picture", BROKEN)] {
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        let content =
            json!([{"type": "text", "text": "Look."}, {"type": "image", "source": source}]);
        let message = json!({"role": "user", "content": content});
        let frame = json!({"type": "user", "message": message, "parent_tool_use_id": null});
        cli.send(&frame).await?;
        let result = cli.result().await?;
        trial.found(&format!("{name}: result"), result["subtype"].clone());
        let last = requests(trial).pop().unwrap_or_default();
        let mut blocks = last["messages"].as_array().into_iter().flatten().flat_map(|message| {
            message["content"].as_array().into_iter().flatten().cloned().collect::<Vec<_>>()
        });
        let same = blocks.any(|block| block["type"] == "image" && block["source"] == source);
        let says = if same { "as it was sent" } else { "changed, or not at all" };
        trial.found(&format!("{name} reaches the model"), says);
    }
    Ok(())
}
