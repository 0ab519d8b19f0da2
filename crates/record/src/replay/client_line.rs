//! A line of the client, recorded or live.

use serde_json::Value;

use super::report::excerpt;
use crate::diff::Labels;
use crate::format::Channel;
use crate::meaning::parse_line;

/// A line that a client wrote.
#[derive(Clone, Debug)]
pub(crate) struct ClientLine {
    pub(crate) bytes: Vec<u8>,
    /// What it says; as a text where it is not JSON.
    pub(crate) value: Value,
    /// What it is, in a few words.
    pub(crate) label: String,
}

impl ClientLine {
    pub(crate) fn new(bytes: Vec<u8>, labels: &mut Labels) -> Self {
        let text = || Value::from(String::from_utf8_lossy(&bytes).into_owned());
        let value = parse_line(&bytes).unwrap_or_else(text);
        let label = match &value {
            Value::Object(_) => labels.label(Channel::In, &value),
            _ => "a line that is no frame".to_owned(),
        };
        Self { bytes, value, label }
    }

    fn kind(&self) -> Option<&str> {
        self.value.get("type")?.as_str()
    }

    /// The id of the request that the line makes.
    pub(crate) fn asks(&self) -> Option<&str> {
        (self.kind() == Some("control_request")).then(|| self.value.get("request_id")?.as_str())?
    }

    /// The id of the request that the line answers.
    pub(crate) fn answers(&self) -> Option<&str> {
        let answer = self.kind() == Some("control_response");
        answer.then(|| self.value.pointer("/response/request_id")?.as_str())?
    }

    /// What the line is about: lines about the same thing stand for each other, and whether they
    /// say the same is another question.
    pub(crate) fn subject(&self) -> String {
        match self.answers() {
            // There is one answer to a request.
            Some(id) => format!("answer {id}"),
            None => self.label.clone(),
        }
    }

    /// The line for people.
    pub(crate) fn shown(&self) -> String {
        format!("{} {}", self.label, excerpt(&String::from_utf8_lossy(&self.bytes)))
    }
}
