//! Who decided what.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use countersign_server::access::Read;
use countersign_server::api::Api;
use countersign_server::id::SessionId;
use countersign_server::session::{Answer, By};
use countersign_server::store::{AuditEntry, AuditFilter};
use countersign_server::web::Problem;
use http::HeaderMap;
use jiff::{Timestamp, ToSpan as _};
use serde::Deserialize;
use serde_json::Value;

use super::{Frame, shown};
use crate::chart::{self, Bars};
use crate::decision::in_words;
use crate::render::words::short;
use crate::render::{Html, json};

/// How many are on a page.
const LISTED: usize = 100;

/// The longest line of an entry, in characters.
const LONGEST: usize = 120;

/// How many days the charts have, and how many entries are looked at for them.
const DAYS: i64 = 14;
const CHARTED: usize = 20_000;

/// What people look for in it: the kind of its entries, and words.
const KINDS: [(&str, &str); 12] = [
    ("approval.answered", "Answers"),
    ("tool.decided", "Calls that nobody was asked about"),
    ("approval.closed", "Requests that nobody answered"),
    ("message.queued", "Messages"),
    ("mode.wanted", "Changes of the mode"),
    ("rules.changed", "Changes of the rules"),
    ("turn.interrupt_asked", "Turns that were stopped"),
    ("session.created", "New sessions"),
    ("session.deleted", "Deleted sessions"),
    ("token.created", "New tokens"),
    ("browser.signed_in", "Browsers that were let in"),
    ("login_link.created", "Links that let a browser in"),
];

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    session: Option<SessionId>,
    #[serde(default)]
    kind: String,
    after: Option<String>,
}

pub(super) async fn page(
    State(api): State<Api>,
    Read(identity): Read,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let frame = Frame::new(&api, &identity, &headers, "audit", None).await?;
    let kind = wanted.kind.trim().to_owned();
    let filter = AuditFilter {
        session: wanted.session,
        kind: (!kind.is_empty()).then(|| kind.clone()),
        after: wanted.after.filter(|after| !after.is_empty()),
        limit: LISTED,
        ..AuditFilter::default()
    };
    let found = api.service.hub().store().audit(filter).await?;
    let charts = charts(&api, wanted.session).await?;
    Ok(shown(&Audit {
        frame,
        session: wanted.session.map(|session| session.to_string()),
        is_known: KINDS.iter().any(|(known, _)| *known == kind),
        kind,
        entries: found.items.iter().map(entry).collect(),
        next: found.next,
        charts,
    }))
}

/// The outcomes that are told apart in the charts.
const OUTCOMES: [&str; 4] = ["allowed by hand", "ran by rule or mode", "refused", "other"];

/// Decisions by day, and by tool; of one session, or of all.
async fn charts(api: &Api, session: Option<SessionId>) -> Result<Option<Charts>, Problem> {
    let now = Timestamp::now();
    let since = now.checked_sub((DAYS * 24).hours()).unwrap_or(now);
    let mut days: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    for back in (0..DAYS).rev() {
        let day = now.checked_sub((back * 24).hours()).unwrap_or(now);
        days.insert(day.strftime("%m-%d").to_string(), [0; 4]);
    }
    let mut tools: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    let (mut after, mut seen) = (None, 0);
    loop {
        let filter = AuditFilter {
            session,
            since: Some(since),
            after,
            limit: 1_000,
            ..AuditFilter::default()
        };
        let page = api.service.hub().store().audit(filter).await?;
        for entry in &page.items {
            let Some((tool, outcome)) = charted(entry) else { continue };
            let day = entry.at.strftime("%m-%d").to_string();
            for count in
                [days.get_mut(&day), Some(tools.entry(tool).or_default())].into_iter().flatten()
            {
                if let Some(count) = count.get_mut(outcome) {
                    *count += 1;
                }
            }
        }
        seen += page.items.len();
        after = page.next;
        if after.is_none() || seen >= CHARTED {
            break;
        }
    }
    if tools.is_empty() {
        return Ok(None);
    }
    let mut tools: Vec<(String, [u64; 4])> = tools.into_iter().collect();
    tools.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.iter().sum::<u64>()));
    tools.truncate(12);
    let by_day =
        Bars { title: "Decisions by day", names: OUTCOMES, bars: days.into_iter().collect() };
    let by_tool = Bars { title: "Decisions by tool", names: OUTCOMES, bars: tools };
    let left_out = after.is_some().then_some(CHARTED);
    Ok(Some(Charts { by_day: chart::columns(&by_day), by_tool: chart::rows(&by_tool), left_out }))
}

