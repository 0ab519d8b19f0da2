//! A recording of the real CLI, made into a script and played against the simulated one.
//!
//! The model's answers are those in the recording, the client's lines are sent when the frames
//! that came before them have come, and what the simulated CLI writes is compared frame by frame.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::sim_client::{Client, Place, Setup};
use super::sim_names::Names;
use super::sim_script::ScriptMaker;

/// A recording.
pub(crate) struct Recording {
    pub(crate) version: String,
    pub(crate) name: String,
    argv: Vec<String>,
    steps: Vec<Step>,
    exit: Option<i64>,
}

/// A line of a recording. The order of keys counts in what the client wrote.
#[derive(serde::Deserialize)]
struct Entry<'a> {
    t: f64,
    dir: String,
    #[serde(borrow)]
    msg: &'a serde_json::value::RawValue,
}

enum Step {
    /// What the client wrote: when, and the very text.
    In(f64, String),
    /// What the CLI wrote: when, and the frame.
    Out(f64, Value),
    Raw(Vec<u8>),
}

/// How long a frame is waited for.
const LONG: Duration = Duration::from_secs(120);
/// How long a frame is waited for that may come only when the client closes its end.
const SHORT: Duration = Duration::from_secs(4);

/// What is left of a pause of the client.
const PAUSE: Duration = Duration::from_millis(150);
/// The time between two lines.
const BREATH: Duration = Duration::from_millis(20);

/// Where the recordings were made.
pub(crate) const RECORDED_HOME: &str = "/home/dev";

impl Recording {
    /// Reads a recording.
    pub(crate) fn read(path: &Path, version: &str) -> Self {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut recording = Self {
            version: version.to_owned(),
            name,
            argv: Vec::new(),
            steps: Vec::new(),
            exit: None,
        };
        for line in fs::read_to_string(path).unwrap().lines() {
            let entry: Entry<'_> = serde_json::from_str(line).unwrap();
            let text = entry.msg.get();
            let message: &Value = &serde_json::from_str(text).unwrap();
            if let Some(argv) = message["_spawn"].as_array() {
                let words = argv.iter().skip(1).map(|word| word.as_str().unwrap().to_owned());
                recording.argv = words.collect();
            } else if message.get("_exit").is_some() {
                recording.exit = message["_exit"].as_i64();
            } else if let Some(raw) = message["_raw"].as_str() {
                recording.steps.push(Step::Raw(raw.as_bytes().to_vec()));
            } else if message.get("_write_failed").is_none() {
                match entry.dir.as_str() {
                    "in" => recording.steps.push(Step::In(entry.t, text.to_owned())),
                    "out" => recording.steps.push(Step::Out(entry.t, message.clone())),
                    _ => {}
                }
            }
        }
        recording
    }

    /// The frames that the CLI wrote.
    pub(crate) fn outs(&self) -> impl Iterator<Item = &Value> {
        self.steps.iter().filter_map(|step| match step {
            Step::Out(_, frame) => Some(frame),
            Step::In(..) | Step::Raw(_) => None,
        })
    }

    /// The frames of the recording, as they are compared.
    pub(crate) fn expected(&self) -> Vec<Value> {
        let mut names = Names::of("");
        self.outs().map(|frame| names.digest(frame)).collect()
    }

    /// The script of what the model said.
    fn script(&self) -> String {
        let mut script = ScriptMaker::new(self);
        for step in &self.steps {
            match step {
                Step::Out(_, frame) => script.hear(frame),
                Step::In(_, text) => script.hear_client(&serde_json::from_str(text).unwrap()),
                Step::Raw(_) => {}
            }
        }
        script.finish()
    }

