//! What is made of an event besides the head of its session: pure, and the same for every store.

use countersign_protocol::{Decoded, FromCli, Line, RawJson};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::StoreError;
use super::query::StoredMessage;
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{
    Approval, ApprovalEnd, ApprovalKind, By, Given, Happening, Head, MessageContent, Stage,
};

/// How much of what is said is in the audit, in characters.
const SAID: usize = 200;

/// What is made of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// The approval that is opened or changed: [`open_approval`] and [`update_approval`] say how.
    pub approval: Option<ApprovalId>,
    /// What somebody says now, under a name that is new or known.
    pub message: Option<StoredMessage>,
    /// What is said: words that the session can be found by, beside its title.
    pub words: Option<String>,
}

/// An entry of the audit: who did what, when, from where, and exactly what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// What was done: the kind of the event, or the name of what is about no session, such as
    /// `token.created`.
    pub kind: String,
    /// The session that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The approval that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// Who did it.
    pub by: By,
    /// Exactly what: for an answer, what was asked and what was answered.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub detail: RawJson,
}

/// What is made of an event.
#[must_use]
pub fn derive(session: SessionId, at: Timestamp, happening: &Happening) -> Derived {
    let mut derived = Derived::default();
    match happening {
        Happening::ApprovalOpened(body) => derived.approval = Some(body.approval),
        Happening::ApprovalAnswered(body) => derived.approval = Some(body.approval),
        Happening::ApprovalDelivered(body) => derived.approval = Some(body.approval),
        Happening::ApprovalClosed(body) => derived.approval = Some(body.approval),
        Happening::MessageQueued(said) => {
            derived.words = Some(said.content.text.clone());
            derived.message = Some(StoredMessage {
                id: said.message,
                session,
                content: said.content.clone(),
                by: said.by.clone(),
                at,
            });
        }
        Happening::MessageEdited(said) => {
            derived.words = Some(said.content.text.clone());
            derived.message = Some(StoredMessage {
                id: said.message,
                session,
                content: said.content.clone(),
                by: said.by.clone(),
                at,
            });
        }
        Happening::Frame(frame) => derived.words = words_of(&frame.line),
        _ => {}
    }
    derived.words = derived.words.filter(|words| !words.trim().is_empty());
    derived
}

/// What the model says in a frame.
fn words_of(line: &RawJson) -> Option<String> {
    let line = Line::parse(line.as_str().as_bytes()).ok()?;
    if line.frame_type() != "assistant" {
        return None;
    }
    let (Decoded::Known(FromCli::Assistant(said)) | Decoded::Unknown(FromCli::Assistant(said))) =
        line.decode::<FromCli>()
    else {
        return None;
    };
    let texts: Vec<_> = said.message.content.texts().collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The approval that an event opens, and what brings its call back.
#[must_use]
pub fn open_approval(
    head: &Head,
    at: Timestamp,
    happening: &Happening,
) -> Option<(Approval, Option<RawJson>)> {
    let Happening::ApprovalOpened(opened) = happening else { return None };
    let approval = Approval {
        id: opened.approval,
        session: head.id,
        turn: opened.turn,
        kind: opened.kind,
        tool: opened.tool.clone(),
        tool_use_id: opened.tool_use_id.clone(),
        agent: opened.agent.clone(),
        request: opened.request.clone(),
        round: (opened.kind == ApprovalKind::Plan).then_some(head.plans),
        stage: Stage::Open,
        opened_at: at,
        given: None,
        delivered_at: None,
        closed_at: None,
        why: None,
    };
    Some((approval, opened.token.clone()))
}

/// What an event makes of an approval.
pub fn update_approval(approval: &mut Approval, at: Timestamp, happening: &Happening) {
    match happening {
        Happening::ApprovalAnswered(answered) => {
            approval.stage = Stage::Answered;
            let (answer, by, child) =
                (answered.answer.clone(), answered.by.clone(), answered.child);
            approval.given = Some(Given { answer, by, at, child });
        }
        Happening::ApprovalDelivered(_) => {
            approval.stage = Stage::Delivered;
            approval.delivered_at = Some(at);
        }
        Happening::ApprovalClosed(closed) => {
            approval.stage = match closed.end {
                ApprovalEnd::Done => Stage::Done,
                ApprovalEnd::Cancelled => Stage::Cancelled,
                ApprovalEnd::Expired => Stage::Expired,
                ApprovalEnd::Unknown => Stage::Unknown,
            };
            approval.closed_at = Some(at);
            approval.why.clone_from(&closed.why);
        }
        _ => {}
    }
}

impl AuditEntry {
    /// What the audit says of an event: of everything that somebody decided or wanted.
    ///
    /// `approval` is the approval that the event is about, after the event. What was asked and what
    /// was answered are in it letter for letter.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which does not happen.
    pub fn of(
        session: SessionId,
        at: Timestamp,
        happening: &Happening,
        approval: Option<&Approval>,
    ) -> Result<Option<Self>, StoreError> {
        let mut id = approval.map(|approval| approval.id);
        let by = match happening {
            Happening::Created(body) => &body.by,
            Happening::Renamed(body) => &body.by,
            Happening::Labelled(body) => &body.by,
            Happening::Archived(body) => &body.by,
            Happening::MessageQueued(body) => &body.by,
            Happening::MessageEdited(body) => &body.by,
            Happening::MessageRemoved(body) => &body.by,
            Happening::ModelWanted(body) => &body.by,
            Happening::ToolDecided(body) => &body.by,
            Happening::Deleted(body) => &body.by,
            Happening::StopAsked(body) => &body.by,
            Happening::ResumeAsked(body) => &body.by,
            Happening::InterruptAsked(body) => &body.by,
            Happening::ModeWanted(body) => &body.by,
            Happening::ApprovalAnswered(body) => &body.by,
            Happening::ApprovalClosed(body) if body.end != ApprovalEnd::Done => &By::Server,
            Happening::GrantUsed(body) => {
                id = Some(body.approval);
                &By::Server
            }
            Happening::RulesChanged(body) => {
                id = body.approval;
                &By::Server
            }
            _ => return Ok(None),
        };
        let unreadable =
            |source| StoreError::Unreadable { what: "an entry of the audit to be written", source };
        let detail = detail(happening, approval).map_err(unreadable)?;
        let kind = happening.kind().to_owned();
        Ok(Some(Self { at, kind, session: Some(session), approval: id, by: by.clone(), detail }))
    }
}

/// Exactly what was done.
#[derive(Serialize)]
struct Detail<'a, T> {
    what: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<ApprovalKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<T>,
}

