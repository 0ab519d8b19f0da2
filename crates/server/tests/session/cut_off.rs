//! Turns whose process is lost: nothing that was decided is, and nothing runs twice.

use std::time::Duration;

use countersign_server::session::{Allow, Answer, Happening, Head, Stage, State, TurnEnd};
use libtest_mimic::Trial;

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, World, on_all, start_cli_through};

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("cut_off::the_cli_is_killed_while_somebody_is_asked", killed_asking),
        on_all(
            "cut_off::the_cli_refuses_by_itself_what_a_lost_server_was_asked",
            refused_by_itself,
        ),
        on_all("cut_off::another_input_is_told_to_the_model", told_another_input),
        on_all("cut_off::what_was_told_runs_without_being_asked_for", told_and_not_asked),
        on_all("cut_off::the_cli_is_killed_with_two_questions_open", killed_with_two),
        on_all("cut_off::the_cli_is_killed_at_work", killed_at_work),
        on_all("cut_off::the_cli_is_killed_at_work_and_its_transcript_is_lost", killed_and_lost),
        on_all("cut_off::the_server_stops_while_one_runs", server_stops),
    ]
    .into_iter()
    .flatten()
    .collect()
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
    if matches!(cli, Cli::Real(_)) {
        // The simulated CLI asks no model.
        let told = world.last_request();
        let is_told = told.contains("You called Bash") && told.contains("No result of it was seen");
        assert!(is_told, "{told}");
    }
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
