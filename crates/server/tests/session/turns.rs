//! Turns: interrupted, in another mode, one after the other, in the background, cut off.

use std::time::Duration;

use countersign_server::id::TurnId;
use countersign_server::service::{ForkSession, NewMessage, NewSession};
use countersign_server::session::{
    Allow, Answer, ApprovalAnswered, By, Happening, Head, Image, InterruptAsked, Stage, State,
    TurnCause, TurnEnd,
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
        on_all("turns::stopped_and_resumed", stopped),
        on_all("turns::forked", forked),
        on_all("turns::the_cli_is_killed_while_somebody_is_asked", killed_asking),
        on_all("turns::the_cli_refuses_by_itself_what_a_lost_server_was_asked", refused_by_itself),
        on_all("turns::another_input_is_told_to_the_model", told_another_input),
        on_all("turns::what_was_told_runs_without_being_asked_for", told_and_not_asked),
        on_all("turns::the_cli_is_killed_with_two_questions_open", killed_with_two),
        on_all("turns::the_cli_is_killed_at_work", killed_at_work),
        on_all("turns::the_cli_is_killed_at_work_and_its_transcript_is_lost", killed_and_lost),
        on_all("turns::the_server_stops_while_one_runs", server_stops),
        on_all("turns::the_transcript_is_lost", transcript_lost),
        on_all("turns::the_cli_has_the_conversation_already", begun_unheard),
        on_all("turns::the_home_folder_is_lost", home_lost),
        on_all("turns::forked_when_the_home_folder_is_lost", forked_without_home),
        on_all("turns::forked_when_the_transcript_is_lost", forked_without_transcript),
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

async fn stopped(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    world.asked(session).await;
    world.stop(session).await;
    assert_eq!(world.stages(session).await, [Stage::Cancelled]);
    world.client.resume(session).await?;
    assert_eq!(world.head(session).await.state(), State::Idle);
    world.say(session, "Go on.").await;
    let head = world.at_rest(session).await;
    assert_eq!(head.generation, 2);
    assert!(!world.has_file("new.txt"));
    world.close().await
}

async fn forked(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"I say.\"").await;
    let session = world.create("One.").await;
    world.at_rest(session).await;
    let first = world.last_uuid(session).await;
    world.say(session, "Two.").await;
    world.at_rest(session).await;
    for (at, knows_two) in [(None, true), (Some(first), false)] {
        let prompt = Some("Three.".to_owned());
        let fork = ForkSession { at, title: Some("A copy".to_owned()), prompt };
        let made = world.client.fork(session, &fork).await?.session;
        let head = world.at_rest(made).await;
        assert_eq!(head.title, "A copy");
        assert_ne!(head.conversation.id, world.head(session).await.conversation.id);
        assert_eq!(world.last_text(made).await, "I say.");
        if matches!(cli, Cli::Real(_)) {
            let asked = world.lab.model().model_requests();
            let last = format!("{:?}", asked.last().unwrap());
            assert_eq!(last.contains("Two."), knows_two, "{last}");
        }
    }
    world.close().await
}

