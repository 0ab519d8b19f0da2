//! The events that hooks are told of, and what an answer means.

use std::rc::Rc;

use super::Heard;
use crate::sim::clock::new_uuid;
use crate::sim::json::{Json, Object, obj};
use crate::sim::state::Sim;
use crate::sim::turn::{Aborted, End, Scope};

/// What the hooks say before a tool runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct BeforeTool {
    pub(crate) deny: Option<String>,
    pub(crate) allow: bool,
    /// Somebody is to be asked.
    pub(crate) ask: bool,
    /// And why.
    pub(crate) ask_reason: Option<String>,
    pub(crate) defer: bool,
    pub(crate) input: Option<Json>,
    pub(crate) timed_out: bool,
    /// How many hooks have answered.
    pub(crate) answers: usize,
}

impl Sim {
    /// `PreToolUse`.
    pub(crate) async fn before_tool(
        self: &Rc<Self>,
        scope: &Scope,
        tool: &str,
        input: &Json,
        id: &str,
    ) -> BeforeTool {
        if !self.hooks.borrow().listen_to("PreToolUse") {
            return BeforeTool::default();
        }
        let mut told = self.hook_base(scope, "PreToolUse", true, true);
        told.set("tool_name", tool);
        told.set("tool_input", input);
        told.set("tool_use_id", id);
        self.add_mcp_server(&mut told, tool);
        let heard = self.call_hooks("PreToolUse", Some(tool), told, Some(id)).await;
        let mut before = BeforeTool::default();
        for heard in heard {
            match heard {
                Heard::Answer(answer) => {
                    before.answers += 1;
                    self.read_before_tool(scope, &answer, &mut before);
                }
                Heard::FailedBlocking(reason) => before.deny = Some(reason),
                Heard::TimedOut => before.timed_out = true,
                Heard::Failed => {}
            }
        }
        before
    }

    fn read_before_tool(&self, scope: &Scope, answer: &Object, before: &mut BeforeTool) {
        if answer.get("continue") == Some(&Json::Bool(false)) {
            scope.turn.hook_stopped.set(true);
        }
        if answer.get("decision").and_then(Json::as_str) == Some("block") {
            let reason = answer.get("reason").and_then(Json::as_str).unwrap_or("Blocked by hook");
            before.deny = Some(reason.to_owned());
        }
        if answer.get("decision").and_then(Json::as_str) == Some("approve") {
            before.allow = true;
        }
        let Some(output) = answer.get("hookSpecificOutput") else { return };
        let reason = output.text("permissionDecisionReason").map(str::to_owned);
        match output.text("permissionDecision") {
            Some("deny") => {
                before.deny = Some(reason.unwrap_or_else(|| "Blocked by hook".to_owned()));
            }
            Some("allow") => before.allow = true,
            Some("ask") => {
                before.ask = true;
                before.ask_reason = reason;
            }
            Some("defer") => before.defer = true,
            _ => {}
        }
        if let Some(input) = output.get("updatedInput").filter(|input| input.as_object().is_some())
        {
            before.input = Some(input.clone());
        }
    }

    /// `PostToolUse` and `PostToolUseFailure`: what the model is told besides the result.
    pub(crate) async fn after_tool(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        call: (&str, &Json, &str),
        response: Result<&Json, &str>,
        duration_ms: u64,
    ) -> Vec<String> {
        let event = if response.is_ok() { "PostToolUse" } else { "PostToolUseFailure" };
        if !self.hooks.borrow().listen_to(event) {
            return Vec::new();
        }
        let (tool, input, id) = call;
        let mut told = self.hook_base(scope, event, true, true);
        told.set("tool_name", tool);
        told.set("tool_input", input);
        match response {
            Ok(response) => {
                told.set("tool_response", response);
                told.set("tool_use_id", id);
            }
            Err(error) => {
                told.set("tool_use_id", id);
                told.set("error", error);
                told.set("is_interrupt", false);
            }
        }
        if self.profile.modern {
            told.set("duration_ms", duration_ms);
        }
        self.add_mcp_server(&mut told, tool);
        let heard = self.call_hooks(event, Some(tool), told, Some(id)).await;
        self.contexts(scope, heard)
    }

