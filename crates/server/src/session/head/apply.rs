//! What each event makes of a session, and which may not happen.

use countersign_protocol::permission::PermissionMode;
use jiff::Timestamp;

use super::{
    Call, Changes, Conversation, Grant, Head, Pending, Process, Queued, Refused, Turn, Usage,
    WantedModel,
};
use crate::id::{ApprovalId, SessionId, TurnId};
use crate::session::approval::{ApprovalKind, Stage};
use crate::session::by::By;
use crate::session::event::{
    ApprovalEnd, ApprovalOpened, Created, Delivery, Happening, ToolCalled, TurnEnd, Used, Wish,
    WishRefused,
};
use crate::session::rules::Rules;

/// How much of a message is a title.
const TITLE: usize = 80;

impl Head {
    /// What the first event of a session makes of it.
    ///
    /// # Errors
    /// When the event is another one than [`Happening::Created`].
    pub fn create(id: SessionId, at: Timestamp, first: &Happening) -> Result<Self, Refused> {
        let Happening::Created(created) = first else { return Err(Refused::NoSession(id)) };
        let Created { folder, title, labels, mode, model, options, conversation, parent, by: _ } =
            created.clone();
        Ok(Self {
            id,
            seq: 1,
            created_at: at,
            updated_at: at,
            title,
            title_of: None,
            labels,
            archived: false,
            folder,
            options: *options,
            parent,
            mode,
            wanted_mode: None,
            model,
            wanted_model: None,
            rules: Rules::default(),
            conversation: Conversation { id: conversation, begun: false, retell: false },
            process: Process::None,
            generation: 0,
            turn: None,
            queue: Vec::new(),
            approvals: Default::default(),
            calls: Default::default(),
            grants: Vec::new(),
            interrupt: None,
            stop: false,
            failure: None,
            goes_on: None,
            failures: Vec::new(),
            plans: 0,
            usage: Usage::default(),
            changes: Changes::default(),
        })
    }

    /// Takes note of what happened next.
    ///
    /// # Errors
    /// When it cannot happen. The head is then to be thrown away: part of it may have changed.
    pub fn apply(&mut self, at: Timestamp, happening: &Happening) -> Result<(), Refused> {
        let before = self.state();
        self.change(at, happening)?;
        // What it waited for a process for may be gone.
        if self.process == Process::Awaited && !self.wants_process() {
            self.process = Process::None;
        }
        self.seq += 1;
        self.updated_at = at;
        let next = self.state();
        if before != next && !before.may_become(next) {
            return Err(Refused::Transition { state: before, next });
        }
        Ok(())
    }

