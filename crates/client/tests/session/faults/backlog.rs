//! More than anybody reads.

use countersign::permission::PermissionAsk;
#[cfg(feature = "mcp")]
use countersign::protocol::RawJson;
use countersign::{Message, Saying, Session};
use serde_json::{Value, json};

use crate::kit::{Outcome, soon};
use crate::puppet::{Fault, Puppet, Stage, connect, fault, in_one_thread};

pub(super) fn faults() -> Vec<Fault> {
    vec![
        fault(
            "floods_stderr",
            floods_stderr,
            |stage| async move { stage.client_within(LITTLE).await },
        )
        .client(stderr_is_read),
        fault("floods_somebody_who_does_not_read", floods, |stage| async move {
            stage.client_within(LITTLE).await
        })
        .client(all_is_answered_and_read_later),
        fault("floods_somebody_who_wants_no_pieces", pieces, only_pieces_are_dropped),
        fault("writes_without_end", writes_without_end, others_get_their_turns),
        #[cfg(feature = "mcp")]
        fault("does_not_read_how_far_a_tool_is", calls_a_tool, reports_are_left_out),
    ]
}

/// What a client needs at most, far less than what comes.
const LITTLE: u64 = 100 << 20;

const STDERR: usize = 100_000_000;

fn floods_stderr(puppet: &mut Puppet) {
    puppet.open();
    let chunk = vec![b'x'; 1_000_000];
    for _ in 0..STDERR / chunk.len() {
        puppet.say_err(&chunk);
    }
    puppet.say_err("last words");
    puppet.report(&json!("done"));
}

async fn stderr_is_read(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    assert_eq!(crate::puppet::report(&mut session).await, "done");
    let end = soon("the end", session.ended()).await;
    assert!(end.stderr.ends_with("xxxlast words") && end.stderr.len() < 10_000);
    assert_eq!(session.stats().stderr_bytes, STDERR as u64 + 10);
    stage.tell_peak();
    Ok(())
}

const MESSAGES: usize = 10_000;
const ASKS: usize = 100;

fn floods(puppet: &mut Puppet) {
    puppet.open();
    let text = "x".repeat(15_000);
    for number in 0..MESSAGES {
        puppet.message(&format!("{number} {text}"));
        if number % (MESSAGES / ASKS) == 0 {
            puppet.ask(&format!("r{number}"), "Write", &json!({}));
        }
    }
    for _ in 0..ASKS {
        let answer = puppet.read_type("control_response");
        assert_eq!(answer["response"]["response"]["behavior"], "allow");
    }
    puppet.sign("all answered");
    assert_eq!(puppet.read_all(), Vec::<Value>::new());
}

/// The number that the text of a message begins with.
fn number(message: &Message) -> Option<usize> {
    let frame: Value = serde_json::from_slice(message.line()).ok()?;
    let text = frame["message"]["content"][0]["text"].as_str()?;
    text.split(' ').next()?.parse().ok()
}

async fn all_is_answered_and_read_later(stage: Stage) -> Outcome {
    let allow = |ask: PermissionAsk| async move { ask.allow() };
    let mut session = connect(stage.builder().on_permission(allow)).await;
    stage.signed("all answered").await;
    for expected in 0..MESSAGES {
        let message = soon("a message", session.next_message()).await.unwrap();
        assert_eq!(number(&message), Some(expected));
    }
    let stats = session.stats();
    assert!(stats.spooled_bytes > 100_000_000, "{stats:?}");
    assert_eq!(stats.dropped_deltas, 0);
    soon("the end", session.handle().close()).await;
    assert!(session.next_message().await.is_none());
    stage.tell_peak();
    Ok(())
}

/// So many pieces come before each whole message.
const PIECES: usize = 9;

