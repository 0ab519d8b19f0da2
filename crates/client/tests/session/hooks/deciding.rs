//! What a hook decides of a call before it runs.

use std::time::Duration;

use countersign::hook::Hook;
use countersign::permission::{AllowAll, PermissionAsk};
use countersign::protocol::RawJson;
use countersign::protocol::hook::{HookOutput, PreToolUseInput, PreToolUseOutput};
use countersign::protocol::permission::PermissionMode;
use libtest_mimic::Trial;
use serde_json::json;

use super::{bypass, delegating, lab_files_are_missing, one_write};
use crate::asking::{Asked, Noted, say, start};
use crate::kit::{Cli, Outcome, V62, V197, builder, close, lab, on_all};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("hooks::a_gate_sees_every_call_in_every_mode", V62, gate),
        on_all("hooks::a_matcher_chooses", V62, matcher),
        on_all("hooks::a_tool_is_allowed_denied_or_asked_for", V62, decisions),
        on_all("hooks::somebody_is_asked_in_every_mode", V197, asks_in_bypass),
        on_all("hooks::another_input_runs", V62, changed),
        on_all("hooks::a_call_is_put_off", V197, deferred),
        on_all("hooks::one_in_the_background_does_not_decide", V62, background),
        on_all("hooks::a_turn_does_not_go_on", V62, not_on),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn gate(cli: Cli) -> Outcome {
    let modes =
        [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::BypassPermissions];
    for mode in modes {
        let lab = lab(cli, &delegating(cli)).await;
        let seen = Noted::<String>::default();
        let noted = seen.clone();
        let gate = Hook::new(move |input: PreToolUseInput, _| {
            noted.note(input.tool_name.clone());
            async move {
                match &*input.tool_name {
                    "Write" => PreToolUseOutput::deny("nothing is written").into(),
                    _ => HookOutput::no_opinion(),
                }
            }
        });
        let builder = builder(&lab).allow_dangerously_skip_permissions().hook(gate);
        let mut session =
            start(builder.permission_mode(mode.clone()).on_permission(AllowAll)).await?;
        say(&mut session, "Do it all.").await?;
        // The sub-agent may work in the background.
        let seen = seen.count(4).await;
        let agent = if cli.version() < V197 { "Task" } else { "Agent" };
        assert_eq!(seen, ["Read", "Write", agent, "Write"], "{mode}");
        close(session, lab_files_are_missing(lab)).await;
    }
    Ok(())
}

async fn matcher(cli: Cli) -> Outcome {
    let lab = lab(cli, &delegating(cli)).await;
    let seen = Noted::<String>::default();
    let noted = seen.clone();
    let hook = Hook::new(move |input: PreToolUseInput, _| {
        noted.note(input.tool_name);
        async {}
    });
    let builder = bypass(builder(&lab)).hook(hook.matcher("Edit|Write"));
    let mut session = start(builder).await?;
    say(&mut session, "Do it all.").await?;
    assert_eq!(seen.count(2).await, ["Write", "Write"]);
    close(session, lab).await;
    Ok(())
}

async fn decisions(cli: Cli) -> Outcome {
    type Decides = fn() -> HookOutput;
    let decide: [(Decides, usize, bool); 4] = [
        (|| PreToolUseOutput::allow().into(), 0, true),
        (|| PreToolUseOutput::deny("not by the hook").into(), 0, false),
        (|| HookOutput::block("not by the hook"), 0, false),
        (|| PreToolUseOutput::ask("somebody should look").into(), 1, true),
    ];
    for (output, asks, runs) in decide {
        let lab = lab(cli, &one_write("I read: ${result}")).await;
        let asked = Asked::default();
        let hook = Hook::new(move |_: PreToolUseInput, _| async move { output() });
        let handler = asked.answering(PermissionAsk::allow);
        let mut session = start(builder(&lab).hook(hook).on_permission(handler)).await?;
        let outcome = say(&mut session, "Write it.").await?;
        assert_eq!(asked.all().len(), asks);
        assert_eq!(lab.work().join("new.txt").exists(), runs);
        assert_eq!(outcome.answer().contains("not by the hook"), !runs, "{}", outcome.answer());
        close(session, lab).await;
    }
    Ok(())
}

async fn asks_in_bypass(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("Done.")).await;
    let asked = Asked::default();
    let hook = Hook::new(|_: PreToolUseInput, _| async {
        HookOutput::from(PreToolUseOutput::ask("somebody should look"))
    });
    let handler = asked.answering(|ask| ask.deny("no"));
    let mut session = start(bypass(builder(&lab)).hook(hook).on_permission(handler)).await?;
    say(&mut session, "Write it.").await?;
    assert_eq!(asked.tools(), ["Write"]);
    close(session, lab_files_are_missing(lab)).await;
    Ok(())
}

async fn changed(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("Done.")).await;
    let file = lab.work().join("new.txt");
    let input = RawJson::from_value(&json!({"file_path": file, "content": "changed\n"}))?;
    let hook = Hook::new(move |_: PreToolUseInput, _| {
        let output = PreToolUseOutput::allow().with_updated_input(input.clone());
        async move { HookOutput::from(output) }
    });
    let mut session = start(builder(&lab).hook(hook)).await?;
    say(&mut session, "Write it.").await?;
    assert_eq!(std::fs::read_to_string(&file)?, "changed\n");
    close(session, lab).await;
    Ok(())
}

async fn deferred(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("Done.")).await;
    let hook =
        Hook::new(|_: PreToolUseInput, _| async { HookOutput::from(PreToolUseOutput::defer()) });
    let mut session = start(builder(&lab).hook(hook)).await?;
    let outcome = say(&mut session, "Write it.").await?;
    assert_eq!(outcome.deferred().map(|call| &*call.name), Some("Write"));
    close(session, lab_files_are_missing(lab)).await;
    Ok(())
}

async fn background(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("Done.")).await;
    let hook = Hook::new(|_: PreToolUseInput, _| async {
        HookOutput::in_background(Duration::from_secs(5))
    });
    let asked = Asked::default();
    let handler = asked.answering(|ask| ask.deny("no"));
    let mut session = start(builder(&lab).hook(hook).on_permission(handler)).await?;
    say(&mut session, "Write it.").await?;
    assert_eq!(asked.tools(), ["Write"]);
    close(session, lab_files_are_missing(lab)).await;
    Ok(())
}

/// `continue: false`: the tool runs, and the model is not asked again.
async fn not_on(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("I was asked again.")).await;
    let hook = Hook::new(|_: PreToolUseInput, _| async {
        HookOutput::no_opinion().with_keep_going(false).with_stop_reason("that is all")
    });
    let mut session = start(builder(&lab).hook(hook).on_permission(AllowAll)).await?;
    let outcome = say(&mut session, "Write it.").await?;
    assert!(lab.work().join("new.txt").exists());
    assert!(!outcome.text.contains("I was asked again."), "{}", outcome.text);
    close(session, lab).await;
    Ok(())
}
