//! What the model is told by the server.

use std::collections::{HashMap, HashSet};

use countersign::park::canonical_input;
use countersign_protocol::content::{Content, ContentBlock, ToolUseBlock};
use countersign_protocol::ids::ToolUseId;
use countersign_protocol::{Decoded, FromCli, Line, RawJson};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::hub::Hub;
use crate::id::SessionId;
use crate::session::{Allow, Answer, Approval, Event, Happening, Head, Parent};
use crate::store::{Store, StoreError};

/// How long the story of a session may be, in bytes: the end of it counts.
const STORY: usize = 40_000;

/// How much of the input of a call is told, in bytes: enough to see what it was.
const INPUT: usize = 500;

/// How many events are looked at, at most, to tell the story, and how many at a time.
const EVENTS: usize = 20_000;
const PAGE: usize = 500;

/// How many sessions are looked at that a session is a copy of, one of the other.
const ANCESTORS: usize = 16;

/// Why something ended, without what the CLI wrote: that may be anything, and is for those who may see
/// the session.
pub(crate) fn without_stderr(why: &str) -> &str {
    why.split("; it said: ").next().unwrap_or(why)
}

/// What was decided about a call, for a model that is not asked for it again.
pub(super) fn decision(approval: &Approval, answer: &Answer) -> String {
    let tool = &approval.tool;
    let input = match approval.permission() {
        Ok(request) => request.input.as_str().to_owned(),
        Err(_) => approval.request.as_str().to_owned(),
    };
    let call = format!("your pending call of {tool} with the input {input}");
    let said = serde_json::to_string(answer).unwrap_or_default();
    match answer {
        Answer::Allow(Allow { input: None, .. }) => format!(
            "The user approved {call}. It has not run. Make the call again now with exactly this \
             input."
        ),
        Answer::Allow(Allow { input: Some(input), .. }) => format!(
            "The user approved {call}, but with this input instead: {input}. It has not run. Make \
             the call again now with exactly the new input."
        ),
        Answer::Plan(_) => format!(
            "The user approved the plan of {call}: {said}. It has not been acted on. Leave plan mode \
             again with exactly this input."
        ),
        Answer::Deny(deny) => format!("The user refused {call}. The reason: {}", deny.message),
        Answer::KeepPlanning(more) => {
            format!("The user wants the plan of {call} to change: {}", more.feedback)
        }
        _ => format!("The user answered {call} with: {said}"),
    }
}

