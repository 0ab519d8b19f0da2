//! The words of the schema library that the CLI checks with.

use serde_json::ser::{PrettyFormatter, Serializer};

use crate::sim::json::{Json, Object, obj};

/// A JSON value as `JSON.stringify(value, null, 2)` writes it.
pub(super) fn pretty(value: &Json) -> String {
    let mut bytes = Vec::new();
    let mut serializer =
        Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b"  "));
    match serde::Serialize::serialize(value, &mut serializer) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}

/// The error of a value that is none of two things, with the problems of each.
pub(super) fn neither(first: Vec<Json>, second: Vec<Json>) -> String {
    let problem = obj! {
        "code": "invalid_union",
        "errors": vec![Json::from(first), Json::from(second)],
        "path": Vec::<Json>::new(),
        "message": "Invalid input",
    };
    format!("Tool permission request failed: ZodError: {}", pretty(&vec![problem].into()))
}

/// The name of a type.
pub(super) fn type_name(value: Option<&Json>) -> &'static str {
    match value {
        None => "undefined",
        Some(Json::Null) => "null",
        Some(Json::Bool(_)) => "boolean",
        Some(Json::Number(_)) => "number",
        Some(Json::String(_)) => "string",
        Some(Json::Array(_)) => "array",
        Some(Json::Object(_)) => "object",
    }
}

/// A value of another type.
pub(super) fn wrong_type(expected: &str, path: &[&str], value: Option<&Json>) -> Json {
    let path: Vec<Json> = path.iter().map(|part| (*part).into()).collect();
    obj! {
        "expected": expected,
        "code": "invalid_type",
        "path": path,
        "message": format!("Invalid input: expected {expected}, received {}", type_name(value)),
    }
    .into()
}

/// A value that is not the only one there is.
pub(super) fn wrong_value(expected: &str, path: &str) -> Json {
    obj! {
        "code": "invalid_value",
        "values": vec![expected],
        "path": vec![path],
        "message": format!("Invalid input: expected \"{expected}\""),
    }
    .into()
}

/// What is wrong with the input of a tool.
#[derive(Clone, Debug)]
pub(crate) struct InputProblems {
    /// For the model.
    pub(crate) words: String,
    /// For the client.
    pub(crate) details: String,
}

/// Checks the input of a tool that is known well: names and types of its fields.
pub(crate) fn input_problems(tool: &str, input: &Json) -> Option<InputProblems> {
    let fields = fields_of(tool)?;
    let empty = Object::default();
    let given = input.as_object().unwrap_or(&empty);
    let (mut words, mut details) = (Vec::new(), Vec::new());
    for (name, kind, required) in fields {
        let value = given.get(name);
        let found = type_name(value);
        if value.is_none() && *required {
            words.push(format!("The required parameter `{name}` is missing"));
            details.push(wrong_type(kind, &[name], None));
        } else if value.is_some() && found != *kind {
            words.push(format!(
                "The parameter `{name}` type is expected as `{kind}` but provided as `{found}`"
            ));
            details.push(wrong_type(kind, &[name], value));
        }
    }
    let unknown: Vec<&str> = given
        .iter()
        .map(|(name, _)| name)
        .filter(|name| !fields.iter().any(|field| field.0 == *name))
        .collect();
    if !unknown.is_empty() && tool == "Bash" {
        for name in &unknown {
            words.push(format!("An unexpected parameter `{name}` was provided"));
        }
        let quoted: Vec<String> = unknown.iter().map(|name| format!("\"{name}\"")).collect();
        let noun = if unknown.len() == 1 { "key" } else { "keys" };
        let problem = obj! {
            "code": "unrecognized_keys",
            "keys": unknown.iter().map(|name| Json::from(*name)).collect::<Vec<_>>(),
            "path": Vec::<Json>::new(),
            "message": format!("Unrecognized {noun}: {}", quoted.join(", ")),
        };
        details.push(problem.into());
    }
    if words.is_empty() {
        return None;
    }
    let issues = if words.len() == 1 { "issue" } else { "issues" };
    Some(InputProblems {
        words: format!("{tool} failed due to the following {issues}:\n{}", words.join("\n")),
        details: pretty(&details.into()),
    })
}

type Field = (&'static str, &'static str, bool);

fn fields_of(tool: &str) -> Option<&'static [Field]> {
    Some(match tool {
        "Bash" => &[
            ("command", "string", true),
            ("timeout", "number", false),
            ("description", "string", false),
            ("run_in_background", "boolean", false),
            ("dangerouslyDisableSandbox", "boolean", false),
        ],
        "Read" => &[
            ("file_path", "string", true),
            ("offset", "number", false),
            ("limit", "number", false),
        ],
        "Write" => &[("file_path", "string", true), ("content", "string", true)],
        "Edit" => &[
            ("file_path", "string", true),
            ("old_string", "string", true),
            ("new_string", "string", true),
            ("replace_all", "boolean", false),
        ],
        "AskUserQuestion" => &[("questions", "array", true)],
        "Glob" | "Grep" => &[("pattern", "string", true), ("path", "string", false)],
        "WebFetch" => &[("url", "string", true), ("prompt", "string", true)],
        "WebSearch" => &[("query", "string", true)],
        "Agent" | "Task" => &[("description", "string", true), ("prompt", "string", true)],
        "TodoWrite" => &[("todos", "array", true)],
        _ => return None,
    })
}
