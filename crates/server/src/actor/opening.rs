//! How a process begins: with what has to be told to it first.

use std::sync::Arc;

use countersign::Session;
use countersign::park::Raised;
use countersign::protocol::ids::MessageUuid;
use countersign::protocol::message::UserMessage;
use countersign_protocol::RawJson;
use uuid::Uuid;

use super::launch::{CallResult, Launch, Opened, missing, result_of, servers};
use super::live::LOOK;
use super::words::{decision, digest, story, without_stderr};
use super::{Actor, Leave, started};
use crate::id::{ApprovalId, TurnId};
use crate::session::{
    Allow, Answer, Approval, ApprovalClosed, ApprovalDelivered, ApprovalKind, By,
    ConversationChanged, Delivery, Deny, Effects, GrantMade, Happening, KeepPlanning,
    MessageReturned, ModeWanted, Noted, RulesChanged, Stage, TurnBegan, TurnCause, TurnEnd,
    TurnEnded,
};
use crate::store::StoreError;

/// What a process is started for.
enum Purpose {
    /// The answer to the one call that it is parked on.
    Raise(ApprovalId),
    /// Answers, or to go on with a turn, for which the model is told something.
    Tell,
    /// Messages.
    Messages,
}

impl Actor {
    /// Starts the CLI, and tells it what it has to know first.
    pub(super) async fn open(&mut self) -> Result<Session, Leave> {
        let purpose = self.purpose();
        let (hub, head, desk) = (Arc::clone(&self.hub), Arc::clone(&self.head), self.desk.clone());
        let token = match purpose {
            Purpose::Raise(approval) => {
                match self.hub.read(self.id, |store| store.parking_token(approval)).await {
                    Ok(token) => token,
                    Err(error @ StoreError::Unreadable { .. }) => {
                        // The model is told instead.
                        tracing::error!(session = %self.id, %error, "a call cannot be brought back");
                        None
                    }
                    Err(error) => return Err(self.unread(&error)),
                }
            }
            _ => None,
        };
        self.servers = servers(&hub, &head).map_err(Leave::NotOpened)?;
        let servers = self.servers.as_ref().map(|file| file.path().to_owned());
        let opening = async move {
            let launch = Launch::of(&hub, &head, &desk, servers.as_deref()).await?;
            match &token {
                Some(token) => launch.raise(token).await,
                None => launch.open().await,
            }
        };
        let mut opening = Box::pin(opening);
        // It may ask before it has started: a call that comes back does.
        let opened = loop {
            if let Some(why) = self.is_unwanted() {
                if !matches!(purpose, Purpose::Raise(_)) {
                    return Err(Leave::Closed(why));
                }
                // The transcript says by now that the call is to be asked for again, and it would be by
                // every process from now on. So it is, and is refused.
                self.refuse_waiting(why).await?;
            }
            tokio::select! {
                biased;
                Some(ask) = self.asks.recv() => self.asked(ask, None).await?,
                opened = &mut opening => break opened.map_err(Leave::NotOpened)?,
                () = self.hub.ending().cancelled() => {
                    return Err(Leave::Closed("the server stops"));
                }
                () = self.poke.notified() => {
                    self.look().await;
                    self.deliver().await?;
                }
                // Somebody may wait for an answer that could not be looked at.
                () = tokio::time::sleep(LOOK) => {
                    self.look().await;
                    self.deliver().await?;
                }
            }
        };
        let session = opened.session().handle();
        let begun = self.begin(opened, &purpose).await;
        if begun.is_err() {
            // Nothing is said of a process that is gone while it may still do something.
            session.kill().await;
        }
        begun
    }

