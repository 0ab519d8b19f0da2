//! Calls of tools: from the model's wish to the result that it is told.

mod agent;
mod ask;
mod files;
mod grant;
mod mcp;
mod others;
mod patch;
mod plan;
mod question;
mod run;
mod shell;

use std::rc::Rc;
use std::time::Duration;

use super::exec::Slot;
use super::json::{Json, Object, obj};
use super::queue::Deferred;
use super::state::Sim;
use super::turn::Scope;
use crate::script::ToolUse;

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The input, as the CLI completes it.
    pub(crate) input: Json,
    /// What the script wants to come of it.
    scripted: Option<String>,
    fails: bool,
    takes: Duration,
    /// The transcript's entry of the call.
    assistant_uuid: Option<String>,
    /// It was put off once; hooks are not asked again about it.
    again: bool,
}

/// A call that is running.
#[derive(Clone, Debug)]
pub(crate) struct Started(Slot<Outcome>);

/// What came of a call.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// A result, as the model is told.
    Result(Json),
    /// It was put off.
    Deferred,
    /// The turn ended before it did. The model is told that, too.
    Aborted(Json),
    /// The money was spent before it could be told.
    OutOfMoney(f64),
}

/// The result of a tool.
#[derive(Clone, Debug)]
pub(crate) struct ToolResult {
    /// For the model: text or blocks.
    content: Json,
    is_error: bool,
    /// For the client.
    structured: Json,
    shape: Shape,
    /// What else the model is told.
    reminder: Option<String>,
    /// What is told besides, when something was changed about the run of it.
    kind: Option<&'static str>,
}

/// The keys of a result, and their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The id first.
    IdFirst,
    /// The id first, and `is_error:false` at the end.
    Command,
    /// The id last.
    IdLast,
}

impl ToolResult {
    fn new(content: impl Into<Json>, structured: impl Into<Json>) -> Self {
        Self {
            content: content.into(),
            is_error: false,
            structured: structured.into(),
            shape: Shape::IdFirst,
            reminder: None,
            kind: None,
        }
    }

    fn shaped(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// An error of the tool while it ran.
    fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut result = Self::new(text.as_str(), format!("Error: {text}")).shaped(Shape::IdLast);
        result.is_error = true;
        result
    }

    /// An error that kept the tool from running at all.
    fn usage_error(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut result = Self::error(text.as_str());
        result.content = format!("<tool_use_error>{text}</tool_use_error>").into();
        result
    }

    fn block(&self, id: &str) -> Object {
        match self.shape {
            _ if self.is_error => obj! {
                "type": "tool_result",
                "content": &self.content,
                "is_error": true,
                "tool_use_id": id,
            },
            Shape::IdLast => {
                obj! { "type": "tool_result", "content": &self.content, "tool_use_id": id }
            }
            Shape::IdFirst => {
                obj! { "tool_use_id": id, "type": "tool_result", "content": &self.content }
            }
            Shape::Command => obj! {
                "tool_use_id": id,
                "type": "tool_result",
                "content": &self.content,
                "is_error": false,
            },
        }
    }
}

impl Started {
    /// Waits for what comes of it.
    pub(crate) async fn outcome(&self) -> Outcome {
        self.0.take().await
    }
}

impl Call {
    /// A call of the model.
    pub(crate) fn new(sim: &Sim, id: String, input: Json, call: &ToolUse) -> Self {
        let mut call = Self {
            id,
            name: call.name.clone(),
            input,
            scripted: call.result.clone(),
            fails: call.fails,
            takes: call.takes,
            assistant_uuid: None,
            again: false,
        };
        call.complete(sim);
        call
    }

    /// A call that was put off.
    pub(crate) fn again(sim: &Sim, deferred: Deferred) -> Self {
        let mut call = Self {
            id: deferred.id,
            name: deferred.name,
            input: deferred.input,
            scripted: None,
            fails: false,
            takes: Duration::ZERO,
            assistant_uuid: Some(deferred.assistant_uuid),
            again: true,
        };
        call.complete(sim);
        call
    }

    /// Adds to the input what the CLI adds.
    fn complete(&mut self, sim: &Sim) {
        let Json::Object(input) = &mut self.input else { return };
        match self.name.as_str() {
            "Edit" if input.get("replace_all").is_none() => input.set("replace_all", false),
            "ExitPlanMode" if sim.permissions.borrow().mode() == "plan" => sim.add_plan(input),
            _ => {}
        }
    }

