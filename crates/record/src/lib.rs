//! Tapes of the Claude Code protocol: record any client, redact, compare, replay.
//!
//! A tape is a file of JSON lines: a header, then one record for each line that went in, came out
//! or was written to standard error, and at the end how the process ended. It holds the exact
//! bytes, so that what was recorded can be looked at, compared and played again.

#![warn(missing_docs)]

pub mod command;
mod format;
mod lines;
mod reader;
mod recorder;
mod stand_in;
mod tee;

pub mod meaning;

pub use self::format::{
    Channel, End, Entry, FormatVersion, Header, HeaderError, Note, Record, RecordError, Text,
};
pub use self::lines::{DEFAULT_MAX_LINE, TapeItem, TapeLine, TapeLines};
pub use self::reader::{DEFAULT_MAX_RECORD, Tail, TapeError, TapeReader};
pub use self::recorder::{CreateError, Health, Recorder, RecorderOptions, Report, Trouble};
pub use self::stand_in::{StandIn, StandInError};
pub use self::tee::{FindError, Tee, TeeError, end_as, find_cli};
