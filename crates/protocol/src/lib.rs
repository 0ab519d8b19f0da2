//! The wire protocol of the Claude Code command line: lines, frames, types. No I/O, no async.
//!
//! The CLI and its client write one JSON object a line to each other. This crate cuts a stream
//! into lines, tells what a line is, decodes it into types, and writes lines from types, without
//! losing anything that it does not know.
//!
//! # Read a line
//!
//! ```
//! use countersign_protocol::content::ContentBlock;
//! use countersign_protocol::{Decoded, Frame as _, FromCli, Line};
//!
//! let line = Line::parse(
//!     br#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello"},{"type":"hologram","beam":7}]},"mood":"good"}"#,
//! )?;
//! match line.decode::<FromCli>() {
//!     Decoded::Known(FromCli::Assistant(assistant)) => {
//!         for block in assistant.message.blocks() {
//!             match block {
//!                 ContentBlock::Text(block) => assert_eq!(block.text, "Hello"),
//!                 // What this crate does not know is there all the same.
//!                 other => assert_eq!(other.name(), "hologram"),
//!             }
//!         }
//!         assert_eq!(assistant.extra.get("mood").unwrap().as_str(), r#""good""#);
//!     }
//!     // A kind that is known, too; one that is new, and kept whole; one that is broken.
//!     Decoded::Known(other) => panic!("{}", other.kind()),
//!     Decoded::Unknown(new) => panic!("{}", new.kind()),
//!     Decoded::Malformed(broken) => panic!("{broken}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Line::parse`] looks no further than it must to tell where a line goes; a reader that only
//! routes lines need not decode them. [`Line::decode`] has three outcomes, see [`Decoded`]: a
//! kind that is new is not an error, and a frame that is broken is not taken for a new one.
//!
//! # Write a line
//!
//! ```
//! use countersign_protocol::control::{ControlResponse, Success};
//! use countersign_protocol::permission::{Allow, PermissionResult};
//! use countersign_protocol::{Frame as _, RawJson, ToCli};
//!
//! // The input of a permission request goes back as it came, byte for byte.
//! let input: RawJson = r#"{"command": "make", "timeout": 1.50}"#.parse()?;
//! let answer = PermissionResult::from(Allow::new(input));
//! let success = Success::new("request-1").with_response(RawJson::from_value(&answer)?);
//! let line = ToCli::from(ControlResponse::new(success)).to_line()?;
//! assert_eq!(
//!     std::str::from_utf8(&line)?,
//!     concat!(
//!         r#"{"type":"control_response","response":{"subtype":"success","request_id":"request-1","#,
//!         r#""response":{"behavior":"allow","updatedInput":{"command": "make", "timeout": 1.50}}}}"#,
//!         "\n",
//!     )
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From bytes to lines
//!
//! [`LineSplitter`] takes chunks of any size and gives the same lines. Blank lines, Windows line
//! endings, lines that are too long and a last line without an end are told, and none of them
//! ends the stream.
//!
//! # What is where
//!
//! | module | holds |
//! |---|---|
//! | [`message`] | what the model and the user said, the stream, results |
//! | [`content`] | the blocks that messages are made of |
//! | [`system`] | what the CLI says about itself |
//! | [`event`] | the small frames around the messages |
//! | [`control`] | the envelope of requests and answers |
//! | [`request`] | what a client asks of the CLI, and the answers |
//! | [`ask`] | what the CLI asks of a client, and the answers |
//! | [`permission`] | modes, rules, and the answer to a permission request |
//! | [`hook`] | hooks: events, inputs, outputs |
//! | [`tool`] | inputs and outputs of the built-in tools |
//! | [`usage`] | tokens and cost |
//! | [`ids`] | identifiers |
//!
//! [`Version`] is the version of the CLI, which decides what of all this is there.
//!
//! # Rules that hold everywhere
//!
//! - A field that may be missing is an [`Option`]; `null` reads as `None` and is written as `null`
//!   again.
//! - A field without a type is in the `extra` of its object: see [`Extra`].
//! - An enum of strings keeps a value that it does not know, in `Other`; an enum of objects keeps
//!   the whole object, as a [`Named`].
//! - JSON that is nobody's business but the tool's is kept as text: see [`RawJson`].
//! - A string with half of a surrogate pair, which JavaScript can write and Rust cannot hold,
//!   reads with U+FFFD in its place. The line and every [`RawJson`] still have the original.
//! - A typed key that stands twice in an object makes the frame malformed.
//! - A value nested deeper than about [`MAX_DEPTH`] levels makes the frame malformed.
//! - The order of keys makes no difference to any of this.
//! - What is marked *unstable*, or as not being part of the public types, is what the CLI keeps to
//!   itself; it may change with any release.

#![warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod decode;
mod encode;
mod frame;
mod framing;
mod line;
mod names;
mod version;
mod wire;

pub mod ask;
pub mod content;
pub mod control;
pub mod event;
pub mod hook;
pub mod ids;
pub mod message;
pub mod permission;
pub mod request;
pub mod system;
pub mod tool;
pub mod usage;

pub use self::decode::{Decoded, Frame, Malformed};
pub use self::encode::{EncodeError, encode_line};
pub use self::frame::{
    AppliedEnvironmentVariables, BashCommand, FromCli, ToCli, UpdateEnvironmentVariables,
};
pub use self::framing::{DEFAULT_MAX_LINE, Ending, LineSplitter, Piece};
pub use self::line::{Kind, Line, NotAFrame};
pub use self::version::{NotAVersion, Version};
pub use self::wire::{Extra, MAX_DEPTH, Named, Num, RawJson, RawJsonError};

/// The example of the crate's README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
