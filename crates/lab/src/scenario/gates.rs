//! Hooks that do more than decide: they add to what the model reads, change what a tool is given,
//! keep the model going, or break.

use serde_json::{Value, json};

use super::{Outcome, Reply, Scenario, ScenarioError, ensure, is_result, serve};
use crate::Version;
use crate::driver::{Cli, with};
use crate::lab::{Lab, Launch};
use crate::talk::{TALK, WRITE};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("hook-changes-input", "A hook allows a tool with another input.", WRITE, |lab| {
        Box::pin(changes_input(lab))
    }),
    Scenario::new("hook-breaks", "A hook that breaks has the person asked.", WRITE, |lab| {
        Box::pin(breaks(lab))
    }),
    Scenario::new(
        "hook-breaks-and-blocks",
        "A hook that must not break refuses the tool when it does.",
        WRITE,
        |lab| Box::pin(breaks_and_blocks(lab)),
    )
    .since(Version::new(2, 1, 325)),
    Scenario::new(
        "hook-permission-request",
        "A hook answers a permission request, which is withdrawn.",
        WRITE,
        |lab| Box::pin(permission_request(lab)),
    ),
    Scenario::new(
        "hook-after-tool",
        "A hook adds something to the result of a tool.",
        WRITE,
        |lab| Box::pin(after_tool(lab)),
    ),
    Scenario::new(
        "hook-prompt-context",
        "A hook adds something to what the user said.",
        TALK,
        |lab| Box::pin(prompt_context(lab)),
    ),
    Scenario::new(
        "hook-prompt-blocked",
        "A hook keeps what the user said from the model.",
        TALK,
        |lab| Box::pin(prompt_blocked(lab)),
    ),
    Scenario::new("hook-stop-once", "A hook keeps the model going, once.", TALK, |lab| {
        Box::pin(stop_once(lab))
    }),
    Scenario::new("hook-ends-turn", "A hook ends the turn after a tool.", WRITE, |lab| {
        Box::pin(ends_turn(lab))
    }),
];

/// Registers one callback for an event, and says something.
async fn started(lab: &Lab, event: &str, extra: Value) -> Result<Cli, ScenarioError> {
    let mut cli = lab.launch(Launch::new()).await?;
    let mut entry = json!({"hookCallbackIds": ["hook"]});
    for (key, value) in extra.as_object().into_iter().flatten() {
        entry = with(entry, key, value.clone());
    }
    let hooks = with(json!({}), event, json!([entry]));
    cli.initialize(json!({ "hooks": hooks })).await?;
    cli.say("Go on.").await?;
    Ok(cli)
}

/// Answers hooks in this way and allows every tool, until the result. Returns how many tools were
/// asked for, besides.
async fn served(
    cli: &mut Cli,
    mut hook: impl FnMut(&Value) -> Reply + Send,
) -> Result<(usize, Value), ScenarioError> {
    let mut asked = 0;
    let reply = |ask: &Value| {
        let request = &ask["request"];
        if request["subtype"] == "can_use_tool" {
            asked += 1;
            return Reply::Success(json!({"behavior": "allow", "updatedInput": request["input"]}));
        }
        hook(&request["input"])
    };
    let result = serve(cli, "a result", is_result, reply).await?;
    Ok((asked, result))
}

async fn changes_input(lab: &Lab) -> Outcome {
    let mut cli = started(lab, "PreToolUse", json!({})).await?;
    let hook = |input: &Value| {
        let changed = with(input["tool_input"].clone(), "content", "changed\n");
        Reply::Success(json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": changed,
        }}))
    };
    let (asked, result) = served(&mut cli, hook).await?;
    ensure(asked == 0, "nobody is asked", &json!(asked))?;
    let written = std::fs::read_to_string(lab.work().join("new.txt")).unwrap_or_default();
    ensure(written == "changed\n", "the changed text is written", &result)?;
    Ok(vec![cli.close().await?])
}