    fn change(&mut self, at: Timestamp, happening: &Happening) -> Result<(), Refused> {
        match happening {
            Happening::Created(_) => return Err(Refused::Exists(self.id)),
            Happening::Renamed(to) => {
                self.title.clone_from(&to.title);
                self.title_of = None;
            }
            Happening::Labelled(to) => self.labels.clone_from(&to.labels),
            Happening::Archived(to) => {
                self.without_process("stop it before you archive it")?;
                self.archived = to.archived;
            }
            Happening::Deleted(deleted) => {
                self.without_process("stop it before you delete it")?;
                if deleted.by == By::Server && !self.archived {
                    let instead = "only what is in the archive is deleted by the server";
                    return Err(Refused::State { state: self.state(), instead });
                }
            }
            Happening::StopAsked(_) => self.stop = true,
            Happening::ResumeAsked(_) => self.try_again(),
            Happening::Failed(failed) => {
                self.without_process("its process has to end first")?;
                self.process = Process::None;
                self.failure = Some(failed.why.clone());
            }
            Happening::AwaitsProcess(_) => {
                self.without_process("it has a process")?;
                self.process = Process::Awaited;
            }
            Happening::Noted(_) => {}
            Happening::ToolCalled(called) => self.called(called),
            Happening::ToolDecided(decided) => {
                let known = self.calls.remove(&decided.tool_use_id);
                known.ok_or_else(|| Refused::NoCall(decided.tool_use_id.clone()))?;
            }

            Happening::MessageQueued(said) => {
                if self.knows(said.message) {
                    return Err(Refused::MessageExists(said.message));
                }
                if self.is_over_budget() {
                    return Err(Refused::OverBudget);
                }
                if self.title.is_empty() {
                    self.title = title_of(&said.content.text);
                    self.title_of = Some(said.message);
                }
                let queued = Queued { message: said.message, now: said.now, again: false };
                if said.first {
                    self.queue.insert(0, queued);
                } else {
                    self.queue.push(queued);
                }
                self.try_again();
            }
            Happening::MessageEdited(edited) => {
                let queued = self.queued(edited.message)?;
                // The CLI may know it as it was.
                if queued.again {
                    return Err(Refused::NotQueued(edited.message));
                }
                if self.title_of == Some(edited.message) {
                    self.title = title_of(&edited.content.text);
                }
            }
            Happening::MessageRemoved(removed) => {
                self.queued(removed.message)?;
                self.queue.retain(|queued| queued.message != removed.message);
                if self.title_of.take_if(|message| *message == removed.message).is_some() {
                    self.title.clear();
                }
            }
            Happening::MessagesOrdered(to) => self.order(&to.order)?,
            Happening::MessageSent(sent) => {
                self.queued(sent.message)?;
                let turn = self.running(sent.turn)?;
                turn.messages.push(sent.message);
                self.queue.retain(|queued| queued.message != sent.message);
            }
            Happening::MessageReturned(returned) => {
                let turn = self.turn.as_mut();
                let turn = turn.filter(|turn| turn.messages.contains(&returned.message));
                let turn = turn.ok_or(Refused::NotQueued(returned.message))?;
                turn.messages.retain(|message| *message != returned.message);
                let queued = Queued { message: returned.message, now: false, again: true };
                self.queue.insert(0, queued);
            }

            Happening::TurnBegan(began) => {
                self.with_process()?;
                if let Some(turn) = &self.turn {
                    return Err(Refused::StaleTurn { meant: began.turn, running: Some(turn.id) });
                }
                self.turn = Some(Turn { id: began.turn, began_at: at, messages: Vec::new() });
                self.conversation.begun = true;
            }
            Happening::TurnEnded(ended) => {
                self.running(ended.turn)?;
                self.turn = None;
                self.goes_on = None;
                self.interrupt = None;
                if ended.end == TurnEnd::Done {
                    self.failures.clear();
                }
                if let Some(used) = &ended.used {
                    self.used(used);
                }
            }
            Happening::InterruptAsked(asked) => {
                self.running(asked.turn)?;
                self.interrupt = Some(asked.turn);
            }
            Happening::GoesOn(goes_on) => {
                self.running(goes_on.turn)?;
                self.goes_on = Some(goes_on.clone());
            }

            Happening::ModeWanted(wanted) => self.wanted_mode = Some(wanted.mode.clone()),
            Happening::ModeChanged(changed) => self.mode(&changed.mode),
            Happening::ModelWanted(wanted) => {
                self.wanted_model = Some(WantedModel { model: wanted.model.clone() });
            }
            Happening::ModelChanged(changed) => {
                self.model.clone_from(&changed.model);
                self.wanted_model.take_if(|wanted| wanted.model == changed.model);
            }
            // Somebody may want another one by now.
            Happening::WishRefused(WishRefused { wish, value, .. }) => match wish {
                Wish::Mode => drop(
                    self.wanted_mode.take_if(|wanted| Some(wanted.as_str()) == value.as_deref()),
                ),
                Wish::Model => {
                    self.wanted_model.take_if(|wanted| wanted.model == *value);
                }
            },
            Happening::RulesChanged(changed) => {
                for update in &changed.updates {
                    self.rules.update(update, changed.approval, at);
                }
            }

            Happening::ProcessStarting(starting) => {
                self.without_process("it has a process")?;
                if starting.generation != self.generation + 1 {
                    let (meant, current) = (starting.generation, self.generation);
                    return Err(Refused::Gone { meant, current });
                }
                self.generation = starting.generation;
                self.process = Process::Starting;
                self.failure = None;
            }
            Happening::ProcessStarted(started) => {
                self.is_process(started.generation)?;
                self.process = Process::Alive {
                    process: started.process,
                    mark: started.mark,
                    version: started.version.clone(),
                };
            }
            Happening::ProcessEnded(ended) => {
                self.is_process(ended.generation)?;
                self.process = Process::None;
                self.calls.clear();
                if ended.failed {
                    self.failures.push(at);
                }
            }
            Happening::Parked(parked) => self.is_process(parked.generation)?,
            Happening::ConversationChanged(changed) => {
                self.conversation = Conversation {
                    id: changed.conversation,
                    begun: changed.begun,
                    retell: changed.retell,
                };
            }

            Happening::ApprovalOpened(opened) => self.open(at, opened)?,
            Happening::ApprovalAnswered(answered) => {
                let pending = self.pending(answered.approval)?;
                if pending.stage != Stage::Open {
                    return Err(Refused::Answered(answered.approval));
                }
                pending.stage = Stage::Answered;
                pending.allows = answered.answer.allows();
                pending.stops = answered.answer.stops();
                pending.expired = answered.by == By::Expiry;
                self.try_again();
            }
            Happening::ApprovalDelivered(delivered) => {
                // Whoever ended the turn was first.
                if delivered.how != Delivery::Nothing && self.is_being_ended() {
                    let instead = "the turn is being ended";
                    return Err(Refused::State { state: self.state(), instead });
                }
                let current = self.generation;
                let pending = self.pending(delivered.approval)?;
                if pending.stage == Stage::Open {
                    return Err(Refused::Unanswered(delivered.approval));
                }
                if delivered.generation != current {
                    return Err(Refused::Gone { meant: delivered.generation, current });
                }
                // Twice to one process would be twice to one call.
                if pending.stage == Stage::Delivered && pending.generation == current {
                    return Err(Refused::NotOpen(delivered.approval));
                }
                pending.stage = Stage::Delivered;
                pending.generation = current;
                pending.told = delivered.how == Delivery::Told;
            }
            Happening::ApprovalClosed(closed) => self.close(closed.approval, closed.end)?,
            Happening::GrantMade(made) => {
                let (approval, tool, input) =
                    (made.approval, made.tool.clone(), made.input.clone());
                self.grants.push(Grant { approval, tool, input });
            }
            Happening::GrantUsed(used) => {
                let found = self.grants.iter().position(|grant| grant.approval == used.approval);
                let found = found.ok_or(Refused::NotOpen(used.approval))?;
                self.grants.remove(found);
                self.calls.remove(&used.tool_use_id);
                // What becomes of the approval is what becomes of that call.
                if let Some(pending) = self.approvals.get_mut(&used.approval) {
                    pending.tool_use_id = Some(used.tool_use_id.clone());
                    pending.told = false;
                }
            }

            Happening::FileChanged(changed) => {
                self.changes.added = self.changes.added.saturating_add(changed.added);
                self.changes.removed = self.changes.removed.saturating_add(changed.removed);
            }
            Happening::LimitNoted(noted) => {
                self.usage.limit_notice = noted.notice.decode().ok();
            }
            Happening::Frame(frame) => self.is_process(frame.generation)?,
        }
        Ok(())
    }

