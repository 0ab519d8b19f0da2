//! Calls are shown for what they are.

use countersign_page::call::Call;
use countersign_page::transcript::Transcript;
use countersign_protocol::RawJson;
use serde_json::{Value, json};

use crate::log::{call, log, result};

/// The page of one call and its result, without markup.
fn shown(tool: &str, input: &Value, text: &str, details: &Value) -> String {
    let mut transcript = Transcript::new("/project");
    for event in log([call(None, "c1", tool, input), result(None, "c1", text, details)]) {
        transcript.event(&event);
    }
    let html = transcript.html().into_string();
    let mut plain = String::new();
    let mut in_tag = false;
    for character in html.chars() {
        match character {
            '<' => in_tag = true,
            '>' => {
                in_tag = false;
                plain.push(' ');
            }
            other if !in_tag => plain.push(other),
            _ => {}
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_for_what_it_is() {
    let cases: [(&str, Value, &str, Value, &[&str]); 9] = [
        (
            "Bash",
            json!({"command": "make", "description": "Build it"}),
            "Exit code 2\nno rule",
            json!({"stdout": "building", "stderr": "no rule", "interrupted": false}),
            &["Run Build it", "make", "building", "no rule", "exit code 2"],
        ),
        (
            "Edit",
            json!({"file_path": "/project/a.rs", "old_string": "let a = 1;", "new_string": "let b = 1;"}),
            "done",
            json!({"filePath": "/project/a.rs", "structuredPatch": [{"oldStart": 4, "newStart": 4,
                "lines": ["-let a = 1;", "+let b = 1;"]}]}),
            &["Edit a.rs", "+1 −1", "removed: let a = 1 ;", "added: let b = 1 ;"],
        ),
        (
            "Write",
            json!({"file_path": "/project/new.txt", "content": "one\ntwo\n"}),
            "done",
            json!({"type": "create", "filePath": "/project/new.txt", "content": "one\ntwo\n", "structuredPatch": []}),
            &["Write new.txt", "+2 −0", "added: one"],
        ),
        (
            "TodoWrite",
            json!({"todos": [{"content": "First", "status": "completed", "activeForm": ""},
                {"content": "Second", "status": "in_progress", "activeForm": ""}]}),
            "done",
            json!({}),
            &["Todos Second", "1 of 2 done", "done: First", "in progress: Second"],
        ),
        (
            "WebSearch",
            json!({"query": "csv reader"}),
            "found",
            json!({"query": "csv reader", "results": [{"tool_use_id": "t", "content": [
                {"title": "The csv module", "url": "https://docs.python.org/3/library/csv.html"},
                {"title": "Bad", "url": "javascript:alert(1)"}]}]}),
            &["Search the web for csv reader", "The csv module"],
        ),
        (
            "WebFetch",
            json!({"url": "https://example.org/a", "prompt": "What is it?"}),
            "An example.",
            json!({"result": "**An** example."}),
            &["Fetch https://example.org/a", "What is it?", "An example."],
        ),
        (
            "mcp__tracker__comment",
            json!({"issue": 42}),
            "commented",
            json!([]),
            &["tracker comment", "\"issue\" : 42", "commented"],
        ),
        ("Novelty", json!({"a": [1]}), "well", json!({}), &["Novelty", "\"a\"", "well"]),
        (
            "Read",
            json!({"file_path": "/project/a.rs"}),
            "1\tfn main() {}",
            json!({"type": "text", "file": {"filePath": "/project/a.rs", "content": "fn main() {}"}}),
            &["Read 1 file", "Read a.rs", "fn main () {}"],
        ),
    ];
    for (tool, input, text, details, expected) in cases {
        let shown = shown(tool, &input, text, &details).replace("&quot;", "\"");
        for words in expected {
            let squeezed = |text: &str| text.replace(' ', "");
            assert!(squeezed(&shown).contains(&squeezed(words)), "{tool}: {words}: {shown}");
        }
        assert!(!shown.contains("javascript:"), "{shown}");
    }
}

#[test]
fn long_outputs_are_cut_and_say_by_how_much() {
    let lines: String = (0..500).map(|number| format!("line {number}\n")).collect();
    let details = json!({"stdout": lines, "stderr": ""});
    let text = shown("Bash", &json!({"command": "seq"}), &lines, &details);
    assert!(text.contains("line 59") && !text.contains("line 60 "), "{text}");
    assert!(text.contains("440 more lines"), "{text}");
}

#[test]
fn a_call_that_is_not_understood_is_shown_all_the_same() {
    let input: RawJson = r#"{"command": 7}"#.parse().unwrap();
    let call = Call::new("c".to_owned(), "Bash".to_owned(), input);
    assert!(call.body("/project").as_str().contains("command"));
    assert_eq!(call.line("/project").verb, "Bash");
}
