//! Hooks of the client: who is called when, and what an answer means.

use std::rc::Rc;
use std::time::Duration;

use super::clock::new_uuid;
use super::exec::{First, Task, join_all, race};
use super::json::{Json, Object, obj};
use super::requests::{About, Reply};
use super::state::Sim;
use super::stdio::complain;
use super::turn::{Aborted, End, Scope};

/// The hooks of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks(Vec<Hook>);

#[derive(Clone, Debug)]
struct Hook {
    event: String,
    matcher: Option<String>,
    callback: String,
    timeout: Option<f64>,
    blocks_on_failure: bool,
}

/// What came of calling a hook.
#[derive(Clone, Debug)]
pub(crate) enum Heard {
    /// An answer.
    Answer(Object),
    /// None that could be understood.
    Failed,
    /// None that could be understood, and that is a reason to refuse.
    FailedBlocking(String),
    /// None in time.
    TimedOut,
}

/// What the hooks say before a tool runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct BeforeTool {
    pub(crate) deny: Option<String>,
    pub(crate) allow: bool,
    pub(crate) ask: Option<Option<String>>,
    pub(crate) defer: bool,
    pub(crate) input: Option<Json>,
    pub(crate) timed_out: bool,
}

impl Hooks {
    /// Reads `initialize.hooks`.
    pub(crate) fn read(hooks: &Json) -> Self {
        let mut all = Vec::new();
        for (event, matchers) in hooks.as_object().into_iter().flat_map(Object::iter) {
            for matcher in matchers.as_array().unwrap_or_default() {
                let callbacks =
                    matcher.get("hookCallbackIds").and_then(Json::as_array).unwrap_or_default();
                all.extend(callbacks.iter().filter_map(Json::as_str).map(|callback| Hook {
                    event: event.to_owned(),
                    matcher: matcher.text("matcher").map(str::to_owned),
                    callback: callback.to_owned(),
                    timeout: matcher.get("timeout").and_then(Json::as_f64),
                    blocks_on_failure: matcher.text("onFailure") == Some("block"),
                }));
            }
        }
        Self(all)
    }

    /// Whether anybody wants to know of an event.
    pub(crate) fn listen_to(&self, event: &str) -> bool {
        self.0.iter().any(|hook| hook.event == event)
    }

    fn matching(&self, event: &str, subject: Option<&str>) -> Vec<Hook> {
        let fits = |hook: &&Hook| {
            hook.event == event
                && match (&hook.matcher, subject) {
                    (Some(matcher), Some(subject)) => fits(matcher, subject),
                    _ => true,
                }
        };
        self.0.iter().filter(fits).cloned().collect()
    }
}

/// `Write`, `Write|Edit`, `*`, or a regular expression for the whole name.
fn fits(matcher: &str, subject: &str) -> bool {
    if matches!(matcher, "" | "*") || matcher.split('|').any(|name| name == subject) {
        return true;
    }
    regex::Regex::new(&format!("^(?:{matcher})$")).is_ok_and(|regex| regex.is_match(subject))
}

impl Sim {
    /// What every hook is told.
    fn hook_base(&self, scope: &Scope, event: &str, with_mode: bool, with_effort: bool) -> Object {
        let modern = self.profile.request_ids;
        let mut input = obj! {
            "session_id": self.session_id(),
            "transcript_path": self.transcript_path().display().to_string(),
            "cwd": self.env.cwd.display().to_string(),
            "prompt_id"?: modern.then_some(&scope.turn.prompt_id),
        };
        if with_mode {
            input.set("permission_mode", self.permissions.borrow().told_mode());
        }
        if let Some(agent) = scope.agent().filter(|_| modern) {
            input.set("agent_id", &agent.id);
            input.set("agent_type", &agent.kind);
        }
        if with_effort && modern {
            let level = if self.profile.internals { "medium" } else { "high" };
            input.set("effort", obj! { "level": level });
        }
        input.set("hook_event_name", event);
        input
    }

