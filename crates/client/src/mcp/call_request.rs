//! The request of a call, kept as the text it came in.

use std::ops::Range;

use countersign_protocol::RawJson;
use serde_json::value::RawValue;

use super::rpc::Params;

/// A `tools/call`. Nothing is copied out of it: its parts are ranges of the message.
pub(super) struct CallRequest {
    message: RawJson,
    parts: Parts,
}

/// Where the parts of a `tools/call` are in its message.
pub(super) struct Parts {
    id: Range<usize>,
    arguments: Option<Range<usize>>,
    meta: Option<Range<usize>>,
}

impl Parts {
    /// Finds the parts in the message that they were read from.
    pub(super) fn new(id: &RawValue, params: &Params<'_>, message: &RawJson) -> Self {
        let place = |part: &RawValue| place(part.get(), message.as_str());
        Self { id: place(id), arguments: params.arguments.map(place), meta: params.meta.map(place) }
    }
}

impl CallRequest {
    pub(super) const fn new(message: RawJson, parts: Parts) -> Self {
        Self { message, parts }
    }

    pub(super) fn id(&self) -> &RawValue {
        serde_json::from_str(self.part(&self.parts.id)).unwrap_or(RawValue::NULL)
    }

    pub(super) fn arguments(&self) -> &str {
        self.parts.arguments.as_ref().map_or("{}", |arguments| self.part(arguments))
    }

    pub(super) fn meta(&self) -> Option<&str> {
        self.parts.meta.as_ref().map(|meta| self.part(meta))
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
