//! Leave for a call: from hooks, rules, the mode, and the client.

use std::rc::Rc;

use super::run::{NOT_NOW, REJECTED};
use super::{Call, ToolResult};
use crate::sim::clock::{new_uuid, timestamp};
use crate::sim::hooks::BeforeTool;
use crate::sim::json::{Json, Object, obj};
use crate::sim::permission::{Ask, Decision, Denial, Granted, input_problems};
use crate::sim::state::Sim;
use crate::sim::turn::{Aborted, Scope};

/// Whether a call may run.
pub(super) enum Grant {
    /// It may, with this input; and what is told about the decision.
    Run { input: Json, how: Option<Object> },
    /// It may not.
    Refused { result: Box<ToolResult>, meta: Option<Object> },
    /// It may not, and the turn ends.
    Interrupted { result: Box<ToolResult>, meta: Option<Object> },
    /// Later.
    Deferred,
}

/// What the model is told when the client has said that it answers no questions.
const NO_SURFACE: &str = "Permission for this tool use was denied. It requires approval, and this session has no approval surface — nobody can answer a permission prompt here — so it was denied automatically. The action was NOT performed; do not claim it succeeded, and do not retry it: this action, and anything else that requires approval, will be denied the same way for the rest of this session. Tell the user what was blocked and why you needed it, then continue with the parts of the task that do not require approval. ";

/// What newer versions tell about a decision.
pub(super) fn decided(decision: &str, source: &str, reason_type: Option<&str>) -> Option<Object> {
    let entry = obj! { "decision": decision, "source": source, "reason_type"?: reason_type };
    Some(obj! { "permission_decision": entry })
}

impl Sim {
    /// Asks everybody who has a say.
    pub(super) async fn ask_leave(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        call: &Call,
    ) -> Result<Grant, Aborted> {
        let skip_hooks =
            call.again && self.profile.raises_deferred_at_once && !self.args.await_initialize;
        let before = if skip_hooks {
            BeforeTool::default()
        } else {
            let hooks = self.before_tool(scope, &call.name, &call.input, &call.id);
            scope.turn.wait(hooks).await?
        };
        if call.again && !self.profile.raises_deferred_at_once {
            self.emit_hook_entries(call, before.answers);
        }
        if let Some(reason) = &before.deny {
            return Ok(self.denied_by_hook(scope, call, reason));
        }
        if before.timed_out && self.profile.slow_hook_refuses {
            return Ok(self.hook_too_slow());
        }
        if before.defer && self.profile.modern_hooks {
            return Ok(Grant::Deferred);
        }
        let input = before.input.clone().unwrap_or_else(|| call.input.clone());
        let decision = self.decide(&call.name, &input);
        let hook_asks = before.ask && self.profile.modern_hooks;
        let decision = match decision {
            Decision::Deny(denial) if !(before.allow && self.profile.hook_beats_deny_rule) => {
                // A hook's question goes before a mode that never asks.
                let by_mode = denial.reason_type == Some("mode");
                if !(hook_asks && by_mode) {
                    return Ok(self.denied(scope, call, denial, !before.allow));
                }
                Decision::Deny(denial)
            }
            other => other,
        };
        if hook_asks {
            return self.ask_for_hook(scope, call, input, before.ask_reason.as_ref()).await;
        }
        let hook_grants = before.allow && self.hook_may_grant(call, &before);
        match decision {
            Decision::Ask(_) | Decision::Deny(_) if hook_grants => {
                Ok(Grant::Run { input, how: decided("accept", "hook", Some("hook")) })
            }
            Decision::Ask(ask) => self.ask(scope, call, input, ask).await,
            Decision::Allow(reason, granted) => {
                let source = match granted {
                    Granted::Config => "config",
                    Granted::Session => "user_temporary",
                };
                Ok(Grant::Run { input, how: decided("accept", source, reason) })
            }
            Decision::Deny(denial) => Ok(self.denied(scope, call, denial, true)),
        }
    }

