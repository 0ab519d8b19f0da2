//! Clients: they make sessions, speak in them, interrupt, stop and resume them, and answer what is
//! asked, several at the same time and without knowing of each other.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::permission::PermissionMode;
use countersign_server::api::view::{GiveAnswer, Interrupt, Part, SessionView};
use countersign_server::id::{ApprovalId, SessionId};
use countersign_server::service::{AnswerTaken, MessageTaken, NewMessage, NewSession, SessionMade};
use countersign_server::session::{
    Allow, Answer, Approval, ApprovalKind, ApprovePlan, ChosenSuggestion, Deny, KeepPlanning,
    PlanWay, QuestionAnswer, Reply, SessionOptions, Skip, State,
};
use http::StatusCode;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Failure;
use super::eyes::{About, Eye, Reader};
use super::ledger::Ledger;
use super::script::{self, Errand};
use super::wire::{Told, Wire};
use crate::random::Random;

/// What clients have in common.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The folder that sessions work in.
    pub(super) work: String,
    /// How many sessions there are to be.
    pub(super) sessions: u64,
    /// How long is waited between two things, at most.
    pub(super) pause: Duration,
    /// How long somebody takes to answer, at most.
    pub(super) thinking: Duration,
    /// Nothing new is begun any more.
    pub(super) no_more: CancellationToken,
}

/// Somebody who makes sessions and speaks in them.
pub(super) struct Driver {
    pub(super) wire: Wire,
    pub(super) plan: Plan,
    pub(super) random: Random,
    /// Who watches what, for sessions that are made.
    pub(super) eyes: Arc<dyn Fn(Eye) + Send + Sync>,
}

impl Driver {
    fn ledger(&self) -> &Ledger {
        &self.wire.ledger
    }

    /// Does one thing after the other, until nothing new is to be begun.
    pub(super) async fn work(mut self) -> Result<(), Failure> {
        while !self.plan.no_more.is_cancelled() {
            let sessions: Vec<_> = {
                let noted = self.ledger().noted();
                noted.sessions.values().flatten().copied().collect()
            };
            let count = u64::try_from(sessions.len()).unwrap_or(u64::MAX);
            let few = self.plan.sessions.div_ceil(4);
            let wants = count < few || (count < self.plan.sessions && self.random.percent(10));
            if wants {
                self.create().await?;
            } else if let Some(session) = self.random.one(&sessions).copied() {
                self.something(session).await?;
            }
            let pause = self.random.up_to(self.plan.pause);
            tokio::time::sleep(pause).await;
        }
        Ok(())
    }

    async fn create(&mut self) -> Result<(), Failure> {
        let number = self.ledger().number();
        let title = format!("session {number}");
        let (mode, allowed) = self.random.weighted(
            &[(60, ("default", false)), (20, ("plan", false)), (20, ("default", true))],
            ("default", false),
        );
        let errand = self.errand(mode == "plan");
        let text = self.words(errand);
        let allowed_tools = if allowed { vec!["Bash".to_owned()] } else { Vec::new() };
        let new = NewSession {
            folder: self.plan.work.clone(),
            prompt: Some(text.clone()),
            images: Vec::new(),
            title: Some(title.clone()),
            labels: Default::default(),
            mode: Some(mode.into()),
            model: None,
            options: SessionOptions {
                allowed_tools,
                setting_sources: Some(Vec::new()),
                ..SessionOptions::default()
            },
        };
        {
            let mut noted = self.ledger().noted();
            noted.sessions.insert(title.clone(), None);
            noted.messages.insert(text.clone(), None);
        }
        let Some(told) = self.command("/sessions", &new).await? else { return Ok(()) };
        if let Some(made) = self.read::<SessionMade>(&told, StatusCode::CREATED, "a session") {
            let mut noted = self.ledger().noted();
            noted.sessions.insert(title, Some(made.session));
            noted.messages.insert(text, made.message);
            drop(noted);
            self.show(made.session);
        }
        Ok(())
    }

    /// Has somebody watch a session, now and then.
    fn show(&mut self, session: SessionId) {
        if self.random.percent(40) {
            (self.eyes)(Eye::new(About::Session(session), Reader::Bare));
        }
        if self.random.percent(10) {
            (self.eyes)(Eye::from_the_beginning(About::Session(session), Reader::Typed));
        }
    }

    /// Something that one can tell a model to do.
    fn errand(&mut self, plans: bool) -> Errand {
        let choices = [
            (30, Errand::Append),
            (14, Errand::Slow),
            (12, Errand::Chain),
            (10, Errand::Both),
            (12, Errand::Ask),
            (6, Errand::Enter),
            (if plans { 60 } else { 0 }, Errand::Plan),
            (8, Errand::Say),
        ];
        self.random.weighted(&choices, Errand::Say)
    }

