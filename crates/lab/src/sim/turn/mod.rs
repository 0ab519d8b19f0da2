//! A turn: what is said, what is done, and the result.

mod api_error;
mod broken;
mod converse;
mod prompt;
mod result;
mod serve;
mod speak;
mod stats;
mod stream;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use self::stats::ToolStats;
use super::clock::new_uuid;
use super::exec::{First, Flag, race};
use super::input::UserMessage;
use super::json::{Json, Object};
use super::queue::Deferred;
use super::thread::Thread;

pub(crate) use self::api_error::spoken_name;
pub(crate) use self::result::End;
pub(crate) use super::meter::Tokens;

/// A turn.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Raised when the turn is to end now.
    pub(crate) abort: Flag,
    /// Names the prompt to hooks.
    pub(crate) prompt_id: String,
    /// The messages with an id that began it, and those that were folded in.
    uuids: RefCell<Vec<String>>,
    folded: RefCell<Vec<String>>,
    /// `user` frames, which count as turns.
    user_frames: Cell<u64>,
    /// The tools on offer when it began. A rule that forbids one takes it away from the next turn.
    pub(crate) offered: RefCell<Vec<String>>,
    /// Tools that were refused.
    pub(crate) denials: RefCell<Vec<Object>>,
    tokens: RefCell<Tokens>,
    first_tokens: Cell<Option<Tokens>>,
    started: Instant,
    first_word_ms: Cell<Option<u64>>,
    api_ms: Cell<u64>,
    /// The first frame of the model says which messages it answers.
    marked: Cell<bool>,
    origin: Option<Object>,
    resume_reason: Option<&'static str>,
    /// The command that the CLI ran itself.
    local_command: RefCell<Option<String>>,
    /// A hook wants the turn to end.
    pub(crate) hook_stopped: Cell<bool>,
    /// A call that a hook put off.
    pub(crate) deferred: RefCell<Option<Deferred>>,
    /// Why the last message of the model ended.
    stop_reason: RefCell<Option<String>>,
    /// A stop hook has made the model go on.
    stop_hook_active: Cell<bool>,
    /// The last text of the model.
    text: RefCell<String>,
    /// Messages that the client is shown again when the model begins to answer them.
    pub(crate) replays: RefCell<Vec<UserMessage>>,
    /// The answer in the form that the client wants.
    pub(crate) structured: RefCell<Option<Json>>,
}

/// The turn is to end now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aborted;

impl Turn {
    fn new(
        uuids: Vec<String>,
        origin: Option<Object>,
        resume_reason: Option<&'static str>,
    ) -> Rc<Self> {
        Rc::new(Self {
            abort: Flag::default(),
            prompt_id: new_uuid(),
            uuids: RefCell::new(uuids),
            folded: RefCell::default(),
            user_frames: Cell::new(0),
            offered: RefCell::default(),
            denials: RefCell::default(),
            tokens: RefCell::default(),
            first_tokens: Cell::new(None),
            started: Instant::now(),
            first_word_ms: Cell::new(None),
            api_ms: Cell::new(0),
            marked: Cell::new(false),
            origin,
            resume_reason,
            local_command: RefCell::default(),
            hook_stopped: Cell::new(false),
            deferred: RefCell::default(),
            stop_reason: RefCell::default(),
            stop_hook_active: Cell::new(false),
            text: RefCell::default(),
            replays: RefCell::default(),
            structured: RefCell::default(),
        })
    }

    /// A turn that never runs, for what happens between turns.
    pub(crate) fn idle() -> Rc<Self> {
        Self::new(Vec::new(), None, None)
    }

    /// The messages with an id that began it.
    pub(crate) fn uuids(&self) -> Vec<String> {
        self.uuids.borrow().clone()
    }

    /// When it began.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// The CLI answers by itself.
    pub(crate) fn set_local_command(&self, name: &str) {
        self.local_command.replace(Some(name.to_owned()));
    }

    /// Waits for something, or for the end of the turn.
    pub(crate) async fn wait<T>(&self, something: impl Future<Output = T>) -> Result<T, Aborted> {
        if self.abort.is_raised() {
            return Err(Aborted);
        }
        match race(self.abort.raised(), something).await {
            First::Left(()) => Err(Aborted),
            First::Right(value) => Ok(value),
        }
    }

    /// Forgets the `user` frames so far: they belong to an earlier turn.
    fn forget_user_frames(&self) {
        self.user_frames.set(0);
    }

    /// Counts a `user` frame.
    pub(crate) fn count_user_frame(&self) {
        self.user_frames.set(self.user_frames.get() + 1);
    }

    /// Counts a `user` frame, unless it is of a subagent.
    pub(crate) fn count_user_frame_in(&self, scope: &Scope) {
        if scope.agent().is_none() {
            self.count_user_frame();
        }
    }

