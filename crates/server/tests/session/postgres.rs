//! Sessions that are kept in PostgreSQL.

use std::time::Duration;

use countersign_lab::postgres::{Cluster, Lose, Lossy};
use countersign_server::api::view::ListSessions;
use countersign_server::config::{Config, Secret, Store};
use countersign_server::id::SessionId;
use countersign_server::session::{Answer, Happening, Stage, State, TurnEnd};
use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::kit::{Cli, Outcome, World, simulated};

pub(crate) fn trials() -> Vec<Trial> {
    [
        simulated("postgres::parked_and_answered_after_a_restart", parked),
        #[cfg(feature = "real-cli")]
        vec![crate::kit::trial("postgres::parked_and_answered_after_a_restart::2.1.325", || {
            parked(Cli::Real(crate::kit::V325))
        })],
        simulated("postgres::the_database_is_gone_and_back", gone_and_back),
        simulated("postgres::the_database_is_gone_while_a_call_runs", gone_at_work),
        simulated("postgres::the_connection_is_lost_in_a_commit", lost_commits),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The model runs a command that leaves a line for each time that it is run.
const APPEND: &str = r#"
otherwise = "That was it."

[[answer]]
when = { text = '/^append (T\d+Z)/' }
tool = { name = "Bash", input = { command = "echo ${match.1} >> ${cwd}/ran.txt" } }

[[answer]]
when = { text = '/^slow (T\d+Z)/' }
tool = { name = "Bash", input = { command = "echo ${match.1} >> ${cwd}/ran.txt" }, takes = "700ms" }
"#;

async fn world(cli: Cli, url: &str, change: impl FnOnce(&mut Config)) -> World {
    World::with(cli, APPEND, |config| {
        config.store = Store::Postgres(Secret::new(url));
        change(config);
    })
    .await
}

/// How often a command was run.
fn runs(world: &World, token: &str) -> usize {
    let ran = std::fs::read_to_string(world.lab.work().join("ran.txt")).unwrap_or_default();
    ran.lines().filter(|line| *line == token).count()
}

/// The session has asked, was answered and has done it, each of them once.
async fn all_was_done_once(world: &World, session: SessionId, token: &str) {
    assert_eq!(runs(world, token), 1, "{}", world.log(session).await.join("\n"));
    assert_eq!(world.stages(session).await, [Stage::Done]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done]);
    let is_answer = |happening: &Happening| matches!(happening, Happening::ApprovalAnswered(_));
    assert_eq!(world.count(session, is_answer).await, 1);
    let is_delivery = |happening: &Happening| matches!(happening, Happening::ApprovalDelivered(_));
    assert_eq!(world.count(session, is_delivery).await, 1);
    let seqs: Vec<_> = world.events(session).await.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=world.head(session).await.seq).collect::<Vec<_>>());
}

async fn parked(cli: Cli) -> Outcome {
    let cluster = Cluster::start().await?;
    let at_once = |config: &mut Config| config.limits.park_after = Some(Duration::ZERO);
    let world = world(cli, &cluster.schema("mine")?, at_once).await;
    let session = world.create("append T1Z").await;
    let asked = world.asked(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    let world = world.restart().await;
    assert_eq!(world.head(session).await.state(), State::Parked);
    world.answer(&asked, Answer::allow()).await;
    world.at_rest(session).await;
    all_was_done_once(&world, session, "T1Z").await;
    world.close().await
}

async fn gone_and_back(cli: Cli) -> Outcome {
    let mut cluster = Cluster::start().await?;
    let world = world(cli, &cluster.schema("mine")?, |_| {}).await;
    for (number, signal) in [Signal::INT, Signal::QUIT].into_iter().enumerate() {
        let tokens = [format!("T{number}1Z"), format!("T{number}2Z")];
        let first = world.create(&format!("append {}", tokens[0])).await;
        let second = world.create(&format!("append {}", tokens[1])).await;
        let (ask, other) = (world.asked(first).await, world.asked(second).await);
        cluster.stop(signal);
        let refused = world.impatient().answer(ask.id, Answer::allow()).await.unwrap_err();
        let problem = refused.problem().unwrap_or_else(|| panic!("{refused}"));
        assert_eq!((problem.kind(), problem.status()), ("unavailable", 503), "{problem:?}");
        let ready = world.raw("GET /readyz", &[], "").await;
        assert!(ready.starts_with("HTTP/1.1 503"), "{ready}");
        // Whoever is patient need not do it again.
        let back = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            cluster.resume().await.unwrap();
        };
        let (answered, ()) = tokio::join!(world.client.answer(other.id, Answer::allow()), back);
        answered?;
        assert_eq!(runs(&world, &tokens[0]), 0, "what was refused does not count");
        world.answer(&ask, Answer::allow()).await;
        for (session, token) in [first, second].into_iter().zip(&tokens) {
            let head = world.at_rest(session).await;
            assert_eq!((head.generation, head.failures.len()), (1, 0), "its process was kept");
            all_was_done_once(&world, session, token).await;
        }
    }
    world.close().await
}