    /// The words for it, which nobody else uses.
    fn words(&self, errand: Errand) -> String {
        format!("{} {}", errand.word(), script::token(self.ledger().number()))
    }

    /// Does something with a session.
    async fn something(&mut self, session: SessionId) -> Result<(), Failure> {
        let view = self.wire.read(async |client| client.session(session).await).await;
        let Some(view) = view else { return Ok(()) };
        let path = |what: &str| format!("/sessions/{session}/{what}");
        let chance = self.random.below(100);
        match (&view.head.turn, view.state) {
            (_, State::Ended | State::Failed) if chance < 30 => {
                self.noted(&path("resume"), &json!({})).await
            }
            (Some(turn), _) if chance < 8 => {
                self.noted(&path("interrupt"), &Interrupt { turn: turn.id }).await
            }
            (Some(_), _) if chance < 13 => self.noted(&path("stop"), &json!({})).await,
            (None, _) if chance < 2 => self.noted(&path("stop"), &json!({})).await,
            (_, _) if (20..23).contains(&chance) => {
                let modes = [PermissionMode::Default, PermissionMode::Plan];
                let mode = self.random.one(&modes).cloned().unwrap_or(PermissionMode::Default);
                let wire = self.wire.clone();
                // By the typed client: whether it is done twice makes no difference.
                let set = wire.read(async |client| client.set_mode(session, mode.clone()).await);
                set.await;
                Ok(())
            }
            _ if view.head.queue.len() < 2 => self.speak(session, &view).await,
            _ => Ok(()),
        }
    }

    async fn speak(&mut self, session: SessionId, view: &SessionView) -> Result<(), Failure> {
        let plans = view.head.mode == PermissionMode::Plan
            && view.head.wanted_mode.is_none()
            && view.head.turn.is_none()
            && view.head.queue.is_empty();
        let errand = self.errand(plans);
        let text = self.words(errand);
        let now = self.random.percent(10);
        let new = NewMessage { text: text.clone(), images: Vec::new(), now };
        self.ledger().noted().messages.insert(text.clone(), None);
        let path = format!("/sessions/{session}/messages");
        let Some(told) = self.command(&path, &new).await? else { return Ok(()) };
        if let Some(taken) = self.read::<MessageTaken>(&told, StatusCode::ACCEPTED, "a message") {
            self.ledger().noted().messages.insert(text, Some(taken.message));
        }
        Ok(())
    }

    /// Wants something of which nothing is kept here. What is too late for it is refused.
    async fn noted(&mut self, path: &str, body: &impl serde::Serialize) -> Result<(), Failure> {
        let Some(told) = self.command(path, body).await? else { return Ok(()) };
        if !matches!(told.status, StatusCode::ACCEPTED | StatusCode::CONFLICT) {
            self.complain(path, &told);
        }
        Ok(())
    }

    async fn command(
        &mut self,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Result<Option<Told>, Failure> {
        let twice = self.random.percent(15);
        command(&self.wire, path, body, twice).await
    }

    fn read<T: serde::de::DeserializeOwned>(
        &self,
        told: &Told,
        status: StatusCode,
        what: &str,
    ) -> Option<T> {
        if told.status == status
            && let Ok(read) = serde_json::from_slice(&told.body)
        {
            return Some(read);
        }
        self.complain(what, told);
        None
    }

    fn complain(&self, what: &str, told: &Told) {
        complain(&self.wire, what, told);
    }
}

fn complain(wire: &Wire, what: &str, told: &Told) {
    let body = String::from_utf8_lossy(&told.body);
    wire.ledger.noted().complaints.push(format!("{what}: {} {body}", told.status));
}

/// Has something done, under a key of its own. Some send it again though it was answered: they are
/// told the same.
async fn command(
    wire: &Wire,
    path: &str,
    body: &impl serde::Serialize,
    twice: bool,
) -> Result<Option<Told>, Failure> {
    let key = format!("key-{}", wire.ledger.number());
    let Some(told) = wire.command(path, &key, body).await? else { return Ok(None) };
    // What was refused was not done, and may be possible by now.
    if twice && told.status.is_success() {
        let again = wire.command(path, &key, body).await?;
        if let Some(again) = again.filter(|again| *again != told) {
            let text = format!("{path}: first {told:?}, then {again:?}");
            wire.ledger.noted().told_otherwise.push(text);
        }
    }
    Ok(Some(told))
}

/// Somebody who answers.
pub(super) struct Decider {
    pub(super) wire: Wire,
    pub(super) plan: Plan,
    pub(super) random: Random,
    /// When what is asked will be answered.
    due: HashMap<ApprovalId, Instant>,
}

impl Decider {
    pub(super) fn new(wire: Wire, plan: Plan, random: Random) -> Self {
        Self { wire, plan, random, due: HashMap::new() }
    }

