//! Turns: interrupted, in another mode, one after the other, in the background.

use std::time::Duration;

use countersign_server::id::TurnId;
use countersign_server::service::NewMessage;
use countersign_server::session::{
    Answer, ApprovalAnswered, By, Happening, Head, Image, InterruptAsked, Stage, State, TurnCause,
    TurnEnd,
};
use countersign_server::store::Write;
use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, World, on_all, start_cli_through};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("turns::interrupted_while_somebody_is_asked", interrupted),
        on_all("turns::interrupted_and_then_allowed", interrupted_then_allowed),
        on_all("turns::interrupted_while_the_answer_is_on_its_way", interrupted_opening),
        on_all("turns::another_mode", another_mode),
        on_all("turns::of_two_wishes_the_last_is_granted", two_wishes),
        on_all("turns::queued_messages", queued),
        on_all("turns::a_message_into_a_turn_that_runs_a_tool", now_in_a_tool_turn),
        on_all("turns::a_message_into_a_turn_that_only_speaks", now_in_a_text_turn),
        on_all("turns::a_message_behind_a_result_is_not_lost", behind_a_result),
        on_all("turns::a_picture", picture),
        on_all("turns::a_task_in_the_background", background),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn interrupted(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    world.asked(session).await;
    let turn = world.head(session).await.turn.unwrap().id;
    let stale = world.client.interrupt(session, TurnId::new()).await.unwrap_err();
    assert_eq!(stale.stale_turn(), Some(Some(turn)));
    world.client.interrupt(session, turn).await?;
    let head = world.at_rest(session).await;
    assert_eq!(head.state(), State::Ready);
    assert_eq!(world.stages(session).await, [Stage::Cancelled]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Interrupted]);
    world.say(session, "Go on.").await;
    world.at_rest(session).await;
    assert!(!world.has_file("new.txt"));
    world.close().await
}

/// What is first in the log is first: nothing runs after the turn was ended, though both are looked at
/// together.
async fn interrupted_then_allowed(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let turn = world.head(session).await.turn.unwrap().id;
    let by = By::Server;
    let answered = ApprovalAnswered {
        approval: asked.id,
        answer: Answer::allow(),
        by: by.clone(),
        child: None,
    };
    let both = vec![InterruptAsked { turn, by }.into(), answered.into()];
    world.hub.store().write(Write::to(session, both)).await?;
    world.hub.poke(session);
    world.at_rest(session).await;
    assert!(!world.has_file("new.txt"));
    assert_eq!(world.stages(session).await, [Stage::Cancelled]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Interrupted]);
    world.close().await
}

/// The same while a process is started for the answer.
async fn interrupted_opening(cli: Cli) -> Outcome {
    let world = World::with(cli, WRITE, |config| {
        start_cli_through(config, "while [ -e $HERE/hold ]; do sleep 0.05; done");
        config.limits.park_after = Some(Duration::ZERO);
    })
    .await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let parked = world.until(session, "parked", |head| head.state() == State::Parked).await;
    let hold = world.config.data.join("hold");
    std::fs::write(&hold, "")?;
    world.answer(&asked, Answer::allow()).await;
    world.until(session, "starting", |head| head.state() == State::Starting).await;
    world.client.interrupt(session, parked.turn.unwrap().id).await?;
    std::fs::remove_file(&hold)?;
    world.at_rest(session).await;
    assert!(!world.has_file("new.txt"));
    assert_eq!(world.stages(session).await, [Stage::Cancelled]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Interrupted]);
    world.say(session, "Go on.").await;
    world.at_rest(session).await;
    assert!(!world.has_file("new.txt"));
    world.close().await
}

async fn another_mode(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.client.set_mode(session, "acceptEdits".into()).await?;
    world.until(session, "in another mode", |head| head.mode.as_str() == "acceptEdits").await;
    world.answer(&asked, Answer::deny("no")).await;
    world.at_rest(session).await;
    world.client.set_mode(session, "plan".into()).await?;
    world.until(session, "in plan mode", |head| head.mode.as_str() == "plan").await;
    let forbidden = world.client.set_mode(session, "bypassPermissions".into()).await;
    assert_eq!(forbidden.unwrap_err().problem().unwrap().kind(), "invalid");
    world.stop(session).await;
    assert_eq!(world.head(session).await.mode.as_str(), "plan");
    world.close().await
}