    /// Plays the recording against the simulated CLI: its frames, as they are compared, and its
    /// exit code.
    ///
    /// # Errors
    ///
    /// What the simulated CLI did not do, when a line of the client could not be sent.
    pub(crate) fn play(
        &self,
        place: &Place,
        sessions: &mut HashMap<String, String>,
    ) -> Result<Played, String> {
        let root = place.home().display().to_string();
        let here = |text: &str| text.replace(RECORDED_HOME, &root);
        let argv: Vec<String> = self
            .argv
            .iter()
            .map(|word| {
                let word = here(word);
                sessions.iter().fold(word, |word, (recorded, ours)| word.replace(recorded, ours))
            })
            .collect();
        let mut setup = Setup::exactly(&self.version, &argv)
            .env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "1")
            .env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
        setup = setup.env("CLAUDE_CODE_MAX_RETRIES", &self.max_retries().to_string());
        if self.outs().any(|frame| frame["subtype"] == "session_state_changed") {
            setup = setup.env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
        }
        if self.name.contains("resume_interrupted") {
            setup = setup.env("CLAUDE_CODE_RESUME_INTERRUPTED_TURN", "1");
        }
        let mut player = Player {
            client: setup.start(place, &here(&self.script())),
            ids: HashMap::new(),
            asked: Vec::new(),
            theirs: Vec::new(),
            to_come: self.outs().filter(|frame| is_hook(frame)).map(key_of).collect(),
            wanted: Counts::default(),
            seen: Counts::default(),
        };
        let mut written_at = None;
        let mut before = None;
        let mut waiting = String::new();
        let mut steps = self.steps.iter().peekable();
        while let Some(step) = steps.next() {
            match step {
                Step::Out(at, frame) => {
                    player.expect(frame);
                    written_at = None;
                    before = Some(*at);
                }
                Step::Raw(bytes) => {
                    player.catch_up(LONG)?;
                    player.rest(BREATH);
                    match std::str::from_utf8(bytes) {
                        Ok(text) => {
                            let text = player.translate(&here(text));
                            player.client.write(text.as_bytes());
                        }
                        Err(_) => player.client.write(bytes),
                    }
                }
                Step::In(at, text) => {
                    // What was written in one go is written in one go.
                    let at_once = written_at.is_some_and(|before| at - before < 0.005);
                    if !at_once {
                        player.catch_up(LONG)?;
                        let paused = before.is_some_and(|before| at - before > 0.2);
                        player.rest(if paused { PAUSE } else { BREATH });
                    }
                    written_at = Some(*at);
                    before = Some(*at);
                    waiting.push_str(&player.translate(&here(text)));
                    waiting.push('\n');
                    if !matches!(steps.peek(), Some(Step::In(next, _)) if next - at < 0.005) {
                        player.client.write(waiting.as_bytes());
                        waiting.clear();
                    }
                }
            }
        }
        // That the client closed its end is not in the recording. It did so at the latest when
        // nothing else can make the CLI go on.
        if self.ends_early() {
            player.rest(PAUSE);
        } else if player.catch_up(SHORT).is_err() {
            player.client.close();
            player.catch_up(LONG)?;
        }
        if let Some(signal) = self.signal() {
            player.client.signal(signal);
        } else if self.ends_early() {
            player.client.kill();
        }
        let exit = if self.ends_early() { player.client.wait().0 } else { player.client.finish() };
        for (recorded, ours) in self.outs().zip(&player.client.seen) {
            if let (Some(recorded), Some(ours)) =
                (recorded["session_id"].as_str(), ours["session_id"].as_str())
            {
                sessions.entry(recorded.to_owned()).or_insert_with(|| ours.to_owned());
            }
        }
        let mut names = Names::of(&root);
        let frames = player.client.seen.iter().map(|frame| names.digest(frame)).collect();
        Ok(Played { frames, raw: std::mem::take(&mut player.client.seen), exit })
    }

    /// How often the CLI was to ask again when the model is busy.
    pub(crate) fn max_retries(&self) -> usize {
        let told = self.outs().find_map(|frame| frame["max_retries"].as_u64());
        told.map_or(2, |most| usize::try_from(most).unwrap())
    }

    /// The signal that ended it, which only the name tells.
    fn signal(&self) -> Option<Signal> {
        let named = |part: &str| self.name.contains(part);
        match () {
            () if named("_sigterm") => Some(Signal::TERM),
            () if named("_sigint") => Some(Signal::INT),
            () if named("_sighup") => Some(Signal::HUP),
            () => None,
        }
    }

    /// Whether it was ended from outside.
    pub(crate) fn ends_early(&self) -> bool {
        // An exit code of none: it had to be ended by force.
        self.signal().is_some() || self.exit.is_none_or(|code| code < 0)
    }

    /// The session that it goes on with.
    pub(crate) fn resumes(&self) -> Option<&str> {
        if self.argv.iter().any(|word| word == "--continue") {
            return self
                .outs()
                .filter_map(|frame| frame["session_id"].as_str())
                .find(|id| !id.is_empty());
        }
        let at = self.argv.iter().position(|word| word == "--resume" || word == "--session-id")?;
        self.argv.get(at + 1).map(String::as_str)
    }

    /// Whether it ran in the same folder as the others; only the name tells.
    pub(crate) fn in_same_folder(&self) -> bool {
        !self.name.contains("other_cwd")
    }

    /// Whether it is of a session.
    pub(crate) fn mentions(&self, session: &str) -> bool {
        self.outs().any(|frame| frame["session_id"] == session)
    }

    /// The exit code, when the process ended by itself.
    pub(crate) fn exit(&self) -> Option<i32> {
        self.exit.and_then(|code| i32::try_from(code).ok()).filter(|code| *code >= 0)
    }
}

/// What came of playing a recording.
pub(crate) struct Played {
    /// The frames as they were written.
    pub(crate) raw: Vec<Value>,
    /// What is compared of them.
    pub(crate) frames: Vec<Value>,
    pub(crate) exit: Option<i32>,
}

