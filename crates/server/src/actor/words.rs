//! What the model is told by the server.

use countersign_protocol::{Decoded, FromCli, Line};
use sha2::{Digest as _, Sha256};

use crate::hub::Hub;
use crate::id::SessionId;
use crate::session::{Allow, Answer, Approval, Happening};
use crate::store::StoreError;

/// How long the story of a session may be, in bytes: the end of it counts.
const STORY: usize = 40_000;

/// How many events are looked at, at most, to tell the story.
const EVENTS: usize = 20_000;

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
pub(super) fn digest(input: &str) -> String {
    // Keys are sorted in a value.
    let canonical = match serde_json::from_str::<serde_json::Value>(input) {
        Ok(value) => value.to_string(),
        Err(_) => input.to_owned(),
    };
    Sha256::digest(canonical).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What was said in a session until now, for a conversation that knows nothing of it. None when
/// there is nothing to tell.
pub(super) async fn story(hub: &Hub, session: SessionId) -> Result<Option<String>, StoreError> {
    let mut lines = Vec::new();
    let mut after = 0;
    loop {
        let events = hub.store().events(session, after, 1000).await?;
        let Some(last) = events.last() else { break };
        after = last.seq;
        for event in &events {
            match &event.happening {
                Happening::MessageSent(sent) => {
                    if let Some(said) = hub.store().message(sent.message).await? {
                        lines.push(format!("The user said: {}", said.content.text));
                    }
                }
                Happening::MessageReturned(_) => drop(lines.pop()),
                Happening::Frame(frame) => lines.extend(said(frame.line.as_str())),
                _ => {}
            }
        }
        if after as usize >= EVENTS {
            break;
        }
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let mut story = lines.join("\n\n");
    if story.len() > STORY {
        let mut from = story.len() - STORY;
        while !story.is_char_boundary(from) {
            from += 1;
        }
        story = format!("[…]{}", story.split_at(from).1);
    }
    Ok(Some(format!(
        "The transcript of our conversation was lost. This is what was said until now; files are as \
         you left them.\n\n<conversation>\n{story}\n</conversation>"
    )))
}

/// What the model said or did in a frame.
fn said(line: &str) -> Option<String> {
    let line = Line::parse(line.as_bytes()).ok()?;
    let (Decoded::Known(frame) | Decoded::Unknown(frame)) = line.decode::<FromCli>() else {
        return None;
    };
    let FromCli::Assistant(said) = frame else { return None };
    if said.parent_tool_use_id.is_some() {
        return None;
    }
    let texts: Vec<_> = said.message.content.texts().collect();
    (!texts.is_empty()).then(|| format!("You said: {}", texts.join("\n")))
}