    /// Calls all hooks of an event at the same time, and waits for all of them.
    pub(crate) async fn call_hooks(
        self: &Rc<Self>,
        event: &str,
        subject: Option<&str>,
        input: Object,
        tool_use_id: Option<&str>,
    ) -> Vec<Heard> {
        let hooks = self.hooks.borrow().matching(event, subject);
        let calls: Vec<Task<Heard>> = hooks
            .into_iter()
            .map(|hook| {
                let request = obj! {
                    "subtype": "hook_callback",
                    "callback_id": &hook.callback,
                    "input": &input,
                    "tool_use_id": tool_use_id.map_or_else(new_uuid, str::to_owned),
                };
                let (id, reply) = self.ask_client(About::Hook, false, request);
                let sim = Rc::clone(self);
                let call: Task<Heard> = Box::pin(async move {
                    let heard = match hook.timeout {
                        None => First::Left(reply.take().await),
                        Some(seconds) => {
                            let time =
                                Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
                            race(reply.take(), sim.tasks.sleep(time)).await
                        }
                    };
                    match heard {
                        First::Left(reply) => sim.hear(&hook, reply),
                        First::Right(()) => {
                            sim.withdraw(&id);
                            Heard::TimedOut
                        }
                    }
                });
                call
            })
            .collect();
        join_all(calls).await
    }

    fn hear(&self, hook: &Hook, reply: Reply) -> Heard {
        let problem = match reply {
            Reply::Success(None) => return Heard::Answer(Object::default()),
            Reply::Success(Some(Json::Object(answer))) => {
                match invalid(&answer, self.profile.modern_hooks) {
                    None => return Heard::Answer(answer),
                    Some(problem) => problem,
                }
            }
            Reply::Success(Some(_)) => "Error: expected an object".to_owned(),
            Reply::Error(error) => format!("error: {error}"),
            Reply::Closed => "Error: Stream closed".to_owned(),
        };
        complain(&format!("Error in hook callback {}: {problem}", hook.callback));
        if hook.blocks_on_failure && self.profile.hook_on_failure {
            return Heard::FailedBlocking(format!(
                "[callback]: failed; blocking because onFailure is \"block\"\nHook callback {} failed: the SDK host replied with an error or an invalid answer.",
                hook.callback
            ));
        }
        Heard::Failed
    }

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
                Heard::Answer(answer) => self.read_before_tool(scope, &answer, &mut before),
                Heard::FailedBlocking(reason) => {
                    self.tell_hook_failure(tool, id, &reason);
                    before.deny = Some(reason);
                }
                Heard::TimedOut => before.timed_out = true,
                Heard::Failed => {}
            }
        }
        before
    }

    fn tell_hook_failure(&self, tool: &str, id: &str, reason: &str) {
        let content = format!("PreToolUse:{tool} hook error: {reason}");
        self.emit_system(
            "informational",
            obj! { "content": content, "level": "warning", "tool_use_id": id },
        );
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
            Some("ask") => before.ask = Some(reason),
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
        if self.profile.request_ids {
            told.set("duration_ms", duration_ms);
        }
        self.add_mcp_server(&mut told, tool);
        let heard = self.call_hooks(event, Some(tool), told, Some(id)).await;
        self.contexts(scope, heard)
    }

    /// `PostToolBatch`, which newer versions have.
    pub(crate) async fn batch_hooks(self: &Rc<Self>, scope: &Rc<Scope>) {
        if !self.profile.request_ids || !self.hooks.borrow().listen_to("PostToolBatch") {
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
        if self.profile.request_ids {
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
        let text = format!(
            "UserPromptSubmit operation blocked by hook:\n{reason}\n\nOriginal prompt: {prompt}"
        );
        if self.profile.request_ids {
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
        End::Local(text)
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
        if self.profile.request_ids {
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
        for (key, value) in fields.iter() {
            told.set(key, value);
        }
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

/// What is wrong with an answer, if anything.
fn invalid(answer: &Object, modern: bool) -> Option<String> {
    let output = answer.get("hookSpecificOutput")?;
    if output.as_object().is_none() {
        return Some("ZodError: hookSpecificOutput must be an object".to_owned());
    }
    let decision = output.get("permissionDecision")?;
    let known = match decision.as_str() {
        Some("allow" | "deny" | "ask") => true,
        Some("defer") => modern,
        _ => false,
    };
    (!known).then(|| format!("ZodError: permissionDecision must not be {decision}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matcher_is_a_name_a_list_or_an_expression() {
        assert!(fits("Write", "Write"));
        assert!(fits("Write|Edit", "Edit"));
        assert!(fits("mcp__.*", "mcp__calc__add"));
        assert!(fits("*", "Bash"));
        assert!(!fits("Write", "NotebookWrite"));
        assert!(!fits("(", "Write"));
    }
}