/// How many frames of each kind that a client waits for have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    requests: usize,
    responses: usize,
    results: usize,
    assistants: usize,
    deltas: usize,
    replays: usize,
}

impl Counts {
    fn add(&mut self, frame: &Value) {
        match frame["type"].as_str() {
            Some("control_request") => self.requests += 1,
            Some("control_response") => self.responses += 1,
            Some("result") => self.results += 1,
            Some("assistant") => self.assistants += 1,
            Some("user") if frame["isReplay"] == true => self.replays += 1,
            Some("stream_event") if frame["event"]["type"] == "content_block_delta" => {
                self.deltas += 1;
            }
            _ => {}
        }
    }

    /// Whether everything has come that a client waits for.
    fn covers(&self, other: &Self) -> bool {
        self.requests >= other.requests
            && self.responses >= other.responses
            && self.results >= other.results
            && self.assistants >= other.assistants
            && self.replays >= other.replays
            && self.deltas >= other.deltas
    }
}

/// Plays the client's part.
struct Player {
    client: Client,
    /// Ids of the recording's requests, and ours.
    ids: HashMap<String, String>,
    /// Requests of the recording and of the simulated CLI, in order.
    asked: Vec<(String, String)>,
    theirs: Vec<(String, String)>,
    /// Calls of hooks in the recording that have not come yet.
    to_come: Vec<String>,
    wanted: Counts,
    seen: Counts,
}

impl Player {
    fn expect(&mut self, frame: &Value) {
        self.wanted.add(frame);
        if frame["type"] == "control_request" {
            let id = frame["request_id"].as_str().unwrap().to_owned();
            self.asked.push((key_of(frame), id));
            self.pair();
        }
    }

    /// Reads until everything has come that came before the next line in the recording.
    fn catch_up(&mut self, patience: Duration) -> Result<(), String> {
        let end = Instant::now() + patience;
        while !self.seen.covers(&self.wanted) {
            let left = end.saturating_duration_since(Instant::now());
            match self.client.line_within(left) {
                Ok(Some(line)) => {
                    let frame: Value =
                        serde_json::from_str(&line).map_err(|error| error.to_string())?;
                    self.take(frame);
                }
                Ok(None) => return Ok(()),
                Err(()) => {
                    let (seen, wanted) = (self.seen, self.wanted);
                    return Err(format!("waits: {seen:?} of {wanted:?}\n{}", self.client.story()));
                }
            }
        }
        Ok(())
    }

    /// Reads until nothing more comes for a while: what is on its way belongs before the next
    /// line, too.
    fn rest(&mut self, time: Duration) {
        while let Ok(Some(line)) = self.client.line_within(time) {
            if let Ok(frame) = serde_json::from_str(&line) {
                self.take(frame);
            }
        }
    }

    fn take(&mut self, frame: Value) {
        let key = key_of(&frame);
        let known = self.to_come.iter().position(|other| *other == key);
        if let Some(at) = known {
            self.to_come.remove(at);
        }
        if is_hook(&frame) && known.is_none() {
            // Thinned out of the recording, together with its answer, because it shows nothing new.
            let id = &frame["request_id"];
            let response = json!({"subtype": "success", "request_id": id, "response": {}});
            self.client.send(&json!({"type": "control_response", "response": response}));
            self.client.seen.push(frame);
            return;
        }
        self.seen.add(&frame);
        if frame["type"] == "control_request" {
            let id = frame["request_id"].as_str().unwrap().to_owned();
            self.theirs.push((key, id));
            self.pair();
        }
        self.client.seen.push(frame);
    }

    /// The first request of a kind in the recording is the first one here.
    fn pair(&mut self) {
        self.asked.retain(|(key, recorded)| {
            let Some(at) = self.theirs.iter().position(|(other, _)| other == key) else {
                return true;
            };
            let (_, ours) = self.theirs.remove(at);
            self.ids.insert(recorded.clone(), ours);
            false
        });
    }

    fn translate(&self, text: &str) -> String {
        self.ids.iter().fold(text.to_owned(), |text, (recorded, ours)| text.replace(recorded, ours))
    }
}

fn is_hook(frame: &Value) -> bool {
    frame["type"] == "control_request" && frame["request"]["subtype"] == "hook_callback"
}

fn key_of(frame: &Value) -> String {
    let request = &frame["request"];
    let detail = [&request["tool_use_id"], &request["callback_id"], &request["message"]["method"]];
    let event = &request["input"]["hook_event_name"];
    let tool = if event.as_str().is_some_and(|event| event.contains("ToolUse"))
        || request["subtype"] == "can_use_tool"
    {
        detail[0].to_string()
    } else {
        String::new()
    };
    format!("{} {tool} {} {} {}", request["subtype"], detail[1], detail[2], request["server_name"])
}
