//! A copy of a session that goes its own way.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::Path;

use countersign_protocol::ids::{MessageUuid, SessionId};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::digest::Digest;
use super::error::{TranscriptError, io_error};
use super::fields::{Fields, each_item};
use super::files::Located;
use super::index::{Entry, EntryKind, Id, Index};
use super::info;
use super::lines::LineReader;

/// What belongs to one session only and is not copied.
const LEFT_OUT: [&str; 4] = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"];

/// How a session is forked. By default the whole of it, under its title with "(fork)" added.
#[derive(Clone, Debug, Default)]
#[must_use = "pass it to `Sessions::fork`"]
#[non_exhaustive]
pub struct ForkOptions {
    up_to_message: Option<MessageUuid>,
    title: Option<String>,
}

impl ForkOptions {
    /// The whole session.
    pub const fn new() -> Self {
        Self { up_to_message: None, title: None }
    }

    /// Only up to this message, and with it. What stands after it in the transcript is left out.
    pub fn up_to_message(mut self, message: impl Into<MessageUuid>) -> Self {
        self.up_to_message = Some(message.into());
        self
    }

    /// Under this title. One that is blank counts as none.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// What has to be known before the lines are copied.
#[derive(Debug)]
pub(crate) struct Fork {
    source: SessionId,
    /// The session that is made.
    pub(crate) session: SessionId,
    title: String,
    now: String,
    /// The entries that are copied, by where they begin, each with its new uuid and parent.
    copies: HashMap<u64, Copied>,
    logical: HashMap<Box<str>, Uuid>,
    last: u64,
    /// Texts that the CLI shortened for the model, each as JSON.
    replacements: Vec<String>,
}

#[derive(Debug)]
struct Copied {
    uuid: Uuid,
    parent: Option<Uuid>,
}

impl Fork {
    /// Decides what is copied. The digest is where a title comes from if none is given.
    pub(crate) fn plan(
        index: &Index,
        source: &SessionId,
        options: &ForkOptions,
        digest: &Digest,
    ) -> Result<Self, TranscriptError> {
        // What sub-agents say has a tree of its own.
        let mut entries: Vec<&Entry> =
            index.entries().iter().filter(|entry| !entry.sidechain).collect();
        if let Some(message) = &options.up_to_message {
            let id = index.find(message.as_str());
            let end = id.and_then(|id| entries.iter().position(|entry| entry.uuid == id));
            let Some(end) = end else {
                let (session, message) = (source.clone(), message.clone());
                return Err(TranscriptError::NoSuchMessage { session, message });
            };
            entries.truncate(end + 1);
        }
        let kept = |entry: &&&Entry| entry.kind != EntryKind::Progress;
        let Some(last) = entries.iter().rfind(kept).map(|entry| entry.offset) else {
            return Err(TranscriptError::NothingToFork { session: source.clone() });
        };
        let by_uuid: HashMap<Id, &Entry> =
            entries.iter().map(|entry| (entry.uuid, *entry)).collect();
        let uuids: HashMap<Id, Uuid> = by_uuid.keys().map(|id| (*id, Uuid::new_v4())).collect();
        let mut ancestors = Ancestors { by_uuid, known: HashMap::new() };
        let copies = entries.iter().filter(kept).filter_map(|entry| {
            let parent = ancestors.of(entry).and_then(|id| uuids.get(&id)).copied();
            Some((entry.offset, Copied { uuid: *uuids.get(&entry.uuid)?, parent }))
        });
        let given = options.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        let derived = || digest.title().or(digest.first_prompt()).unwrap_or("Forked session");
        Ok(Self {
            source: source.clone(),
            session: SessionId::from(Uuid::new_v4().to_string()),
            title: given.map_or_else(|| format!("{} (fork)", derived()), ToOwned::to_owned),
            now: format!("{:.3}", Timestamp::now()),
            copies: copies.collect(),
            logical: index.with_texts(&uuids),
            last,
            replacements: Vec::new(),
        })
    }

    /// The line in the fork for a line of the source that begins there; nothing for one that is
    /// not copied.
    pub(crate) fn line(&mut self, line: &str, offset: u64) -> Option<String> {
        let fields = Fields::parse(line)?;
        if let Some(copy) = self.copies.get(&offset) {
            return Some(self.copied(&fields, copy, offset == self.last));
        }
        let own = fields.id("sessionId").is_some_and(|id| *id == *self.source.as_str());
        if own && fields.raw("type") == Some("\"content-replacement\"") {
            let list = fields.raw("replacements").unwrap_or_default();
            each_item(list, |item| self.replacements.push(item.to_owned()));
        }
        None
    }

