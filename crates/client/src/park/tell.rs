//! Telling the model what was decided, where the call does not come back.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::RawJson;
use countersign_protocol::ask::CanUseTool;
use countersign_protocol::content::{Content, ContentBlock, TextBlock};
use countersign_protocol::ids::{MessageUuid, RequestId};
use countersign_protocol::message::UserMessage;
use countersign_protocol::permission::PermissionResult;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::grant::{Answer, Answering, Grant};
use super::resume::ResumeError;
use crate::error::SendError;
use crate::permission::{FreshStart, PermissionAnswer, PermissionAsk};
use crate::session::Session;

/// How long a handler may take to learn that its answer is not wanted any more.
const MOMENT: Duration = Duration::from_secs(1);

/// A call that does not come back, and is to be decided about.
pub(super) struct Untold<'a> {
    pub(super) session: &'a Session,
    pub(super) answering: &'a Answering,
    pub(super) request: Arc<CanUseTool>,
    /// The id of the message to the model.
    pub(super) telling: MessageUuid,
    /// How long whoever decides may take.
    pub(super) limit: Option<Duration>,
}

/// What the model was told.
pub(super) enum Told {
    /// What was decided; it goes on.
    Decided,
    /// Nothing, because the answer ends the turn.
    Nothing { fresh_start: Option<FreshStart> },
}

impl Untold<'_> {
    /// Has the answer decided, tells the model, and lets it make the call if it was allowed.
    pub(super) async fn tell(self, answer: Answer) -> Result<Told, ResumeError> {
        let answer = self.decide(answer).await?;
        let CanUseTool { tool_name: tool, input, .. } = &*self.request;
        let text = match &answer.result {
            PermissionResult::Deny(deny) if deny.interrupt == Some(true) => {
                return Ok(Told::Nothing { fresh_start: answer.fresh_start });
            }
            PermissionResult::Allow(allow) => {
                let changed = answer.input_changed;
                let with = allow.updated_input.as_ref().filter(|_| changed);
                said_yes(tool, input, with)
            }
            PermissionResult::Deny(deny) => format!(
                "While this session was paused, the user decided about your pending call of \
                 {tool}: it is denied. The reason: {}",
                deny.message
            ),
            other => format!("The pending call of {tool} was answered with {}.", other.name()),
        };
        let PermissionAnswer { message, .. } = &answer;
        let besides = message.as_ref().map(|message| message.message.content.clone());
        let mut message = UserMessage::prompt(together(text, besides));
        message.uuid = Some(self.telling);
        if let Some(fresh) = answer.fresh_start.clone() {
            self.session.shared().plan_fresh_start(fresh);
        }
        if answer.allows() {
            let (tool, input) = (tool.clone(), input.clone());
            self.answering.grant(Grant { tool, input, answer });
        }
        self.session.handle().post(message).await?;
        Ok(Told::Decided)
    }

    /// Waits for the answer as a session does: not longer than was set, and not longer than the
    /// session lives.
    async fn decide(&self, answer: Answer) -> Result<PermissionAnswer, ResumeError> {
        let cancelled = CancellationToken::new();
        let ask = || {
            let id = RequestId::from("parked");
            PermissionAsk::new(id, Arc::clone(&self.request), cancelled.clone())
        };
        // In a task of its own, so that a handler that panics has failed and no more.
        let mut handlers = JoinSet::new();
        handlers.spawn(answer.decide(ask()));
        let decided = async {
            match self.limit {
                None => Some(handlers.join_next().await),
                Some(limit) => tokio::time::timeout(limit, handlers.join_next()).await.ok(),
            }
        };
        let decided = tokio::select! {
            biased;
            decided = decided => decided,
            _ = self.session.ended() => {
                cancelled.cancel();
                // It may have something to take off a screen.
                tokio::time::timeout(MOMENT, handlers.join_next()).await.ok();
                return Err(SendError::SessionEnded.into());
            }
        };
        let answer = match decided {
            Some(Some(Ok(Ok(answer)))) => answer,
            Some(Some(Ok(Err(failure)))) => return Err(ResumeError::Answer(failure)),
            Some(Some(Err(panicked))) => return Err(ResumeError::Answer(panicked.into())),
            Some(None) | None => {
                cancelled.cancel();
                ask().deny("nobody answered in time")
            }
        };
        if answer.tool_use_id != self.request.tool_use_id {
            let what = "the handler answered another call than it was asked about";
            return Err(ResumeError::Answer(what.into()));
        }
        Ok(answer)
    }
}

/// What the model is told, and what the user says besides, in one message: two could be two turns.
fn together(text: String, besides: Option<Content>) -> Content {
    let more = match besides {
        None => return Content::Text(text),
        Some(Content::Blocks(blocks)) => blocks,
        Some(other) => other.texts().map(|text| TextBlock::new(text).into()).collect(),
    };
    let first: ContentBlock = TextBlock::new(text).into();
    Content::Blocks([first].into_iter().chain(more).collect())
}

fn said_yes(tool: &str, input: &RawJson, with: Option<&RawJson>) -> String {
    let mut text = format!(
        "While this session was paused, the user approved your pending call of {tool}. It has not \
         run yet. Make the call again now with exactly this input: {}",
        input.as_str()
    );
    if let Some(with) = with {
        text.push_str("\n\nThe user answered with: ");
        text.push_str(with.as_str());
    }
    text
}
