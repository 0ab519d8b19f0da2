//! The orderly end.

use std::os::unix::process::ExitStatusExt as _;

use super::*;

#[tokio::test]
async fn a_cli_that_exits_by_itself_leaves_nothing_to_do() {
    let Spawned { stdin, process, .. } = shell("echo ready; read line; exit 7").await;
    let mark = process.mark();
    drop(stdin);
    let ended = process.end(patient()).await;
    assert_eq!(ended.exit.unwrap().code(), Some(7));
    assert_eq!(ended.how, HowEnded::Exited);
    assert_eq!((ended.left_running, ended.still_running), (vec![], vec![]));
    assert_eq!(carrying(mark), []);
}

#[tokio::test]
async fn what_a_cli_left_behind_is_ended_and_told() {
    let mut spawned = with_tools("read line; exit 0").await;
    let tools = tools(&mut spawned.process);
    drop(spawned.stdin);
    let ended = spawned.process.end(patient()).await;
    assert_eq!(ended.how, HowEnded::Exited);
    assert!(ended.exit.unwrap().success());
    let mut told: Vec<_> = ended.left_running.iter().map(|each| each.command.as_str()).collect();
    told.retain(|command| !command.starts_with("sh"));
    told.sort_unstable();
    assert_eq!(told, TOOLS);
    assert_eq!(ended.still_running, []);
    assert!(!tools.into_iter().any(ProcessId::is_alive));
}

#[tokio::test]
async fn a_cli_that_is_asked_may_exit_with_a_code() {
    let spawned = shell("trap 'exit 143' TERM; echo ready; while :; do sleep 0.01; done").await;
    let ended = spawned.process.end(patient().exit(Duration::ZERO)).await;
    assert_eq!(ended.how, HowEnded::Terminated);
    assert_eq!(ended.exit.unwrap().code(), Some(143));
}

#[tokio::test]
async fn what_does_not_obey_is_killed() {
    let script = "trap '' TERM; setsid sh -c 'while :; do sleep 1000; done' &
        echo ready; while :; do sleep 1000; done";
    let mut spawned = shell(script).await;
    until(|| spawned.process.tree().len() == 4).await;
    let mark = spawned.process.mark();
    let ended = spawned.process.end(at_once()).await;
    assert_eq!(ended.how, HowEnded::Killed);
    assert_eq!(ended.exit.unwrap().signal(), Some(9));
    assert!(ended.left_running.iter().any(|each| each.command.starts_with("sh -c")));
    assert_eq!(ended.still_running, []);
    assert_eq!(carrying(mark), []);
}

#[tokio::test]
async fn what_forks_all_the_time_does_not_get_away() {
    // Each link of the chain starts the next and ends: none is there for long.
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::fs::write(&link, "trap '' TERM\nsh \"$0\" &\n").unwrap();
    let script = format!("setsid sh '{}' & echo ready; read line", link.display());
    let Spawned { stdin, process, .. } = shell(&script).await;
    let mark = process.mark();
    until(|| !carrying(mark).is_empty()).await;
    drop(stdin);
    let ended = process.end(patient().sweep(Duration::ZERO)).await;
    assert!(!ended.left_running.is_empty());
    assert_eq!(ended.still_running, []);
    assert_eq!(carrying(mark), []);
}

#[tokio::test]
async fn an_exit_is_told_again_to_whoever_asks() {
    let mut spawned = shell("echo ready; read line; exit 3").await;
    assert_eq!(spawned.process.wait_for_exit(Duration::from_millis(20)).await, None);
    drop(spawned.stdin);
    for _ in 0..2 {
        assert_eq!(spawned.process.exited().await.unwrap().code(), Some(3));
    }
    assert_eq!(spawned.process.wait_for_exit(Duration::ZERO).await.unwrap().code(), Some(3));
    // Signals to what has ended reach nobody.
    spawned.process.terminate();
    spawned.process.kill();
    let ended = spawned.process.end(at_once()).await;
    assert_eq!((ended.how, ended.exit.unwrap().code()), (HowEnded::Exited, Some(3)));
}

#[tokio::test]
async fn leftovers_are_ended_by_their_mark_or_by_their_process() {
    for by_mark in [true, false] {
        let mut spawned = with_tools("exec sleep 1000").await;
        let tools = tools(&mut spawned.process);
        let id = spawned.process.id().unwrap();
        // As somebody else would who only has what was written down.
        let (mark, id): (String, String) = (spawned.process.mark().into(), id.into());
        let mut leftovers = if by_mark {
            Leftovers::of_mark(mark.parse().unwrap())
        } else {
            Leftovers::of_process(id.parse().unwrap())
        };
        assert!(leftovers.find().len() >= 4);
        let swept = leftovers.end(patient()).await;
        assert!(swept.ended.len() >= 4, "{swept:?}");
        assert_eq!(swept.still_running, []);
        let alive: Vec<_> = tools.into_iter().filter(|tool| tool.is_alive()).collect();
        // What has lost its parents and is in a session of its own is found by the mark alone.
        assert_eq!(alive.len(), usize::from(!by_mark), "{alive:?}");
        assert!(spawned.process.exited().await.is_ok());
    }
}