    /// Answers what is asked, until it is over.
    pub(super) async fn work(mut self) -> Result<(), Failure> {
        while !self.wire.over().is_cancelled() {
            let part = Part { after: None, limit: Some(500) };
            let inbox = self.wire.read(async |client| client.inbox(&part).await).await;
            let Some(inbox) = inbox else { continue };
            let now = Instant::now();
            for approval in inbox.items {
                self.wire.ledger.noted().asked.insert(approval.id);
                let (random, plan) = (&mut self.random, &self.plan);
                let due = self.due.entry(approval.id).or_insert_with(|| {
                    let wait = if random.percent(30) { Duration::ZERO } else { plan.thinking };
                    now + random.up_to(wait)
                });
                if *due <= now || self.plan.no_more.is_cancelled() {
                    self.answer(&approval).await?;
                }
            }
            let pause = self.random.up_to(self.plan.pause);
            tokio::time::sleep(pause).await;
        }
        Ok(())
    }

    async fn answer(&mut self, approval: &Approval) -> Result<(), Failure> {
        let answer = self.choose(approval);
        let path = format!("/approvals/{}/answer", approval.id);
        let body = GiveAnswer { answer: answer.clone() };
        let twice = self.random.percent(15);
        let Some(told) = command(&self.wire, &path, &body, twice).await? else { return Ok(()) };
        let mut noted = self.wire.ledger.noted();
        match told.status {
            StatusCode::ACCEPTED => {
                let taken = serde_json::from_slice::<AnswerTaken>(&told.body)?;
                if let Some(before) = noted.taken.insert(approval.id, answer.clone()) {
                    let text = format!("{}: {before:?} and {answer:?} were taken", taken.approval);
                    noted.told_otherwise.push(text);
                }
            }
            StatusCode::CONFLICT => noted.refused += 1,
            _ => {
                drop(noted);
                complain(&self.wire, "an answer", &told);
            }
        }
        Ok(())
    }

    fn choose(&mut self, approval: &Approval) -> Answer {
        match approval.kind {
            ApprovalKind::Tool => self.about_tool(approval),
            ApprovalKind::Plan => self.about_plan(),
            ApprovalKind::Question => self.about_question(),
            ApprovalKind::EnterPlan => match self.random.below(10) {
                0..5 => Answer::allow(),
                5..8 => Answer::deny("not now"),
                _ => Answer::deny_and_stop("not now"),
            },
            ApprovalKind::Elicitation => Answer::deny("no"),
        }
    }

    fn about_tool(&mut self, approval: &Approval) -> Answer {
        match self.random.below(100) {
            0..58 => Answer::allow(),
            58..66 => self.changed(approval),
            66..69 => {
                let request = approval.permission().ok();
                let suggested = request.and_then(|request| request.permission_suggestions);
                if suggested.is_none_or(|all| all.is_empty()) {
                    return Answer::allow();
                }
                let suggestions = vec![ChosenSuggestion { number: 0, destination: None }];
                Answer::Allow(Allow { suggestions, ..Allow::default() })
            }
            69..92 => Answer::deny("not on a Sunday"),
            _ => Answer::Deny(Deny { message: "stop it".to_owned(), stop: true }),
        }
    }

    /// Lets a command run that adds another token.
    fn changed(&self, approval: &Approval) -> Answer {
        let tokens = script::tokens(approval.request.as_str());
        let (Some(token), "Bash") = (tokens.first(), &*approval.tool) else {
            return Answer::allow();
        };
        // One of two calls: both would come to add the same.
        if token.ends_with(['a', 'b']) {
            return Answer::allow();
        }
        let token = format!("{token}x");
        let input = json!({"command": script::command(&token, &self.plan.work)});
        Answer::Allow(Allow { input: Some(input.into()), ..Allow::default() })
    }

    fn about_plan(&mut self) -> Answer {
        let choice = match self.random.below(100) {
            0..30 => PlanWay::AcceptEdits,
            30..50 => PlanWay::ApproveManually,
            50..65 => PlanWay::ClearContext,
            65..90 => {
                let feedback = "test it as well".to_owned();
                return Answer::KeepPlanning(KeepPlanning { feedback, images: Vec::new() });
            }
            _ => return Answer::deny("no plans"),
        };
        Answer::Plan(ApprovePlan { choice, plan: None, grant_prompts: false, compact: false })
    }

    fn about_question(&mut self) -> Answer {
        match self.random.below(100) {
            0..50 => {
                let choose = vec!["Green".to_owned()];
                Answer::Answers(vec![QuestionAnswer { choose, ..QuestionAnswer::default() }])
            }
            50..70 => Answer::Skip(Skip {}),
            70..90 => Answer::Reply(Reply { text: "Neither.".to_owned() }),
            _ => Answer::deny("no questions"),
        }
    }
}
