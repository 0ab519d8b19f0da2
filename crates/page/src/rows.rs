//! The sessions, as they stand on the left.

use askama::Template;
use countersign_server::id::SessionId;
use countersign_server::session::{Head, State};
use jiff::Timestamp;

use crate::render::Html;
use crate::render::words::cost;

/// How a state is shown: a sign and a word.
#[must_use]
pub(crate) const fn shown(state: State) -> (&'static str, &'static str) {
    match state {
        State::Waiting => ("◆", "waits for you"),
        State::Parked => ("◇", "waits for you, parked"),
        State::Running => ("●", "running"),
        State::Starting => ("◐", "starting"),
        State::Queued => ("◔", "queued"),
        State::Ready => ("○", "ready"),
        State::Idle => ("·", "idle"),
        State::Ended => ("■", "ended"),
        State::Failed => ("▲", "failed"),
    }
}

/// A part of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// They wait for a person.
    Waiting,
    /// They work.
    Running,
    /// They could go on.
    Idle,
    /// They are over, unless somebody says something.
    Ended,
}

impl Group {
    /// All of them, in their order.
    pub(crate) const ALL: [Self; 4] = [Self::Waiting, Self::Running, Self::Idle, Self::Ended];

    /// The one that a session stands in.
    #[must_use]
    pub(crate) const fn of(state: State) -> Self {
        match state {
            State::Waiting | State::Parked => Self::Waiting,
            State::Running | State::Starting | State::Queued => Self::Running,
            State::Ready | State::Idle => Self::Idle,
            State::Ended | State::Failed => Self::Ended,
        }
    }

    /// Its name in ids.
    #[must_use]
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting for you",
            Self::Running => "Running",
            Self::Idle => "Idle",
            Self::Ended => "Ended",
        }
    }
}

/// One session on the left, as a line.
#[must_use]
pub(crate) fn row(head: &Head, current: Option<SessionId>) -> Html {
    line(head, row_id(head.id), current)
}

/// The element of a session on the left.
#[must_use]
pub(crate) fn row_id(session: SessionId) -> String {
    format!("row-{session}")
}

/// One session that was found, as a line. It may stand on the left as well.
#[must_use]
pub(crate) fn found(head: &Head) -> Html {
    line(head, format!("found-{}", head.id), None)
}

fn line(head: &Head, element: String, current: Option<SessionId>) -> Html {
    let state = head.state();
    let (glyph, word) = shown(state);
    Html::of_template(&Row {
        element,
        id: head.id,
        title: title(head),
        folder: &head.folder,
        at: head.updated_at,
        state: state.name(),
        glyph,
        word,
        cost: (head.usage.cost_usd > 0.0).then(|| cost(head.usage.cost_usd)),
        added: head.changes.added,
        removed: head.changes.removed,
        is_current: current == Some(head.id),
    })
}

/// What a session is called.
#[must_use]
pub(crate) fn title(head: &Head) -> &str {
    if head.title.is_empty() { "Untitled" } else { &head.title }
}

/// All of them, by what they do.
#[must_use]
pub(crate) fn list<'a>(
    heads: impl IntoIterator<Item = &'a Head>,
    current: Option<SessionId>,
    more: bool,
) -> Html {
    let mut groups = Group::ALL.map(|group| (group, Vec::new()));
    for head in heads {
        let of = Group::of(head.state());
        if let Some((_, rows)) = groups.iter_mut().find(|(group, _)| *group == of) {
            rows.push(row(head, current));
        }
    }
    let groups = groups.map(|(group, rows)| Rows { key: group.key(), name: group.name(), rows });
    Html::of_template(&Sessions { groups, more })
}

struct Rows {
    key: &'static str,
    name: &'static str,
    rows: Vec<Html>,
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct Sessions {
    groups: [Rows; 4],
    more: bool,
}

#[derive(Template)]
#[template(path = "row.html")]
struct Row<'a> {
    element: String,
    id: SessionId,
    title: &'a str,
    folder: &'a str,
    at: Timestamp,
    state: &'static str,
    glyph: &'static str,
    word: &'static str,
    cost: Option<String>,
    added: u64,
    removed: u64,
    is_current: bool,
}
