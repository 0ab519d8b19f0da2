//! Hooks: what they are told, and what their answers do.

use std::sync::Arc;
use std::time::Duration;

use countersign::SessionBuilder;
use countersign::hook::{Hook, HookContext};
use countersign::permission::{AllowAll, HandlerFailure, PermissionAsk};
use countersign::protocol::RawJson;
use countersign::protocol::hook::{
    HookOutput, OnFailure, PermissionRequestInput, PermissionRequestOutput,
    PostToolUseFailureInput, PostToolUseInput, PreCompactInput, PreToolUseInput, PreToolUseOutput,
    StopInput, SubagentStartInput, SubagentStopInput, UserPromptSubmitInput,
};
use countersign::protocol::permission::PermissionMode;
use countersign::turn::{Decision, TurnEvent};
use libtest_mimic::Trial;
use serde_json::json;
use tokio::sync::Notify;

use crate::asker::answers;
use crate::asking::{Asked, Noted, calls, on_real, requests, say, start, write};
use crate::kit::{Cli, Outcome, V62, V197, builder, close, lab, on_all, soon, trial};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("hooks::a_gate_sees_every_call_in_every_mode", V62, gate),
        on_all("hooks::a_matcher_chooses", V62, matcher),
        on_all("hooks::a_tool_is_allowed_denied_or_asked_for", V62, decisions),
        on_all("hooks::somebody_is_asked_in_every_mode", V197, asks_in_bypass),
        on_all("hooks::another_input_runs", V62, changed),
        on_all("hooks::a_call_is_put_off", V197, deferred),
        on_all("hooks::a_deciding_hook_that_fails_has_refused", V62, failing),
        on_all("hooks::a_call_too_long_to_be_read_is_refused", V62, too_long),
        on_all("hooks::other_hooks_that_fail_have_no_opinion", V62, no_opinion),
        on_all("hooks::one_in_the_background_does_not_decide", V62, background),
        on_all("hooks::a_turn_does_not_go_on", V62, not_on),
        on_all("hooks::what_tools_have_done", V62, afterwards),
        on_all("hooks::a_prompt_is_blocked", V62, blocked),
        on_all("hooks::a_turn_is_not_over", V62, not_over),
        on_all("hooks::sub_agents_begin_and_end", V62, agents),
        on_all("hooks::a_conversation_is_compacted", V62, compacted),
        on_all("hooks::the_first_to_give_a_permission_has_given_it", V62, race),
        on_real("hooks::an_interrupt_withdraws_a_hook", V62, interrupted),
    ]
    .into_iter()
    .flatten()
    .chain([trial("hooks::a_call_that_cannot_be_read_is_refused", unreadable)])
    .collect()
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

fn one_write(then: &str) -> String {
    calls(&[("Write", &write("new.txt"))], then)
}

fn bypass(builder: SessionBuilder) -> SessionBuilder {
    builder.allow_dangerously_skip_permissions().permission_mode(PermissionMode::BypassPermissions)
}