/// Whoever wants something while the CLI is still busy with the wish before gets it, too.
async fn two_wishes(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.signal_cli(session, Signal::STOP).await;
    world.client.set_mode(session, "acceptEdits".into()).await?;
    world.client.set_model(session, Some("first")).await?;
    // Until the CLI was asked for them.
    tokio::time::sleep(Duration::from_millis(300)).await;
    world.client.set_mode(session, "plan".into()).await?;
    world.client.set_model(session, Some("second")).await?;
    world.signal_cli(session, Signal::CONT).await;
    let is_granted = |head: &Head| head.wanted_mode.is_none() && head.wanted_model.is_none();
    let head = world.until(session, "granted what was wanted", is_granted).await;
    assert_eq!((head.mode.as_str(), head.model.as_deref()), ("plan", Some("second")));
    world.answer(&asked, Answer::deny("no")).await;
    world.at_rest(session).await;
    world.say(session, "Go on.").await;
    let head = world.at_rest(session).await;
    assert_eq!(head.mode.as_str(), "plan", "the CLI agrees");
    let frames = world.frames(session).await;
    let last = frames.iter().rfind(|frame| frame["subtype"] == "init").unwrap();
    assert_eq!((&last["permissionMode"], &last["model"]), (&"plan".into(), &"second".into()));
    world.close().await
}

const TALK: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { text = "/said (\\w+)/" }
text = "You said ${match.1}."

[[answer]]
text = "All right."
"#;

/// Messages wait for their turn; meanwhile they can be changed, taken back and put in another order.
async fn queued(cli: Cli) -> Outcome {
    let world = World::new(cli, TALK).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let mut messages = Vec::new();
    for text in ["I said one", "I said two", "I said three"] {
        let new = NewMessage { text: text.to_owned(), ..NewMessage::default() };
        messages.push(world.client.send(session, &new).await?.message);
    }
    let [one, two, three] = messages[..] else { panic!() };
    world.client.remove_message(session, two).await?;
    let content = countersign_server::session::MessageContent::text("I said four");
    world.client.edit_message(session, one, content).await?;
    world.client.order_messages(session, vec![three, one]).await?;
    world.answer(&asked, Answer::deny("no")).await;
    world.at_rest(session).await;
    let texts = world.texts(session).await;
    assert_eq!(texts[texts.len() - 2..], ["You said three.", "You said four."], "{texts:?}");
    assert_eq!(world.turn_ends(session).await.len(), 3);
    let late = world.client.remove_message(session, one).await;
    assert_eq!(late.unwrap_err().problem().unwrap().kind(), "not-queued");
    world.close().await
}

/// One pixel.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn picture(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"Seen.\"").await;
    let session = world.create("Hello.").await;
    world.at_rest(session).await;
    let image = Image { media_type: "image/png".to_owned(), data: PICTURE.to_owned() };
    let new = NewMessage { text: "What is it?".to_owned(), images: vec![image], now: false };
    world.client.send(session, &new).await?;
    world.at_rest(session).await;
    if matches!(cli, Cli::Real(_)) {
        let asked = world.lab.model().model_requests();
        let last = format!("{:?}", asked.last().unwrap());
        assert!(last.contains("image/png"), "{last}");
    }
    let broken = Image { media_type: "image/png".to_owned(), data: "?".to_owned() };
    let new = NewMessage { images: vec![broken], ..NewMessage::default() };
    let refused = world.client.send(session, &new).await;
    assert_eq!(refused.unwrap_err().problem().unwrap().kind(), "invalid");
    world.close().await
}

const BACKGROUND: &str = r#"
[[answer]]
tool = { name = "Bash", input = { command = "sleep 0.5; echo over > over.txt", run_in_background = true }, takes = "500ms" }

[[answer]]
text = "It runs."

[[answer]]
text = "It is over."
"#;

