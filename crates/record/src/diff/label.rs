//! What a frame is, in a few words: for people, and to tell which frames of two tapes belong
//! together.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use serde_json::Value;

use crate::format::Channel;

/// How many requests are remembered.
const REQUESTS: usize = 4096;

/// Names frames. It remembers requests, so that an answer can be named for what it answers.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    requests: HashMap<(Channel, String), String>,
    /// The requests in the order in which they came, to forget the oldest.
    order: VecDeque<(Channel, String)>,
}

impl Labels {
    /// A few words for a frame: `assistant tool_use Bash`, `answer to can_use_tool Write`.
    pub(crate) fn label(&mut self, channel: Channel, frame: &Value) -> String {
        let kind = text(frame, "/type").unwrap_or("no type");
        match kind {
            "control_request" => {
                let label = request_label(frame);
                if let Some(id) = text(frame, "/request_id") {
                    self.remember((channel, id.to_owned()), label.clone());
                }
                label
            }
            "control_response" => self.answer_label(channel, frame),
            "system" | "result" => with(kind, [text(frame, "/subtype")]),
            "assistant" | "user" => {
                let block = frame.pointer("/message/content/0").unwrap_or(&Value::Null);
                with(kind, [text(block, "/type"), text(block, "/name")])
            }
            "stream_event" => with(
                kind,
                [
                    text(frame, "/event/type"),
                    text(frame, "/event/delta/type"),
                    text(frame, "/event/content_block/type"),
                ],
            ),
            "command_lifecycle" => with(kind, [text(frame, "/state")]),
            kind => with(kind, []),
        }
    }

    fn answer_label(&self, channel: Channel, frame: &Value) -> String {
        let what = match text(frame, "/response/subtype") {
            Some("error") => "error",
            _ => "answer",
        };
        let asker = if channel == Channel::In { Channel::Out } else { Channel::In };
        let request = |asker: Channel| {
            let id = text(frame, "/response/request_id")?;
            self.requests.get(&(asker, id.to_owned()))
        };
        match (request(asker), request(channel)) {
            (Some(request), _) => format!("{what} to {request}"),
            // A CLI that is told to repeat what the user says repeats what the client answers, too.
            (None, Some(request)) => format!("echo of the {what} to {request}"),
            (None, None) => format!("{what} to an unknown request"),
        }
    }

    fn remember(&mut self, key: (Channel, String), label: String) {
        if self.order.len() >= REQUESTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.requests.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.requests.insert(key, label);
    }
}

fn request_label(frame: &Value) -> String {
    let request = frame.get("request").unwrap_or(&Value::Null);
    with(
        text(request, "/subtype").unwrap_or("request without subtype"),
        [
            text(request, "/tool_name"),
            text(request, "/input/hook_event_name"),
            text(request, "/input/tool_name"),
            text(request, "/server_name"),
            text(request, "/message/method"),
        ],
    )
}

fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

fn with<const N: usize>(first: &str, more: [Option<&str>; N]) -> String {
    let mut label = first.to_owned();
    for word in more.into_iter().flatten() {
        // What stands here comes from the wire; a name is short, anything else is no name. Writing
        // to a string cannot fail.
        let written = write!(label, " {word:.40}");
        debug_assert!(written.is_ok());
    }
    label
}

/// Whether a frame is sent because time has passed, and so often as that took.
pub(crate) fn is_beat(frame: &Value) -> bool {
    match text(frame, "/type") {
        Some("keep_alive") => frame.get("startup_mark").is_none(),
        Some("tool_progress") => true,
        Some("stream_event") => text(frame, "/event/type") == Some("ping"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_named_for_what_it_answers() {
        let mut labels = Labels::default();
        let ask = json!({"type": "control_request", "request_id": "1",
            "request": {"subtype": "can_use_tool", "tool_name": "Write"}});
        let answer = json!({"type": "control_response", "response": {"subtype": "success", "request_id": "1"}});
        assert_eq!(labels.label(Channel::Out, &ask), "can_use_tool Write");
        assert_eq!(labels.label(Channel::In, &answer), "answer to can_use_tool Write");
        let echo = "echo of the answer to can_use_tool Write";
        assert_eq!(labels.label(Channel::Out, &answer), echo);
        let other = json!({"type": "control_response", "response": {"subtype": "error", "request_id": "2"}});
        assert_eq!(labels.label(Channel::Out, &other), "error to an unknown request");
        let call = json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}});
        assert_eq!(labels.label(Channel::Out, &call), "assistant tool_use Bash");
        assert_eq!(labels.label(Channel::Out, &json!(7)), "no type");
    }
}
