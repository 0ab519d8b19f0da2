//! The CLI freezes, dies and floods.

use std::time::Duration;

use countersign_server::client::Followed;
use countersign_server::session::{Answer, Happening, Head, Stage, State, TurnEnd};
use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, World, on_all, simulated, start_cli_through, trial};

pub(super) fn trials() -> Vec<Trial> {
    let floods = [
        ("flood stderr 10 MB", "faults::floods_standard_error"),
        ("long line 10 MB", "faults::writes_a_long_line"),
        ("not json", "faults::writes_what_is_not_json"),
        ("unknown frame", "faults::writes_an_unknown_frame"),
        ("unknown request", "faults::asks_what_nobody_knows"),
    ];
    let floods = floods.map(|(fault, name)| trial(name, move || goes_on(fault)));
    [
        on_all("faults::frozen_while_somebody_is_asked", frozen_asking),
        simulated("faults::frozen_at_work", frozen_at_work),
        simulated("faults::frozen_at_its_start", frozen_at_start),
        on_all("faults::killed_while_the_answer_is_on_its_way", killed_answering),
        simulated("faults::dies_in_every_turn", dies_in_every_turn),
    ]
    .into_iter()
    .flatten()
    .chain(floods)
    .collect()
}

/// A CLI that does not interrupt its turn is ended, and the turn is over.
async fn frozen_asking(cli: Cli) -> Outcome {
    let soon = Duration::from_millis(300);
    let world = World::with(cli, WRITE, |config| config.limits.interrupt_within = soon).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    // What was not written down could not be gone on with.
    world.written(&asked).await;
    let turn = world.head(session).await.turn.unwrap().id;
    world.signal_cli(session, Signal::STOP).await;
    world.client.interrupt(session, turn).await?;
    let head = world.at_rest(session).await;
    assert_eq!(head.state(), State::Idle);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Interrupted]);
    assert_eq!(world.stages(session).await, [Stage::Cancelled]);
    let log = world.log(session).await.join("\n");
    assert!(log.contains("could not be interrupted"), "it is said why:\n{log}");
    world.say(session, "Go on.").await;
    let head = world.at_rest(session).await;
    assert_eq!((head.generation, head.state()), (2, State::Ready));
    assert!(!world.has_file("new.txt"));
    world.close().await
}

async fn frozen_at_work(cli: Cli) -> Outcome {
    const FREEZES: &str = r#"
[[answer]]
when = { text = "Freeze" }
blocks = [ { text = "Before." }, { fault = "freeze" } ]

[[answer]]
text = "Next."
"#;
    let soon = Duration::from_millis(300);
    let world = World::with(cli, FREEZES, |config| config.limits.interrupt_within = soon).await;
    let session = world.create("Freeze.").await;
    let head = world.until(session, "at work", |head| head.turn.is_some()).await;
    let mut following = world.client.follow(session, Some(0)).await?;
    let frozen = async {
        loop {
            match following.next().await.unwrap().unwrap() {
                Followed::Event(event) if event.body.as_str().contains("Before.") => break,
                _ => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(240), frozen).await?;
    world.client.interrupt(session, head.turn.unwrap().id).await?;
    world.at_rest(session).await;
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Interrupted]);
    world.say(session, "Go on.").await;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "Next.");
    world.close().await
}

async fn frozen_at_start(cli: Cli) -> Outcome {
    let world = World::with(cli, "otherwise = \"I say.\"", |config| {
        start_cli_through(config, "[ -e $HERE/frozen ] && kill -STOP $$");
        config.limits.start_within = Duration::from_millis(500);
        config.limits.restarts.count = 1;
    })
    .await;
    let frozen = world.config.data.join("frozen");
    std::fs::write(&frozen, "")?;
    let session = world.create("One.").await;
    let head = world.until(session, "failed", |head| head.state() == State::Failed).await;
    assert_eq!(head.generation, 2);
    std::fs::remove_file(&frozen)?;
    let world =
        world.restart_with(|config| config.limits.start_within = Duration::from_secs(60)).await;
    world.client.resume(session).await?;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "I say.");
    world.close().await
}

