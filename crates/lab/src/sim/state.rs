//! Everything that a session is, shared by the tasks of the one thread.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use super::args::Args;
use super::background::Background;
use super::catalog::Catalog;
use super::checkpoint::Checkpoints;
use super::clock::new_uuid;
use super::env::Env;
use super::exec::{Flag, Slot, Tasks};
use super::hooks::Hooks;
use super::json::{Json, Object, obj};
use super::mcp::Servers;
use super::meter::Meter;
use super::permission::Permissions;
use super::plan::Plan;
use super::profile::Profile;
use super::queue::Queue;
use super::requests::{About, Reply, Requests};
use super::session::Session;
use super::settings::Settings;
use super::stdio::Output;
use super::thread::Thread;
use super::turn::Turn;
use crate::script::{Act, Misbehaviour, Player};

/// A session of the simulated CLI.
#[derive(Debug)]
pub(crate) struct Sim {
    pub(crate) profile: &'static Profile,
    pub(crate) catalog: Catalog,
    pub(crate) args: Args,
    pub(crate) env: Env,
    pub(crate) settings: RefCell<Settings>,
    pub(crate) out: Rc<Output>,
    pub(crate) tasks: Tasks,
    pub(crate) requests: Requests,
    pub(crate) session: RefCell<Session>,
    pub(crate) thread: RefCell<Thread>,
    pub(crate) permissions: RefCell<Permissions>,
    pub(crate) plan: RefCell<Plan>,
    pub(crate) hooks: RefCell<Hooks>,
    pub(crate) servers: RefCell<Servers>,
    pub(crate) queue: RefCell<Queue>,
    pub(crate) player: RefCell<Player>,
    pub(crate) misbehaviour: RefCell<Vec<Misbehaviour>>,
    pub(crate) meter: RefCell<Meter>,
    /// The sums at the time of the last result.
    pub(crate) last_meter: RefCell<Meter>,
    pub(crate) background: RefCell<Background>,
    pub(crate) checkpoints: RefCell<Checkpoints>,
    pub(crate) turn: RefCell<Option<Rc<Turn>>>,
    pub(crate) model: RefCell<String>,
    /// Files that the model has seen, and what was in them.
    pub(crate) read_files: RefCell<BTreeSet<PathBuf>>,
    pub(crate) unchanged: RefCell<BTreeMap<PathBuf, String>>,
    /// Variables that the client has set.
    pub(crate) variables: RefCell<BTreeMap<String, String>>,
    pub(crate) todos: RefCell<Json>,
    /// Answers of the model in the conversation so far.
    pub(crate) answers: Cell<u64>,
    /// Answers that the API stopped.
    pub(crate) safety_stops: Cell<u64>,
    pub(crate) life: Life,
    pub(crate) started: Instant,
}

/// How far the process has come.
#[derive(Debug, Default)]
pub(crate) struct Life {
    /// Something waits for a turn, or the end has come.
    pub(crate) work: Flag,
    /// Standard input has ended.
    pub(crate) closed: Flag,
    /// The process ends with this code.
    pub(crate) exit: Cell<Option<u8>>,
    /// Nothing is done any more.
    pub(crate) frozen: Cell<bool>,
    /// The last result was an error.
    pub(crate) failed: Cell<bool>,
    /// How many times `initialize` was answered.
    pub(crate) initialized: Cell<u32>,
    /// The first `initialize` has been dealt with.
    pub(crate) greeted: Flag,
    /// Results so far.
    pub(crate) results: Cell<u64>,
    /// The state that was told last.
    pub(crate) told_state: RefCell<Option<&'static str>>,
    /// Kinds of warnings that are given once.
    pub(crate) warned_no_check: Cell<bool>,
    pub(crate) warned_of_distrust: Cell<bool>,
    /// The process ends when the turn has.
    pub(crate) leave: Cell<bool>,
}

impl Life {
    /// Whether nothing more is taken from outside, and nothing more done.
    pub(crate) fn is_over(&self) -> bool {
        self.exit.get().is_some() || self.frozen.get()
    }
}

impl Sim {
    /// Writes a frame.
    pub(crate) fn emit(&self, frame: &Object) {
        let mut line = frame.to_string();
        line.push('\n');
        self.out.write(line.as_bytes());
    }

    /// The id of the session.
    pub(crate) fn session_id(&self) -> String {
        self.session.borrow().id().to_owned()
    }

    /// Adds the two ids that nearly every frame has.
    pub(crate) fn signed(&self, mut frame: Object) -> Object {
        frame.set("uuid", new_uuid());
        frame.set("session_id", self.session_id());
        frame
    }

    /// Writes a `system` frame.
    pub(crate) fn emit_system(&self, subtype: &str, fields: Object) {
        let mut frame = obj! { "type": "system", "subtype": subtype };
        frame.extend(fields);
        let frame = self.signed(frame);
        self.emit(&frame);
    }

    /// Asks the client something: the id of the request, and its answer.
    pub(crate) fn ask_client(
        &self,
        about: About,
        background: bool,
        request: Object,
    ) -> (String, Slot<Reply>) {
        let id = new_uuid();
        let frame = obj! { "type": "control_request", "request_id": &id, "request": &request };
        if self.life.closed.is_raised() {
            // Nobody is there to answer. The request is not sent.
            let slot = Slot::new();
            slot.set(Reply::Closed);
            return (id, slot);
        }
        let mut shown = request;
        shown.remove("server_policy_ask_only");
        let pending = obj! { "type": "control_request", "request_id": &id, "request": shown };
        let reply = self.requests.add(&id, about, background, pending);
        if about == About::Permission {
            self.tell_state();
        }
        self.emit(&frame);
        (id, reply)
    }

