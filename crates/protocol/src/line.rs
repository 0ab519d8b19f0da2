//! One line of the wire.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use memchr::memchr2;
use serde::de::{
    DeserializeSeed as _, Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor,
};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::decode::{Decoded, Frame};
use crate::ids::RequestId;
use crate::wire::Text;

/// One line, and what its envelope says: the bytes are the truth, the rest is read from them.
///
/// Parsing looks no further than it must to tell what the line is, so that control traffic can
/// be told from messages at little cost. [`Line::decode`] reads all of it.
///
/// ```
/// use countersign_protocol::Line;
///
/// let line = Line::parse(br#"{"request_id":"7","type":"control_request","request":{"subtype":"can_use_tool"}}"#)?;
/// assert_eq!(line.kind().to_string(), "control_request/can_use_tool");
/// assert_eq!(line.request_id(), Some("7"));
/// # Ok::<(), countersign_protocol::NotAFrame>(())
/// ```
#[derive(Debug, Clone)]
pub struct Line<'a> {
    bytes: &'a [u8],
    frame: Cow<'a, str>,
    /// Read when it is asked for: who decodes a line need not know it before.
    address: OnceLock<Address<'a>>,
}

/// Why a line is not a frame. The stream goes on after it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NotAFrame {
    /// Nothing but white space.
    #[error("the line is blank")]
    Blank,
    /// The bytes are not text.
    #[error("the line is not UTF-8 from byte {valid_up_to} on")]
    NotUtf8 {
        /// How many bytes at the start are text.
        valid_up_to: usize,
    },
    /// The text is not a JSON object, or breaks off before its type.
    #[error("the line is not a JSON object: {0}")]
    NotAnObject(#[source] serde_json::Error),
    /// The object has no `type` that is a string.
    #[error("the object has no type")]
    NoType,
}

impl<'a> Line<'a> {
    /// Reads the envelope of a line, which is given without its line break.
    ///
    /// A byte order mark at the start is passed over.
    ///
    /// # Errors
    /// When the line is not an object that says its type.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, NotAFrame> {
        let json = without_bom(bytes);
        if let Some(frame) = leading_type(json) {
            return Ok(Self { bytes, frame: Cow::Borrowed(frame), address: OnceLock::new() });
        }
        let (frame, address) = read_envelope(json).map_err(|error| {
            if bytes.iter().all(u8::is_ascii_whitespace) {
                return NotAFrame::Blank;
            }
            match std::str::from_utf8(bytes) {
                Ok(_) => error,
                Err(error) => NotAFrame::NotUtf8 { valid_up_to: error.valid_up_to() },
            }
        })?;
        Ok(Self { bytes, frame, address: address.into() })
    }

    fn address(&self) -> &Address<'a> {
        self.address.get_or_init(|| {
            let mut scan = Scan::new(tells_the_frame);
            // The type was found, so whatever else is wrong shows when the line is decoded.
            drop(scan.run(self.json()));
            scan.address(&self.frame)
        })
    }

    /// The bytes the line was made of.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// What the line is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        Kind::new(&self.frame, self.subtype())
    }

    /// The `type`.
    #[must_use]
    pub fn frame_type(&self) -> &str {
        &self.frame
    }

    /// The `subtype`: of a `system` frame, or of the request or response in a control frame.
    #[must_use]
    pub fn subtype(&self) -> Option<&str> {
        self.address().subtype.as_deref()
    }

    /// The id of a control frame. It is there also when the rest of the frame is malformed, so
    /// that a request can be refused instead of being left without an answer.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.address().request_id.as_deref()
    }

    /// [`Line::request_id`] to keep.
    #[must_use]
    pub fn to_request_id(&self) -> Option<RequestId> {
        self.request_id().map(RequestId::from)
    }

    /// Reads the whole line as a frame of one direction.
    #[must_use]
    pub fn decode<F: Frame>(&self) -> Decoded<F> {
        F::decode_line(self)
    }

    /// The JSON: the bytes without a byte order mark.
    pub(crate) fn json(&self) -> &'a [u8] {
        without_bom(self.bytes)
    }
}

fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(bytes)
}

/// What a line is: its `type` and, where the type has them, its `subtype`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Kind {
    /// The `type`.
    pub frame: Box<str>,
    /// The `subtype`: of a `system` frame, or of the request or response in a control frame.
    pub subtype: Option<Box<str>>,
}

impl Kind {
    pub(crate) fn new(frame: &str, subtype: Option<&str>) -> Self {
        Self { frame: frame.into(), subtype: subtype.map(Into::into) }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subtype {
            Some(subtype) => write!(f, "{}/{subtype}", self.frame),
            None => f.write_str(&self.frame),
        }
    }
}

/// What tells where a line goes besides its type.
#[derive(Debug, Clone, Default)]
struct Address<'a> {
    subtype: Option<Cow<'a, str>>,
    request_id: Option<Cow<'a, str>>,
}