/// Whether the answer got there or not, the call runs once at most, the model learns what is not
/// known, and nobody is asked twice.
async fn killed_answering(cli: Cli) -> Outcome {
    const APPEND: &str = r#"
otherwise = "That was it."

[[answer]]
when = { text = "restarted while you were working" }
text = "I go on."

[[answer]]
when = { text = "Make the call again" }
tool = { name = "Bash", input = { command = "echo x >> ran.txt" } }

[[answer]]
when = { text = "Append" }
tool = { name = "Bash", input = { command = "echo x >> ran.txt" } }
"#;
    let world = World::new(cli, APPEND).await;
    for wait in [0, 3, 30] {
        let before = std::fs::read_to_string(world.lab.work().join("ran.txt")).unwrap_or_default();
        let session = world.create("Append.").await;
        let asked = world.asked(session).await;
        let kill = async {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            world.kill_cli(session).await;
        };
        tokio::join!(world.answer(&asked, Answer::allow()), kill);
        world.at_rest(session).await;
        let stages = world.stages(session).await;
        assert!(matches!(stages[..], [Stage::Done | Stage::Unknown]), "{stages:?}");
        assert_eq!(world.turn_ends(session).await, [TurnEnd::Done]);
        if matches!(cli, Cli::Real(_)) {
            let after =
                std::fs::read_to_string(world.lab.work().join("ran.txt")).unwrap_or_default();
            let ran = (after.len() - before.len()) / "x\n".len();
            let fits = if stages == [Stage::Done] { ran == 1 } else { ran <= 1 };
            assert!(fits, "{stages:?}: {ran} times");
        }
        if stages == [Stage::Unknown] {
            assert_eq!(world.last_text(session).await, "I go on.");
        }
        world.stop(session).await;
    }
    world.close().await
}

/// A turn that kills its CLI whenever it goes on is not tried for ever.
async fn dies_in_every_turn(cli: Cli) -> Outcome {
    const DIES: &str = r#"
[[answer]]
when = { text = "Enough" }
text = "Enough."

[[answer]]
blocks = [ { text = "I am about to" }, { fault = "die mid-line" } ]
times = 100
"#;
    let world = World::with(cli, DIES, |config| config.limits.restarts.count = 2).await;
    let session = world.create("Die.").await;
    let head = world.until(session, "failed", |head| head.state() == State::Failed).await;
    assert_eq!(head.generation, 3);
    assert!(head.turn.is_some(), "it is not over");
    let world = world.restart().await;
    let head = world.head(session).await;
    assert_eq!((head.state(), head.generation), (State::Failed, 3));
    let turn = head.turn.unwrap().id;
    world.client.interrupt(session, turn).await?;
    world.until(session, "over", |head| head.turn.is_none()).await;
    world.say(session, "Enough").await;
    let head = world.at_rest(session).await;
    assert_eq!((head.generation, head.failure), (4, None));
    assert_eq!(world.last_text(session).await, "Enough.");
    world.close().await
}

async fn goes_on(fault: &'static str) -> Outcome {
    let script = format!(
        "[[answer]]\nblocks = [ {{ text = \"Before.\" }}, {{ fault = \"{fault}\" }}, \
         {{ text = \"After.\" }} ]\n\n[[answer]]\ntext = \"Next.\"\n"
    );
    let world = World::new(Cli::SIMULATED, &script).await;
    let session = world.create("Go.").await;
    world.at_rest(session).await;
    world.say(session, "Next?").await;
    let head: Head = world.at_rest(session).await;
    assert_eq!((head.generation, head.state()), (1, State::Ready));
    assert_eq!(world.last_text(session).await, "Next.");
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done, TurnEnd::Done]);
    let happenings = world.happenings(session).await;
    if fault == "not json" {
        let noted = |happening: &Happening| matches!(happening, Happening::Noted(_));
        assert!(happenings.iter().any(noted), "it is said that something was not kept");
    }
    let longest = world.frames(session).await.iter().map(|frame| frame.to_string().len()).max();
    if fault.starts_with("long line") {
        assert!(longest > Some(10_000_000), "all of it is kept: {longest:?}");
    }
    world.close().await
}
