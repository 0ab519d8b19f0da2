//! What a receiver is told.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::actor::without_stderr;
use crate::config::WebhookEvent;
use crate::id::{ApprovalId, SessionId};
use crate::session::{ApprovalKind, Event, Happening, Stage, State};
use crate::store::{Store, StoreError};

/// What the ids of notices are made in, so that nothing else has the same.
const SPACE: Uuid = Uuid::from_u128(0x9f3d_1c7e_5a0b_4c62_8e19_b6a4_d20f_7c55);

/// What a receiver is told: the body of a request, as JSON.
///
/// It says what there is to look at, and not what it looks like: neither the input of a tool nor
/// anything that was said is in it. Sessions and approvals are as they are when the request is made,
/// which may be later than what happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Names what happened: the same each time that it is told, and to every receiver. Whoever has
    /// seen it before need not look again.
    pub id: Uuid,
    /// What happened.
    #[serde(rename = "type")]
    pub event: WebhookEvent,
    /// When it happened.
    pub at: Timestamp,
    /// The session.
    pub session: NoticeSession,
    /// What a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<NoticeApproval>,
    /// Why the session has failed, without what the CLI said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Where a person finds it.
    pub link: String,
}

/// A session, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeSession {
    /// The session.
    pub id: SessionId,
    /// Its title, if somebody gave it one. One that is made of what was said is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The folder that it works in.
    pub folder: String,
    /// What it is doing now.
    pub state: State,
}

/// An approval, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeApproval {
    /// The approval.
    pub id: ApprovalId,
    /// What is asked for.
    pub kind: ApprovalKind,
    /// The tool; for an elicitation, the MCP server.
    pub tool: String,
    /// The sub-agent that asks; none if it is the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How far it has come: by now it may have been answered.
    pub stage: Stage,
}

impl Notice {
    /// What is told of an event; none if the session is gone.
    pub(super) async fn of(
        store: &dyn Store,
        event: &Event,
        what: WebhookEvent,
        url: &str,
    ) -> Result<Option<Self>, StoreError> {
        let Some(head) = store.head(event.session).await? else { return Ok(None) };
        let session = NoticeSession {
            id: head.id,
            title: head.has_own_title().then(|| head.title.clone()),
            folder: head.folder.clone(),
            state: head.state(),
        };
        let session_link = format!("{url}/sessions/{}", head.id);
        let (mut approval, mut why, mut link) = (None, None, session_link.clone());
        match &event.happening {
            Happening::ApprovalOpened(opened) => {
                let now = store.approval(opened.approval).await?;
                link = format!("{session_link}#approval-{}", opened.approval);
                approval = Some(NoticeApproval {
                    id: opened.approval,
                    kind: opened.kind,
                    tool: opened.tool.clone(),
                    agent: opened.agent.clone(),
                    stage: now.map_or(Stage::Open, |now| now.stage),
                });
            }
            Happening::Failed(failed) => why = Some(without_stderr(&failed.why).to_owned()),
            _ => {}
        }
        let id = notice_id(event);
        Ok(Some(Self { id, event: what, at: event.at, session, approval, why, link }))
    }
}

/// The name of what happened.
pub(super) fn notice_id(event: &Event) -> Uuid {
    // A position is one of this store; with the session it is one of all stores that there are.
    let name = format!("{} {}", event.session, event.position);
    Uuid::new_v5(&SPACE, name.as_bytes())
}
