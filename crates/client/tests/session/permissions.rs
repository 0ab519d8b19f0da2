//! Permissions: what the answers of a handler do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

#[cfg(feature = "mcp")]
use countersign::mcp::{McpServer, Tool, ToolServer};
use countersign::permission::{
    AllowAll, Chain, DenyAll, PermissionAnswer, PermissionAsk, ReadOnly, Verdict,
};
use countersign::protocol::RawJson;
use countersign::turn::Decision;
use countersign::{Session, SessionBuilder};
use libtest_mimic::Trial;
use serde_json::json;
use tokio::sync::{Barrier, Notify};

use crate::asking::{Noted, calls, requests, say, start, write};
use crate::kit::{Cli, Outcome, V62, V197, builder, close, lab, on_all, soon};

pub(crate) fn trials() -> Vec<Trial> {
    [
        #[cfg(feature = "mcp")]
        on_all("permissions::the_input_is_echoed", V62, echoed),
        on_all("permissions::another_input_runs", V62, changed),
        on_all("permissions::a_denial_is_read_by_the_model", V62, denied),
        on_all("permissions::a_denial_can_end_the_turn", V62, stopped),
        on_all("permissions::two_asks_are_two", V62, two),
        on_all("permissions::two_agents_ask_at_once", V197, agents),
        on_all("permissions::an_interrupt_withdraws_an_ask", V62, interrupted),
        on_all("permissions::nobody_answers_in_time", V62, late),
        on_all("permissions::the_answer_to_another_ask_is_refused", V62, swapped),
        on_all("permissions::a_handler_that_fails_has_denied", V62, failing),
        on_all("permissions::ready_handlers", V62, ready),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Reads two files at once that the CLI asks about.
const READ_BOTH: &str = r#"
[[answer]]
tools = [
    { name = "Read", input = { file_path = "${home}/one.txt" } },
    { name = "Read", input = { file_path = "${home}/two.txt" } },
]

[[answer]]
text = "I have read them."
"#;

/// The model calls a tool of ours, with a number that no float holds.
#[cfg(feature = "mcp")]
async fn echoed(cli: Cli) -> Outcome {
    let input = r#"{"a": {"b": "\u00e9\n\"", "y": [null, {}]}, "z": 12345678901234567890}"#;
    let lab = lab(cli, &calls(&[("mcp__box__put", input)], "Done.")).await;
    let got = Noted::<String>::default();
    let noted = got.clone();
    let put = move |arguments: RawJson| {
        noted.note(arguments.as_str().to_owned());
        async move { Ok::<_, String>("put".to_owned()) }
    };
    let server = McpServer::from(ToolServer::new("box").tool(Tool::new("put", "Puts.", put)));
    let asked = crate::asking::Asked::default();
    let builder = builder(&lab).in_process_mcp(server).on_permission(asked.answering(|ask| {
        let input = ask.input().clone();
        let answer = ask.allow();
        let sent = serde_json::to_string(answer.result()).unwrap();
        assert!(sent.contains(input.as_str()), "{sent}");
        answer
    }));
    let mut session = start(builder).await?;
    let outcome = say(&mut session, "Put it.").await?;
    assert_eq!(outcome.answer(), "Done.");
    let ([ask], [got]) = (&asked.all()[..], &got.all()[..]) else { panic!("{outcome:?}") };
    // What was asked about is what ran.
    assert_eq!(ask.input.as_str(), got);
    close(session, lab).await;
    Ok(())
}

async fn changed(cli: Cli) -> Outcome {
    let lab = lab(cli, &calls(&[("Write", &write("new.txt"))], "Done.")).await;
    let file = lab.work().join("other.txt");
    let input = RawJson::from_value(&json!({"file_path": file, "content": "changed\n"}))?;
    let handler = move |ask: PermissionAsk| {
        let input = input.clone();
        async move { ask.allow_with_input(input) }
    };
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Write it.").await?;
    assert_eq!(std::fs::read_to_string(&file)?, "changed\n");
    assert!(!lab.work().join("new.txt").exists());
    let [call] = &outcome.tool_calls[..] else { panic!("{outcome:?}") };
    assert!(matches!(call.decision, Decision::Allowed { changed: true, .. }), "{call:?}");
    close(session, lab).await;
    Ok(())
}

async fn denied(cli: Cli) -> Outcome {
    let lab = lab(cli, &calls(&[("Write", &write("new.txt"))], "I read: ${result}")).await;
    let handler = |ask: PermissionAsk| async move { ask.deny("not on a Friday") };
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Write it.").await?;
    assert!(outcome.succeeded());
    assert!(outcome.answer().contains("not on a Friday"), "{}", outcome.answer());
    let [call] = &outcome.tool_calls[..] else { panic!("{outcome:?}") };
    assert!(
        matches!(&call.decision, Decision::Denied { reason, .. } if reason == "not on a Friday")
    );
    assert!(call.result.as_ref().is_some_and(|result| result.is_error));
    assert_eq!(outcome.denials().len(), 1);
    assert!(!lab.work().join("new.txt").exists());
    close(session, lab).await;
    Ok(())
}

async fn stopped(cli: Cli) -> Outcome {
    let lab = lab(cli, &calls(&[("Write", &write("new.txt"))], "Go on.")).await;
    let handler = |ask: PermissionAsk| async move { ask.deny_and_stop("enough") };
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Write it.").await?;
    assert!(!outcome.succeeded() && outcome.error().is_some(), "{outcome:?}");
    let [call] = &outcome.tool_calls[..] else { panic!("{outcome:?}") };
    assert!(matches!(&call.decision, Decision::Denied { reason, .. } if reason == "enough"));
    assert!(!lab.work().join("new.txt").exists());
    // The model was not asked again until somebody said something.
    if let Some(requests) = requests(cli, &lab) {
        assert_eq!(requests.len(), 1);
    }
    let outcome = say(&mut session, "Well?").await?;
    assert_eq!(outcome.answer(), "Go on.");
    assert!(outcome.succeeded());
    close(session, lab).await;
    Ok(())
}

/// Each has a handler of its own, and they answer in the reverse order.
async fn two(cli: Cli) -> Outcome {
    let lab = lab(cli, READ_BOTH).await;
    let (both, second) = (Arc::new(Barrier::new(2)), Arc::new(Notify::new()));
    let asked = Noted::<String>::default();
    let noted = asked.clone();
    let handler = move |ask: PermissionAsk| {
        let (both, second) = (Arc::clone(&both), Arc::clone(&second));
        let is_first = ask.input().as_str().contains("one.txt");
        let noted = noted.clone();
        async move {
            both.wait().await;
            if is_first {
                second.notified().await;
            }
            noted.note(ask.tool_use_id().to_string());
            second.notify_one();
            ask.deny(if is_first { "not the first" } else { "not the second" })
        }
    };
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Read them.").await?;
    assert_eq!(outcome.answer(), "I have read them.");
    let [one, two] = &outcome.tool_calls[..] else { panic!("{outcome:?}") };
    assert_eq!(asked.all(), [two.id.to_string(), one.id.to_string()]);
    for (call, reason) in [(one, "not the first"), (two, "not the second")] {
        let text = call.result.as_ref().unwrap().text();
        assert!(text.contains(reason), "{text}");
    }
    close(session, lab).await;
    Ok(())
}

async fn agents(cli: Cli) -> Outcome {
    let script = r#"
        [[answer]]
        when = { agent = true, tool = "Write" }
        text = "I wrote it."

        [[answer]]
        when = { agent = true, first = '/file (?<name>\w+)/' }
        tool = { name = "Write", input = { file_path = "${cwd}/${match.name}.txt", content = "new\n" } }

        [[answer]]
        tools = [
            { name = "Agent", input = { description = "One", prompt = "Write the file one.", subagent_type = "general-purpose", run_in_background = false } },
            { name = "Agent", input = { description = "Two", prompt = "Write the file two.", subagent_type = "general-purpose", run_in_background = false } },
        ]

        [[answer]]
        text = "Both are done."
    "#;
    let lab = lab(cli, script).await;
    let both = Arc::new(Barrier::new(2));
    let agents = Noted::default();
    let noted = agents.clone();
    let handler = move |ask: PermissionAsk| {
        let both = Arc::clone(&both);
        noted.note(ask.request().agent_id.clone());
        async move {
            both.wait().await;
            let is_first = ask.input().as_str().contains("one.txt");
            if is_first { ask.allow() } else { ask.deny("one is enough") }
        }
    };
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Have them written.").await?;
    assert_eq!(outcome.answer(), "Both are done.");
    let [Some(one), Some(two)] = &agents.all()[..] else { panic!("{outcome:?}") };
    assert_ne!(one, two);
    assert!(lab.work().join("one.txt").exists());
    assert!(!lab.work().join("two.txt").exists());
    close(session, lab).await;
    Ok(())
}

async fn interrupted(cli: Cli) -> Outcome {
    let lab = lab(cli, &calls(&[("Write", &write("new.txt"))], "Next.")).await;
    let (asked, cancelled) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (ask_came, ask_went) = (Arc::clone(&asked), Arc::clone(&cancelled));
    let handler = move |ask: PermissionAsk| {
        ask_came.notify_one();
        let gone = Arc::clone(&ask_went);
        async move {
            ask.cancelled().await;
            assert!(ask.is_cancelled());
            gone.notify_one();
            ask.allow()
        }
    };
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let handle = session.handle();
    let turn = session.send("Write it.").await?;
    soon("the ask", asked.notified()).await;
    assert_eq!(handle.open_permissions().len(), 1);
    soon("the interrupt", handle.interrupt()).await?;
    soon("the end of the ask", cancelled.notified()).await;
    let outcome = soon("the turn", turn.finish()).await?;
    assert!(!outcome.succeeded(), "{outcome:?}");
    assert!(handle.open_permissions().is_empty());
    // The answer came too late, and is no decision.
    assert_eq!(outcome.tool_calls[0].decision, Decision::NotAsked);
    let outcome = say(&mut session, "And now?").await?;
    assert_eq!(outcome.answer(), "Next.");
    assert!(!lab.work().join("new.txt").exists());
    close(session, lab).await;
    Ok(())
}

async fn late(cli: Cli) -> Outcome {
    let lab = lab(cli, &calls(&[("Write", &write("new.txt"))], "I read: ${result}")).await;
    let builder = builder(&lab)
        .on_permission(|_: PermissionAsk| std::future::pending::<PermissionAnswer>())
        .permission_timeout(Duration::from_millis(50));
    let mut session = start(builder).await?;
    let outcome = say(&mut session, "Write it.").await?;
    assert!(outcome.answer().contains("nobody answered in time"), "{}", outcome.answer());
    assert!(!lab.work().join("new.txt").exists());
    close(session, lab).await;
    Ok(())
}

/// Two handlers give each other's answers.
async fn swapped(cli: Cli) -> Outcome {
    let lab = lab(cli, READ_BOTH).await;
    std::fs::write(lab.home().join("one.txt"), "secret\n")?;
    std::fs::write(lab.home().join("two.txt"), "secret\n")?;
    let (both, asks) = (Arc::new(Barrier::new(2)), Arc::new(Mutex::new(Vec::new())));
    let handler = move |ask: PermissionAsk| {
        let (both, asks) = (Arc::clone(&both), Arc::clone(&asks));
        async move {
            let mine = ask.tool_use_id().clone();
            asks.lock().unwrap().push(ask);
            both.wait().await;
            let mut asks = asks.lock().unwrap();
            let other = asks.iter().position(|ask| *ask.tool_use_id() != mine).unwrap();
            asks.remove(other).allow()
        }
    };
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Read them.").await?;
    for call in &outcome.tool_calls {
        let result = call.result.as_ref().unwrap();
        assert!(result.is_error && result.text().contains("another call"), "{result:?}");
    }
    assert_eq!(outcome.tool_calls.len(), 2);
    close(session, lab).await;
    Ok(())
}

async fn failing(cli: Cli) -> Outcome {
    let three = [write("error.txt"), write("panic.txt"), write("fine.txt")];
    let three = three.each_ref().map(|input| ("Write", &**input));
    let lab = lab(cli, &calls(&three, "Done.")).await;
    let handler = |ask: PermissionAsk| async move {
        let input = ask.input().as_str();
        assert!(!input.contains("panic.txt"), "this handler panics");
        if input.contains("error.txt") { Err("the database is away") } else { Ok(ask.allow()) }
    };
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Write them.").await?;
    let said: Vec<_> =
        outcome.tool_calls.iter().map(|call| call.result.as_ref().unwrap().text()).collect();
    assert!(said[0].contains("the database is away"), "{said:?}");
    assert!(said[1].contains("the handler panicked"), "{said:?}");
    let exist = ["error.txt", "panic.txt", "fine.txt"].map(|file| lab.work().join(file).exists());
    assert_eq!(exist, [false, false, true]);
    close(session, lab).await;
    Ok(())
}

/// What the handlers that are ready say to reading and to writing.
async fn ready(cli: Cli) -> Outcome {
    let chain = Chain::ending_with(DenyAll)
        .before(
            |ask| if ask.tool_name() == "Write" { ask.allow().into() } else { Verdict::Pass(ask) },
        )
        // It never gets to see a write.
        .before(|ask| {
            assert_ne!(ask.tool_name(), "Write");
            Verdict::Pass(ask)
        });
    type With = fn(SessionBuilder, Chain) -> SessionBuilder;
    let cases: [(&str, With, [bool; 2]); 5] = [
        ("none", |builder, _| builder, [false, false]),
        ("DenyAll", |builder, _| builder.on_permission(DenyAll), [false, false]),
        ("AllowAll", |builder, _| builder.on_permission(AllowAll), [true, true]),
        ("ReadOnly", |builder, _| builder.on_permission(ReadOnly), [true, false]),
        ("Chain", |builder, chain| builder.on_permission(chain), [false, true]),
    ];
    for (name, with, expected) in cases {
        let read = r#"{"file_path": "${home}/one.txt"}"#;
        let lab = lab(cli, &calls(&[("Read", read), ("Write", &write("new.txt"))], "Done.")).await;
        let mut session: Session = start(with(builder(&lab), chain.clone())).await?;
        let outcome = say(&mut session, "Do both.").await?;
        let [read, write] = &outcome.tool_calls[..] else { panic!("{outcome:?}") };
        let allowed = [read, write].map(|call| matches!(call.decision, Decision::Allowed { .. }));
        assert_eq!(allowed, expected, "{name}");
        assert_eq!(lab.work().join("new.txt").exists(), expected[1], "{name}");
        close(session, lab).await;
    }
    Ok(())
}