    /// Somebody wants it to go on.
    fn try_again(&mut self) {
        self.stop = false;
        self.failure = None;
        self.failures.clear();
    }

    fn knows(&self, message: crate::id::MessageId) -> bool {
        self.queue.iter().any(|queued| queued.message == message)
            || self.turn.as_ref().is_some_and(|turn| turn.messages.contains(&message))
    }

    fn queued(&self, message: crate::id::MessageId) -> Result<&Queued, Refused> {
        let found = self.queue.iter().find(|queued| queued.message == message);
        found.ok_or(Refused::NotQueued(message))
    }

    fn order(&mut self, order: &[crate::id::MessageId]) -> Result<(), Refused> {
        let mut left = std::mem::take(&mut self.queue);
        for message in order {
            let found = left.iter().position(|queued| queued.message == *message);
            self.queue.push(left.remove(found.ok_or(Refused::NotAnOrder)?));
        }
        if left.is_empty() { Ok(()) } else { Err(Refused::NotAnOrder) }
    }

    fn running(&mut self, meant: TurnId) -> Result<&mut Turn, Refused> {
        let running = self.turn.as_ref().map(|turn| turn.id);
        match &mut self.turn {
            Some(turn) if turn.id == meant => Ok(turn),
            _ => Err(Refused::StaleTurn { meant, running }),
        }
    }

