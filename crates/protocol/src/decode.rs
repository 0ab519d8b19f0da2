//! From a line to types.

use std::fmt::Debug;

use serde::de::Error as _;
use serde::ser::Serialize;
use thiserror::Error;

use crate::encode::EncodeError;
use crate::line::{Kind, Line};
use crate::wire::{Known, WireTagged, has_raw_control_character, read_known_variant};

/// What a line turned out to be. The three are never confused: something new is not an error,
/// and something broken is not new.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "there are three outcomes, and a match names them")]
pub enum Decoded<F> {
    /// A frame of a kind this crate knows, in the shape it knows.
    Known(F),
    /// A frame of a kind this crate does not know. All of it is kept, [`Frame::kind`] names it,
    /// and what does have a type, such as the id of an unknown control request, is typed.
    Unknown(F),
    /// A frame that says what it is and cannot be read: it does not have the shape of its kind, or
    /// it is not JSON to its end.
    Malformed(Malformed),
}

impl<F> Decoded<F> {
    /// The frame, unless it is malformed.
    ///
    /// # Errors
    /// Gives what is wrong with a malformed frame.
    pub fn frame(self) -> Result<F, Malformed> {
        match self {
            Self::Known(frame) | Self::Unknown(frame) => Ok(frame),
            Self::Malformed(malformed) => Err(malformed),
        }
    }
}

/// What is wrong with a frame that says what it is. The bytes are still in the [`Line`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("malformed {kind}: {reason}")]
#[non_exhaustive]
pub struct Malformed {
    /// What the frame says it is.
    pub kind: Kind,
    /// What is wrong, with the way to the field and the position in the line. It may quote a few
    /// words of what was sent, but never much, and no control characters.
    pub reason: String,
}

/// A frame of one direction: [`FromCli`](crate::FromCli) or [`ToCli`](crate::ToCli).
///
/// It cannot be implemented outside this crate.
pub trait Frame: WireTagged + Known + Serialize + Clone + Debug + PartialEq {
    /// What the frame is.
    fn kind(&self) -> Kind;

    /// Reads a line; the same as [`Line::decode`].
    fn decode_line(line: &Line<'_>) -> Decoded<Self>;

    /// Writes the frame as a line, with the line break.
    ///
    /// # Errors
    /// When a value in it cannot be written as JSON; see [`EncodeError`].
    fn to_line(&self) -> Result<Vec<u8>, EncodeError>;
}

/// The body of [`Frame::decode_line`].
///
/// Each frame type calls it from a method that is not generic, so the types of the wire are read by code
/// of this crate. Generic code would be compiled again in every crate that reads a line.
pub(crate) fn decode_frame<F: Frame>(line: &Line<'_>) -> Decoded<F> {
    match read::<F>(line) {
        Ok(frame) if frame.is_known() => Decoded::Known(frame),
        Ok(frame) => Decoded::Unknown(frame),
        Err(error) => Decoded::Malformed(Malformed {
            kind: line.kind(),
            reason: match std::str::from_utf8(line.bytes()) {
                Ok(_) => error.to_string(),
                Err(error) => format!("not UTF-8 from byte {} on", error.valid_up_to()),
            },
        }),
    }
}

fn read<F: Frame>(line: &Line<'_>) -> Result<F, serde_json::Error> {
    if has_raw_control_character(line.bytes()) {
        return Err(serde_json::Error::custom("a control character that is not escaped"));
    }
    let text = simdutf8::basic::from_utf8(line.json()).map_err(serde_json::Error::custom)?;
    let mut source = serde_json::Deserializer::from_str(text);
    let frame = read_known_variant(line.frame_type(), &mut source)?;
    source.end()?;
    Ok(frame)
}
