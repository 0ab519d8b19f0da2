//! What stores keep, and what sessions in them look like.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign::protocol::RawJson;
use countersign::protocol::ids::{AgentId, SessionId};
use countersign::store::{
    Durability, FileStore, ImportOptions, KeyError, MemoryStore, SessionStore, StoreSessionError,
    StoreSessions, conformance, import_session,
};
use countersign::transcript::{ForkOptions, ListOptions, MessageOptions, Messages, StoredMessage};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Fault, Odd, SESSION, agent_key, id, key, on_disk, project, raw};

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
    let collect =
        |messages: Messages| -> Vec<StoredMessage> { messages.map(Result::unwrap).collect() };
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
    assert!(matches!(error, StoreSessionError::NotFound { .. }));
    assert_eq!(store.load(&agent_key()).await.unwrap(), None);
    let error = stored.info(&SessionId::from("../x")).await.unwrap_err();
    assert!(matches!(error, StoreSessionError::Key(KeyError::Session(_))));
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