    fn with_process(&self) -> Result<(), Refused> {
        if self.process.is_there() {
            return Ok(());
        }
        Err(Refused::State { state: self.state(), instead: "it needs a process first" })
    }

    fn without_process(&self, instead: &'static str) -> Result<(), Refused> {
        if !self.process.is_there() {
            return Ok(());
        }
        Err(Refused::State { state: self.state(), instead })
    }

    /// Whether this process is the one that there is.
    fn is_process(&self, meant: u64) -> Result<(), Refused> {
        if self.process.is_there() && meant == self.generation {
            return Ok(());
        }
        Err(Refused::Gone { meant, current: self.generation })
    }

    fn mode(&mut self, mode: &PermissionMode) {
        self.mode = mode.clone();
        self.wanted_mode.take_if(|wanted| *wanted == *mode);
    }

    fn open(&mut self, at: Timestamp, opened: &ApprovalOpened) -> Result<(), Refused> {
        self.is_process(opened.generation)?;
        if opened.kind == ApprovalKind::Plan {
            self.plans += 1;
        }
        if let Some(call) = &opened.tool_use_id {
            self.calls.remove(call);
        }
        let pending = Pending {
            kind: opened.kind,
            tool: opened.tool.clone(),
            tool_use_id: opened.tool_use_id.clone(),
            stage: Stage::Open,
            opened_at: at,
            generation: opened.generation,
            has_token: opened.token.is_some(),
            allows: false,
            stops: false,
            expired: false,
            told: false,
        };
        self.approvals.insert(opened.approval, pending);
        Ok(())
    }

    /// A call is about to run. One that comes back is asked about already.
    fn called(&mut self, called: &ToolCalled) {
        let id = called.tool_use_id.as_str();
        let is_asked = |pending: &Pending| pending.tool_use_id.as_deref() == Some(id);
        if !self.approvals.values().any(is_asked) {
            let ToolCalled { tool, mode, agent, .. } = called.clone();
            self.calls.insert(id.to_owned(), Call { tool, mode, agent });
        }
    }

    fn pending(&mut self, approval: ApprovalId) -> Result<&mut Pending, Refused> {
        self.approvals.get_mut(&approval).ok_or(Refused::NotOpen(approval))
    }

    fn close(&mut self, approval: ApprovalId, end: ApprovalEnd) -> Result<(), Refused> {
        let stage = self.pending(approval)?.stage;
        let fits = match end {
            ApprovalEnd::Done | ApprovalEnd::Unknown | ApprovalEnd::Expired => {
                stage == Stage::Delivered
            }
            ApprovalEnd::Cancelled => true,
        };
        if !fits {
            return Err(match stage {
                Stage::Open => Refused::Unanswered(approval),
                _ => Refused::Answered(approval),
            });
        }
        self.approvals.remove(&approval);
        self.grants.retain(|grant| grant.approval != approval);
        Ok(())
    }

    fn used(&mut self, used: &Used) {
        let usage = &mut self.usage;
        usage.cost_usd += used.cost_usd;
        usage.input_tokens += used.input_tokens;
        usage.output_tokens += used.output_tokens;
        usage.model_calls += used.model_calls;
        usage.duration_ms += used.duration_ms;
        usage.turns += 1;
        if used.context_window > 0 {
            usage.context_window = used.context_window;
        }
        if used.context_tokens > 0 {
            usage.context_tokens = used.context_tokens;
        }
        usage.cli_total_usd = used.cli_total_usd;
        usage.cli_total_of = self.generation;
    }
}

/// A title made of what was said first.
fn title_of(text: &str) -> String {
    let plain: String = text.chars().filter(|letter| !is_unseen(*letter)).collect();
    let line = plain.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut title: String = line.chars().take(TITLE).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

/// Whether a character changes how others are shown, and is not seen itself: it would change what
/// stands around the title.
fn is_unseen(letter: char) -> bool {
    let is_line = matches!(letter, '\n');
    let is_direction = matches!(letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (letter.is_control() && !is_line) || is_direction
}