/// The answer gets to the call, though the process that made it is gone.
async fn killed_asking(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.kill_cli(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    world.answer(&asked, Answer::allow()).await;
    world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!(world.stages(session).await, [Stage::Done]);
    world.close().await
}

/// A CLI that loses the server while it asks writes down that the call was refused. It was not: nobody
/// had answered.
async fn refused_by_itself(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let result = "Tool permission request failed: Error: Tool permission stream closed before \
                  response received";
    world.lose_while_asked(&asked, result).await;
    world.answer(&asked, Answer::allow()).await;
    world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!(world.stages(session).await, [Stage::Done], "nobody was asked again");
    assert_eq!(world.last_text(session).await, "That was it.");
    world.close().await
}

/// What was decided is what the model is told, also when that is another input; and it may do that
/// without asking again.
async fn told_another_input(cli: Cli) -> Outcome {
    const OTHER: &str = r#"
[[answer]]
when = { text = '/with this input instead: .*"file_path":"([^"]*)"/' }
tool = { name = "Write", input = { file_path = "${match.1}", content = "other\n" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;
    let world = World::new(cli, OTHER).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.lose_while_asked(&asked, "Stream closed").await;
    let file = world.lab.work().join("other.txt");
    let input = serde_json::json!({"file_path": file, "content": "other\n"});
    let allow = Allow { input: Some(input.into()), ..Allow::default() };
    world.answer(&asked, Answer::Allow(allow)).await;
    let head = world.at_rest(session).await;
    assert!(world.has_file("other.txt") && !world.has_file("new.txt"));
    assert_eq!(world.stages(session).await, [Stage::Done], "nobody was asked again");
    assert!(head.grants.is_empty());
    world.close().await
}

/// The model was told to make the call again, and in the mode that is in force by now it runs without
/// being asked for. It has run then, and is not asked for once more when the process is lost.
async fn told_and_not_asked(cli: Cli) -> Outcome {
    const AGAIN: &str = r#"
otherwise = "That was it."

[[answer]]
when = { text = "Make the call again" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { tool = "Write", error = false }
tool = { name = "Bash", input = { command = "npm test" } }

[[answer]]
when = { text = "Write it" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }
"#;
    let world = World::new(cli, AGAIN).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.lose_while_asked(&asked, "Stream closed").await;
    world.client.set_mode(session, "acceptEdits".into()).await?;
    world.answer(&asked, Answer::allow()).await;
    let is_other = |head: &Head| {
        let mut open = head.approvals.values().filter(|pending| pending.stage == Stage::Open);
        open.any(|pending| pending.tool == "Bash")
    };
    let head = world.until(session, "asking for the next", is_other).await;
    assert!(world.has_file("new.txt"));
    assert!(head.grants.is_empty());
    let next = world.asked(session).await;
    assert_eq!(world.stages(session).await, [Stage::Done, Stage::Open]);
    world.kill_cli(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    world.answer(&next, Answer::deny("no")).await;
    world.at_rest(session).await;
    let written = |happening: &Happening| matches!(happening, Happening::ToolCalled(called) if called.tool == "Write");
    assert_eq!(world.count(session, written).await, 2, "it was asked for, and ran once");
    assert_eq!(world.stages(session).await, [Stage::Done, Stage::Done]);
    world.close().await
}

/// Of two calls the CLI brings back one at most, so the model is told what was decided about both.
async fn killed_with_two(cli: Cli) -> Outcome {
    const TWO: &str = r#"
[[answer]]
when = { text = "Make the call again" }
tools = [
    { name = "Read", input = { file_path = "${home}/one.txt" }, result = "one" },
    { name = "Read", input = { file_path = "${home}/two.txt" }, result = "two" },
]
times = 1

[[answer]]
tools = [
    { name = "Read", input = { file_path = "${home}/one.txt" }, result = "one" },
    { name = "Read", input = { file_path = "${home}/two.txt" }, result = "two" },
]

[[answer]]
text = "Both were read."
"#;
    let world = World::new(cli, TWO).await;
    world.files_at_home();
    let session = world.create("Read both.").await;
    let head = world.until(session, "asking for both", |head| head.approvals.len() == 2).await;
    world.kill_cli(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    for approval in head.approvals.keys() {
        world.client.answer(*approval, Answer::allow()).await?;
    }
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "Both were read.");
    let results = world.results(session).await;
    assert!(results.len() == 2 && results.iter().all(|(_, is_error)| !is_error), "{results:?}");
    assert_eq!(world.stages(session).await, [Stage::Done, Stage::Done], "nobody was asked again");
    assert!(world.head(session).await.grants.is_empty());
    world.close().await
}

const WORK: &str = r#"
[[answer]]
when = { text = "restarted while you were working" }
text = "I go on."

[[answer]]
tool = { name = "Bash", input = { command = "echo x >> ran.txt; sleep 1000" }, takes = "1000s" }

[[answer]]
text = "I should not be here."
"#;

/// What may have run is not run again by the server. The model is told, and goes on.
async fn killed_at_work(cli: Cli) -> Outcome {
    let world = World::new(cli, WORK).await;
    let session = world.create("Run it.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::allow()).await;
    // The simulated CLI runs no commands.
    let is_real = matches!(cli, Cli::Real(_));
    if is_real {
        world.file("ran.txt").await;
    } else {
        let is_out =
            |head: &Head| head.approvals.values().any(|pending| pending.stage == Stage::Delivered);
        world.until(session, "at work", is_out).await;
    }
    world.kill_cli(session).await;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "I go on.");
    assert_eq!(world.stages(session).await, [Stage::Unknown]);
    if is_real {
        assert_eq!(std::fs::read_to_string(world.lab.work().join("ran.txt"))?, "x\n");
    }
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done], "it is one turn");
    world.close().await
}

/// The same when nothing of the conversation is left, as when it is killed in its first moments: it is
/// the same turn, and the model is told of the call that may have run.
async fn killed_and_lost(cli: Cli) -> Outcome {
    let world = World::with(cli, WORK, |config| {
        start_cli_through(config, "while [ -e $HERE/hold ]; do sleep 0.05; done");
    })
    .await;
    let session = world.create("Run it.").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::allow()).await;
    let is_out =
        |head: &Head| head.approvals.values().any(|pending| pending.stage == Stage::Delivered);
    world.until(session, "at work", is_out).await;
    let hold = world.config.data.join("hold");
    std::fs::write(&hold, "")?;
    world.kill_cli(session).await;
    let again = |head: &Head| head.generation == 2 && head.state() == State::Starting;
    world.until(session, "starting again", again).await;
    std::fs::remove_dir_all(world.lab.home().join(".claude/projects"))?;
    let store = rusqlite::Connection::open(world.store_file())?;
    store.execute("DELETE FROM transcripts", ())?;
    std::fs::remove_file(&hold)?;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "I go on.");
    assert_eq!(world.stages(session).await, [Stage::Unknown]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done], "it is one turn");
    world.close().await
}

