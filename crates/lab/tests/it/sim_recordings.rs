//! Recordings of the real CLI, played against the simulated one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use countersign_protocol::{Decoded, FromCli, Line};
use serde_json::Value;

use super::sim_client::Place;
use super::sim_recorded::{Played, Recording};

/// Where the recordings are: the fixtures, or complete ones that somebody has at hand, in the
/// folder that `COUNTERSIGN_RECORDINGS` names. `COUNTERSIGN_RECORDING` picks those whose names begin
/// with it. In complete recordings no frame may be missing and none may be too many.
fn folder() -> (PathBuf, bool) {
    match std::env::var_os("COUNTERSIGN_RECORDINGS") {
        Some(folder) => (folder.into(), true),
        None => (Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"), false),
    }
}

/// Frames of which a fixture has only a sample.
fn is_crowd(frame: &Value) -> bool {
    match frame["type"].as_str() {
        Some("stream_event" | "transcript_mirror" | "system") => true,
        Some("control_request") => frame["request"]["subtype"] == "hook_callback",
        _ => false,
    }
}

/// The first difference, or none.
fn difference(expected: &[Value], played: &Played, complete: bool) -> Option<String> {
    let mut left = played.frames.iter().peekable();
    for (at, frame) in expected.iter().enumerate() {
        loop {
            let Some(ours) = left.next() else {
                return Some(format!("frame {at} is missing:\n  {frame}"));
            };
            if same(frame, ours, complete) {
                break;
            }
            if complete || !is_crowd(ours) {
                return Some(format!("frame {at} differs: {}", explain(frame, ours, complete)));
            }
        }
    }
    let extra = left.find(|frame| complete || !is_crowd(frame));
    extra.map(|frame| format!("too much:\n  {frame}"))
}

/// Fixtures have the first items of longer lists, and then only those that look different.
const LONGEST_LIST: usize = 6;

/// Whether two frames say the same. A fixture leaves out long texts and the ends of long lists.
fn same(expected: &Value, ours: &Value, complete: bool) -> bool {
    match (expected, ours) {
        (Value::String(text), _) if !complete && text.starts_with('<') && text.ends_with('>') => {
            true
        }
        (Value::Object(expected), Value::Object(ours)) => {
            expected.len() == ours.len()
                && expected.iter().all(|(key, value)| {
                    ours.get(key).is_some_and(|ours| same(value, ours, complete))
                })
        }
        (Value::Array(expected), Value::Array(ours)) => {
            let cut = !complete && expected.len() >= LONGEST_LIST && ours.len() >= expected.len();
            (cut || expected.len() == ours.len())
                && expected.iter().zip(ours).take(LONGEST_LIST).all(|(a, b)| same(a, b, complete))
        }
        (Value::String(a), Value::String(b)) if a.ends_with(" …") => {
            b.starts_with(a.trim_end_matches(" …"))
        }
        _ => expected == ours,
    }
}

/// What is different about two frames.
fn explain(expected: &Value, ours: &Value, complete: bool) -> String {
    fn walk(path: &str, expected: &Value, ours: &Value, complete: bool, found: &mut Vec<String>) {
        if same(expected, ours, complete) {
            return;
        }
        if let (Value::Object(a), Value::Object(b)) = (expected, ours) {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let nothing = Value::from("(absent)");
                let (a, b) = (a.get(key).unwrap_or(&nothing), b.get(key).unwrap_or(&nothing));
                walk(&format!("{path}/{key}"), a, b, complete, found);
            }
        } else {
            found.push(format!("\n  {path}\n    real: {expected}\n    sim:  {ours}"));
        }
    }
    if expected["type"] != ours["type"] || expected["subtype"] != ours["subtype"] {
        return format!("\n  real: {expected}\n  sim:  {ours}");
    }
    let mut found = Vec::new();
    walk("", expected, ours, complete, &mut found);
    found.concat()
}

