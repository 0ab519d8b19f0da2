//! A turn of the simulated CLI, and how it is started.

use serde_json::{Value, json};

use super::sim_client::{Place, Setup, run_plain};

const VERSIONS: [&str; 3] = ["2.1.325", "2.1.197", "2.1.62"];

/// The kinds of frames, with their subtypes.
fn kinds(frames: &[Value]) -> Vec<String> {
    let kind = |frame: &Value| {
        let kind = frame["type"].as_str().unwrap().to_owned();
        let detail = [&frame["subtype"], &frame["event"]["type"], &frame["request"]["subtype"]];
        match detail.iter().find_map(|detail| detail.as_str()) {
            Some(detail) => format!("{kind}/{detail}"),
            None => kind,
        }
    };
    frames.iter().map(kind).collect()
}

#[test]
fn a_plain_turn_is_init_assistant_and_result() {
    for version in VERSIONS {
        let place = Place::new();
        let mut client = Setup::new(version).start(&place, "[[answer]]\ntext = \"Hello.\"\n");
        client.say("hi");
        let result = client.result();
        assert_eq!(result["result"], "Hello.", "{version}");
        assert_eq!(result["is_error"], false, "{version}");
        assert_eq!(result["num_turns"], 1, "{version}");
        assert_eq!(
            kinds(&client.seen),
            ["system/init", "assistant", "result/success"],
            "{version}"
        );
        assert_eq!(client.finish(), Some(0), "{version}");
    }
}

#[test]
fn with_partial_messages_the_frame_of_a_block_comes_before_its_end() {
    let place = Place::new();
    let setup = Setup::new("2.1.325").args(&["--include-partial-messages"]);
    let mut client = setup.start(&place, "[[answer]]\ntext = \"one two\"\n");
    client.say("hi");
    client.result();
    let expected = [
        "system/init",
        "system/status",
        "stream_event/message_start",
        "stream_event/content_block_start",
        "stream_event/content_block_delta",
        "stream_event/content_block_delta",
        "assistant",
        "stream_event/content_block_stop",
        "stream_event/message_delta",
        "stream_event/message_stop",
        "result/success",
    ];
    assert_eq!(kinds(&client.seen), expected);
}

#[test]
fn each_block_is_a_frame_of_the_same_message() {
    let place = Place::new();
    let script =
        "[[answer]]\nblocks = [{ thinking = \"Hm.\" }, { text = \"a\" }, { text = \"b\" }]\n";
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.say("hi");
    let result = client.result();
    let said: Vec<&Value> =
        client.seen.iter().filter(|frame| frame["type"] == "assistant").collect();
    assert_eq!(said.len(), 3);
    assert!(said.iter().all(|frame| frame["message"]["id"] == said[0]["message"]["id"]));
    assert_eq!(result["result"], "b");
}

#[test]
fn a_tool_that_needs_no_leave_really_reads_the_file() {
    let place = Place::new();
    let script = r#"
        [[answer]]
        tool = { name = "Read", input = { file_path = "${cwd}/hello.py" }, as = "file" }
        [[answer]]
        text = "It says: ${result.file}"
    "#;
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.say("read");
    let result = client.result();
    assert!(result["result"].as_str().unwrap().contains("print('hi'"), "{result}");
    assert_eq!(result["num_turns"], 2);
}

#[test]
fn files_outside_of_the_folder_are_not_touched() {
    let place = Place::new();
    let outside = place.home().join("outside.txt");
    let script = r#"
        [[answer]]
        tool = { name = "Write", input = { file_path = "${home}/outside.txt", content = "x" } }
        [[answer]]
        text = "${result}"
    "#;
    let mut client = Setup::new("2.1.325").args(&["--allowedTools", "Write"]).start(&place, script);
    client.say("write");
    let result = client.result();
    assert!(
        result["result"].as_str().unwrap().contains("stays in its working directory"),
        "{result}"
    );
    assert!(!outside.exists());
}

