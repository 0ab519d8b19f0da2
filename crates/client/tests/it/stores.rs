//! Session stores, mirrors, and sessions that are resumed from a store.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign::protocol::RawJson;
use countersign::protocol::event::TranscriptMirror;
use countersign::protocol::ids::{AgentId, SessionId};
use countersign::store::{
    ConfigSource, Durability, FileStore, ImportOptions, KeyError, MaterializeOptions, Materialized,
    MemoryStore, Mirror, MirrorFailure, MirrorOptions, SessionStore, StoreError, StoreFuture,
    StoreKey, StoreSessionError, StoreSessions, Subpath, conformance, import_session,
};
use countersign::transcript::{
    ForkOptions, ListOptions, MessageOptions, ProjectKey, Sessions, StoredMessage, TranscriptError,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

fn id() -> SessionId {
    SessionId::from(SESSION)
}

fn project() -> ProjectKey {
    ProjectKey::of_text("/work")
}

fn key() -> StoreKey {
    StoreKey::new(project(), id()).unwrap()
}

fn agent_key() -> StoreKey {
    key().with_subpath(Subpath::new("subagents/agent-abc").unwrap())
}

fn raw(value: &Value) -> RawJson {
    value.to_string().parse().unwrap()
}

fn said(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": SESSION,
        "isSidechain": false, "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": text}})
}

fn frame(file: &Path, entries: &[Value]) -> TranscriptMirror {
    TranscriptMirror::new(file.to_str().unwrap(), entries.iter().map(raw).collect::<Vec<_>>())
}

fn transcript(home: &Path) -> std::path::PathBuf {
    home.join("projects/-work").join(format!("{SESSION}.jsonl"))
}

/// A session on disk with a sub-agent.
fn on_disk(home: &Path) -> Sessions {
    let subagents = home.join("projects/-work").join(SESSION).join("subagents");
    fs::create_dir_all(&subagents).unwrap();
    let lines = [said("a", None, "Hi"), said("b", Some("a"), "Ho"), json!({"type": "hologram"})];
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    text.push_str("{\"torn");
    fs::write(transcript(home), text).unwrap();
    let mut line = said("s", None, "sub");
    line["isSidechain"] = json!(true);
    fs::write(subagents.join("agent-abc.jsonl"), format!("{line}\n")).unwrap();
    let metadata = r#"{"agentType":"general","toolUseId":"t1"}"#;
    fs::write(subagents.join("agent-abc.meta.json"), metadata).unwrap();
    Sessions::at(home)
}

#[tokio::test]
async fn a_store_in_memory_keeps_the_rules() {
    let report = conformance::check(async || Arc::new(MemoryStore::new()) as _).await.unwrap();
    assert_eq!((report.passed.len(), report.skipped.len()), (15, 0));
}

#[tokio::test]
async fn a_store_of_files_keeps_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let next = AtomicUsize::new(0);
    let fresh = async || {
        let name = next.fetch_add(1, Ordering::Relaxed).to_string();
        let store = FileStore::new(folder.path().join(name)).durability(Durability::System);
        Arc::new(store) as Arc<dyn SessionStore>
    };
    let report = conformance::check(fresh).await.unwrap();
    assert_eq!((report.passed.len(), report.skipped.len()), (15, 0));
}

/// Only what a store must have, and something wrong with it.
struct Odd {
    inner: MemoryStore,
    fault: Fault,
    calls: AtomicUsize,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Gives entries in another order.
    Reversed,
    /// Forgets which project a session is of.
    OneProject,
    /// Fails this many times.
    Fails(usize),
    /// Never answers.
    Hangs,
}

impl Odd {
    fn new(fault: Fault) -> Arc<Self> {
        Arc::new(Self { inner: MemoryStore::new(), fault, calls: AtomicUsize::new(0) })
    }

    fn key(&self, key: &StoreKey) -> StoreKey {
        if self.fault != Fault::OneProject {
            return key.clone();
        }
        let other = StoreKey::new(project(), key.session_id().clone()).unwrap();
        key.subpath().map_or(other.clone(), |subpath| other.with_subpath(subpath.clone()))
    }
}

impl SessionStore for Odd {
    fn append<'a>(&'a self, key: &'a StoreKey, entries: &'a [RawJson]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let before = self.calls.fetch_add(1, Ordering::Relaxed);
            match self.fault {
                Fault::Hangs => std::future::pending().await,
                Fault::Fails(times) if before < times => Err(StoreError::backend("no disk")),
                _ => self.inner.append(&self.key(key), entries).await,
            }
        })
    }

    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>> {
        Box::pin(async move {
            if self.fault == Fault::Hangs {
                std::future::pending::<()>().await;
            }
            let mut entries = self.inner.load(&self.key(key)).await?;
            if self.fault == Fault::Reversed {
                entries.iter_mut().for_each(|entries| entries.reverse());
            }
            Ok(entries)
        })
    }
}

