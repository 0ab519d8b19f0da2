//! One turn of a conversation, and what can be told of it.

use serde_json::{Value, json};

use super::TrialError;
use crate::driver::{Cli, Speaker};
use crate::talk::{Reply, is_result, serve};

/// A turn that has ended.
pub(super) struct Turn {
    /// What the CLI asked the client, in its order.
    pub(super) asked: Vec<Value>,
    /// Everything that the CLI said.
    pub(super) frames: Vec<Value>,
    /// The last frame.
    pub(super) result: Value,
}

/// Says something, and answers what the CLI asks until the turn is over.
pub(super) async fn turn(
    cli: &mut Cli,
    text: &str,
    reply: impl FnMut(&Value) -> Reply + Send,
) -> Result<Turn, TrialError> {
    let begin = cli.log().len();
    cli.say(text).await?;
    rest(cli, begin, is_result, reply).await
}

/// Answers what the CLI asks until a frame fits. What was said before the log had so many lines is
/// not of the turn.
pub(super) async fn rest(
    cli: &mut Cli,
    begin: usize,
    until: impl Fn(&Value) -> bool + Sync,
    mut reply: impl FnMut(&Value) -> Reply + Send,
) -> Result<Turn, TrialError> {
    let mut asked = Vec::new();
    let reply = |ask: &Value| {
        asked.push(ask.clone());
        reply(ask)
    };
    let result = serve(cli, "the end of the turn", until, reply).await?;
    let said = cli.log().into_iter().skip(begin).filter(|said| said.by == Speaker::Cli);
    let frames = said.map(|said| said.frame).collect();
    Ok(Turn { asked, frames, result })
}

impl Turn {
    /// What became of its one tool: whether the person was asked, and whether it ran.
    pub(super) fn tool(&self) -> String {
        let asked = if self.asks().is_empty() { "not asked" } else { "asked" };
        format!("{asked}, {}", self.ran())
    }

    /// Whether the tool ran: `ran`, `refused`, or `no result` where there is none.
    pub(super) fn ran(&self) -> &'static str {
        let blocks = results(&self.frames);
        match blocks.last() {
            None => "no result",
            Some(block) if block["is_error"] == true => "refused",
            Some(_) => "ran",
        }
    }

    /// The permission requests.
    pub(super) fn asks(&self) -> Vec<&Value> {
        let is = |ask: &&Value| ask["request"]["subtype"] == "can_use_tool";
        self.asked.iter().filter(is).collect()
    }

    /// The names of what was asked: that of the callback, of the method, or the kind of request.
    pub(super) fn names(&self) -> Vec<String> {
        self.asked.iter().map(name).collect()
    }

    /// Whether the CLI sent a frame of this subtype.
    pub(super) fn has(&self, subtype: &str) -> bool {
        self.frames.iter().any(|frame| frame["subtype"] == subtype)
    }
}

/// What a request is called for people.
pub(super) fn name(ask: &Value) -> String {
    let request = &ask["request"];
    let name = request["callback_id"].as_str().or_else(|| request["message"]["method"].as_str());
    name.or_else(|| request["subtype"].as_str()).unwrap_or_default().to_owned()
}

/// The results of tools in these frames.
pub(super) fn results(frames: &[Value]) -> Vec<&Value> {
    let blocks = frames.iter().filter_map(|frame| frame["message"]["content"].as_array());
    blocks.flatten().filter(|block| block["type"] == "tool_result").collect()
}

/// Registers a callback for each of these events, with the event's name as its id.
pub(super) fn callbacks(events: &[&str]) -> Value {
    let each =
        events.iter().map(|&event| (event.to_owned(), json!([{"hookCallbackIds": [event]}])));
    json!({"hooks": each.collect::<serde_json::Map<_, _>>()})
}

/// What a hook decides about a tool.
pub(super) fn decides(decision: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": "The hook says so.",
    }})
}

pub(super) const fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}
