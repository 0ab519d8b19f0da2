//! Turns: what comes of a message.

use countersign::permission::PermissionAsk;
use countersign::protocol::message::UserMessage;
use countersign::turn::{Decision, TurnEvent};
use countersign::{Dropped, Session, TurnError};
use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, V62, WRITE, builder, close, lab, on_all, soon};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("turns::text_calls_and_results_are_joined", V62, joined),
        on_all("turns::a_message_that_the_session_has_seen_has_no_turn", V62, seen),
        on_all("turns::a_queued_message_has_a_turn_of_its_own_or_shares_one", V62, queued),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn joined(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let allow = |ask: PermissionAsk| async move { ask.allow() };
    let mut session = soon("the start", builder(&lab).on_permission(allow).connect()).await?;
    let mut turn = session.send("Write it.").await?;
    let mut calls = 0;
    while let Some(event) = soon("an event", turn.next()).await {
        calls += usize::from(matches!(event, TurnEvent::ToolCall(_)));
    }
    let outcome = turn.finish().await?;
    assert_eq!(calls, 1);
    assert_eq!(outcome.text, "I will write it.\n\nThat was it.");
    assert_eq!(outcome.answer(), "That was it.");
    assert!(outcome.succeeded() && outcome.error().is_none() && outcome.denials().is_empty());
    assert!(outcome.total_cost_usd() > 0.0 && outcome.usage().is_some());
    let [call] = &outcome.tool_calls[..] else { panic!("{:?}", outcome.tool_calls) };
    assert_eq!((&*call.name, call.parent.as_ref()), ("Write", None));
    assert!(matches!(call.decision, Decision::Allowed { changed: false, .. }), "{call:?}");
    assert!(call.result.as_ref().is_some_and(|result| !result.is_error), "{call:?}");
    assert!(call.duration.is_some());
    assert_eq!(std::fs::read_to_string(lab.work().join("new.txt"))?, "new\n");
    let snapshot = session.snapshot();
    assert_eq!(snapshot.session_id.as_ref(), outcome.session_id());
    assert_eq!(snapshot.version, Some(cli.version()));
    close(session, lab).await;
    Ok(())
}

async fn queued(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let handle = std::sync::Arc::new(std::sync::OnceLock::<countersign::SessionHandle>::new());
    let queue = std::sync::Arc::clone(&handle);
    // While the tool is asked for, another message comes.
    let allow = move |ask: PermissionAsk| {
        let session = queue.get().cloned();
        async move {
            if let Some(session) = session {
                session.post(UserMessage::prompt("More.")).await?;
            }
            Ok::<_, countersign::SendError>(ask.allow())
        }
    };
    let mut session = soon("the start", builder(&lab).on_permission(allow).connect()).await?;
    handle.set(session.handle()).unwrap();
    let outcome = soon("the turn", session.send("Write it.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    // The message was taken up by that turn; the next one is the next one's.
    let outcome = soon("the turn", session.send("Go on.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "And more.");
    close(session, lab).await;
    Ok(())
}

const ONE: &str = "00000000-0000-4000-8000-000000000001";

/// The message with that id.
fn one() -> UserMessage {
    let mut message = UserMessage::prompt("One.");
    message.uuid = Some(ONE.into());
    message
}

/// A turn for it ends, and nothing is running because of it.
async fn is_known(session: &mut Session) -> Outcome {
    let handle = session.handle();
    let idle = async || {
        let mut watch = handle.watch();
        let idle = watch.wait_for(|snapshot| !snapshot.is_running);
        assert!(soon("the echo", idle).await.is_some());
    };
    let ended = soon("the end", session.send_message(one()).await?.finish()).await;
    assert!(matches!(ended, Err(TurnError::Dropped(Dropped::Known))), "{ended:?}");
    idle().await;
    handle.post(one()).await?;
    idle().await;
    // What the CLI has said of it is not taken for something of the next turn.
    let outcome = soon("the turn", session.send("Next.").await?.finish()).await?;
    assert!(outcome.answer().ends_with("Next."), "{outcome:?}");
    Ok(())
}

async fn seen(cli: Cli) -> Outcome {
    let lab = lab(cli, "otherwise = \"You said: ${text}\"").await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    let outcome = soon("the turn", session.send_message(one()).await?.finish()).await?;
    assert_eq!(outcome.answer(), "You said: One.");
    is_known(&mut session).await?;
    let id = session.snapshot().session_id.unwrap();
    session.close().await;
    // Another process of the same session knows it, too.
    let builder = builder(&lab).resume(id.as_str());
    let mut session = soon("the start", builder.connect()).await?;
    is_known(&mut session).await?;
    close(session, lab).await;
    Ok(())
}
