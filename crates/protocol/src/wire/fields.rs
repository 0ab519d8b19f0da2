//! The fields of an object that is being read.

use std::borrow::Cow;
use std::fmt;
use std::vec;

use serde::de::{Error, IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use super::text::Text;
use super::{FromWire, Place, RawJson, Seed};

/// The fields of an object, with the possibility to look for a tag first.
///
/// A tag is usually the first key, and then nothing is held back. Fields that stand before it
/// are kept as raw text and read again once the tag has told what they are.
pub struct Fields<'de, A> {
    held: vec::IntoIter<(Cow<'de, str>, Held<'de>)>,
    current: Option<Held<'de>>,
    tags: [Option<Tag>; 2],
    place: Place,
    map: A,
}

/// A value that was passed over. Borrowed from the line if possible: a value that is held at
/// every level of a deep nesting would otherwise be copied at every level.
#[derive(Debug)]
enum Held<'de> {
    Borrowed(&'de RawValue),
    Owned(Box<RawValue>),
}

/// A tag whose value is known, from outside the object or from its beginning.
#[derive(Debug, Clone, Copy)]
struct Tag {
    name: &'static str,
    /// Whether it has been seen. Once more would be once too often.
    passed: bool,
}

impl<'de, A: MapAccess<'de>> Fields<'de, A> {
    /// The fields of the object at that place.
    pub(crate) fn new(map: A, place: Place) -> Self {
        Self { held: Vec::new().into_iter(), current: None, tags: [None; 2], place, map }
    }

    /// The fields of an object whose tag was read before, which is passed over here.
    pub(crate) fn with_known_tag(map: A, place: Place, tag: &'static str) -> Self {
        let mut fields = Self::new(map, place);
        fields.tags[0] = Some(Tag { name: tag, passed: false });
        fields
    }

    /// The next key; its value must be taken with [`Fields::value`] before the key after it.
    pub(crate) fn next_key(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        loop {
            let key = match self.held.next() {
                Some((key, value)) => {
                    self.current = Some(value);
                    key
                }
                None => match self.map.next_key_seed(Text)? {
                    Some(key) => key,
                    None => return Ok(None),
                },
            };
            match self.tags.iter_mut().flatten().find(|tag| tag.name == key) {
                None => return Ok(Some(key)),
                Some(tag) if tag.passed => return Err(A::Error::duplicate_field(tag.name)),
                Some(tag) => {
                    tag.passed = true;
                    if self.current.take().is_none() {
                        self.map.next_value::<IgnoredAny>()?;
                    }
                }
            }
        }
    }

    /// The value of the key that came last. The name is for the error message.
    pub(crate) fn value<T: FromWire>(&mut self, name: &str) -> Result<T, A::Error> {
        let value = match self.current.take() {
            Some(held) => {
                RawJson::read_text(held.text(), self.place.lending()).map_err(A::Error::custom)
            }
            None => self.map.next_value_seed(Seed::at(self.place)),
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
            let value = match self.current.take() {
                Some(held) => held,
                None if key == tag => {
                    let value = self.map.next_value_seed(Text);
                    found = Some(value.map_err(|error| in_field(tag, &error))?);
                    break;
                }
                None if self.place.lends() => Held::Borrowed(self.map.next_value()?),
                None => Held::Owned(self.map.next_value()?),
            };
            if key == tag {
                let value = RawJson::read_text(value.text(), self.place);
                let value = value.map_err(|error| in_field(tag, &A::Error::custom(error)))?;
                found = Some(Cow::Owned(value));
                break;
            }
            before.push((key, value));
        }
        // What an earlier search held back and this one did not reach comes after.
        before.extend(self.held.by_ref());
        self.held = before.into_iter();
        let found = found.ok_or_else(|| A::Error::missing_field(tag))?;
        if let Some(free) = self.tags.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(Tag { name: tag, passed: true });
        }
        Ok(found)
    }
}

impl Held<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Borrowed(raw) => raw.get(),
            Self::Owned(raw) => raw.get(),
        }
    }
}

impl<A> fmt::Debug for Fields<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fields").field("held", &self.held).finish_non_exhaustive()
    }
}

/// How much is said of what went wrong inside a field.
const LONGEST_REASON: usize = 300;

/// Says in which field it happened; `serde_json` moves the position to the end by itself.
///
/// The reason may quote what was sent, so it is cut: errors end up in logs.
#[cold]
fn in_field<E: Error>(name: &str, error: &E) -> E {
    let reason = error.to_string();
    let (name, cut) = (shown(name, 60), shown(&reason, LONGEST_REASON));
    match reason.rsplit_once(" at line ") {
        Some((_, position)) if cut.len() < reason.len() => {
            E::custom(format_args!("{name}: {cut} at line {position}"))
        }
        _ => E::custom(format_args!("{name}: {cut}")),
    }
}

/// The beginning of a text, without control characters.
fn shown(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let clean = text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c });
    let mut short: String = clean.take(longest).collect();
    short.push('…');
    Cow::Owned(short)
}
