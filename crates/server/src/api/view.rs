//! What is shown of sessions, and what lists are asked with.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_protocol::permission::PermissionMode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{ApprovalId, MessageId, SessionId, TurnId};
use crate::session::{Answer, ApprovalKind, Head, MessageContent, Stage, State};
use crate::store::{Page, SessionOrder};

/// How many are on a page, unless somebody asks for another number.
const USUAL: usize = 50;

/// How many are on a page at most.
const MOST: usize = 500;

/// A session, with what it is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionView {
    /// What it is doing.
    pub state: State,
    /// What it is.
    #[serde(flatten)]
    pub head: Head,
}

impl From<&Head> for SessionView {
    fn from(head: &Head) -> Self {
        let options = head.options.shown();
        Self { state: head.state(), head: Head { options, ..head.clone() } }
    }
}

/// Part of a list of sessions.
pub(super) fn sessions(page: Page<Arc<Head>>) -> Page<SessionView> {
    let items = page.items.iter().map(|head| SessionView::from(&**head)).collect();
    Page { items, next: page.next }
}

/// How many are wanted, within what is given.
pub(super) fn limit(wanted: Option<usize>) -> usize {
    wanted.unwrap_or(USUAL).clamp(1, MOST)
}

/// Which sessions are wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct ListSessions {
    /// What they are doing: one or several of the states, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Labels that they have, all of them, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The folder that they work in, or one above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Whether they are in the archive. Those that are not, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The session that they come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub parent: Option<SessionId>,
    /// Words in their titles, or in what was said in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// In which order: `updated` or `created`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(inline))]
    pub order: Option<SessionOrder>,
    /// Where the page begins: what `next` of the page before said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many at most: 50 unless it is said, 500 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// The process of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProcessView {
    /// Whether there is one.
    pub is_alive: bool,
    /// When it last said something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<Timestamp>,
    /// How many frames came of it that are of no kind that is known.
    pub unknown_frames: u64,
    /// Its slash commands.
    pub commands: Vec<SlashCommand>,
}

/// A slash command of the CLI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// Which approvals are wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct ListApprovals {
    /// The session that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub session: Option<SessionId>,
    /// How far they have come.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(inline))]
    pub stage: Option<Stage>,
    /// What they ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(inline))]
    pub kind: Option<ApprovalKind>,
    /// Whether the oldest come first; otherwise the newest do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_first: Option<bool>,
    /// Where the page begins: what `next` of the page before said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many at most: 50 unless it is said, 500 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Which part of a list is wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct Part {
    /// Where the page begins: what `next` of the page before said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many at most: 50 unless it is said, 500 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Which entries of the audit are wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct ListAudit {
    /// The session that they are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub session: Option<SessionId>,
    /// The approval that they are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub approval: Option<ApprovalId>,
    /// What was done, such as `approval.answered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Not before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Where the page begins: what `next` of the page before said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many at most: 50 unless it is said, 500 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Which events are wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct ListEvents {
    /// Those after this number. From the beginning if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The last ones before this number, in the place of `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// How many at most: 50 unless it is said, 500 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Which events of all sessions are wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct ListAllEvents {
    /// Those after this position. From the beginning if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// How many at most: 50 unless it is said, 500 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// An event, as it is in lists and streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EventView {
    /// The session.
    pub session: SessionId,
    /// Its number within the session, from 1, without gaps.
    pub seq: u64,
    /// Its number among the events of all sessions.
    pub position: u64,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub kind: String,
    /// The particulars, which depend on the kind.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub body: countersign_protocol::RawJson,
}

/// Part of a list of events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Events {
    /// The events, oldest first.
    pub items: Vec<EventView>,
    /// Whether there is more in the direction that was asked for. A page has 4 MiB of events at most, so
    /// it may be shorter than was asked for though there is.
    pub more: bool,
}

/// Another title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetTitle {
    /// The title: one line.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub title: String,
}

/// Other labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetLabels {
    /// All labels that it is to have.
    pub labels: BTreeSet<String>,
}

/// Into the archive, or out of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetArchived {
    /// Whether it is to be in the archive.
    pub archived: bool,
}

/// Another mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetMode {
    /// The mode.
    #[cfg_attr(feature = "openapi", schema(value_type = super::shape::Mode))]
    pub mode: PermissionMode,
}

/// Another model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetModel {
    /// The model; the CLI's own choice if it is null.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub model: Option<String>,
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Interrupt {
    /// The turn that is to end. If another one is running by now, nothing happens.
    pub turn: TurnId,
}

/// Nothing more than the command itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Another text for a message that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EditMessage {
    /// What it says now.
    pub content: MessageContent,
}

/// Another order of the messages that wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OrderMessages {
    /// All that wait, each once.
    pub order: Vec<MessageId>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GiveAnswer {
    /// The answer.
    pub answer: Answer,
}

/// A round of planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanRound {
    /// Which, from 1.
    pub round: u32,
    /// The approval in which it was put to a person.
    pub approval: ApprovalId,
    /// How far that has come.
    pub stage: Stage,
    /// When.
    pub at: Timestamp,
    /// The plan, as the model made it.
    pub plan: String,
    /// What was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// What changed since the round before, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}