    /// Goes on with a process that has started.
    async fn begin(&mut self, opened: Opened, purpose: &Purpose) -> Result<Session, Leave> {
        self.write(vec![started(self.generation, opened.session())]).await?;
        let is_raised = matches!(opened, Opened::Raised(..));
        if let Some(why) = self.is_unwanted().filter(|_| !is_raised) {
            return Err(Leave::Closed(why));
        }
        let session = self.opened(opened, purpose).await?;
        // What an earlier process was given and the conversation lacks was put back.
        let before = self.head.turn.iter().flat_map(|turn| &turn.messages);
        self.watching.taken_up.extend(before.map(ToString::to_string));
        for ask in std::mem::take(&mut self.early) {
            self.asked(ask, Some(&session)).await?;
        }
        Ok(session)
    }

    /// Why there is nothing to be done for which it is started, if there is not.
    fn is_unwanted(&self) -> Option<&'static str> {
        if self.head.stop {
            return Some("the session was stopped");
        }
        self.head.interrupt.map(|_| "the turn was interrupted")
    }

    fn purpose(&self) -> Purpose {
        let head = &self.head;
        let mut due = head.undelivered();
        match (due.next(), due.next()) {
            (Some((approval, pending)), None)
                if pending.kind.is_permission()
                    && pending.has_token
                    // Whoever was told may have made the call again.
                    && !pending.told
                    && head.goes_on.is_none()
                    && !head.conversation.retell =>
            {
                Purpose::Raise(approval)
            }
            (Some(_), _) => Purpose::Tell,
            (None, _) if head.goes_on.is_some() => Purpose::Tell,
            (None, _) => Purpose::Messages,
        }
    }

    /// Goes on from how the CLI has started.
    async fn opened(&mut self, opened: Opened, purpose: &Purpose) -> Result<Session, Leave> {
        match opened {
            Opened::Plain(session) => {
                if matches!(purpose, Purpose::Raise(_) | Purpose::Tell) {
                    self.tell(&session).await?;
                }
                Ok(session)
            }
            Opened::Raised(session, Raised::SameCall) => Ok(session),
            Opened::Raised(session, raised) => {
                self.told_by_client(purpose, raised).await?;
                Ok(session)
            }
            Opened::NotRaised(session, why) => {
                let why = without_stderr(&why);
                tracing::info!(session = %self.id, why, "a call cannot be brought back");
                self.tell(&session).await?;
                Ok(session)
            }
            Opened::AlreadyDone(session) => {
                if let Purpose::Raise(approval) = *purpose
                    && self.had_effect(approval).await?
                {
                    let why = "the call has its result already".to_owned();
                    self.close_undelivered(approval, why).await?;
                }
                self.tell(&session).await?;
                Ok(session)
            }
        }
    }

    /// The client has told the model what was decided, or there is nothing to be told.
    async fn told_by_client(&mut self, purpose: &Purpose, raised: Raised) -> Result<(), Leave> {
        let Purpose::Raise(approval) = *purpose else { return Ok(()) };
        let (why, is_over) = match raised {
            Raised::Stopped { why } => (why, true),
            Raised::Told { why } => (why, false),
            _ => return Ok(()),
        };
        let text =
            format!("The call does not come back ({why}); the model is told what was decided.");
        let mut happens: Vec<Happening> = vec![Noted { text }.into()];
        if !is_over {
            // Nobody knows whether it has read that before it speaks.
            self.watching.told.insert(approval);
        }
        if let Some(pending) = self.head.approvals.get(&approval)
            && pending.stage == Stage::Delivered
            && is_over
        {
            let end = pending.effective_end();
            happens.push(ApprovalClosed { approval, end, why: Some(why) }.into());
        }
        if let Some(turn) = self.head.turn.as_ref().filter(|_| is_over) {
            let (turn, end) = (turn.id, TurnEnd::Interrupted);
            happens.push(TurnEnded { turn, end, used: None, why: None }.into());
        }
        self.write(happens).await
    }

    /// Whether the result that a call has came of its answer. A CLI that loses the one whom it asks
    /// refuses the call by itself, and that is a result, too.
    async fn had_effect(&mut self, approval: ApprovalId) -> Result<bool, Leave> {
        let Some(pending) = self.head.approvals.get(&approval) else { return Ok(true) };
        if pending.stage == Stage::Answered {
            // It never went out.
            return Ok(false);
        }
        let call = pending.tool_use_id.clone().unwrap_or_default();
        let stored = self.approval(approval).await?;
        let Some(given) = stored.and_then(|stored| stored.given) else { return Ok(false) };
        Ok(match result_of(&self.hub, &self.head, &call).await {
            Some(result) => is_result_of(&given.answer, &result),
            // It was told to the model instead.
            None => true,
        })
    }

    async fn close_undelivered(&mut self, approval: ApprovalId, why: String) -> Result<(), Leave> {
        let Some(pending) = self.head.approvals.get(&approval) else { return Ok(()) };
        let (generation, end) = (self.generation, pending.effective_end());
        let how = Delivery::Nothing;
        self.write(vec![
            ApprovalDelivered { approval, generation, how }.into(),
            ApprovalClosed { approval, end, why: Some(why) }.into(),
        ])
        .await
    }

    /// Tells the model what was decided while it had no process, and has it go on. That it is told
    /// is written first, and that it was when the model speaks: until then it is told again by the
    /// next process. A call that the model may make because of it may run once, and until it does, it
    /// is told of again, too.
    async fn tell(&mut self, session: &Session) -> Result<(), Leave> {
        if self.return_messages().await? {
            return Ok(());
        }
        let due: Vec<_> = self.head.undelivered().map(|(id, _)| id).collect();
        let mut happens: Vec<Happening> = Vec::new();
        let mut texts = Vec::new();
        for approval in due {
            let Some(stored) = self.approval(approval).await? else { continue };
            let Some(given) = &stored.given else { continue };
            texts.push(decision(&stored, &given.answer));
            let (generation, how) = (self.generation, Delivery::Told);
            happens.push(ApprovalDelivered { approval, generation, how }.into());
            happens.extend(changes_of(&stored, &given.answer));
            if let Some(input) = granted_input(&stored, &given.answer)
                && !self.head.has_grant(approval)
            {
                let (tool, input) = (stored.tool.clone(), digest(&input));
                happens.push(GrantMade { approval, tool, input }.into());
            }
        }
        match (&self.head.goes_on, texts.is_empty()) {
            (Some(goes_on), _) => texts.push(goes_on.say.clone()),
            (None, true) => texts.push("Go on where you were.".to_owned()),
            (None, false) => {}
        }
        if self.head.turn.is_none() {
            if happens.is_empty() {
                return Ok(());
            }
            // It was asked outside of a turn, as far as is known.
            let turn = TurnId::new();
            happens.insert(0, TurnBegan { turn, cause: TurnCause::Answer }.into());
        }
        if let Some(story) = self.retold().await? {
            texts.insert(0, story);
        }
        if !happens.is_empty() && !self.write_unless_refused(happens).await? {
            // Somebody has ended the turn meanwhile.
            return self.is_unwanted().map_or(Ok(()), |why| Err(Leave::Closed(why)));
        }
        let mut message = UserMessage::prompt(texts.join("\n\n"));
        message.uuid = Some(self.name_of_telling());
        message.is_synthetic = Some(true);
        if let Err(error) = session.handle().post(message).await {
            let error = error.to_string();
            let error = without_stderr(&error);
            tracing::info!(session = %self.id, error, "the model could not be told");
        }
        Ok(())
    }

    /// What was said until now, if the conversation knows nothing of it.
    pub(super) async fn retold(&mut self) -> Result<Option<String>, Leave> {
        if !self.head.conversation.retell {
            return Ok(None);
        }
        if self.watching.story_told {
            return Ok(None);
        }
        match story(&self.hub, &self.head).await {
            Ok(Some(story)) => {
                // It was told when the model has read it.
                self.watching.story_told = true;
                Ok(Some(story))
            }
            Ok(None) => {
                let conversation = self.head.conversation.id;
                let changed = ConversationChanged { conversation, begun: true, retell: false };
                self.write(vec![changed.into()]).await?;
                Ok(None)
            }
            Err(error) => {
                // Without it the model would not know what is talked of. It is told later.
                let text =
                    format!("What was said until now could not be told to the model: {error}");
                self.note(text).await?;
                Ok(None)
            }
        }
    }

    /// Puts messages back that the CLI did not take note of. Says whether the turn had not begun
    /// because of that, so that there is nothing to go on with.
    async fn return_messages(&mut self) -> Result<bool, Leave> {
        let Some(turn) = &self.head.turn else { return Ok(false) };
        if self.head.conversation.retell {
            // It begins with a conversation that has nothing of what was said, and is told all of it:
            // also of calls that may have run.
            return Ok(false);
        }
        let (id, messages) = (turn.id, turn.messages.clone());
        let lost = missing(&self.hub, &self.head, &messages).await;
        let is_all = !lost.is_empty() && lost.len() == messages.len();
        // Otherwise something came of it, which the model has to know when it goes on.
        let is_new = is_all && self.head.approvals.is_empty() && !self.head.has_unknown();
        let mut happens: Vec<Happening> =
            lost.into_iter().rev().map(|message| MessageReturned { message }.into()).collect();
        if is_new {
            let why = Some("the CLI ended before it took note of the message".to_owned());
            let end = TurnEnd::CutOff;
            happens.push(TurnEnded { turn: id, end, used: None, why }.into());
        }
        if !happens.is_empty() {
            self.write(happens).await?;
        }
        Ok(is_new)
    }

    /// The name of the message that tells the model how to go on: always the same for one process,
    /// so that it is not told twice.
    fn name_of_telling(&self) -> MessageUuid {
        let text = format!("going on {}", self.generation);
        MessageUuid::from(Uuid::new_v5(&self.id.uuid(), text.as_bytes()).to_string())
    }
}

