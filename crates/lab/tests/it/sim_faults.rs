//! What goes wrong: signals, broken lines, and faults on purpose.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::sim_client::{Client, Place, Setup};

fn with(place: &Place, script: &str) -> Client {
    let mut client = Setup::new("2.1.325").start(place, script);
    client.say("go");
    client
}

fn fault(place: &Place, fault: &str) -> Client {
    with(
        place,
        &format!(
            "[[answer]]\nblocks = [{{ text = \"a\" }}, {{ fault = {fault:?} }}, {{ text = \"b\" }}]\n"
        ),
    )
}

#[test]
fn signals_end_the_process_as_they_end_the_cli() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 0)] {
        let place = Place::new();
        let mut client = Setup::new("2.1.325").start(&place, "");
        client.ask("i", &json!({"subtype": "initialize"}));
        client.response("i");
        client.signal(signal);
        assert_eq!(client.wait().0, Some(code), "{signal:?}");
    }
}

#[test]
fn an_interrupt_from_the_keyboard_ends_the_turn_with_its_result() {
    let place = Place::new();
    let mut client = with(&place, "[[answer]]\ntext = \"one two three\"\nhang = 3\n");
    client.until("init", |frame| frame["subtype"] == "init");
    client.ask("s", &json!({"subtype": "mcp_status"}));
    client.response("s");
    client.signal(Signal::INT);
    assert_eq!(client.result()["subtype"], "error_during_execution");
    assert_eq!(client.wait().0, Some(0));
}

#[test]
fn lines_that_end_the_cli_end_the_process() {
    let cases: [(&str, &str, &str); 4] = [
        ("2.1.325", "{broken", "Error parsing streaming input line"),
        (
            "2.1.325",
            "{\"type\":\"control_request\",\"request_id\":\"x\"}",
            "Missing request on control_request",
        ),
        (
            "2.1.325",
            "{\"type\":\"user\",\"message\":{\"role\":\"assistant\",\"content\":\"x\"}}",
            "Expected message role 'user'",
        ),
        ("2.1.62", "   ", "Error parsing streaming input line"),
    ];
    for (version, line, complaint) in cases {
        let place = Place::new();
        let mut client = Setup::new(version).start(&place, "");
        client.write(format!("{line}\n").as_bytes());
        let (code, errors) = client.wait();
        assert_eq!(code, Some(1), "{line}");
        assert!(errors.contains(complaint), "{line}: {errors}");
    }
}

#[test]
fn lines_that_mean_nothing_are_passed_over() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").start(&place, "[[answer]]\ntext = \"fine\"\n");
    for line in
        ["", "   ", "{}", "[]", "42", "{\"type\":\"hologram\"}", "{\"type\":\"keep_alive\"}"]
    {
        client.write(format!("{line}\n").as_bytes());
    }
    client.say("hi");
    assert_eq!(client.result()["result"], "fine");
}

#[test]
fn it_can_die_in_the_middle_of_a_line() {
    let place = Place::new();
    let mut client = fault(&place, "die mid-line");
    let mut last = String::new();
    while let Some(line) = client.line() {
        last = line;
    }
    assert!(serde_json::from_str::<Value>(&last).is_err(), "{last}");
    assert_eq!(client.wait().0, Some(137));
}

#[test]
fn it_can_end_with_any_code() {
    let place = Place::new();
    let mut client = fault(&place, "exit 7");
    assert_eq!(client.wait().0, Some(7));
    assert!(client.seen.iter().all(|frame| frame["type"] != "result"));
}

#[test]
fn it_can_freeze() {
    let place = Place::new();
    let mut client = fault(&place, "freeze");
    client.until("assistant", |frame| frame["type"] == "assistant");
    client.ask("s", &json!({"subtype": "mcp_status"}));
    client.signal(Signal::TERM);
    client.close();
    assert!(
        client.line_within(std::time::Duration::from_millis(300)).is_err(),
        "it said something"
    );
    client.kill();
}

#[test]
fn it_can_flood_standard_error() {
    let place = Place::new();
    let mut client = fault(&place, "flood stderr 3 MB");
    assert_eq!(client.result()["result"], "b");
    client.close();
    let (code, errors) = client.wait();
    assert_eq!((code, errors.len()), (Some(0), 3_000_000));
}

#[test]
fn it_can_write_a_very_long_line() {
    let place = Place::new();
    let mut client = fault(&place, "long line 50 MB");
    let long = client.until("long line", |frame| frame["subtype"] == "local_command_output");
    assert_eq!(long["content"].as_str().unwrap().len(), 50_000_000);
    assert_eq!(client.result()["result"], "b");
}

#[test]
fn it_can_write_what_is_not_json() {
    let place = Place::new();
    let mut client = fault(&place, "not json");
    let mut lines = Vec::new();
    while !lines.last().is_some_and(|line: &String| line.contains("\"result_index\"")) {
        lines.push(client.line().unwrap());
    }
    let broken = lines.iter().filter(|line| serde_json::from_str::<Value>(line).is_err()).count();
    assert_eq!(broken, 1);
}

#[test]
fn it_can_write_frames_and_requests_that_nobody_knows() {
    let place = Place::new();
    let mut client = fault(&place, "unknown frame");
    client.until("unknown frame", |frame| frame["type"] == "hologram");
    assert_eq!(client.result()["result"], "b");
    let mut client = fault(&place, "unknown request");
    let request = client.request("hologram_request");
    let response =
        json!({"subtype": "error", "request_id": request["request_id"], "error": "what?"});
    client.send(&json!({"type": "control_response", "response": response}));
    assert_eq!(client.result()["result"], "b");
}

#[test]
fn it_can_answer_twice_or_never_or_no() {
    let place = Place::new();
    let script = r#"
        [[misbehave]]
        on = "set_model"
        do = "answer twice"
        [[misbehave]]
        on = "mcp_status"
        do = "never answer"
        times = 1
        [[misbehave]]
        on = "interrupt"
        do = "refuse"
    "#;
    let mut client = Setup::new("2.1.325").start(&place, script);
    client.ask("m", &json!({"subtype": "set_model", "model": "opus"}));
    client.response("m");
    client.response("m");
    client.ask("never", &json!({"subtype": "mcp_status"}));
    client.ask("once", &json!({"subtype": "mcp_status"}));
    assert_eq!(client.response("once")["subtype"], "success");
    assert!(client.seen.iter().all(|frame| frame["response"]["request_id"] != "never"));
    client.ask("i", &json!({"subtype": "interrupt"}));
    assert_eq!(client.response("i")["subtype"], "error");
}

#[test]
fn a_stream_that_breaks_off_is_repeated() {
    let place = Place::new();
    let script = "[[answer]]\ntext = \"one two three\"\ncut = 3\n[[answer]]\ntext = \"whole\"\n";
    for version in ["2.1.325", "2.1.197", "2.1.62"] {
        let mut client = Setup::new(version).start(&place, script);
        client.say("go");
        assert_eq!(client.result()["result"], "whole", "{version}");
    }
}

#[test]
fn a_script_that_is_wrong_is_refused_at_once() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").start(&place, "[[answer]]\ntxt = \"x\"\n");
    let (code, errors) = client.wait();
    assert_eq!(code, Some(1));
    assert!(errors.contains("txt"), "{errors}");
}