#[tokio::test]
async fn a_store_that_breaks_a_rule_is_found_out() {
    for fault in [Fault::Reversed, Fault::OneProject, Fault::Fails(1)] {
        conformance::check(async || Odd::new(fault) as _).await.unwrap_err();
    }
    let report = conformance::check(async || Odd::new(Fault::None) as _).await.unwrap();
    assert_eq!((report.passed.len(), report.skipped.len()), (8, 7));
}

#[tokio::test]
async fn a_line_that_was_torn_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let (a, b) = (raw(&json!({"uuid": "a"})), raw(&json!({"uuid": "b"})));
    store.append(&key(), std::slice::from_ref(&a)).await.unwrap();
    let file = folder.path().join("-work").join(format!("{SESSION}.jsonl"));
    let torn = fs::read_to_string(&file).unwrap() + "{\"uuid\":\"tor";
    fs::write(&file, torn).unwrap();
    assert_eq!(store.load(&key()).await.unwrap().unwrap(), std::slice::from_ref(&a));
    // What is written over several lines is one line here.
    let wide: RawJson = "{\n\"uuid\":\n\"c\"}".parse().unwrap();
    store.append(&key(), &[b.clone(), wide]).await.unwrap();
    let loaded = store.load(&key()).await.unwrap().unwrap();
    assert_eq!(loaded[..2], [a, b]);
    assert_eq!(loaded[2].decode::<Value>().unwrap(), json!({"uuid": "c"}));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_session_is_the_same_from_disk_and_from_a_store() {
    let home = tempfile::tempdir().unwrap();
    let sessions = on_disk(home.path());
    let store: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    let options = ImportOptions::new().batch(1);
    let imported = import_session(&sessions, &id(), &*store, &options).await.unwrap();
    assert_eq!((imported.entries, imported.skipped, imported.subagents), (5, 1, 1));
    // Again, as after a mirror that had lost something.
    import_session(&sessions, &id(), &*store, &options).await.unwrap();

    let stored = StoreSessions::new(Arc::clone(&store), project());
    let all = MessageOptions::new();
    let collect = |messages: countersign::transcript::Messages| -> Vec<StoredMessage> {
        messages.map(Result::unwrap).collect()
    };
    let disk = collect(sessions.messages(&id(), &all).unwrap());
    assert_eq!(disk.len(), 2);
    assert_eq!(stored.messages(&id(), &all).await.unwrap(), disk);
    let agent = AgentId::from("abc");
    let disk = collect(sessions.subagent_messages(&id(), &agent, &all).unwrap());
    assert_eq!(disk[0].parent_tool_use_id.as_ref().unwrap().as_str(), "t1");
    assert_eq!(stored.subagent_messages(&id(), &agent, &all).await.unwrap(), disk);
    let agents = stored.subagents(&id()).await.unwrap();
    assert_eq!(agents[0].agent_type, sessions.subagents(&id()).unwrap()[0].agent_type);

    stored.rename(&id(), "Title").await.unwrap();
    stored.tag(&id(), Some("red")).await.unwrap();
    let fork = stored.fork(&id(), &ForkOptions::new().up_to_message("a")).await.unwrap();
    let list = stored.list(&ListOptions::new()).await.unwrap();
    let shown: Vec<_> =
        list.iter().map(|info| (info.summary.as_str(), info.tag.as_deref())).collect();
    assert_eq!(shown, [("Title (fork)", None), ("Title", Some("red"))]);
    assert_eq!(stored.messages(&fork, &all).await.unwrap().len(), 1);
    assert_eq!(stored.info(&fork).await.unwrap().unwrap().first_prompt.as_deref(), Some("Hi"));
    stored.delete(&id()).await.unwrap();
    let error = stored.messages(&id(), &all).await.unwrap_err();
    assert!(matches!(error, StoreSessionError::Transcript(TranscriptError::NotFound { .. })));
    assert_eq!(store.load(&agent_key()).await.unwrap(), None);
    let error = stored.info(&SessionId::from("../x")).await.unwrap_err();
    assert!(matches!(error, StoreSessionError::Key(KeyError::Session(_))));
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

#[tokio::test]
async fn a_session_from_a_store_is_put_where_the_cli_looks_for_it() {
    let (home, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sessions = on_disk(home.path());
    let store = MemoryStore::new();
    import_session(&sessions, &id(), &store, &ImportOptions::new()).await.unwrap();
    // The same batch twice, as after an attempt that failed after it had taken effect.
    store.append(&key(), &[raw(&said("b", Some("a"), "Ho"))]).await.unwrap();
    let settings = json!({"permissions": {"deny": ["Bash"]}, "enabledPlugins": {"a": true},
        "extraKnownMarketplaces": {}, "env": {"A": "b", "CLAUDE_CONFIG_DIR": "/elsewhere"}});
    let login = json!({"claudeAiOauth": {"accessToken": "mock", "refreshToken": "mock"}});
    fs::write(user.path().join("settings.json"), format!("\u{feff}{settings}")).unwrap();
    fs::write(user.path().join(".credentials.json"), login.to_string()).unwrap();
    fs::write(user.path().join(".claude.json"), "{\"theme\":\"dark\"}").unwrap();

    let options = MaterializeOptions::new().config(ConfigSource::at(user.path()));
    let made = Materialized::from_store(&store, &key(), &options).await.unwrap();
    let folder = made.config_home().to_owned();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let lines = read(&format!("projects/-work/{SESSION}.jsonl"));
    let original = fs::read_to_string(transcript(home.path())).unwrap();
    assert_eq!(lines, original.replace("{\"torn", ""));
    let inner = format!("projects/-work/{SESSION}/subagents/agent-abc");
    assert_eq!(read(&format!("{inner}.jsonl")).lines().count(), 1);
    let json = |name: &str| serde_json::from_str::<Value>(&read(name)).unwrap();
    let metadata = json!({"agentType": "general", "toolUseId": "t1"});
    assert_eq!(json(&format!("{inner}.meta.json")), metadata);
    let kept = json!({"permissions": {"deny": ["Bash"]}, "env": {"A": "b"}});
    assert_eq!(json("settings.json"), kept);
    assert_eq!(json(".credentials.json"), json!({"claudeAiOauth": {"accessToken": "mock"}}));
    assert_eq!(json(".claude.json"), json!({"theme": "dark"}));
    let mode = |path: &str| fs::metadata(folder.join(path)).unwrap().permissions().mode() & 0o777;
    for folder in ["", "projects", "projects/-work", &format!("projects/-work/{SESSION}")] {
        assert_eq!(mode(folder), 0o700, "{folder}");
    }
    let secret = [".credentials.json", "settings.json", &format!("{inner}.jsonl")];
    assert!(secret.iter().all(|file| mode(file) == 0o600));
    drop(made);
    assert!(!folder.exists());
}

/// A store that lists a subpath that leads elsewhere.
struct Hostile(MemoryStore, &'static str);

impl SessionStore for Hostile {
    fn append<'a>(&'a self, key: &'a StoreKey, entries: &'a [RawJson]) -> StoreFuture<'a, ()> {
        self.0.append(key, entries)
    }

    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>> {
        self.0.load(key)
    }

    fn list_subkeys<'a>(&'a self, _: &'a StoreKey) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move { Ok(vec![self.1.to_owned()]) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_taken_leaves_nothing_behind() {
    let parent = tempfile::tempdir().unwrap();
    let options = MaterializeOptions::new().within(parent.path());
    for subpath in ["../../../evil", "/etc/cron.d/evil", "a/../../b", ""] {
        let store = Hostile(MemoryStore::new(), subpath);
        store.append(&key(), &[raw(&said("a", None, "x"))]).await.unwrap();
        let error = Materialized::from_store(&store, &key(), &options).await.unwrap_err();
        assert!(matches!(error, StoreSessionError::Key(KeyError::Subpath(_))), "{error}");
    }
    let error = Materialized::from_store(&MemoryStore::new(), &key(), &options).await.unwrap_err();
    assert!(matches!(error, StoreSessionError::Transcript(TranscriptError::NotFound { .. })));
    let error =
        Materialized::from_store(&*Odd::new(Fault::Hangs), &key(), &options).await.unwrap_err();
    assert!(matches!(error, StoreSessionError::Store(StoreError::Timeout { .. })), "{error}");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn the_latest_session_is_continued_and_not_that_of_a_sub_agent() {
    let store = MemoryStore::new();
    let options = MaterializeOptions::new();
    assert!(Materialized::latest(&store, &project(), &options).await.unwrap().is_none());
    for (n, sidechain) in [(1, false), (2, false), (3, true)] {
        let session = SessionId::from(format!("{n}1111111-2222-4333-8444-555555555555"));
        let key = StoreKey::new(project(), session).unwrap();
        let mut entry = said("a", None, "x");
        entry["isSidechain"] = json!(sidechain);
        store.append(&key, &[raw(&entry)]).await.unwrap();
    }
    let made = Materialized::latest(&store, &project(), &options).await.unwrap().unwrap();
    assert!(made.session_id().as_str().starts_with('2'));
    let error =
        Materialized::latest(&*Odd::new(Fault::None), &project(), &options).await.unwrap_err();
    assert!(error.to_string().contains("list_sessions"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// However the entries are cut into appends, a file gives them back.
    #[test]
    fn a_file_gives_back_what_it_was_given(
        texts in prop::collection::vec(".{0,40}", 1..20),
        cut in 0usize..20,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let entries: Vec<_> = texts.iter().map(|text| raw(&json!({"text": text}))).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let loaded = runtime.block_on(async {
            let store = FileStore::new(folder.path()).durability(Durability::System);
            let (first, second) = entries.split_at(cut.min(entries.len()));
            store.append(&key(), first).await.unwrap();
            store.append(&key(), second).await.unwrap();
            store.load(&key()).await.unwrap()
        });
        prop_assert_eq!(loaded, Some(entries));
    }
}
