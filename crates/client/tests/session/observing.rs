//! What a session tells about itself, and what it keeps to itself.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

use countersign::SessionBuilder;
use countersign::hook::Hook;
use countersign::permission::{AllowAll, PermissionAsk};
use countersign::protocol::ask::{
    DialogAnswer, DialogBehavior, ElicitationAction, ElicitationAnswer, RequestUserDialog,
};
use countersign::protocol::hook::{
    HookOutput, PostToolUseInput, PreToolUseInput, UserPromptSubmitInput, UserPromptSubmitOutput,
};
use countersign::protocol::permission::PermissionMode;
use countersign::turn::Decision;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tracing::Level;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::asker::{MUTTERS, answers};
use crate::asking::calls;
use crate::kit::{Cli, Outcome, V197, V325, builder, close, lab, on_all, soon, trial};
use crate::puppet::in_one_thread;
use crate::stores::variable;

/// A session in which everything that is said is a secret.
const SECRETS: &str = r#"
[[answer]]
thinking = "secret-thought"
text = "secret-text"
tool = { name = "Bash", input = { command = "printf secret-%s output" }, result = "secret-output" }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/secret-name", content = "secret-content" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/denied", content = "x" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/failing", content = "x" } }

[[answer]]
text = "secret-answer"
"#;

const SAID: [&str; 11] = [
    "secret-prompt",
    "secret-thought",
    "secret-text",
    "printf secret-%s output",
    "secret-output",
    "secret-name",
    "secret-content",
    "secret-denial",
    "secret-error",
    "secret-context",
    "secret-answer",
];

const ID: &str = "11111111-2222-4333-8444-555555555555";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let clis = [
        Cli::Simulated(V325),
        #[cfg(feature = "real-cli")]
        Cli::Real(V325),
        #[cfg(feature = "real-cli")]
        Cli::Real(V197),
        #[cfg(feature = "real-cli")]
        Cli::Real(crate::kit::V62),
    ];
    for cli in clis {
        for level in [Level::DEBUG, Level::TRACE] {
            let name = format!("observing::what_is_said_is_only_in_a_trace::{level}::{cli:?}");
            trials.push(Trial::test(name, move || secrets(cli, level)));
        }
    }
    for level in [Level::DEBUG, Level::TRACE] {
        let name = format!("observing::what_is_asked_and_answered_is_only_in_a_trace::{level}");
        trials.push(Trial::test(name, move || asked(level)));
    }
    trials.push(Trial::test("observing::spans_have_names_ids_and_outcomes", spans));
    trials.extend(on_all("observing::trace_context_reaches_the_cli", V197, trace_context));
    trials.push(trial("observing::a_session_that_is_shown_keeps_its_secrets", shown));
    trials.push(trial("observing::a_session_is_watched_to_its_end", watched));
    trials.push(trial("observing::everything_is_counted", counted));
    trials.push(trial("observing::a_request_that_is_none_is_counted_and_refused", malformed));
    trials
}

/// A log that is kept.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a test on one thread, and keeps what is logged there: other tests have other threads.
fn logged<F: Future<Output = Outcome>>(
    level: Level,
    test: F,
) -> Result<String, libtest_mimic::Failed> {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_span_events(FmtSpan::FULL)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(test)?;
    drop(guard);
    Ok(log.text())
}

/// Holds the session of the secrets.
async fn hold(builder: SessionBuilder) -> Outcome {
    let hook = Hook::new(|_: PostToolUseInput, _| async {
        let mut output = HookOutput::no_opinion();
        output.system_message = Some("secret-context".to_owned());
        output
    });
    let decide = |ask: PermissionAsk| async move {
        tracing::info!("the handler says something");
        let input = ask.input().as_str().to_owned();
        if input.contains("denied") {
            Ok(ask.deny("secret-denial"))
        } else if input.contains("failing") {
            Err("secret-error")
        } else {
            Ok(ask.allow())
        }
    };
    let mut session = soon("the start", builder.hook(hook).on_permission(decide).connect()).await?;
    soon("the mode", session.set_permission_mode(PermissionMode::Default)).await?;
    let outcome = soon("the turn", session.send("secret-prompt").await?.finish()).await?;
    assert_eq!(outcome.answer(), "secret-answer");
    let handle = session.handle();
    session.close().await;
    handle.set_permission_mode(PermissionMode::Plan).await.unwrap_err();
    let decisions = outcome.tool_calls.iter().map(|call| match &call.decision {
        Decision::NotAsked => "not asked",
        Decision::Allowed { .. } => "allowed",
        Decision::Denied { reason, .. } => reason.as_str(),
        other => panic!("{other:?}"),
    });
    // Whether the command has to be asked for is up to the version.
    let decisions: Vec<_> = decisions.skip(1).collect();
    assert_eq!(decisions, ["allowed", "secret-denial", "the handler failed: secret-error"]);
    // The CLI sends our own answers back, and those are not late.
    assert_eq!(handle.stats().late_answers, 0);
    Ok(())
}