#[test]
fn a_line_is_added_to_a_file_in_the_folder_each_time_that_the_call_runs() {
    let place = Place::new();
    let script = r#"
        [[answer]]
        when = { text = "add" }
        tool = { name = "Bash", input = { command = "echo one line >> ${cwd}/lines.txt" } }
        [[answer]]
        when = { text = "elsewhere" }
        tool = { name = "Bash", input = { command = "echo out >> ${home}/lines.txt" } }
        [[answer]]
        when = { tool = "Bash" }
        text = "${result}"
    "#;
    let setup = Setup::new("2.1.325").args(&["--allowedTools", "Bash"]);
    let mut client = setup.start(&place, script);
    for said in ["add", "add", "elsewhere"] {
        client.say(said);
        assert_eq!(client.result()["result"], "(Bash completed with no output)");
    }
    let lines = std::fs::read_to_string(place.cwd().join("lines.txt")).unwrap();
    assert_eq!(lines, "one line\none line\n");
    assert!(!place.home().join("lines.txt").exists());
}

#[test]
fn echo_is_the_one_command_that_says_something_by_itself() {
    let place = Place::new();
    let script = r#"
        [[answer]]
        tool = { name = "Bash", input = { command = "echo $GREETING you" } }
        [[answer]]
        text = "${result}"
        [[answer]]
        tool = { name = "Bash", input = { command = "make" }, result = "no rule", fails = true }
        [[answer]]
        text = "${result}"
    "#;
    let setup = Setup::new("2.1.325").args(&["--allowedTools", "Bash"]).env("GREETING", "hello");
    let mut client = setup.start(&place, script);
    client.say("echo");
    assert_eq!(client.result()["result"], "hello you");
    client.say("make");
    assert_eq!(client.result()["result"], "no rule");
}

#[test]
fn without_a_script_the_prompt_comes_back() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").start_without_script(&place);
    client.say("is anybody there?");
    assert_eq!(client.result()["result"], "You said: is anybody there?");
}

#[test]
fn it_stands_in_for_claude_when_the_script_is_in_the_environment() {
    let place = Place::new();
    let mut client = Setup::new("2.1.197")
        .start_as_claude(&place, "[[answer]]\ntext = \"From the environment.\"\n");
    client.say("hi");
    assert_eq!(client.result()["result"], "From the environment.");
    let init = client.seen.iter().find(|frame| frame["subtype"] == "init").unwrap();
    assert_eq!(init["claude_code_version"], "2.1.197");
}

#[test]
fn variables_of_the_command_line_are_in_the_script() {
    let place = Place::new();
    let script = place.script("needs = [\"name\"]\n[[answer]]\ntext = \"Hello, ${name}.\"\n");
    let script = script.to_str().unwrap();
    let setup = Setup::new("2.1.325");
    let mut client = setup.start_with(&place, &["--script", script, "--set", "name=Ada"]);
    client.say("hi");
    assert_eq!(client.result()["result"], "Hello, Ada.");
}

#[test]
fn its_version_is_that_of_the_cli() {
    for version in VERSIONS {
        let (code, out, _) = run_plain(&["--as", version, "--", "--version"]);
        assert_eq!((code, out.trim()), (Some(0), format!("{version} (Claude Code)").as_str()));
    }
}