fn pieces(puppet: &mut Puppet) {
    puppet.open();
    for number in 0..MESSAGES {
        if number % (PIECES + 1) == PIECES {
            puppet.message(&number.to_string());
        } else {
            puppet.say(&json!({ "type": "stream_event", "number": number, "event": {} }));
        }
        if number % 1000 == 0 {
            puppet.ask(&format!("r{number}"), "Write", &json!({}));
            puppet.read_type("control_response");
        }
    }
    puppet.sign("all written");
    puppet.read_all();
}

async fn only_pieces_are_dropped(stage: Stage) -> Outcome {
    let builder = stage.builder().drop_unread_deltas().unread_in_memory(20_000);
    let mut session: Session = connect(builder).await;
    stage.signed("all written").await;
    soon("the end", session.handle().close()).await;
    let (mut expected, mut dropped) = (0, 0);
    while let Some(message) = soon("a message", session.next_message()).await {
        if let Saying::DeltasDropped { count } = message.saying() {
            // No whole message is among them.
            let count = usize::try_from(*count)?;
            let first_whole = expected / (PIECES + 1) * (PIECES + 1) + PIECES;
            assert!(expected + count <= first_whole, "{count} after {expected}");
            (expected, dropped) = (expected + count, dropped + count);
            continue;
        }
        let frame: Value = serde_json::from_slice(message.line())?;
        let piece = frame["number"].as_u64().and_then(|number| usize::try_from(number).ok());
        assert_eq!(piece.or_else(|| number(&message)), Some(expected));
        expected += 1;
    }
    assert_eq!(expected, MESSAGES);
    assert!(dropped > MESSAGES / 2);
    assert_eq!(session.stats().dropped_deltas, dropped as u64);
    Ok(())
}

fn writes_without_end(puppet: &mut Puppet) {
    puppet.open();
    puppet.leave_behind("yes", "no JSON");
    puppet.freeze();
}

async fn others_get_their_turns(stage: Stage) -> Outcome {
    // In one thread, where one who never rests holds up all others.
    let part = async move || {
        let session = stage.session().await;
        let (mut read, mut most) = (0, 0);
        while read < 1_000_000 {
            tokio::task::yield_now().await;
            let now = session.stats().frames;
            (most, read) = (most.max(now - read), now);
        }
        assert!(most < 500_000, "{most} lines were read while others waited");
        soon("the end", session.handle().kill()).await;
        Ok(())
    };
    in_one_thread(part).await
}

/// Calls a tool, and reads nothing until the tool has said all that it has to say.
#[cfg(feature = "mcp")]
fn calls_a_tool(puppet: &mut Puppet) {
    puppet.open();
    puppet.say(&json!({ "type": "control_request", "request_id": "r1", "request": {
        "subtype": "mcp_message", "server_name": "s",
        "message": { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "t", "arguments": {}, "_meta": { "progressToken": 1 },
        } },
    } }));
    puppet.wait_for("all said");
    let mut reports = 0_usize;
    loop {
        let frame = puppet.read().unwrap();
        match frame["type"].as_str() {
            Some("control_request") => reports += 1,
            Some("control_response") => break,
            _ => {}
        }
    }
    puppet.report(&json!(reports));
}

#[cfg(feature = "mcp")]
const REPORTS: u32 = 10_000;

#[cfg(feature = "mcp")]
async fn reports_are_left_out(stage: Stage) -> Outcome {
    use countersign::mcp::{Call, Tool, ToolServer};

    let sign = stage.clone();
    let talks = move |_: RawJson, call: Call| {
        let stage = sign.clone();
        async move {
            let word = "x".repeat(1000);
            for number in 0..REPORTS {
                call.progress(number.into(), None, Some(&word));
            }
            stage.sign("all said");
            Ok::<_, std::convert::Infallible>("done")
        }
    };
    let server = ToolServer::new("s").tool(Tool::new("t", "Talks.", talks));
    let mut session = connect(stage.builder().in_process_mcp(server)).await;
    let reports = crate::puppet::report(&mut session).await.as_u64().unwrap();
    // What has room is carried, and no more than that.
    assert!((100..5_000).contains(&reports), "{reports}");
    soon("the end", session.close()).await;
    Ok(())
}
