//! The transcript of a session: written as the turns go, read again on resume.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::clock::{new_uuid, timestamp};
use super::env::Env;
use super::json::{Json, Object, obj};
use crate::script::Progress;

/// A session and its file.
#[derive(Debug)]
pub(crate) struct Session {
    id: String,
    folder: PathBuf,
    file: Option<File>,
    /// Nothing is written at all.
    ephemeral: bool,
    /// Entries that wait for the first word of the model; older versions write no earlier.
    held: Option<Vec<Object>>,
    /// The last entry of the chain.
    leaf: Option<String>,
    /// The last entry of the model.
    assistant: Option<String>,
    /// The messages of the user that are in it already.
    seen: HashSet<String>,
    title: Option<String>,
    /// Entries for a client that mirrors the file.
    mirrored: Option<Vec<Object>>,
    stamp: Object,
}

/// What is the same for all entries of a session.
fn stamp(env: &Env, version: &str) -> Object {
    obj! {
        "userType": "external",
        "entrypoint": env.var("CLAUDE_CODE_ENTRYPOINT").unwrap_or("sdk-cli"),
        "cwd": env.cwd.to_string_lossy().as_ref(),
        "sessionId": "",
        "version": version,
        "gitBranch": "HEAD",
    }
}

impl Session {
    /// A session that begins, or goes on.
    pub(crate) fn new(env: &Env, version: &str, id: String, options: Options) -> Self {
        Self {
            id,
            folder: env.project_folder(&env.cwd),
            file: None,
            ephemeral: options.ephemeral,
            held: (!options.writes_at_once).then(Vec::new),
            leaf: None,
            assistant: None,
            seen: HashSet::new(),
            title: None,
            mirrored: options.mirror.then(Vec::new),
            stamp: stamp(env, version),
        }
    }

    /// Its id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Its file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.id))
    }

    /// Its title.
    pub(crate) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Gives it a title.
    pub(crate) fn set_title(&mut self, title: &str) {
        self.title = Some(title.to_owned());
        let entry = obj! { "type": "custom-title", "customTitle": title, "sessionId": &self.id };
        self.write(entry);
    }

    /// The last entry of the chain.
    pub(crate) fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// Notes the id of a message. False when it was there before.
    pub(crate) fn note_message(&mut self, uuid: &str) -> bool {
        self.seen.insert(uuid.to_owned())
    }

    /// Starts over under a new id.
    pub(crate) fn restart(&mut self) {
        self.id = new_uuid();
        self.file = None;
        self.leaf = None;
        self.assistant = None;
        self.title = None;
        self.seen.clear();
        if let Some(held) = &mut self.held {
            held.clear();
        }
    }

    /// Begins a new chain, as after a compaction.
    pub(crate) fn break_chain(&mut self) {
        self.leaf = None;
    }

    /// Takes over what was read.
    pub(crate) fn adopt(&mut self, past: &Past) {
        self.leaf.clone_from(&past.leaf);
        self.assistant.clone_from(&past.assistant);
        self.seen.extend(past.prompts.iter().cloned());
        self.title.clone_from(&past.title);
        self.held = None;
    }

    /// Adds an entry to the chain: `kind` is `user`, `assistant`, `attachment` or `system`.
    pub(crate) fn append(&mut self, kind: &str, uuid: &str, body: Object, sidechain: bool) {
        let mut entry = obj! { "parentUuid": self.leaf.clone(), "isSidechain": sidechain };
        entry.set("type", kind);
        for (key, value) in body.iter() {
            entry.set(key, value);
        }
        entry.set("uuid", uuid);
        entry.set("timestamp", timestamp());
        for (key, value) in self.stamp.clone().iter() {
            if key == "sessionId" { entry.set(key, &self.id) } else { entry.set(key, value) }
        }
        self.leaf = Some(uuid.to_owned());
        if kind == "assistant" {
            self.assistant = Some(uuid.to_owned());
            for held in self.held.take().into_iter().flatten() {
                self.write_now(&held);
            }
        }
        self.write(entry);
    }

    /// Notes how far the script has been played. Whoever goes on with the session goes on with the
    /// script, as the model behind a real CLI would.
    pub(crate) fn note_progress(&mut self, progress: &Progress) {
        if let Some(progress) =
            serde_json::to_string(progress).ok().as_deref().and_then(Json::parse)
        {
            self.note(obj! { "type": PROGRESS, "progress": progress });
        }
    }

    /// Adds a line that is not part of the chain.
    pub(crate) fn note(&mut self, entry: Object) {
        self.write(entry);
    }

    fn write(&mut self, entry: Object) {
        if let Some(held) = &mut self.held {
            held.push(entry);
        } else {
            self.write_now(&entry);
        }
    }

    fn write_now(&mut self, entry: &Object) {
        if self.ephemeral {
            return;
        }
        if self.file.is_none() {
            // A session that cannot be written goes on without its file, as the CLI does.
            let made = fs::create_dir_all(&self.folder);
            let options = OpenOptions::new().create(true).append(true).open(self.path());
            self.file = made.and(options).ok();
        }
        if let Some(file) = &mut self.file
            && file.write_all(format!("{entry}\n").as_bytes()).is_err()
        {
            self.file = None;
        }
        if let Some(mirrored) = &mut self.mirrored {
            mirrored.push(entry.clone());
        }
    }

    /// The entries that a mirroring client has not been told yet.
    pub(crate) fn take_mirrored(&mut self) -> Vec<Object> {
        self.mirrored.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

/// How a session is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Not at all.
    pub(crate) ephemeral: bool,
    /// From the first message on.
    pub(crate) writes_at_once: bool,
    /// And told to the client.
    pub(crate) mirror: bool,
}

