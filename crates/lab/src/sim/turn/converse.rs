//! The rounds of a turn: the model speaks, tools run, the model speaks again.

use std::rc::Rc;

use super::Scope;
use super::api_error::spoken_name;
use super::result::{ApiFailure, End};
use super::stream::Said;
use crate::sim::json::{Json, Object, obj};
use crate::sim::profile::Release;
use crate::sim::state::Sim;
use crate::sim::tools::{Call, Outcome, Started};

const GO_ON: &str = "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is where the cut happened. Break remaining work into smaller pieces.";
const REFUSED: &str = "Your response above was stopped by a safety classifier — this is not a tool or API error. The rest of it was withheld, and tool calls in it that had not finished did not run. Do not produce that content again, even reworded.";

impl Sim {
    /// Lets the model speak and tools run until there is nothing more to do.
    pub(crate) async fn converse(self: &Rc<Self>, scope: &Rc<Scope>) -> End {
        loop {
            match self.rounds(scope).await {
                Ok(()) => {}
                Err(end) => return end,
            }
        }
    }

    /// Runs rounds until the model has nothing more to say; then the hooks may make it go on.
    async fn rounds(self: &Rc<Self>, scope: &Rc<Scope>) -> Result<(), End> {
        let mut rounds = 0;
        let mut refused = false;
        loop {
            if let Some(most) =
                self.args.max_turns.filter(|most| rounds >= *most && scope.agent().is_none())
            {
                return Err(End::MaxTurns(most));
            }
            self.check_budget()?;
            rounds += 1;
            let said = self.speak(scope).await?;
            if said.calls.is_empty() || !self.profile.asks_without_money {
                self.check_budget()?;
            }
            if !said.calls.is_empty() {
                self.run_tools(scope, said.calls).await?;
                self.fold_in(scope);
                continue;
            }
            match said.stop_reason.as_str() {
                "max_tokens" => self.go_on(scope),
                "refusal" if self.profile.continues_after_refusal && !refused => {
                    refused = true;
                    self.note_refusal(scope, &said);
                }
                "refusal" => return Err(self.tell_refusal(scope, &said)),
                _ => break,
            }
        }
        self.run_stop_hooks(scope).await
    }

    fn check_budget(&self) -> Result<(), End> {
        let spent = self.meter.borrow().cost_of_process(self.profile);
        match self.args.max_budget_usd.filter(|most| spent >= *most) {
            Some(most) => Err(End::Budget(most)),
            None => Ok(()),
        }
    }

    /// Runs the calls of one message: those that only look, side by side; the others one by one.
    pub(super) async fn run_tools(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        calls: Vec<(Call, Option<Started>)>,
    ) -> Result<(), End> {
        let mut results: Vec<Json> = Vec::new();
        let mut running: Vec<Started> = Vec::new();
        let mut end = None;
        let mut left = calls.into_iter();
        for (call, started) in left.by_ref() {
            let beside = call.runs_beside_others();
            if !beside {
                end = end.or(self.finish_all(&mut running, &mut results).await);
                if end.is_some() {
                    break;
                }
            }
            let started = started.unwrap_or_else(|| self.start_call(scope, &call));
            running.push(started);
            if !beside {
                end = end.or(self.finish_all(&mut running, &mut results).await);
            }
            if end.is_some() {
                break;
            }
        }
        end = end.or(self.finish_all(&mut running, &mut results).await);
        if matches!(end, Some(End::Aborted { .. })) {
            for (call, _) in left {
                results.push(self.reject_unstarted(scope, &call));
            }
            scope.with_thread(self, |thread| thread.push_user(&results.into()));
            if scope.agent().is_none() {
                self.emit_interruption(scope, true);
            }
            return Err(End::Aborted { in_tools: true });
        }
        if let Some(end) = end {
            return Err(end);
        }
        if !results.is_empty() {
            scope.with_thread(self, |thread| thread.push_user(&results.into()));
        }
        self.batch_hooks(scope).await;
        if let Some(call) = scope.turn.deferred.borrow_mut().take() {
            return Err(End::Deferred(call));
        }
        if scope.turn.hook_stopped.get() {
            return Err(End::HookStopped);
        }
        // An older version lets the model say something more.
        if scope.turn.structured.borrow().is_some() && self.profile.modern {
            return Err(End::Structured);
        }
        Ok(())
    }

    /// Waits for calls. Their results are added in the order in which they came.
    async fn finish_all(&self, running: &mut Vec<Started>, results: &mut Vec<Json>) -> Option<End> {
        let mut end = None;
        for started in running.drain(..) {
            match started.outcome().await {
                Outcome::Result(block) => results.push(block),
                Outcome::Deferred => {}
                Outcome::Aborted(block) => {
                    results.push(block);
                    end = Some(End::Aborted { in_tools: true });
                }
                Outcome::OutOfMoney(most) => end = end.or(Some(End::Budget(most))),
            }
        }
        end
    }