/// The tool that something was decided about, and which outcome it is.
fn charted(entry: &AuditEntry) -> Option<(String, usize)> {
    let detail = json::value(&entry.detail)?;
    let what = detail.get("what")?;
    let text = |name: &str| what.get(name).and_then(Value::as_str);
    let asked = || detail.get("tool")?.as_str();
    let tool = text("tool").or_else(asked)?.to_owned();
    let outcome = match &*entry.kind {
        "approval.answered" => {
            let (answer, given) = what.get("answer")?.as_object()?.iter().next()?;
            let is_taken = given.get("action").is_none_or(|action| action == "accept");
            match (answer.as_str(), &entry.by) {
                ("deny" | "keep_planning" | "skip", _) => 2,
                ("form", _) if !is_taken => 2,
                (_, By::Person { .. }) => 0,
                _ => 3,
            }
        }
        "tool.decided" => match text("outcome")? {
            "ran" | "failed" => 1,
            "refused" => 2,
            _ => 3,
        },
        _ => return None,
    };
    Some((tool, outcome))
}

struct Entry {
    at: Timestamp,
    kind: String,
    who: String,
    from: Option<String>,
    what: String,
    session: Option<String>,
    detail: Html,
}

fn entry(entry: &AuditEntry) -> Entry {
    let detail = json::value(&entry.detail).unwrap_or_default();
    let from = match &entry.by {
        By::Person { from, .. } => from.clone(),
        _ => None,
    };
    let who = match &entry.by {
        By::Rule { rule } => format!("rule {rule}"),
        other => other.name().to_owned(),
    };
    let inside = detail.get("what").unwrap_or(&Value::Null);
    let text = |name: &str| inside.get(name).and_then(Value::as_str).unwrap_or_default();
    let asked = detail.get("tool").and_then(Value::as_str).unwrap_or_default();
    let answer = inside.get("answer").and_then(|answer| Answer::deserialize(answer).ok());
    let answer = answer.map(|answer| in_words(&answer)).unwrap_or_default();
    let what = [asked, text("tool"), text("title"), text("name"), text("outcome"), &answer];
    let what = what.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ");
    Entry {
        at: entry.at,
        kind: entry.kind.clone(),
        who,
        from,
        what: short(&what, LONGEST),
        session: entry.session.map(|session| session.to_string()),
        detail: crate::call::tidy(&detail),
    }
}

#[derive(Template)]
#[template(path = "view/audit.html")]
struct Audit {
    frame: Frame,
    session: Option<String>,
    kind: String,
    /// Whether it is one of those that are named.
    is_known: bool,
    entries: Vec<Entry>,
    next: Option<String>,
    charts: Option<Charts>,
}

struct Charts {
    by_day: Html,
    by_tool: Html,
    /// How many entries were looked at, if there are more.
    left_out: Option<usize>,
}

#[cfg(test)]
mod tests {
    use countersign_server::session::Happening;

    use super::*;

    #[test]
    fn what_can_be_chosen_happens() {
        let is_of_access = |kind: &str| {
            ["token.", "browser.", "login_link."].iter().any(|start| kind.starts_with(start))
        };
        for (kind, words) in KINDS {
            assert!(Happening::KINDS.contains(&kind) || is_of_access(kind), "{kind}: {words}");
        }
    }
}
