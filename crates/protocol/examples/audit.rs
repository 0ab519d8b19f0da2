//! Reads recordings of the CLI and says how well the types fit them.
//!
//! ```sh
//! cargo run -p countersign-protocol --example audit -- fixtures
//! ```
//!
//! It takes folders of `<version>/*.jsonl`. A line is either a frame as it stands on the wire, or
//! a record `{"t": seconds, "dir": "in" | "out", "msg": frame}`, where `in` is what a client
//! wrote. Records of other kinds (standard error, `_spawn`, `_exit`, raw writes) are passed over.
//!
//! The table has a row for each version. A kind is *unknown* when this crate does not list it (a
//! line that is not a frame at all counts as one), and *malformed* when it does and the frame has
//! another shape, or when it does not come out of the types as it went in. The last line sums up; the exit code is 1 when anything is malformed,
//! and 2 when the recordings cannot be read.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a program with a report")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use countersign_protocol::{Decoded, Frame, FromCli, Line, ToCli};
use serde_json::Value;
use serde_json::value::RawValue;

fn main() -> ExitCode {
    let folders: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        eprintln!("usage: audit FOLDER...   where FOLDER holds <version>/*.jsonl");
        return ExitCode::from(2);
    }
    let mut versions = BTreeMap::new();
    for folder in &folders {
        if let Err(error) = audit_folder(folder, &mut versions) {
            eprintln!("audit: {}: {error}", folder.display());
            return ExitCode::from(2);
        }
    }
    if versions.is_empty() {
        eprintln!("audit: no <version>/*.jsonl in {folders:?}");
        return ExitCode::from(2);
    }
    report(&versions)
}

/// What was found in the recordings of one version.
#[derive(Default)]
struct Tally {
    lines: u64,
    known: u64,
    malformed: u64,
    unknown: BTreeMap<String, u64>,
}

impl Tally {
    fn unknown(&self) -> u64 {
        self.unknown.values().sum()
    }
}

fn audit_folder(folder: &Path, versions: &mut BTreeMap<VersionKey, Tally>) -> io::Result<()> {
    for version in sorted_entries(folder)? {
        if !version.is_dir() {
            continue;
        }
        for file in sorted_entries(&version)? {
            if file.extension().is_some_and(|extension| extension == "jsonl") {
                audit_file(&file, versions.entry(VersionKey::of(&version)).or_default())?;
            }
        }
    }
    Ok(())
}

fn sorted_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        entries.push(entry?.path());
    }
    entries.sort();
    Ok(entries)
}

fn audit_file(file: &Path, tally: &mut Tally) -> io::Result<()> {
    for (number, line) in fs::read(file)?.split(|&byte| byte == b'\n').enumerate() {
        let verdict = match recorded(line) {
            Recorded::Nothing => continue,
            Recorded::FromCli(frame) => judge::<FromCli>(frame),
            Recorded::ToCli(frame) => judge::<ToCli>(frame),
            // Without a direction, a kind is known if either side has it.
            Recorded::EitherWay(frame) => match judge::<FromCli>(frame) {
                Verdict::Known => Verdict::Known,
                verdict => match judge::<ToCli>(frame) {
                    Verdict::Known => Verdict::Known,
                    _ => verdict,
                },
            },
        };
        tally.lines += 1;
        match verdict {
            Verdict::Known => tally.known += 1,
            Verdict::Unknown(kind) => *tally.unknown.entry(kind).or_default() += 1,
            Verdict::Malformed(why) => {
                tally.malformed += 1;
                println!("{}:{}: {why}", file.display(), number + 1);
            }
        }
    }
    Ok(())
}

