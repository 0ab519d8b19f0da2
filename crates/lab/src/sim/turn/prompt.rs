//! How a turn begins.

use std::rc::Rc;
use std::time::Duration;

use super::result::End;
use super::{Scope, Turn};
use crate::sim::clock::{new_uuid, timestamp};
use crate::sim::exec::race;
use crate::sim::input::UserMessage;
use crate::sim::json::{Json, Object, obj};
use crate::sim::past::blocks;
use crate::sim::queue::{Deferred, Notice, Work};
use crate::sim::state::Sim;
use crate::sim::tools::Call;

/// How long a turn that nobody asked for waits for the client to say hello.
const HELLO: Duration = Duration::from_millis(200);

impl Sim {
    /// Runs a turn for what is next in the queue.
    pub(super) async fn run_work(self: &Rc<Self>, work: Work) {
        match work {
            Work::Prompt(message) => {
                let mut messages = vec![message];
                if self.profile.merges_queue
                    && messages.iter().all(|message| !self.is_command(message))
                {
                    let more =
                        self.queue.borrow_mut().take_prompts(|message| !self.is_command(message));
                    messages.extend(more);
                }
                self.run_prompts(messages).await;
            }
            Work::Notice(notice) => self.run_notice(notice).await,
            Work::Deferred(call) => self.run_deferred(call).await,
            Work::Rerun { prompt_uuid } => {
                let turn =
                    self.begin_turn(Turn::new(vec![prompt_uuid], None, Some("interrupted_turn")));
                self.run_unprompted(turn).await;
            }
        }
    }

    fn begin_turn(&self, turn: Rc<Turn>) -> Rc<Turn> {
        turn.offered.replace(self.tool_names());
        self.turn.replace(Some(Rc::clone(&turn)));
        self.tell_state();
        turn
    }

    async fn run_prompts(self: &Rc<Self>, messages: Vec<UserMessage>) {
        let uuids: Vec<String> =
            messages.iter().filter_map(|message| message.uuid.clone()).collect();
        let turn = self.begin_turn(Turn::new(uuids.clone(), None, None));
        for uuid in &uuids {
            self.emit_lifecycle(uuid, "started");
        }
        self.servers_ready().await;
        let scope = Scope::main(Rc::clone(&turn));
        let end = self.answer_prompts(&scope, &messages).await;
        self.finish_turn(&turn, &end).await;
        let state = if matches!(end, End::Aborted { .. }) { "cancelled" } else { "completed" };
        for uuid in &uuids {
            self.emit_lifecycle(uuid, state);
        }
        self.end_turn();
    }

    async fn answer_prompts(self: &Rc<Self>, scope: &Rc<Scope>, messages: &[UserMessage]) -> End {
        if let [message] = messages
            && self.is_command(message)
            && let Some(end) = self.run_command(scope, message).await
        {
            return end;
        }
        let Some(first) = messages.first() else { return End::Done };
        let text = merged_text(messages);
        let context = match self.prompt_hooks(scope, &text).await {
            Ok(context) => context,
            Err(end) => return end,
        };
        self.emit_init();
        let merged = UserMessage { content: merged(messages), ..first.clone() };
        self.thread.borrow_mut().push_user(&merged.content);
        if let [message] = messages {
            self.store_prompt(message, &scope.turn);
        } else {
            self.store_prompt(&merged, &scope.turn);
        }
        for reminder in context {
            let text = format!("<system-reminder>\n{reminder}\n</system-reminder>");
            self.thread.borrow_mut().push_user(&text.into());
        }
        if self.args.replay_user_messages {
            scope.turn.replays.replace(messages.to_vec());
        }
        if !first.asks_model {
            return End::Local(String::new());
        }
        self.converse(scope).await
    }

    /// Writes a message of the user into the transcript.
    pub(crate) fn store_prompt(&self, message: &UserMessage, turn: &Turn) {
        let uuid = message.uuid.clone().unwrap_or_else(new_uuid);
        self.checkpoints.borrow_mut().mark(&uuid);
        let mut session = self.session.borrow_mut();
        let id = session.id().to_owned();
        for (operation, content) in [("enqueue", message.text()), ("dequeue", None)] {
            session.note(obj! {
                "type": "queue-operation",
                "operation": operation,
                "timestamp": timestamp(),
                "sessionId": &id,
                "content"?: content,
            });
        }
        let body = obj! {
            "promptId": &turn.prompt_id,
            "message": obj! { "role": "user", "content": &message.content },
            "permissionMode": self.permissions.borrow().told_mode(),
        };
        session.append("user", &uuid, body, false);
        session.note_message(&uuid);
    }

    /// Writes an entry of the conversation into the transcript. Subagents have none.
    pub(crate) fn store(&self, scope: &Scope, kind: &str, uuid: &str, body: Object) {
        if scope.agent().is_none() {
            self.session.borrow_mut().append(kind, uuid, body, false);
        }
    }