fn secrets(cli: Cli, level: Level) -> Outcome {
    let log = logged(level, async {
        let lab = lab(cli, SECRETS).await;
        hold(builder(&lab)).await?;
        lab.close().await?;
        Ok(())
    })?;
    assert!(log.contains("session ended"), "{log}");
    for secret in SAID {
        assert_eq!(log.contains(secret), level == Level::TRACE, "{secret} in {log}");
    }
    Ok(())
}

/// Requests of every kind that has a handler, with secrets in them.
fn secret_requests() -> Vec<Value> {
    let hook = |id: &str, event: &str, secret: &str| {
        json!({"subtype": "hook_callback", "callback_id": id, "input": {
            "hook_event_name": event, "session_id": "s", "transcript_path": "/t", "cwd": "/c",
            "prompt": secret, "tool_name": "Bash", "tool_use_id": "toolu_1",
            "tool_input": {"command": secret},
        }})
    };
    let elicit = |message: &str| json!({"subtype": "elicitation", "mcp_server_name": "vault", "message": message});
    let dialog = |secret: &str| {
        json!({"subtype": "request_user_dialog", "dialog_kind": "goal_proposal",
            "payload": {"condition": secret}})
    };
    let mut requests = vec![
        hook("hook_0", "UserPromptSubmit", "secret-hook-input"),
        hook("hook_1", "PreToolUse", "secret-hook-command"),
        elicit("secret-question"),
        elicit("secret-question that fails"),
        dialog("secret-payload"),
        dialog("secret-payload that fails"),
        // Without the tool that it is about.
        json!({"subtype": "can_use_tool", "input": {"command": "secret-malformed"}}),
    ];
    if cfg!(feature = "mcp") {
        let message = |message: Value| json!({"subtype": "mcp_message", "server_name": "vault", "message": message});
        requests.extend([
            message(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "asker", "version": "1"},
            }})),
            message(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "open", "arguments": {"key": "secret-argument"},
            }})),
            message(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "break", "arguments": {"key": "secret-crowbar"},
            }})),
        ]);
    }
    requests
}

/// Handlers that answer with secrets, and fail with some.
fn secret_handlers() -> SessionBuilder {
    let builder = SessionBuilder::new()
        .env(MUTTERS, "secret-stderr\n")
        .hook(Hook::new(|_: UserPromptSubmitInput, _| async {
            let output = UserPromptSubmitOutput::new();
            HookOutput::from(output.with_additional_context("secret-hook-output"))
        }))
        .hook(Hook::new(|_: PreToolUseInput, _| async { Err::<(), _>("secret-hook-error") }))
        .on_elicitation(|ask| async move {
            if ask.message.contains("fails") {
                return Err("secret-elicitation-error");
            }
            let answer = ElicitationAnswer::new(ElicitationAction::Accept);
            Ok(answer.with_content(json!({"name": "secret-name"})))
        })
        .on_dialog(["goal_proposal"], |ask: RequestUserDialog| async move {
            if ask.payload.as_str().contains("fails") {
                return Err("secret-dialog-error");
            }
            let answer = DialogAnswer::new(DialogBehavior::Completed);
            Ok(answer.with_result(json!("secret-choice")))
        });
    #[cfg(feature = "mcp")]
    let builder = {
        use countersign::mcp::{Tool, ToolServer};
        use countersign::protocol::RawJson;
        let open = Tool::new("open", "Opens.", |_: RawJson| async {
            Ok::<_, std::convert::Infallible>("secret-treasure")
        });
        let pry = Tool::new("break", "Breaks.", |_: RawJson| async {
            Err::<String, _>("secret-tool-error")
        });
        builder.in_process_mcp(ToolServer::new("vault").tool(open).tool(pry))
    };
    builder
}