/// A line of a recording.
enum Recorded<'a> {
    /// Not a frame.
    Nothing,
    FromCli(&'a [u8]),
    ToCli(&'a [u8]),
    /// A frame as it stands on the wire.
    EitherWay(&'a [u8]),
}

fn recorded(line: &[u8]) -> Recorded<'_> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Recorded::Nothing;
    }
    let Ok(record) = serde_json::from_slice::<BTreeMap<Cow<'_, str>, &RawValue>>(line) else {
        return Recorded::EitherWay(line);
    };
    if record.contains_key("type") {
        return Recorded::EitherWay(line);
    }
    let (Some(direction), Some(message)) = (record.get("dir"), record.get("msg")) else {
        return if is_note(&record) { Recorded::Nothing } else { Recorded::EitherWay(line) };
    };
    let inner = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(message.get());
    match direction.get() {
        _ if inner.is_ok_and(|inner| is_note(&inner)) => Recorded::Nothing,
        r#""out""# => Recorded::FromCli(message.get().as_bytes()),
        r#""in""# => Recorded::ToCli(message.get().as_bytes()),
        _ => Recorded::Nothing,
    }
}

/// Whether an object is a note of the recorder: the start, the end, a write that was no frame.
fn is_note(object: &BTreeMap<Cow<'_, str>, &RawValue>) -> bool {
    object.keys().any(|key| key.starts_with('_'))
        || object.get("type").is_some_and(|kind| kind.get().starts_with("\"_"))
}

enum Verdict {
    Known,
    Unknown(String),
    Malformed(String),
}

fn judge<F: Frame>(bytes: &[u8]) -> Verdict {
    let Ok(line) = Line::parse(bytes) else {
        // Something that was printed, or a part of a line.
        return Verdict::Unknown("(not a frame)".to_owned());
    };
    let (frame, verdict) = match line.decode::<F>() {
        Decoded::Known(frame) => (frame, Verdict::Known),
        Decoded::Unknown(frame) => (frame, Verdict::Unknown(line.kind().to_string())),
        Decoded::Malformed(malformed) => return Verdict::Malformed(malformed.to_string()),
    };
    match round_trip(&frame, bytes) {
        Ok(true) => verdict,
        Ok(false) => Verdict::Malformed(format!("{} comes out changed", line.kind())),
        Err(error) => Verdict::Malformed(format!("{}: {error}", line.kind())),
    }
}

/// Whether a frame is written as the same JSON value that it was read from. What `serde_json`
/// cannot read by itself, such as half of a surrogate pair, cannot be compared.
fn round_trip<F: Frame>(frame: &F, bytes: &[u8]) -> Result<bool, Box<dyn std::error::Error>> {
    let written = frame.to_line()?;
    let Ok(read) = serde_json::from_slice::<Value>(bytes) else { return Ok(true) };
    Ok(serde_json::from_slice::<Value>(&written)? == read)
}

fn report(versions: &BTreeMap<VersionKey, Tally>) -> ExitCode {
    println!(
        "{:<10} {:>7} {:>7} {:>7} {:>9}  unknown kinds",
        "version", "lines", "known", "unknown", "malformed"
    );
    let mut total = Tally::default();
    for (version, tally) in versions {
        let kinds: Vec<String> =
            tally.unknown.iter().map(|(kind, count)| format!("{kind} ×{count}")).collect();
        println!(
            "{:<10} {:>7} {:>7} {:>7} {:>9}  {}",
            version.name,
            tally.lines,
            tally.known,
            tally.unknown(),
            tally.malformed,
            kinds.join(", ")
        );
        total.lines += tally.lines;
        total.known += tally.known;
        total.malformed += tally.malformed;
        for (kind, count) in &tally.unknown {
            *total.unknown.entry(kind.clone()).or_default() += count;
        }
    }
    println!(
        "total {} known {} unknown {} malformed {}",
        total.lines,
        total.known,
        total.unknown(),
        total.malformed
    );
    if total.malformed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// A version, in the order of its numbers.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct VersionKey {
    numbers: Vec<u64>,
    name: String,
}

impl VersionKey {
    fn of(folder: &Path) -> Self {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbers = name.split('.').map_while(|part| part.parse().ok()).collect();
        Self { numbers, name }
    }
}
