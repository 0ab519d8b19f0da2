//! Calls of the client's tools, and what is made of the answers.

use serde_json::{Value, json};

use super::server::reply;
use super::{Fact, Outcome, Trial, V62, V197, V325};
use crate::experiment::turn::{Turn, name, results, turn, yes_or_no};
use crate::lab::Launch;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("a call", "asked, ran: 5"),
    Fact::always("it is asked for as", "mcp__calc__add"),
    Fact::always("the call names its id in _meta", "yes"),
    Fact::always("a tool that says it only reads", "asked, ran: 5"),
    Fact::always("input that does not fit the schema", "asked, ran: 5"),
    Fact::always("isError", "asked, refused: the tool is out of fingers"),
    Fact::always("an error of the server", "asked, refused: the server is out of fingers"),
    Fact::always("an error of the client", "asked, refused: the client is out of fingers"),
    Fact::by_version(
        "structuredContent beside a text and an image",
        &[(V62, "the data"), (V197, "the data, the image")],
    ),
    Fact::by_version("a changed list is asked for", &[(V62, "no"), (V325, "yes")]),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"sdkMcpServers": ["calc"]})).await?;
    for (finding, text) in [
        ("a call", "call add"),
        ("a tool that says it only reads", "call hinted"),
        ("input that does not fit the schema", "call add wrongly"),
        ("isError", "call fails"),
        ("an error of the server", "call breaks"),
        ("an error of the client", "call refused"),
    ] {
        let turn = turn(&mut cli, text, reply).await?;
        trial.found(finding, format!("{}: {}", turn.tool(), in_short(&turn)));
        if finding == "a call" {
            let asked = turn.asks().first().map(|ask| ask["request"]["tool_name"].clone());
            trial.found("it is asked for as", asked);
            trial.found("the call names its id in _meta", yes_or_no(names_its_id(&turn)));
        }
    }
    let data = turn(&mut cli, "call data", reply).await?;
    let content = results(&data.frames).last().map(|block| block["content"].to_string());
    let content = content.unwrap_or_default();
    let parts = [("sum", "the data"), ("as a text", "the text"), ("image/png", "the image")];
    let parts = parts.iter().filter(|(mark, _)| content.contains(mark)).map(|(_, part)| *part);
    let parts: Vec<_> = parts.collect();
    trial.found("structuredContent beside a text and an image", parts.join(", "));

    let begin = cli.log().len();
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let notify = json!({"subtype": "mcp_message", "server_name": "calc", "message": changed});
    cli.request(notify).await?;
    // A turn with two more messages of the server: the list would be asked for before.
    turn(&mut cli, "call add", reply).await?;
    turn(&mut cli, "Say something.", reply).await?;
    let log = cli.log();
    let mut after = log.iter().skip(begin).map(|said| &said.frame);
    trial.found(
        "a changed list is asked for",
        yes_or_no(after.any(|ask| name(ask) == "tools/list")),
    );
    cli.close().await?;
    Ok(())
}

/// What the tool gave back, without the words that the CLI puts around it.
fn in_short(turn: &Turn) -> String {
    let blocks = results(&turn.frames);
    let text = blocks.last().map(|block| match &block["content"] {
        Value::String(text) => text.clone(),
        other => other[0]["text"].as_str().unwrap_or_default().to_owned(),
    });
    let text = text.unwrap_or_default();
    let told = ["tool", "server", "client"].map(|who| format!("the {who} is out of fingers"));
    told.into_iter().find(|told| text.contains(told)).unwrap_or(text)
}

/// Whether the call that the server got says which call of the model it is.
fn names_its_id(turn: &Turn) -> bool {
    let call = turn.asked.iter().find(|ask| name(ask) == "tools/call");
    let meta = call.map(|call| &call["request"]["message"]["params"]["_meta"]);
    let asked = turn.asks().first().map(|ask| &ask["request"]["tool_use_id"]);
    meta.zip(asked).is_some_and(|(meta, id)| meta["claudecode/toolUseId"] == *id)
}
