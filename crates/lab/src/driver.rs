//! A small client for experiments: it says what it is told to say and waits for what it is told to
//! wait for.
//!
//! It has no opinions: no handshake, no answer is sent by itself, nothing is hidden. For an
//! application use a real client.
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value is read by key, which gives null where there is nothing"
)]

mod log;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use countersign_record::{Channel, Note, Recorder};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub(crate) use self::log::Conversation;
use self::log::{Log, listen};
pub use self::log::{Said, Speaker, Transcript};

/// How long a wait lasts before it is given up, unless said otherwise.
const PATIENCE: Duration = Duration::from_secs(90);

/// A process that speaks the protocol, and everything that was said so far.
///
/// Everything that is said, in either direction, goes into one log. Waiting looks through what the
/// process said from a cursor on, so that each frame is found once.
#[derive(Debug)]
pub struct Cli {
    child: Child,
    /// The process that was started.
    started: i32,
    /// Tells which process the started one has become.
    inner: fn(i32) -> i32,
    stdin: Option<ChildStdin>,
    readers: JoinSet<()>,
    log: Arc<Log>,
    changes: watch::Receiver<usize>,
    cursor: usize,
    requests: usize,
    patience: Duration,
}

impl Cli {
    /// Starts talking to a process.
    pub(crate) fn start(
        command: &mut tokio::process::Command,
        inner: fn(i32) -> i32,
        tape: Option<Recorder>,
    ) -> io::Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (changed, changes) = watch::channel(0);
        let log = Arc::new(Log::new(changed, tape));
        let mut readers = JoinSet::new();
        if let Some(stdout) = child.stdout.take() {
            readers.spawn(listen(stdout, Speaker::Cli, Arc::clone(&log)));
        }
        if let Some(stderr) = child.stderr.take() {
            readers.spawn(listen(stderr, Speaker::StandardError, Arc::clone(&log)));
        }
        let started = child.id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or_default();
        Ok(Self {
            stdin: child.stdin.take(),
            child,
            started,
            inner,
            readers,
            log,
            changes,
            cursor: 0,
            requests: 0,
            patience: PATIENCE,
        })
    }

    /// Waits this long and no longer, from now on.
    pub const fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// The id of the process. With namespaces it is known once the process has said something.
    #[must_use]
    pub fn pid(&self) -> i32 {
        (self.inner)(self.started)
    }

    /// Everything that was said until now.
    #[must_use]
    pub fn log(&self) -> Vec<Said> {
        self.log.with(<[Said]>::to_vec)
    }

    /// The conversation, which can be looked at after the process is gone.
    pub(crate) fn conversation(&self) -> Conversation {
        Conversation(Arc::clone(&self.log))
    }

    /// Writes a frame.
    ///
    /// # Errors
    ///
    /// When the process does not read any more.
    pub async fn send(&mut self, frame: &Value) -> Result<(), DriverError> {
        self.send_line(frame.to_string().as_bytes()).await
    }

    /// Writes a line, whatever it is.
    ///
    /// # Errors
    ///
    /// When the process does not read any more.
    pub async fn send_line(&mut self, line: &[u8]) -> Result<(), DriverError> {
        // Logged before it is written: the answer may come before the write returns.
        self.log.sent(line);
        self.write(line).await
    }

    async fn write(&mut self, line: &[u8]) -> Result<(), DriverError> {
        let result = match &mut self.stdin {
            Some(stdin) => tokio::time::timeout(self.patience, write_line(stdin, line))
                .await
                .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        let Err(source) = result else { return Ok(()) };
        // It has mostly ended, and its last words say why; they may still be on their way.
        let last = async { while self.readers.join_next().await.is_some() {} };
        drop(tokio::time::timeout(LAST_WORDS, last).await);
        Err(DriverError::Write { source, transcript: self.transcript() })
    }

    /// Writes several frames at once, so that they arrive together.
    ///
    /// # Errors
    ///
    /// When the process does not read any more.
    pub async fn send_together(&mut self, frames: &[Value]) -> Result<(), DriverError> {
        let lines: Vec<_> = frames.iter().map(Value::to_string).collect();
        lines.iter().for_each(|line| self.log.sent(line.as_bytes()));
        self.write(lines.join("\n").as_bytes()).await
    }

    /// Says something as the user.
    ///
    /// # Errors
    ///
    /// When the process does not read any more.
    pub async fn say(&mut self, text: &str) -> Result<(), DriverError> {
        self.send(&user(text)).await
    }

    /// Sends a control request and waits for its answer, passing over nothing else: what comes
    /// before the answer can still be waited for.
    ///
    /// # Errors
    ///
    /// When the process ends or the answer does not come. That the answer is an error is for the
    /// caller to see.
    pub async fn request(&mut self, request: Value) -> Result<Value, DriverError> {
        let id = self.post(request).await?;
        self.answer_to(&id).await
    }

    /// Sends a control request and returns its id.
    ///
    /// # Errors
    ///
    /// When the process does not read any more.
    pub async fn post(&mut self, request: Value) -> Result<String, DriverError> {
        self.requests += 1;
        let id = format!("lab-{}", self.requests);
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}))
            .await?;
        Ok(id)
    }

    /// Waits for the answer to a control request.
    ///
    /// # Errors
    ///
    /// When the process ends or the answer does not come.
    pub async fn answer_to(&mut self, id: &str) -> Result<Value, DriverError> {
        let cursor = self.cursor;
        let frame = self
            .wait(&format!("the answer to {id}"), |frame| {
                frame["type"] == "control_response" && frame["response"]["request_id"] == id
            })
            .await;
        self.cursor = cursor;
        Ok(frame?["response"].clone())
    }

    /// Sends `initialize` with these fields and waits for its answer.
    ///
    /// # Errors
    ///
    /// When the process ends or the answer does not come.
    pub async fn initialize(&mut self, fields: Value) -> Result<Value, DriverError> {
        self.request(with(fields, "subtype", "initialize")).await
    }

    /// Answers a control request of the CLI.
    ///
    /// # Errors
    ///
    /// When the process does not read any more.
    pub async fn answer(&mut self, request: &Value, response: Value) -> Result<(), DriverError> {
        let id = &request["request_id"];
        self.send(&json!({
            "type": "control_response",
            "response": {"subtype": "success", "request_id": id, "response": response},
        }))
        .await
    }

    /// Answers a control request of the CLI with an error.
    ///
    /// # Errors
    ///
    /// When the process does not read any more.
    pub async fn refuse(&mut self, request: &Value, error: &str) -> Result<(), DriverError> {
        let id = &request["request_id"];
        self.send(&json!({
            "type": "control_response",
            "response": {"subtype": "error", "request_id": id, "error": error},
        }))
        .await
    }

    /// Allows the tool of a permission request, with the input as it came.
    ///
    /// # Errors
    ///
    /// When the process does not read any more.
    pub async fn allow(&mut self, request: &Value) -> Result<(), DriverError> {
        let input = &request["request"]["input"];
        self.answer(request, json!({"behavior": "allow", "updatedInput": input})).await
    }

    /// Denies the tool of a permission request.
    ///
    /// # Errors
    ///
    /// When the process does not read any more.
    pub async fn deny(&mut self, request: &Value, message: &str) -> Result<(), DriverError> {
        self.answer(request, json!({"behavior": "deny", "message": message})).await
    }

    /// Waits for a frame of the CLI that fits, from the last one found on.
    ///
    /// # Errors
    ///
    /// When the process ends or nothing fits in time; the error shows what was said, and `what` was
    /// waited for.
    pub async fn wait(
        &mut self,
        what: &str,
        fits: impl Fn(&Value) -> bool + Sync,
    ) -> Result<Value, DriverError> {
        self.wait_for(what, &fits).await
    }

    /// The body of [`wait`](Self::wait), which is compiled once for all conditions.
    async fn wait_for(
        &mut self,
        what: &str,
        fits: &(dyn Fn(&Value) -> bool + Sync),
    ) -> Result<Value, DriverError> {
        let deadline = tokio::time::Instant::now() + self.patience;
        let mut place = self.cursor;
        loop {
            self.changes.mark_unchanged();
            let found = self.log.with(|log| {
                let new = log.get(place..).unwrap_or_default();
                place = log.len();
                let found =
                    new.iter().position(|said| said.by == Speaker::Cli && fits(&said.frame))?;
                let index = place - new.len() + found;
                Some((index, log.get(index)?.frame.clone()))
            });
            if let Some((index, frame)) = found {
                self.cursor = index + 1;
                return Ok(frame);
            }
            let problem = match tokio::time::timeout_at(deadline, self.changed()).await {
                Ok(true) => continue,
                Ok(false) => "the process ended",
                Err(_) => "it did not come in time",
            };
            let (what, transcript) = (what.to_owned(), self.transcript());
            return Err(DriverError::Missing { what, problem, transcript });
        }
    }

    /// Waits until something new was said, or nothing more can be.
    async fn changed(&mut self) -> bool {
        loop {
            tokio::select! {
                biased;
                changed = self.changes.changed() => return changed.is_ok(),
                ended = self.readers.join_next() => if ended.is_none() {
                    // The last words may have come between the two.
                    return self.changes.has_changed().unwrap_or(false);
                },
            }
        }
    }

    /// Waits for a control request of the CLI with this subtype.
    ///
    /// # Errors
    ///
    /// When the process ends or the request does not come.
    pub async fn asked(&mut self, subtype: &str) -> Result<Value, DriverError> {
        self.wait(&format!("a request {subtype}"), |frame| {
            frame["type"] == "control_request" && frame["request"]["subtype"] == subtype
        })
        .await
    }

    /// Waits for the result of a turn.
    ///
    /// # Errors
    ///
    /// When the process ends or the result does not come.
    pub async fn result(&mut self) -> Result<Value, DriverError> {
        self.wait("a result", |frame| frame["type"] == "result").await
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: Signal) {
        self.log.note(Note::Signal { number: signal.as_raw() });
        crate::process::signal(self.pid(), signal);
    }

    /// Closes the standard input of the process, which asks it to end.
    pub fn close_stdin(&mut self) {
        if self.stdin.take().is_some() {
            self.log.note(Note::Closed { channel: Channel::In });
        }
    }

    /// Closes the standard input, waits until the process has ended, and tells how, together with
    /// everything that was said.
    ///
    /// # Errors
    ///
    /// When the process does not end in time.
    pub async fn close(mut self) -> Result<Ended, DriverError> {
        self.close_stdin();
        self.ended().await
    }

    /// Waits until the process has ended by itself.
    ///
    /// # Errors
    ///
    /// When it does not end in time.
    pub async fn ended(mut self) -> Result<Ended, DriverError> {
        let all = async {
            let status = self.child.wait().await;
            while self.readers.join_next().await.is_some() {}
            status
        };
        match tokio::time::timeout(self.patience, all).await {
            Ok(Ok(status)) => {
                let log = Arc::clone(&self.log);
                // The end of a tape waits for the disk. That it does not come is noted there.
                drop(tokio::task::spawn_blocking(move || log.finish(status)).await);
                Ok(Ended { status, log: self.log() })
            }
            Ok(Err(source)) => Err(DriverError::Wait { source }),
            Err(_) => {
                let (what, problem) =
                    ("the end of the process".to_owned(), "it did not come in time");
                Err(DriverError::Missing { what, problem, transcript: self.transcript() })
            }
        }
    }

    fn transcript(&self) -> Transcript {
        Transcript(self.log())
    }
}