    /// A version shows entries of its transcript where a call is raised again (`Q13b`).
    fn emit_hook_entries(&self, call: &Call, answers: usize) {
        let name = format!("PreToolUse:{}", call.name);
        let data = obj! {
            "type": "hook_progress",
            "hookEvent": "PreToolUse",
            "hookName": name,
            "command": "callback",
        };
        let attachment = obj! {
            "type": "hook_success",
            "hookName": "PreToolUse:Callback",
            "toolUseID": &call.id,
            "hookEvent": "PreToolUse",
            "content": "",
            "command": "callback",
        };
        let progress = obj! {
            "type": "progress",
            "data": data,
            "toolUseID": &call.id,
            "parentToolUseID": &call.id,
        };
        let kinds = [progress, obj! { "attachment": attachment, "type": "attachment" }];
        for mut frame in kinds.into_iter().flat_map(|frame| std::iter::repeat_n(frame, answers)) {
            frame.set("uuid", new_uuid());
            frame.set("timestamp", timestamp());
            frame.set("session_id", self.session_id());
            frame.set("parent_tool_use_id", Json::Null);
            self.emit(&frame);
        }
    }

    /// A hook cannot approve a plan, and only newer versions let it answer questions.
    fn hook_may_grant(&self, call: &Call, before: &BeforeTool) -> bool {
        match call.name.as_str() {
            "ExitPlanMode" => false,
            "AskUserQuestion" => {
                let answered =
                    before.input.as_ref().is_some_and(|input| input.get("answers").is_some());
                self.profile.modern_hooks && answered
            }
            _ => true,
        }
    }

    fn denied_by_hook(&self, scope: &Scope, call: &Call, reason: &str) -> Grant {
        let text = if self.profile.internals {
            format!("PreToolUse:{} hook error: {reason}", call.name)
        } else {
            reason.to_owned()
        };
        if self.profile.lists_hook_denials {
            scope.turn.deny(&call.name, &call.id, &call.input);
        }
        let mut result = ToolResult::error(text);
        result.kind = Some("permission-rule");
        Grant::Refused { result: Box::new(result), meta: decided("reject", "hook", Some("hook")) }
    }

    fn hook_too_slow(&self) -> Grant {
        let result = if self.profile.internals {
            ToolResult::error(
                "PreToolUse hook did not respond before its timeout (host client may be unreachable). The tool call was not executed; other configured hooks may not have completed.",
            )
        } else {
            let mut result = ToolResult::error(NOT_NOW);
            result.structured = "Error: undefined".into();
            result
        };
        Grant::Refused { result: Box::new(result), meta: None }
    }

    async fn ask_for_hook(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        call: &Call,
        input: Json,
        reason: Option<&String>,
    ) -> Result<Grant, Aborted> {
        // Where no reason is given, one version tells an empty one and the other none.
        let reason = reason.cloned().or_else(|| self.profile.internals.then(String::new));
        let ask = Ask {
            reason,
            reason_type: Some("hook"),
            by_hook: true,
            requires_user: matches!(call.name.as_str(), "AskUserQuestion" | "ExitPlanMode"),
            refusal: format!(
                "Claude requested permissions to use {}, but you haven't granted it yet.",
                call.name
            ),
            ..Ask::default()
        };
        self.ask(scope, call, input, ask).await
    }

    /// A refusal that nobody was asked about. One against a hook that allowed it is not told.
    fn denied(&self, scope: &Scope, call: &Call, denial: Denial, told: bool) -> Grant {
        scope.turn.deny(&call.name, &call.id, &call.input);
        if denial.reason_code.is_some() && !self.life.warned_no_check.replace(true) {
            self.warn_no_check();
        }
        if told && self.profile.tells_denials {
            let why = obj! {
                "decision_reason_type"?: denial.reason_type,
                "decision_reason_code"?: denial.reason_code,
                "decision_reason"?: denial.reason.as_deref(),
            };
            self.emit_denied(scope, call, why, &denial.message);
        }
        let mut result = if denial.as_tool_error {
            ToolResult::usage_error(denial.message)
        } else {
            ToolResult::error(denial.message)
        };
        result.kind = Some(denial.kind);
        let source = match denial.by {
            Granted::Config => "config",
            Granted::Session => "user_reject",
        };
        Grant::Refused {
            result: Box::new(result),
            meta: decided("reject", source, denial.told_reason_type),
        }
    }