/// Whether this is what the CLI makes of such an answer.
fn is_result_of(answer: &Answer, result: &CallResult) -> bool {
    match answer {
        Answer::Deny(Deny { message: said, .. })
        | Answer::KeepPlanning(KeepPlanning { feedback: said, .. }) => {
            !said.is_empty() && result.text.contains(&**said)
        }
        _ => !result.is_error,
    }
}

/// The input with which the model may make the call because of this answer.
fn granted_input(approval: &Approval, answer: &Answer) -> Option<RawJson> {
    match (approval.kind, answer) {
        (ApprovalKind::Tool, Answer::Allow(Allow { input: Some(input), .. })) => {
            Some(input.clone())
        }
        (ApprovalKind::Tool, Answer::Allow(_)) => Some(approval.permission().ok()?.input),
        (ApprovalKind::EnterPlan, Answer::Allow(_)) => Some(input_of(&approval.request)),
        _ => None,
    }
}

/// What changes with an answer besides, when it is told. A plan is put to a person again, and with it
/// what comes of it.
fn changes_of(approval: &Approval, answer: &Answer) -> Vec<Happening> {
    if approval.kind != ApprovalKind::Tool {
        return Vec::new();
    }
    let Ok(Effects { updates, mode, .. }) = approval.check(answer) else { return Vec::new() };
    let mut happens: Vec<Happening> = Vec::new();
    if !updates.is_empty() {
        let approval = Some(approval.id);
        happens.push(RulesChanged { updates, approval }.into());
    }
    // The CLI does not hear of it with the answer, so it is asked for.
    happens.extend(mode.map(|mode| ModeWanted { mode, by: By::Server }.into()));
    happens
}

/// The input in the request of a hook.
fn input_of(request: &RawJson) -> RawJson {
    let fields = request.decode::<std::collections::BTreeMap<String, RawJson>>();
    fields
        .ok()
        .and_then(|mut fields| fields.remove("tool_input"))
        .unwrap_or_else(RawJson::empty_object)
}
