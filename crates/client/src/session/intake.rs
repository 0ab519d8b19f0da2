//! What comes from the CLI: cut into lines, told apart, and passed on to where it belongs.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use countersign_protocol::event::CommandState;
use countersign_protocol::system::SystemMessage;
use countersign_protocol::{Decoded, FromCli, Line};
use countersign_record::{Channel, Recorder};
use memchr::memchr;
use rustix::io::ioctl_fionread;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

use super::serve::Server;
use super::shared::Shared;
use super::snapshot::Snapshot;
use super::spans;
use crate::echo::Echo;
use crate::link::{Framing, Mailbox, OnLine, Run, Way};
use crate::message::too_long_marker;
use crate::store::Mirror;

/// How many times in a row the pipe is read before something else gets a turn.
const READS: usize = 16;

/// How much a pipe holds. A read that brings as much may have left more.
const PIPE: usize = 64 * 1024;

/// The rarer kinds of messages that are known.
const MESSAGES: [&str; 12] = [
    "tool_progress",
    "tool_use_summary",
    "auth_status",
    "rate_limit_event",
    "prompt_suggestion",
    "conversation_reset",
    "active_goal",
    "autocompact_state",
    "attachment",
    "progress",
    "queued_notification",
    "session_notice",
];

/// Reads one session. It waits for nothing but the CLI: messages go to the mailbox, which takes
/// all of them, and requests to tasks of their own.
pub(super) struct Intake {
    pub(super) stdout: Receiver,
    pub(super) framing: Framing,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) server: Server,
    pub(super) shared: Arc<Shared>,
    pub(super) recorder: Option<Recorder>,
    pub(super) on_line: Option<OnLine>,
    pub(super) mirror: Option<Arc<Mirror>>,
    /// What the last result said went wrong.
    pub(super) errors: Vec<String>,
    /// Whether the CLI has closed its end.
    pub(super) ended: bool,
}

impl Intake {
    /// Waits until there is something to read and room to put it, and reads it.
    ///
    /// Cancel safe. Never returns once the CLI has closed its end, which `ended` says.
    pub(super) async fn next(&mut self) {
        if self.ended {
            return std::future::pending().await;
        }
        self.framing.rest();
        self.mailbox.room().await;
        if !poll_fn(|context| self.poll_read(context)).await {
            return;
        }
        for _ in 1..READS {
            if self.server.has_begun() || !self.mailbox.has_room() {
                break;
            }
            if !self.read() {
                return;
            }
        }
        // There is always more, and others of this thread would have to wait: handlers that were
        // begun just now, and the clock.
        tokio::task::yield_now().await;
    }

    /// Reads what is in the pipe and ends: the CLI is gone.
    pub(super) fn drain(&mut self) {
        // And no more than that: what it has left behind may write for ever.
        let mut left = ioctl_fionread(&self.stdout).unwrap_or(u64::MAX);
        while !self.ended && left > 0 {
            let outcome = self.stdout.try_read_buf(self.framing.space());
            left = left.saturating_sub(outcome.as_ref().map_or(0, |&count| count as u64));
            if !self.took(outcome) {
                break;
            }
        }
        self.finish();
    }