async fn gone_at_work(cli: Cli) -> Outcome {
    let mut cluster = Cluster::start().await?;
    let world = world(cli, &cluster.schema("mine")?, |_| {}).await;
    let session = world.create("slow T1Z").await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::allow()).await;
    // The call is over before the database is back.
    cluster.stop(Signal::QUIT);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    cluster.resume().await?;
    world.at_rest(session).await;
    let head = world.head(session).await;
    assert!(runs(&world, "T1Z") <= 1, "{}", world.log(session).await.join("\n"));
    assert_eq!((head.generation, head.failures.len()), (1, 0), "its process was kept");
    all_was_done_once(&world, session, "T1Z").await;
    world.close().await
}

/// Whichever commit it is that is cut, and whether the database did it or not: nothing is lost, and
/// nothing is done twice.
async fn lost_commits(cli: Cli) -> Outcome {
    let cluster = Cluster::start().await?;
    let lossy = Lossy::to(&cluster.socket())?;
    cluster.schema("mine")?;
    let world = world(cli, &cluster.url_through(lossy.folder(), "mine"), |_| {}).await;
    let mut number = 0;
    for kind in [
        "session.created",
        "process.starting",
        "process.started",
        "turn.began",
        "tool.called",
        "approval.opened",
        "approval.answered",
        "approval.delivered",
        "approval.closed",
        "turn.ended",
    ] {
        for what in [Lose::Commit, Lose::Answer] {
            number += 1;
            let token = format!("T{number}Z");
            lossy.lose_one_with(what, kind);
            let session = world.create(&format!("append {token}")).await;
            let asked = world.asked(session).await;
            world.answer(&asked, Answer::allow()).await;
            world.at_rest(session).await;
            assert!(lossy.has_lost(), "{kind} is in no transaction");
            all_was_done_once(&world, session, &token).await;
            let all = ListSessions { limit: Some(100), ..ListSessions::default() };
            let sessions = world.client.sessions(&all).await?.items;
            assert_eq!(sessions.len(), number, "a session was made twice");
        }
    }
    // Who is told that it was not written can rely on it; and who is told that it was, as well.
    let session = world.create("append T100Z").await;
    let asked = world.asked(session).await;
    lossy.lose_one_with(Lose::Commit, "approval.answered");
    let refused = world.impatient().answer(asked.id, Answer::allow()).await.unwrap_err();
    assert_eq!(refused.problem().unwrap().status(), 503);
    assert_eq!(world.client.approval(asked.id).await?.stage, Stage::Open);
    lossy.lose_one_with(Lose::Answer, "approval.answered");
    world.impatient().answer(asked.id, Answer::deny("no")).await?;
    world.at_rest(session).await;
    assert_eq!(world.stages(session).await, [Stage::Done]);
    assert_eq!(runs(&world, "T100Z"), 0, "the answer that was refused does not count");
    world.close().await
}
