//! What is looked up in the log for a page.

use std::collections::BTreeMap;

use countersign_protocol::RawJson;
use countersign_server::api::Api;
use countersign_server::id::{MessageId, SessionId};
use countersign_server::session::{
    Approval, ApprovalKind, Event, FileChanged, Happening, MessageContent, Used,
};
use countersign_server::store::{ApprovalFilter, Store};
use countersign_server::web::Problem;
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

use crate::card::Matched;

/// How many calls are looked at to say what a rule would have matched.
const CALLS: usize = 300;

/// How many events of one kind are read for a tab.
const EVENTS: usize = 5_000;

/// No event is after this number.
const NOW: u64 = i64::MAX as u64;

/// What else was called in the session of an approval, newest first.
pub(crate) async fn calls(api: &Api, approval: &Approval) -> Result<Vec<Matched>, Problem> {
    let store = api.service.hub().store();
    let events = store.events_of(approval.session, &["tool.called"], NOW, CALLS).await?;
    let is_it = |call: &str| approval.tool_use_id.as_deref() == Some(call);
    let call = |event: &Arc<Event>| match &event.happening {
        Happening::ToolCalled(called) if !is_it(&called.tool_use_id) => {
            let input = called.input.as_ref().and_then(|input| input.decode::<Value>().ok());
            Some(Matched { tool: called.tool.clone(), input: input.unwrap_or(Value::Null) })
        }
        _ => None,
    };
    Ok(events.iter().filter_map(call).collect())
}

/// The plans of the rounds before this one, oldest first, with their numbers.
pub(crate) async fn earlier_plans(
    api: &Api,
    approval: &Approval,
) -> Result<Vec<(u32, String)>, Problem> {
    let Some(round) = approval.round.filter(|round| *round > 1) else { return Ok(Vec::new()) };
    let plans = plans(api, approval.session).await?;
    let earlier = plans.iter().filter_map(|plan| Some((plan.round?, plan_of(plan)?)));
    Ok(earlier.filter(|(number, _)| *number < round).collect())
}

/// The rounds of planning of a session, oldest first.
pub(crate) async fn plans(api: &Api, session: SessionId) -> Result<Vec<Approval>, Problem> {
    let filter = ApprovalFilter {
        session: Some(session),
        kinds: vec![ApprovalKind::Plan],
        limit: 100,
        ..ApprovalFilter::default()
    };
    Ok(api.service.hub().store().approvals(filter).await?.items)
}

/// The plan that is asked about.
pub(crate) fn plan_of(approval: &Approval) -> Option<String> {
    let (_, input) = approval.call()?;
    let input: Value = input.decode().ok()?;
    Some(input.get("plan")?.as_str()?.to_owned())
}

/// A file that a session has changed, all together.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) is_new: bool,
    pub(crate) added: u64,
    pub(crate) removed: u64,
    /// The calls that changed it, and where each result is.
    pub(crate) calls: Vec<(String, u64)>,
}

/// The files that a session has changed, by path.
pub(crate) async fn files(
    api: &Api,
    session: SessionId,
) -> Result<BTreeMap<String, File>, Problem> {
    let store = api.service.hub().store();
    let events = store.events_of(session, &["file.changed"], NOW, EVENTS).await?;
    let mut files: BTreeMap<String, File> = BTreeMap::new();
    for event in events.iter().rev() {
        let Happening::FileChanged(FileChanged { path, is_new, added, removed, tool_use_id }) =
            &event.happening
        else {
            continue;
        };
        let file = files.entry(path.clone()).or_default();
        file.is_new |= is_new;
        file.added += added;
        file.removed += removed;
        file.calls.push((tool_use_id.clone(), event.seq));
    }
    Ok(files)
}

/// What each turn of a session has used, oldest first.
pub(crate) async fn turns(
    api: &Api,
    session: SessionId,
) -> Result<Vec<(Timestamp, Used)>, Problem> {
    let store = api.service.hub().store();
    let events = store.events_of(session, &["turn.ended"], NOW, EVENTS).await?;
    let used = |event: &Arc<Event>| match &event.happening {
        Happening::TurnEnded(ended) => ended.used.map(|used| (event.at, used)),
        _ => None,
    };
    Ok(events.iter().rev().filter_map(used).collect())
}

/// A todo of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Todo {
    pub(crate) text: String,
    pub(crate) status: String,
}

/// The todos of a session as they are now: the last list of `TodoWrite`, or what was made of
/// `TaskCreate` and `TaskUpdate`.
pub(crate) async fn todos(api: &Api, session: SessionId) -> Result<Vec<Todo>, Problem> {
    let store = api.service.hub().store();
    let events = store.events_of(session, &["tool.called"], NOW, EVENTS).await?;
    let input = |input: &Option<RawJson>| -> Option<Value> { input.as_ref()?.decode().ok() };
    let mut tasks: Vec<Todo> = Vec::new();
    for event in events.iter().rev() {
        let Happening::ToolCalled(called) = &event.happening else { continue };
        match (&*called.tool, input(&called.input)) {
            ("TodoWrite", Some(given)) => {
                let text = |todo: &Value, name: &str| {
                    todo.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
                };
                let all = given.get("todos").and_then(Value::as_array);
                let todo = |todo: &Value| Todo {
                    text: text(todo, "content"),
                    status: text(todo, "status"),
                };
                tasks = all.into_iter().flatten().map(todo).collect();
            }
            ("TaskCreate", Some(given)) => {
                let subject = given.get("subject").and_then(Value::as_str).unwrap_or_default();
                tasks.push(Todo { text: subject.to_owned(), status: "pending".to_owned() });
            }
            ("TaskUpdate", Some(given)) => {
                // Tasks are numbered in the order in which they were made.
                let number = given.get("taskId").and_then(Value::as_str);
                let number = number.and_then(|text| text.parse::<usize>().ok());
                let status = given.get("status").and_then(Value::as_str);
                let task = number.and_then(|number| tasks.get_mut(number.checked_sub(1)?));
                if let (Some(task), Some(status)) = (task, status) {
                    status.clone_into(&mut task.status);
                }
            }
            _ => {}
        }
    }
    tasks.retain(|task| task.status != "deleted");
    Ok(tasks)
}

/// What messages say that are named in events and not said in them.
pub(crate) async fn messages(
    store: &Arc<dyn Store>,
    events: &[Arc<Event>],
) -> Result<Vec<(MessageId, MessageContent)>, Problem> {
    let mut found = Vec::new();
    for event in events {
        let Happening::MessageSent(sent) = &event.happening else { continue };
        if let Some(message) = store.message(sent.message).await? {
            found.push((sent.message, message.content));
        }
    }
    Ok(found)
}
