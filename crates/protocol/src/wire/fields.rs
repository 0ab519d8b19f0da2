//! The fields of an object that is being read.

use std::borrow::Cow;
use std::fmt;
use std::vec;

use serde::de::{Error, IgnoredAny, MapAccess};

use super::text::Text;
use super::{FromWire, RawJson, Seed};

/// The fields of an object, with the possibility to look for a tag first.
///
/// A tag is usually the first key, and then nothing is held back. Fields that stand before it
/// are kept as raw text and read again once the tag has told what they are.
pub struct Fields<'de, A> {
    held: vec::IntoIter<(Cow<'de, str>, RawJson)>,
    current: Option<RawJson>,
    /// Tags whose values are known already, from outside the object or from its beginning.
    tags: [Option<Tag>; 2],
    map: A,
}

/// A tag that is known.
#[derive(Debug, Clone, Copy)]
struct Tag {
    name: &'static str,
    /// Whether it has been seen. Once more would be once too often.
    passed: bool,
}

impl<'de, A: MapAccess<'de>> Fields<'de, A> {
    pub(crate) fn new(map: A) -> Self {
        Self { held: Vec::new().into_iter(), current: None, tags: [None; 2], map }
    }

    /// The fields of an object whose tag was read before, which is passed over here.
    pub(crate) fn with_known_tag(map: A, tag: &'static str) -> Self {
        let mut fields = Self::new(map);
        fields.tags[0] = Some(Tag { name: tag, passed: false });
        fields
    }

    /// The next key; its value must be taken with [`Fields::value`] before the key after it.
    pub(crate) fn next_key(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        if let Some((key, value)) = self.held.next() {
            self.current = Some(value);
            return Ok(Some(key));
        }
        while let Some(key) = self.map.next_key_seed(Text)? {
            match self.tags.iter_mut().flatten().find(|tag| tag.name == key) {
                None => return Ok(Some(key)),
                Some(tag) if tag.passed => return Err(A::Error::duplicate_field(tag.name)),
                Some(tag) => {
                    tag.passed = true;
                    self.map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(None)
    }

    /// The value of the key that came last. The name is for the error message.
    pub(crate) fn value<T: FromWire>(&mut self, name: &str) -> Result<T, A::Error> {
        let value = match self.current.take() {
            Some(raw) => raw.read().map_err(A::Error::custom),
            None => self.map.next_value_seed(Seed::new()),
        };
        value.map_err(|error| in_field(name, &error))
    }

    /// Refuses a field that was there before: two readers could disagree on which one counts.
    pub(crate) fn once(&self, name: &'static str, seen: bool) -> Result<(), A::Error> {
        if seen { Err(A::Error::duplicate_field(name)) } else { Ok(()) }
    }

    /// Reads up to the field `tag` and gives its value.
    pub(crate) fn find_tag(&mut self, tag: &'static str) -> Result<Cow<'de, str>, A::Error> {
        let mut before = Vec::new();
        let mut found = None;
        while let Some(key) = self.next_key()? {
            if key == tag {
                found = Some(self.value_str(tag)?);
                self.tags[1] = Some(Tag { name: tag, passed: true });
                break;
            }
            let value = self.value(&key)?;
            before.push((key, value));
        }
        // What an earlier search held back and this one did not reach comes after.
        before.extend(self.held.by_ref());
        self.held = before.into_iter();
        found.ok_or_else(|| A::Error::missing_field(tag))
    }

    /// A string value, borrowed from the line where that is possible.
    fn value_str(&mut self, name: &str) -> Result<Cow<'de, str>, A::Error> {
        let value = match self.current.take() {
            Some(raw) => raw.read::<String>().map(Cow::Owned).map_err(A::Error::custom),
            None => self.map.next_value_seed(Text),
        };
        value.map_err(|error| in_field(name, &error))
    }
}

impl<A> fmt::Debug for Fields<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fields").field("held", &self.held).finish_non_exhaustive()
    }
}

/// Says in which field it happened; `serde_json` moves the position to the end by itself.
#[cold]
fn in_field<E: Error>(name: &str, error: &E) -> E {
    E::custom(format_args!("{name}: {error}"))
}
