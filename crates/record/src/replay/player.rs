//! Plays a tape: writes what the CLI wrote when the client has done what it did.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use countersign_protocol::Line;

use super::client_line::ClientLine;
use super::inbox::{Event, Inbox};
use super::matcher::{Act, Expected, Matcher, Taken};
use super::pace::Pace;
use super::report::{Departure, ReplayNote, ReplayReport, Verdict};
use crate::diff::{Labels, is_beat};
use crate::format::{Channel, End, Note};
use crate::lines::{TapeItem, TapeLine, TapeLines};
use crate::reader::{TapeError, TapeReader};

/// How much of the client is expected at once, at most: the tape is not read further before the
/// client has done some of it.
const MAX_EXPECTED: (usize, usize) = (256, 64 * 1024 * 1024);

/// The signals by which a client ends a process. Others may be on a tape, too; nobody waits for
/// them.
pub(crate) const ENDING: [i32; 4] = {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    [SIGTERM, SIGINT, SIGHUP, SIGQUIT]
};

/// Plays a tape.
#[derive(Debug)]
pub(crate) struct Player<O, E> {
    pub(crate) inbox: Inbox,
    pub(crate) matcher: Matcher,
    pub(crate) pace: Pace,
    pub(crate) report: ReplayReport,
    pub(crate) output: Stream<O>,
    pub(crate) errors: Stream<E>,
    /// Names the lines of the tape, and those of the client in this run.
    pub(crate) labels: [Labels; 2],
    /// The client has closed its end, as on the tape.
    pub(crate) closed: bool,
    /// When a line was written last.
    pub(crate) wrote: Option<Instant>,
}

/// A stream to the client, which may stop to read it.
#[derive(Debug)]
pub(crate) struct Stream<W> {
    to: Option<W>,
}

impl<W: Write> Stream<W> {
    pub(crate) const fn new(to: W) -> Self {
        Self { to: Some(to) }
    }

    /// Writes a line. The CLI does not end when nobody reads what it writes, so neither does this:
    /// the error is told once, and nothing is written any more.
    fn write(&mut self, line: &[u8], ended: bool) -> Result<bool, io::Error> {
        let Some(to) = &mut self.to else { return Ok(false) };
        let mut text = line.to_vec();
        if ended {
            text.push(b'\n');
        }
        match to.write_all(&text).and_then(|()| to.flush()) {
            Ok(()) => Ok(true),
            Err(error) => {
                self.to = None;
                Err(error)
            }
        }
    }
}

/// Why the tape is played no further.
#[derive(Debug)]
pub(crate) enum Stop {
    Departed(Departure),
    /// A signal came that is not on the tape, while something else was expected.
    Signalled {
        number: i32,
        expected: String,
    },
    Tape(TapeError),
}

impl From<TapeError> for Stop {
    fn from(error: TapeError) -> Self {
        Self::Tape(error)
    }
}

impl<O: Write, E: Write> Player<O, E> {
    /// Plays the tape to its end, and says how the process ended; nothing if the tape does not say.
    pub(crate) fn play(&mut self, tape: &Path) -> Result<Option<End>, Stop> {
        for item in TapeLines::new(TapeReader::open(tape)?) {
            match item? {
                TapeItem::Line(line) => match line.channel {
                    Channel::In => self.expect_line(line)?,
                    Channel::Out => self.write_output(&line)?,
                    Channel::Err => self.write_error(&line)?,
                },
                TapeItem::TooLong { seq, channel, length, .. } => {
                    let text = format!("a line ({channel}) of {length} bytes cannot be played");
                    self.report.note(ReplayNote::new(Some(seq), text));
                }
                TapeItem::Note { seq, us, note } => match note {
                    Note::Closed { channel: Channel::In } => {
                        self.expect(Expected { seq, us, act: Act::Close })?;
                    }
                    Note::Signal { number } if ENDING.contains(&number) => {
                        self.expect(Expected { seq, us, act: Act::Signal(number) })?;
                    }
                    Note::Gap { bytes, reason } => {
                        let text = format!("{bytes} bytes are missing on the tape: {reason}");
                        self.report.note(ReplayNote::new(Some(seq), text));
                    }
                    _ => {}
                },
                TapeItem::End { us, end, .. } => {
                    self.catch_up()?;
                    self.pause(us);
                    self.leftovers()?;
                    self.ignored_signal()?;
                    return Ok(Some(end));
                }
            }
        }
        self.catch_up()?;
        Ok(None)
    }