/// The type of a line, wherever it stands, and where the line goes.
fn read_envelope(json: &[u8]) -> Result<(Cow<'_, str>, Address<'_>), NotAFrame> {
    let mut scan = Scan::new(tells_the_frame);
    let outcome = scan.run(json);
    let Some(frame) = scan.frame.and_then(string) else {
        return Err(match outcome {
            Err(error) if scan.frame.is_none() => NotAFrame::NotAnObject(error),
            _ => NotAFrame::NoType,
        });
    };
    let address = scan.address(&frame);
    Ok((frame, address))
}

/// Which fields tell where a line goes besides its type.
enum Rest {
    Nothing,
    /// Its `subtype`.
    Subtype,
    /// Its `request_id`.
    Id,
    /// Its `request_id`, and the `subtype` in its `request`.
    IdAndRequest,
    /// `request_id` and `subtype` in its `response`.
    Response,
}

impl Rest {
    fn of(frame: &str) -> Self {
        match frame {
            "system" | "result" => Self::Subtype,
            "control_cancel_request" => Self::Id,
            "control_request" => Self::IdAndRequest,
            "control_response" => Self::Response,
            _ => Self::Nothing,
        }
    }
}

/// The type of a line that begins with it.
///
/// Nearly all lines of a stream do, and this costs a tenth of the general way.
fn leading_type(json: &[u8]) -> Option<&str> {
    let rest = json.strip_prefix(br#"{"type":""#)?;
    let (frame, after) = rest.split_at_checked(memchr2(b'"', b'\\', rest)?)?;
    let frame = std::str::from_utf8(frame).ok()?;
    after.starts_with(b"\"").then_some(frame)
}

/// `subtype` and `request_id` of a request or response.
fn nested<'a>(
    json: Option<&'a RawValue>,
    enough: fn(&Scan<'_>) -> bool,
) -> (Option<Cow<'a, str>>, Option<Cow<'a, str>>) {
    let Some(json) = json else { return (None, None) };
    let mut scan = Scan::new(enough);
    // What is wrong with the rest, `decode` will say.
    drop(scan.run(json.get().as_bytes()));
    (scan.subtype.and_then(string), scan.request_id.and_then(string))
}

/// A value that is a string.
fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    Text.deserialize(&mut serde_json::Deserializer::from_str(raw.get())).ok()
}

/// The fields of an object that count, as far as it was read.
#[derive(Debug)]
struct Scan<'a> {
    frame: Option<&'a RawValue>,
    subtype: Option<&'a RawValue>,
    request_id: Option<&'a RawValue>,
    request: Option<&'a RawValue>,
    response: Option<&'a RawValue>,
    enough: fn(&Scan<'_>) -> bool,
}

impl<'a> Scan<'a> {
    fn new(enough: fn(&Scan<'_>) -> bool) -> Self {
        Self { frame: None, subtype: None, request_id: None, request: None, response: None, enough }
    }

    /// What the fields say of where a line of this type goes.
    fn address(&self, frame: &str) -> Address<'a> {
        let (subtype, request_id) = match Rest::of(frame) {
            Rest::Nothing => (None, None),
            Rest::Subtype => (self.subtype.and_then(string), None),
            Rest::Id => (None, self.request_id.and_then(string)),
            Rest::IdAndRequest => {
                let (subtype, _) = nested(self.request, |nested| nested.subtype.is_some());
                (subtype, self.request_id.and_then(string))
            }
            Rest::Response => nested(self.response, |nested| {
                nested.subtype.is_some() && nested.request_id.is_some()
            }),
        };
        Address { subtype, request_id }
    }

    /// Reads an object until what was seen is enough. Ending early is an error, too.
    fn run(&mut self, json: &'a [u8]) -> Result<(), serde_json::Error> {
        serde_json::Deserializer::from_slice(json).deserialize_map(self)
    }
}

/// Whether the rest of a line can tell nothing more about where it goes.
fn tells_the_frame(scan: &Scan<'_>) -> bool {
    let Some(frame) = scan.frame.and_then(string) else { return false };
    match Rest::of(&frame) {
        Rest::Nothing => true,
        Rest::Subtype => scan.subtype.is_some(),
        Rest::Id => scan.request_id.is_some(),
        Rest::IdAndRequest => scan.request_id.is_some() && scan.request.is_some(),
        Rest::Response => scan.response.is_some(),
    }
}

impl<'a> Visitor<'a> for &mut Scan<'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(Text)? {
            let place = match &*key {
                "type" => &mut self.frame,
                "subtype" => &mut self.subtype,
                "request_id" => &mut self.request_id,
                "request" => &mut self.request,
                "response" => &mut self.response,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *place = Some(map.next_value()?);
            if (self.enough)(self) {
                // Leaving the object half read is an error to `serde_json`; no matter.
                return Err(A::Error::custom(""));
            }
        }
        Ok(())
    }
}