/// The recordings that have to be played before this one, in order: those of the session that it
/// goes on with.
fn earlier(path: &Path, version: &str, recording: &Recording) -> Vec<Recording> {
    let Some(session) = recording.resumes() else { return Vec::new() };
    let mut paths: Vec<_> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let before = paths.into_iter().take_while(|other| other != path);
    let all = before.map(|path| (Recording::read(&path, version), path));
    let mut same: Vec<_> =
        all.filter(|(other, _)| other.mentions(session) && other.in_same_folder()).collect();
    // The one that began the session comes first, whatever its name.
    same.sort_by_key(|(other, _)| other.resumes().is_some());
    let mut needed: Vec<Recording> = Vec::new();
    for (other, path) in same {
        for one in earlier(&path, version, &other).into_iter().chain([other]) {
            if needed.iter().all(|known| known.name != one.name) {
                needed.push(one);
            }
        }
    }
    needed
}

/// Whether the protocol knows every frame, but for two that a version writes by mistake.
fn all_are_known(frames: &[Value]) -> Result<(), String> {
    for frame in frames {
        let text = frame.to_string();
        let line = Line::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        match line.decode::<FromCli>() {
            Decoded::Known(_) => {}
            Decoded::Unknown(_) if frame["type"] == "progress" || frame["type"] == "attachment" => {
            }
            Decoded::Unknown(_) => {
                return Err(format!("the protocol does not know this frame: {text}"));
            }
            Decoded::Malformed(problem) => return Err(format!("{problem}: {text}")),
        }
    }
    Ok(())
}

fn check(path: &Path, version: &str, complete: bool) -> Result<(), String> {
    let recording = Recording::read(path, version);
    let place = Place::new();
    let mut sessions = HashMap::new();
    for earlier in earlier(path, version, &recording) {
        earlier.play(&place, &mut sessions)?;
    }
    let played = recording.play(&place, &mut sessions)?;
    all_are_known(&played.raw)?;
    if let Some(difference) = difference(&recording.expected(), &played, complete) {
        return Err(difference);
    }
    match recording.exit() {
        Some(code) if played.exit != Some(code) => {
            Err(format!("exit {code} in the recording, {:?} here", played.exit))
        }
        _ => Ok(()),
    }
}

/// Why a recording is not reproduced.
#[derive(Clone, Copy)]
enum Because {
    /// The order of some frames was a matter of luck. It may be the same here, or not.
    Luck,
    /// The simulated CLI does something else.
    Different,
    /// The fixture leaves out something that is needed to play it; a complete recording is
    /// reproduced.
    Thinned,
    /// It cannot be played.
    Unplayable,
}

use Because::{Different, Luck, Thinned, Unplayable};

const OTHERS: &str = "the recording that it goes on with is not among the fixtures";
const OUTSIDE: &str =
    "it is about files outside of the folder, which the simulated CLI does not touch";
const COMMANDS: &str = "hooks in settings are commands, and the simulated CLI starts none";
const CUT: &str = "the command line was cut in the fixture";
const RACE: &str = "the answer to initialize and the call that is raised again race each other";

