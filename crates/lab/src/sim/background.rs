//! Tasks that go on when their call has returned: commands and agents in the background.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use super::clock::{epoch_ms, new_id};
use super::exec::Flag;
use super::json::{Json, Object, obj};
use super::queue::{Notice, Work};
use super::state::Sim;

/// A task.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) run_id: String,
    pub(crate) tool_use_id: String,
    pub(crate) description: String,
    pub(crate) kind: Kind,
    pub(crate) command: Option<String>,
    /// Raised when it is to end.
    pub(crate) stop: Rc<Flag>,
    pub(crate) output: PathBuf,
}

/// What a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Command,
    Agent { kind: String },
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Command => "local_bash",
            Self::Agent { .. } => "local_agent",
        }
    }
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskEnd {
    Completed,
    Failed,
    Killed,
}

impl TaskEnd {
    fn status(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }

    fn told(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Killed => "stopped",
        }
    }
}

/// The tasks in the background, and what is counted about agents.
#[derive(Debug, Default)]
pub(crate) struct Background {
    running: Vec<Task>,
    folder: Option<PathBuf>,
    spawned: u64,
    in_background: u64,
    completed: u64,
    kinds: Vec<(String, u64)>,
}

impl Background {
    /// Whether a path is the output of a task.
    pub(crate) fn owns(&self, path: &Path) -> bool {
        self.folder.as_deref().is_some_and(|folder| path.starts_with(folder))
    }

    /// Whether nothing runs.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// A task that runs.
    pub(crate) fn find(&self, id: &str) -> Option<&Task> {
        self.running.iter().find(|task| task.id == id)
    }

    /// Counts an agent.
    pub(crate) fn count_agent(&mut self, kind: &str, background: bool) {
        self.spawned += 1;
        self.in_background += u64::from(background);
        match self.kinds.iter_mut().find(|(name, _)| name == kind) {
            Some((_, count)) => *count += 1,
            None => self.kinds.push((kind.to_owned(), 1)),
        }
    }

    /// Counts an agent that has ended.
    pub(crate) fn count_end(&mut self) {
        self.completed += 1;
    }

    /// What a result says about agents.
    pub(crate) fn stats(&self) -> Object {
        let by_type: Object =
            self.kinds.iter().map(|(kind, count)| (kind.clone(), (*count).into())).collect();
        let foreground = self.spawned - self.in_background;
        obj! {
            "spawned": self.spawned,
            "requested": obj! { "background": self.in_background, "foreground": foreground, "unset": 0 },
            "started_in_background": self.in_background,
            "max_depth": u64::from(self.spawned > 0),
            "spawned_by_subagents": 0,
            "completed": self.completed,
            "failed": 0,
            "killed": obj! { "parent": 0, "user": 0, "system": 0 },
            "refused": obj! { "depth_limit": 0, "concurrency_limit": 0, "budget": 0 },
            "by_type": by_type,
        }
    }

    /// As a stop hook is told of them.
    pub(crate) fn for_hooks(&self) -> Vec<Object> {
        let task = |task: &Task| {
            let (kind, agent) = match &task.kind {
                Kind::Command => ("shell", None),
                Kind::Agent { kind } => ("subagent", Some(kind.as_str())),
            };
            obj! {
                "id": &task.id,
                "type": kind,
                "status": "running",
                "description": &task.description,
                "command"?: task.command.as_deref(),
                "agent_type"?: agent,
            }
        };
        self.running.iter().map(task).collect()
    }

    fn listing(&self) -> Vec<Object> {
        let task = |task: &Task| {
            let kind = match &task.kind {
                Kind::Agent { kind } => Some(kind.as_str()),
                Kind::Command => None,
            };
            obj! {
                "task_id": &task.id,
                "run_id": &task.run_id,
                "task_type": task.kind.name(),
                "subagent_type"?: kind,
                "description": &task.description,
            }
        };
        self.running.iter().map(task).collect()
    }
}

/// The id of a run: when, and which.
pub(crate) fn new_run_id() -> String {
    format!("0{}-{}", new_id("", 8), new_id("", 8))
}

impl Sim {
    /// Where the output of a task goes.
    pub(crate) fn task_output(&self, id: &str) -> PathBuf {
        let folder = self.env.task_folder().join(self.session_id()).join("tasks");
        self.background.borrow_mut().folder = Some(folder.clone());
        folder.join(format!("{id}.output"))
    }

    /// The transcript of an agent.
    pub(crate) fn agent_transcript(&self, id: &str) -> String {
        let project = self.env.project_folder(&self.env.cwd);
        let folder = project.join(self.session_id()).join("subagents");
        folder.join(format!("agent-{id}.jsonl")).display().to_string()
    }

    /// Tells which tasks run in the background.
    pub(crate) fn emit_background_tasks(&self) {
        if self.profile.internals {
            let tasks = self.background.borrow().listing();
            self.emit_system("background_tasks_changed", obj! { "tasks": tasks });
        }
    }

    /// A task begins in the background.
    pub(crate) fn task_begins(&self, task: &Task, prompt: Option<&str>) {
        self.background.borrow_mut().running.push(task.clone());
        self.emit_background_tasks();
        self.emit_task_started(task, true, prompt);
    }

