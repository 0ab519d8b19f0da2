//! `transcripts`: what is on disk, and what becomes of it.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{command, run};

const FIRST: &str = "11111111-2222-4333-8444-555555555501";
const SECOND: &str = "11111111-2222-4333-8444-555555555502";

/// A home with two sessions, held with the simulated CLI in the folder `work`.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let script = r#"
        [[answer]]
        text = "Let me look."
        tool = { name = "Bash", input = { command = "echo \u001b[2Jbluebird" } }
        [[answer]]
        text = "It is about herons."
    "#;
    std::fs::write(home.path().join("script.toml"), script).unwrap();
    std::fs::create_dir(home.path().join("work")).unwrap();
    for (id, prompt) in [(FIRST, "What is this about?"), (SECOND, "And what is that?")] {
        hold(home.path(), id, prompt);
    }
    home
}

fn hold(home: &Path, id: &str, prompt: &str) {
    let mut sim = command(&home.join("work"));
    sim.env("HOME", home).args(["sim", "--script", "../script.toml", "--", "-p"]);
    sim.args(["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
    sim.args(["--session-id", id]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut sim = sim.spawn().unwrap();
    let message = serde_json::json!({
        "type": "user", "message": {"role": "user", "content": prompt},
    });
    writeln!(sim.stdin.take().unwrap(), "{message}").unwrap();
    assert!(sim.wait().unwrap().success());
}

fn transcripts(home: &TempDir, arguments: &[&str]) -> crate::support::Ran {
    let mut command = command(&home.path().join("work"));
    command.env("HOME", home.path()).arg("transcripts").args(arguments);
    crate::support::ran(&mut command)
}

#[test]
fn sessions_are_listed_where_they_were_held() {
    let home = home();
    let listed = transcripts(&home, &["list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let at = |id: &str| listed.out.find(id).unwrap_or_else(|| panic!("{id} in {listed:?}"));
    assert!(at(SECOND) < at(FIRST), "the last one comes first: {listed:?}");
    assert!(listed.out.contains("What is this about?"), "{listed:?}");

    let json = transcripts(&home, &["list", "--json", "-n", "1"]);
    let info: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(info["session_id"], SECOND);
    assert_eq!(info["first_prompt"], "And what is that?");

    let elsewhere = transcripts(&home, &["list", "--cwd", "/"]);
    assert_eq!((elsewhere.code, elsewhere.out.as_str()), (Some(0), ""));
    assert!(elsewhere.err.contains("--all"), "{elsewhere:?}");
    let all = transcripts(&home, &["list", "--all"]);
    assert_eq!(all.out.matches("11111111-").count(), 2, "{all:?}");
}

#[test]
fn a_conversation_is_shown_without_controlling_the_terminal() {
    let home = home();
    let shown = transcripts(&home, &["show", FIRST]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for part in ["you\nWhat is this about?", "claude\nIt is about herons.", "tool  Bash"] {
        assert!(shown.out.contains(part), "{part} in {}", shown.out);
    }
    assert!(shown.out.contains("bluebird") && !shown.out.contains('\x1b'), "{shown:?}");
    let full = transcripts(&home, &["show", FIRST, "--full"]);
    assert!(full.out.contains("bluebird") && !full.out.contains('\x1b'), "{full:?}");

    let json = transcripts(&home, &["show", "latest", "--json"]);
    let lines: Vec<Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["session_id"], SECOND);
    assert_eq!(lines[1]["message"]["content"], "And what is that?");
}

#[test]
fn what_was_said_is_found() {
    let home = home();
    let found = transcripts(&home, &["search", "HERONS", "-q"]);
    assert_eq!(found.out.matches("11111111-").count(), 2, "{found:?}");
    let found = transcripts(&home, &["search", "this about", "--json"]);
    let hit: Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!(hit["session"]["session_id"], FIRST);
    assert_eq!(hit["hits"][0]["text"], "What is this about?");
    let message = hit["hits"][0]["message"].as_str().unwrap();

    // A copy that ends there.
    let fork = transcripts(&home, &["fork", FIRST, "--at", message, "--title", "A copy"]);
    assert_eq!(fork.code, Some(0), "{fork:?}");
    let shown = transcripts(&home, &["show", fork.out.trim()]);
    assert!(shown.out.contains("A copy") && !shown.out.contains("herons"), "{shown:?}");

    let none = transcripts(&home, &["search", "penguins", "-q"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""));
    assert!(none.err.contains("no session says \"penguins\""), "{none:?}");
    assert_eq!(transcripts(&home, &["search", " "]).code, Some(2));
}

#[test]
fn a_session_is_renamed_and_deleted_only_if_that_is_wanted() {
    let home = home();
    assert_eq!(transcripts(&home, &["rename", SECOND, "Birds"]).code, Some(0));
    assert!(transcripts(&home, &["list"]).out.contains("Birds"));

    let kept = transcripts(&home, &["delete", SECOND]);
    assert_eq!(kept.code, Some(4), "nobody can be asked: {kept:?}");
    assert!(transcripts(&home, &["list"]).out.contains(SECOND));
    assert_eq!(transcripts(&home, &["delete", SECOND, "--yes"]).code, Some(0));
    assert!(!transcripts(&home, &["list"]).out.contains(SECOND));

    let renamed = transcripts(&home, &["rename", FIRST, "Herons", "--json"]).out;
    assert_eq!(renamed, format!("{{\"session_id\":\"{FIRST}\",\"title\":\"Herons\"}}\n"));
    let deleted = transcripts(&home, &["delete", FIRST, "--yes", "--json"]).out;
    assert_eq!(deleted, format!("{{\"deleted\":true,\"session_id\":\"{FIRST}\"}}\n"));
}

#[test]
fn a_session_that_is_not_named_well_is_not_guessed() {
    let home = home();
    for (name, says) in [
        ("1111", "several sessions begin with 1111"),
        ("111", "too short"),
        ("abcdef", "there is no session"),
        ("../../../etc/passwd", "there is no session"),
    ] {
        let wrong = transcripts(&home, &["show", name]);
        assert_eq!(wrong.code, Some(2), "{wrong:?}");
        assert!(wrong.err.contains(says) && wrong.err.contains("transcripts list"), "{wrong:?}");
    }
    assert_eq!(transcripts(&home, &["show", &FIRST[..FIRST.len() - 1]]).code, Some(2));
    let elsewhere = tempfile::tempdir().unwrap();
    let none = run(elsewhere.path(), &["transcripts", "show", "latest"]);
    assert_eq!(none.code, Some(2), "{none:?}");
}
