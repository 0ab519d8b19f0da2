//! What a hook can answer, and what comes of it.

use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V62, V197};
use crate::experiment::turn::{callbacks, decides, name, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::Reply;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("deny", "not asked, refused"),
    Fact::by_version("deny is listed in permission_denials", &[(V62, "no"), (V197, "yes")]),
    Fact::always("block", "not asked, refused"),
    Fact::by_version("block is listed in permission_denials", &[(V62, "no"), (V197, "yes")]),
    Fact::always("allow", "not asked, ran"),
    Fact::always("ask", "asked, ran"),
    Fact::always("no decision", "asked, ran"),
    Fact::always("an error", "asked, ran"),
    Fact::always("an answer that is none", "asked, ran"),
    Fact::always("async", "asked, ran"),
    Fact::always("updatedInput with allow", "not asked, ran, with the new input"),
    Fact::always("updatedInput without a decision", "asked, ran, with the new input"),
    Fact::always("a deny rule", "not asked, refused"),
    Fact::by_version(
        "allow against a deny rule",
        &[(V62, "not asked, ran"), (V197, "not asked, refused")],
    ),
    Fact::always("continue false", "asked, ran, and the turn ends"),
];

/// The answers to the hook, by the name of the finding.
fn answers() -> [(&'static str, Reply); 9] {
    let no_decision = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse"}});
    [
        ("deny", Reply::Success(decides("deny"))),
        ("block", Reply::Success(json!({"decision": "block", "reason": "The hook says so."}))),
        ("allow", Reply::Success(decides("allow"))),
        ("ask", Reply::Success(decides("ask"))),
        ("no decision", Reply::Success(no_decision)),
        ("an error", Reply::Error("The hook is broken.")),
        ("an answer that is none", Reply::Success(decides("perhaps"))),
        ("async", Reply::Success(json!({"async": true}))),
        ("continue false", Reply::Success(json!({"continue": false, "stopReason": "Enough."}))),
    ]
}

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let settings = json!({"permissions": {"deny": ["Bash(touch forbidden.txt)"]}});
    let launch = Launch::new().arg("--settings").arg(settings.to_string());
    let mut cli = trial.launch(launch).await?;
    cli.initialize(callbacks(&["PreToolUse"])).await?;
    for (finding, answer) in answers() {
        let mut answer = Some(answer);
        let text = format!("write {}.txt", finding.replace(' ', "-"));
        let turn = turn(&mut cli, &text, |ask| match name(ask).as_str() {
            "can_use_tool" => Reply::allow(ask),
            _ => answer.take().unwrap_or(Reply::Nothing),
        });
        let turn = turn.await?;
        let goes_on = turn.result["result"] == "That was it.";
        let end = if goes_on { "" } else { ", and the turn ends" };
        trial.found(finding, format!("{}{end}", turn.tool()));
        if ["deny", "block"].contains(&finding) {
            let denials = turn.result["permission_denials"].as_array();
            let listed = denials.is_some_and(|denials| !denials.is_empty());
            trial.found(&format!("{finding} is listed in permission_denials"), yes_or_no(listed));
        }
    }
    for (finding, decision) in
        [("updatedInput with allow", Some("allow")), ("updatedInput without a decision", None)]
    {
        let place = trial.lab().work().join(format!("{}.new", finding.replace(' ', "-")));
        let input = json!({"file_path": place, "content": "changed\n"});
        let mut answer = json!({"hookEventName": "PreToolUse", "updatedInput": input});
        if let Some(decision) = decision {
            answer = crate::driver::with(answer, "permissionDecision", decision);
        }
        let answer = json!({ "hookSpecificOutput": answer });
        let turn = turn(&mut cli, "write old.txt", decided(&answer)).await?;
        let new = place.exists() && !trial.lab().work().join("old.txt").exists();
        let input = if new { "new" } else { "old" };
        trial.found(finding, format!("{}, with the {input} input", turn.tool()));
    }
    for (finding, answer) in
        [("a deny rule", json!({})), ("allow against a deny rule", decides("allow"))]
    {
        let turn = turn(&mut cli, "touch forbidden.txt", decided(&answer)).await?;
        trial.found(finding, turn.tool());
    }
    cli.close().await?;
    Ok(())
}

/// A client whose hook answers so, and who allows what is asked.
fn decided(answer: &Value) -> impl FnMut(&Value) -> Reply {
    move |ask| match name(ask).as_str() {
        "can_use_tool" => Reply::allow(ask),
        _ => Reply::Success(answer.clone()),
    }
}

pub(super) const TURN_FACTS: &[Fact] = &[
    Fact::always("UserPromptSubmit blocks: the model speaks", "no"),
    Fact::always("UserPromptSubmit blocks: the model is asked", "no").of_the_model(),
    Fact::always("Stop blocks: the model says", "Something. More."),
];

/// Hooks of the turn itself.
pub(super) async fn turns(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(callbacks(&["UserPromptSubmit", "Stop"])).await?;
    let block = |reason: &str| Reply::Success(json!({"decision": "block", "reason": reason}));
    let blocked = turn(&mut cli, "Say something.", |ask| match name(ask).as_str() {
        "UserPromptSubmit" => block("Not this."),
        _ => Reply::Success(json!({})),
    });
    let blocked = blocked.await?;
    trial.found(
        "UserPromptSubmit blocks: the model speaks",
        yes_or_no(!said(&blocked.frames).is_empty()),
    );
    let asked = !trial.lab().model().model_requests().is_empty();
    trial.found("UserPromptSubmit blocks: the model is asked", yes_or_no(asked));
    let mut stops = 0;
    let goes_on = turn(&mut cli, "Say something.", |ask| {
        stops += u32::from(name(ask) == "Stop");
        match (name(ask).as_str(), stops) {
            ("Stop", 1) => block("The hook wants more."),
            _ => Reply::Success(json!({})),
        }
    });
    let goes_on = goes_on.await?;
    trial.found("Stop blocks: the model says", said(&goes_on.frames));
    cli.close().await?;
    Ok(())
}

/// What the model said in these frames.
fn said(frames: &[Value]) -> String {
    let spoken = frames.iter().filter(|frame| frame["type"] == "assistant");
    let blocks = spoken.filter_map(|frame| frame["message"]["content"].as_array()).flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join(" ")
}