    /// The lines that stand at the end of the fork.
    pub(crate) fn ending(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let (session, now) = (json!(self.session), json!(self.now));
        let common =
            |uuid: Uuid| format!(r#""sessionId":{session},"uuid":"{uuid}","timestamp":{now}"#);
        if !self.replacements.is_empty() {
            let all = self.replacements.join(",");
            let common = common(Uuid::new_v4());
            lines.push(format!(
                r#"{{"type":"content-replacement",{common},"replacements":[{all}]}}"#
            ));
        }
        let title = json!(self.title);
        let common = common(Uuid::new_v4());
        lines.push(format!(r#"{{"type":"custom-title","customTitle":{title},{common}}}"#));
        lines
    }

    /// An entry with what names it replaced, and all else as it was.
    fn copied(&self, fields: &Fields<'_>, copy: &Copied, last: bool) -> String {
        let parent = copy.parent.map_or(json!(null), |uuid| json!(uuid.to_string()));
        let original = fields.raw("uuid").unwrap_or("null");
        let source = json!(self.source);
        let mut changed = vec![
            ("uuid", json!(copy.uuid.to_string()).to_string()),
            ("parentUuid", parent.to_string()),
            ("sessionId", json!(self.session).to_string()),
            ("isSidechain", "false".to_owned()),
            ("forkedFrom", format!(r#"{{"sessionId":{source},"messageUuid":{original}}}"#)),
        ];
        if let Some(logical) = fields.id("logicalParentUuid") {
            let uuid = self.logical.get(&*logical);
            let uuid = uuid.map_or(json!(null), |uuid| json!(uuid.to_string()));
            changed.push(("logicalParentUuid", uuid.to_string()));
        }
        // The CLI goes on from the latest entry.
        if last || fields.raw("timestamp").is_none() {
            changed.push(("timestamp", json!(self.now).to_string()));
        }
        let own: Vec<&str> = changed.iter().map(|(name, _)| *name).collect();
        let mut line = String::from("{");
        let mut put = |name: &str, value: &str| {
            let comma = if line.len() > 1 { "," } else { "" };
            // Writing to a string does not fail.
            write!(line, "{comma}{}:{value}", json!(name)).ok();
        };
        for (name, value) in fields.iter().filter(|(name, _)| !LEFT_OUT.contains(name)) {
            if !own.contains(&name) {
                put(name, value);
            } else if let Some(at) = changed.iter().position(|(changed, _)| *changed == name) {
                let (name, value) = changed.swap_remove(at);
                put(name, &value);
            }
        }
        for (name, value) in &changed {
            put(name, value);
        }
        line.push('}');
        line
    }
}

/// Finds the nearest entry before another that is copied: entries about progress are not.
struct Ancestors<'a> {
    by_uuid: HashMap<Id, &'a Entry>,
    /// What was found for entries about progress, so that a long chain of them is walked once.
    /// Those on a walk have none until it ends, and those in a circle never have one.
    known: HashMap<Id, Option<Id>>,
}

impl Ancestors<'_> {
    fn of(&mut self, entry: &Entry) -> Option<Id> {
        let (mut next, mut walked) = (entry.parent, Vec::new());
        let found = loop {
            let Some(parent) = next.and_then(|id| self.by_uuid.get(&id)) else { break None };
            if parent.kind != EntryKind::Progress {
                break Some(parent.uuid);
            }
            if let Some(found) = self.known.get(&parent.uuid) {
                break *found;
            }
            self.known.insert(parent.uuid, None);
            walked.push(parent.uuid);
            next = parent.parent;
        };
        self.known.extend(walked.into_iter().map(|id| (id, found)));
        found
    }
}

/// Forks a session on disk. The fork appears under its name when it is complete.
pub(super) fn fork(
    session: &SessionId,
    files: &Located,
    options: &ForkOptions,
) -> Result<SessionId, TranscriptError> {
    let path = &files.transcript;
    let read = || io_error("read", path);
    let file = File::open(path).map_err(read())?;
    let index = Index::read(BufReader::new(&file)).map_err(read())?;
    let digest = info::digest(path).map_err(read())?;
    let mut fork = Fork::plan(&index, session, options, &digest)?;
    drop(index);
    let target = files.project.join(format!("{}.jsonl", fork.session));
    copy(&mut fork, path, &target)
        .map_err(|error| io_error("write", &target)(error))
        .map(|()| fork.session)
}

fn copy(fork: &mut Fork, source: &Path, target: &Path) -> io::Result<()> {
    let folder = target.parent().unwrap_or(target);
    let temporary = tempfile::Builder::new().prefix(".fork-").tempfile_in(folder)?;
    let mut sink = BufWriter::new(temporary);
    let mut lines = LineReader::new(BufReader::new(File::open(source)?));
    while let Some(line) = lines.next()? {
        if let Some(copy) = fork.line(&line.text, line.offset) {
            writeln!(sink, "{copy}")?;
        }
    }
    for line in fork.ending() {
        writeln!(sink, "{line}")?;
    }
    let temporary = sink.into_inner().map_err(io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist_noclobber(target).map_err(|error| error.error)?;
    // The name is in the folder, which is on the disk when this is done.
    File::open(folder)?.sync_all()
}