    /// Tells that a task has begun.
    pub(crate) fn emit_task_started(&self, task: &Task, background: bool, prompt: Option<&str>) {
        let internals = self.profile.internals;
        let modern = self.profile.modern;
        let agent = match &task.kind {
            Kind::Agent { kind } => Some(kind.as_str()),
            Kind::Command => None,
        };
        self.emit_system(
            "task_started",
            obj! {
                "task_id": &task.id,
                "run_id"?: internals.then_some(&task.run_id),
                "tool_use_id": &task.tool_use_id,
                "description": &task.description,
                "subagent_type"?: agent.filter(|_| modern),
                "is_backgrounded"?: internals.then_some(background),
                "spawn_depth"?: agent.filter(|_| internals).map(|_| 1),
                "task_type": task.kind.name(),
                "prompt"?: prompt.filter(|_| modern),
            },
        );
    }

    /// Tells that a task has ended.
    pub(crate) fn emit_task_ended(
        &self,
        task: &Task,
        end: TaskEnd,
        summary: &str,
        usage: Option<Object>,
    ) {
        let internals = self.profile.internals;
        let untold = end == TaskEnd::Killed && task.kind == Kind::Command && !internals;
        if self.profile.modern {
            self.emit_system(
                "task_updated",
                obj! {
                    "task_id": &task.id,
                    "run_id"?: internals.then_some(&task.run_id),
                    "patch": obj! { "status": end.status(), "end_time": epoch_ms() },
                },
            );
        }
        self.emit_system(
            "task_notification",
            obj! {
                "task_id": &task.id,
                "run_id"?: internals.then_some(&task.run_id),
                "tool_use_id": &task.tool_use_id,
                "status": end.told(),
                "output_file": if untold { String::new() } else { task.output.display().to_string() },
                "summary": summary,
                "usage"?: usage,
            },
        );
    }

    /// A task in the background has ended: it is told, and the model is told in a turn of its own.
    pub(crate) fn task_ends(
        &self,
        task: &Task,
        end: TaskEnd,
        summary: &str,
        usage: Option<Object>,
    ) {
        self.background.borrow_mut().running.retain(|running| running.id != task.id);
        let (id, call) = (&task.id, &task.tool_use_id);
        let (status, output) = (end.status(), task.output.display());
        let text = format!(
            "<task-notification>\n<task-id>{id}</task-id>\n<tool-use-id>{call}</tool-use-id>\n<output-file>{output}</output-file>\n<status>{status}</status>\n<summary>{summary}</summary>\n</task-notification>"
        );
        self.emit_task_ended(task, end, summary, usage);
        self.emit_background_tasks();
        if end == TaskEnd::Killed && task.kind == Kind::Command {
            // Whoever stopped it knows.
            return;
        }
        let mut origin = obj! { "kind": "task-notification" };
        if self.profile.internals {
            origin.set("producer", "session-task");
            origin.set("runId", &task.run_id);
        }
        self.queue.borrow_mut().push(Work::Notice(Notice { text, origin }));
        self.life.work.raise();
    }

    /// Runs a command in the background: for as long as the script says, with the result it says.
    pub(crate) fn run_in_background(
        self: &Rc<Self>,
        task: Task,
        takes: Duration,
        output: String,
        fails: bool,
    ) {
        self.task_begins(&task, None);
        let sim = Rc::clone(self);
        self.tasks.spawn(async move {
            let stopped = super::exec::race(sim.tasks.sleep(takes), task.stop.raised()).await;
            let end = match stopped {
                super::exec::First::Right(()) => TaskEnd::Killed,
                super::exec::First::Left(()) if fails => TaskEnd::Failed,
                super::exec::First::Left(()) => TaskEnd::Completed,
            };
            if let Some(folder) = task.output.parent() {
                // Output that cannot be kept is lost, as it would be with a full disk.
                drop(
                    std::fs::create_dir_all(folder)
                        .and_then(|()| std::fs::write(&task.output, &output)),
                );
            }
            let ended = |how: &str| format!("Background command \"{}\" {how}", task.description);
            let summary = match end {
                TaskEnd::Completed => ended("completed (exit code 0)"),
                TaskEnd::Failed => ended("failed with exit code 1"),
                TaskEnd::Killed => task.description.clone(),
            };
            sim.task_ends(&task, end, &summary, None);
        });
    }

    /// Whether the end has to wait for tasks in the background.
    pub(crate) fn waits_for_background(&self) -> bool {
        if self.background.borrow().is_idle() {
            return false;
        }
        self.profile.waits_for_commands
            || self.background.borrow().running.iter().any(|task| task.kind != Kind::Command)
    }

    /// 2.1.62 waits for agents in the background before it ends a turn. True when it had to; the
    /// result is then that of the turn in which the model hears of their end (`S6`).
    pub(crate) async fn hold_for_background(&self) -> bool {
        let mut held = false;
        while !self.profile.background_agents
            && self.background.borrow().running.iter().any(|task| task.kind != Kind::Command)
        {
            held = true;
            self.life.work.lower();
            self.life.work.raised().await;
        }
        held
    }

    /// Ends a task. False when there is none.
    pub(crate) fn stop_task(&self, id: &str) -> bool {
        let stop = self.background.borrow().find(id).map(|task| Rc::clone(&task.stop));
        let found = stop.is_some();
        if let Some(stop) = stop {
            stop.raise();
        }
        found
    }

    /// What a task has written so far, the last of it.
    pub(crate) fn task_output_tail(&self, id: &str) -> Option<Json> {
        const TAIL: usize = 8 << 10;
        let path = self.background.borrow().find(id).map(|task| task.output.clone())?;
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let start =
            (0..=text.len()).rev().find(|at| text.len() - at >= TAIL && text.is_char_boundary(*at));
        let tail = text.get(start.unwrap_or(0)..).unwrap_or_default();
        Some(
            obj! { "output": tail, "total_bytes": text.len(), "truncated": start.is_some() }.into(),
        )
    }
}