/// A turn that has no time left to come to its end is not over: it goes on when there is a server again,
/// as after a crash.
async fn server_stops(cli: Cli) -> Outcome {
    let world = World::with(cli, WORK, |config| {
        config.limits.shutdown_within = Duration::from_secs(1);
    })
    .await;
    let session = world.create("Run it.").await;
    let asked = world.asked(session).await;
    let turn = world.head(session).await.turn.unwrap().id;
    world.answer(&asked, Answer::allow()).await;
    let is_out =
        |head: &Head| head.approvals.values().any(|pending| pending.stage == Stage::Delivered);
    world.until(session, "at work", is_out).await;
    let world = world.restart().await;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "I go on.");
    let ended =
        world.happenings(session).await.into_iter().filter_map(|happening| match happening {
            Happening::TurnEnded(ended) => Some((ended.turn, ended.end)),
            _ => None,
        });
    assert_eq!(ended.collect::<Vec<_>>(), [(turn, TurnEnd::Done)]);
    assert_eq!(world.stages(session).await, [Stage::Unknown], "it is not run again");
    let failed =
        |happening: &Happening| matches!(happening, Happening::ProcessEnded(e) if e.failed);
    assert_eq!(world.count(session, failed).await, 0);
    world.close().await
}

/// The CLI has no transcript any more, and neither has the store: the model is told what was said.
async fn transcript_lost(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"I say.\"").await;
    let session = world.create("My number is 42.").await;
    let before = world.at_rest(session).await;
    world.stop(session).await;
    std::fs::remove_dir_all(world.lab.home().join(".claude/projects"))?;
    let store = rusqlite::Connection::open(world.store_file())?;
    store.execute("DELETE FROM transcripts", ())?;
    world.say(session, "What is my number?").await;
    let head = world.at_rest(session).await;
    assert_ne!(head.conversation.id, before.conversation.id);
    assert_eq!(world.last_text(session).await, "I say.");
    let log = world.log(session).await.join("\n");
    assert!(log.contains("does not have the conversation any more"), "{log}");
    if matches!(cli, Cli::Real(_)) {
        let asked = world.lab.model().model_requests();
        let last = format!("{:?}", asked.last().unwrap());
        assert!(last.contains("My number is 42."), "{last}");
    }
    world.close().await
}

