//! Every documented field of every tool is read and written.

mod inputs;
mod outputs;

use std::fmt::Debug;

use serde::Serialize;
use serde_json::Value;

use super::{ToolInput, ToolInputError, ToolOutput, ToolOutputError};
use crate::wire::{FromWire, RawJson};

fn raw(json: &str) -> RawJson {
    json.parse().unwrap()
}

/// Reads the text as `T`, and checks that nothing is left over and that it is written again as
/// it was.
fn check_fields<T: FromWire + Serialize + Debug>(json: &str) -> T {
    let typed: T = raw(json).read().unwrap_or_else(|error| panic!("{json}: {error}"));
    let shown = format!("{typed:?}");
    assert!(!shown.contains("fields: [("), "a field without a name: {shown}");
    assert_eq!(serde_json::to_value(&typed).unwrap(), json.parse::<Value>().unwrap());
    typed
}

fn check_input<T>(tool: &str, variant: fn(T) -> ToolInput, json: &str)
where
    T: FromWire + Serialize + Debug,
{
    let typed = check_fields::<T>(json);
    assert_eq!(ToolInput::parse(tool, &raw(json)), Ok(variant(typed)), "{tool}");
}

fn check_output<T>(tool: &str, variant: fn(T) -> ToolOutput, json: &str)
where
    T: FromWire + Serialize + Debug,
{
    let typed = check_fields::<T>(json);
    assert_eq!(ToolOutput::parse(tool, &raw(json)), Ok(variant(typed)), "{tool}");
}

#[test]
fn a_tool_without_a_type_is_not_read() {
    // `MultiEdit` and `BashOutput` are gone since before the oldest version this crate speaks to.
    for tool in ["mcp__calc__add", "MultiEdit", "BashOutput", "PowerShell", "bash", ""] {
        for json in ["{}", "[1]", "null", r#"{"a":1,"a":2}"#] {
            assert_eq!(ToolInput::parse(tool, &raw(json)), Ok(ToolInput::Other), "{tool}");
        }
    }
    assert_eq!(ToolOutput::parse("Skill", &raw("{}")), Ok(ToolOutput::Other));
}

#[test]
fn another_shape_is_an_error_that_names_the_tool() {
    let error = |tool: &str, json: &str| -> ToolInputError {
        ToolInput::parse(tool, &raw(json)).unwrap_err()
    };
    let missing = error("Bash", r#"{"description":"nothing to run"}"#);
    assert_eq!(&*missing.tool, "Bash");
    assert!(missing.to_string().starts_with("input of Bash in another shape: missing field"));
    assert!(error("Bash", r#"{"command":["ls"]}"#).reason.starts_with("command: "));
    assert_eq!(&*error("Task", "{}").tool, "Task");
    for json in ["null", "[]", r#""ls""#, "1"] {
        assert!(ToolInput::parse("Bash", &raw(json)).is_err(), "{json}");
    }

    let error: ToolOutputError = ToolOutput::parse("Bash", &raw(r#"{"stdout":1}"#)).unwrap_err();
    assert!(error.to_string().starts_with("result of Bash in another shape: stdout: "));
    assert!(ToolOutput::parse("Bash", &raw("null")).is_err());
    assert!(ToolOutput::parse("mcp__calc__add", &raw("3")).is_err());
}

#[test]
fn a_repeated_key_is_an_error() {
    for (tool, json) in [
        ("Bash", r#"{"command":"ls","command":"rm -r ."}"#),
        ("Bash", r#"{"command":"ls","comm\u0061nd":"rm -r ."}"#),
        ("Read", r#"{"file_path":"a","limit":null,"limit":1}"#),
        ("AskUserQuestion", r#"{"questions":[{"question":"a","question":"b"}]}"#),
    ] {
        let error = ToolInput::parse(tool, &raw(json)).unwrap_err();
        assert!(error.reason.contains("duplicate field"), "{error}");
    }
    // What the type does not name is all kept.
    let twice = raw(r#"{"command":"ls","mood":1,"mood":2}"#);
    let Ok(ToolInput::Bash(bash)) = ToolInput::parse("Bash", &twice) else { panic!() };
    assert_eq!(bash.extra.len(), 2);
}

#[test]
fn a_string_is_text_for_every_tool() {
    for tool in ["Bash", "Agent", "StructuredOutput", "mcp__calc__add", "Nonsense"] {
        let output = ToolOutput::parse(tool, &raw(r#""Error: half a \ud83d""#));
        assert_eq!(output, Ok(ToolOutput::Text("Error: half a \u{FFFD}".to_owned())), "{tool}");
    }
}
