//! The wire protocol of the Claude Code command line.
#![warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
mod decode;
mod encode;
mod frame;
mod framing;
pub mod ids;
mod line;
mod names;
pub mod permission;
mod wire;

pub use self::decode::{Decoded, Frame, Malformed};
pub use self::encode::{EncodeError, encode_line};
pub use self::frame::FromCli;
pub use self::framing::{DEFAULT_MAX_LINE, Ending, LineSplitter, Piece, Pieces};
pub use self::line::{Kind, Line, NotAFrame};
pub use self::wire::{Extra, MAX_DEPTH, Named, Num, RawJson, RawJsonError};