/// The server ended after it gave the CLI something, and before it heard of that: the log does not say
/// that the conversation has begun, and the CLI does not begin it twice.
async fn begun_unheard(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"I say.\"").await;
    let first = world.create("My number is 42.").await;
    let from = world.at_rest(first).await.conversation.id;
    world.stop(first).await;
    let silent = NewSession { prompt: None, ..world.new_session("") };
    let session = world.client.create_session(&silent).await?.session;
    let to = world.head(session).await.conversation.id;
    world.copy_transcript(from, to).await;
    world.say(session, "What is my number?").await;
    let head = world.at_rest(session).await;
    assert_eq!((head.conversation.id, head.generation), (to, 1));
    assert_eq!(world.last_text(session).await, "I say.");
    if matches!(cli, Cli::Real(_)) {
        assert!(last_request(&world).contains("My number is 42."), "{}", last_request(&world));
    }
    world.close().await
}

/// The store has the transcript, so nothing is lost with the home folder.
async fn home_lost(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"I say.\"").await;
    let session = world.create("My number is 42.").await;
    let before = world.at_rest(session).await;
    world.stop(session).await;
    std::fs::remove_dir_all(world.lab.home().join(".claude/projects"))?;
    world.say(session, "What is my number?").await;
    let head = world.at_rest(session).await;
    assert_eq!(head.conversation.id, before.conversation.id);
    assert_eq!(world.last_text(session).await, "I say.");
    world.close().await
}

/// Of a conversation with three answers, a session and the name of the second answer.
async fn three_answers(world: &World) -> (countersign_server::id::SessionId, String) {
    let session = world.create("My number is 41.").await;
    world.at_rest(session).await;
    world.say(session, "My number is 42.").await;
    world.at_rest(session).await;
    let second = world.last_uuid(session).await;
    world.say(session, "My number is 43.").await;
    world.at_rest(session).await;
    world.stop(session).await;
    (session, second)
}

/// What the model was last asked.
fn last_request(world: &World) -> String {
    format!("{:?}", world.lab.model().model_requests().last().unwrap())
}

/// The store has the transcript, so a copy of it can be made, too, and go on.
async fn forked_without_home(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"I say.\"").await;
    let (session, second) = three_answers(&world).await;
    std::fs::remove_dir_all(world.lab.home().join(".claude/projects"))?;
    for (at, knows_all) in [(Some(second), false), (None, true)] {
        let fork = ForkSession { at, prompt: Some("Which?".to_owned()), title: None };
        let made = world.client.fork(session, &fork).await?.session;
        let head = world.at_rest(made).await;
        let log = world.log(made).await.join("\n");
        assert_eq!((head.generation, head.conversation.retell), (1, false), "a copy:\n{log}");
        let anew = world.count(made, |h| matches!(h, Happening::Noted(_))).await;
        assert_eq!(anew, 0, "{:?}", world.log(made).await);
        let is_real = matches!(cli, Cli::Real(_));
        let knows = |text: &str| !is_real || last_request(&world).contains(text);
        assert!(knows("number is 41.") && knows("number is 42."));
        assert!(!is_real || knows("number is 43.") == knows_all, "{}", last_request(&world));
        world.stop(made).await;
        world.say(made, "And now?").await;
        assert_eq!(world.at_rest(made).await.conversation.id, head.conversation.id);
        assert!(knows("number is 41.") && knows("Which?"));
    }
    world.close().await
}

/// Nobody has the transcript. What the model is told is what the copy would have had.
async fn forked_without_transcript(cli: Cli) -> Outcome {
    let world = World::new(cli, "otherwise = \"I say.\"").await;
    let (session, second) = three_answers(&world).await;
    std::fs::remove_dir_all(world.lab.home().join(".claude/projects"))?;
    let store = rusqlite::Connection::open(world.store_file())?;
    store.execute("DELETE FROM transcripts", ())?;
    for (at, knows_all) in [(Some(second), false), (None, true)] {
        let fork = ForkSession { at, prompt: Some("Which?".to_owned()), title: None };
        let made = world.client.fork(session, &fork).await?.session;
        let head = world.at_rest(made).await;
        assert!(!head.conversation.retell, "it was told");
        assert_eq!(world.last_text(made).await, "I say.");
        if matches!(cli, Cli::Real(_)) {
            let asked = last_request(&world);
            assert!(asked.contains("transcript of our conversation was lost"), "{asked}");
            let knows = |number: &str| asked.contains(&format!("number is {number}."));
            assert!(knows("41") && knows("42"), "{asked}");
            assert_eq!(knows("43"), knows_all, "{asked}");
        }
    }
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
        assert!(last_request(&world).contains("By the way."), "{}", last_request(&world));
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
