//! `can_use_tool`: the question to the client, and what its answer does.

use std::path::Path;
use std::rc::Rc;

use super::grant::{Grant, decided};
use super::{Call, ToolResult};
use crate::sim::exec::{First, Task, race};
use crate::sim::hooks::Heard;
use crate::sim::json::{Json, Object, obj};
use crate::sim::permission::{Answered, Ask, read_answer};
use crate::sim::requests::{About, Reply};
use crate::sim::state::Sim;
use crate::sim::turn::{Aborted, Scope};

impl Sim {
    /// Asks the client, and the hooks for permission requests at the same time: the first answer
    /// counts.
    pub(super) async fn ask(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        call: &Call,
        input: Json,
        ask: Ask,
    ) -> Result<Grant, Aborted> {
        let hooked = self.hooks.borrow().listen_to("PermissionRequest");
        let reachable =
            self.has_prompt_tool() && (!scope.is_background() || self.profile.background_agents);
        if !reachable && !hooked {
            return Ok(self.nobody_to_ask(scope, call, &ask));
        }
        let asked = reachable.then(|| {
            let request = self.ask_request(scope, call, &input, &ask, hooked);
            self.ask_client(About::Permission, scope.is_background(), request)
        });
        let hooks = self.permission_hooks(scope, call, &input, &ask, hooked);
        let id = asked.as_ref().map(|(id, _)| id.clone());
        let client = async {
            match &asked {
                Some((_, reply)) => reply.take().await,
                None => std::future::pending().await,
            }
        };
        let answer = scope.turn.wait(race(client, hooks)).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(Aborted) => {
                if let Some(id) = &id {
                    self.withdraw(id);
                }
                return Err(Aborted);
            }
        };
        self.tell_state();
        match answer {
            First::Left(reply) => Ok(self.answered(scope, call, input, reply)),
            First::Right(decision) => {
                if let Some(id) = &id {
                    self.withdraw(id);
                }
                Ok(self.answered_by_hook(scope, call, input, &decision))
            }
        }
    }

    fn ask_request(
        &self,
        scope: &Scope,
        call: &Call,
        input: &Json,
        ask: &Ask,
        hooked: bool,
    ) -> Object {
        let rich = self.profile.rich_asks;
        let internals = self.profile.internals;
        let server = self.servers.borrow().server_of(&call.name);
        let server = server.map(|name| obj! { "name": name, "source": "sdk" });
        let hook = ask.by_hook && internals;
        obj! {
            "subtype": "can_use_tool",
            "tool_name": &call.name,
            "mcp_server"?: server.filter(|_| internals),
            "display_name"?: rich.then(|| self.display_name(&call.name)),
            "input": input,
            "description"?: self.ask_description(call, input).filter(|_| rich),
            "permission_suggestions"?: ask.suggestions.clone(),
            "blocked_path"?: ask.blocked_path.as_deref().map(|path| path.display().to_string()),
            "decision_reason"?: ask.reason.as_deref(),
            "decision_reason_type"?: ask.reason_type.filter(|_| rich),
            "decision_reason_rule_source"?: ask.rule_source.as_deref().filter(|_| internals),
            "decision_reason_hook_event"?: hook.then_some("PreToolUse"),
            "decision_reason_hook_source"?: hook.then_some("settings"),
            "classifier_approvable"?: ask.classifier_approvable.filter(|_| rich),
            "suppress_always_allow_rule"?: (ask.never_for_good && internals).then_some(true),
            "matched_ask_rule"?: ask.matched_ask_rule.clone().filter(|_| internals),
            "server_policy_ask_only"?: (ask.policy_ask && internals).then_some(!hooked),
            "tool_use_id": &call.id,
            "agent_id"?: scope.agent().map(|agent| agent.id.as_str()),
            "requires_user_interaction"?: (ask.requires_user && internals).then_some(true),
        }
    }

    /// One line about the call, for people.
    fn ask_description(&self, call: &Call, input: &Json) -> Option<String> {
        let file = |key: &str| input.text(key).map(|path| self.short_path(path));
        match call.name.as_str() {
            "Bash" => {
                input.text("description").or_else(|| input.text("command")).map(str::to_owned)
            }
            "Read" | "Write" | "Edit" => file("file_path"),
            "NotebookEdit" => file("notebook_path"),
            "WebFetch" => input.text("url").map(str::to_owned),
            "WebSearch" => input.text("query").map(str::to_owned),
            "Skill" => input.text("skill").map(|skill| format!("Execute skill: {skill}")),
            _ => None,
        }
    }

    /// A path as people see it: relative inside of the folder, and from the home on.
    fn short_path(&self, path: &str) -> String {
        let absolute = self.env.absolute(path);
        let below = |folder: &Path| {
            absolute.strip_prefix(folder).ok().filter(|rest| *rest != Path::new(""))
        };
        if let Some(rest) = below(&self.env.cwd) {
            return rest.display().to_string();
        }
        below(&self.env.home)
            .map_or_else(|| path.to_owned(), |rest| format!("~/{}", rest.display()))
    }

    /// The decision of the `PermissionRequest` hooks, if they ever make one.
    fn permission_hooks(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        call: &Call,
        input: &Json,
        ask: &Ask,
        hooked: bool,
    ) -> Task<Json> {
        if !hooked {
            return Box::pin(std::future::pending());
        }
        let told =
            self.permission_request_input(scope, &call.name, input, ask.suggestions.as_deref());
        let (sim, tool, id) = (Rc::clone(self), call.name.clone(), call.id.clone());
        Box::pin(async move {
            let heard = sim.call_hooks("PermissionRequest", Some(&tool), told, Some(&id)).await;
            let mut decisions = heard.into_iter().filter_map(|heard| match heard {
                Heard::Answer(answer) => {
                    let output = answer.get("hookSpecificOutput")?;
                    output
                        .get("decision")
                        .filter(|decision| decision.text("behavior").is_some())
                        .cloned()
                }
                _ => None,
            });
            match decisions.next_back() {
                Some(decision) => decision,
                None => std::future::pending().await,
            }
        })
    }

    fn answered(&self, scope: &Scope, call: &Call, input: Json, reply: Reply) -> Grant {
        if matches!(reply, Reply::Closed) {
            return self.unclear(scope, call, self.closed_text().to_owned());
        }
        match read_answer(self.profile, reply) {
            Answered::Allow { input: changed, updates } => {
                if let Some(changed) = &changed
                    && let Some(refusal) = self.check_changed(call, changed)
                {
                    return refusal;
                }
                self.apply_updates(&updates);
                let how = decided("accept", "user_temporary", None);
                Grant::Run { input: changed.unwrap_or(input), how }
            }
            Answered::Deny { message, interrupt } => {
                self.refused_by_client(scope, call, &message, interrupt)
            }
            Answered::Unclear(text) => self.unclear(scope, call, text),
        }
    }

    fn closed_text(&self) -> &'static str {
        if self.profile.internals {
            "Tool permission request failed: AbortError: Tool permission stream closed before response received"
        } else {
            "Tool permission request failed: Error: Tool permission stream closed before response received"
        }
    }

    fn unclear(&self, scope: &Scope, call: &Call, text: String) -> Grant {
        scope.turn.deny(&call.name, &call.id, &call.input);
        let mut result = ToolResult::error(text);
        result.kind = Some("permission-rule");
        Grant::Refused {
            result: Box::new(result),
            meta: decided("reject", "config", Some("other")),
        }
    }

    fn answered_by_hook(&self, scope: &Scope, call: &Call, input: Json, decision: &Json) -> Grant {
        if decision.text("behavior") == Some("allow") {
            if let Answered::Allow { updates, .. } =
                read_answer(self.profile, Reply::Success(Some(with_input(decision, &input))))
            {
                self.apply_updates(&updates);
            }
            let changed = decision.get("updatedInput").filter(|input| input.as_object().is_some());
            let input = changed.cloned().unwrap_or(input);
            return Grant::Run { input, how: decided("accept", "hook", Some("hook")) };
        }
        let message = decision.text("message").unwrap_or("Permission denied by hook").to_owned();
        scope.turn.deny(&call.name, &call.id, &call.input);
        let mut result = ToolResult::error(message);
        result.kind = Some("permission-rule");
        let meta = decided("reject", "hook", Some("hook"));
        if decision.is_true("interrupt") {
            return Grant::Interrupted { result: Box::new(result), meta };
        }
        Grant::Refused { result: Box::new(result), meta }
    }
}

/// The decision with an input, so that it can be read like an answer.
fn with_input(decision: &Json, input: &Json) -> Json {
    let mut answer = decision.as_object().cloned().unwrap_or_default();
    if answer.get("updatedInput").is_none() {
        answer.set("updatedInput", input);
    }
    answer.into()
}