    fn expect_line(&mut self, TapeLine { seq, us, text, .. }: TapeLine) -> Result<(), Stop> {
        let bytes = text.into_bytes();
        let bytes = bytes.strip_suffix(b"\r").map(<[u8]>::to_vec).unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let [labels, _] = &mut self.labels;
        let line = ClientLine::new(bytes, labels);
        if is_beat(&line.value) {
            return Ok(());
        }
        self.expect(Expected { seq, us, act: Act::Line(line) })
    }

    fn expect(&mut self, expected: Expected) -> Result<(), Stop> {
        self.matcher.expect(expected);
        loop {
            let (count, bytes) = self.matcher.size();
            if count < MAX_EXPECTED.0 && bytes < MAX_EXPECTED.1 {
                return Ok(());
            }
            self.await_client()?;
        }
    }

    fn write_output(&mut self, line: &TapeLine) -> Result<(), Stop> {
        let bytes = line.text.as_bytes();
        let frame = Line::parse(bytes).ok();
        let kind = frame.as_ref().map_or("", Line::frame_type);
        let answered =
            frame.as_ref().filter(|_| kind == "control_response").and_then(Line::request_id);
        // The CLI could not have written this before the client had done what stands before it on
        // the tape. Only an answer needs no more than its question: a client that waits for the
        // answer before it goes on must get it, even if it did not wait when it was recorded.
        while self.matcher.front().is_some() {
            if answered.is_some_and(|request| self.matcher.answers_client(request)) {
                break;
            }
            self.await_client()?;
        }
        self.pause(line.us);
        // Nearly all lines of a long tape are pieces of a stream. Nobody refers to their ids.
        if kind == "stream_event" && self.matcher.table.is_empty() {
            self.write(bytes, line.ended);
            return Ok(());
        }
        let Matcher { comparer, table, .. } = &mut self.matcher;
        let written = table.apply(comparer.left_view(), bytes);
        if let Some((recorded, live)) = &written.values
            && kind != "stream_event"
        {
            // From here on the ids in this line are what they are, and the client has to use them.
            comparer.compare(Channel::Out, recorded, live);
            if kind == "control_request" {
                self.labels.iter_mut().for_each(|labels| drop(labels.label(Channel::Out, live)));
            }
        }
        self.write(&written.line, line.ended);
        Ok(())
    }