/// The file of a session, in this project or in another one.
pub(crate) fn find(env: &Env, id: &str, anywhere: bool) -> Option<PathBuf> {
    let name = format!("{id}.jsonl");
    let here = env.project_folder(&env.cwd).join(&name);
    if here.is_file() {
        return Some(here);
    }
    let projects = fs::read_dir(env.config_home.join("projects")).ok().filter(|_| anywhere)?;
    projects.flatten().map(|project| project.path().join(&name)).find(|path| path.is_file())
}

/// The session of this project that was written last.
pub(crate) fn latest(env: &Env) -> Option<PathBuf> {
    let files = fs::read_dir(env.project_folder(&env.cwd)).ok()?;
    let transcripts = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    transcripts.max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
}

/// A session of this project with this title.
pub(crate) fn by_title(env: &Env, title: &str) -> Option<PathBuf> {
    let files = fs::read_dir(env.project_folder(&env.cwd)).ok()?;
    let mut paths = files.flatten().map(|file| file.path());
    paths.find(|path| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let titles = text.lines().filter_map(Json::parse);
        let last =
            titles.filter_map(|line| line.text("customTitle").map(str::to_owned)).next_back();
        last.as_deref() == Some(title)
    })
}

/// The type of the line that says how far the script was played. Readers of transcripts pass over
/// what they do not know.
const PROGRESS: &str = "countersign-script-progress";

/// What a transcript tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// The entries of the conversation, in order.
    pub(crate) entries: Vec<Json>,
    leaf: Option<String>,
    assistant: Option<String>,
    prompts: Vec<String>,
    /// The title that was given last.
    pub(crate) title: Option<String>,
    /// Dollars so far.
    pub(crate) cost: f64,
    /// The model that answered last.
    pub(crate) model: Option<String>,
    /// The call that was put off last, when it has no result.
    pub(crate) deferred: Option<Json>,
    /// Calls without a result.
    pub(crate) open_calls: Vec<String>,
    /// How far the script was played.
    pub(crate) progress: Option<Progress>,
    /// The message of the user that has no complete answer.
    pub(crate) unanswered: Option<String>,
}

impl Past {
    /// The last entry of the model.
    pub(crate) fn last_assistant(&self) -> Option<&str> {
        self.assistant.as_deref()
    }