/// Everything that the CLI may ask, of a program that asks it all: the real CLI asks what it likes.
fn asked(level: Level) -> Outcome {
    let log = logged(level, async {
        let said = answers(secret_handlers(), &secret_requests()).await?;
        assert!(said.iter().all(|answer| !answer.is_null()), "{said:?}");
        Ok(())
    })?;
    assert!(log.contains("session ended"), "{log}");
    let mut secrets = vec![
        "secret-hook-input",
        "secret-hook-output",
        "secret-hook-command",
        "secret-hook-error",
        "secret-question",
        "secret-name",
        "secret-elicitation-error",
        "secret-payload",
        "secret-choice",
        "secret-dialog-error",
        "secret-malformed",
        "secret-stderr",
    ];
    if cfg!(feature = "mcp") {
        secrets.extend([
            "secret-argument",
            "secret-treasure",
            "secret-crowbar",
            "secret-tool-error",
        ]);
    }
    for secret in secrets {
        assert_eq!(log.contains(secret), level == Level::TRACE, "{secret} in {log}");
    }
    for kind in ["hook", "elicitation", "dialog", "mcp"] {
        let span = format!(r#"handler{{kind="{kind}""#);
        let is_there = kind != "mcp" || cfg!(feature = "mcp");
        assert_eq!(log.contains(&span), is_there, "{span} in {log}");
    }
    Ok(())
}

fn spans() -> Outcome {
    let log = logged(Level::DEBUG, async {
        let lab = lab(Cli::Simulated(V325), SECRETS).await;
        hold(builder(&lab).session_id(ID)).await?;
        lab.close().await?;
        Ok(())
    })?;
    let session = format!(r#"session{{session_id="{ID}" pid="#);
    for what in [
        &[
            r#":control_request{subtype="set_permission_mode" request_id="cs-1" outcome="success"}: "#,
        ][..],
        &[r#":control_request{subtype="set_permission_mode" request_id="cs-2" outcome="ended"}: "#],
        &[r#":turn{message_id=""#, r#"" outcome="success"}: "#],
        &[
            r#":turn{"#,
            r#"}:tool{name="Bash" id="toolu_"#,
            r#" decision="not asked" failed=false}: "#,
        ],
        &[r#"}:tool{name="Write" id="toolu_"#, r#" decision="allowed" failed=false}: "#],
        &[r#"}:tool{name="Write" id="toolu_"#, r#" decision="denied" failed=true}: "#],
        &[
            r#":handler{kind="permission" request_id=""#,
            r#"" tool="Write" tool_use_id="toolu_"#,
            r#"" decision="allowed" outcome="answered"}: "#,
        ],
        &[r#":handler{kind="permission""#, r#" outcome="the handler failed" decision="denied"}: "#],
        &[r#":handler{kind="hook""#, r#" event="PostToolUse" outcome="answered"}: "#],
    ] {
        let is_there = |line: &str| {
            let mut rest = line.split_once(&session).map(|(_, rest)| rest);
            for piece in what {
                rest = rest.and_then(|rest| rest.split_once(piece)).map(|(_, rest)| rest);
            }
            rest.is_some_and(|rest| rest.contains("close "))
        };
        assert!(log.lines().any(is_there), "{what:?} is not in {log}");
    }
    // What a handler says belongs to the request that it answers.
    let said = log.lines().filter(|line| line.contains("the handler says something"));
    let within = said.map(|line| line.contains(r#":handler{kind="permission""#));
    assert_eq!(within.collect::<Vec<_>>(), [true; 3]);
    Ok(())
}

/// The CLI has it, and what the CLI starts has it from there.
async fn trace_context(cli: Cli) -> Outcome {
    let command = r#"{"command": "echo $TRACEPARENT and $TRACESTATE"}"#;
    let lab = lab(cli, &calls(&[("Bash", command)], "I read: ${result}")).await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let traced = builder(&lab).trace_parent(parent).trace_state("vendor=1");
    let mut session = soon("the start", traced.on_permission(AllowAll).connect()).await?;
    assert_eq!(variable(&session, "TRACEPARENT").as_deref(), Some(parent));
    assert_eq!(variable(&session, "TRACESTATE").as_deref(), Some("vendor=1"));
    let outcome = soon("the turn", session.send("Look.").await?.finish()).await?;
    // The simulated CLI starts no commands.
    if matches!(cli, Cli::Real(_)) {
        assert_eq!(outcome.answer(), format!("I read: {parent} and vendor=1"));
    }
    close(session, lab).await;
    Ok(())
}

const FAULTS: &str = r#"
[[answer]]
blocks = [
  { fault = "not json" },
  { fault = "unknown frame" },
  { fault = "unknown request" },
  { fault = "long line 200 kB" },
  { fault = "flood stderr 10 kB" },
  { text = "Done." },
]

[[misbehave]]
on = "set_permission_mode"
do = "answer twice"
times = 1
"#;

async fn counted() -> Outcome {
    let lab = lab(Cli::Simulated(V325), FAULTS).await;
    let mut session = soon("the start", builder(&lab).max_line(100_000).connect()).await?;
    soon("the mode", session.set_permission_mode(PermissionMode::Plan)).await?;
    let outcome = soon("the turn", session.send("Go.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "Done.");
    let handle = session.handle();
    session.close().await;
    let stats = handle.stats();
    assert!(stats.frames > 10, "{stats:?}");
    assert_eq!((stats.unknown, stats.not_frames, stats.too_long), (1, 1, 1), "{stats:?}");
    assert_eq!((stats.late_answers, stats.unanswerable), (1, 1), "{stats:?}");
    assert_eq!((stats.malformed, stats.stderr_bytes), (0, 10_000), "{stats:?}");
    lab.close().await?;
    Ok(())
}

/// A program that asks for something that is no request, and ends when it has an answer.
const MALFORMED: &str = r#"#!/bin/sh
read -r initialize
echo '{"type":"control_response","response":{"subtype":"success","request_id":"cs-0","response":{"commands":[],"output_style":"","available_output_styles":[],"models":[],"account":{}}}}'
echo '{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool"}}'
read -r refusal
case $refusal in *'"error"'*) exit 5 ;; esac
"#;

async fn malformed() -> Outcome {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("claude");
    std::fs::write(&program, MALFORMED)?;
    std::fs::set_permissions(&program, Permissions::from_mode(0o755))?;
    let session = soon("the start", SessionBuilder::new().executable(program).connect()).await?;
    let end = soon("the end", session.ended()).await;
    assert_eq!(end.exit.and_then(|exit| exit.code()), Some(5), "{end:?}");
    assert_eq!((session.stats().frames, session.stats().malformed), (2, 1));
    Ok(())
}

async fn shown() -> Outcome {
    let lab = lab(Cli::Simulated(V325), SECRETS).await;
    let asks = |ask: PermissionAsk| async move {
        ask.cancelled().await;
        ask.deny("secret-denial")
    };
    let session = builder(&lab).system_prompt("secret-system").on_permission(asks);
    let mut session = soon("the start", session.connect()).await?;
    let handle = session.handle();
    session.post("secret-post").await?;
    let turn = session.send("secret-prompt").await?;
    let asked = async {
        while handle.open_permissions().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    soon("the ask", asked).await;
    let shown = [format!("{turn:?}"), format!("{handle:#?}")];
    drop(turn);
    for text in shown.into_iter().chain([format!("{session:#?}")]) {
        assert!(!text.contains("secret"), "{text}");
        assert!(text.contains("open_requests"), "{text}");
    }
    close(session, lab).await;
    Ok(())
}

async fn watched() -> Outcome {
    // In one thread, in which whoever holds something that the session needs would wait for ever.
    in_one_thread(async || {
        let lab = lab(Cli::Simulated(V325), "otherwise = 'Yes.'").await;
        let mut session = soon("the start", builder(&lab).connect()).await?;
        let mut watch = session.handle().watch();
        let at_first = watch.snapshot();
        soon("the turn", session.send("Well?").await?.finish()).await?;
        assert_eq!((at_first.results, watch.snapshot().results), (0, 1));
        let handle = session.handle();
        close(session, lab).await;
        let (mut last, mut changes) = (at_first, 0);
        while let Some(snapshot) = soon("a change", watch.changed()).await {
            (last, changes) = (snapshot, changes + 1);
        }
        assert!(last.ended.is_some() && changes > 0);
        assert!(soon("nothing", watch.wait_for(|known| known.ended.is_none())).await.is_none());
        assert!(soon("nothing", handle.watch().changed()).await.is_none());
        Ok(())
    })
    .await
}
