//! Real recordings: nothing of the protocol is taken for a secret.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use countersign_record::redact::Redactor;
use countersign_record::{Channel, End, Entry, Header, Note, Record, TapeReader, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A line of a fixture.
#[derive(Deserialize)]
struct FixtureLine<'a> {
    dir: &'a str,
    #[serde(borrow)]
    msg: &'a RawValue,
}

/// All fixtures.
pub(crate) fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).unwrap().map(Result::unwrap) {
        if folder.file_type().unwrap().is_dir() {
            let inner = std::fs::read_dir(folder.path()).unwrap();
            files.extend(inner.map(|entry| entry.unwrap().path()));
        }
    }
    files.sort();
    assert!(files.len() > 200, "there are only {} fixtures", files.len());
    files
}

/// A fixture as a tape.
pub(crate) fn tape_of(fixture: &Path) -> (Header, Vec<Record>) {
    let mut header = Header::new("2026-11-16T08:00:00Z".parse().unwrap());
    let mut records = Vec::new();
    for line in std::fs::read_to_string(fixture).unwrap().lines() {
        let FixtureLine { dir, msg } = serde_json::from_str(line).unwrap();
        let channel = if dir == "in" { Channel::In } else { Channel::Out };
        let value: serde_json::Value = serde_json::from_str(msg.get()).unwrap();
        let entry = if let Some(argv) = value.get("_spawn").and_then(|argv| argv.as_array()) {
            header.argv = argv.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
            continue;
        } else if let Some(code) = value.get("_exit").and_then(serde_json::Value::as_i64) {
            Entry::End(End::Code(code.try_into().unwrap()))
        } else if let Some(raw) = value.get("_raw").and_then(serde_json::Value::as_str) {
            Entry::Line { channel, text: Text::Utf8(raw.to_owned()), more: false }
        } else if value.as_object().is_some_and(|note| note.keys().any(|key| key.starts_with('_')))
        {
            Entry::Note(Note::Comment { text: msg.get().to_owned() })
        } else {
            Entry::Line { channel, text: Text::Utf8(msg.get().to_owned()), more: false }
        };
        let seq = records.len() as u64 + 1;
        records.push(Record { seq, us: 1000 * seq, entry });
    }
    (header, records)
}

/// Writes a tape.
pub(crate) fn write(path: &Path, header: &Header, records: &[Record]) {
    let mut tape = Vec::new();
    header.write(&mut tape).unwrap();
    records.iter().for_each(|record| record.write(&mut tape).unwrap());
    std::fs::write(path, tape).unwrap();
}

/// The recordings were made in `/home/dev/proj`. That, and nothing else, is to be changed.
#[test]
fn only_the_home_is_taken_out_of_the_fixtures() {
    let folder = tempfile::tempdir().unwrap();
    let [input, output] = ["in", "out"].map(|name| folder.path().join(name));
    let mut redactor = Redactor::builder().build().unwrap();
    let (mut lines, mut found) = (0, BTreeSet::new());
    for fixture in fixtures() {
        let (header, records) = tape_of(&fixture);
        write(&input, &header, &records);
        let manifest = redactor.redact_file(&input, &output).unwrap();
        found
            .extend(manifest.placeholders.into_iter().map(|entry| (entry.rule, entry.placeholder)));
        let before = std::fs::read_to_string(&input).unwrap();
        let after = std::fs::read_to_string(&output).unwrap();
        let expected =
            before.replace("/home/dev", "/home/user-1").replace("-home-dev-", "-home-user-1-");
        for (at, (after, expected)) in after.lines().zip(expected.lines()).enumerate() {
            assert_eq!(after, expected, "{}, line {}", fixture.display(), at + 1);
        }
        assert_eq!(after.len(), expected.len());
        let written = TapeReader::open(&output).unwrap().map(Result::unwrap).count();
        assert_eq!(written, records.len());
        lines += written;
        std::fs::remove_file(&output).unwrap();
    }
    assert!(lines > 9000, "there are only {lines} lines");
    assert_eq!(found, BTreeSet::from([("home".to_owned(), "/home/user-1".to_owned())]));
}
