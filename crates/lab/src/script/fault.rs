//! What the simulated CLI does wrong, and how a script spells it.

use std::fmt;
use std::str::FromStr;

/// What the simulated CLI can do wrong, at a place in an answer.
///
/// A script spells it in words, which [`FromStr`] reads and [`Display`](fmt::Display) writes:
///
/// ```
/// use countersign_lab::script::Fault;
///
/// assert_eq!("exit 3".parse(), Ok(Fault::Exit(3)));
/// assert_eq!("flood stderr 10 MB".parse(), Ok(Fault::FloodStderr(10_000_000)));
/// assert_eq!(Fault::DieMidLine.to_string(), "die mid-line");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// `die mid-line`: the process ends in the middle of a line.
    DieMidLine,
    /// `exit 3`: the process ends with this exit code, without a word.
    Exit(i32),
    /// `freeze`: nothing is read and nothing is written any more; the process stays.
    Freeze,
    /// `flood stderr 10 MB`: this many bytes on standard error, as fast as they go.
    FloodStderr(usize),
    /// `long line 50 MB`: a frame with a text of this many bytes.
    LongLine(usize),
    /// `not json`: a line that is not JSON.
    NotJson,
    /// `unknown frame`: a frame of a type that nobody knows.
    UnknownFrame,
    /// `unknown request`: a control request that nobody knows; the turn waits for its answer.
    UnknownRequest,
}

/// A text that names no fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a fault; expected \"die mid-line\", \"exit 3\", \"freeze\", \"flood stderr 10 MB\", \
     \"long line 50 MB\", \"not json\", \"unknown frame\" or \"unknown request\""
)]
#[non_exhaustive]
pub struct UnknownFault {
    /// What was written.
    pub text: String,
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let fault = match text {
            "die mid-line" => Some(Self::DieMidLine),
            "freeze" => Some(Self::Freeze),
            "not json" => Some(Self::NotJson),
            "unknown frame" => Some(Self::UnknownFrame),
            "unknown request" => Some(Self::UnknownRequest),
            other => with_a_number(other),
        };
        fault.ok_or_else(|| UnknownFault { text: text.to_owned() })
    }
}

fn with_a_number(text: &str) -> Option<Fault> {
    if let Some(code) = text.strip_prefix("exit ") {
        let code: u8 = code.parse().ok()?;
        return Some(Fault::Exit(code.into()));
    }
    if let Some(size) = text.strip_prefix("flood stderr ") {
        return size_from(size).map(Fault::FloodStderr);
    }
    size_from(text.strip_prefix("long line ")?).map(Fault::LongLine)
}

/// The units of a size, the largest first.
const UNITS: [(&str, usize); 4] =
    [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)];

fn size_from(text: &str) -> Option<usize> {
    let (number, unit) = text.split_once(' ')?;
    let (_, factor) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    number.parse::<usize>().ok()?.checked_mul(factor)
}

fn size_to(size: usize) -> String {
    let unit =
        UNITS.into_iter().find(|(_, factor)| size >= *factor && size.is_multiple_of(*factor));
    let (name, factor) = unit.unwrap_or(("B", 1));
    format!("{} {name}", size / factor)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DieMidLine => f.write_str("die mid-line"),
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Freeze => f.write_str("freeze"),
            Self::FloodStderr(size) => write!(f, "flood stderr {}", size_to(*size)),
            Self::LongLine(size) => write!(f, "long line {}", size_to(*size)),
            Self::NotJson => f.write_str("not json"),
            Self::UnknownFrame => f.write_str("unknown frame"),
            Self::UnknownRequest => f.write_str("unknown request"),
        }
    }
}

/// What the simulated CLI does wrong with a control request of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misbehaviour {
    /// The subtype of the request, such as `set_model`.
    pub on: String,
    /// What is done with it.
    pub act: Act,
    /// How often. When absent: every time.
    pub times: Option<u32>,
}

impl Misbehaviour {
    /// Does this with every control request of this subtype.
    #[must_use]
    pub fn new(on: impl Into<String>, act: Act) -> Self {
        Self { on: on.into(), act, times: None }
    }

    /// Does it this many times, and then no more.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }
}

/// What can be done wrong with a control request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Act {
    /// `answer twice`: two responses with the same id.
    AnswerTwice,
    /// `never answer`: no response.
    NeverAnswer,
    /// `refuse`: an error as the response.
    Refuse,
}

/// A text that names no act.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an act; expected \"answer twice\", \"never answer\" or \"refuse\"")]
#[non_exhaustive]
pub struct UnknownAct {
    /// What was written.
    pub text: String,
}

impl FromStr for Act {
    type Err = UnknownAct;

    fn from_str(text: &str) -> Result<Self, UnknownAct> {
        match text {
            "answer twice" => Ok(Self::AnswerTwice),
            "never answer" => Ok(Self::NeverAnswer),
            "refuse" => Ok(Self::Refuse),
            other => Err(UnknownAct { text: other.to_owned() }),
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AnswerTwice => "answer twice",
            Self::NeverAnswer => "never answer",
            Self::Refuse => "refuse",
        })
    }
}
