//! What a server does after a crash, with nothing but what it has written down.
#![cfg(target_os = "linux")]

use std::process::{Child, Stdio};

use countersign::process::{Leftovers, Mark, ProcessId, ShutdownTimes};
use proptest::prelude::*;

/// What a process that crashed has left: a shell in a session of its own, and its child.
#[expect(clippy::disallowed_methods, reason = "it is started by somebody else than the client")]
fn left_behind(mark: &str) -> Child {
    let (name, value) = mark.split_once('=').unwrap();
    std::process::Command::new("setsid")
        .args(["sh", "-c", "sleep 1001 & env -i sleep 1002 & trap '' TERM; wait; sleep 1003"])
        .env(name, value)
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn what_was_left_is_found_by_what_was_written_down_and_ended() {
    let mark = format!("COUNTERSIGN_SESSION={}", uuid::Uuid::new_v4());
    let mut child = left_behind(&mark);
    let mark: Mark = serde_json::from_value(serde_json::Value::String(mark)).unwrap();
    let mut leftovers = Leftovers::of_mark(mark);
    // A process that has not yet become the program it is to run still has its parent's command.
    let found = loop {
        let found = leftovers.find();
        if found.iter().filter(|process| process.command.starts_with("sleep")).count() == 2
            && found.len() == 3
        {
            break found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    let shell = found.iter().find(|process| process.command.starts_with("sh -c")).unwrap().id;
    assert!(shell.is_alive());
    // The process alone finds its children as well.
    let written_down = serde_json::to_string(&shell).unwrap();
    let shell: ProcessId = serde_json::from_str(&written_down).unwrap();
    assert_eq!(Leftovers::of_process(shell).find().len(), 3);

    let swept = leftovers.end(ShutdownTimes::default()).await;
    assert!(found.iter().all(|process| swept.ended.contains(process)), "{swept:?}");
    assert_eq!(swept.still_running, []);
    assert!(!found.iter().any(|process| process.id.is_alive()));
    assert_eq!(Leftovers::of_mark(mark).find(), []);
    child.wait().unwrap();
}

#[tokio::test]
async fn this_process_is_not_among_what_it_ends() {
    let this = ProcessId::of_this_process().unwrap();
    let found = Leftovers::of_process(this).find();
    assert!(!found.iter().any(|process| process.id == this), "{found:?}");
}

#[test]
fn only_what_was_printed_is_read() {
    let this = ProcessId::of_this_process().unwrap().to_string();
    let (head, boot) = this.rsplit_once('@').unwrap();
    let wrong = [
        String::new(),
        head.to_owned(),
        format!("-{this}"),
        format!("+{this}"),
        format!("0{this}"),
        format!("0@1@{boot}"),
        format!("{this}@"),
        format!("{head}@{}", boot.to_uppercase()),
        format!("{head}@{{{boot}}}"),
    ];
    for text in wrong {
        assert_eq!(text.parse::<ProcessId>().unwrap_err().text, text);
    }
    let id = uuid::Uuid::new_v4();
    for text in
        ["", "COUNTERSIGN_SESSION", &format!("SESSION={id}"), &format!("COUNTERSIGN_OWNER={id} ")]
    {
        assert_eq!(text.parse::<Mark>().unwrap_err().text, text);
    }
}

proptest! {
    #[test]
    fn a_process_is_read_as_it_was_written(pid in 1..=i32::MAX, started: u64, boot: u128) {
        let text = format!("{pid}@{started}@{}", uuid::Uuid::from_u128(boot));
        let id: ProcessId = text.parse().unwrap();
        prop_assert_eq!((id.pid(), id.start_time(), id.to_string()), (pid, started, text));
        prop_assert!(!id.is_alive(), "of another run of the machine");
    }

    #[test]
    fn no_text_is_a_reason_to_panic(text in ".{0,80}") {
        if let Ok(id) = text.parse::<ProcessId>() {
            prop_assert_eq!(id.to_string(), text.clone());
        }
        if let Ok(mark) = text.parse::<Mark>() {
            prop_assert_eq!(mark.to_string(), text);
        }
    }
}
