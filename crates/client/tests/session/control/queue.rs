//! Interrupts, and messages that wait behind a turn.

use countersign::cli::Capability;
use countersign::permission::AllowAll;
use countersign::protocol::ids::MessageUuid;
use countersign::protocol::message::{Priority, ResultSubtype, TerminalReason, UserMessage};
use countersign::protocol::request::McpStatus;
use countersign::turn::{Outcome as TurnOutcome, Turn, TurnEvent};
use countersign::{ControlError, Dropped, Session, TurnError};
use countersign_lab::Lab;
use countersign_lab::script::RequestKind;
use libtest_mimic::Trial;

use super::has;
use crate::kit::{Cli, Outcome, V62, V197, V325, builder, close, lab, on_all, on_real, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("control::queue::a_turn_is_interrupted_and_says_so", V62, interrupted),
        on_all("control::queue::a_queued_message_survives_an_interrupt", V62, survives),
        on_all("control::queue::an_interrupt_can_drop_what_is_queued", V62, dropped),
        on_all("control::queue::a_queued_message_is_withdrawn", V197, withdrawn),
        on_real("control::queue::priorities_say_when_a_message_is_read", V62, priorities),
        on_all("control::queue::a_queued_turn_has_its_own_result", V62, own_result),
        on_all("control::queue::the_turn_of_a_withdrawn_message_ends", V197, no_turn),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A turn that would not end, and one behind it.
const HANGS: &str = r#"
otherwise = "You said: ${text}"

[[answer]]
text = "one two three four"
hang = 4
"#;

/// Begins a turn, and waits until the model writes.
async fn begun(session: &mut Session) -> Turn<&mut Session> {
    let mut turn = session.send("Write.").await.unwrap();
    while let Some(event) = soon("an event", turn.next()).await {
        if matches!(event, TurnEvent::TextDelta { .. }) {
            return turn;
        }
    }
    panic!("the turn is over");
}

async fn queue(turn: &Turn<&mut Session>, text: &str) -> MessageUuid {
    turn.session().post(text).await.unwrap()
}

/// The model was told this last, and nothing of the other message. The CLI tells it of the interrupt
/// as well.
#[track_caller]
fn assert_said(outcome: &TurnOutcome, text: &str) {
    let answer = outcome.answer();
    assert!(answer.starts_with("You said: ") && answer.ends_with(text), "{answer}");
    assert_eq!(answer.contains("Queued."), text == "Queued.", "{answer}");
}

async fn interrupted(cli: Cli) -> Outcome {
    let lab = lab(cli, HANGS).await;
    let mut session = soon("the start", builder(&lab).partial_messages().connect()).await?;
    let turn = begun(&mut session).await;
    assert!(turn.session().snapshot().is_running);
    let receipt = soon("the receipt", turn.session().interrupt()).await?;
    if Capability::INTERRUPT_RECEIPT.in_version(cli.version()) {
        assert_eq!(receipt.still_queued, Some(Vec::new()));
    }
    let outcome = soon("the end", turn.finish()).await?;
    assert!(!outcome.succeeded() && outcome.error().is_some(), "{outcome:?}");
    assert!(outcome.interrupted());
    assert_eq!(outcome.result.subtype, ResultSubtype::ErrorDuringExecution);
    if cli.version() >= V197 {
        assert_eq!(outcome.result.terminal_reason, Some(TerminalReason::AbortedStreaming));
    }
    // Nothing runs, so nothing is stopped, and the next turn is a turn like any other.
    session.interrupt().await?;
    let outcome = soon("the turn", session.send("Next.").await?.finish()).await?;
    assert_said(&outcome, "Next.");
    assert!(!outcome.interrupted());
    close(session, lab).await;
    Ok(())
}

async fn survives(cli: Cli) -> Outcome {
    let lab = lab(cli, HANGS).await;
    let mut session = soon("the start", builder(&lab).partial_messages().connect()).await?;
    let turn = begun(&mut session).await;
    let queued = queue(&turn, "Queued.").await;
    let receipt = turn.session().interrupt().await?;
    if Capability::INTERRUPT_RECEIPT.in_version(cli.version()) {
        assert_eq!(receipt.still_queued, Some(vec![queued]));
    }
    assert!(soon("the end", turn.finish()).await?.interrupted());
    let outcome = soon("the queued turn", session.current_turn().finish()).await?;
    assert_said(&outcome, "Queued.");
    close(session, lab).await;
    Ok(())
}

async fn dropped(cli: Cli) -> Outcome {
    let lab = lab(cli, HANGS).await;
    let mut session = soon("the start", builder(&lab).partial_messages().connect()).await?;
    let turn = begun(&mut session).await;
    let queued = queue(&turn, "Queued.").await;
    let result = turn.session().interrupt_and_drop_queued().await;
    if cli.version() < V325 {
        // The CLI would stop the turn and keep the message, so it is not asked.
        assert!(matches!(result, Err(ControlError::Unsupported(_))), "{result:?}");
        assert!(turn.session().snapshot().is_running);
        turn.session().interrupt().await?;
        assert!(soon("the end", turn.finish()).await?.interrupted());
        close(session, lab).await;
        return Ok(());
    }
    assert_eq!(result?.cancelled, Some(vec![queued]));
    assert!(soon("the end", turn.finish()).await?.interrupted());
    let outcome = soon("the turn", session.send("Next.").await?.finish()).await?;
    assert_said(&outcome, "Next.");
    close(session, lab).await;
    Ok(())
}

async fn withdrawn(cli: Cli) -> Outcome {
    assert!(has(cli, "cancel_async_message"));
    let lab = lab(cli, HANGS).await;
    let mut session = soon("the start", builder(&lab).partial_messages().connect()).await?;
    let turn = begun(&mut session).await;
    let queued = queue(&turn, "Queued.").await;
    assert!(turn.session().cancel_message(queued.clone()).await?);
    assert!(!turn.session().cancel_message(queued).await?);
    turn.session().interrupt().await?;
    assert!(soon("the end", turn.finish()).await?.interrupted());
    let outcome = soon("the turn", session.send("Next.").await?.finish()).await?;
    assert_said(&outcome, "Next.");
    close(session, lab).await;
    Ok(())
}

/// A tool that runs until it is told to stop, and a text that never ends.
const WAITS: &str = r#"
otherwise = "You said: ${text}"

[[answer]]
when = { text = "Run." }
times = 1
tool = { name = "Bash", input = { command = "touch runs; while [ ! -e go ]; do sleep 0.05; done", timeout = 600000 } }

[[answer]]
when = { text = "Write." }
times = 1
text = "one two three four"
hang = 4
"#;

/// Sends messages with priorities while a turn runs.
async fn post_all(
    turn: &Turn<&mut Session>,
    messages: impl IntoIterator<Item = (&str, Priority)>,
) -> Outcome {
    let handle = turn.session().handle();
    for (text, priority) in messages {
        handle.post(UserMessage::prompt(text).with_priority(priority)).await?;
    }
    // By the time that this is answered, the CLI has read them.
    handle.call(McpStatus::new()).await?;
    Ok(())
}

/// Which of the messages each request to the model has, in their order.
fn read_in<'a>(lab: &Lab, messages: [&'a str; 3]) -> Vec<Vec<&'a str>> {
    let requests = lab.model().model_requests();
    let main = requests.iter().filter(|request| request.kind == Some(RequestKind::Main));
    main.map(|request| {
        let said = serde_json::to_string(request.messages()).unwrap();
        let place = |text: &str| said.find(text);
        let mut there: Vec<_> = messages.into_iter().filter(|text| place(text).is_some()).collect();
        there.sort_by_key(|text| place(text));
        there
    })
    .collect()
}

