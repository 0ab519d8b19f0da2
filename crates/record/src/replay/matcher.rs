//! Whether the client does what the tape says it did.

use std::collections::{HashSet, VecDeque};

use super::ahead::{Ahead, Marks};
use super::client_line::ClientLine;
use super::essential::Essential;
use super::report::{Departure, ReplayNote};
use super::rewrite::Substitutions;
use crate::format::Channel;
use crate::meaning::{Canonical, Comparer, Difference};

/// Something that the client did when the tape was recorded.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) seq: u64,
    pub(crate) us: u64,
    pub(crate) act: Act,
}

#[derive(Debug)]
pub(crate) enum Act {
    Line(ClientLine),
    /// It closed its end.
    Close,
    /// It sent a signal.
    Signal(i32),
}

impl Expected {
    pub(crate) fn shown(&self) -> String {
        match &self.act {
            Act::Line(line) => line.shown(),
            Act::Close => "the client closes its end".to_owned(),
            Act::Signal(number) => format!("the client sends signal {number}"),
        }
    }
}

/// What became of a line of the client.
#[derive(Debug)]
pub(crate) enum Taken {
    /// It is what the tape has.
    Matched {
        us: u64,
    },
    /// It is kept until the tape comes to it.
    Held,
    /// The tape does not have it. What the client has to be answered, if anything.
    Extra(Option<Vec<u8>>),
    Departed(Departure),
}

/// Compares what the client does with what it is expected to do.
#[derive(Debug)]
pub(crate) struct Matcher {
    pub(crate) comparer: Comparer,
    pub(crate) table: Substitutions,
    expected: VecDeque<Expected>,
    /// The requests of the client that were matched and not answered yet, by their ids on the
    /// tape.
    asked: HashSet<String>,
    /// The last record of the client that was expected so far.
    last: u64,
    lenient: Option<Lenient>,
    notes: Vec<ReplayNote>,
}

/// What is needed to take order and details lightly.
#[derive(Debug)]
pub(crate) struct Lenient {
    pub(crate) ahead: Ahead,
    /// Begins a conversation as it is seen in this run.
    pub(crate) shapes: Canonical,
    pub(crate) essential: Essential,
    /// Lines that the tape has only later.
    pub(crate) held: Vec<(ClientLine, Marks)>,
    /// Something new is expected, so the lines that are held have to be looked at again.
    pub(crate) stale: bool,
}

/// How many lines may be held.
const MAX_HELD: usize = 256;

impl Matcher {
    pub(crate) fn new(comparer: Comparer, table: Substitutions, lenient: Option<Lenient>) -> Self {
        Self {
            comparer,
            table,
            expected: VecDeque::new(),
            asked: HashSet::new(),
            last: 0,
            lenient,
            notes: Vec::new(),
        }
    }

    /// Adds what the client does next on the tape.
    pub(crate) fn expect(&mut self, expected: Expected) {
        self.last = expected.seq;
        self.expected.push_back(expected);
        if let Some(lenient) = &mut self.lenient {
            lenient.stale = true;
        }
    }

    /// What is expected first.
    pub(crate) fn front(&self) -> Option<&Expected> {
        self.expected.front()
    }

    /// Whether it is expected that the client closes its end.
    pub(crate) fn expects_close(&self) -> bool {
        self.expected.iter().any(|expected| matches!(expected.act, Act::Close))
    }

