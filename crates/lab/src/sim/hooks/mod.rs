//! Hooks of the client: who is called, and what was heard.

mod events;

use std::rc::Rc;
use std::time::Duration;

use super::clock::new_uuid;
use super::exec::{First, Task, join_all, race};
use super::json::{Json, Object, obj};
use super::requests::{About, Reply};
use super::state::Sim;
use super::stdio::complain;
use super::turn::Scope;

pub(crate) use self::events::BeforeTool;

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

impl Hook {
    /// How long its answer is waited for.
    fn patience(&self) -> Duration {
        let usual = match self.event.as_str() {
            "UserPromptSubmit" => 30.0,
            "MessageDisplay" => 10.0,
            _ => 600.0,
        };
        Duration::try_from_secs_f64(self.timeout.unwrap_or(usual)).unwrap_or(Duration::MAX)
    }
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
    pub(super) fn hook_base(
        &self,
        scope: &Scope,
        event: &str,
        with_mode: bool,
        with_effort: bool,
    ) -> Object {
        let modern = self.profile.modern;
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
                    match race(reply.take(), sim.tasks.sleep(hook.patience())).await {
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
        let blocks = hook.blocks_on_failure && self.profile.hook_on_failure;
        if self.profile.hook_on_failure {
            let consequence = if blocks {
                "onFailure is \"block\", so this failure counts as a block."
            } else {
                "Its answer was treated as empty."
            };
            let content = format!(
                "{}: Hook callback {} failed: the SDK host replied with an error or an invalid answer. {consequence}",
                hook.event, hook.callback
            );
            self.emit_system(
                "informational",
                obj! { "content": content, "level": "warning", "tag": "hook_callback_failed" },
            );
        }
        if blocks {
            return Heard::FailedBlocking(format!(
                "[callback]: failed; blocking because onFailure is \"block\"\nHook callback {} failed: the SDK host replied with an error or an invalid answer.",
                hook.callback
            ));
        }
        Heard::Failed
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
