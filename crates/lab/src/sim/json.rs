//! JSON that keeps the order of keys.
//!
//! The simulated CLI writes its frames in the order of the real one, and hands tool input back in
//! the order in which it came. `serde_json::Value` sorts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::{Number, Value};

/// A JSON value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Self>),
    /// An object.
    Object(Object),
}

/// A JSON object: its keys in order. A key that is set again keeps its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object(Vec<(String, Json)>);

impl Json {
    /// Reads JSON text. A string with half a surrogate pair, which JavaScript takes, reads with
    /// U+FFFD in its place.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text)
            .ok()
            .or_else(|| serde_json::from_str(&without_half_pairs(text)?).ok())
    }

    /// The value of a key, when this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// The text of a key.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Whether a key is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some(&Self::Bool(true))
    }

    /// The object, when this is one.
    pub(crate) fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The list, when this is one.
    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The string, when this is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The truth value, when this is one.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number, when this is one.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    /// The whole number, when this is one and is not negative.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        if let Self::Number(number) = self { number.as_u64() } else { None }
    }

    /// Whether this is `null`.
    pub(crate) fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// The value without an order of keys, as the model is asked with it.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(number.clone()),
            Self::String(text) => Value::String(text.clone()),
            Self::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Object(object) => Value::Object(
                object.iter().map(|(key, value)| (key.into(), value.to_value())).collect(),
            ),
        }
    }
}

impl Object {
    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Sets a key: in its place, or at the end when it is new.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Json>) {
        let value = value.into();
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// Adds a key when there is a value.
    pub(crate) fn set_some<T: Into<Json>>(&mut self, key: &str, value: Option<T>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Adds what another object has.
    pub(crate) fn extend(&mut self, more: Self) {
        for (key, value) in more.0 {
            self.set(&key, value);
        }
    }

    /// Takes a key out.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// The keys and values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Whether there is no key.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl FromIterator<(String, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// Reads any JSON value.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        // A key that stands twice: JavaScript keeps the first place and the last value.
        let mut object = Object::default();
        while let Some((key, value)) = map.next_entry::<String, Json>()? {
            object.set(&key, value);
        }
        Ok(Json::Object(object))
    }
}

/// The text with each `\uXXXX` that is half of a surrogate pair replaced; none when there is none.
fn without_half_pairs(text: &str) -> Option<String> {
    let unit = |at: usize| {
        let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(hex, 16).ok()
    };
    let mut fixed = String::with_capacity(text.len());
    let mut changed = false;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if !rest.starts_with('\\') {
            let end = rest.find('\\').unwrap_or(rest.len());
            fixed.push_str(rest.get(..end)?);
            at += end;
            continue;
        }
        let taken = match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                fixed.push_str("\\ufffd");
                changed = true;
                at += 6;
                continue;
            }
            Some(_) => 6,
            None => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
        };
        fixed.push_str(text.get(at..at + taken)?);
        at += taken;
    }
    changed.then_some(fixed)
}

macro_rules! from {
    ($($type:ty => |$value:ident| $json:expr;)*) => {$(
        impl From<$type> for Json {
            fn from($value: $type) -> Self {
                $json
            }
        }
    )*};
}

from! {
    bool => |value| Self::Bool(value);
    i32 => |value| Self::Number(value.into());
    i64 => |value| Self::Number(value.into());
    u16 => |value| Self::Number(value.into());
    u32 => |value| Self::Number(value.into());
    u64 => |value| Self::Number(value.into());
    usize => |value| Self::Number(value.into());
    f64 => |value| whole_or_not(value);
    &str => |value| Self::String(value.to_owned());
    String => |value| Self::String(value);
    &String => |value| Self::String(value.clone());
    Object => |value| Self::Object(value);
    &Object => |value| Self::Object(value.clone());
    &Self => |value| value.clone();
    Value => |value| (&value).into();
}

/// A number as JavaScript writes it: `0`, not `0.0`.
fn whole_or_not(value: f64) -> Json {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number in range")]
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Json::Number((value as i64).into());
    }
    Number::from_f64(value).map_or(Json::Null, Json::Number)
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::String(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                Self::Object(map.iter().map(|(key, value)| (key.clone(), value.into())).collect())
            }
        }
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Clone + Into<Self>> From<&[T]> for Json {
    fn from(items: &[T]) -> Self {
        Self::Array(items.iter().cloned().map(Into::into).collect())
    }
}

/// An [`Object`], written like one. `"key"? : option` leaves the key out when there is no value.
macro_rules! obj {
    (@ $object:ident) => {};
    (@ $object:ident $key:literal ? : $value:expr $(, $($rest:tt)*)?) => {
        $object.set_some($key, $value);
        $crate::sim::json::obj!(@ $object $($($rest)*)?);
    };
    (@ $object:ident $key:literal : $value:expr $(, $($rest:tt)*)?) => {
        $object.set($key, $value);
        $crate::sim::json::obj!(@ $object $($($rest)*)?);
    };
    ($($body:tt)*) => {{
        #[allow(unused_mut, clippy::allow_attributes, reason = "an object may be empty")]
        let mut object = $crate::sim::json::Object::default();
        $crate::sim::json::obj!(@ object $($body)*);
        object
    }};
}

pub(crate) use obj;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order() {
        let text = r#"{"z":1,"a":{"y":null,"b":[true,1.5,"x"]}}"#;
        assert_eq!(Json::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn half_a_surrogate_pair_reads_as_a_replacement_character() {
        let json = Json::parse(r#"{"a":"\ud800x","b":"\ud83d\ude00","c":"\\ud800"}"#).unwrap();
        assert_eq!(json.text("a"), Some("\u{fffd}x"));
        assert_eq!(json.text("b"), Some("😀"));
        assert_eq!(json.text("c"), Some("\\ud800"));
    }

    #[test]
    fn an_optional_key_is_left_out() {
        let object = obj! { "a": 1, "b"?: None::<&str>, "c"?: Some("x"), "d": None::<&str> };
        assert_eq!(object.to_string(), r#"{"a":1,"c":"x","d":null}"#);
    }
}
