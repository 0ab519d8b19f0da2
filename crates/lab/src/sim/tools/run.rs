//! The way of one call: is it there, is it allowed, what does it do, what is told.

use std::rc::Rc;
use std::time::Instant;

use super::grant::Grant;
use super::{Call, Outcome, ToolResult};
use crate::sim::clock::ms_since;
use crate::sim::json::{Json, Object, obj};
use crate::sim::permission::input_problems;
use crate::sim::profile::{Interrupted, Release};
use crate::sim::queue::Deferred;
use crate::sim::state::Sim;
use crate::sim::turn::{Aborted, Scope};

/// What the model is told of a call that was not wanted.
pub(super) const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";
/// What the model is told of a call that nobody came to decide about.
pub(super) const NOT_NOW: &str = "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed.";
/// And of one that was stopped while it ran.
const STOPPED: &str = " Correction to the text above: this call was stopped while running, not refused before it ran. It may have run in part or in full, and its changes may have been written. No permission prompt was involved. Work it started elsewhere (a remote command, a background process) may still be running, so check before starting the same work again. The instruction to stop and wait still stands.";

impl Sim {
    /// Runs a call to its end.
    pub(super) async fn run_call(self: &Rc<Self>, scope: &Rc<Scope>, call: &Call) -> Outcome {
        if let Some(result) = self.unusable(scope, call) {
            return self.tell(scope, call, &result, None);
        }
        let grant = match self.ask_leave(scope, call).await {
            Ok(grant) => grant,
            Err(Aborted) => return self.rejected(scope, call, false),
        };
        match grant {
            Grant::Run { input, how } => self.run_granted(scope, call, &input, how).await,
            Grant::Refused { result, meta } => self.tell(scope, call, &result, meta),
            Grant::Interrupted { result, meta } => {
                scope.turn.abort.raise();
                let block = self.tell_result(scope, call, &result, meta);
                Outcome::Aborted(block)
            }
            Grant::Deferred => {
                scope.turn.deferred.replace(Some(Deferred {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    input: call.input.clone(),
                    assistant_uuid: call.assistant_uuid.clone().unwrap_or_default(),
                }));
                Outcome::Deferred
            }
        }
    }

    /// Why a call cannot even be considered.
    fn unusable(&self, scope: &Scope, call: &Call) -> Option<ToolResult> {
        let offered = scope.turn.offered.borrow().contains(&call.name);
        if !offered && !self.tool_names().contains(&call.name) {
            return Some(
                ToolResult::usage_error(format!("Error: {}", self.unavailable(&call.name)))
                    .without_prefix(),
            );
        }
        if let Some(problems) = input_problems(&call.name, &call.input) {
            let mut result =
                ToolResult::usage_error(format!("InputValidationError: {}", problems.words));
            result.structured = format!("InputValidationError: {}", problems.details).into();
            return Some(result);
        }
        self.check_before_asking(call).map(ToolResult::usage_error)
    }

    fn unavailable(&self, tool: &str) -> String {
        let text = format!("No such tool available: {tool}");
        let known = [
            "TodoWrite",
            "Write",
            "Edit",
            "Read",
            "Bash",
            "WebFetch",
            "WebSearch",
            "NotebookEdit",
            "Task",
            "Agent",
        ];
        let built_in =
            known.contains(&tool) || self.catalog.tools(true).iter().any(|name| name == tool);
        let hint = match (self.profile.release, tool) {
            (Release::V62, _) => return text,
            (_, "Glob") => {
                "is not available in this session — find files with `find` via the Bash tool instead."
            }
            (_, "Grep") => {
                "is not available in this session — search file contents with `grep` via the Bash tool instead."
            }
            (Release::V197, _) if built_in => {
                "exists but is not enabled in this context. Use one of the available tools instead."
            }
            (Release::V325, _) if built_in => {
                "is disabled for this session, in subagents as well as here."
            }
            _ => return text,
        };
        format!("{text}. {tool} {hint}")
    }