/// Recordings that are not reproduced, and why not: version, name or how it begins, reason.
const EXCEPTIONS: &[(&str, &str, Because, &str)] = &[
    ("2.1.325", "H_bypass", Different, OUTSIDE),
    ("2.1.325", "I_26_", Different, OUTSIDE),
    ("2.1.325", "Q10_", Unplayable, "it runs in another folder, which the recording does not name"),
    ("2.1.325", "Q14b_", Thinned, OTHERS),
    ("2.1.325", "Q15b_", Thinned, OTHERS),
    ("2.1.325", "Q16b_", Luck, RACE),
    ("2.1.325", "Q16c_", Luck, RACE),
    ("2.1.325", "R3_529_fallback", Thinned, "how often the model was asked is not in the fixture"),
    ("2.1.325", "S3_hook_events", Different, COMMANDS),
    ("2.1.325", "S7b_", Luck, "two agents speak at the same time"),
    ("2.1.325", "W_", Unplayable, CUT),
    ("2.1.197", "I_26_", Different, OUTSIDE),
    ("2.1.197", "K2_race", Luck, "a permission and a request to set the mode race each other"),
    ("2.1.197", "Q14b_", Thinned, OTHERS),
    ("2.1.197", "Q15b_", Luck, RACE),
    ("2.1.197", "Q16b_", Luck, RACE),
    ("2.1.197", "Q16c_", Luck, RACE),
    (
        "2.1.197",
        "R2_max_budget",
        Different,
        "a question about a call of the turn before comes late; it must not be relied on",
    ),
    ("2.1.197", "R3_529_fallback", Thinned, "how often the model was asked is not in the fixture"),
    ("2.1.197", "S3_hook_events", Different, COMMANDS),
    ("2.1.197", "S7b_", Luck, "two agents speak at the same time"),
    ("2.1.197", "W_", Unplayable, CUT),
    ("2.1.62", "F_no_flag", Different, OUTSIDE),
    ("2.1.62", "I_26_", Different, OUTSIDE),
    ("2.1.62", "K2_race", Luck, "a permission and a request to set the mode race each other"),
    (
        "2.1.62",
        "K_15_",
        Different,
        "num_turns of a local command counts notes to the model that nobody sees",
    ),
    (
        "2.1.62",
        "M4_interrupt_tool",
        Different,
        "what a command that was stopped had said comes from a shell",
    ),
    ("2.1.62", "S7b_", Luck, "two agents speak at the same time"),
    ("2.1.62", "W_", Unplayable, CUT),
];

fn exception(version: &str, name: &str) -> Option<(Because, &'static str)> {
    let found =
        EXCEPTIONS.iter().find(|(of, prefix, ..)| *of == version && name.starts_with(prefix));
    found.map(|(_, _, because, why)| (*because, *why))
}

/// Plays all recordings of a version. What is not as it should be is told at the end.
#[expect(
    clippy::print_stdout,
    reason = "which recordings are reproduced is worth knowing when it is asked for"
)]
fn play_all(version: &str) {
    let (folder, complete) = folder();
    let only = std::env::var("COUNTERSIGN_RECORDING").unwrap_or_default();
    let files = std::fs::read_dir(folder.join(version)).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = files.collect();
    paths.sort();
    paths.retain(|path| name_of(path).starts_with(&only));
    assert!(!paths.is_empty(), "there are no recordings of {version}");
    let (queue, verdicts) = (Mutex::new(paths.into_iter()), Mutex::new(Vec::new()));
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                loop {
                    let Some(path) = ({ queue.lock().unwrap().next() }) else { return };
                    let name = name_of(&path);
                    let played = match exception(version, &name) {
                        Some((Unplayable, _)) => None,
                        _ => Some(check(&path, version, complete)),
                    };
                    verdicts.lock().unwrap().push((name, played));
                }
            });
        }
    });
    let mut verdicts = verdicts.into_inner().unwrap();
    verdicts.sort_by(|a, b| a.0.cmp(&b.0));
    let mut wrong = Vec::new();
    for (name, played) in &verdicts {
        let (same, story) = match played {
            None => (false, String::new()),
            Some(Ok(())) => (true, String::new()),
            Some(Err(story)) => (false, story.chars().take(2000).collect()),
        };
        let because = exception(version, name);
        let told = because.map_or_else(String::new, |(_, why)| format!(" ({why})"));
        println!("{version} {name}: {}{told}", if same { "the same" } else { "not the same" });
        let expected = match because {
            None => Some(true),
            Some((Thinned, _)) => Some(complete),
            Some((Different, _)) => Some(false),
            Some((Luck | Unplayable, _)) => None,
        };
        if expected.is_some_and(|expected| expected != same) {
            let verdict = if same {
                "is reproduced now; strike it off the list"
            } else {
                "is not reproduced"
            };
            wrong.push(format!("{version} {name} {verdict}\n{story}"));
        }
    }
    let same = verdicts.iter().filter(|(_, played)| matches!(played, Some(Ok(())))).count();
    println!("{version}: {same} of {} are the same", verdicts.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn recordings_of_2_1_325_are_reproduced() {
    play_all("2.1.325");
}

#[test]
fn recordings_of_2_1_197_are_reproduced() {
    play_all("2.1.197");
}

#[test]
fn recordings_of_2_1_62_are_reproduced() {
    play_all("2.1.62");
}