    fn write_error(&mut self, line: &TapeLine) -> Result<(), Stop> {
        self.catch_up()?;
        self.pause(line.us);
        let Matcher { comparer, table, .. } = &self.matcher;
        let text = std::str::from_utf8(line.text.as_bytes()).ok();
        let changed = text.and_then(|text| table.rewrite_text(comparer.left_view(), text));
        let bytes = changed.as_ref().map_or(line.text.as_bytes(), |text| text.as_bytes());
        // Whoever does not listen to this is not told about it either.
        drop(self.errors.write(bytes, line.ended));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8], ended: bool) {
        self.wrote = Some(Instant::now());
        match self.output.write(bytes, ended) {
            Ok(written) => self.report.written += u64::from(written),
            Err(error) => {
                let text = format!("the client does not read any more: {error}");
                self.report.note(ReplayNote::new(None, text));
            }
        }
    }

    /// Waits until the client has done all that is expected.
    fn catch_up(&mut self) -> Result<(), Stop> {
        while self.matcher.front().is_some() {
            self.await_client()?;
        }
        Ok(())
    }

    /// Waits for something that the client does, and looks at it.
    fn await_client(&mut self) -> Result<(), Stop> {
        if let Some(taken) = self.matcher.take_held() {
            return self.taken(taken);
        }
        let Some(expected) = self.matcher.front() else { return Ok(()) };
        let event = match &expected.act {
            Act::Signal(number) => {
                let close_is_news = !self.closed && !self.matcher.expects_close();
                self.inbox.next_signal(*number, close_is_news)
            }
            Act::Line(_) | Act::Close => self.inbox.next(),
        };
        match (event, &expected.act) {
            (Event::Line(bytes), _) => self.client_line(bytes),
            (Event::Closed, Act::Close) => {
                self.done();
                Ok(())
            }
            (Event::Signal(number), Act::Signal(wanted)) if number == *wanted => {
                self.done();
                Ok(())
            }
            (Event::Signal(number), _) => {
                Err(Stop::Signalled { number, expected: expected.shown() })
            }
            (Event::Closed, _) => Err(Stop::Departed(Departure {
                record: Some(expected.seq),
                expected: expected.shown(),
                got: "the client closed its end".to_owned(),
                differences: Vec::new(),
            })),
        }
    }

    fn client_line(&mut self, bytes: Vec<u8>) -> Result<(), Stop> {
        let [_, labels] = &mut self.labels;
        let line = ClientLine::new(bytes, labels);
        if is_beat(&line.value) {
            return Ok(());
        }
        let taken = self.matcher.take(line);
        self.taken(taken)
    }

    fn taken(&mut self, taken: Taken) -> Result<(), Stop> {
        for note in self.matcher.notes() {
            self.report.note(note);
        }
        match taken {
            Taken::Held | Taken::Extra(None) => {}
            Taken::Extra(Some(answer)) => self.write(&answer, true),
            Taken::Matched { us } => {
                self.report.matched += 1;
                self.pace.sync(us, Instant::now());
            }
            Taken::Departed(departure) => return Err(Stop::Departed(departure)),
        }
        Ok(())
    }

    /// Something that is not a line was done as expected.
    fn done(&mut self) {
        if let Some(expected) = self.matcher.done() {
            self.closed |= matches!(expected.act, Act::Close);
            self.pace.sync(expected.us, Instant::now());
        }
    }

    fn pause(&self, us: u64) {
        if let Some(due) = self.pace.due(us) {
            self.inbox.pause(due);
        }
    }

    /// Looks at what the client has written and nobody has asked for.
    fn leftovers(&mut self) -> Result<(), Stop> {
        let mut left = self.matcher.leftovers();
        let [_, labels] = &mut self.labels;
        left.extend(self.inbox.rest().into_iter().map(|bytes| ClientLine::new(bytes, labels)));
        left.retain(|line| !is_beat(&line.value));
        for line in left {
            if !self.report.lenient {
                return Err(Stop::Departed(Departure {
                    record: None,
                    expected: "nothing more".to_owned(),
                    got: line.shown(),
                    differences: Vec::new(),
                }));
            }
            let text = format!("not on the tape: {}", line.shown());
            self.report.note(ReplayNote::new(None, text));
        }
        Ok(())
    }

    /// Looks whether the client wanted the CLI to end while there was more to come. One that does
    /// so when all has been written may be late: the CLI was ending by itself.
    fn ignored_signal(&self) -> Result<(), Stop> {
        let signal = self.wrote.and_then(|wrote| self.inbox.signal_before(wrote));
        match signal {
            Some(number) => {
                Err(Stop::Signalled { number, expected: "the end of the CLI by itself".to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Says something to the person in front of the client.
    pub(crate) fn say(&mut self, text: &str) {
        drop(self.errors.write(format!("countersign: {text}").as_bytes(), true));
    }

    /// Puts down why the tape was played no further.
    pub(crate) fn stopped(&mut self, stop: Stop) -> Result<End, TapeError> {
        match stop {
            Stop::Tape(error) => Err(error),
            Stop::Departed(departure) => {
                self.say(&departure.to_string());
                self.report.verdict = Verdict::Departed;
                self.report.departure = Some(departure);
                Ok(End::Code(super::DEPARTED.into()))
            }
            Stop::Signalled { number, expected } => {
                let text = format!("signal {number} is not on the tape, which has: {expected}");
                self.say(&text);
                self.report.verdict = Verdict::Signalled;
                self.report.note(ReplayNote::new(None, text));
                Ok(End::Signal(number))
            }
        }
    }
}
