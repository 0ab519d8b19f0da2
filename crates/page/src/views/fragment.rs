//! Parts of pages that are asked for when somebody wants them.

use std::sync::Arc;

use askama::Template;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::response::{Html as Page, IntoResponse as _, Response};
use countersign_server::access::Read;
use countersign_server::api::Api;
use countersign_server::hub::WireLine;
use countersign_server::id::SessionId;
use countersign_server::service::{RuleInForce, RuleSource, RulesInForce};
use countersign_server::session::{Answer, Approval, Event, Happening, Head, Process};
use countersign_server::web::Problem;
use countersign_server::web::problem::NOT_FOUND;
use futures_util::stream;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chart::{self, Trend};
use crate::decision::decided;
use crate::past::{self, Todo};
use crate::render::code::Language;
use crate::render::diff::Diff;
use crate::render::words::{cost, count, tokens, within};
use crate::render::{Html, code, markdown};
use crate::window::Window;

/// How many events are read at once for an export.
const AT_ONCE: usize = 500;

/// How many lines of the wire are shown.
const LINES: usize = 200;

#[derive(Debug, Deserialize)]
pub(super) struct Before {
    before: u64,
}

/// An older part of a transcript.
pub(super) async fn transcript(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
    Query(wanted): Query<Before>,
) -> Result<Response, Problem> {
    let head = api.service.session(session).await?;
    let window = Window::before(&api, session, wanted.before).await?;
    let mut transcript = window.transcript(&api, &head.folder).await?;
    window.with_results(&api, session, &mut transcript).await?;
    let html = transcript.html();
    Ok(Json(json!({"html": html.as_str(), "before": window.before})).into_response())
}

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    /// The event with the result.
    seq: u64,
    /// The call.
    call: String,
    /// Whether it is the pictures that are wanted.
    #[serde(default)]
    pictures: bool,
}

/// What came of a call, all of it.
pub(super) async fn result(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let store = api.service.hub().store();
    let events = store.events(session, wanted.seq.saturating_sub(1), 1).await?;
    if wanted.pictures {
        let found =
            events.first().and_then(|event| crate::transcript::pictures(event, &wanted.call));
        let pictures = found.ok_or_else(|| Problem::new(NOT_FOUND))?;
        return Ok(Page(Html::of_template(&Pictures { pictures }).into_string()).into_response());
    }
    let found = events.first().and_then(|event| crate::transcript::outcome(event, &wanted.call));
    let outcome = found.ok_or_else(|| Problem::new(NOT_FOUND))?;
    if let Some(diff) = outcome.diff() {
        let language = outcome.detail("filePath").and_then(Language::of_file);
        return Ok(Page(diff.html(language).into_string()).into_response());
    }
    let mut html = Html::new();
    html.tag("<pre class=\"output\" tabindex=\"0\" aria-label=\"All of the output\"><code>");
    html.html(&code::html(&outcome.whole(), None)).tag("</code></pre>");
    Ok(Page(html.into_string()).into_response())
}

/// All events of a session, a line each.
pub(super) async fn export(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
) -> Result<Response, Problem> {
    api.service.session(session).await?;
    let store = Arc::clone(api.service.hub().store());
    let lines = stream::try_unfold((store, 0_u64), move |(store, after)| async move {
        let events = store.events(session, after, AT_ONCE).await?;
        let Some(last) = events.last().map(|event| event.seq) else { return Ok(None) };
        let mut text = String::new();
        for event in &events {
            text.push_str(&event.json());
            text.push('\n');
        }
        Ok::<_, countersign_server::store::StoreError>(Some((text, (store, last))))
    });
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"session-{session}.jsonl\"")),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}

/// A tab of the right side.
pub(super) async fn tab(
    State(api): State<Api>,
    _: Read,
    Path((session, tab)): Path<(SessionId, String)>,
) -> Result<Response, Problem> {
    let head = api.service.session(session).await?;
    let html = match &*tab {
        "plan" => plan(&api, session).await?,
        "changes" => changes(&api, &head).await?,
        "todos" => Html::of_template(&Todos { todos: past::todos(&api, session).await? }),
        "usage" => usage(&api, &head).await?,
        "details" => details(&api, &head).await?,
        "wire" => wire(&api, &head).await?,
        _ => return Err(Problem::new(NOT_FOUND)),
    };
    Ok(Page(html.into_string()).into_response())
}