#[test]
fn an_unknown_version_is_refused() {
    let (code, _, errors) = run_plain(&["--as", "1.0.0", "--", "--version"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("no imitation of version 1.0.0"), "{errors}");
}

#[test]
fn command_lines_that_the_cli_refuses_are_refused() {
    let stream = ["--output-format", "stream-json", "--input-format", "stream-json"];
    let cases: [(&[&str], &str); 6] = [
        (&["--cwd", "x"], "error: unknown option '--cwd'"),
        (&[], "requires --verbose"),
        (
            &["--verbose", "--permission-mode", "bogus"],
            "argument 'bogus' is invalid. Allowed choices are",
        ),
        (&["--verbose", "--session-id", "no"], "Error: Invalid session ID. Must be a valid UUID."),
        (&["--verbose", "--model"], "error: option '--model <model>' argument missing"),
        (&["--verbose", "--settings", "{no"], "Error: Invalid JSON provided to --settings"),
    ];
    for (args, complaint) in cases {
        let all: Vec<&str> = ["--"].iter().chain(&stream).chain(args).copied().collect();
        let (code, out, errors) = run_plain(&all);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{args:?}");
        assert!(errors.contains(complaint), "{args:?}: {errors}");
    }
}

#[test]
fn the_exit_code_tells_whether_the_last_result_was_an_error() {
    let place = Place::new();
    let script = "[[answer]]\nerror = { status = 403 }\n[[answer]]\ntext = \"fine\"\n";
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.say("hi");
    assert_eq!(client.result()["is_error"], true);
    assert_eq!(client.finish(), Some(1));
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.say("hi");
    client.result();
    client.say("again");
    assert_eq!(client.result()["is_error"], false);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn a_turn_that_runs_when_standard_input_ends_is_finished() {
    let place = Place::new();
    let mut client =
        Setup::new("2.1.325").start(&place, "[[answer]]\ntext = \"slow\"\ndelay = \"200ms\"\n");
    client.say("hi");
    client.until("init", |frame| frame["subtype"] == "init");
    assert_eq!(client.finish(), Some(0));
    assert_eq!(client.seen.last().unwrap()["result"], "slow");
}

#[test]
fn the_number_of_rounds_and_the_money_are_limited() {
    let place = Place::new();
    let script = "[[answer]]\ntool = { name = \"Read\", input = { file_path = \"${cwd}/hello.py\" } }\ntimes = 9\n";
    let mut client = Setup::new("2.1.325").args(&["--max-turns", "2"]).start(&place, script);
    client.say("go");
    let result = client.result();
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("error_max_turns"), &json!(true))
    );
    assert_eq!(result["errors"], json!(["Reached maximum number of turns (2)"]));
    let costly =
        "[[answer]]\ntext = \"a\"\nusage = { input_tokens = 1000, output_tokens = 100000 }\n";
    let mut client =
        Setup::new("2.1.325").args(&["--max-budget-usd", "0.01"]).start(&place, costly);
    client.say("go");
    let result = client.result();
    assert_eq!(result["subtype"], "error_max_budget_usd");
    assert!(result["total_cost_usd"].as_f64().unwrap() > 1.0, "{result}");
}

#[test]
fn a_busy_model_is_asked_again_and_each_time_it_is_told() {
    let place = Place::new();
    let script =
        "[[answer]]\nerror = { status = 529 }\ntimes = 2\n[[answer]]\ntext = \"recovered\"\n";
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.say("hi");
    let result = client.result();
    let retries: Vec<&Value> =
        client.seen.iter().filter(|frame| frame["subtype"] == "api_retry").collect();
    assert_eq!(retries.len(), 2);
    assert_eq!((&retries[1]["attempt"], &retries[1]["error_status"]), (&json!(2), &json!(529)));
    assert_eq!(result["result"], "recovered");
    // An older version says nothing about it.
    let mut client = Setup::new("2.1.62").start(&place, script);
    client.say("hi");
    assert_eq!(client.result()["result"], "recovered");
    assert!(client.seen.iter().all(|frame| frame["subtype"] != "api_retry"));
}

#[test]
fn a_model_that_stays_busy_ends_the_turn_with_an_error_that_is_a_success() {
    let place = Place::new();
    let setup = Setup::new("2.1.325").env("CLAUDE_CODE_MAX_RETRIES", "1");
    let mut client = setup.start(&place, "[[answer]]\nerror = { status = 500 }\ntimes = 9\n");
    client.say("hi");
    let result = client.result();
    assert_eq!((&result["subtype"], &result["is_error"]), (&json!("success"), &json!(true)));
    assert_eq!(result["api_error_status"], 500);
    assert!(result["result"].as_str().unwrap().starts_with("API Error: 500"), "{result}");
}

#[test]
fn a_structured_answer_ends_the_turn() {
    let place = Place::new();
    let setup = Setup::new("2.1.325").args(&["--json-schema", "{\"type\":\"object\"}"]);
    let script = "[[answer]]\ntool = { name = \"StructuredOutput\", input = { a = 1 } }\n";
    let mut client = setup.start(&place, script);
    client.say("go");
    let result = client.result();
    assert_eq!(result["structured_output"], json!({"a": 1}));
    assert_eq!((&result["result"], &result["num_turns"]), (&json!("{\"a\":1}"), &json!(2)));
}