/// A task that ends begins a turn that nobody asked for; until then the process is kept.
async fn background(cli: Cli) -> Outcome {
    let world = World::with(cli, BACKGROUND, |config| {
        config.limits.idle_after = Some(Duration::from_millis(700));
    })
    .await;
    let session = world.create("Run it.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::allow()).await;
    world.until(session, "idle", |head| head.state() == State::Idle).await;
    // The simulated CLI runs no commands.
    assert!(world.has_file("over.txt") || matches!(cli, Cli::Simulated(_)));
    assert_eq!(world.texts(session).await, ["It runs.", "It is over."]);
    let causes: Vec<_> = world
        .happenings(session)
        .await
        .iter()
        .filter_map(|happening| match happening {
            Happening::TurnBegan(began) => Some(began.cause),
            _ => None,
        })
        .collect();
    assert_eq!(causes, [TurnCause::Message, TurnCause::Cli]);
    world.close().await
}

/// Says something that goes into the turn that is running.
async fn say_now(world: &World, session: countersign_server::id::SessionId, text: &str) {
    let new = NewMessage { text: text.to_owned(), now: true, ..NewMessage::default() };
    let message = world.client.send(session, &new).await.unwrap().message;
    let is_sent =
        |head: &Head| head.turn.as_ref().is_some_and(|turn| turn.messages.contains(&message));
    world.until(session, "told", is_sent).await;
}

/// Who is told something while a tool runs has it in the same turn.
async fn now_in_a_tool_turn(cli: Cli) -> Outcome {
    const SLOW: &str = r#"
otherwise = "I should not be here."

[[answer]]
when = { text = "Begin" }
tool = { name = "Bash", input = { command = "touch ran.txt; sleep 2" }, takes = "2s" }

[[answer]]
when = { tool = "Bash" }
text = "It has run."
"#;
    let world = World::new(cli, SLOW).await;
    let session = world.create("Begin.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::allow()).await;
    let is_out =
        |head: &Head| head.approvals.values().any(|pending| pending.stage == Stage::Delivered);
    world.until(session, "at work", is_out).await;
    say_now(&world, session, "By the way.").await;
    world.at_rest(session).await;
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done], "it is one turn");
    assert_eq!(world.texts(session).await.len(), 1);
    if matches!(cli, Cli::Real(_)) {
        assert!(world.last_request().contains("By the way."), "{}", world.last_request());
    }
    world.close().await
}

const SLOW_TALK: &str = r#"
otherwise = "I am lost."

[[answer]]
when = { text = '/Two|restarted while you were working/' }
text = "Second."
delay = "1s"

[[answer]]
when = { text = "One" }
text = "First."
delay = "1s"
"#;

/// In a turn that only speaks there is no place for it: it is the next one.
async fn now_in_a_text_turn(cli: Cli) -> Outcome {
    let world = World::new(cli, SLOW_TALK).await;
    let session = world.create("One.").await;
    world.until(session, "at work", |head| head.turn.is_some()).await;
    say_now(&world, session, "Two.").await;
    world.at_rest(session).await;
    assert_eq!(world.texts(session).await, ["First.", "Second."]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done, TurnEnd::Done]);
    let head = world.head(session).await;
    assert_eq!((head.usage.turns, head.state()), (2, State::Ready));
    world.close().await
}

/// The CLI is lost when it has a message that it did not come to, or has only begun with.
async fn behind_a_result(cli: Cli) -> Outcome {
    let world = World::new(cli, SLOW_TALK).await;
    let session = world.create("One.").await;
    world.until(session, "at work", |head| head.turn.is_some()).await;
    say_now(&world, session, "Two.").await;
    let head = world.until(session, "at the result", |head| head.usage.turns == 1).await;
    assert_eq!(head.turn.unwrap().messages.len(), 1, "it is the next turn's");
    world.kill_cli(session).await;
    let head = world.until(session, "at rest", |head| head.usage.turns == 2).await;
    assert_eq!((head.generation, head.turn, head.queue.len()), (2, None, 0));
    assert_eq!(world.texts(session).await, ["First.", "Second."]);
    world.close().await
}
