//! The rules of a session store, as tests that any store can be put to.

use std::sync::Arc;

use countersign_protocol::RawJson;
use countersign_protocol::ids::SessionId;

use super::error::StoreError;
use super::key::{StoreKey, Subpath};
use super::summary::fold_summary;
use super::traits::SessionStore;
use crate::transcript::ProjectKey;

/// A store to be tested.
pub type Subject = Arc<dyn SessionStore>;

/// Puts a store to all tests. `fresh` is asked for a store with nothing in it, once for each.
///
/// What the store does not offer is not tested, and named in the report.
///
/// ```
/// use std::sync::Arc;
///
/// use countersign::store::{MemoryStore, conformance};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let report = conformance::check(async || Arc::new(MemoryStore::new()) as _).await.unwrap();
/// assert!(report.skipped.is_empty());
/// # }
/// ```
///
/// # Errors
///
/// When the store breaks a rule, or fails: the first time that it does.
pub async fn check(fresh: impl AsyncFn() -> Subject) -> Result<Report, Violation> {
    let mut report = Report::default();
    for (rule, needs) in RULES {
        if lacks(&*fresh().await, needs).await {
            report.skipped.push(rule);
            continue;
        }
        let broken = |reason| Violation { rule, reason };
        test(rule, fresh().await).await.map_err(broken)?;
        report.passed.push(rule);
    }
    Ok(report)
}

/// What a store was put to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The rules that it keeps.
    pub passed: Vec<&'static str>,
    /// The rules about what it does not offer.
    pub skipped: Vec<&'static str>,
}

/// A store breaks a rule.
#[derive(Debug, thiserror::Error)]
#[error("the session store breaks a rule, {rule:?}: {reason}")]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: &'static str,
    /// What it did.
    pub reason: Reason,
}

/// What a store did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It gave something else than it should have.
    #[error("{what}: expected {expected}, got {got}")]
    Differs {
        /// What was looked at.
        what: &'static str,
        /// What it should have been.
        expected: String,
        /// What it was.
        got: String,
    },
}

/// What a rule is about, besides `append` and `load`.
type Needs = &'static [Optional];

#[derive(Clone, Copy)]
enum Optional {
    Sessions,
    Summaries,
    Delete,
    Subkeys,
}

const SAME_TEXT: &str = "entries come back in their order, letter for letter";
const UNKNOWN: &str = "a key that has nothing loads as nothing";
const CALLS: &str = "the order of appends is kept";
const NOTHING: &str = "no entries is nothing to do";
const SUBPATHS: &str = "a subpath is apart from its session";
const PROJECTS: &str = "a project is apart from others";
const TOGETHER: &str = "appends at the same time lose nothing and mix nothing";
const LARGE: &str = "a large entry comes back whole";
const LISTED: &str = "the sessions of a project are listed, with a time";
const NO_AGENTS: &str = "sub-agents are not listed as sessions";
const SUMMARIES: &str = "a summary is what the entries say, and can be continued";
const DELETED: &str = "what is deleted is gone, and can be deleted again";
const CASCADE: &str = "a session is deleted with its subpaths, and nothing else";
const ONE_PATH: &str = "a subpath is deleted alone";
const SUBKEYS: &str = "the subpaths of a session are listed, without the session";

const RULES: [(&str, Needs); 15] = [
    (SAME_TEXT, &[]),
    (UNKNOWN, &[]),
    (CALLS, &[]),
    (NOTHING, &[]),
    (SUBPATHS, &[]),
    (PROJECTS, &[]),
    (TOGETHER, &[]),
    (LARGE, &[]),
    (LISTED, &[Optional::Sessions]),
    (NO_AGENTS, &[Optional::Sessions]),
    (SUMMARIES, &[Optional::Summaries]),
    (DELETED, &[Optional::Delete]),
    (CASCADE, &[Optional::Delete]),
    (ONE_PATH, &[Optional::Delete]),
    (SUBKEYS, &[Optional::Subkeys]),
];

async fn lacks(store: &dyn SessionStore, needs: Needs) -> bool {
    let (project, key) = (project("probe"), key("probe", 0));
    for need in needs {
        let answer = match need {
            Optional::Sessions => store.list_sessions(&project).await.map(drop),
            Optional::Summaries => store.list_session_summaries(&project).await.map(drop),
            Optional::Delete => store.delete(&key).await,
            Optional::Subkeys => store.list_subkeys(&key).await.map(drop),
        };
        if answer.is_err_and(|error| error.is_unsupported()) {
            return true;
        }
    }
    false
}

