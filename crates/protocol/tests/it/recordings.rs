//! The recordings in `fixtures/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Cli,
    Client,
}

/// A frame of a recording.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The version of the CLI.
    pub(crate) version: String,
    /// File and line, for messages.
    pub(crate) place: String,
    pub(crate) side: Side,
    /// The line as it stands in the recording.
    pub(crate) line: String,
}

#[derive(Deserialize)]
struct Record<'a> {
    dir: &'a str,
    #[serde(borrow)]
    msg: &'a RawValue,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// All frames of all recordings, in the order they were written.
pub(crate) fn all() -> Vec<Recorded> {
    let mut frames = Vec::new();
    for version in entries(&root()).into_iter().filter(|path| path.is_dir()) {
        for file in entries(&version) {
            read(&version, &file, &mut frames);
        }
    }
    assert!(frames.len() > 1000, "only {} frames in {:?}", frames.len(), root());
    frames
}

fn read(version: &Path, file: &Path, frames: &mut Vec<Recorded>) {
    let text = fs::read_to_string(file).unwrap();
    for (number, line) in text.lines().enumerate() {
        let record: Record<'_> = serde_json::from_str(line).unwrap();
        let message: BTreeMap<String, &RawValue> = serde_json::from_str(record.msg.get()).unwrap();
        let side = match record.dir {
            "out" => Side::Cli,
            "in" => Side::Client,
            _ => continue,
        };
        // What the recorder notes for itself: the start, the end, raw writes.
        if message.keys().any(|key| key.starts_with('_')) {
            continue;
        }
        frames.push(Recorded {
            version: version.file_name().unwrap().to_str().unwrap().to_owned(),
            place: format!("{}:{}", file.display(), number + 1),
            side,
            line: record.msg.get().to_owned(),
        });
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}
