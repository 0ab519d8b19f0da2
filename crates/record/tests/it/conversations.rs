//! The recordings in `fixtures/` as conversations, and tapes made of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use countersign_record::{Channel, End, Entry, Header, Note, Record, Text};
use serde_json::Value;

/// A recording of the real CLI.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) frames: Vec<(Channel, Value)>,
    pub(crate) exit: i32,
}

/// All of them.
pub(crate) fn all() -> &'static [Conversation] {
    static ALL: OnceLock<Vec<Conversation>> = OnceLock::new();
    ALL.get_or_init(read_all)
}

fn read_all() -> Vec<Conversation> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut found = Vec::new();
    for version in entries(&root).into_iter().filter(|path| path.is_dir()) {
        found.extend(entries(&version).iter().map(|file| read(&version, file)));
    }
    assert!(found.len() > 100, "only {} conversations in {root:?}", found.len());
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn read(version: &Path, file: &Path) -> Conversation {
    let mut conversation = Conversation {
        name: file.file_stem().unwrap().to_str().unwrap().to_owned(),
        version: version.file_name().unwrap().to_str().unwrap().to_owned(),
        frames: Vec::new(),
        exit: 0,
    };
    for line in fs::read_to_string(file).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let message = &record["msg"];
        if let Some(code) = message.get("_exit").and_then(Value::as_i64) {
            conversation.exit = i32::try_from(code).unwrap();
        }
        // What the recorder notes for itself: the start, the end, raw writes.
        if message.as_object().is_some_and(|m| m.keys().any(|key| key.starts_with('_'))) {
            continue;
        }
        let channel = if record["dir"] == "in" { Channel::In } else { Channel::Out };
        conversation.frames.push((channel, message.clone()));
    }
    conversation
}

impl Conversation {
    /// The conversation as a tape: input closed after the last frame, then the exit code.
    pub(crate) fn tape(&self) -> Vec<u8> {
        let mut entries: Vec<Entry> =
            self.frames.iter().map(|(channel, value)| line(*channel, &value.to_string())).collect();
        entries.push(Entry::Note(Note::Closed { channel: Channel::In }));
        entries.push(Entry::End(End::Code(self.exit)));
        tape(&self.version, &entries)
    }
}

/// A line of a tape.
pub(crate) fn line(channel: Channel, text: &str) -> Entry {
    Entry::Line { channel, text: Text::Utf8(text.to_owned()), more: false }
}

/// A tape of these entries, one every millisecond.
pub(crate) fn tape(version: &str, entries: &[Entry]) -> Vec<u8> {
    let mut header = Header::new("2026-11-16T08:00:00Z".parse().unwrap());
    header.cli = Some(version.to_owned());
    header.argv = vec!["claude".into(), "--verbose".into()];
    header.cwd = "/home/dev/proj".into();
    let mut tape = Vec::new();
    header.write(&mut tape).unwrap();
    for (seq, entry) in (1..).zip(entries) {
        Record { seq, us: 1000 * seq, entry: entry.clone() }.write(&mut tape).unwrap();
    }
    tape
}
