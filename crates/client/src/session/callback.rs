//! The call of a hook that cannot be read.

use countersign_protocol::hook::HookEvent;
use countersign_protocol::ids::HookCallbackId;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::link::abridged;

/// What can be told of the call of a hook.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Callback {
    /// The hook.
    pub(super) id: Option<HookCallbackId>,
    /// What it is called for.
    pub(super) event: Option<HookEvent>,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
}

/// The fields that count, each by itself: another that is wrong does not matter.
#[derive(Deserialize)]
struct Fields<'a> {
    subtype: String,
    #[serde(borrow, default)]
    callback_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Input {
    hook_event_name: String,
}

impl Callback {
    /// The call that this request is; none if it is something else.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let line = abridged(line);
        let frame = serde_json::from_slice::<Frame<'_>>(&line);
        let fields =
            frame.and_then(|frame| serde_json::from_str::<Fields<'_>>(frame.request.get()));
        let Ok(fields) = fields else {
            // Something stands there twice, or what is there breaks off. Where it says that it is
            // a call, it is taken for one: passing over a hook is what must not happen.
            let is_call = memchr::memmem::find(&line, br#""hook_callback""#).is_some();
            return is_call.then(Self::default);
        };
        (fields.subtype == "hook_callback").then(|| Self {
            id: read::<String>(fields.callback_id).map(HookCallbackId::from),
            event: read::<Input>(fields.input)
                .map(|input| HookEvent::from(&*input.hook_event_name))
                .filter(HookEvent::is_known),
        })
    }
}

fn read<T: DeserializeOwned>(value: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn told(request: &str) -> Option<(Option<String>, Option<HookEvent>)> {
        let line = format!(r#"{{"type":"control_request","request_id":"r","request":{request}}}"#);
        let callback = Callback::read(line.as_bytes())?;
        Some((callback.id.map(|id| id.as_str().to_owned()), callback.event))
    }

    #[test]
    fn what_there_is_tells_the_hook() {
        let id = || Some("hook_1".to_owned());
        let input = r#"{"hook_event_name":"PreToolUse","tool_name":5}"#;
        assert_eq!(
            told(&format!(
                r#"{{"subtype":"hook_callback","callback_id":"hook_1","input":{input}}}"#
            )),
            Some((id(), Some(HookEvent::PreToolUse)))
        );
        assert_eq!(
            told(&format!(r#"{{"input":{input},"subtype":"hook_callback","callback_id":7}}"#)),
            Some((None, Some(HookEvent::PreToolUse)))
        );
        assert_eq!(
            told(r#"{"subtype":"hook_callback","callback_id":"hook_1","input":5}"#),
            Some((id(), None))
        );
        assert_eq!(told(r#"{"subtype":"can_use_tool","input":"hook_callback"}"#), None);
    }

    /// What a model may write.
    #[test]
    fn the_input_of_a_tool_does_not_name_the_hook() {
        let input = r#"{"hook_event_name":"PreToolUse","tool_input":{"callback_id":"hook_1","hook_event_name":"Stop"}}"#;
        let request = format!(r#"{{"input":{input},"subtype":"hook_callback"}}"#);
        assert_eq!(told(&request), Some((None, Some(HookEvent::PreToolUse))));
        let request = format!(
            r#"{{"subtype":"hook_callback","callback_id":"hook_0","callback_id":"hook_1","input":{input}}}"#
        );
        assert_eq!(told(&request), Some((None, None)));
    }
}
