//! Where in a value the reader is.

use serde::de::Error;

use super::raw::MAX_DEPTH;

/// How deep typed values may be nested: a little less than `serde_json` follows, so that this
/// limit is always the one that is met.
const DEEPEST: usize = MAX_DEPTH - 8;

/// How deep the reader is, and what it can expect of its source.
///
/// `serde_json` counts levels, too, but starts again with every text, and a value that was held
/// back is a text of its own. Counting here makes the limit the same in whatever order the keys
/// stand, and keeps the stack bounded.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    depth: usize,
    lends: bool,
}

impl Place {
    /// Outside of everything, with a source of which nothing is known.
    pub(crate) const OUTERMOST: Self = Self { depth: 0, lends: false };

    /// The place inside an object or array that stands here.
    pub(crate) fn inside<E: Error>(self) -> Result<Self, E> {
        if self.depth == DEEPEST {
            return Err(E::custom(format_args!("nested more than {DEEPEST} levels deep")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    /// The same place in a source that can lend its text.
    pub(crate) fn lending(self) -> Self {
        Self { lends: true, ..self }
    }

    /// Whether a raw value can be borrowed from the source.
    pub(crate) fn lends(self) -> bool {
        self.lends
    }
}
