//! A session from a store, where a CLI can resume it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use countersign::protocol::RawJson;
use countersign::protocol::ids::SessionId;
use countersign::store::{
    ConfigSource, ImportOptions, KeyError, MaterializeOptions, Materialized, MemoryStore,
    SessionStore, StoreError, StoreFuture, StoreKey, StoreSessionError, import_session,
};
use serde_json::{Value, json};

use super::{Fault, Odd, SESSION, id, key, on_disk, project, raw, said, transcript};

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
    assert!(matches!(error, StoreSessionError::NotFound { .. }));
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