    /// `PostToolBatch`, which newer versions have.
    pub(crate) async fn batch_hooks(self: &Rc<Self>, scope: &Rc<Scope>) {
        if !self.profile.modern || !self.hooks.borrow().listen_to("PostToolBatch") {
            return;
        }
        let calls = scope.take_batch();
        let mut told = self.hook_base(scope, "PostToolBatch", true, true);
        told.set("tool_calls", calls);
        let heard = self.call_hooks("PostToolBatch", None, told, None).await;
        for context in self.contexts(scope, heard) {
            self.remind(scope, &context);
        }
    }

    fn contexts(&self, scope: &Scope, heard: Vec<Heard>) -> Vec<String> {
        let mut contexts = Vec::new();
        for heard in heard {
            let Heard::Answer(answer) = heard else { continue };
            if answer.get("continue") == Some(&Json::Bool(false)) {
                scope.turn.hook_stopped.set(true);
            }
            let output = answer.get("hookSpecificOutput");
            contexts.extend(
                output.and_then(|output| output.text("additionalContext")).map(str::to_owned),
            );
            if answer.get("decision").and_then(Json::as_str) == Some("block") {
                contexts.extend(answer.get("reason").and_then(Json::as_str).map(str::to_owned));
            }
        }
        contexts
    }

    /// Tells the model something on the side.
    pub(crate) fn remind(&self, scope: &Scope, text: &str) {
        let text = format!("<system-reminder>\n{text}\n</system-reminder>");
        scope.with_thread(self, |thread| thread.push_user(&text.into()));
    }

    /// `UserPromptSubmit`: context for the model, or the end of the turn.
    pub(crate) async fn prompt_hooks(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        prompt: &str,
    ) -> Result<Vec<String>, End> {
        if !self.hooks.borrow().listen_to("UserPromptSubmit") {
            return Ok(Vec::new());
        }
        let mut told = self.hook_base(scope, "UserPromptSubmit", true, false);
        told.set("prompt", prompt);
        if self.profile.modern {
            told.set_some("session_title", self.session.borrow().title());
        }
        let calls = self.call_hooks("UserPromptSubmit", None, told, None);
        let heard = match scope.turn.wait(calls).await {
            Ok(heard) => heard,
            Err(Aborted) => return Err(End::Aborted { in_tools: false }),
        };
        for heard in &heard {
            let reason = match heard {
                Heard::Answer(answer)
                    if answer.get("decision").and_then(Json::as_str) == Some("block") =>
                {
                    answer.get("reason").and_then(Json::as_str).unwrap_or_default().to_owned()
                }
                Heard::Answer(answer) if answer.get("continue") == Some(&Json::Bool(false)) => {
                    answer.get("stopReason").and_then(Json::as_str).unwrap_or_default().to_owned()
                }
                Heard::TimedOut => {
                    "UserPromptSubmit hook did not respond before its timeout".to_owned()
                }
                Heard::FailedBlocking(reason) => reason.clone(),
                Heard::Answer(_) | Heard::Failed => continue,
            };
            return Err(self.block_prompt(prompt, &reason));
        }
        Ok(self.contexts(scope, heard))
    }

    fn block_prompt(&self, prompt: &str, reason: &str) -> End {
        self.emit_init();
        let text = format!(
            "UserPromptSubmit operation blocked by hook:\n{reason}\n\nOriginal prompt: {prompt}"
        );
        if self.profile.modern {
            let outcome =
                obj! { "kind": "blocked_by_hook", "prompt_kept": false, "reason": reason };
            self.emit_system(
                "informational",
                obj! {
                    "content": &text,
                    "level": "warning",
                    "prevent_continuation": true,
                    "prompt_submit_outcome"?: self.profile.internals.then_some(outcome),
                },
            );
        }
        // Where the client is told nothing, the result says nothing either.
        End::Blocked(if self.profile.modern { text } else { String::new() })
    }