    /// How much is expected, in things and in bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let bytes = self.expected.iter().map(|expected| match &expected.act {
            Act::Line(line) => line.bytes.len(),
            Act::Close | Act::Signal(_) => 0,
        });
        (self.expected.len(), bytes.sum())
    }

    /// What the client did that was not a line: what is expected first is done.
    pub(crate) fn done(&mut self) -> Option<Expected> {
        self.expected.pop_front()
    }

    /// Whether this is the first answer to a request of the client that was matched, and so can be
    /// given whatever else is expected.
    pub(crate) fn answers_client(&mut self, request: &str) -> bool {
        self.asked.remove(request)
    }

    /// What was noted since the last call.
    pub(crate) fn notes(&mut self) -> Vec<ReplayNote> {
        std::mem::take(&mut self.notes)
    }

    /// Looks at a line that the client wrote.
    pub(crate) fn take(&mut self, line: ClientLine) -> Taken {
        match &mut self.lenient {
            None => self.strict(&line),
            Some(lenient) => {
                let marks = Marks::of(&line, &mut lenient.shapes);
                self.lenient(line, marks)
            }
        }
    }

    /// Looks again at the lines that are held, if there is a reason to. The first that is held no
    /// longer is what is given back; the others are looked at in the next call.
    pub(crate) fn take_held(&mut self) -> Option<Taken> {
        let mut at = 0;
        loop {
            let lenient = self.lenient.as_mut().filter(|lenient| lenient.stale)?;
            if at >= lenient.held.len() {
                lenient.stale = false;
                return None;
            }
            let (line, marks) = lenient.held.remove(at);
            match self.lenient(line, marks) {
                Taken::Held => {}
                taken => return Some(taken),
            }
            // It was put to the end; the order must stay.
            let held = &mut self.lenient.as_mut()?.held;
            let line = held.pop()?;
            held.insert(at, line);
            at += 1;
        }
    }

    /// The lines that are still held: nobody will ever ask for them.
    pub(crate) fn leftovers(&mut self) -> Vec<ClientLine> {
        let held = self.lenient.as_mut().map(|lenient| std::mem::take(&mut lenient.held));
        held.into_iter().flatten().map(|(line, _)| line).collect()
    }

    fn strict(&mut self, line: &ClientLine) -> Taken {
        let differences = match self.expected.front() {
            Some(Expected { act: Act::Line(expected), .. }) => {
                let (left, right) = (&expected.value, &line.value);
                self.comparer.look(Channel::In, left, right)
            }
            _ => return Taken::Departed(self.departure(0, line, Vec::new())),
        };
        if differences.is_empty() {
            return self.matched(0);
        }
        self.comparer.roll_back();
        // Of two frames of different kinds every field differs, which is no news.
        let about = matches!(self.expected.front(), Some(Expected { act: Act::Line(expected), .. })
            if expected.value.get("type") == line.value.get("type"));
        let differences = if about { differences } else { Vec::new() };
        Taken::Departed(self.departure(0, line, differences))
    }

    fn lenient(&mut self, line: ClientLine, marks: Marks) -> Taken {
        // Nothing can be written after the end was closed.
        let lines = self.expected.iter().map_while(|expected| match &expected.act {
            Act::Line(line) => Some(Some(line)),
            Act::Signal(_) => Some(None),
            Act::Close => None,
        });
        let mut about = None;
        for (at, expected) in lines.enumerate() {
            let Some(expected) = expected else { continue };
            if expected.subject() != line.subject() {
                continue;
            }
            let differences = self.comparer.look(Channel::In, &expected.value, &line.value);
            if differences.is_empty() {
                if at > 0 {
                    let text = format!("came before record {}", self.seq(0));
                    self.notes.push(ReplayNote::new(Some(self.seq(at)), text));
                }
                return self.matched(at);
            }
            self.comparer.roll_back();
            about.get_or_insert((at, differences));
        }
        let Some(lenient) = &mut self.lenient else { return self.strict(&line) };
        let is = |mark: u64| {
            move |(_, held): &&(ClientLine, Marks)| held.shape == mark || held.subject == mark
        };
        let later = |mark: u64| {
            lenient.ahead.after(mark, self.last) > lenient.held.iter().filter(is(mark)).count()
        };
        let hold = later(marks.shape) || (about.is_none() && later(marks.subject));
        if hold && lenient.held.len() < MAX_HELD {
            lenient.held.push((line, marks));
            return Taken::Held;
        }
        let Some((at, differences)) = about else { return self.extra(&line, hold) };
        if lenient.essential.any(&line.value, &differences) {
            return Taken::Departed(self.departure(at, &line, differences));
        }
        let text = format!("{}: something differs that does not matter much", line.label);
        let note = ReplayNote { differences, ..ReplayNote::new(Some(self.seq(at)), text) };
        self.notes.push(note);
        // What the two have in common still says which ids stand for which.
        if let Some(Act::Line(expected)) = self.expected.get(at).map(|expected| &expected.act) {
            self.comparer.look(Channel::In, &expected.value, &line.value);
        }
        self.matched(at)
    }

    fn seq(&self, at: usize) -> u64 {
        self.expected.get(at).map_or(0, |expected| expected.seq)
    }

    /// Takes what was expected off the list, now that the client has done it.
    fn matched(&mut self, at: usize) -> Taken {
        self.table.learn(self.comparer.commit());
        let us = match self.expected.remove(at) {
            Some(Expected { us, act: Act::Line(line), .. }) => {
                self.asked.extend(line.asks().map(str::to_owned));
                us
            }
            Some(Expected { us, .. }) => us,
            None => 0,
        };
        Taken::Matched { us }
    }

    fn departure(&self, at: usize, line: &ClientLine, differences: Vec<Difference>) -> Departure {
        let expected = self.expected.get(at);
        Departure {
            record: expected.map(|expected| expected.seq),
            expected: expected.map_or_else(|| "nothing more".to_owned(), Expected::shown),
            got: line.shown(),
            differences,
        }
    }

    fn extra(&mut self, line: &ClientLine, too_many: bool) -> Taken {
        if too_many {
            let mut departure = self.departure(0, line, Vec::new());
            departure.got =
                format!("{MAX_HELD} lines that come later on the tape, and {}", departure.got);
            return Taken::Departed(departure);
        }
        self.notes.push(ReplayNote::new(None, format!("not on the tape: {}", line.shown())));
        Taken::Extra(line.asks().map(refusal))
    }
}

/// What a client is told that asks for something that is not on the tape, so that it does not wait
/// for ever.
fn refusal(request: &str) -> Vec<u8> {
    let response = serde_json::json!({"type": "control_response", "response": {
        "subtype": "error", "request_id": request, "error": "the tape that is played has no such request",
    }});
    response.to_string().into_bytes()
}
