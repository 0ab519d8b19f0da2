//! An object known by its tag only.

use serde::de::MapAccess;
use serde::ser::{Error as _, SerializeMap};

use super::{Extra, Fields};

/// An object of which this crate knows the tag but has no types for the fields.
///
/// It stands in the `Other` variant of every tagged enum, for names this crate has never heard
/// of, and in `Internal` variants, for names that the CLI keeps to itself.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Named {
    name: Box<str>,
    /// All fields but the tag.
    pub fields: Extra,
}

impl Named {
    /// An object with that tag and no other field.
    ///
    /// Use it to send what has no type here. A name that does have one cannot be sent this way.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), fields: Extra::default() }
    }

    /// The value of the tag.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn read<'de, A: MapAccess<'de>>(
        name: &str,
        source: &mut Fields<'de, A>,
    ) -> Result<Self, A::Error> {
        let mut fields = Extra::default();
        while let Some(key) = source.next_key()? {
            fields.push(&key, source.value(&key)?);
        }
        Ok(Self { name: name.into(), fields })
    }

    /// Writes the fields, unless the name is one that has a type, whose rules they may break, or
    /// they hold the tag once more.
    pub(crate) fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        tag: &'static str,
        typed: &[&str],
    ) -> Result<(), M::Error> {
        if typed.contains(&self.name()) {
            let name = self.name();
            return Err(M::Error::custom(format_args!("`{name}` has a type, which must be used")));
        }
        self.fields.write(map, &[tag])
    }
}
