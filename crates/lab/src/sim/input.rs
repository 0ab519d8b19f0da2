//! What a line on standard input is.
//!
//! The CLI is strict in places: one bad line ends the process.

use super::json::{Json, Object};
use super::profile::{Profile, Release};
use super::requests::Reply;

/// A line of the client.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Nothing to do.
    Nothing,
    /// The process ends with this complaint.
    Fatal(String),
    /// A message of the user.
    User(UserMessage),
    /// A control request: its id, as it came, and its body.
    Request(Option<Json>, Object),
    /// An answer to a request of ours, and the whole frame.
    Answer(String, Reply, Object),
    /// Variables, and the id to answer to.
    Variables(Object, Option<Json>),
}

/// A message of the user.
#[derive(Clone, Debug)]
pub(crate) struct UserMessage {
    /// Text, or a list of blocks.
    pub(crate) content: Json,
    /// The client's id of it.
    pub(crate) uuid: Option<String>,
    /// Whether the model is to be asked.
    pub(crate) asks_model: bool,
    /// Whether it is sent to the model word by word, even when it begins with a slash.
    pub(crate) verbatim: bool,
}

impl UserMessage {
    /// The text, when it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Json::String(text) => Some(text),
            Json::Array(blocks) => blocks.iter().find_map(|block| block.text("text")),
            _ => None,
        }
    }
}

/// Reads a line, without its end.
pub(crate) fn read(profile: &Profile, line: &[u8]) -> Incoming {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = String::from_utf8_lossy(line);
    if text.is_empty() || (text.trim().is_empty() && !profile.spaces_are_fatal) {
        return Incoming::Nothing;
    }
    let Some(json) = Json::parse(&text) else {
        return broken(profile, &text, &syntax_error(profile, &text));
    };
    if json.is_null() {
        return broken(profile, &text, &reading(profile, "null", "t", "type"));
    }
    let Json::Object(frame) = json else { return Incoming::Nothing };
    match frame.get("type").and_then(Json::as_str).unwrap_or_default() {
        "user" => user(profile, &frame, &text),
        "control_request" => match frame.get("request") {
            Some(Json::Object(request)) => {
                Incoming::Request(frame.get("request_id").cloned(), request.clone())
            }
            _ if profile.release == Release::V197 => {
                broken(profile, &text, &reading(profile, "undefined", "e.request", "subtype"))
            }
            _ => Incoming::Fatal("Error: Missing request on control_request".to_owned()),
        },
        "control_response" => answer(profile, &frame, &text),
        "update_environment_variables" => {
            let variables = frame.get("variables").and_then(Json::as_object).cloned();
            Incoming::Variables(variables.unwrap_or_default(), frame.get("request_id").cloned())
        }
        _ => Incoming::Nothing,
    }
}

fn user(profile: &Profile, frame: &Object, text: &str) -> Incoming {
    let message = frame.get("message");
    if message.is_none() && profile.shows_broken_line {
        return broken(profile, text, &reading(profile, "undefined", "t.message", "role"));
    }
    let role = message.and_then(|message| message.get("role"));
    let role = role.map_or_else(
        || "undefined".to_owned(),
        |role| match role {
            Json::String(role) => role.clone(),
            other => other.to_string(),
        },
    );
    if role != "user" {
        return Incoming::Fatal(format!("Error: Expected message role 'user', got '{role}'"));
    }
    Incoming::User(UserMessage {
        content: message.and_then(|message| message.get("content")).cloned().unwrap_or_default(),
        uuid: frame.get("uuid").and_then(Json::as_str).map(str::to_owned),
        asks_model: frame.get("shouldQuery") != Some(&Json::Bool(false)),
        verbatim: frame.get("client_composed") == Some(&Json::Bool(true)),
    })
}

fn answer(profile: &Profile, frame: &Object, text: &str) -> Incoming {
    let Some(Json::Object(response)) = frame.get("response") else {
        if profile.needs_response {
            return broken(
                profile,
                text,
                &reading(profile, "undefined", "t.response", "request_id"),
            );
        }
        return Incoming::Nothing;
    };
    let Some(id) = response.get("request_id").and_then(Json::as_str) else {
        return Incoming::Nothing;
    };
    let reply = if response.get("subtype").and_then(Json::as_str) == Some("error") {
        let error = response.get("error").and_then(Json::as_str).unwrap_or("undefined");
        Reply::Error(error.to_owned())
    } else {
        Reply::Success(response.get("response").cloned())
    };
    Incoming::Answer(id.to_owned(), reply, frame.clone())
}

fn broken(profile: &Profile, text: &str, why: &str) -> Incoming {
    if profile.shows_broken_line {
        return Incoming::Fatal(format!("Error parsing streaming input line: {text}: {why}"));
    }
    // Newer versions do not show what may be a secret.
    let kind = text
        .split_once("\"type\":\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(kind, _)| kind);
    let class = why.split(':').next().unwrap_or(why);
    let length = text.encode_utf16().count();
    Incoming::Fatal(format!(
        "Error parsing streaming input line (type={kind}, {length} chars): {class}"
    ))
}

/// What the two JavaScript engines say of JSON that is not JSON.
fn syntax_error(profile: &Profile, text: &str) -> String {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Json>();
    let ends_early = matches!(values.next(), None | Some(Err(_)))
        && serde_json::from_str::<Json>(text).is_err_and(|error| error.is_eof());
    let first = text.trim_start().chars().next().unwrap_or(' ');
    match (profile.release, ends_early) {
        (Release::V62, true) => "SyntaxError: Unexpected end of JSON input".to_owned(),
        (Release::V62, false) => {
            format!("SyntaxError: Unexpected token '{first}', \"{text}\" is not valid JSON")
        }
        (_, true) => "SyntaxError: JSON Parse error: Unexpected EOF".to_owned(),
        (_, false) => {
            let word: String = text
                .trim_start()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            format!("SyntaxError: JSON Parse error: Unexpected identifier \"{word}\"")
        }
    }
}

/// What the two JavaScript engines say of a property of nothing.
fn reading(profile: &Profile, nothing: &str, object: &str, property: &str) -> String {
    if profile.release == Release::V62 {
        format!("TypeError: Cannot read properties of {nothing} (reading '{property}')")
    } else {
        format!("TypeError: {nothing} is not an object (evaluating '{object}.{property}')")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::profile;

    fn fatal(version: &str, line: &str) -> Option<String> {
        match read(profile::find(version).unwrap(), line.as_bytes()) {
            Incoming::Fatal(text) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn a_broken_line_is_told_as_the_version_tells_it() {
        let told = |version, line| fatal(version, line).unwrap();
        assert_eq!(
            told("2.1.325", r#"{"type":"user","message":"#),
            "Error parsing streaming input line (type=user, 25 chars): SyntaxError"
        );
        assert_eq!(
            told("2.1.197", "hello there"),
            "Error parsing streaming input line: hello there: SyntaxError: JSON Parse error: Unexpected identifier \"hello\""
        );
        assert_eq!(
            told("2.1.62", "null"),
            "Error parsing streaming input line: null: TypeError: Cannot read properties of null (reading 'type')"
        );
        assert_eq!(
            told("2.1.62", "   "),
            "Error parsing streaming input line:    : SyntaxError: Unexpected end of JSON input"
        );
    }

    #[test]
    fn what_the_cli_passes_over_is_passed_over() {
        for line in ["", "[1,2]", "5", r#"{"type":"wibble"}"#, "{\"type\":\"keep_alive\"}\r"] {
            assert_eq!(fatal("2.1.325", line), None, "{line}");
        }
    }
}