    /// Reads as soon as there is something, and says whether there may be more.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        // Room is taken only when there is something to put there: most sessions are waiting.
        if let Err(error) = ready!(self.stdout.poll_read_ready(context)) {
            return Poll::Ready(self.took(Err(error)));
        }
        // Unlike a mere try, this knows from a read that did not fill its room that the next would
        // find nothing.
        let read = pin!(self.stdout.read_buf(self.framing.space())).poll(context);
        match read {
            Poll::Ready(outcome) => Poll::Ready(self.took(outcome)),
            Poll::Pending => {
                self.framing.rest();
                Poll::Pending
            }
        }
    }

    /// Reads once, and says whether there may be more.
    fn read(&mut self) -> bool {
        let outcome = self.stdout.try_read_buf(self.framing.space());
        self.took(outcome)
    }

    /// Deals with what was read, and says whether there may be more.
    fn took(&mut self, outcome: io::Result<usize>) -> bool {
        match outcome {
            Ok(0) => {
                self.finish();
                false
            }
            Ok(count) => {
                let (new, filled) = self.framing.last_read(count);
                if let Some(recorder) = &self.recorder {
                    recorder.record(Channel::Out, new);
                }
                while let Some(run) = self.framing.next_run() {
                    self.take(run);
                }
                filled || count >= PIPE
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(error) => {
                tracing::warn!(%error, "the output of the CLI cannot be read");
                self.finish();
                false
            }
        }
    }

    fn finish(&mut self) {
        if !self.ended {
            self.ended = true;
            if let Some(run) = self.framing.finish() {
                self.take(run);
            }
        }
    }

    fn take(&mut self, run: Run) {
        match run {
            Run::Lines(lines) => self.lines(&lines),
            Run::TooLong { abridged, length } => {
                self.shared.counters.too_long();
                tracing::warn!(length, "a line was too long and is passed over");
                self.passed_over(&abridged);
                self.mailbox.push([Bytes::from(too_long_marker(length, &abridged))]);
            }
        }
    }

    /// A line was too long, and this is left of it. Nobody may wait for what it said.
    fn passed_over(&mut self, abridged: &[u8]) {
        let Ok(line) = Line::parse(abridged) else { return };
        match line.frame_type() {
            "control_request" => self.server.refuse_too_long(&line),
            "control_response" => {
                if let Some(id) = line.to_request_id() {
                    let reason = "it is longer than a line may be; SessionBuilder::max_line says \
                                  how long that is";
                    self.shared.answered_unreadably(&id, reason.to_owned());
                }
            }
            "control_cancel_request" => self.cancelled(&line),
            "system" => self.system(&line),
            "result" => _ = self.result(&line),
            "user" => self.user(abridged),
            _ => {}
        }
    }

    /// Sorts lines: what is for us is dealt with, the rest goes to the mailbox in one piece where
    /// that is possible.
    fn lines(&mut self, lines: &Bytes) {
        let mut messages = Vec::new();
        let (mut begin, mut at, mut count) = (0, 0, 0);
        while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
            let (line, length) = match memchr(b'\n', rest) {
                Some(end) => (rest.get(..end).unwrap_or_default(), end + 1),
                None => (rest, rest.len()),
            };
            count += 1;
            if self.is_for_us(line) {
                if begin < at {
                    messages.push(lines.slice(begin..at));
                }
                begin = at + length;
            }
            at += length;
        }
        self.shared.counters.frames(count);
        if begin < at {
            messages.push(lines.slice(begin..at));
        }
        if !messages.is_empty() {
            self.mailbox.push(messages);
        }
    }

    fn is_for_us(&mut self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        tracing::trace!(line = %String::from_utf8_lossy(line), "from the CLI");
        if let Some(on_line) = &self.on_line {
            on_line(Way::FromCli, line);
        }
        let Ok(line) = Line::parse(line) else {
            if !line.iter().all(u8::is_ascii_whitespace) {
                self.shared.counters.not_a_frame();
            }
            return false;
        };
        match line.frame_type() {
            "control_request" => self.server.serve(&line),
            "control_response" => self.response(&line),
            "control_cancel_request" => self.cancelled(&line),
            "keep_alive" => {}
            "transcript_mirror" => self.mirror(&line),
            "system" => {
                self.system(&line);
                return false;
            }
            "result" => {
                if !self.result(&line) {
                    self.shared.counters.malformed();
                }
                return false;
            }
            "user" => {
                self.user(line.bytes());
                return false;
            }
            "command_lifecycle" => {
                self.lifecycle(&line);
                return false;
            }
            "stream_event" | "assistant" => return false,
            other => {
                if !MESSAGES.contains(&other) {
                    self.shared.counters.unknown();
                }
                return false;
            }
        }
        true
    }

    fn cancelled(&self, line: &Line<'_>) {
        match line.to_request_id() {
            Some(id) => self.shared.cancelled(&id),
            None => self.shared.counters.malformed(),
        }
    }

    fn response(&self, line: &Line<'_>) {
        match line.decode::<FromCli>() {
            Decoded::Known(FromCli::ControlResponse(response))
            | Decoded::Unknown(FromCli::ControlResponse(response)) => {
                self.shared.answered(*response);
            }
            Decoded::Known(_) | Decoded::Unknown(_) => {}
            Decoded::Malformed(malformed) => {
                self.shared.counters.malformed();
                if let Some(id) = line.to_request_id() {
                    self.shared.answered_unreadably(&id, malformed.to_string());
                }
            }
        }
    }

    fn mirror(&self, line: &Line<'_>) {
        match (line.decode::<FromCli>(), &self.mirror) {
            (Decoded::Known(FromCli::TranscriptMirror(frame)), Some(mirror)) => mirror.push(frame),
            (Decoded::Malformed(_), _) => self.shared.counters.malformed(),
            _ => {}
        }
    }

    fn system(&self, line: &Line<'_>) {
        if !matches!(line.subtype(), Some("init" | "status" | "session_state_changed")) {
            return;
        }
        let (Decoded::Known(frame) | Decoded::Unknown(frame)) = line.decode::<FromCli>() else {
            return;
        };
        match frame {
            FromCli::System(SystemMessage::Init(init)) => {
                spans::session_is(&self.shared, &init.session_id);
                self.shared.snapshot.send_modify(|snapshot| snapshot.began(&init));
            }
            FromCli::System(SystemMessage::Status(status)) => {
                if let Some(mode) = status.permission_mode {
                    self.shared.snapshot.send_modify(|snapshot| snapshot.mode(mode));
                }
            }
            FromCli::System(SystemMessage::SessionStateChanged(changed)) => {
                self.shared.snapshot.send_modify(|snapshot| snapshot.state(&changed.state));
            }
            _ => {}
        }
    }

    /// Perhaps the echo of a message that the CLI drops. Only those are looked at that may be.
    fn user(&self, line: &[u8]) {
        let may_be_known = |snapshot: &Snapshot| snapshot.sent.iter().any(|sent| sent.may_be_known);
        if !may_be_known(&self.shared.snapshot.borrow()) {
            return;
        }
        let Some(echo) = Echo::read(line) else { return };
        self.shared.snapshot.send_if_modified(|snapshot| {
            let mut sent = snapshot.sent.iter();
            let may_be_known = sent.any(|sent| sent.may_be_known && sent.id == echo.message);
            may_be_known
                && echo.is_of_known(snapshot.version, snapshot.has_begun)
                && snapshot.dropped(&echo.message)
        });
    }

    /// The CLI says what becomes of a message.
    fn lifecycle(&self, line: &Line<'_>) {
        let Decoded::Known(FromCli::CommandLifecycle(told)) = line.decode::<FromCli>() else {
            return;
        };
        if let CommandState::Cancelled | CommandState::Discarded | CommandState::Refused =
            told.state
        {
            let message = &told.command_uuid;
            self.shared.snapshot.send_if_modified(|snapshot| snapshot.dropped(message));
        }
    }

    /// A turn is over. Says whether its result can be read.
    fn result(&mut self, line: &Line<'_>) -> bool {
        let Decoded::Known(FromCli::Result(mut result)) = line.decode::<FromCli>() else {
            // Whatever it says, the turn is over.
            self.shared.snapshot.send_modify(Snapshot::over);
            return false;
        };
        if let Some(session) = &result.session_id {
            spans::session_is(&self.shared, session);
        }
        self.errors = result.errors.take().unwrap_or_default();
        self.shared.snapshot.send_modify(|snapshot| snapshot.result(&result));
        true
    }
}
