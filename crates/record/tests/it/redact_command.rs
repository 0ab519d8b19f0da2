//! The command `countersign-tape redact`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use countersign_record::redact::Manifest;

use serde_json::Value;

use crate::support::{PROGRAM, Place, command, run};

const HEADER: &str = r#"{"tape":"countersign","format":"1.0","tool":"by hand","argv":["claude"],"cwd":"/home/jo","env":[],"start":"2026-11-16T08:00:00Z"}"#;

/// Writes a tape with one line on standard error.
fn tape(place: &Place, name: &str, line: &str) {
    let record = format!(r#"{{"seq":1,"us":1,"ch":"err","text":"{line}"}}"#);
    fs::write(place.path(name), format!("{HEADER}\n{record}\n")).unwrap();
}

/// Runs the command in the folder of the tapes.
fn redact(place: &Place, args: &[&str]) -> Output {
    run(command(PROGRAM).current_dir(place.path("")).arg("redact").args(args), b"")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[track_caller]
fn check_fails(output: &Output, code: i32, says: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(says), "{stderr}");
}

#[test]
fn a_tape_is_redacted_with_a_manifest_and_a_summary() {
    let place = Place::new();
    tape(&place, "a", "T-77 for me@corp.com, TOKEN=abcd1234 bluebird");
    let args = [
        "a",
        "-o",
        "b",
        "--pattern",
        "ticket=T-([0-9]+)",
        "--literal",
        "bluebird",
        "--keep",
        "email",
    ];
    let output = redact(&place, &args);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        read(&place.path("b")),
        format!(
            "{}\n{}\n",
            HEADER.replace("/home/jo", "/home/user-1"),
            r#"{"seq":1,"us":1,"ch":"err","text":"T-redacted-ticket-1 for me@corp.com, TOKEN=redacted-token-1 redacted-literal-1"}"#
        )
    );
    let mode = fs::metadata(place.path("b")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it is for nobody else until somebody has looked at it");
    let manifest: Manifest = serde_json::from_str(&read(&place.path("b.manifest.json"))).unwrap();
    assert_eq!(manifest.total, 4);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[0], "a -> b: 4 places, 4 secrets");
    assert_eq!(lines.len(), 5);
    assert!(lines[1].contains("/home/user-1") && lines[1].contains("first in the header"));
    assert!(lines[3].contains("redacted-token-1") && lines[3].contains("first in record 1"));
    assert!(!stdout.contains("abcd1234") && !stdout.contains("bluebird"));
}

#[test]
fn several_tapes_go_to_a_folder_with_the_same_placeholders() {
    let place = Place::new();
    tape(&place, "a", "TOKEN=abcd1234");
    tape(&place, "b", "PASSWORD=x1y2z3 and abcd1234");
    let output = redact(&place, &["a", "b", "--output", "new"]);
    assert!(output.status.success(), "{output:?}");
    assert!(read(&place.path("new/a")).contains("TOKEN=redacted-token-1"));
    assert!(
        read(&place.path("new/b")).contains("PASSWORD=redacted-password-1 and redacted-token-1")
    );
    assert!(place.path("new/b.manifest.json").exists());
    // A folder that is there is used for a single tape, too.
    tape(&place, "c", "nothing");
    assert!(redact(&place, &["c", "-o", "new"]).status.success());
    assert!(place.path("new/c").exists());
}

#[test]
fn nothing_is_written_where_something_is() {
    let place = Place::new();
    tape(&place, "a", "x");
    tape(&place, "b", "x");
    fs::create_dir_all(place.path("new/sub")).unwrap();
    tape(&place, "new/sub/a", "x");
    fs::write(place.path("new/b.manifest.json"), "precious").unwrap();
    check_fails(&redact(&place, &["a", "-o", "b"]), 2, "b is there already");
    check_fails(&redact(&place, &["a", "b", "-o", "new"]), 2, "b.manifest.json is there already");
    assert!(!place.path("new/a").exists());
    check_fails(&redact(&place, &["a", "new/sub/a", "-o", "new"]), 2, "two of the tapes");
    check_fails(&redact(&place, &["a", "new/sub/a", "-o", "b"]), 2, "not a folder");
}

#[test]
fn what_is_wrong_is_said_without_the_secrets() {
    let place = Place::new();
    tape(&place, "a", "x");
    check_fails(&redact(&place, &["a", "-o", "b", "--pattern", "x"]), 2, "NAME=REGEX");
    check_fails(&redact(&place, &["a", "-o", "b", "--pattern", "x=("]), 2, "regular expression");
    check_fails(&redact(&place, &["a", "-o", "b", "--keep", "x"]), 2, "there is no rule \"x\"");
    check_fails(&redact(&place, &["a", "-o", "b", "--literal", ""]), 2, "empty");
    check_fails(&redact(&place, &["missing", "-o", "b"]), 1, "missing");
    check_fails(&redact(&place, &["a", "-o", "no/b"]), 1, "no/b");
    fs::write(place.path("broken"), format!("{HEADER}\nhunter22\n{{}}\n{HEADER}\n")).unwrap();
    let output = redact(&place, &["broken", "-o", "b"]);
    check_fails(&output, 1, "line 2");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("hunter22"));
    assert!(!place.path("b").exists() && !place.path("b.manifest.json").exists());

    let deep =
        (0..9).fold(r"\u0068unter22".to_owned(), |text, _| serde_json::to_string(&text).unwrap());
    let text = serde_json::to_string(&format!("PASSWORD=hunter22 {deep}")).unwrap();
    tape(&place, "left", &text[1..text.len() - 1]);
    let output = redact(&place, &["left", "-o", "b"]);
    check_fails(&output, 3, "record 1");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("hunter22"));
    assert!(!place.path("b").exists());
}

#[test]
fn a_program_is_told_in_json_what_was_taken_out() {
    let place = Place::new();
    tape(&place, "a", "TOKEN=abcd1234");
    let output = redact(&place, &["a", "-o", "b", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["from"], &told["to"]), (&"a".into(), &"b".into()));
    let manifest: Value = serde_json::from_str(&read(&place.path("b.manifest.json"))).unwrap();
    assert_eq!(told["manifest"], manifest);
}

#[test]
fn a_slash_makes_a_folder_of_the_output_of_a_single_tape() {
    let place = Place::new();
    tape(&place, "a", "nothing");
    let output = redact(&place, &["a", "-o", "shareable/"]);
    assert!(output.status.success(), "{output:?}");
    assert!(read(&place.path("shareable/a")).contains("/home/user-1"));
    assert!(place.path("shareable/a.manifest.json").exists());
}