async fn test(rule: &str, store: Subject) -> Result<(), Reason> {
    let subject = Tester { store: &*store };
    match rule {
        SAME_TEXT => subject.same_text().await,
        UNKNOWN => subject.unknown().await,
        CALLS => subject.order_of_calls().await,
        NOTHING => subject.nothing().await,
        SUBPATHS => subject.subpaths().await,
        PROJECTS => subject.projects().await,
        TOGETHER => together(&store).await,
        LARGE => subject.large().await,
        LISTED => subject.listed().await,
        NO_AGENTS => subject.no_agents().await,
        SUMMARIES => subject.summaries().await,
        DELETED => subject.deleted().await,
        CASCADE => subject.cascade().await,
        ONE_PATH => subject.one_path().await,
        _ => subject.subkeys().await,
    }
}

struct Tester<'a> {
    store: &'a dyn SessionStore,
}

impl Tester<'_> {
    async fn add(&self, key: &StoreKey, entries: &[&str]) -> Result<(), Reason> {
        Ok(self.store.append(key, &parsed(entries)).await?)
    }

    async fn has(
        &self,
        what: &'static str,
        key: &StoreKey,
        expected: Option<&[&str]>,
    ) -> Result<(), Reason> {
        let got = self.store.load(key).await?;
        same(what, &expected.map(parsed), &got)
    }

    async fn same_text(&self) -> Result<(), Reason> {
        let odd = [
            r#"{"type":"user","uuid":"b","price":1.10,"big":12345678901234567890123}"#,
            r#"{ "z" : 1 , "a" : "\u00e4 ä \ud83d\ude00 \n" , "a":2}"#,
            r#"{"type":"x","uuid":"a","nested":{"list":[1,[2,{"three":null}]]}}"#,
        ];
        self.add(&key("p", 1), &odd).await?;
        self.has("what was appended", &key("p", 1), Some(&odd)).await
    }

    async fn unknown(&self) -> Result<(), Reason> {
        self.has("a session that is not there", &key("p", 1), None).await?;
        self.add(&key("p", 1), &[A]).await?;
        self.has("a subpath that is not there", &agent("p", 1, "1"), None).await?;
        self.has("another session", &key("p", 2), None).await
    }

    async fn order_of_calls(&self) -> Result<(), Reason> {
        self.add(&key("p", 1), &[C]).await?;
        self.add(&key("p", 1), &[A, D]).await?;
        self.add(&key("p", 1), &[B]).await?;
        self.has("three appends", &key("p", 1), Some(&[C, A, D, B])).await
    }

    async fn nothing(&self) -> Result<(), Reason> {
        self.add(&key("p", 1), &[]).await?;
        self.has("nothing appended to nothing", &key("p", 1), None).await?;
        self.add(&key("p", 1), &[A]).await?;
        self.add(&key("p", 1), &[]).await?;
        self.has("nothing appended to something", &key("p", 1), Some(&[A])).await
    }

    async fn subpaths(&self) -> Result<(), Reason> {
        self.add(&key("p", 1), &[A]).await?;
        self.add(&agent("p", 1, "1"), &[B]).await?;
        self.add(&agent("p", 1, "2"), &[C]).await?;
        self.has("the session", &key("p", 1), Some(&[A])).await?;
        self.has("the first sub-agent", &agent("p", 1, "1"), Some(&[B])).await?;
        self.has("the second sub-agent", &agent("p", 1, "2"), Some(&[C])).await
    }

    async fn projects(&self) -> Result<(), Reason> {
        self.add(&key("p", 1), &[A]).await?;
        self.add(&key("p-q", 1), &[B]).await?;
        self.has("one project", &key("p", 1), Some(&[A])).await?;
        self.has("a project whose name begins alike", &key("p-q", 1), Some(&[B])).await
    }

    async fn large(&self) -> Result<(), Reason> {
        let large = format!(r#"{{"type":"user","text":"{}"}}"#, "x".repeat(4 << 20));
        self.add(&key("p", 1), &[A, &large, B]).await?;
        self.has("an entry of 4 MiB", &key("p", 1), Some(&[A, &large, B])).await
    }

    async fn sessions(&self, project_name: &str) -> Result<Vec<SessionId>, Reason> {
        let listed = self.store.list_sessions(&project(project_name)).await?;
        let mut ids: Vec<_> = listed.into_iter().map(|session| session.session_id).collect();
        ids.sort();
        Ok(ids)
    }

    async fn listed(&self) -> Result<(), Reason> {
        for key in [key("p", 2), key("p", 1), key("p-q", 3)] {
            self.add(&key, &[A]).await?;
        }
        same("the list", &vec![session(1), session(2)], &self.sessions("p").await?)?;
        same("the list of an unknown project", &Vec::new(), &self.sessions("none").await?)?;
        for listed in self.store.list_sessions(&project("p")).await? {
            // Seconds in place of milliseconds would be in 1970.
            let recent = listed.modified.as_second() > 1_500_000_000;
            same("whether the time is one of our days", &true, &recent)?;
        }
        Ok(())
    }

    async fn no_agents(&self) -> Result<(), Reason> {
        self.add(&key("p", 1), &[A]).await?;
        self.add(&agent("p", 1, "1"), &[B]).await?;
        same("the list", &vec![session(1)], &self.sessions("p").await?)
    }

    async fn summaries(&self) -> Result<(), Reason> {
        let (first, second) = (
            r#"{"type":"user","timestamp":"2026-01-01T00:00:00Z","message":{"content":"Hi"}}"#,
            r#"{"type":"custom-title","customTitle":"second"}"#,
        );
        self.add(&key("p", 1), &[first]).await?;
        self.add(&key("p", 1), &[second]).await?;
        self.add(&agent("p", 1, "1"), &[r#"{"customTitle":"of a sub-agent"}"#]).await?;
        self.add(&key("p-q", 2), &[first]).await?;
        let summaries = self.store.list_session_summaries(&project("p")).await?;
        let ids: Vec<_> = summaries.iter().map(|summary| summary.session_id.clone()).collect();
        same("the sessions with a summary", &vec![session(1)], &ids)?;
        for summary in &summaries {
            let title = |summary: &super::SessionSummary| {
                summary.info(&project("p")).map(|info| (info.summary, info.first_prompt))
            };
            let expected = Some(("second".to_owned(), Some("Hi".to_owned())));
            same("what the summary says", &expected, &title(summary))?;
            let third = parsed(&[r#"{"type":"custom-title","customTitle":"third"}"#]);
            let folded = fold_summary(Some(summary), &key("p", 1), &third);
            let expected = Some(("third".to_owned(), Some("Hi".to_owned())));
            same("the summary continued", &expected, &title(&folded))?;
            let listed = match self.store.list_sessions(&project("p")).await {
                Err(error) if error.is_unsupported() => Vec::new(),
                listed => listed?,
            };
            let newer = listed.iter().all(|session| summary.modified >= session.modified);
            same("whether the summary is as new as the session", &true, &newer)?;
        }
        let none = self.store.list_session_summaries(&project("none")).await?;
        same("the summaries of an unknown project", &0, &none.len())
    }

    async fn deleted(&self) -> Result<(), Reason> {
        self.store.delete(&key("p", 9)).await?;
        self.add(&key("p", 1), &[A]).await?;
        self.store.delete(&key("p", 1)).await?;
        self.has("what was deleted", &key("p", 1), None).await?;
        self.store.delete(&key("p", 1)).await?;
        self.add(&key("p", 1), &[B]).await?;
        self.has("what was appended after that", &key("p", 1), Some(&[B])).await
    }

    async fn cascade(&self) -> Result<(), Reason> {
        for key in [key("p", 1), agent("p", 1, "1"), agent("p", 1, "2"), key("p", 2), key("p-q", 1)]
        {
            self.add(&key, &[A]).await?;
        }
        self.store.delete(&key("p", 1)).await?;
        self.has("the session", &key("p", 1), None).await?;
        self.has("its sub-agent", &agent("p", 1, "1"), None).await?;
        self.has("its other sub-agent", &agent("p", 1, "2"), None).await?;
        self.has("another session", &key("p", 2), Some(&[A])).await?;
        self.has("the session in another project", &key("p-q", 1), Some(&[A])).await?;
        match self.store.list_subkeys(&key("p", 1)).await {
            Err(error) if error.is_unsupported() => Ok(()),
            listed => same("the subpaths that are left", &Vec::<String>::new(), &listed?),
        }
    }

    async fn one_path(&self) -> Result<(), Reason> {
        for key in [key("p", 1), agent("p", 1, "1"), agent("p", 1, "2")] {
            self.add(&key, &[A]).await?;
        }
        self.store.delete(&agent("p", 1, "1")).await?;
        self.has("the sub-agent", &agent("p", 1, "1"), None).await?;
        self.has("the other sub-agent", &agent("p", 1, "2"), Some(&[A])).await?;
        self.has("the session", &key("p", 1), Some(&[A])).await
    }

    async fn subkeys(&self) -> Result<(), Reason> {
        for key in [key("p", 1), agent("p", 1, "2"), agent("p", 1, "1"), agent("p", 2, "3")] {
            self.add(&key, &[A]).await?;
        }
        let mut listed = self.store.list_subkeys(&key("p", 1)).await?;
        listed.sort();
        let expected = ["subagents/agent-1", "subagents/agent-2"].map(String::from).to_vec();
        same("the subpaths", &expected, &listed)?;
        let none = self.store.list_subkeys(&key("p", 9)).await?;
        same("the subpaths of an unknown session", &Vec::<String>::new(), &none)
    }
}

/// Several appends in flight: each stays together, and all are there.
async fn together(store: &Subject) -> Result<(), Reason> {
    const WRITERS: usize = 8;
    let (key, mut tasks) = (key("p", 1), tokio::task::JoinSet::new());
    for writer in 0..WRITERS {
        let (store, key) = (Arc::clone(store), key.clone());
        tasks.spawn(async move {
            for batch in 0..4 {
                let line = |n| format!(r#"{{"uuid":"{writer}-{batch}-{n}","writer":{writer}}}"#);
                let lines = [line(0), line(1), line(2)];
                store.append(&key, &parsed(&lines.each_ref().map(String::as_str))).await?;
            }
            Ok::<_, StoreError>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(StoreError::backend)??;
    }
    let entries = store.load(&key).await?.unwrap_or_default();
    same("how many entries there are", &(WRITERS * 4 * 3), &entries.len())?;
    for batch in entries.chunks(3) {
        let writer =
            |entry: &RawJson| entry.as_str().split_once("\"writer\"").map(|(_, w)| w.to_owned());
        let first = batch.first().and_then(writer);
        same("whether an append stays together", &true, &batch.iter().all(|e| writer(e) == first))?;
    }
    // Of one writer, the order is that of its calls.
    for writer in 0..WRITERS {
        let mark = format!("\"{writer}-");
        let mine: Vec<&str> =
            entries.iter().map(RawJson::as_str).filter(|text| text.contains(&mark)).collect();
        same("whether the order of one writer is kept", &true, &mine.is_sorted())?;
    }
    Ok(())
}

const A: &str = r#"{"type":"x","uuid":"a"}"#;
const B: &str = r#"{"type":"x","uuid":"b"}"#;
const C: &str = r#"{"type":"x","uuid":"c"}"#;
const D: &str = r#"{"type":"x","uuid":"d"}"#;

fn parsed(entries: &[&str]) -> Vec<RawJson> {
    entries.iter().filter_map(|entry| entry.parse().ok()).collect()
}

fn project(name: &str) -> ProjectKey {
    ProjectKey::of_text(name)
}

fn session(number: u8) -> SessionId {
    SessionId::from(format!("{number:08}-0000-4000-8000-000000000000"))
}

#[expect(clippy::expect_used, reason = "both are written above, in the form that is asked for")]
fn key(project_name: &str, number: u8) -> StoreKey {
    StoreKey::new(project(project_name), session(number)).expect("a UUID")
}

#[expect(clippy::expect_used, reason = "the name is written here, in the form that is asked for")]
fn agent(project_name: &str, number: u8, agent: &str) -> StoreKey {
    let subpath = Subpath::new(&format!("subagents/agent-{agent}")).expect("a subpath");
    key(project_name, number).with_subpath(subpath)
}

fn same<T: PartialEq + std::fmt::Debug>(
    what: &'static str,
    expected: &T,
    got: &T,
) -> Result<(), Reason> {
    if expected == got {
        return Ok(());
    }
    let shown = |value: &T| format!("{value:?}").chars().take(500).collect();
    Err(Reason::Differs { what, expected: shown(expected), got: shown(got) })
}
