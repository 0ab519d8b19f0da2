//! What is looked up in the log for a page.

use std::collections::BTreeMap;

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
use crate::render::json;

/// How many calls are looked at to say what a rule would have matched.
const CALLS: usize = 300;

/// Among how many of the last frames the call of an agent is looked for.
const FRAMES: usize = 300;

/// How many events of one kind are read for a tab.
const EVENTS: usize = 5_000;

/// No event is after this number.
const NOW: u64 = i64::MAX as u64;

/// What is known of the call that a person is asked about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    /// What else was called in the session, newest first.
    pub(crate) before: Vec<Matched>,
    /// The folder that it is called in.
    pub(crate) folder: Option<String>,
    /// The agent that calls it, in words.
    pub(crate) agent: Option<String>,
}

/// What is known of the call of an approval.
pub(crate) async fn around(api: &Api, approval: &Approval) -> Result<Around, Problem> {
    let store = api.service.hub().store();
    let events = store.events_of(approval.session, &["tool.called"], NOW, CALLS).await?;
    let calls = events.iter().filter_map(|event| match &event.happening {
        Happening::ToolCalled(called) => Some(called),
        _ => None,
    });
    let mut around = Around::default();
    for called in calls.clone() {
        if approval.tool_use_id.as_ref() == Some(&called.tool_use_id) {
            around.folder.clone_from(&called.folder);
            continue;
        }
        let input = called.input.as_ref().and_then(json::value).unwrap_or(Value::Null);
        around.before.push(Matched { tool: called.tool.clone(), input });
    }
    let Some(id) = &approval.agent else { return Ok(around) };
    let thread = thread(api, approval).await?;
    let started = calls.into_iter().find(|called| Some(&called.tool_use_id) == thread.as_ref());
    let task =
        started.and_then(|called| json::value(called.input.as_ref()?)).unwrap_or(Value::Null);
    let words = ["subagent_type", "description"].map(|name| task.get(name).and_then(Value::as_str));
    let words = words.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    around.agent = Some(if words.is_empty() { id.clone() } else { words.join(": ") });
    Ok(around)
}

/// The call in whose thread the call of an approval is made.
async fn thread(api: &Api, approval: &Approval) -> Result<Option<String>, Problem> {
    let Some(call) = approval.tool_use_id.as_deref() else { return Ok(None) };
    let store = api.service.hub().store();
    let frames = store.events_of(approval.session, &["cli.frame"], NOW, FRAMES).await?;
    let thread = |event: &Arc<Event>| match &event.happening {
        Happening::Frame(frame) if frame.line.as_str().contains(call) => {
            Some(json::value(&frame.line)?.get("parent_tool_use_id")?.as_str()?.to_owned())
        }
        _ => None,
    };
    Ok(frames.iter().find_map(thread))
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
    Some(json::value(&input)?.get("plan")?.as_str()?.to_owned())
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

impl Todo {
    /// How far it is, and what it is.
    pub(crate) fn parts(&self) -> (&str, &str) {
        (&self.status, &self.text)
    }
}

/// The todos of a session as they are now: the last list of `TodoWrite`, or what was made of
/// `TaskCreate` and `TaskUpdate`.
pub(crate) async fn todos(api: &Api, session: SessionId) -> Result<Vec<Todo>, Problem> {
    let store = api.service.hub().store();
    let events = store.events_of(session, &["tool.called"], NOW, EVENTS).await?;
    let mut tasks: Vec<Todo> = Vec::new();
    for event in events.iter().rev() {
        let Happening::ToolCalled(called) = &event.happening else { continue };
        match (&*called.tool, called.input.as_ref().and_then(json::value)) {
            // An agent has a list of its own.
            ("TodoWrite", Some(given)) if called.agent.is_none() => {
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
                let subject = given.get("subject").and_then(Value::as_str);
                if let Some(task) = task {
                    if let Some(status) = status {
                        status.clone_into(&mut task.status);
                    }
                    if let Some(subject) = subject {
                        subject.clone_into(&mut task.text);
                    }
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
