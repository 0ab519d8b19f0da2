//! Messages that come while a turn runs.

use serde_json::{Value, json};

use super::super::look::{from_cli, in_short};
use super::super::puppet::read_so_far;
use super::super::{Fact, Outcome, Trial, TrialError, V62, V197, V325};
use super::{begun, in_parts, interrupt};
use crate::driver::{Cli, user};
use crate::script::RequestKind;
use crate::talk::{ONE, THREE, TWO, message};

pub(super) const FACTS: &[Fact] = &[
    Fact::by_version("turns of two messages that wait", &[(V62, "2"), (V197, "1")]),
    Fact::by_version("the model reads of both", &[(V62, "apart"), (V197, "two\nthree")])
        .of_the_model(),
    Fact::always("lifecycle of a message that waits", "queued, started, completed").since(V325),
    Fact::always("lifecycle of an interrupted message", "queued, started, cancelled").since(V325),
    Fact::always("messages that the result names", "2").since(V325),
    Fact::always("turns of a message that comes while a tool waits", "0"),
    Fact::always("cancel_async_message", r#"{"cancelled":true}"#).since(V197),
    Fact::always("turns after cancel_async_message", "0").since(V197),
    Fact::always("turns after cancel_queued", "0").since(V325),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(in_parts()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    merged(trial, &mut cli).await?;
    while_a_tool_waits(trial, &mut cli).await?;
    if trial.version() >= V197 {
        begun(&mut cli, &user("Go on once more.")).await?;
        cli.send(&message("four", FOUR)).await?;
        let cancel = json!({"subtype": "cancel_async_message", "message_uuid": FOUR});
        let answer = cli.request(cancel).await?;
        trial.found("cancel_async_message", in_short(&answer));
        let turns = turns_after(&mut cli, interrupt()).await?;
        trial.found("turns after cancel_async_message", turns);
    }
    if trial.version() >= V325 {
        begun(&mut cli, &user("Go on a third time.")).await?;
        cli.send(&message("five", FIVE)).await?;
        read_so_far(&mut cli).await?;
        let drops = json!({"subtype": "interrupt", "cancel_queued": true});
        let turns = turns_after(&mut cli, drops).await?;
        trial.found("turns after cancel_queued", turns);
    }
    cli.close().await?;
    Ok(())
}

const FOUR: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f04";
const FIVE: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f05";

/// Ends a turn by this request, and counts the turns until the one of a last message.
async fn turns_after(cli: &mut Cli, request: Value) -> Result<usize, TrialError> {
    let id = cli.post(request).await?;
    cli.answer_to(&id).await?;
    cli.result().await?;
    turns_before_the_last(cli).await
}

/// Counts the turns that come before that of a last message.
async fn turns_before_the_last(cli: &mut Cli) -> Result<usize, TrialError> {
    cli.say("Last.").await?;
    let mut turns = 0;
    while cli.result().await?["result"] != "the last" {
        turns += 1;
    }
    Ok(turns)
}

/// Two messages wait for the end of a turn.
async fn merged(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    begun(cli, &message("Go on for ever.", ONE)).await?;
    cli.send(&message("two", TWO)).await?;
    cli.send(&message("three", THREE)).await?;
    read_so_far(cli).await?;
    cli.request(interrupt()).await?;
    cli.result().await?;
    // The first of their turns has ended before another message is sent, which would join them.
    let first = cli.result().await?;
    let turns = 1 + turns_before_the_last(cli).await?;
    trial.found("turns of two messages that wait", turns);
    let requests = trial.lab().model().model_requests();
    let mut main = requests.iter().filter(|request| request.kind == Some(RequestKind::Main));
    let together = main.any(|request| request.body.to_string().contains(r#""two\nthree""#));
    let read = if together { "two\nthree" } else { "apart" };
    trial.found("the model reads of both", read);

    let log = cli.log();
    for (name, id) in [("a message that waits", TWO), ("an interrupted message", ONE)] {
        let states = from_cli(&log)
            .filter(|frame| frame["type"] == "command_lifecycle" && frame.to_string().contains(id));
        let states: Vec<_> = states.filter_map(|frame| frame["state"].as_str()).collect();
        trial.found(&format!("lifecycle of {name}"), states.join(", "));
    }
    let named = first["user_message_uuids"].as_array().map_or(0, Vec::len);
    trial.found("messages that the result names", named);
    Ok(())
}

async fn while_a_tool_waits(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    cli.say(&format!("write {}/new.txt", trial.lab().work().display())).await?;
    let ask = cli.asked("can_use_tool").await?;
    cli.say("By the way.").await?;
    read_so_far(cli).await?;
    cli.allow(&ask).await?;
    cli.result().await?;
    let turns = turns_before_the_last(cli).await?;
    trial.found("turns of a message that comes while a tool waits", turns);
    Ok(())
}
