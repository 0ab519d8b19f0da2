//! Sessions of the real CLI, mirrored into stores and resumed from them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use countersign::protocol::RawJson;
use countersign::protocol::event::TranscriptMirror;
use countersign::store::{
    FileStore, MaterializeOptions, Materialized, MemoryStore, Mirror, MirrorOptions, SessionStore,
    StoreKey, StoreSessions, Subpath,
};
use countersign::transcript::{MessageOptions, ProjectKey, Sessions, Subagent};
use countersign_lab::{Lab, Said, Version};
use serde_json::Value;

use crate::transcripts::real::{DELEGATE, lab, last_request, launch, talk, texts};

/// Sends what a CLI said to a store, as a session would.
async fn mirror(store: Arc<dyn SessionStore>, home: &Path, log: &[Said]) -> usize {
    let options = MirrorOptions::new().on_error(|error| assert_eq!(error.to_string(), ""));
    let (mirror, work) = Mirror::new(store, home, options);
    let mut frames = 0;
    let push = async {
        for said in log {
            if said.frame["type"] == "transcript_mirror" {
                mirror.push(serde_json::from_str::<TranscriptMirror>(&said.text).unwrap());
                frames += 1;
            }
            if said.frame["type"] == "result" {
                mirror.flush().await;
            }
        }
        drop(mirror);
    };
    tokio::join!(work, push);
    frames
}

/// The entries of a transcript.
///
/// Without the log of its requests to the model, which 2.1.325 keeps there and does not mirror.
fn lines(file: &Path) -> Vec<RawJson> {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with(r#"{"type":"api-request"#));
    lines.map(|line| line.parse().unwrap()).collect()
}

/// The store has what is on disk, entry by entry.
async fn is_the_same(store: &dyn SessionStore, lab: &Lab, home: &Path, key: &StoreKey) {
    let project = home.join("projects").join(key.project_key().as_str());
    let file = project.join(format!("{}.jsonl", key.session_id()));
    let stored = store.load(key).await.unwrap().unwrap();
    assert_eq!(stored, lines(&file));

    let sessions = Sessions::at(home).in_directory(lab.work());
    let agents = sessions.subagents(key.session_id()).unwrap();
    let subkeys = store.list_subkeys(key).await.unwrap();
    assert_eq!(subkeys, [format!("subagents/agent-{}", agents[0].agent_id)]);
    let inner = key.with_subpath(Subpath::new(&subkeys[0]).unwrap());
    let stored = store.load(&inner).await.unwrap().unwrap();
    let is_metadata = |entry: &&RawJson| entry.as_str().contains(r#""type":"agent_metadata""#);
    let said: Vec<_> = stored.iter().filter(|entry| !is_metadata(entry)).cloned().collect();
    let folder = project.join(key.session_id().as_str());
    assert_eq!(said, lines(&folder.join(format!("{}.jsonl", subkeys[0]))));
    let metadata: Vec<_> = stored.iter().filter(is_metadata).collect();
    assert!(!metadata.is_empty(), "{stored:?}");
}

/// What is known about sub-agents. The order of the fields is not the same everywhere.
fn known(agents: &[Subagent]) -> Vec<(&str, Value)> {
    let metadata = |agent: &Subagent| agent.metadata.as_ref().unwrap().decode().unwrap();
    agents.iter().map(|agent| (agent.agent_id.as_str(), metadata(agent))).collect()
}

async fn a_session_goes_by_way_of_a_store(version: Version) {
    let lab = lab(version).await;
    let home = lab.home().join(".claude");
    let mirrored = launch().arg("--session-mirror");
    let prompts = ["Read both.", DELEGATE];
    let (session, log) = talk(&lab, mirrored.clone(), &prompts).await;
    let key = StoreKey::new(ProjectKey::of(&lab.work()), session.clone()).unwrap();
    let stores: [Arc<dyn SessionStore>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(FileStore::new(lab.root().join("store")))];
    for store in &stores {
        assert!(mirror(Arc::clone(store), &home, &log).await > 2);
        is_the_same(&**store, &lab, &home, &key).await;
    }
    let agents = Sessions::at(&home).subagents(&session).unwrap();
    // The machine is another one now: nothing of the session is left on its disk.
    fs::remove_dir_all(&home).unwrap();

    for store in stores {
        let stored = StoreSessions::new(Arc::clone(&store), key.project_key().clone());
        assert_eq!(known(&stored.subagents(&session).await.unwrap()), known(&agents));
        let options = MaterializeOptions::new().within(lab.root());
        let made = Materialized::from_store(&*store, &key, &options).await.unwrap();
        let folder = made.config_home().to_str().unwrap().to_owned();
        let launch = mirrored.clone().env("CLAUDE_CONFIG_DIR", &folder);
        let launch = launch.resume(made.session_id().as_str());
        let (resumed, log) = talk(&lab, launch, &["Once more."]).await;
        assert_eq!(resumed, session);
        let request = last_request(&lab);
        for text in ["Read both.", "alpha", "beta", "The work is done.", "Once more."] {
            assert!(request.contains(text), "{text} is not in {request}");
        }
        // What is said now goes into the store again, after what was there.
        mirror(Arc::clone(&store), made.config_home(), &log).await;
        let said = stored.messages(&session, &MessageOptions::new()).await.unwrap();
        let said = texts(&said);
        assert_eq!(said[..2], ["Read both.", "I read both."]);
        assert_eq!(said[said.len() - 2..], ["Once more.", "And so on."]);
        made.close().unwrap();
        assert!(!Path::new(&folder).exists());
    }
    lab.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_by_way_of_a_store_325() {
    a_session_goes_by_way_of_a_store(Version::TESTED[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_by_way_of_a_store_197() {
    a_session_goes_by_way_of_a_store(Version::TESTED[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_version_has_no_mirror() {
    let lab = lab(Version::TESTED[2]).await;
    let mut cli = lab.launch(launch().arg("--session-mirror")).await.unwrap();
    cli.say("Hello?").await.ok();
    let ended = cli.close().await.unwrap();
    assert!(!ended.status.success());
    assert!(ended.log.iter().any(|said| said.text.contains("unknown option '--session-mirror'")));
    lab.close().await.unwrap();
}
