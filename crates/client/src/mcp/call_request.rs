//! The request of a call, kept as the text it came in.

use std::borrow::Cow;
use std::ops::Range;

use countersign_protocol::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A `tools/call`. Nothing is copied out of it: its parts are ranges of the message.
pub(super) struct CallRequest {
    message: RawJson,
    id: Range<usize>,
    arguments: Option<Range<usize>>,
    meta: Option<Range<usize>>,
}

/// Where the parts of a `tools/call` are, before the message is given away.
pub(super) struct Parts {
    id: Range<usize>,
    arguments: Option<Range<usize>>,
    meta: Option<Range<usize>>,
}

/// The parameters of a `tools/call`.
#[derive(Deserialize)]
pub(super) struct CallParams<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

impl<'a> CallParams<'a> {
    /// Reads the parameters.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn parse(params: Option<&'a RawValue>) -> Result<Self, String> {
        let params = params.ok_or("a call needs parameters")?;
        let params: Self = serde_json::from_str(params.get()).map_err(|error| error.to_string())?;
        match params.arguments {
            Some(arguments) if !arguments.get().starts_with('{') => {
                Err("the arguments are not an object".to_owned())
            }
            _ => Ok(params),
        }
    }

    /// Where they are in the message that they were read from.
    pub(super) fn parts(&self, id: &RawValue, message: &RawJson) -> Parts {
        let place = |part: &RawValue| place(part.get(), message.as_str());
        Parts { id: place(id), arguments: self.arguments.map(place), meta: self.meta.map(place) }
    }
}

impl CallRequest {
    pub(super) fn new(message: RawJson, parts: Parts) -> Self {
        let Parts { id, arguments, meta } = parts;
        Self { message, id, arguments, meta }
    }

    pub(super) fn id(&self) -> &RawValue {
        serde_json::from_str(self.part(&self.id)).unwrap_or(RawValue::NULL)
    }

    pub(super) fn arguments(&self) -> &str {
        self.arguments.as_ref().map_or("{}", |arguments| self.part(arguments))
    }

    pub(super) fn meta(&self) -> Option<&str> {
        self.meta.as_ref().map(|meta| self.part(meta))
    }

    fn part(&self, range: &Range<usize>) -> &str {
        self.message.as_str().get(range.clone()).unwrap_or("null")
    }
}

/// Where a part of a text is in it.
fn place(part: &str, whole: &str) -> Range<usize> {
    let start = part.as_ptr().addr().wrapping_sub(whole.as_ptr().addr());
    start..start.wrapping_add(part.len())
}