    /// Reads a transcript.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let lines: Vec<Json> = text.lines().filter_map(Json::parse).collect();
        let mut past = Self { entries: conversation(&lines), ..Self::default() };
        for line in &lines {
            match line.text("type") {
                Some("custom-title") => past.title = line.text("customTitle").map(str::to_owned),
                Some(PROGRESS) => {
                    let progress = line.get("progress").map(ToString::to_string);
                    past.progress = progress.and_then(|text| serde_json::from_str(&text).ok());
                }
                Some("cost-state") => {
                    past.cost = line.get("totalCostUSD").and_then(Json::as_f64).unwrap_or(0.0);
                }
                _ => {}
            }
        }
        past.look_at_entries();
        (!past.entries.is_empty()).then_some(past)
    }

    fn look_at_entries(&mut self) {
        let mut calls: Vec<String> = Vec::new();
        let mut deferred: Option<Json> = None;
        let mut prompt = None;
        let mut finished = true;
        for entry in &self.entries {
            let uuid = entry.text("uuid").map(str::to_owned);
            self.leaf.clone_from(&uuid);
            let message = entry.get("message");
            match entry.text("type") {
                Some("assistant") => {
                    self.assistant.clone_from(&uuid);
                    let message = message.unwrap_or(&Json::Null);
                    if message.text("model") != Some("<synthetic>") {
                        self.model = message.text("model").map(str::to_owned);
                    }
                    let uses =
                        blocks(message).filter(|block| block.text("type") == Some("tool_use"));
                    let uses: Vec<_> =
                        uses.filter_map(|block| block.text("id").map(str::to_owned)).collect();
                    finished = uses.is_empty() && message.text("stop_reason") != Some("tool_use");
                    calls.extend(uses);
                }
                Some("user") => {
                    let message = message.unwrap_or(&Json::Null);
                    let results: Vec<_> =
                        blocks(message).filter_map(|block| block.text("tool_use_id")).collect();
                    calls.retain(|call| !results.contains(&call.as_str()));
                    if results.is_empty() && !entry.is_true("isMeta") {
                        self.prompts.extend(uuid.clone());
                        prompt = uuid;
                    }
                    finished = false;
                }
                Some("attachment") => {
                    if let Some(attachment) = entry.get("attachment")
                        && attachment.text("type") == Some("hook_deferred_tool")
                    {
                        deferred = Some(attachment.clone());
                    }
                }
                _ => {}
            }
        }
        self.deferred = deferred.filter(|call| {
            call.text("toolUseID").is_some_and(|id| calls.iter().any(|open| open == id))
        });
        self.open_calls = calls;
        self.unanswered = prompt.filter(|_| !finished);
    }
}

/// The blocks of a message.
pub(crate) fn blocks(message: &Json) -> impl Iterator<Item = &Json> {
    message.get("content").and_then(Json::as_array).unwrap_or_default().iter()
}

/// The entries of the conversation: from the last one up to the first, with those that stand
/// beside the chain because they ran in parallel.
fn conversation(lines: &[Json]) -> Vec<Json> {
    let is_entry = |line: &&Json| {
        matches!(line.text("type"), Some("user" | "assistant" | "attachment" | "system"))
            && line.text("uuid").is_some()
            && !line.is_true("isSidechain")
    };
    let entries: Vec<&Json> = lines.iter().filter(is_entry).collect();
    let mut chain: HashSet<&str> = HashSet::new();
    let mut at = entries.last().copied();
    while let Some(entry) = at {
        let Some(uuid) = entry.text("uuid") else { break };
        if !chain.insert(uuid) {
            break;
        }
        let parent = entry.text("parentUuid");
        at = parent.and_then(|parent| {
            entries.iter().copied().find(|other| other.text("uuid") == Some(parent))
        });
    }
    let message_id = |entry: &Json| {
        entry.get("message").and_then(|message| message.text("id")).map(str::to_owned)
    };
    let spoken: HashSet<String> = entries
        .iter()
        .filter(|entry| entry.text("uuid").is_some_and(|uuid| chain.contains(uuid)))
        .filter_map(|entry| message_id(entry))
        .collect();
    for entry in &entries {
        let beside = match entry.text("type") {
            Some("assistant") => message_id(entry).is_some_and(|id| spoken.contains(&id)),
            Some("user") => {
                entry.text("sourceToolAssistantUUID").is_some_and(|source| chain.contains(source))
            }
            _ => false,
        };
        if beside {
            chain.extend(entry.text("uuid"));
        }
    }
    let kept = entries
        .into_iter()
        .filter(|entry| entry.text("uuid").is_some_and(|uuid| chain.contains(uuid)));
    kept.cloned().collect()
}