/// The model reads a file that is not there, writes one, and has a sub-agent write one.
fn delegating(cli: Cli) -> String {
    let agent = if cli.version() < V197 { "Task" } else { "Agent" };
    format!(
        r#"
        [[answer]]
        when = {{ agent = true, tool = "Write" }}
        text = "I read: ${{result}}"

        [[answer]]
        when = {{ agent = true }}
        tool = {{ name = "Write", input = {{ file_path = "${{cwd}}/agent.txt", content = "new\n" }} }}

        [[answer]]
        tool = {{ name = "Read", input = {{ file_path = "${{cwd}}/nothing.txt" }} }}

        [[answer]]
        tool = {{ name = "Write", input = {{ file_path = "${{cwd}}/main.txt", content = "new\n" }} }}

        [[answer]]
        tool = {{ name = "{agent}", input = {{ description = "Write", prompt = "Write the file.", subagent_type = "general-purpose" }} }}

        [[answer]]
        text = "Done."

        [[answer]]
        text = "The sub-agent is done."
        "#
    )
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

/// Makes sure that nothing was written.
fn lab_files_are_missing(lab: countersign_lab::Lab) -> countersign_lab::Lab {
    for file in ["main.txt", "agent.txt", "new.txt"] {
        assert!(!lab.work().join(file).exists(), "{file}");
    }
    lab
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
    let said = loop {
        match soon("an event", turn.next()).await {
            Some(TurnEvent::Text { text, .. }) => break text,
            Some(_) => {}
            None => panic!("the session has ended"),
        }
    };
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

async fn afterwards(cli: Cli) -> Outcome {
    let missing = r#"{"file_path": "${cwd}/nothing.txt"}"#;
    let lab = lab(cli, &calls(&[("Read", missing), ("Write", &write("new.txt"))], "Done.")).await;
    let told = Noted::<(String, bool)>::default();
    let (done, failed) = (told.clone(), told.clone());
    let builder = builder(&lab)
        .on_permission(AllowAll)
        .hook(Hook::new(move |input: PostToolUseInput, context: HookContext| {
            assert_eq!(context.tool_use_id(), Some(&input.tool_use_id));
            assert!(input.tool_response.as_str().contains("new.txt"));
            done.note((input.tool_name, true));
            async {}
        }))
        .hook(Hook::new(move |input: PostToolUseFailureInput, _| {
            assert!(!input.error.is_empty());
            failed.note((input.tool_name, false));
            async {}
        }));
    let mut session = start(builder).await?;
    say(&mut session, "Do both.").await?;
    assert_eq!(told.all(), [("Read".to_owned(), false), ("Write".to_owned(), true)]);
    close(session, lab).await;
    Ok(())
}

async fn blocked(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("Done.")).await;
    let hook = Hook::new(|input: UserPromptSubmitInput, _| async move {
        if input.prompt.contains("secret") {
            return Ok(HookOutput::block("no secrets"));
        }
        if input.prompt.contains("broken") {
            Err("the database is away")
        } else {
            Ok(HookOutput::no_opinion())
        }
    });
    let mut session = start(builder(&lab).hook(hook)).await?;
    for prompt in ["This is secret.", "This is broken."] {
        let outcome = say(&mut session, prompt).await?;
        assert!(outcome.tool_calls.is_empty() && outcome.text.is_empty(), "{outcome:?}");
    }
    if let Some(requests) = requests(cli, &lab) {
        assert!(requests.is_empty());
    }
    let outcome = say(&mut session, "This is not.").await?;
    assert_eq!(outcome.answer(), "Done.");
    close(session, lab).await;
    Ok(())
}

async fn not_over(cli: Cli) -> Outcome {
    let script = r#"
        [[answer]]
        text = "One."

        [[answer]]
        text = "Two."
    "#;
    let lab = lab(cli, script).await;
    let hook = Hook::new(|input: StopInput, _| async move {
        if input.stop_hook_active {
            HookOutput::no_opinion()
        } else {
            HookOutput::block("and then?")
        }
    });
    let mut session = start(builder(&lab).hook(hook)).await?;
    let outcome = say(&mut session, "Count.").await?;
    assert_eq!(outcome.text, "One.\n\nTwo.");
    if let Some(requests) = requests(cli, &lab) {
        assert!(requests[1].to_string().contains("and then?"));
    }
    close(session, lab).await;
    Ok(())
}

async fn agents(cli: Cli) -> Outcome {
    let lab = lab(cli, &delegating(cli)).await;
    let told = Noted::<(String, String)>::default();
    let (begin, end) = (told.clone(), told.clone());
    let builder = bypass(builder(&lab))
        .hook(Hook::new(move |input: SubagentStartInput, _| {
            begin.note(("begins".to_owned(), input.agent_id.to_string()));
            async {}
        }))
        .hook(Hook::new(move |input: SubagentStopInput, _| {
            end.note(("ends".to_owned(), input.agent_id.to_string()));
            async {}
        }));
    let mut session = start(builder).await?;
    say(&mut session, "Do it all.").await?;
    let told = told.count(2).await;
    assert_eq!((&*told[0].0, &*told[1].0), ("begins", "ends"));
    assert_eq!(told[0].1, told[1].1);
    close(session, lab).await;
    Ok(())
}

async fn compacted(cli: Cli) -> Outcome {
    let script = r#"
        [[answer]]
        text = "One."

        [[answer]]
        when = { side = true }
        text = "<summary>They counted.</summary>"
    "#;
    let lab = lab(cli, script).await;
    let told = Noted::<Option<String>>::default();
    let noted = told.clone();
    let hook = Hook::new(move |input: PreCompactInput, _| {
        noted.note(input.custom_instructions);
        async {}
    });
    let mut session = start(builder(&lab).hook(hook)).await?;
    say(&mut session, "Count.").await?;
    say(&mut session, "/compact but keep the numbers").await?;
    let told = told.all();
    assert_eq!(told.len(), 1);
    // The simulated CLI takes no instructions.
    if matches!(cli, Cli::Real(_)) {
        assert_eq!(told, [Some("but keep the numbers".to_owned())]);
    }
    close(session, lab).await;
    Ok(())
}

/// The hook and the handler are asked at once, and one of them answers too late.
async fn race(cli: Cli) -> Outcome {
    for hook_answers in [true, false] {
        let lab = lab(cli, &one_write("I read: ${result}")).await;
        let (late, is_late) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let hook_is_late = Arc::clone(&is_late);
        let hook = Hook::new(move |_: PermissionRequestInput, _| {
            let late = Arc::clone(&hook_is_late);
            async move {
                // It is not told that it is not needed any more.
                if !hook_answers {
                    late.notified().await;
                }
                HookOutput::from(PermissionRequestOutput::allow())
            }
        });
        let handler_is_late = Arc::clone(&late);
        let handler = move |ask: PermissionAsk| {
            let late = Arc::clone(&handler_is_late);
            async move {
                if hook_answers {
                    ask.cancelled().await;
                    late.notify_one();
                }
                ask.deny("the handler was first")
            }
        };
        let mut session = start(builder(&lab).hook(hook).on_permission(handler)).await?;
        let outcome = say(&mut session, "Write it.").await?;
        if hook_answers {
            soon("the end of the ask", late.notified()).await;
        } else {
            is_late.notify_one();
        }
        let denied = outcome.answer().contains("the handler was first");
        assert_eq!(denied, !hook_answers, "{}", outcome.answer());
        let decided = matches!(outcome.tool_calls[0].decision, Decision::Denied { .. });
        assert_eq!(decided, !hook_answers);
        // After another turn, whatever came too late has come.
        say(&mut session, "Go on.").await?;
        assert_eq!(lab.work().join("new.txt").exists(), hook_answers);
        close(session, lab).await;
    }
    Ok(())
}

async fn interrupted(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("Next.")).await;
    let (called, withdrawn) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (came, went) = (Arc::clone(&called), Arc::clone(&withdrawn));
    let hook = Hook::new(move |_: PreToolUseInput, context: HookContext| {
        came.notify_one();
        let gone = Arc::clone(&went);
        async move {
            context.cancelled().await;
            gone.notify_one();
            HookOutput::from(PreToolUseOutput::allow())
        }
    });
    let mut session = start(builder(&lab).hook(hook)).await?;
    let handle = session.handle();
    let turn = session.send("Write it.").await?;
    soon("the hook", called.notified()).await;
    soon("the interrupt", handle.interrupt()).await?;
    soon("the end of the hook", withdrawn.notified()).await;
    let outcome = soon("the turn", turn.finish()).await?;
    assert!(!outcome.succeeded(), "{outcome:?}");
    assert_eq!(say(&mut session, "And now?").await?.answer(), "Next.");
    close(session, lab_files_are_missing(lab)).await;
    Ok(())
}