    async fn run_granted(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        call: &Call,
        input: &Json,
        how: Option<Object>,
    ) -> Outcome {
        if self.out_of_money() {
            return Outcome::OutOfMoney(self.args.max_budget_usd.unwrap_or_default());
        }
        let started = Instant::now();
        let ran = match self.execute(scope, call, input).await {
            Ok(result) => result,
            Err(Aborted) => return self.rejected(scope, call, true),
        };
        let mut ran = ran;
        let response =
            if ran.is_error { Err(error_text(&ran)) } else { Ok(ran.structured.clone()) };
        let response = response.as_ref().map_err(String::as_str);
        let told = (call.name.as_str(), input, call.id.as_str());
        let contexts = self.after_tool(scope, told, response, ms_since(started));
        let contexts = match scope.turn.wait(contexts).await {
            Ok(contexts) => contexts,
            Err(Aborted) => return self.rejected(scope, call, true),
        };
        if !contexts.is_empty() {
            ran.reminder = Some(contexts.join("\n"));
        }
        scope.note_in_batch(obj! {
            "tool_name": &call.name,
            "tool_input": input,
            "tool_use_id": &call.id,
            "tool_response": &ran.content,
        });
        self.tell(scope, call, &ran, how)
    }

    fn out_of_money(&self) -> bool {
        let spent = self.meter.borrow().cost_of_process(self.profile);
        self.args.max_budget_usd.is_some_and(|most| spent >= most)
    }

    fn tell(
        &self,
        scope: &Scope,
        call: &Call,
        result: &ToolResult,
        meta: Option<Object>,
    ) -> Outcome {
        let block = self.tell_result(scope, call, result, meta);
        if let Some(reminder) = &result.reminder {
            self.remind(scope, reminder);
        }
        Outcome::Result(block)
    }

    /// Writes the `user` frame of a result, and gives what the model is told.
    fn tell_result(
        &self,
        scope: &Scope,
        call: &Call,
        result: &ToolResult,
        meta: Option<Object>,
    ) -> Json {
        let block = Json::from(result.block(&call.id));
        let internals = self.profile.internals;
        let mut extra = Object::default();
        // Once, calls that were put off were told as the transcript has them.
        let as_stored = call.again && self.profile.parks && !self.profile.raises_deferred_at_once;
        if as_stored {
            extra.set("toolUseResult", &result.structured);
            extra.set_some("sourceToolAssistantUUID", call.assistant_uuid.as_deref());
        } else if scope.agent().is_none() || result.is_error {
            extra.set("tool_use_result", &result.structured);
        }
        if internals && let Some(meta) = meta {
            let mut entry = obj! { "id": &call.id, "non_execution_kind"?: result.kind };
            entry.extend(meta);
            extra.set("tool_result_meta", vec![entry]);
        }
        if self.profile.modern {
            self.add_agent(&mut extra, scope.agent());
        }
        let content = Json::from(vec![block.clone()]);
        let uuid = self.emit_user(scope, content.clone(), extra);
        scope.turn.count_user_frame_in(scope);
        let body = obj! {
            "message": obj! { "role": "user", "content": content },
            "toolUseResult": &result.structured,
            "sourceToolAssistantUUID"?: call.assistant_uuid.as_deref(),
        };
        self.store(scope, "user", &uuid, body);
        block
    }

    /// The turn was ended before the call was.
    fn rejected(&self, scope: &Scope, call: &Call, was_running: bool) -> Outcome {
        let old = self.profile.interrupted == Interrupted::Quiet;
        let (mut result, meta) = if old && !was_running {
            (ToolResult::error("Tool permission request failed: AbortError"), None)
        } else if old {
            (ToolResult::error("Exit code 137\n[Request interrupted by user for tool use]"), None)
        } else {
            let mut text = REJECTED.to_owned();
            if was_running && self.profile.internals {
                text.push_str(STOPPED);
            }
            let mut result = ToolResult::error(text);
            result.structured = "User rejected tool use".into();
            (result, Some(Object::default()))
        };
        result.kind = Some("user-rejected");
        if !was_running {
            scope.turn.deny(&call.name, &call.id, &call.input);
        }
        Outcome::Aborted(self.tell_result(scope, call, &result, meta))
    }

    /// A call that was never begun, because the turn was ended.
    pub(crate) fn reject_unstarted(&self, scope: &Scope, call: &Call) -> Json {
        let (text, structured) = if self.profile.interrupted == Interrupted::Quiet {
            (NOT_NOW, NOT_NOW)
        } else {
            (REJECTED, "User rejected tool use")
        };
        let mut result = ToolResult::error(text);
        result.structured = structured.into();
        result.kind = Some("user-rejected");
        self.tell_result(scope, call, &result, Some(Object::default()))
    }
}

impl ToolResult {
    /// `Error: No such tool …` is not called an error twice.
    fn without_prefix(mut self) -> Self {
        if let Some(text) = self.structured.as_str().and_then(|text| text.strip_prefix("Error: ")) {
            self.structured = text.into();
        }
        self
    }
}

fn error_text(result: &ToolResult) -> String {
    match &result.content {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
