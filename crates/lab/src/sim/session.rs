//! The transcript of a session: written as the turns go, read again on resume.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use super::clock::{new_uuid, timestamp};
use super::env::Env;
use super::json::{Json, Object, obj};
use super::past::Past;
use crate::script::Progress;

/// The type of the line that says how far the script was played. Readers of transcripts pass over
/// what they do not know.
pub(super) const PROGRESS: &str = "countersign-script-progress";

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
    /// The messages of the user that are in it already.
    seen: HashSet<String>,
    /// Those of them that an earlier process has answered.
    answered: HashSet<String>,
    title: Option<String>,
    /// How many messages there were, as an old version counts them.
    length: u64,
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
            seen: HashSet::new(),
            answered: HashSet::new(),
            title: None,
            length: 0,
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

    /// How many messages there were, as an old version counts them.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Counts messages that are not in the transcript.
    pub(crate) fn lengthen(&mut self, by: u64) {
        self.length += by;
    }

    /// Notes the id of a message. False when it was there before.
    pub(crate) fn note_message(&mut self, uuid: &str) -> bool {
        self.seen.insert(uuid.to_owned())
    }

    /// Whether a message was answered by an earlier process.
    pub(crate) fn was_answered(&self, uuid: &str) -> bool {
        self.answered.contains(uuid)
    }

    /// Starts over under a new id.
    pub(crate) fn restart(&mut self) {
        self.id = new_uuid();
        self.file = None;
        self.leaf = None;
        self.title = None;
        self.seen.clear();
        self.answered.clear();
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
        self.seen.extend(past.prompts.iter().cloned());
        self.answered.extend(past.prompts.iter().cloned());
        self.title.clone_from(&past.title);
        self.held = None;
    }

    /// Adds an entry to the chain: `kind` is `user`, `assistant`, `attachment` or `system`.
    pub(crate) fn append(&mut self, kind: &str, uuid: &str, body: Object, sidechain: bool) {
        let mut entry = obj! { "parentUuid": self.leaf.clone(), "isSidechain": sidechain };
        entry.set("type", kind);
        entry.extend(body);
        entry.set("uuid", uuid);
        entry.set("timestamp", timestamp());
        for (key, value) in self.stamp.clone().iter() {
            if key == "sessionId" { entry.set(key, &self.id) } else { entry.set(key, value) }
        }
        self.leaf = Some(uuid.to_owned());
        self.length += 1;
        if kind == "assistant" {
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
        let mut titles = text.lines().rev().filter_map(Json::parse);
        let last = titles.find_map(|line| line.text("customTitle").map(str::to_owned));
        last.as_deref() == Some(title)
    })
}
