//! Scripts in files, and the same scripts in Rust.

use std::time::Duration;

use countersign_lab::script::{
    Act, Answer, ApiError, Fault, Misbehaviour, Script, ToolUse, Usage, When,
};
use regex::Regex;
use serde_json::json;

/// A file says the same as a script made in Rust.
#[track_caller]
fn check(file: &str, script: &Script) {
    let read = Script::parse(file, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(&read, script);
    script.check().unwrap();
}

#[test]
fn an_empty_file_is_a_script() {
    check("", &Script::new());
    check("# Only words.\n", &Script::new());
}

#[test]
fn the_short_form_has_one_order_whatever_that_of_the_file() {
    check(
        r#"
[[answer]]
fault = "freeze"
tools = [ { name = "Read" }, { name = "Bash", input = { command = "ls" } } ]
text = "Two."
thinking = "One."
"#,
        &Script::new().then(
            Answer::thinking("One.")
                .and_text("Two.")
                .and_tool(ToolUse::new("Read", json!({})))
                .and_tool(ToolUse::new("Bash", json!({"command": "ls"})))
                .and_fault(Fault::Freeze),
        ),
    );
}

#[test]
fn the_long_form_has_the_order_of_the_file() {
    check(
        r#"
[[answer]]
blocks = [
  { text = "a" },
  { tool = "Read", input = { file_path = "/x" }, as = "it", id = "toolu_1" },
  { thinking = "b" },
  { fault = "die mid-line" },
]

[[answer]]
blocks = []
"#,
        &Script::new()
            .then(
                Answer::text("a")
                    .and_tool(
                        ToolUse::new("Read", json!({"file_path": "/x"})).label("it").id("toolu_1"),
                    )
                    .and_thinking("b")
                    .and_fault(Fault::DieMidLine),
            )
            .then(Answer::new()),
    );
}

#[test]
fn an_input_is_all_that_json_can_say() {
    check(
        r#"
[[answer]]
tool = { name = "A", input = { s = "x", i = -3, h = 0xff, f = 1.5, b = true, l = [1, "a", [2]], t = { u = {} } } }

[[answer]]
tool = { name = "B", input_json = '''{"n": null, "big": 18446744073709551615}''' }

[[answer]]
[answer.tool]
name = "C"
[answer.tool.input]
file_path = "/x"
edits = [{ old = "a", new = "b" }]
"#,
        &Script::new()
            .then(Answer::tool(
                "A",
                json!({"s": "x", "i": -3, "h": 255, "f": 1.5, "b": true, "l": [1, "a", [2]], "t": {"u": {}}}),
            ))
            .then(Answer::tool("B", json!({"n": null, "big": u64::MAX})))
            .then(Answer::tool(
                "C",
                json!({"file_path": "/x", "edits": [{"old": "a", "new": "b"}]}),
            )),
    );
}

#[test]
fn everything_that_an_answer_can_be() {
    check(
        r#"
[[answer]]
text = "a"
stop_reason = "max_tokens"
model = "another"
usage = { input_tokens = 100, output_tokens = 7, cache_read_input_tokens = 3, cache_creation_input_tokens = 4 }
pace = "20ms"
delay = "1.5s"
times = 3

[[answer]]
tool = { name = "Bash", input = { command = "make" }, result = "no rule", fails = true, takes = "2m" }
"#,
        &Script::new()
            .then(
                Answer::text("a")
                    .stop_reason("max_tokens")
                    .model("another")
                    .usage(Usage::new(100, 7).cached(3, 4))
                    .pace(Duration::from_millis(20))
                    .delay(Duration::from_millis(1500))
                    .times(3),
            )
            .then(
                Answer::new().and_tool(
                    ToolUse::new("Bash", json!({"command": "make"}))
                        .result("no rule")
                        .fails()
                        .takes(Duration::from_secs(120)),
                ),
            ),
    );
}

#[test]
fn every_ending() {
    check(
        r#"
[[answer]]
error = { status = 429, retry_after = 1 }

[[answer]]
error = { status = 418, kind = "teapot_error", message = "short and stout" }

[[answer]]
text = "a"
cut = 3

[[answer]]
hang = 0

[[answer]]
reset = true

[[answer]]
text = "a"
stream_error = { after = 2 }

[[answer]]
text = "a"
stream_error = { kind = "api_error", message = "oh" }
"#,
        &Script::new()
            .then(Answer::error(ApiError::new(429).retry_after(1)))
            .then(Answer::error(ApiError::new(418).kind("teapot_error").message("short and stout")))
            .then(Answer::text("a").cut_after(3))
            .then(Answer::new().hang_after(0))
            .then(Answer::reset())
            .then(Answer::text("a").stream_error_after(2, ApiError::new(529)))
            .then(
                Answer::text("a")
                    .stream_error_after(0, ApiError::new(529).kind("api_error").message("oh")),
            ),
    );
}

#[test]
fn every_condition() {
    check(
        r#"
[[answer]]
when = { text = "please", first = "hello", model = "haiku", agent = false }
text = "a"

[[answer]]
when = { result = "/exit (\\d+)/", error = true, tool = "Bash" }
times = 2
text = "code ${match.1}"

[[answer]]
when = { turn = 3 }
text = "third"

[[answer]]
when = { side = true }
text = "A title"

[[answer]]
when = { text = "/" }
text = "one slash is no regular expression"

[[answer]]
when = {}
text = "anything"
"#,
        &Script::new()
            .when(
                When::text("please").and_first("hello").and_model("haiku").and_agent(false),
                Answer::text("a"),
            )
            .when(
                When::result(Regex::new(r"exit (\d+)").unwrap()).and_error(true).and_tool("Bash"),
                Answer::text("code ${match.1}").times(2),
            )
            .when(When::turn(3), Answer::text("third"))
            .when(When::side_job(), Answer::text("A title"))
            .when(When::text("/"), Answer::text("one slash is no regular expression"))
            .when(When::any(), Answer::text("anything")),
    );
}

#[test]
fn what_stands_beside_the_answers() {
    check(
        r#"
otherwise = "Done, ${name}."
needs = ["token"]

[set]
name = "value"
cwd = "/project"

[[misbehave]]
on = "set_model"
do = "answer twice"

[[misbehave]]
on = "interrupt"
do = "never answer"
times = 1

[[misbehave]]
on = "set_permission_mode"
do = "refuse"
"#,
        &Script::new()
            .otherwise("Done, ${name}.")
            .needs("token")
            .set("name", "value")
            .set("cwd", "/project")
            .misbehave(Misbehaviour::new("set_model", Act::AnswerTwice))
            .misbehave(Misbehaviour::new("interrupt", Act::NeverAnswer).times(1))
            .misbehave(Misbehaviour::new("set_permission_mode", Act::Refuse)),
    );
}

#[test]
fn faults_are_read_as_they_are_written() {
    let faults = [
        (Fault::DieMidLine, "die mid-line"),
        (Fault::Exit(0), "exit 0"),
        (Fault::Exit(255), "exit 255"),
        (Fault::Freeze, "freeze"),
        (Fault::FloodStderr(0), "flood stderr 0 B"),
        (Fault::FloodStderr(1_500), "flood stderr 1500 B"),
        (Fault::FloodStderr(10_000_000), "flood stderr 10 MB"),
        (Fault::LongLine(64_000), "long line 64 kB"),
        (Fault::LongLine(2_000_000_000), "long line 2 GB"),
        (Fault::NotJson, "not json"),
        (Fault::UnknownFrame, "unknown frame"),
        (Fault::UnknownRequest, "unknown request"),
    ];
    for (fault, words) in faults {
        assert_eq!(fault.to_string(), words);
        assert_eq!(words.parse(), Ok(fault));
    }
    for act in [Act::AnswerTwice, Act::NeverAnswer, Act::Refuse] {
        assert_eq!(act.to_string().parse(), Ok(act));
    }
}

#[test]
fn a_file_is_loaded_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    std::fs::write(&path, "[[answer]]\ntext = \"a\"\n").unwrap();
    let script = Script::load(&path).unwrap();
    assert_eq!(script.name(), path.display().to_string());
    assert_eq!(script.entries[0].line(), Some(1));
    assert_eq!(script, Script::new().then(Answer::text("a")));
}