    /// What the user said in the meantime goes to the model with the results.
    fn fold_in(&self, scope: &Rc<Scope>) {
        if scope.agent().is_some() {
            return;
        }
        // On 2.1.62 even a slash command is taken for words.
        let everything = !self.profile.commands_as_assistant;
        let messages =
            self.queue.borrow_mut().take_prompts(|message| everything || !self.is_command(message));
        for message in messages {
            if let Some(uuid) = &message.uuid {
                scope.turn.folded.borrow_mut().push(uuid.clone());
                self.emit_lifecycle(uuid, "started");
            }
            if self.args.replay_user_messages {
                self.emit_replay(&message.content, message.uuid.as_deref());
            }
            self.thread.borrow_mut().push_user(&message.content);
            self.store_prompt(&message, &scope.turn);
        }
    }

    /// The answer was too long: the model is told to go on.
    fn go_on(&self, scope: &Rc<Scope>) {
        match self.profile.release {
            Release::V325 => self.tell_model(scope, GO_ON, Object::default()),
            Release::V197 => {
                let content = Json::from(GO_ON);
                scope.with_thread(self, |thread| thread.push_user(&content));
            }
            Release::V62 => {
                let text = format!(
                    "API Error: Claude's response exceeded the {} output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.",
                    self.profile.window.1
                );
                self.say_synthetic(
                    scope,
                    &text,
                    "stop_sequence",
                    obj! { "error": "max_output_tokens" },
                );
                let content = Json::from(GO_ON);
                scope.with_thread(self, |thread| thread.push_user(&content));
            }
        }
    }

    /// Tells the model something that the user did not say, and shows it.
    pub(super) fn tell_model(&self, scope: &Rc<Scope>, text: &str, extra: Object) {
        let content = Json::from(vec![obj! { "type": "text", "text": text }]);
        let mut fields = obj! { "isSynthetic": true };
        fields.extend(extra);
        let uuid = self.emit_user(scope, content.clone(), fields);
        scope.turn.count_user_frame();
        scope.with_thread(self, |thread| thread.push_user(&content));
        let message = obj! { "role": "user", "content": content };
        self.store(scope, "user", &uuid, obj! { "message": message, "isMeta": true });
    }

    fn note_refusal(&self, scope: &Rc<Scope>, said: &Said) {
        self.safety_stops.set(self.safety_stops.get() + 1);
        let model = spoken_name(&self.model.borrow());
        let content = format!(
            "{model}'s safeguards stopped the response above · continuing once with that noted"
        );
        self.emit_system("informational", obj! { "content": content, "level": "notice" });
        self.tell_model(scope, REFUSED, obj! { "refused_message_id": &said.message_id });
    }

    fn tell_refusal(&self, scope: &Rc<Scope>, said: &Said) -> End {
        let policy = "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup).";
        let old = self.profile.release == Release::V62;
        let text = if old {
            format!(
                "{policy} Try rephrasing the request or attempting a different approach. If you are seeing this refusal repeatedly, try running /model claude-sonnet-4-20250514 to switch models."
            )
        } else {
            self.emit_system(
                "model_refusal_no_fallback",
                obj! {
                    "original_model": self.model.borrow().as_str(),
                    "request_id": &said.request_id,
                    "api_refusal_category": Json::Null,
                    "api_refusal_explanation": Json::Null,
                    "refused_user_message_uuid": self.session.borrow().leaf(),
                    "content": "",
                },
            );
            format!(
                "{policy} Try rephrasing the request in a new session or change your model.\n\nRequest ID: {}",
                said.request_id
            )
        };
        let stop_reason = if old { "stop_sequence" } else { "refusal" };
        self.say_synthetic(scope, &text, stop_reason, obj! { "error": "invalid_request" });
        End::ApiError(ApiFailure {
            text,
            status: None,
            kind: None,
            terminal_reason: "completed",
            stop_reason,
        })
    }

    /// The hooks may make the model go on; otherwise the turn is done.
    async fn run_stop_hooks(self: &Rc<Self>, scope: &Rc<Scope>) -> Result<(), End> {
        let Some(feedback) = self.stop_hooks(scope).await? else { return Err(End::Done) };
        scope.turn.stop_hook_active.set(true);
        self.tell_model(scope, &format!("Stop hook feedback:\n{feedback}"), Object::default());
        if self.profile.modern {
            self.emit_system(
                "notification",
                obj! {
                    "key": "stop-hook-error",
                    "text": "Stop hook error occurred · ctrl+o to see",
                    "priority": "immediate",
                },
            );
        }
        Ok(())
    }

    /// Whether a stop hook has made the model go on, and what it said last.
    pub(crate) fn stop_state(&self, scope: &Scope) -> (bool, String) {
        (scope.turn.stop_hook_active.get(), scope.turn.text.borrow().clone())
    }

    /// Says that the turn was interrupted.
    pub(super) fn emit_interruption(&self, scope: &Scope, in_tools: bool) {
        let text = if in_tools {
            "[Request interrupted by user for tool use]"
        } else {
            "[Request interrupted by user]"
        };
        let content = Json::from(vec![obj! { "type": "text", "text": text }]);
        let uuid = self.emit_user(scope, content.clone(), Object::default());
        scope.turn.count_user_frame();
        scope.with_thread(self, |thread| thread.push_user(&content));
        let message = obj! { "role": "user", "content": content };
        self.store(scope, "user", &uuid, obj! { "message": message });
    }
}