impl Drop for Cli {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal(Signal::KILL);
        }
    }
}

/// A process that has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// Everything that was said.
    pub log: Vec<Said>,
}

/// A message of the user.
pub(crate) fn user(text: &str) -> Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": null,
        "session_id": "",
    })
}

/// A JSON object with one more field.
pub(crate) fn with(mut object: Value, key: &str, value: impl Into<Value>) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(key.to_owned(), value.into());
    }
    object
}

/// How long is waited for the last words of a process that does not read any more.
const LAST_WORDS: Duration = Duration::from_secs(2);

async fn write_line(stdin: &mut ChildStdin, line: &[u8]) -> io::Result<()> {
    stdin.write_all(line).await?;
    stdin.write_all(b"\n").await?;
    stdin.flush().await
}

/// Why a conversation did not go as it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The process does not read any more.
    #[error("the process does not read any more ({source})\n{transcript}")]
    Write {
        /// Why.
        source: io::Error,
        /// What was said.
        transcript: Transcript,
    },
    /// Something was waited for and did not come.
    #[error("waited for {what}, but {problem}\n{transcript}")]
    Missing {
        /// What was waited for.
        what: String,
        /// Why it will not come.
        problem: &'static str,
        /// What was said.
        transcript: Transcript,
    },
    /// The end of the process could not be waited for.
    #[error("the end of the process could not be waited for")]
    Wait {
        /// Why.
        source: io::Error,
    },
}