async fn plan(api: &Api, session: SessionId) -> Result<Html, Problem> {
    let mut rounds = Vec::new();
    let mut last: Option<String> = None;
    for approval in past::plans(api, session).await? {
        let plan = past::plan_of(&approval).unwrap_or_default();
        let diff = last.as_ref().map(|last| Diff::between(last, &plan, false));
        rounds.push(Round {
            number: approval.round.unwrap_or_default(),
            at: approval.opened_at,
            plan: markdown::html(&plan),
            diff: diff.filter(|diff| !diff.is_empty()).map(|diff| diff.html(None)),
            given: approval.given.as_ref().map(|given| decided(&given.answer, &given.by)),
            edited: edited(&approval, &plan),
        });
        last = Some(plan);
    }
    rounds.reverse();
    Ok(Html::of_template(&Plan { rounds }))
}

/// What somebody changed in a plan before they approved it.
fn edited(approval: &Approval, plan: &str) -> Option<Html> {
    let Answer::Plan(approved) = &approval.given.as_ref()?.answer else { return None };
    let diff = Diff::between(plan, approved.plan.as_deref()?, false);
    (!diff.is_empty()).then(|| diff.html(None))
}

async fn changes(api: &Api, head: &Head) -> Result<Html, Problem> {
    let files = past::files(api, head.id).await?;
    let files = files.into_iter().map(|(path, file)| Changed {
        short: within(&path, &head.folder).to_owned(),
        is_outside: within(&path, &head.folder) == path,
        is_new: file.is_new,
        added: file.added,
        removed: file.removed,
        times: count(file.calls.len(), "time", "times"),
        calls: file.calls.iter().map(|(call, _)| crate::transcript::id("c", call)).collect(),
    });
    Ok(Html::of_template(&Changes {
        files: files.collect(),
        added: head.changes.added,
        removed: head.changes.removed,
    }))
}

async fn usage(api: &Api, head: &Head) -> Result<Html, Problem> {
    let turns = past::turns(api, head.id).await?;
    let context = turns.iter().map(|(at, used)| (*at, used.context_tokens as f64)).collect();
    let mut sum = 0.0;
    let costs = turns.iter().map(|(at, used)| {
        sum += used.cost_usd;
        (*at, sum)
    });
    let usage = &head.usage;
    let words = if usage.context_window > 0 {
        format!("{} of {} tokens", tokens(usage.context_tokens), tokens(usage.context_window))
    } else {
        format!("{} tokens", tokens(usage.context_tokens))
    };
    Ok(Html::of_template(&Usage {
        context: chart::trend(&Trend {
            title: "Context in use",
            now: words,
            values: context,
            words: |count| tokens(count as u64),
        }),
        cost: chart::trend(&Trend {
            title: "Cost",
            now: cost(usage.cost_usd),
            values: costs.collect(),
            words: cost,
        }),
        turns: usage.turns,
        calls: usage.model_calls,
        read: tokens(usage.input_tokens),
        written: tokens(usage.output_tokens),
        budget: head.options.limits.budget_usd.map(cost),
        limit: usage.limit_notice.as_ref().map(crate::call::tidy),
    }))
}

async fn details(api: &Api, head: &Head) -> Result<Html, Problem> {
    let (process, version) = match &head.process {
        Process::Alive { process, version, .. } => {
            (process.map(|process| process.pid().to_string()), version.clone())
        }
        _ => (None, last_version(api, head.id).await?),
    };
    let live = api.service.hub().alive(head.id);
    let parent = head.parent.as_ref().map(|parent| parent.session().to_string());
    let RulesInForce { rules, problems } = api.service.rules(head.id).await?;
    Ok(Html::of_template(&Details {
        id: head.id.to_string(),
        conversation: head.conversation.id.to_string(),
        folder: &head.folder,
        parent,
        process,
        version,
        generation: head.generation,
        made: head.created_at,
        updated: head.updated_at,
        mode: head.mode.to_string(),
        rules: rules.iter().map(|rule| (rule, source(rule.source))).collect(),
        problems,
        labels: head.labels.iter().cloned().collect(),
        unknown: live.as_ref().map(|live| live.unknown),
        silent: live.as_ref().and_then(|live| live.last_line),
        failure: head.failure.as_deref(),
    }))
}

/// The version of the CLI when a session last had a process.
async fn last_version(api: &Api, session: SessionId) -> Result<Option<String>, Problem> {
    let store = api.service.hub().store();
    let started = store.events_of(session, &["process.started"], i64::MAX as u64, 1).await?;
    Ok(started.first().and_then(|event| match &event.happening {
        Happening::ProcessStarted(started) => started.version.clone(),
        _ => None,
    }))
}