    /// `Stop`, or `SubagentStop`: what the model is to do yet, if anything.
    pub(crate) async fn stop_hooks(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
    ) -> Result<Option<String>, End> {
        let event = if scope.agent().is_some() { "SubagentStop" } else { "Stop" };
        if !self.hooks.borrow().listen_to(event) {
            return Ok(None);
        }
        let (active, text) = self.stop_state(scope);
        let mut told = self.hook_base(scope, event, true, true);
        told.set("stop_hook_active", active);
        if let Some(agent) = scope.agent() {
            told.set("agent_id", &agent.id);
            told.set("agent_transcript_path", self.agent_transcript(&agent.id));
            told.set("agent_type", &agent.kind);
        }
        told.set("last_assistant_message", text);
        if self.profile.modern {
            told.set("background_tasks", self.background.borrow().for_hooks());
            told.set("session_crons", Vec::<Json>::new());
        }
        let calls = self.call_hooks(event, None, told, None);
        let heard = match scope.turn.wait(calls).await {
            Ok(heard) => heard,
            Err(Aborted) => return Err(End::Aborted { in_tools: false }),
        };
        for heard in heard {
            let Heard::Answer(answer) = heard else { continue };
            if answer.get("continue") == Some(&Json::Bool(false)) {
                return Err(End::HookStopped);
            }
            if answer.get("decision").and_then(Json::as_str) == Some("block") {
                return Ok(Some(
                    answer.get("reason").and_then(Json::as_str).unwrap_or_default().to_owned(),
                ));
            }
        }
        Ok(None)
    }

    /// `MessageDisplay`: the client sees a text before it is shown. Newer versions have it.
    pub(crate) async fn display_hooks(self: &Rc<Self>, scope: &Scope, index: usize, text: &str) {
        let shown = scope.agent().is_none() && self.profile.modern;
        if !shown || !self.hooks.borrow().listen_to("MessageDisplay") {
            return;
        }
        let message = new_uuid();
        let mut told = self.hook_base(scope, "MessageDisplay", false, false);
        told.set("turn_id", new_uuid());
        told.set("message_id", &message);
        told.set("index", index);
        told.set("final", true);
        told.set("delta", text);
        let id = format!("{message}-{index}");
        self.call_hooks("MessageDisplay", None, told, Some(&id)).await;
    }

    /// `StopFailure`: the API has ended the turn. Nobody waits for an answer.
    pub(crate) fn failure_hooks(self: &Rc<Self>, scope: &Rc<Scope>, error: &str, text: &str) {
        if !self.profile.modern || !self.hooks.borrow().listen_to("StopFailure") {
            return;
        }
        let mut told = self.hook_base(scope, "StopFailure", false, true);
        told.set("error", error);
        told.set("last_assistant_message", text);
        let sim = Rc::clone(self);
        self.tasks.spawn(async move {
            sim.call_hooks("StopFailure", None, told, None).await;
        });
    }

    /// An event that hooks are told of, and whose answers change nothing.
    pub(crate) async fn tell_hooks(
        self: &Rc<Self>,
        scope: &Scope,
        event: &str,
        subject: Option<&str>,
        fields: Object,
    ) {
        if !self.hooks.borrow().listen_to(event) {
            return;
        }
        let mut told = self.hook_base(scope, event, false, false);
        told.extend(fields);
        self.call_hooks(event, subject, told, None).await;
    }

    /// The input of a `PermissionRequest` hook.
    pub(crate) fn permission_request_input(
        &self,
        scope: &Scope,
        tool: &str,
        input: &Json,
        suggestions: Option<&[Json]>,
    ) -> Object {
        let mut told = self.hook_base(scope, "PermissionRequest", true, true);
        told.set("tool_name", tool);
        told.set("tool_input", input);
        told.set_some("permission_suggestions", suggestions);
        self.add_mcp_server(&mut told, tool);
        told
    }

    fn add_mcp_server(&self, told: &mut Object, tool: &str) {
        if self.profile.internals
            && let Some(server) = self.servers.borrow().server_of(tool)
        {
            told.set("mcp_server", obj! { "name": server, "source": "sdk" });
        }
    }
}
