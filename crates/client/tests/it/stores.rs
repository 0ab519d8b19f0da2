//! Session stores, mirrors, and sessions that are resumed from a store.
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

mod keeping;
mod mirror;
#[cfg(feature = "real-cli")]
mod real;
mod resume;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign::protocol::RawJson;
use countersign::protocol::ids::SessionId;
use countersign::store::{MemoryStore, SessionStore, StoreError, StoreFuture, StoreKey, Subpath};
use countersign::transcript::{ProjectKey, Sessions};
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

fn transcript(home: &Path) -> PathBuf {
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
    /// Panics this many times, first before there is anything to wait for, then while it is waited.
    Panics(usize),
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
        let before = self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(before > 0 || !matches!(self.fault, Fault::Panics(_)), "no store");
        Box::pin(async move {
            assert!(!matches!(self.fault, Fault::Panics(times) if before < times), "no disk");
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