    /// A task in the background has ended: the model is told.
    async fn run_notice(self: &Rc<Self>, notice: Notice) {
        let turn = self.begin_turn(Turn::new(Vec::new(), Some(notice.origin), None));
        let content = Json::from(notice.text);
        self.emit_init();
        self.thread.borrow_mut().push_user(&content);
        let message = obj! { "role": "user", "content": content };
        let scope = Scope::main(Rc::clone(&turn));
        self.store(&scope, "user", &new_uuid(), obj! { "message": message, "isMeta": true });
        let end = self.converse(&scope).await;
        self.finish_turn(&turn, &end).await;
        self.end_turn();
    }

    /// A turn that nobody asked for, from where the transcript ends.
    async fn run_unprompted(self: &Rc<Self>, turn: Rc<Turn>) {
        let command = new_uuid();
        self.emit_lifecycle(&command, "started");
        // A client that says hello is answered before the turn goes on.
        race(self.life.greeted.raised(), self.tasks.sleep(HELLO)).await;
        self.emit_init();
        let scope = Scope::main(Rc::clone(&turn));
        let end = self.converse(&scope).await;
        self.finish_turn(&turn, &end).await;
        self.emit_lifecycle(&command, "completed");
        self.end_turn();
    }

    /// Raises a call again that was put off.
    async fn run_deferred(self: &Rc<Self>, deferred: Deferred) {
        let turn = self.begin_turn(Turn::new(Vec::new(), None, None));
        let command = new_uuid();
        self.emit_lifecycle(&command, "started");
        if self.args.await_initialize {
            self.life.greeted.raised().await;
        } else if !self.profile.raises_deferred_at_once {
            // It is slower to start than a client is to say `initialize`; without one it goes on.
            race(self.life.greeted.raised(), self.tasks.sleep(HELLO)).await;
        }
        let scope = Scope::main(Rc::clone(&turn));
        let call = Call::again(self, deferred);
        let started = self.start_call(&scope, &call);
        let ran = self.run_tools(&scope, vec![(call, Some(started))]).await;
        let end = match ran {
            Ok(()) => {
                turn.forget_user_frames();
                self.emit_init();
                self.converse(&scope).await
            }
            Err(end) => end,
        };
        self.finish_turn(&turn, &end).await;
        self.emit_lifecycle(&command, "completed");
        self.end_turn();
    }

    async fn finish_turn(self: &Rc<Self>, turn: &Rc<Turn>, end: &End) {
        if let End::Deferred(call) = end {
            self.store_deferred(call);
        }
        for uuid in turn.folded.borrow().iter() {
            self.emit_lifecycle(uuid, "completed");
        }
        let held = self.hold_for_background().await;
        self.store_last_prompt();
        self.emit_mirror();
        if !held {
            self.emit_result(turn, end);
        }
    }

    fn end_turn(&self) {
        self.turn.replace(None);
        self.tell_state();
    }

    /// The transcript keeps what a later process needs to raise the call again.
    fn store_deferred(&self, call: &Deferred) {
        let attachment = obj! {
            "type": "hook_deferred_tool",
            "toolUseID": &call.id,
            "toolName": &call.name,
            "toolInput": &call.input,
            "hookName": format!("PreToolUse:{}", call.name),
            "hookEvent": "PreToolUse",
            "permissionMode": self.permissions.borrow().told_mode(),
        };
        let mut session = self.session.borrow_mut();
        session.append("attachment", &new_uuid(), obj! { "attachment": attachment }, false);
    }

    fn store_last_prompt(&self) {
        let mut session = self.session.borrow_mut();
        let id = session.id().to_owned();
        let leaf = session.leaf().map(str::to_owned);
        session.note(obj! { "type": "last-prompt", "leafUuid": leaf, "sessionId": &id });
        if self.profile.cost_survives {
            let meter = self.meter.borrow();
            session.note(obj! {
                "type": "cost-state",
                "sessionId": &id,
                "totalCostUSD": meter.cost(self.profile),
                "modelUsage": meter.model_usage(self.profile),
            });
        }
    }

    /// Shows a mirroring client what was written to the transcript.
    pub(crate) fn emit_mirror(&self) {
        let entries = self.session.borrow_mut().take_mirrored();
        if !entries.is_empty() {
            let path = self.transcript_path().display().to_string();
            self.emit(&obj! { "type": "transcript_mirror", "filePath": path, "entries": entries });
        }
    }
}

/// Several messages as one.
fn merged(messages: &[UserMessage]) -> Json {
    if let [message] = messages {
        return message.content.clone();
    }
    if messages.iter().all(|message| message.content.as_str().is_some()) {
        return merged_text(messages).into();
    }
    let mut all = Vec::new();
    for message in messages {
        match &message.content {
            Json::String(text) => all.push(Json::from(obj! { "type": "text", "text": text })),
            _ => all.extend(blocks(&obj! { "content": &message.content }.into()).cloned()),
        }
    }
    all.into()
}

fn merged_text(messages: &[UserMessage]) -> String {
    let texts: Vec<&str> = messages.iter().filter_map(UserMessage::text).collect();
    texts.join("\n")
}
