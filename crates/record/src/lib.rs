//! Tapes of the Claude Code protocol: record any client, redact, compare, replay.
//!
//! A tape is a file of JSON lines: a header, then one record for each line that went in, came out
//! or was written to standard error, and at the end how the process ended. It holds the exact
//! bytes, so that what was recorded can be looked at, compared and played again. The format is
//! described in full in `docs/tapes.md`.
//!
//! # Read a tape
//!
//! [`TapeReader`] reads records, [`TapeLines`] joins the pieces of long lines.
//!
//! ```no_run
//! use countersign_record::{TapeItem, TapeLines, TapeReader};
//!
//! let mut lines = TapeLines::new(TapeReader::open("session.tape")?);
//! for item in lines.by_ref() {
//!     if let TapeItem::Line(line) = item? {
//!         println!("{} {}: {} bytes", line.us, line.channel, line.text.as_bytes().len());
//!     }
//! }
//! println!("{:?}", lines.get_ref().tail());
//! # Ok::<(), countersign_record::TapeError>(())
//! ```
//!
//! # Make a tape
//!
//! A program that talks to the CLI itself gives what it reads and writes to a [`Recorder`]. Any
//! other client is recorded by putting a [`StandIn`] in the place of the CLI, which runs a
//! [`Tee`].
//!
//! # Show a tape
//!
//! A tape has secrets on it. [`redact::Redactor`] takes them out.
//!
//! [`page`] draws it as a sequence diagram, in one HTML file that needs nothing else.
//!
//! # Compare and play tapes
//!
//! [`diff`] compares two tapes and [`replay`] plays one to a client in place of the CLI; both go by
//! what is said, apart from ids and times, which is told by [`meaning`]. How they decide is described
//! in `docs/replay.md`.
//!
//! # Rules that hold everywhere
//!
//! - Nothing that goes wrong with a tape reaches the session that is recorded.
//! - What is missing on a tape is noted on it, at its place.
//! - A tape that is cut anywhere can be read up to there.
//! - Memory is bounded, however long a tape, a line or a session is.

#![warn(missing_docs)]

pub mod command;
pub mod diff;
mod format;
mod hidden;
mod lines;
pub mod meaning;
pub mod page;
mod reader;
mod recorder;
pub mod redact;
pub mod replay;
mod stand_in;
mod summary;
mod tee;

pub use self::format::{
    Channel, End, Entry, FormatVersion, Header, HeaderError, Note, Record, RecordError, Text,
};
pub use self::hidden::{is_hidden, plain};
pub use self::lines::{DEFAULT_MAX_LINE, TapeItem, TapeLine, TapeLines};
pub use self::reader::{DEFAULT_MAX_RECORD, Tail, TapeError, TapeReader};
pub use self::recorder::{CreateError, Health, Recorder, RecorderOptions, Report, Trouble};
pub use self::stand_in::{ReplayStandIn, StandIn, StandInError};
pub use self::tee::{FindError, Tee, TeeError, end_as, find_cli};

/// The example of the crate's README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
