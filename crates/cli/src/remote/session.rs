//! A session, in a line and in full.

use countersign_server::api::view::SessionView;
use countersign_server::session::{Parent, Process, Stage, State};
use jiff::Timestamp;

use crate::run::view::line::{Line, Tone};
use crate::words::{ago, count, dollars, one_line, short};

/// How long a title is shown.
const TITLE: usize = 70;

/// The title, or what stands for it.
pub(crate) fn title(view: &SessionView) -> String {
    let title = one_line(&view.head.title, TITLE);
    if title.is_empty() { "(nothing was said yet)".to_owned() } else { title }
}

/// How a state is shown.
pub(crate) const fn tone(state: State) -> Tone {
    match state {
        State::Waiting | State::Parked => Tone::Warn,
        State::Failed => Tone::Bad,
        State::Running | State::Starting => Tone::Good,
        State::Queued | State::Ready => Tone::Plain,
        State::Idle | State::Ended => Tone::Dim,
    }
}

/// A session on two lines: what it is about and does, and where it is.
pub(crate) fn in_a_list(view: &SessionView, now: Timestamp) -> Vec<Line> {
    let head = &view.head;
    let first = Line::of(Tone::Accent, &short(head.id.uuid()))
        .and(tone(view.state), &format!("  {:<8}", view.state.name()))
        .and(Tone::Plain, &format!("  {}", title(view)));
    let mut parts = vec![ago(head.updated_at, now), one_line(&head.folder, TITLE)];
    parts.push(head.mode.to_string());
    parts.extend(head.model.clone());
    if head.usage.cost_usd > 0.0 {
        parts.push(dollars(head.usage.cost_usd));
    }
    parts.extend(head.labels.iter().map(|label| format!("#{label}")));
    if !head.queue.is_empty() {
        parts.push(count(head.queue.len(), "message waits", "messages wait"));
    }
    let mut shown = vec![first, Line::of(Tone::Dim, &parts.join("  ")).indented(10)];
    let open = head.approvals.iter().filter(|(_, pending)| pending.stage == Stage::Open);
    for (id, pending) in open {
        let words = format!("asks: {} ({})", pending.tool, short(id.uuid()));
        shown.push(Line::of(Tone::Warn, &words).indented(10));
    }
    if let Some(failure) = &head.failure {
        shown.push(Line::of(Tone::Bad, &one_line(failure, TITLE)).indented(10));
    }
    shown
}

/// Everything about a session but what was said in it.
pub(crate) fn in_full(view: &SessionView, now: Timestamp) -> Vec<Line> {
    let head = &view.head;
    let mut rows: Vec<(&str, Tone, String)> = vec![
        ("session", Tone::Accent, head.id.to_string()),
        ("state", tone(view.state), view.state.name().to_owned()),
        ("folder", Tone::Plain, head.folder.clone()),
        ("mode", Tone::Plain, head.mode.to_string()),
    ];
    if let Some(mode) = &head.wanted_mode {
        rows.push(("wanted", Tone::Warn, format!("the mode {mode}")));
    }
    let model = head.model.clone().unwrap_or_else(|| "the CLI's own choice".to_owned());
    rows.push(("model", Tone::Plain, model));
    if !head.labels.is_empty() {
        let labels: Vec<_> = head.labels.iter().map(String::as_str).collect();
        rows.push(("labels", Tone::Plain, labels.join(", ")));
    }
    if head.archived {
        rows.push(("archive", Tone::Dim, "it is in the archive".to_owned()));
    }
    match &head.parent {
        Some(Parent::Plan { session, .. }) => {
            rows.push(("from", Tone::Plain, format!("the plan of {}", short(session.uuid()))));
        }
        Some(Parent::Fork { session, .. }) => {
            rows.push(("from", Tone::Plain, format!("a copy of {}", short(session.uuid()))));
        }
        None => {}
    }
    if let Process::Alive { version: Some(version), .. } = &head.process {
        rows.push(("process", Tone::Plain, format!("Claude Code {version}")));
    }
    if let Some(failure) = &head.failure {
        rows.push(("failed", Tone::Bad, failure.clone()));
    }
    let rules = head.rules.rules.iter().map(|rule| format!("{} {}", rule.behavior, rule.rule));
    rows.extend(rules.map(|rule| ("rule", Tone::Plain, rule)));
    if !head.queue.is_empty() {
        rows.push(("queue", Tone::Plain, count(head.queue.len(), "message", "messages")));
    }
    for (id, pending) in &head.approvals {
        let words = format!("{} ({}, {})", pending.tool, short(id.uuid()), pending.stage.name());
        rows.push(("asks", Tone::Warn, words));
    }
    rows.push(("used", Tone::Plain, used(view)));
    rows.push(("made", Tone::Dim, format!("{}, {}", head.created_at, ago(head.created_at, now))));
    let mut shown = vec![Line::of(Tone::Bold, &title(view))];
    for (name, tone, text) in rows {
        shown.push(Line::of(Tone::Dim, &format!("  {name:<9}")).and(tone, &text).hanging(11));
    }
    shown
}

/// What a session has used.
pub(crate) fn used(view: &SessionView) -> String {
    let usage = &view.head.usage;
    format!(
        "{}, {}, {} tokens read, {} written, {} in the context",
        dollars(usage.cost_usd),
        count(usize::try_from(usage.turns).unwrap_or(usize::MAX), "turn", "turns"),
        usage.input_tokens,
        usage.output_tokens,
        usage.context_tokens,
    )
}
