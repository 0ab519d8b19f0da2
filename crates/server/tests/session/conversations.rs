//! Conversations, as the CLI keeps them: gone on with in another process, copied, lost, and there though
//! nobody has heard of it.

use countersign_server::id::SessionId;
use countersign_server::service::{ForkSession, NewSession};
use countersign_server::session::{Happening, Stage, State};
use libtest_mimic::Trial;

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, World, on_all};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("conversations::stopped_and_resumed", stopped),
        on_all("conversations::forked", forked),
        on_all("conversations::the_transcript_is_lost", transcript_lost),
        on_all("conversations::the_cli_has_the_conversation_already", begun_unheard),
        on_all("conversations::the_home_folder_is_lost", home_lost),
        on_all("conversations::forked_when_the_home_folder_is_lost", forked_without_home),
        on_all("conversations::forked_when_the_transcript_is_lost", forked_without_transcript),
    ]
    .into_iter()
    .flatten()
    .collect()
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
        let last = world.last_request();
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
        assert!(world.last_request().contains("My number is 42."), "{}", world.last_request());
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
async fn three_answers(world: &World) -> (SessionId, String) {
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
        let knows = |text: &str| !is_real || world.last_request().contains(text);
        assert!(knows("number is 41.") && knows("number is 42."));
        assert!(!is_real || knows("number is 43.") == knows_all, "{}", world.last_request());
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
            let asked = world.last_request();
            assert!(asked.contains("transcript of our conversation was lost"), "{asked}");
            let knows = |number: &str| asked.contains(&format!("number is {number}."));
            assert!(knows("41") && knows("42"), "{asked}");
            assert_eq!(knows("43"), knows_all, "{asked}");
        }
    }
    world.close().await
}
