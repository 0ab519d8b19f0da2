//! Hooks that fail, or that cannot be told of a call: those that decide have refused, others have no
//! opinion.

use std::time::Duration;

use countersign::SessionBuilder;
use countersign::hook::Hook;
use countersign::permission::HandlerFailure;
use countersign::protocol::hook::{
    HookOutput, OnFailure, PostToolUseInput, PreToolUseInput, StopInput, UserPromptSubmitInput,
};
use countersign::turn::TurnEvent;
use libtest_mimic::Trial;
use serde_json::json;

use super::{bypass, lab_files_are_missing, one_write};
use crate::asker::answers;
use crate::asking::{Noted, calls, say, start};
use crate::kit::{Cli, Outcome, V62, builder, close, lab, on_all, soon, trial};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("hooks::a_deciding_hook_that_fails_has_refused", V62, failing),
        on_all("hooks::a_call_too_long_to_be_read_is_refused", V62, too_long),
        on_all("hooks::other_hooks_that_fail_have_no_opinion", V62, no_opinion),
    ]
    .into_iter()
    .flatten()
    .chain([
        trial("hooks::a_call_that_cannot_be_read_is_refused", unreadable),
        trial("hooks::a_call_of_nobody_knows_which_hook_is_refused", unknown),
    ])
    .collect()
}

/// In the mode that asks for nothing, so that only the hook is between the model and the file.
async fn failing(cli: Cli) -> Outcome {
    type Fails = fn() -> Result<HookOutput, HandlerFailure>;
    let fails: [(Fails, &str); 3] = [
        (|| Err("the database is away".into()), "the database is away"),
        (|| panic!("this hook panics"), "panicked"),
        (|| Ok(HookOutput::no_opinion()), "in time"),
    ];
    for (fail, reason) in fails {
        for on_failure in [OnFailure::Block, OnFailure::Continue] {
            let lab = lab(cli, &one_write("I read: ${result}")).await;
            let hook = Hook::new(move |_: PreToolUseInput, _| async move {
                if reason == "in time" {
                    std::future::pending::<()>().await;
                }
                fail()
            });
            let hook = hook.timeout(Duration::from_millis(100)).on_failure(on_failure.clone());
            let mut session = start(bypass(builder(&lab)).hook(hook)).await?;
            let outcome = say(&mut session, "Write it.").await?;
            let runs = on_failure == OnFailure::Continue;
            assert_eq!(lab.work().join("new.txt").exists(), runs, "{reason}");
            assert_eq!(outcome.answer().contains(reason), !runs, "{}", outcome.answer());
            close(session, lab).await;
        }
    }
    Ok(())
}

/// A hook that cannot be told of a call must not be passed over because of that.
async fn too_long(cli: Cli) -> Outcome {
    let input =
        format!(r#"{{"file_path": "${{cwd}}/new.txt", "content": "{}"}}"#, "x".repeat(400_000));
    let lab = lab(cli, &calls(&[("Write", &input)], "I read: ${result}")).await;
    let seen = Noted::<String>::default();
    let noted = seen.clone();
    let gate = Hook::new(move |input: PreToolUseInput, _| {
        noted.note(input.tool_name);
        async {}
    });
    let mut session = start(bypass(builder(&lab)).hook(gate).max_line(300_000)).await?;
    let mut turn = session.send("Write it.").await?;
    // The result has the call in it, and may be too long as well.
    let mut said = String::new();
    while let Some(event) = soon("an event", turn.next()).await {
        if let TurnEvent::Text { text, .. } = event {
            said = text;
        }
    }
    assert!(said.contains("longer than a line may be"), "{said}");
    assert!(seen.all().is_empty());
    close(session, lab_files_are_missing(lab)).await;
    Ok(())
}

async fn no_opinion(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("Done.")).await;
    let called = Noted::<&str>::default();
    let (after, stop) = (called.clone(), called.clone());
    let builder = bypass(builder(&lab))
        .hook(Hook::new(move |_: PostToolUseInput, _| {
            after.note("after");
            async { Err::<(), _>("the database is away") }
        }))
        .hook(Hook::new(move |input: StopInput, _| {
            stop.note("stop");
            async move {
                assert!(input.stop_hook_active, "this hook panics");
            }
        }));
    let mut session = start(builder).await?;
    let outcome = say(&mut session, "Write it.").await?;
    assert_eq!(outcome.answer(), "Done.");
    assert!(outcome.succeeded() && lab.work().join("new.txt").exists());
    assert_eq!(called.all(), ["after", "stop"]);
    close(session, lab).await;
    Ok(())
}

/// The name of the tool is none.
async fn unreadable() -> Outcome {
    let call = |id: &str, event: &str| {
        let input = json!({"hook_event_name": event, "session_id": "s", "tool_name": 5});
        json!({"subtype": "hook_callback", "callback_id": id, "input": input})
    };
    let builder = SessionBuilder::new()
        .hook(Hook::new(|_: PreToolUseInput, _| async {}))
        .hook(Hook::new(|_: PostToolUseInput, _| async {}))
        .hook(Hook::new(|_: PreToolUseInput, _| async {}).on_failure(OnFailure::Continue));
    let asked =
        [call("hook_0", "PreToolUse"), call("hook_1", "PostToolUse"), call("hook_2", "PreToolUse")];
    let said = answers(builder, &asked).await?;
    let decision = &said[0]["response"]["hookSpecificOutput"]["permissionDecision"];
    assert_eq!(decision, "deny", "{said:?}");
    assert_eq!((&said[1]["subtype"], &said[2]["subtype"]), (&json!("error"), &json!("error")));
    Ok(())
}

/// Which hook is called cannot be told. One of those that decide answers, if it may be the one.
async fn unknown() -> Outcome {
    let input = |event: &str| json!({"hook_event_name": event, "session_id": "s", "tool_name": 5});
    let stop = json!({
        "hook_event_name": "Stop", "session_id": "s", "transcript_path": "", "cwd": "",
        "stop_hook_active": false,
    });
    let prompt = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "transcript_path": "", "cwd": "",
        "prompt": "Hello!",
    });
    let asked = [
        json!({"subtype": "hook_callback", "input": 5}),
        json!({"subtype": "hook_callback", "callback_id": "hook_77", "input": input("PreToolUse")}),
        json!({"subtype": "hook_callback", "callback_id": 5, "input": input("UserPromptSubmit")}),
        json!({"subtype": "hook_callback", "callback_id": "hook_77", "input": prompt}),
        json!({"subtype": "hook_callback", "input": input("PostToolUse")}),
        json!({"subtype": "hook_callback", "callback_id": "hook_77", "input": stop}),
    ];
    let lax = || Hook::new(|_: PreToolUseInput, _| async {}).on_failure(OnFailure::Continue);
    let builder = SessionBuilder::new()
        .hook(lax())
        .hook(Hook::new(|_: UserPromptSubmitInput, _| async {}))
        .hook(Hook::new(|_: PreToolUseInput, _| async {}));
    let said = answers(builder, &asked).await?;
    for answer in &said[..2] {
        let decision = &answer["response"]["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(decision, "deny", "{said:?}");
    }
    for answer in &said[2..4] {
        assert_eq!(answer["response"]["decision"], "block", "{said:?}");
    }
    // Nobody decides about these.
    for answer in &said[4..] {
        assert_eq!(answer["subtype"], "error", "{said:?}");
    }
    // Nor is there anybody here.
    for answer in answers(SessionBuilder::new().hook(lax()), &asked).await? {
        assert_eq!(answer["subtype"], "error");
    }
    Ok(())
}
