//! What a CLI writes, sent to a store.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign::protocol::event::TranscriptMirror;
use countersign::store::{
    Mirror, MirrorFailure, MirrorOptions, SessionStore as _, StoreError, StoreKey,
};
use serde_json::{Value, json};

use super::{Fault, Odd, agent_key, key, raw, said, transcript};

fn frame(file: &Path, entries: &[Value]) -> TranscriptMirror {
    TranscriptMirror::new(file.to_str().unwrap(), entries.iter().map(raw).collect::<Vec<_>>())
}

#[tokio::test]
async fn a_mirror_sends_when_it_is_flushed_and_keeps_the_order() {
    let home = tempfile::tempdir().unwrap();
    let store = Odd::new(Fault::None);
    let (mirror, work) = Mirror::new(store.clone(), home.path(), MirrorOptions::new());
    let file = transcript(home.path());
    let agent = file.with_extension("").join("subagents/agent-abc.jsonl");
    let test = async {
        mirror.push(frame(&file, &[said("a", None, "1")]));
        mirror.push(frame(&agent, &[json!({"type": "agent_metadata", "agentType": "x"})]));
        mirror.push(frame(&file, &[said("b", Some("a"), "2")]));
        mirror.push(frame(&file, &[]));
        tokio::task::yield_now().await;
        assert_eq!(store.calls.load(Ordering::Relaxed), 0, "nothing is sent before it is due");
        mirror.flush().await;
        assert_eq!(store.calls.load(Ordering::Relaxed), 2, "one append for each transcript");
        let loaded = store.load(&key()).await.unwrap().unwrap();
        assert_eq!(loaded, [raw(&said("a", None, "1")), raw(&said("b", Some("a"), "2"))]);
        assert_eq!(store.load(&agent_key()).await.unwrap().unwrap().len(), 1);
        mirror.push(frame(&file, &[said("c", Some("b"), "3")]));
        drop(mirror);
    };
    tokio::join!(work, test);
    assert_eq!(store.load(&key()).await.unwrap().unwrap().len(), 3, "the end is sent, too");
}

#[tokio::test]
async fn a_mirror_sends_what_is_too_much_to_wait() {
    let home = tempfile::tempdir().unwrap();
    let file = transcript(home.path());
    let large = said("a", None, &"x".repeat(2 << 20));
    let many: Vec<_> = (0..501).map(|n| said(&n.to_string(), None, "x")).collect();
    for (options, frame) in [
        (MirrorOptions::new(), frame(&file, &[large])),
        (MirrorOptions::new(), frame(&file, &many)),
        (MirrorOptions::new().eager(), frame(&file, &[said("a", None, "x")])),
    ] {
        let store = Odd::new(Fault::None);
        let (mirror, work) = Mirror::new(store.clone(), home.path(), options);
        let test = async {
            mirror.push(frame);
            while store.calls.load(Ordering::Relaxed) == 0 {
                tokio::task::yield_now().await;
            }
            drop(mirror);
        };
        tokio::join!(work, test);
    }
}

/// A mirror with this fault, and what it reported.
async fn mirrored(fault: Fault) -> (Arc<Odd>, Vec<(Option<StoreKey>, MirrorFailure)>) {
    let home = tempfile::tempdir().unwrap();
    let store = Odd::new(fault);
    let reports = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reports);
    let options = MirrorOptions::new()
        .on_error(move |error| sink.lock().unwrap().push((error.key, error.failure)));
    let (mirror, work) = Mirror::new(store.clone(), home.path(), options);
    let test = async {
        mirror.push(frame(&transcript(home.path()), &[said("a", None, "x")]));
        mirror.flush().await;
        drop(mirror);
    };
    tokio::join!(work, test);
    let reports = std::mem::take(&mut *reports.lock().unwrap());
    (store, reports)
}

#[tokio::test(start_paused = true)]
async fn an_append_is_tried_three_times() {
    let start = tokio::time::Instant::now();
    let (store, reports) = mirrored(Fault::Fails(2)).await;
    assert!(reports.is_empty());
    assert_eq!(store.load(&key()).await.unwrap().unwrap().len(), 1);
    assert_eq!(start.elapsed(), Duration::from_secs(1));

    let (store, reports) = mirrored(Fault::Fails(3)).await;
    assert_eq!(store.calls.load(Ordering::Relaxed), 3);
    assert_eq!(reports[0].0, Some(key()));
    assert!(matches!(reports[0].1, MirrorFailure::Store(StoreError::Backend(_))));
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_store_is_an_error_like_others() {
    let (store, reports) = mirrored(Fault::Panics(2)).await;
    assert!(reports.is_empty());
    assert_eq!(store.load(&key()).await.unwrap().unwrap().len(), 1);

    let (store, reports) = mirrored(Fault::Panics(3)).await;
    assert_eq!(store.calls.load(Ordering::Relaxed), 3);
    assert!(reports[0].1.to_string().contains("panicked"), "{}", reports[0].1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_who_is_told_stops_nothing() {
    let home = tempfile::tempdir().unwrap();
    let store = Odd::new(Fault::Fails(3));
    let options = MirrorOptions::new().on_error(|error| panic!("{error}"));
    let (mirror, work) = Mirror::new(store.clone(), home.path(), options);
    let test = async {
        // Where a frame is taken, and where one is sent.
        mirror.push(frame(Path::new("/elsewhere/x.jsonl"), &[said("a", None, "x")]));
        mirror.push(frame(&transcript(home.path()), &[said("b", None, "lost")]));
        mirror.flush().await;
        mirror.push(frame(&transcript(home.path()), &[said("c", None, "kept")]));
        mirror.flush().await;
        drop(mirror);
    };
    tokio::join!(work, test);
    assert_eq!(store.load(&key()).await.unwrap().unwrap(), [raw(&said("c", None, "kept"))]);
}

#[tokio::test(start_paused = true)]
async fn an_append_that_hangs_is_given_up_and_not_repeated() {
    let start = tokio::time::Instant::now();
    let (store, reports) = mirrored(Fault::Hangs).await;
    assert_eq!(start.elapsed(), Duration::from_secs(60));
    assert_eq!(store.calls.load(Ordering::Relaxed), 1);
    assert!(matches!(reports[0].1, MirrorFailure::Store(StoreError::Timeout { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_mirror_of_a_slow_store_holds_no_more_than_it_may() {
    let home = tempfile::tempdir().unwrap();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reports);
    let options = MirrorOptions::new()
        .hold_at_most(10_000)
        .on_error(move |error| sink.lock().unwrap().push(error.failure.to_string()));
    let (mirror, work) = Mirror::new(Odd::new(Fault::Hangs), home.path(), options);
    // Nobody works yet, and taking a frame waits for nobody.
    for _ in 0..100 {
        mirror.push(frame(&transcript(home.path()), &[said("a", None, &"x".repeat(1000))]));
    }
    let dropped = reports.lock().unwrap().len();
    assert!((90..100).contains(&dropped), "{dropped}");
    mirror.push(frame(Path::new("/elsewhere/x.jsonl"), &[said("a", None, "x")]));
    assert!(reports.lock().unwrap().pop().unwrap().contains("CLAUDE_CONFIG_DIR"));
    // Without its work, a flush has nothing to wait for.
    drop(work);
    mirror.flush().await;
}