async fn priorities(cli: Cli) -> Outcome {
    let lab = lab(cli, WAITS).await;
    let builder = builder(&lab).on_permission(AllowAll).partial_messages();
    let mut session = soon("the start", builder.connect()).await?;
    let turn = session.send("Run.").await?;
    let running = async {
        while !lab.work().join("runs").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    soon("the tool", running).await;
    let (later, next) = (("Wait, then.", Priority::Later), ("Next, then.", Priority::Next));
    let now = ("Now, please.", Priority::Now);
    if cli.version() < V197 {
        post_all(&turn, [later, next, now]).await?;
        std::fs::write(lab.work().join("go"), "")?;
        soon("the turn", turn.finish()).await?;
        let all = ["Wait, then.", "Next, then.", "Now, please."];
        assert_eq!(read_in(&lab, all), [&[][..], &all[..]], "all are read in the running turn");
        close(session, lab).await;
        return Ok(());
    }
    post_all(&turn, [later, next]).await?;
    std::fs::write(lab.work().join("go"), "")?;
    soon("the turn", turn.finish()).await?;
    let outcome = soon("the turn of the later one", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "You said: Wait, then.");
    let read = read_in(&lab, ["Wait, then.", "Next, then.", "Now, please."]);
    assert_eq!(read, [&[][..], &["Next, then."], &["Next, then.", "Wait, then."]]);

    let turn = begun(&mut session).await;
    post_all(&turn, [("Later still.", Priority::Later), now]).await?;
    let cut = soon("the end", turn.finish()).await?;
    assert_eq!(cut.result.terminal_reason, Some(TerminalReason::AbortedStreaming));
    for expected in ["Now, please.", "Later still."] {
        let outcome = soon("its turn", session.current_turn().finish()).await?;
        assert!(outcome.answer().ends_with(expected), "{}", outcome.answer());
    }
    close(session, lab).await;
    Ok(())
}

/// Somebody else's message runs when ours is sent, and ours is dropped.
async fn no_turn(cli: Cli) -> Outcome {
    let drops_all: &[bool] = if cli.version() < V325 { &[false] } else { &[false, true] };
    for &drops_all in drops_all {
        let lab = lab(cli, HANGS).await;
        let mut session = soon("the start", builder(&lab).partial_messages().connect()).await?;
        drop(begun(&mut session).await);
        let handle = session.handle();
        let turn = session.send("Queued.").await?;
        let message = turn.message_id().unwrap().clone();
        let (ended, ()) = tokio::join!(soon("the end", turn.finish()), async {
            if drops_all {
                let receipt = handle.interrupt_and_drop_queued().await.unwrap();
                assert_eq!(receipt.cancelled, Some(vec![message]));
            } else {
                assert!(handle.cancel_message(message).await.unwrap());
            }
        });
        assert!(matches!(ended, Err(TurnError::Dropped(Dropped::Withdrawn))), "{ended:?}");
        if !drops_all {
            // The other turn goes on, until it is stopped.
            assert!(handle.snapshot().is_running);
            handle.interrupt().await?;
        }
        assert!(soon("the end", session.current_turn().finish()).await?.interrupted());
        let outcome = soon("the turn", session.send("Next.").await?.finish()).await?;
        assert_said(&outcome, "Next.");
        close(session, lab).await;
    }
    Ok(())
}

/// Messages wait before ours, which is a prompt, or a command: versions before 2.1.325 do not show
/// that they take up one.
async fn own_result(cli: Cli) -> Outcome {
    for (before, ours, answer) in
        [(vec!["One.", "Two."], "Three.", "Three."), (vec!["One."], "/cost", "Total cost")]
    {
        let lab = lab(cli, HANGS).await;
        let mut session = soon("the start", builder(&lab).partial_messages().connect()).await?;
        drop(begun(&mut session).await);
        for text in before {
            session.post(text).await?;
        }
        let handle = session.handle();
        let turn = session.send(ours).await?;
        handle.interrupt().await?;
        let outcome = soon("the end", turn.finish()).await?;
        assert!(!outcome.interrupted() && outcome.answer().contains(answer), "{outcome:?}");
        assert!(!outcome.unasked.is_empty());
        close(session, lab).await;
    }
    Ok(())
}