    /// Tells the client that a call was refused without its word.
    fn emit_denied(&self, scope: &Scope, call: &Call, why: Object, message: &str) {
        let mut fields = obj! {
            "tool_name": &call.name,
            "tool_use_id": &call.id,
            "agent_id"?: scope.agent().map(|agent| agent.id.as_str()),
        };
        fields.extend(why);
        fields.set("message", message);
        self.emit_system("permission_denied", fields);
    }

    fn warn_no_check(&self) {
        let host = self.env.var("ANTHROPIC_BASE_URL").unwrap_or("a gateway");
        let host = host.split("//").nth(1).unwrap_or(host).trim_end_matches('/');
        let content = format!(
            "Auto mode can't check actions in this session. Its safety check runs on the server, and your requests go through {host}, which doesn't pass it through. Nobody can be asked to approve actions in this session, so every action that needs the check is refused. To run these actions, use another permission mode. To use auto mode, ask whoever runs {host} to pass Claude Code's server-side safety check through: https://code.claude.com/docs/en/permission-modes#server-side-classifier-review"
        );
        self.emit_system(
            "informational",
            obj! {
                "content": content,
                "isMeta": false,
                "level": "warning",
                "tag": "auto_mode_no_server_check",
                "timestamp": timestamp(),
            },
        );
    }

    /// Nobody can be asked, so the answer is no.
    pub(super) fn nobody_to_ask(&self, scope: &Scope, call: &Call, ask: &Ask) -> Grant {
        scope.turn.deny(&call.name, &call.id, &call.input);
        let switched_off = self.args.permission_prompts.as_deref() == Some("none");
        let unreachable = format!("{NO_SURFACE}What required approval: {}", ask.refusal);
        let (message, reason, reason_type) = if switched_off {
            let reason =
                "no approval surface in this session; permission request denied automatically";
            (unreachable.as_str(), Some(reason), Some("asyncAgent"))
        } else {
            (ask.refusal.as_str(), ask.reason.as_deref(), ask.reason_type)
        };
        if self.profile.tells_unasked_denials {
            let why = obj! { "decision_reason_type"?: reason_type, "decision_reason"?: reason };
            self.emit_denied(scope, call, why, message);
        }
        let mut result = ToolResult::error(message);
        result.kind = Some(if switched_off { "permission-rule" } else { "user-rejected" });
        let meta = decided("reject", "config", switched_off.then_some("asyncAgent"));
        Grant::Refused { result: Box::new(result), meta }
    }

    /// Checks an input that the client has changed.
    pub(super) fn check_changed(&self, call: &Call, input: &Json) -> Option<Grant> {
        let problems =
            input_problems(&call.name, input).filter(|_| self.profile.checks_changed_input)?;
        let mut result = ToolResult::usage_error(format!(
            "The permission handler returned updatedInput for {} that failed schema validation: {}\nThis is a configuration issue in your canUseTool callback, PermissionRequest hook, or permission-prompt tool — updatedInput must satisfy the tool's input schema. The tool input from the model was valid.",
            call.name, problems.words
        ));
        result.structured = format!(
            "InputValidationError: permission handler updatedInput failed schema for {}",
            call.name
        )
        .into();
        let meta = decided("reject", "permission_updated_input_invalid", None);
        Some(Grant::Refused { result: Box::new(result), meta })
    }

    /// The client says no.
    pub(super) fn refused_by_client(
        &self,
        scope: &Scope,
        call: &Call,
        message: &str,
        interrupt: bool,
    ) -> Grant {
        scope.turn.deny(&call.name, &call.id, &call.input);
        let meta = decided("reject", "user_reject", None);
        if interrupt && self.profile.interrupting_deny_rejects {
            let mut result = ToolResult::error(REJECTED);
            result.structured = "User rejected tool use".into();
            result.kind = Some("user-rejected");
            return Grant::Interrupted { result: Box::new(result), meta: Some(Object::default()) };
        }
        let mut result = ToolResult::error(message);
        result.kind = Some("permission-rule");
        if interrupt {
            return Grant::Interrupted { result: Box::new(result), meta };
        }
        Grant::Refused { result: Box::new(result), meta }
    }
}