/// Where a rule came from, in words.
const fn source(source: RuleSource) -> &'static str {
    match source {
        RuleSource::Start => "since the start",
        RuleSource::Session => "for this session",
        RuleSource::User => "settings of the user",
        RuleSource::Project => "settings of the project",
        RuleSource::Local => "settings of the project, for this user",
    }
}

async fn wire(api: &Api, head: &Head) -> Result<Html, Problem> {
    let kept = api.service.hub().wire(head.id);
    if !kept.lines.is_empty() {
        let line = |(number, line): (u64, &WireLine)| Wired {
            number,
            at: line.at,
            way: if line.to_cli { ("→", "to the CLI") } else { ("←", "from the CLI") },
            kind: kind(&serde_json::from_str(&line.text).unwrap_or(Value::Null)),
            raw: line.text.clone(),
            left_out: line.left_out,
        };
        let lines = (kept.earlier..).zip(&kept.lines).map(line);
        let lines = lines.collect::<Vec<_>>().into_iter().rev().collect();
        let (earlier, pieces) = (kept.earlier, kept.pieces);
        return Ok(Html::of_template(&Wire { lines, earlier, pieces, is_of_log: false }));
    }
    // The server was started since: what it keeps for good is what the CLI said.
    let store = api.service.hub().store();
    let events = store.events_of(head.id, &["cli.frame"], i64::MAX as u64, LINES).await?;
    let line = |event: &Arc<Event>| match &event.happening {
        Happening::Frame(frame) => {
            let value: Value = frame.line.decode().unwrap_or(Value::Null);
            Some(Wired {
                number: event.seq,
                at: event.at,
                way: ("←", "from the CLI"),
                kind: kind(&value),
                raw: frame.line.as_str().to_owned(),
                left_out: 0,
            })
        }
        _ => None,
    };
    let lines = events.iter().filter_map(line).collect();
    Ok(Html::of_template(&Wire { lines, earlier: 0, pieces: 0, is_of_log: true }))
}

/// What kind of line it is, in the words of the CLI.
fn kind(line: &Value) -> String {
    let text = |pointer: &str| line.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let inner = ["/subtype", "/request/subtype", "/response/subtype", "/message/role"];
    let inner = inner.into_iter().map(text).find(|text| !text.is_empty()).unwrap_or_default();
    let words = [text("/type"), inner, text("/request/tool_name")];
    let mut words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.dedup();
    if words.is_empty() { "not a frame".to_owned() } else { words.join(" ") }
}

#[derive(Template)]
#[template(path = "call/drawn.html")]
struct Pictures {
    /// Their kinds, and they.
    pictures: Vec<(String, String)>,
}

struct Round {
    number: u32,
    at: Timestamp,
    plan: Html,
    diff: Option<Html>,
    given: Option<String>,
    edited: Option<Html>,
}

#[derive(Template)]
#[template(path = "tab/plan.html")]
struct Plan {
    rounds: Vec<Round>,
}

struct Changed {
    short: String,
    is_outside: bool,
    is_new: bool,
    added: u64,
    removed: u64,
    times: String,
    calls: Vec<String>,
}

#[derive(Template)]
#[template(path = "tab/changes.html")]
struct Changes {
    files: Vec<Changed>,
    added: u64,
    removed: u64,
}

#[derive(Template)]
#[template(path = "tab/todos.html")]
struct Todos {
    todos: Vec<Todo>,
}

#[derive(Template)]
#[template(path = "tab/usage.html")]
struct Usage {
    context: Html,
    cost: Html,
    turns: u64,
    calls: u64,
    read: String,
    written: String,
    budget: Option<String>,
    limit: Option<Html>,
}

#[derive(Template)]
#[template(path = "tab/details.html")]
struct Details<'a> {
    id: String,
    conversation: String,
    folder: &'a str,
    parent: Option<String>,
    process: Option<String>,
    version: Option<String>,
    generation: u64,
    made: Timestamp,
    updated: Timestamp,
    mode: String,
    /// The rules in force, and where each came from.
    rules: Vec<(&'a RuleInForce, &'static str)>,
    problems: Vec<String>,
    labels: Vec<String>,
    unknown: Option<u64>,
    silent: Option<Timestamp>,
    failure: Option<&'a str>,
}

struct Wired {
    /// Which line it is, of those of its kind.
    number: u64,
    at: Timestamp,
    /// Where it went: a sign, and words.
    way: (&'static str, &'static str),
    kind: String,
    raw: String,
    left_out: usize,
}

#[derive(Template)]
#[template(path = "tab/wire.html")]
struct Wire {
    lines: Vec<Wired>,
    earlier: u64,
    pieces: u64,
    is_of_log: bool,
}
