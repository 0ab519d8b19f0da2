//! Calls are shown for what they are.

use countersign_page::call::Call;
use countersign_page::transcript::Transcript;
use countersign_protocol::RawJson;
use countersign_server::session::Happening;
use serde_json::{Value, json};

use crate::log::{assistant, call, failed, frame, log, plain, result};

/// The page of one call and its result, without markup.
fn shown(tool: &str, input: &Value, text: &str, details: &Value) -> String {
    with(tool, input, result(None, "c1", text, details))
}

fn with(tool: &str, input: &Value, result: Happening) -> String {
    let mut transcript = Transcript::new("/project");
    for event in log([call(None, "c1", tool, input), result]) {
        transcript.event(&event);
    }
    plain(transcript.html().as_str())
}

#[test]
fn each_for_what_it_is() {
    let cases: [(&str, Value, &str, Value, &[&str]); 14] = [
        (
            "Bash",
            json!({"command": "make", "description": "Build it"}),
            "Exit code 2\nbuilt",
            json!({"stdout": "Exit code 2\nbuilt", "stderr": "a warning", "interrupted": false}),
            // It has written that, and ended well.
            &["Run Build it", "make", "built", "a warning", "exit code 0"],
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
        (
            "AskUserQuestion",
            json!({"questions": [{"question": "Which?", "header": "H", "multiSelect": true,
                "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]}]}),
            "answered",
            json!({"questions": [], "answers": {"Which?": "Blue, and a bit of pink"},
                "annotations": {"Which?": {"notes": "as you like"}}}),
            &["Ask Which? 1 question", "Red ✓ chosen: Blue", "“and a bit of pink”", "as you like"],
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/project/n.ipynb", "new_source": "b = 1", "cell_id": "c"}),
            "done",
            json!({"old_source": "a = 1", "new_source": "b = 1", "cell_id": "c", "cell_type": "code",
                "language": "python", "edit_mode": "replace", "notebook_path": "/project/n.ipynb",
                "original_file": "", "updated_file": ""}),
            &["Edit n.ipynb", "removed: a = 1", "added: b = 1"],
        ),
        (
            "TaskUpdate",
            json!({"taskId": "3", "status": "completed", "subject": "Mend it"}),
            "done",
            json!({"success": true}),
            &["Todo Mend it done", "☑ done: Mend it"],
        ),
        (
            "TaskCreate",
            json!({"subject": "Mend it", "description": "All of **it**"}),
            "done",
            json!({}),
            &["New todo Mend it", "All of it"],
        ),
        (
            "Agent",
            json!({"description": "Look around", "prompt": "Look **well**", "subagent_type": "x"}),
            "Async agent launched successfully. (This tool result is internal metadata.)",
            json!({"isAsync": true, "status": "async_launched", "agentId": "a1"}),
            &[
                "Agent Look around in the background",
                "Look well",
                "It works in the background, and",
            ],
        ),
        ("Novelty", json!({"a": [1]}), "well", json!({}), &["Novelty", "\"a\"", "well"]),
        (
            "Read",
            json!({"file_path": "/project/a.rs"}),
            "1\tfn main() {}",
            json!({"type": "text", "file": {"filePath": "/project/a.rs", "content": "fn main() {}"}}),
            &["Read a.rs", "fn main () {}"],
        ),
    ];
    for (tool, input, text, details, expected) in cases {
        let shown = shown(tool, &input, text, &details).replace("&quot;", "\"");
        for words in expected {
            let squeezed = |text: &str| text.replace(' ', "");
            assert!(squeezed(&shown).contains(&squeezed(words)), "{tool}: {words}: {shown}");
        }
        assert!(!shown.contains("javascript:") && !shown.contains("metadata"), "{shown}");
    }
}

#[test]
fn a_command_that_fails_says_how() {
    let text = with("Bash", &json!({"command": "make"}), failed("c1", "Exit code 2\nno rule"));
    assert!(text.contains("no rule") && text.contains("exit code 2"), "{text}");
}

#[test]
fn long_outputs_are_cut_and_say_by_how_much() {
    let lines: String = (0..500).map(|number| format!("line {number}\n")).collect();
    let details = json!({"stdout": lines, "stderr": ""});
    let text = shown("Bash", &json!({"command": "seq"}), &lines, &details);
    assert!(text.contains("line 59") && !text.contains("line 60 "), "{text}");
    assert!(text.contains("440 more lines"), "{text}");
}

/// A picture comes when somebody wants to see it: it may be large.
#[test]
fn pictures_can_be_had() {
    let mut transcript = Transcript::new("/project");
    let picture = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c1", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}}]}]},
        "parent_tool_use_id": null, "session_id": "s", "uuid": "u"});
    for event in log([call(None, "c1", "Screenshot", &json!({})), frame(&picture)]) {
        transcript.event(&event);
    }
    let html = transcript.html().into_string();
    assert!(html.contains("data-call=\"c1\" data-pictures>Show 1 picture</button>"), "{html}");
    assert!(!html.contains("QQ=="), "{html}");
}

/// What the API does itself has results in what the model says.
#[test]
fn what_the_api_does_has_results() {
    let used = json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s1",
        "content": [{"type": "web_search_result", "title": "A page", "url": "https://example.org"}]});
    let failed = json!({"type": "web_search_tool_result", "tool_use_id": "s1",
        "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"}});
    for (result, word) in [(found, "A page"), (failed, "unavailable")] {
        let mut transcript = Transcript::new("/project");
        for event in log([assistant(None, &used), assistant(None, &result)]) {
            transcript.event(&event);
        }
        let html = transcript.html().into_string();
        assert!(html.contains(word) && !html.contains("running"), "{html}");
    }
}

#[test]
fn a_call_that_is_not_understood_is_shown_all_the_same() {
    let input: RawJson = r#"{"command": 7}"#.parse().unwrap();
    let call = Call::new("c".to_owned(), "Bash".to_owned(), input);
    assert!(call.body("/project").as_str().contains("command"));
    assert_eq!(call.line("/project").verb, "Bash");
}