    /// Takes a request back.
    pub(crate) fn withdraw(&self, id: &str) {
        if self.requests.forget(id) {
            self.emit(&obj! { "type": "control_cancel_request", "request_id": id });
        }
    }

    /// Answers a control request, if the script does not want something else.
    pub(crate) fn respond(&self, subtype: &str, mut response: Object) {
        let act = self.next_misbehaviour(subtype);
        if act == Some(Act::Refuse) {
            let id = response.get("request_id").cloned();
            response = obj! {
                "subtype": "error",
                "request_id"?: id,
                "error": "the script refuses this request",
            };
        }
        let frame = obj! { "type": "control_response", "response": response };
        let times = match act {
            Some(Act::AnswerTwice) => 2,
            Some(Act::NeverAnswer) => 0,
            Some(Act::Refuse) | None => 1,
        };
        for _ in 0..times {
            self.emit(&frame);
        }
    }

    fn next_misbehaviour(&self, subtype: &str) -> Option<Act> {
        let mut acts = self.misbehaviour.borrow_mut();
        let act = acts.iter_mut().find(|act| act.on == subtype && act.times != Some(0))?;
        if let Some(times) = &mut act.times {
            *times -= 1;
        }
        Some(act.act)
    }

    /// Tells the state of the session, when the client wants to know and it has changed.
    pub(crate) fn tell_state(&self) {
        let host_only = self.env.is_on("CLAUDE_CODE_SDK_READS_SESSION_STATE");
        let wanted = self.env.is_on("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS");
        if !self.profile.parks || !(wanted || host_only) {
            return;
        }
        let state = self.state();
        if self.life.told_state.replace(Some(state)) == Some(state) {
            return;
        }
        self.emit_system(
            "session_state_changed",
            obj! { "state": state, "sdk_host_only"?: (!wanted && self.profile.internals).then_some(true) },
        );
    }

    /// What the session is doing.
    pub(crate) fn state(&self) -> &'static str {
        if self.turn.borrow().is_none() && self.queue.borrow().is_empty() {
            "idle"
        } else if self.requests.permissions_of_turn().is_empty() {
            "running"
        } else {
            "requires_action"
        }
    }

    /// Ends the process.
    pub(crate) fn exit(&self, code: u8) {
        if self.life.exit.get().is_none() {
            self.life.exit.set(Some(code));
        }
    }

    /// Where the transcript of the session is.
    pub(crate) fn transcript_path(&self) -> PathBuf {
        self.session.borrow().path()
    }

    /// The tools on offer, by the names that the model calls.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        let mut names = self.init_tools();
        for name in &mut names {
            if name == "Task" && self.profile.agent_tool != "Task" {
                self.profile.agent_tool.clone_into(name);
            }
        }
        names
    }

    /// Whether a client answers permission requests.
    pub(crate) fn has_prompt_tool(&self) -> bool {
        self.args.permission_prompt_tool.as_deref() == Some("stdio")
            && self.args.permission_prompts.as_deref() != Some("none")
    }

    /// Whether the CLI leaves out everything that it can leave out.
    pub(crate) fn is_bare(&self) -> bool {
        self.args.bare || self.args.safe_mode
    }

    /// The tools that `system/init` lists.
    pub(crate) fn init_tools(&self) -> Vec<String> {
        let prompts =
            self.args.permission_prompt_tool.is_some() || !self.profile.hides_interactive_tools;
        let mut tools = self.catalog.tools(prompts);
        if let Some(only) = &self.args.tools
            && !only.iter().any(|tool| tool == "default")
        {
            let wanted = |tool: &String| {
                only.iter().any(|name| name == tool || (tool == "Task" && name == "Agent"))
            };
            let extra: Vec<_> = only
                .iter()
                .filter(|tool| matches!(tool.as_str(), "Glob" | "Grep"))
                .cloned()
                .collect();
            tools.retain(wanted);
            tools
                .extend(extra.into_iter().filter(|tool| !tools.contains(tool)).collect::<Vec<_>>());
        }
        if self.args.bare {
            tools.retain(|tool| matches!(tool.as_str(), "Bash" | "Edit" | "Read"));
        }
        if self.args.no_slash_commands {
            tools.retain(|tool| tool != "Skill");
        }
        let denied = self.permissions.borrow().denied_tools();
        tools.retain(|tool| {
            let other_name = if tool == "Task" { "Agent" } else { tool };
            !denied.iter().any(|name| name == tool || name == other_name)
        });
        if self.args.json_schema.is_some() || self.settings.borrow().structured_output {
            tools.push("StructuredOutput".to_owned());
        }
        tools.extend(self.servers.borrow().tool_names());
        tools
    }

    /// Frames of a request that the client sent, as an answer to it begins.
    pub(crate) fn success(&self, id: Option<&Json>) -> Object {
        obj! { "subtype": "success", "request_id"?: id }
    }

    /// The running turn.
    pub(crate) fn current_turn(&self) -> Option<Rc<Turn>> {
        self.turn.borrow().clone()
    }
}
