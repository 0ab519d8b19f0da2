//! The client library as a contestant of a benchmark that drives clients side by side.
//!
//! The settings are in the environment: `BENCH_CLI` names the program to drive, `BENCH_HANDLERS`
//! what to register, `BENCH_MAX_LINE`, `BENCH_STALL_MS`, `BENCH_CALLBACK_MS`, `BENCH_SESSIONS` and
//! `BENCH_HOLD_MS` the rest; `docs/performance.md` says more. It prints one line of JSON.
#![expect(clippy::print_stdout, reason = "the report is what it is for")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use countersign::hook::Hook;
use countersign::mcp::{Tool, ToolServer};
use countersign::permission::PermissionAsk;
use countersign::protocol::FromCli;
use countersign::protocol::content::{Content, ContentBlock};
use countersign::protocol::hook::PreToolUseInput;
use countersign::protocol::message::{BlockDelta, StreamEvent};
use countersign::{Message, Session, SessionBuilder};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() {
    let settings = Settings::read();
    let mut report = BTreeMap::new();
    report.insert("client", json!(concat!("countersign ", env!("CARGO_PKG_VERSION"))));
    let outcome = if settings.sessions > 0 {
        hold(&settings, &mut report).await
    } else {
        single(&settings, &mut report).await
    };
    if let Err(error) = outcome {
        report.insert("error", json!(error.to_string()));
    }
    report.insert("peak_rss_kb", json!(status("VmHWM:")));
    println!("{}", json!(report));
}

struct Settings {
    cli: String,
    handlers: String,
    max_line: Option<usize>,
    stall: Duration,
    callback: Duration,
    sessions: u64,
    hold: Duration,
}

impl Settings {
    fn read() -> Self {
        let text = |name: &str| std::env::var(name).ok();
        let number = |name| text(name).and_then(|value| value.parse().ok());
        let millis = |name| Duration::from_millis(number(name).unwrap_or(0));
        Self {
            cli: text("BENCH_CLI").unwrap_or_else(|| "claude".to_owned()),
            handlers: text("BENCH_HANDLERS").unwrap_or_else(|| "perm".to_owned()),
            max_line: number("BENCH_MAX_LINE").and_then(|bytes| usize::try_from(bytes).ok()),
            stall: millis("BENCH_STALL_MS"),
            callback: millis("BENCH_CALLBACK_MS"),
            sessions: number("BENCH_SESSIONS").unwrap_or(0),
            hold: millis("BENCH_HOLD_MS"),
        }
    }

    fn builder(&self) -> SessionBuilder {
        let mut builder = SessionBuilder::new().executable(&self.cli).partial_messages();
        if let Some(bytes) = self.max_line {
            builder = builder.max_line(bytes);
        }
        for handler in self.handlers.split(',') {
            builder = match handler {
                "perm" => {
                    let delay = self.callback;
                    builder.on_permission(move |ask: PermissionAsk| async move {
                        if !delay.is_zero() {
                            tokio::time::sleep(delay).await;
                        }
                        ask.allow()
                    })
                }
                "mcp" => builder.in_process_mcp(echo()),
                "hook" => builder.hook(Hook::new(|_: PreToolUseInput, _| async {})),

                _ => builder,
            };
        }
        builder
    }
}

fn echo() -> ToolServer {
    #[derive(serde::Deserialize)]
    struct Echo {
        text: String,
    }
    let echo = |arguments: Echo| async move { Ok::<_, std::convert::Infallible>(arguments.text) };
    ToolServer::new("bench").tool(Tool::new("echo", "Gives back its argument.", echo))
}

async fn single(
    settings: &Settings,
    report: &mut BTreeMap<&'static str, Value>,
) -> Result<(), Failure> {
    let created = Instant::now();
    let mut session = settings.builder().connect().await?;
    report.insert("connect_us", micros(created.elapsed()));
    let (begin, before) = (Instant::now(), cpu()?);
    let (mut messages, mut text) = (0_u64, 0);
    session.post("go").await?;
    let result = loop {
        let message = tokio::time::timeout(Duration::from_secs(30), session.next_message())
            .await?
            .ok_or("the session ended before its result")?;
        messages += 1;
        text += text_length(&message);
        if let Some(FromCli::Result(result)) = message.frame() {
            break result.result.clone();
        }
        if messages == 1 && !settings.stall.is_zero() {
            tokio::time::sleep(settings.stall).await;
        }
    };
    let after = cpu()?;
    report.insert("stream_us", micros(begin.elapsed()));
    report.insert("cpu_user_us", json!(after.0 - before.0));
    report.insert("cpu_sys_us", json!(after.1 - before.1));
    report.insert("messages", json!(messages));
    report.insert("text_units", json!(text));
    report.insert("result", json!(result));
    session.close().await;
    Ok(())
}

async fn hold(
    settings: &Settings,
    report: &mut BTreeMap<&'static str, Value>,
) -> Result<(), Failure> {
    report.insert("rss_before_kb", json!(status("VmRSS:")));
    let begin = Instant::now();
    let mut starting = tokio::task::JoinSet::new();
    for _ in 0..settings.sessions {
        let builder = settings.builder();
        starting.spawn(async move {
            let mut session = builder.connect().await.map_err(|error| error.to_string())?;
            turn(&mut session).await.map_err(|error| error.to_string())?;
            Ok::<_, String>(session)
        });
    }
    let mut sessions = Vec::new();
    while let Some(session) = starting.join_next().await {
        sessions.push(session??);
    }
    report.insert("sessions", json!(sessions.len()));
    report.insert("connect_all_us", micros(begin.elapsed()));
    let before = cpu()?;
    tokio::time::sleep(settings.hold).await;
    let after = cpu()?;
    report.insert("idle_cpu_us", json!(after.0 + after.1 - before.0 - before.1));
    report.insert("rss_after_kb", json!(status("VmRSS:")));
    report.insert("threads", json!(status("Threads:")));
    report.insert("fds", json!(std::fs::read_dir("/proc/self/fd")?.count()));
    Ok(())
}

async fn turn(session: &mut Session) -> Result<(), Failure> {
    session.post("go").await?;
    while let Some(message) = session.next_message().await {
        if let Some(FromCli::Result(_)) = message.frame() {
            return Ok(());
        }
    }
    Err("the session ended before its result".into())
}

/// The text in a message: of a delta, of the blocks of an answer, of a tool result.
fn text_length(message: &Message) -> usize {
    match message.frame() {
        Some(FromCli::StreamEvent(event)) => match &event.event {
            StreamEvent::ContentBlockDelta(delta) => match &delta.delta {
                BlockDelta::Text(delta) => delta.text.len(),
                _ => 0,
            },
            _ => 0,
        },
        Some(FromCli::Assistant(assistant)) => blocks(&assistant.message.content),
        Some(FromCli::User(user)) => blocks(&user.message.content),
        _ => 0,
    }
}

fn blocks(content: &Content) -> usize {
    let Content::Blocks(blocks) = content else { return 0 };
    let length = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::ToolResult(result) => match &result.content {
            Some(Content::Text(text)) => text.len(),
            _ => 0,
        },
        _ => 0,
    };
    blocks.iter().map(length).sum()
}

fn micros(time: Duration) -> Value {
    json!(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

/// The processor time of this process so far, for itself and in the kernel.
fn cpu() -> Result<(i64, i64), nix::Error> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
    Ok((micros(usage.user_time()), micros(usage.system_time())))
}

/// A number of `/proc/self/status`.
fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(field));
    value.and_then(|value| value.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