    /// Notes that a tool was refused.
    pub(crate) fn deny(&self, tool: &str, id: &str, input: &Json) {
        let mut denials = self.denials.borrow_mut();
        let mut denial = Object::default();
        denial.set("tool_name", tool);
        denial.set("tool_use_id", id);
        denial.set("tool_input", input);
        denials.push(denial);
    }
}

/// Whose words they are: those of the session, or of a subagent.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) turn: Rc<Turn>,
    agent: Option<(Agent, RefCell<Thread>)>,
    /// What the last answer took: that is what is told of a subagent.
    tokens: RefCell<Tokens>,
    /// The last text of a subagent.
    text: RefCell<String>,
    /// The tools that were called.
    tools: RefCell<Vec<String>>,
    stats: Cell<ToolStats>,
    /// The calls since the model last spoke, as hooks are told of them.
    batch: RefCell<Vec<Object>>,
}

/// A subagent.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) id: String,
    pub(crate) run_id: String,
    pub(crate) kind: String,
    pub(crate) description: String,
    /// The call that started it.
    pub(crate) tool_use_id: String,
    /// It outlives the turn.
    pub(crate) background: bool,
}

impl Scope {
    /// The session itself.
    pub(crate) fn main(turn: Rc<Turn>) -> Rc<Self> {
        Self::new(turn, None)
    }

    fn new(turn: Rc<Turn>, agent: Option<(Agent, RefCell<Thread>)>) -> Rc<Self> {
        Rc::new(Self {
            turn,
            agent,
            tokens: RefCell::default(),
            text: RefCell::default(),
            tools: RefCell::default(),
            stats: Cell::default(),
            batch: RefCell::default(),
        })
    }

    /// A subagent of a turn. One in the background has a turn of its own.
    pub(crate) fn of_agent(turn: Rc<Turn>, agent: Agent) -> Rc<Self> {
        let turn = if agent.background { Turn::new(Vec::new(), None, None) } else { turn };
        Self::new(turn, Some((agent, RefCell::new(Thread::new(true)))))
    }

    /// The subagent, when it is one.
    pub(crate) fn agent(&self) -> Option<&Agent> {
        self.agent.as_ref().map(|(agent, _)| agent)
    }

    /// Whether it goes on after the turn.
    pub(crate) fn is_background(&self) -> bool {
        self.agent().is_some_and(|agent| agent.background)
    }

    /// The call that all frames of a subagent name.
    pub(crate) fn parent_tool_use_id(&self) -> Option<&str> {
        self.agent().map(|agent| agent.tool_use_id.as_str())
    }

    /// Counts a call.
    pub(crate) fn count_tool(&self, name: &str, input: &Json) {
        self.tools.borrow_mut().push(name.to_owned());
        let mut stats = self.stats.get();
        stats.count(name, input);
        self.stats.set(stats);
    }

    /// What the calls were.
    pub(crate) fn tool_stats(&self) -> Object {
        self.stats.get().told()
    }

    /// Notes a call that has a result.
    pub(crate) fn note_in_batch(&self, call: Object) {
        self.batch.borrow_mut().push(call);
    }

    /// The calls since the model last spoke.
    pub(crate) fn take_batch(&self) -> Vec<Object> {
        self.batch.take()
    }

    /// Notes the tokens of an answer.
    fn count(&self, tokens: Tokens) {
        self.tokens.replace(tokens);
    }

    /// The last text.
    pub(crate) fn last_text(&self) -> String {
        self.text.borrow().clone()
    }

    /// The tokens of the last answer.
    pub(crate) fn tokens(&self) -> Tokens {
        *self.tokens.borrow()
    }

    /// Tokens, calls, and the names of the tools that were called.
    pub(crate) fn totals(&self) -> (u64, usize, Vec<String>) {
        let tools = self.tools.borrow();
        let mut names: Vec<String> = Vec::new();
        for tool in tools.iter() {
            if !names.contains(tool) {
                names.push(tool.clone());
            }
        }
        (self.tokens().total(), tools.len(), names)
    }

    /// What has been used so far.
    pub(crate) fn usage(&self, ms: u64) -> Object {
        let (tokens, uses, _) = self.totals();
        let mut usage = Object::default();
        usage.set("total_tokens", tokens);
        usage.set("tool_uses", uses);
        usage.set("duration_ms", ms);
        usage
    }

    /// The conversation.
    pub(crate) fn with_thread<T>(
        &self,
        sim: &super::state::Sim,
        f: impl FnOnce(&mut Thread) -> T,
    ) -> T {
        match &self.agent {
            Some((_, thread)) => f(&mut thread.borrow_mut()),
            None => f(&mut sim.thread.borrow_mut()),
        }
    }
}
