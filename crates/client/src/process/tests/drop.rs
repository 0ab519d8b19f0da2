//! The end without an orderly end.

use super::*;

#[tokio::test]
async fn a_process_that_is_dropped_leaves_nothing() {
    let mut spawned = with_tools("exec sleep 1000").await;
    let tools = tools(&mut spawned.process);
    let (id, mark) = (spawned.process.id().unwrap(), spawned.process.mark());
    drop(spawned);
    until(|| carrying(mark).is_empty() && !tools.iter().any(|tool| tool.is_alive())).await;
    assert!(!id.is_alive());
}

#[tokio::test]
async fn an_end_that_is_dropped_leaves_nothing() {
    let mut spawned = with_tools("trap '' TERM; while :; do sleep 1000; done").await;
    let tools = tools(&mut spawned.process);
    let mark = spawned.process.mark();
    let end = spawned.process.end(patient());
    assert!(tokio::time::timeout(Duration::from_millis(20), end).await.is_err());
    until(|| carrying(mark).is_empty() && !tools.iter().any(|tool| tool.is_alive())).await;
}

#[tokio::test]
async fn a_cli_that_has_exited_is_swept_after_when_it_is_dropped() {
    let mut spawned = with_tools("read line").await;
    let tools = tools(&mut spawned.process);
    drop(spawned.stdin);
    spawned.process.exited().await.unwrap();
    drop(spawned.process);
    until(|| !tools.iter().any(|tool| tool.is_alive())).await;
}

#[test]
fn a_runtime_that_is_shut_down_leaves_nothing() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    runtime.block_on(async move {
        let mut spawned = with_tools("exec sleep 1000").await;
        let tools = tools(&mut spawned.process);
        sender.send((spawned.process.mark(), tools)).unwrap();
        let handle = tokio::runtime::Handle::current();
        // Owned by a task that never ends by itself.
        drop(handle.spawn(async move {
            let _spawned = spawned;
            std::future::pending::<()>().await;
        }));
    });
    let (mark, tools) = receiver.recv().unwrap();
    drop(runtime);
    while !carrying(mark).is_empty() || tools.iter().any(|tool| tool.is_alive()) {
        std::thread::yield_now();
    }
}

#[test]
fn what_outlives_its_runtime_is_still_ended() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut spawned = runtime.block_on(with_tools("exec sleep 1000"));
    let tools = tools(&mut spawned.process);
    let mark = spawned.process.mark();
    drop(runtime);
    drop(spawned);
    while !carrying(mark).is_empty() || tools.iter().any(|tool| tool.is_alive()) {
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_panic_leaves_nothing() {
    let mut spawned = with_tools("exec sleep 1000").await;
    let tools = tools(&mut spawned.process);
    let mark = spawned.process.mark();
    let thread = std::thread::spawn(move || {
        let _spawned = spawned;
        std::panic::resume_unwind(Box::new("as a handler would"));
    });
    assert!(thread.join().is_err());
    until(|| carrying(mark).is_empty() && !tools.iter().any(|tool| tool.is_alive())).await;
}

#[tokio::test]
async fn a_drop_does_not_leave_an_ended_child_behind() {
    let spawned = shell("echo ready; exec sleep 1000").await;
    let id = spawned.process.id().unwrap();
    drop(spawned);
    // Gone altogether, not only ended.
    until(|| id.entry().is_none()).await;
}