    /// Where in the transcript the model said it.
    pub(crate) fn said_in(mut self, uuid: String) -> Self {
        self.assistant_uuid = Some(uuid);
        self
    }

    /// The input as the model's message shows it.
    pub(crate) fn shown_input(&self) -> Json {
        match (&self.input, self.name.as_str()) {
            (Json::Object(input), "Edit") => {
                let mut shown = obj! { "replace_all"?: input.get("replace_all") };
                for (key, value) in input.iter() {
                    shown.set(key, value);
                }
                shown.into()
            }
            (input, _) => input.clone(),
        }
    }

    /// How long it runs: what the script says, and no less than a disk or a shell takes. What the
    /// model says in one go has been told by then, and a file is read before a shell has started,
    /// as with the real CLI.
    fn duration(&self) -> Duration {
        let least = match self.name.as_str() {
            "Read" | "Glob" | "Grep" => Duration::from_millis(2),
            "Bash" => Duration::from_millis(5),
            _ => Duration::ZERO,
        };
        self.takes.max(least)
    }

    /// Whether it may run while others run: it changes nothing.
    pub(crate) fn runs_beside_others(&self) -> bool {
        match self.name.as_str() {
            "Read" | "Glob" | "Grep" | "WebFetch" | "WebSearch" | "Agent" | "Task"
            | "AskUserQuestion" => true,
            "Bash" => self.input.text("command").is_some_and(is_quiet),
            _ => false,
        }
    }
}

/// Whether a command only looks, by its first word.
fn is_quiet(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    let plain = !command.contains(['>', ';', '&', '|', '$', '`']);
    plain && matches!(first, "cat" | "echo" | "grep" | "head" | "ls" | "pwd" | "tail" | "wc")
}

impl Sim {
    /// Starts a call. Its result is told by itself.
    pub(crate) fn start_call(self: &Rc<Self>, scope: &Rc<Scope>, call: &Call) -> Started {
        let slot = Slot::new();
        let (sim, scope, call, done) =
            (Rc::clone(self), Rc::clone(scope), call.clone(), slot.clone());
        self.tasks.spawn(async move {
            let outcome = sim.run_call(&scope, &call).await;
            done.set(outcome);
        });
        Started(slot)
    }

    /// What newer versions add to the message of a call.
    pub(crate) fn tool_use_meta(&self, call: &Call) -> Object {
        if !call.name.starts_with("mcp__") || !self.profile.modern {
            return Object::default();
        }
        let tool = self.servers.borrow().tool(&call.name);
        let (server, tool) = match tool {
            Some((server, tool)) => (Some(server), tool.text("name").map(str::to_owned)),
            None => (None, None),
        };
        let entry = obj! {
            "id": &call.id,
            "display_name": self.display_name(&call.name),
            "server_display_name"?: server,
            "tool_name"?: tool.filter(|_| self.profile.internals),
        };
        obj! { "tool_use_meta": vec![entry] }
    }

    /// The name of a tool for people: that of a server's tool begins with a capital letter.
    pub(crate) fn display_name(&self, tool: &str) -> String {
        let Some(rest) = tool.strip_prefix("mcp__") else { return tool.to_owned() };
        let known = self.servers.borrow().tool(tool);
        let title = known.as_ref().and_then(|(_, tool)| {
            let annotations =
                tool.get("annotations").and_then(|annotations| annotations.text("title"));
            annotations.or_else(|| tool.text("title")).map(str::to_owned)
        });
        if let Some(title) = title {
            return title;
        }
        let name = known.as_ref().and_then(|(_, tool)| tool.text("name"));
        let name =
            name.or_else(|| rest.rsplit("__").next()).unwrap_or(rest).replace(['_', '-'], " ");
        let mut letters = name.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect()
    }

    /// Whether the client is shown a block: of subagents, only calls, unless it wants more.
    pub(crate) fn shows_block(&self, scope: &Scope, block: &Json) -> bool {
        scope.agent().is_none_or(|agent| {
            block.text("type") == Some("tool_use")
                || self.args.forward_subagent_text
                || (agent.background && self.profile.background_agents)
        })
    }
}
