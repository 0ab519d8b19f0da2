//! `--json`, and what files and tapes can do to a terminal.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Ran, command, ran, run, script};

/// What the command says in JSON, one object a line.
fn objects(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let Ran { code, out, err } = run(folder, &[arguments, &["--json"]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The object that says why it failed.
fn failure(folder: &Path, arguments: &[&str]) -> Value {
    let Ran { code, out, err } = run(folder, arguments);
    assert_eq!((out.as_str(), err.lines().count()), ("", 1), "{arguments:?}: {err}");
    let said: Value = serde_json::from_str(&err).unwrap();
    assert_eq!(said["exit"], json!(code), "{arguments:?}: {said}");
    said
}

/// A tape on which one line was written.
fn tape(line: &str) -> String {
    let text = serde_json::to_string(line).unwrap();
    format!(
        r#"{{"tape":"countersign","format":"1.0","tool":"test","argv":[],"cwd":"/","env":[],"start":"2026-11-16T08:00:00Z"}}
{{"seq":1,"us":70,"ch":"out","text":{text}}}
{{"seq":2,"us":90,"end":{{"code":0}}}}
"#
    )
}

#[test]
fn whatever_fails_is_an_object() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for arguments in [
        &["tape", "show", "--json", "none.tape"][..],
        &["tape", "stats", "--json", "none.tape"],
        &["tape", "redact", "--json", "none.tape", "-o", "out.tape"],
        &["tape", "html", "--json", "none.tape"],
        &["lab", "report", "--json", "--no-run"],
    ] {
        assert_eq!(failure(path, arguments)["exit"], 1, "{arguments:?}");
    }
    let compared = failure(path, &["tape", "diff", "--json", "none.tape", "none.tape"]);
    assert_eq!(compared["exit"], 2);
    assert!(compared["error"].as_str().unwrap().contains("none.tape"), "{compared}");
    for arguments in [
        &["--json", "bogus"][..],
        &["lab", "play", "--json"],
        &["transcripts", "show", "--json", "none"],
        &["lab", "install", "--json", "no-version"],
        &["lab", "play", "tool-deny", "--simulated", "--cli", "./claude", "--json"],
    ] {
        assert_eq!(failure(path, arguments)["exit"], 2, "{arguments:?}");
    }
    // What stands behind two hyphens is said to somebody else.
    let other = run(path, &["record", "--bogus", "--", "agent", "--json"]);
    assert_eq!(other.code, Some(2));
    assert!(other.err.starts_with("error: unexpected argument '--bogus'"), "{}", other.err);
    // Help is no failure.
    let help = run(path, &["--json", "--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.out.starts_with("Drive Claude Code"), "{}", help.out);
}

#[test]
fn what_was_done_is_an_object() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let claude = script(&path.join("claude"), "#!/bin/sh\nexit\n");
    let claude = claude.to_str().unwrap();
    fs::write(path.join("a.tape"), tape(r#"{"type":"keep_alive"}"#)).unwrap();
    fs::write(path.join("b.tape"), tape(r#"{"type":"other"}"#)).unwrap();

    let shim = objects(path, &["shim", "shim", "--claude", claude]);
    assert_eq!(shim, [json!({"shim": "shim", "starts": claude, "tapes": "tapes"})]);
    let shim = objects(path, &["shim", "player", "--replay", "a.tape"]);
    assert_eq!(shim, [json!({"shim": "player", "plays": "a.tape"})]);
    assert_eq!(objects(path, &["man", "man1"]), [json!({"folder": "man1"})]);
    let script = objects(path, &["lab", "play", "tool-deny", "--script"]);
    assert_eq!(script[0]["scenario"], "tool-deny");
    assert!(script[0]["script"].as_str().unwrap().contains("[[answer]]"), "{script:?}");

    let same = objects(path, &["tape", "diff", "a.tape", "a.tape"]);
    assert_eq!((same.len(), &same[0]["same"]), (1, &json!(true)));
    let differ = run(path, &["tape", "diff", "a.tape", "b.tape", "--json"]);
    assert_eq!((differ.code, differ.out.lines().count()), (Some(1), 1), "{differ:?}");

    fs::write(path.join("good.toml"), "[[answer]]\ntext = \"a\"\n").unwrap();
    fs::write(path.join("bad.toml"), "[[answer]]\ntxt = \"a\"\n").unwrap();
    let checked = run(path, &["lab", "script", "check", "--json", "good.toml", "bad.toml"]);
    assert_eq!(checked.code, Some(1));
    let said: Vec<Value> =
        checked.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said[0], json!({"file": "good.toml", "fine": true, "answers": 1}));
    assert!(said[1]["error"].as_str().unwrap().contains("unknown key `txt`"), "{said:?}");

    // Standard output is that of the command that is run.
    let mut record = command(path);
    record.args(["record", "--json", "--claude", claude, "--", "sh", "-c", "claude; echo mine"]);
    let recorded = ran(&mut record);
    assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "mine\n"), "{recorded:?}");
    let said: Value = serde_json::from_str(&recorded.err).unwrap();
    assert_eq!(said["recorded"].as_array().unwrap().len(), 1, "{said}");
}

/// Clears a screen, sets a title, and turns the direction of writing.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}txt";

#[test]
fn tapes_and_scripts_do_not_control_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let frame = json!({"type": "user", "message": {"role": "user", "content": HOSTILE}});
    fs::write(path.join("plain.tape"), tape(r#"{"type":"keep_alive"}"#)).unwrap();
    fs::write(path.join("frame.tape"), tape(&frame.to_string())).unwrap();
    fs::write(path.join("line.tape"), tape(&format!("no frame: {HOSTILE}"))).unwrap();
    fs::write(path.join("kind.tape"), tape(&json!({"type": HOSTILE}).to_string())).unwrap();
    fs::write(path.join("broken.tape"), format!("{HOSTILE}\n")).unwrap();
    fs::write(path.join("script.toml"), format!("[[answer]]\ntext = 1 # {HOSTILE}\n")).unwrap();
    for tape in ["frame.tape", "line.tape", "kind.tape", "broken.tape"] {
        for arguments in [
            &["tape", "diff", "plain.tape", tape][..],
            &["tape", "show", tape],
            &["tape", "stats", tape],
            &["tape", "redact", tape, "-o", "redacted/"],
            &["tape", "html", tape],
        ] {
            harmless(&run(path, arguments), arguments);
        }
    }
    let arguments = ["lab", "script", "check", "script.toml"];
    let checked = run(path, &arguments);
    assert!(checked.err.contains("\\u{1b}[2J"), "it is shown: {}", checked.err);
    harmless(&checked, &arguments);
}

fn harmless(ran: &Ran, arguments: &[&str]) {
    for text in [&ran.out, &ran.err] {
        let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(bad, None, "{arguments:?}: {text}");
    }
}