async fn breaks(lab: &Lab) -> Outcome {
    let mut cli = started(lab, "PreToolUse", json!({})).await?;
    let (asked, result) = served(&mut cli, |_| Reply::Error("the hook broke")).await?;
    ensure(asked == 1, "the person is asked", &json!(asked))?;
    ensure(lab.work().join("new.txt").exists(), "the file is written", &result)?;
    Ok(vec![cli.close().await?])
}

async fn breaks_and_blocks(lab: &Lab) -> Outcome {
    let mut cli = started(lab, "PreToolUse", json!({"onFailure": "block"})).await?;
    let (asked, result) = served(&mut cli, |_| Reply::Error("the hook broke")).await?;
    ensure(asked == 0, "nobody is asked", &json!(asked))?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is written", &result)?;
    Ok(vec![cli.close().await?])
}

async fn permission_request(lab: &Lab) -> Outcome {
    let mut cli = started(lab, "PermissionRequest", json!({})).await?;
    let mut asked = Vec::new();
    while asked.len() < 2 {
        let asks = |frame: &Value| frame["type"] == "control_request";
        asked.push(cli.wait("both requests", asks).await?);
    }
    for ask in &asked {
        if ask["request"]["subtype"] == "hook_callback" {
            let decision = json!({"behavior": "allow"});
            let output = json!({"hookEventName": "PermissionRequest", "decision": decision});
            cli.answer(ask, json!({"hookSpecificOutput": output})).await?;
        }
    }
    let withdrawn = |frame: &Value| frame["type"] == "control_cancel_request";
    cli.wait("the request to be withdrawn", withdrawn).await?;
    let result = cli.result().await?;
    ensure(lab.work().join("new.txt").exists(), "the file is written", &result)?;
    Ok(vec![cli.close().await?])
}

async fn after_tool(lab: &Lab) -> Outcome {
    let mut cli = started(lab, "PostToolUse", json!({})).await?;
    let hook = |_: &Value| {
        Reply::Success(json!({"hookSpecificOutput": {
            "hookEventName": "PostToolUse", "additionalContext": "Mind the gap.",
        }}))
    };
    let (_, result) = served(&mut cli, hook).await?;
    ensure(result["result"] == "That was it.", "the turn goes on", &result)?;
    Ok(vec![cli.close().await?])
}

async fn prompt_context(lab: &Lab) -> Outcome {
    let mut cli = started(lab, "UserPromptSubmit", json!({})).await?;
    let hook = |_: &Value| {
        Reply::Success(json!({"hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit", "additionalContext": "It is Monday.",
        }}))
    };
    let (_, result) = served(&mut cli, hook).await?;
    ensure(result["result"] == "First.", "the model answers", &result)?;
    Ok(vec![cli.close().await?])
}

async fn prompt_blocked(lab: &Lab) -> Outcome {
    let mut cli = started(lab, "UserPromptSubmit", json!({})).await?;
    let block = json!({"decision": "block", "reason": "Not on a Monday."});
    let (_, result) = served(&mut cli, |_| Reply::Success(block.clone())).await?;
    ensure(result["result"] != "First.", "the model is not asked", &result)?;
    cli.say("Go on, please.").await?;
    let (_, result) = served(&mut cli, |_| Reply::Success(json!({}))).await?;
    ensure(result["result"] == "First.", "the next message is answered", &result)?;
    Ok(vec![cli.close().await?])
}

async fn stop_once(lab: &Lab) -> Outcome {
    let mut cli = started(lab, "Stop", json!({})).await?;
    let hook = |input: &Value| {
        if input["stop_hook_active"] == true {
            return Reply::Success(json!({}));
        }
        Reply::Success(json!({"decision": "block", "reason": "There is more."}))
    };
    let (_, result) = served(&mut cli, hook).await?;
    ensure(result["result"] == "Second.", "the model speaks once more", &result)?;
    Ok(vec![cli.close().await?])
}

async fn ends_turn(lab: &Lab) -> Outcome {
    let mut cli = started(lab, "PostToolUse", json!({})).await?;
    let end = json!({"continue": false, "stopReason": "That is enough."});
    let (_, result) = served(&mut cli, |_| Reply::Success(end.clone())).await?;
    ensure(result["result"] != "That was it.", "the model is not asked again", &result)?;
    Ok(vec![cli.close().await?])
}