impl<'a, T: Serialize> Detail<'a, T> {
    fn write(
        what: T,
        request: Option<T>,
        approval: Option<&'a Approval>,
    ) -> Result<RawJson, serde_json::Error> {
        RawJson::from_value(&Self {
            what,
            tool: approval.map(|approval| &*approval.tool),
            kind: approval.map(|approval| approval.kind),
            asked_at: approval.map(|approval| approval.opened_at),
            agent: approval.and_then(|approval| approval.agent.as_deref()),
            request,
        })
    }
}

fn detail(
    happening: &Happening,
    approval: Option<&Approval>,
) -> Result<RawJson, serde_json::Error> {
    let what = RawValue::from_string(match happening {
        Happening::MessageQueued(said) => in_short(said.message, &said.content, &said.by)?,
        Happening::MessageEdited(said) => in_short(said.message, &said.content, &said.by)?,
        _ => happening.shown()?,
    })?;
    let request = approval.map(|approval| approval.request.as_str());
    let asked = request.map(serde_json::from_str::<&RawValue>).transpose()?;
    let detail = Detail::write(&*what, asked, approval)?;
    // What is nested as deep as a value may be is deeper in here, and could not be read again. So it
    // is kept as text.
    if detail.as_str().parse::<RawJson>().is_ok() {
        return Ok(detail);
    }
    Detail::write(what.get(), request, approval)
}

/// What is said, in short: who spoke is what the audit is for, and the log has the rest.
fn in_short(
    message: MessageId,
    content: &MessageContent,
    by: &By,
) -> Result<String, serde_json::Error> {
    let text: String = content.text.chars().take(SAID).collect();
    let (length, images) = (content.text.chars().count(), content.images.len());
    serde_json::to_string(&serde_json::json!({
        "message": message, "text": text, "length": length, "images": images, "by": by,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{ApprovalOpened, StopAsked};

    fn asked(request: &str) -> Approval {
        let opened: ApprovalOpened = serde_json::from_str(&format!(
            r#"{{"approval":"00000000-0000-7000-8000-000000000001","generation":1,"turn":null,
                "kind":"tool","tool":"Bash","request":{request}}}"#
        ))
        .unwrap();
        Approval {
            id: opened.approval,
            session: SessionId::new(),
            turn: None,
            kind: opened.kind,
            tool: opened.tool,
            tool_use_id: None,
            agent: None,
            request: opened.request,
            round: None,
            stage: Stage::Answered,
            opened_at: Timestamp::UNIX_EPOCH,
            given: None,
            delivered_at: None,
            closed_at: None,
            why: None,
        }
    }

    #[track_caller]
    fn detail_of(request: &str) -> RawJson {
        let happening = StopAsked { by: By::Server }.into();
        let approval = asked(request);
        let at = Timestamp::UNIX_EPOCH;
        let entry = AuditEntry::of(approval.session, at, &happening, Some(&approval));
        let detail = entry.unwrap().unwrap().detail;
        // What is in the audit can be read from it.
        detail.as_str().parse().unwrap()
    }

    #[test]
    fn the_audit_has_what_was_asked_letter_for_letter() {
        let request = r#"{"n":12345678901234567890123,"half":"\ud800","a":1,"a": 2}"#;
        let detail = detail_of(request);
        assert!(detail.as_str().contains(request), "{detail}");
    }

    #[test]
    fn what_is_nested_too_deep_for_the_audit_is_there_as_text() {
        let request = "[".repeat(128) + &"]".repeat(128);
        let detail: serde_json::Value = detail_of(&request).decode().unwrap();
        assert_eq!(detail["request"], request);
    }
}
