//! Everything that the server has to say in the end, read through its API.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use countersign_server::api::view::{EventView, ListApprovals, ListSessions, SessionView};
use countersign_server::id::{ApprovalId, SessionId};
use countersign_server::session::{Approval, Happening};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Failure;
use super::eyes::digest;
use super::script::{RAN, tokens};
use super::wire::Wire;

/// How much is read at once.
const PAGE: usize = 500;

/// An event of the log.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) view: EventView,
    pub(super) happening: Happening,
    /// What the whole of it is known by, letter for letter.
    pub(super) whole: u64,
    /// What its body is known by.
    pub(super) body: u64,
}

/// Everything that the server has to say.
#[derive(Debug)]
pub(super) struct Record {
    /// The log, in the order of its positions.
    pub(super) log: Vec<Logged>,
    pub(super) sessions: BTreeMap<SessionId, SessionView>,
    pub(super) approvals: BTreeMap<ApprovalId, Approval>,
    /// How often each token was added to the file.
    pub(super) ran: HashMap<String, u64>,
    /// What the transcripts of the CLI say.
    pub(super) transcripts: Transcripts,
}

/// What the transcripts of the CLI say.
#[derive(Debug, Default)]
pub(super) struct Transcripts {
    /// How often each call has a result, by conversation and call.
    pub(super) results: HashMap<(String, String), u64>,
    /// How often each thing was said by a user.
    pub(super) said: HashMap<(String, String), u64>,
}

#[derive(Deserialize)]
struct Part {
    items: Vec<Box<RawValue>>,
    more: bool,
}

impl Record {
    /// Reads everything. Nothing happens any more.
    pub(super) async fn read(wire: &Wire, work: &Path, home: &Path) -> Result<Self, Failure> {
        Ok(Self {
            log: log(wire).await?,
            sessions: sessions(wire).await?,
            approvals: approvals(wire).await?,
            ran: ran(work)?,
            transcripts: Transcripts::read(&home.join(".claude/projects"))?,
        })
    }
}

async fn log(wire: &Wire) -> Result<Vec<Logged>, Failure> {
    let mut log: Vec<Logged> = Vec::new();
    loop {
        let after = log.last().map_or(0, |last| last.view.position);
        let text = wire.text(&format!("/events?after={after}&limit={PAGE}")).await?;
        let part: Part = serde_json::from_slice(&text)?;
        for item in part.items {
            let view: EventView = serde_json::from_str(item.get())?;
            let (whole, body) = (digest(item.get()), digest(view.body.as_str()));
            log.push(Logged { happening: view.happening()?, whole, body, view });
        }
        if !part.more {
            return Ok(log);
        }
    }
}

async fn sessions(wire: &Wire) -> Result<BTreeMap<SessionId, SessionView>, Failure> {
    let mut all = BTreeMap::new();
    let mut wanted = ListSessions { limit: Some(PAGE), ..ListSessions::default() };
    loop {
        let page = wire.client.sessions(&wanted).await?;
        all.extend(page.items.into_iter().map(|view| (view.head.id, view)));
        wanted.after = page.next;
        if wanted.after.is_none() {
            return Ok(all);
        }
    }
}

async fn approvals(wire: &Wire) -> Result<BTreeMap<ApprovalId, Approval>, Failure> {
    let mut all = BTreeMap::new();
    let mut wanted = ListApprovals { limit: Some(PAGE), ..ListApprovals::default() };
    loop {
        let page = wire.client.approvals(&wanted).await?;
        all.extend(page.items.into_iter().map(|approval| (approval.id, approval)));
        wanted.after = page.next;
        if wanted.after.is_none() {
            return Ok(all);
        }
    }
}

fn ran(work: &Path) -> Result<HashMap<String, u64>, Failure> {
    let mut ran = HashMap::new();
    let file = work.join(RAN);
    if file.exists() {
        for token in tokens(&fs::read_to_string(file)?) {
            *ran.entry(token).or_default() += 1;
        }
    }
    Ok(ran)
}

impl Transcripts {
    fn read(folder: &Path) -> Result<Self, Failure> {
        let mut read = Self::default();
        let Ok(projects) = fs::read_dir(folder) else { return Ok(read) };
        for project in projects {
            for file in fs::read_dir(project?.path())? {
                let path = file?.path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    let name = path.file_stem().unwrap_or_default().to_string_lossy();
                    read.file(&name, &fs::read_to_string(&path)?);
                }
            }
        }
        Ok(read)
    }

    fn file(&mut self, conversation: &str, text: &str) {
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            if line.get("type").is_none_or(|kind| kind != "user") {
                continue;
            }
            let content = line.pointer("/message/content").unwrap_or(&Value::Null);
            let blocks = content.as_array().into_iter().flatten();
            for block in blocks {
                let place = match block["type"].as_str() {
                    Some("tool_result") => (&mut self.results, &block["tool_use_id"]),
                    Some("text") => (&mut self.said, &block["text"]),
                    _ => continue,
                };
                count(place.0, conversation, place.1);
            }
            count(&mut self.said, conversation, content);
        }
    }
}

fn count(all: &mut HashMap<(String, String), u64>, conversation: &str, what: &Value) {
    if let Some(what) = what.as_str() {
        *all.entry((conversation.to_owned(), what.to_owned())).or_default() += 1;
    }
}
