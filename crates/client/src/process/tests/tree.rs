//! What belongs to a session.

use rustix::process::Signal;

use super::*;

#[tokio::test]
async fn a_tree_has_the_cli_and_its_tools_and_nobody_else() {
    let mut other = shell("echo ready; exec sleep 1001").await;
    let mut spawned = with_tools("exec sleep 1000").await;
    let mut commands: Vec<_> =
        spawned.process.tree().into_iter().map(|process| process.command).collect();
    commands.sort_unstable();
    let expected = [
        "sh -c sleep 1002 & wait",
        "sleep 1000",
        "sleep 1001",
        "sleep 1002",
        "sleep 1003",
        "sleep 1004",
    ];
    assert_eq!(commands, expected);
    assert_eq!(other.process.tree().len(), 1);
}

#[tokio::test]
async fn an_ended_process_is_in_no_tree() {
    let mut spawned = shell("sleep 0 & echo ready; exec sleep 1000").await;
    // What takes its place does not wait for it: it stays as one that has ended.
    until(|| spawned.process.tree().len() == 1).await;
    assert_eq!(spawned.process.tree()[0].id, spawned.process.id().unwrap());
}

#[tokio::test]
async fn a_process_is_told_from_another_with_its_number() {
    let mut spawned = shell("echo ready; exec sleep 1000").await;
    let id = spawned.process.id().unwrap();
    let earlier: ProcessId = format!(
        "{}@{}@{}",
        id.pid(),
        id.start_time() - 1,
        id.to_string().rsplit_once('@').unwrap().1
    )
    .parse()
    .unwrap();
    let in_another_boot: ProcessId =
        format!("{}@{}@{}", id.pid(), id.start_time(), uuid::Uuid::new_v4()).parse().unwrap();
    for stranger in [earlier, in_another_boot] {
        assert!(!stranger.is_alive());
        assert!(!signal::send(stranger, Signal::KILL));
        signal::send_to_group(stranger, Signal::KILL);
        assert_eq!(Leftovers::of_process(stranger).find(), []);
        assert_eq!(Leftovers::of_process(stranger).end(at_once()).await, Swept::default());
    }
    assert_eq!(spawned.process.wait_for_exit(Duration::from_millis(50)).await, None);
    assert!(signal::send(id, Signal::KILL));
    spawned.process.exited().await.unwrap();
    assert!(!id.is_alive());
}

#[tokio::test]
async fn an_outer_session_finds_what_an_inner_one_started() {
    let outer = Mark::of_a_new_session();
    let inner = Mark::of_a_new_session();
    let mut spec = shell_spec("setsid sleep 1001 & echo ready; exec sleep 1000");
    // As the inner program would start it, being in the outer session itself.
    let value = inner.value_within(Some(outer.value_within(None).as_ref()));
    spec.program = "/usr/bin/env".into();
    let variable = format!("COUNTERSIGN_SESSION={value}");
    spec.arguments = [variable.into(), "sh".into()].into_iter().chain(spec.arguments).collect();
    let spawned = spawn(&spec).unwrap();
    for mark in [outer, inner] {
        until(|| carrying(mark).len() == 2).await;
    }
    assert_eq!(carrying(Mark::of_a_new_session()), []);
    drop(spawned);
    until(|| carrying(outer).is_empty()).await;
}

#[tokio::test]
async fn a_mark_is_found_only_where_it_stands_as_one() {
    let mark = Mark::of_a_new_session();
    let id = mark.to_string().split_once('=').unwrap().1.to_owned();
    let check = |environment: &str, expected: bool| {
        let environment = environment.replace("ID", &id).replace('|', "\0");
        assert_eq!(mark.is_in(environment.as_bytes()), expected, "{environment:?}");
    };
    check("A=1|COUNTERSIGN_SESSION=ID|B=2|", true);
    check("COUNTERSIGN_SESSION=other:ID", true);
    check("COUNTERSIGN_SESSION=ID:other|", true);
    check("COUNTERSIGN_OWNER=ID|", false);
    check("A=COUNTERSIGN_SESSION=ID|", false);
    check("XCOUNTERSIGN_SESSION=ID|", false);
    check("COUNTERSIGN_SESSION=xID|", false);
    check("COUNTERSIGN_SESSION=|ID|", false);
    check("", false);
}

#[test]
fn what_is_no_mark_is_not_inherited() {
    let (outer, inner) = (uuid::Uuid::new_v4().to_string(), Mark::of_a_new_session());
    let own = inner.value_within(None);
    let check = |inherited: &str, expected: &str| {
        assert_eq!(inner.value_within(Some(inherited.as_ref())), expected, "{inherited:?}");
    };
    check("", &own);
    check("mine", &own);
    check(&outer, &format!("{outer}:{own}"));
    check(&format!("x:{outer}: :{}", outer.to_uppercase()), &format!("{outer}:{own}"));
    assert!(inner.value_within(Some(format!("{outer}:").repeat(100_000).as_ref())).len() < 4000);
}
