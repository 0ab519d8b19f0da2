//! What a store can be asked.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{ApprovalKind, By, MessageContent, Stage, State};

/// Part of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page<T> {
    /// What is on this page.
    pub items: Vec<T>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// In which order sessions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionOrder {
    /// Those in which something happened last come first.
    #[default]
    Updated,
    /// The newest come first.
    Created,
}

/// Which sessions are wanted. What is empty or absent does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// They are doing one of these.
    pub states: Vec<State>,
    /// They have all of these labels.
    pub labels: Vec<String>,
    /// They work in this folder or below it, compared by component.
    pub folder: Option<String>,
    /// They are in the archive, or are not.
    pub archived: Option<bool>,
    /// Nothing has happened in them since this time.
    pub untouched_since: Option<Timestamp>,
    /// They come from this session.
    pub parent: Option<SessionId>,
    /// Their title, or what was said in them, has all of these words. The last may be the beginning
    /// of one. A title is found by parts of its words, too.
    pub words: Option<String>,
    /// In which order.
    pub order: SessionOrder,
    /// Where the page begins: what [`Page::next`] said.
    pub after: Option<String>,
    /// How many at most: 100 if it is 0, and never more than 1000.
    pub limit: usize,
}

/// Which approvals are wanted. What is empty or absent does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// They are of this session.
    pub session: Option<SessionId>,
    /// They have come so far.
    pub stages: Vec<Stage>,
    /// They ask for this.
    pub kinds: Vec<ApprovalKind>,
    /// Whether the newest come first; otherwise the oldest do.
    pub newest_first: bool,
    /// Where the page begins: what [`Page::next`] said.
    pub after: Option<String>,
    /// How many at most: 100 if it is 0, and never more than 1000.
    pub limit: usize,
}

/// Which entries of the audit are wanted. What is absent does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// They are about this session.
    pub session: Option<SessionId>,
    /// They are about this approval.
    pub approval: Option<ApprovalId>,
    /// They are of this kind, such as `approval.answered`.
    pub kind: Option<String>,
    /// Not before this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Where the page begins: what [`Page::next`] said.
    pub after: Option<String>,
    /// How many at most: 100 if it is 0, and never more than 1000.
    pub limit: usize,
}

/// What somebody said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StoredMessage {
    /// Names it.
    pub id: MessageId,
    /// The session.
    pub session: SessionId,
    /// What was said.
    pub content: MessageContent,
    /// Who said it.
    pub by: By,
    /// When.
    pub at: Timestamp,
}

/// What all sessions have used, those that are deleted included, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Totals {
    /// How many sessions there are in each state, those in the archive included.
    pub sessions: std::collections::BTreeMap<String, u64>,
    /// How many approvals are open.
    pub open_approvals: u64,
    /// What all of it cost, in US dollars.
    pub cost_usd: f64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Turns that have ended.
    pub turns: u64,
}
