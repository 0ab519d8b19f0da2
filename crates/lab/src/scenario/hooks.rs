//! Hooks: the client is called before and after, and may decide.

use serde_json::{Value, json};

use super::{Outcome, Reply, Scenario, ScenarioError, ensure, is_result, serve};
use crate::Version;
use crate::driver::Cli;
use crate::lab::{Lab, Launch};
use crate::talk::WRITE;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "hooks-in-order",
        "Hooks are called in their order, around the permission request.",
        WRITE,
        |lab| Box::pin(in_order(lab)),
    ),
    Scenario::new("hook-deny", "A hook refuses a tool; nobody is asked.", WRITE, |lab| {
        Box::pin(decides(lab, "deny", 0, false))
    }),
    Scenario::new("hook-allow", "A hook allows a tool; nobody is asked.", WRITE, |lab| {
        Box::pin(decides(lab, "allow", 0, true))
    }),
    Scenario::new("hook-ask", "A hook has the person asked.", WRITE, |lab| {
        Box::pin(decides(lab, "ask", 1, true))
    }),
    Scenario::new(
        "hook-ask-in-bypass",
        "A hook has the person asked even in the mode that asks for nothing.",
        WRITE,
        |lab| Box::pin(asks_in_bypass(lab)),
    )
    .since(Version::new(2, 1, 197)),
];

/// Registers callbacks for these events, each with its own name as the id.
async fn started(lab: &Lab, launch: Launch, events: &[&str]) -> Result<Cli, ScenarioError> {
    let mut cli = lab.launch(launch).await?;
    let hooks: Value = events
        .iter()
        .map(|&event| (event.to_owned(), json!([{"hookCallbackIds": [event]}])))
        .collect::<serde_json::Map<_, _>>()
        .into();
    cli.initialize(json!({ "hooks": hooks })).await?;
    cli.say("Write it.").await?;
    Ok(cli)
}

async fn in_order(lab: &Lab) -> Outcome {
    let events = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
    let mut cli = started(lab, Launch::new(), &events).await?;
    let mut order = Vec::new();
    let reply = |ask: &Value| {
        let request = &ask["request"];
        if request["subtype"] == "can_use_tool" {
            order.push("can_use_tool".to_owned());
            return Reply::Success(json!({"behavior": "allow", "updatedInput": request["input"]}));
        }
        order.push(request["callback_id"].as_str().unwrap_or_default().to_owned());
        Reply::Success(json!({}))
    };
    serve(&mut cli, "a result", is_result, reply).await?;
    let expected = ["UserPromptSubmit", "PreToolUse", "can_use_tool", "PostToolUse", "Stop"];
    ensure(order == expected, "the order is that of the turn", &json!(order))?;
    Ok(vec![cli.close().await?])
}

fn decision(decision: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": "The hook says so.",
    }})
}

async fn decided(cli: &mut Cli, what: &str) -> Result<(usize, Value), ScenarioError> {
    let mut asked = 0;
    let reply = |ask: &Value| {
        let request = &ask["request"];
        if request["subtype"] == "can_use_tool" {
            asked += 1;
            return Reply::Success(json!({"behavior": "allow", "updatedInput": request["input"]}));
        }
        Reply::Success(decision(what))
    };
    let result = serve(cli, "a result", is_result, reply).await?;
    Ok((asked, result))
}

async fn decides(lab: &Lab, what: &str, asks: usize, runs: bool) -> Outcome {
    let mut cli = started(lab, Launch::new(), &["PreToolUse"]).await?;
    let (asked, result) = decided(&mut cli, what).await?;
    ensure(asked == asks, "the person is asked as the hook says", &json!(asked))?;
    ensure(lab.work().join("new.txt").exists() == runs, "the tool runs as it says", &result)?;
    Ok(vec![cli.close().await?])
}

async fn asks_in_bypass(lab: &Lab) -> Outcome {
    let launch = Launch::new().mode("bypassPermissions");
    let mut cli = started(lab, launch, &["PreToolUse"]).await?;
    let (asked, _) = decided(&mut cli, "ask").await?;
    ensure(asked == 1, "the person is asked", &json!(asked))?;
    Ok(vec![cli.close().await?])
}
