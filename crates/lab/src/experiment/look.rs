//! Looking through a conversation for what it shows.

use std::time::Duration;

use serde_json::{Value, json};

use crate::driver::{Said, Speaker};
use crate::fidelity::kind;
use crate::lab::Lab;
use crate::script::RequestKind;

/// What the CLI said.
pub(super) fn from_cli(log: &[Said]) -> impl Iterator<Item = &Value> {
    log.iter().filter(|said| said.by == Speaker::Cli).map(|said| &said.frame)
}

/// The permission modes that the CLI reports, one for each turn.
pub(super) fn modes(log: &[Said]) -> Vec<Value> {
    from_cli(log)
        .filter(|frame| is_init(frame))
        .map(|frame| frame["permissionMode"].clone())
        .collect()
}

pub(super) fn is_init(frame: &Value) -> bool {
    frame["type"] == "system" && frame["subtype"] == "init"
}

/// What was said from a control request of the client on: the request itself, then the rest.
pub(super) fn since_request<'log>(log: &'log [Said], id: &str) -> &'log [Said] {
    let asks = |said: &Said| said.by == Speaker::Client && said.frame["request_id"] == id;
    let place = log.iter().position(asks).unwrap_or(log.len());
    log.get(place..).unwrap_or_default()
}

/// The answers to a control request, each with the time that it took.
pub(super) fn answers(log: &[Said], id: &str) -> Vec<(Duration, Value)> {
    let log = since_request(log, id);
    let Some(asked) = log.first() else { return Vec::new() };
    let answers =
        |said: &&Said| said.by == Speaker::Cli && said.frame["response"]["request_id"] == id;
    let each = log.iter().filter(answers);
    each.map(|said| (said.after.saturating_sub(asked.after), said.frame["response"].clone()))
        .collect()
}

/// An answer in short: what it says, or the error.
pub(super) fn in_short(answer: &Value) -> Value {
    match answer["subtype"].as_str() {
        Some("success") => answer["response"].clone(),
        _ => json!(format!("error: {}", answer["error"].as_str().unwrap_or_default())),
    }
}

/// The kinds of frames that the CLI sent up to the first that fits, in their order.
pub(super) fn kinds_until(log: &[Said], stop: impl Fn(&Said) -> bool) -> Value {
    let until = log.iter().take_while(|said| !stop(said));
    let kinds = until.filter(|said| said.by == Speaker::Cli).map(|said| kind(&said.frame));
    json!(kinds.collect::<Vec<_>>().join(", "))
}

/// Which requests of the main conversation told the model to plan, by their number.
pub(super) fn told_to_plan(lab: &Lab) -> Value {
    let requests = lab.model().model_requests();
    let main = requests.iter().filter(|request| request.kind == Some(RequestKind::Main));
    let told = main.zip(1..).filter(|(request, _)| request.request().plan_file().is_some());
    json!(told.map(|(_, number)| number).collect::<Vec<u32>>())
}
