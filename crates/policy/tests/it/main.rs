//! What is said about a line of commands, and which rule is about it.

mod behind;
mod bounds;
mod containers;
mod fetched;
mod guards;
mod harmful;
mod harmless;
mod rules;
mod sends;
mod words;

use std::path::Path;

use countersign_policy::{Call, Note, Place, notes};
use serde_json::json;

/// Where all lines of these tests run.
fn place() -> Place<'static> {
    Place::new(Path::new("/project"), Some(Path::new("/home/me")))
}

fn said(line: &str, place: &Place<'_>) -> Vec<Note> {
    let input = json!({"command": line});
    notes(&Call { tool: "Bash", input: &input }, place)
}

/// The kinds of danger that are told about a line, each once, the worst first.
fn dangers(line: &str, place: &Place<'_>) -> String {
    let mut names: Vec<&str> = said(line, place).iter().map(|note| note.danger.name()).collect();
    names.dedup();
    names.join(" ")
}

/// Checks a table of lines and of the dangers that must be told about them: those, and no others.
#[track_caller]
fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(line, expected)| {
            let told = dangers(line, &place());
            (told != *expected).then(|| {
                let texts = texts(line);
                format!("{line}\n    must be: {expected}\n    but is:  {told} {texts:?}")
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}

/// What is told about a line, in its words, the worst first.
fn texts(line: &str) -> Vec<String> {
    said(line, &place()).into_iter().map(|note| note.text).collect()
}

/// Checks that this is told about a line, in these words, and nothing else.
#[track_caller]
fn check_words(line: &str, expected: &[&str]) {
    assert_eq!(texts(line), expected, "{line}");
}