/// The digest of an input: equal for inputs that mean the same.
pub(super) fn digest(input: &RawJson) -> String {
    let canonical = canonical_input(input);
    Sha256::digest(canonical).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What was said in a session until now, for a conversation that knows nothing of it: the end of it,
/// where all would be too long. Of a copy, what was said before it was made belongs to it. None when
/// there is nothing to tell.
pub(super) async fn story(hub: &Hub, head: &Head) -> Result<Option<String>, StoreError> {
    let mut telling = Telling::default();
    telling.look_back(hub, head.id, &Until::Now).await?;
    let (mut parent, mut made) = (head.parent.clone(), head.created_at);
    for _ in 0..ANCESTORS {
        let Some(Parent::Fork { session, at, .. }) = parent else { break };
        let Some(of) = hub.read(session, |store| store.head(session)).await? else { break };
        let until = at.map_or(Until::Time(made), Until::Message);
        telling.look_back(hub, session, &until).await?;
        (parent, made) = (of.parent.clone(), of.created_at);
    }
    Ok(telling.told())
}

/// Up to where a story is told.
enum Until {
    Now,
    /// Up to this message, by the name that the CLI gave it.
    Message(String),
    Time(Timestamp),
}

/// A story that is put together from its end.
#[derive(Default)]
struct Telling {
    /// What was said, the last of it first.
    lines: Vec<String>,
    length: usize,
    events: usize,
    /// Calls that have a result, and whether that is an error.
    results: HashMap<ToolUseId, bool>,
}

impl Telling {
    fn is_enough(&self) -> bool {
        self.length > STORY || self.events >= EVENTS
    }

    fn push(&mut self, line: String) {
        self.length += line.len();
        self.lines.push(line);
    }

    /// Adds what was said in a session before everything that there is.
    async fn look_back(
        &mut self,
        hub: &Hub,
        session: SessionId,
        until: &Until,
    ) -> Result<(), StoreError> {
        let mut before = i64::MAX.unsigned_abs();
        let mut has_begun = matches!(until, Until::Now);
        // Messages that the CLI did not take note of, and that were given to it again.
        let mut returned = HashSet::new();
        while !self.is_enough() {
            let page =
                hub.read(session, |store| store.events_before(session, before, PAGE)).await?;
            let Some(first) = page.first() else { break };
            before = first.seq;
            self.events += page.len();
            for event in page.iter().rev() {
                has_begun = has_begun || until.is_reached_by(event);
                match &event.happening {
                    Happening::MessageReturned(back) => {
                        returned.insert(back.message);
                    }
                    Happening::MessageSent(sent) if returned.remove(&sent.message) => {}
                    Happening::MessageSent(sent) if has_begun => {
                        let said = |store| Store::message(store, sent.message);
                        if let Some(said) = hub.read(session, said).await? {
                            self.push(format!("The user said: {}", said.content.text));
                        }
                    }
                    Happening::Frame(frame) if has_begun => {
                        self.look_at(frame.line.as_str());
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Adds what the model said or did in a frame.
    fn look_at(&mut self, line: &str) {
        let Ok(line) = Line::parse(line.as_bytes()) else { return };
        let (Decoded::Known(frame) | Decoded::Unknown(frame)) = line.decode::<FromCli>() else {
            return;
        };
        match frame {
            FromCli::Assistant(said) if said.parent_tool_use_id.is_none() => {
                let content = &said.message.content;
                for call in blocks(content).iter().rev() {
                    if let ContentBlock::ToolUse(call) = call {
                        self.push(self.called(call));
                    }
                }
                let texts: Vec<_> = content.texts().collect();
                if !texts.is_empty() {
                    self.push(format!("You said: {}", texts.join("\n")));
                }
            }
            FromCli::User(user) => {
                for block in blocks(&user.message.content) {
                    if let ContentBlock::ToolResult(result) = block {
                        let is_error = result.is_error == Some(true);
                        self.results.insert(result.tool_use_id.clone(), is_error);
                    }
                }
            }
            _ => {}
        }
    }

    /// What the model called, so that it does not do twice what it has done.
    fn called(&self, call: &ToolUseBlock) -> String {
        let outcome = match self.results.get(&call.id) {
            Some(false) => "It ran.",
            Some(true) => "It failed or was refused.",
            None => "No result of it was seen.",
        };
        let input = call.input.as_str();
        let (shown, rest) = input.split_at(input.floor_char_boundary(INPUT));
        let more = if rest.is_empty() { "" } else { "[…]" };
        format!("You called {} with the input {shown}{more}. {outcome}", call.name)
    }

    fn told(mut self) -> Option<String> {
        if self.lines.is_empty() {
            return None;
        }
        self.lines.reverse();
        let mut story = self.lines.join("\n\n");
        if story.len() > STORY {
            let mut from = story.len() - STORY;
            while !story.is_char_boundary(from) {
                from += 1;
            }
            story = format!("[…]{}", story.split_at(from).1);
        }
        Some(format!(
            "The transcript of our conversation was lost. This is what was said until now; files are \
             as you left them.\n\n<conversation>\n{story}\n</conversation>"
        ))
    }
}

impl Until {
    /// Whether this event is the last that belongs to it, when they are looked at from the end.
    fn is_reached_by(&self, event: &Event) -> bool {
        match (self, &event.happening) {
            (Self::Now, _) => true,
            (Self::Time(time), _) => event.at <= *time,
            (Self::Message(name), Happening::MessageSent(sent)) => {
                sent.message.to_string() == *name
            }
            (Self::Message(name), Happening::Frame(frame)) => {
                #[derive(serde::Deserialize)]
                struct Named {
                    uuid: Option<String>,
                }
                // Most have other names, and are long.
                frame.line.as_str().contains(name)
                    && frame
                        .line
                        .decode()
                        .is_ok_and(|named: Named| named.uuid.as_ref() == Some(name))
            }
            (Self::Message(_), _) => false,
        }
    }
}

fn blocks(content: &Content) -> &[ContentBlock] {
    match content {
        Content::Blocks(blocks) => blocks,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use countersign_protocol::permission::PermissionMode;
    use serde_json::{Value, json};

    use super::*;
    use crate::bus::Bus;
    use crate::hub::Settings;
    use crate::id::{ConversationId, MessageId, TurnId};
    use crate::session::{
        By, Created, Frame, MessageContent, MessageQueued, MessageReturned, MessageSent, Noted,
        ProcessStarting, TurnBegan, TurnCause,
    };
    use crate::store::{SqliteStore, Write};

    fn queued(text: &str) -> (MessageId, Happening) {
        let (message, content) = (MessageId::new(), MessageContent::text(text));
        let queued = MessageQueued { message, content, now: false, first: false, by: By::Server };
        (message, queued.into())
    }

    fn says(text: &str) -> Happening {
        assistant(&json!({"type": "text", "text": text}))
    }

    fn calls(id: &str, input: &Value) -> Happening {
        assistant(&json!({"type": "tool_use", "id": id, "name": "Bash", "input": input}))
    }

    fn assistant(block: &Value) -> Happening {
        let line = json!({
            "type": "assistant", "uuid": "00000000-0000-4000-8000-000000000000", "session_id": "s",
            "parent_tool_use_id": null, "message": {
                "id": "m", "type": "message", "role": "assistant", "model": "m",
                "content": [block], "stop_reason": null,
                "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        });
        Frame { generation: 1, line: line.into() }.into()
    }

    fn result(id: &str, is_error: bool) -> Happening {
        let line = json!({
            "type": "user", "uuid": "00000000-0000-4000-8000-000000000001", "session_id": "s",
            "parent_tool_use_id": null, "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": "?", "is_error": is_error},
            ]},
        });
        Frame { generation: 1, line: line.into() }.into()
    }

    /// It is the end that counts, and a message that was returned is the one that was not said.
    #[tokio::test]
    async fn the_end_of_a_long_session_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let bus = Arc::new(Bus::new());
        let store = SqliteStore::open(folder.path().join("store"), Arc::clone(&bus)).await.unwrap();
        let hub = Hub::new(Arc::new(store), bus, Settings::default());
        let session = SessionId::new();
        let created = Created {
            folder: "/work".into(),
            title: String::new(),
            labels: Default::default(),
            mode: PermissionMode::Default,
            model: None,
            options: Default::default(),
            conversation: ConversationId::new(),
            parent: None,
            by: By::Server,
        };
        let turn = TurnId::new();
        let begin = vec![
            created.into(),
            ProcessStarting { generation: 1 }.into(),
            TurnBegan { turn, cause: TurnCause::Message }.into(),
            says("It begins."),
        ];
        hub.store().write(Write::to(session, begin)).await.unwrap();
        let much = vec![Happening::from(Noted { text: "?".to_owned() }); EVENTS + 1];
        hub.store().write(Write::to(session, much)).await.unwrap();
        let [(one, first), (two, second)] = [queued("One."), queued("Two.")];
        let end = vec![
            first,
            second,
            MessageSent { message: one, turn }.into(),
            MessageSent { message: two, turn }.into(),
            says("I read one."),
            calls("c1", &json!({"command": "one"})),
            calls("c2", &json!({"command": "é".repeat(INPUT)})),
            result("c2", true),
            result("c1", false),
            calls("c3", &json!({"command": "three"})),
            MessageReturned { message: two }.into(),
        ];
        hub.store().write(Write::to(session, end)).await.unwrap();
        let head = hub.store().head(session).await.unwrap().unwrap();
        let story_of = async |head: &Head| story(&hub, head).await.unwrap().unwrap();
        let told = story_of(&head).await;
        let end = [
            "The user said: One.",
            "You said: I read one.",
            r#"You called Bash with the input {"command":"one"}. It ran."#,
            &format!(
                r#"You called Bash with the input {{"command":"{}[…]. It failed or was refused."#,
                "é".repeat(INPUT / 2 - 6)
            ),
            r#"You called Bash with the input {"command":"three"}. No result of it was seen."#,
        ];
        assert!(told.contains(&format!("{}\n</conversation>", end.join("\n\n"))), "{told}");
        assert!(!told.contains("Two."), "{told}");

        // It was said after all, and then more than there is room for.
        let long = "So much is said. ".repeat(STORY / 100);
        let mut more = vec![MessageSent { message: two, turn }.into()];
        more.extend((0..8).map(|number| says(&format!("{long}{number}"))));
        more.push(says("That is the end."));
        hub.store().write(Write::to(session, more)).await.unwrap();
        let told = story_of(&head).await;
        assert!(told.contains("[…]") && told.contains("That is the end."), "{}", told.len());
        assert!(told.len() < STORY + 1000 && !told.contains("One."), "{}", told.len());
    }
}
