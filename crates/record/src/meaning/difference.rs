//! What two frames do not have in common.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::path::{JsonPath, Step};

/// A place at which two frames differ in meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Where. For an element that only one side has: where on that side.
    #[serde(serialize_with = "as_text")]
    pub path: JsonPath,
    /// In what way.
    pub why: Why,
    /// What the left side has, as JSON, cut to the part that differs if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// What the right side has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<String>,
}

fn as_text<S: serde::Serializer>(path: &JsonPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(path.as_str())
}

/// In what way two frames differ at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// They say something else.
    Changed,
    /// The right side has nothing there.
    OnlyLeft,
    /// The left side has nothing there.
    OnlyRight,
    /// Both have an id there, but not the same one: it stood for another one before.
    OtherId,
}

/// How much of a value is shown, and how much of it before the place at which it differs.
const SHOWN: usize = 160;
const BEFORE: usize = 40;

impl Difference {
    pub(crate) fn changed(path: &[Step<'_>], left: &Value, right: &Value) -> Self {
        let [left, right] = [left, right].map(|value| Some(excerpt(&value.to_string(), 0)));
        Self { path: JsonPath::new(path), why: Why::Changed, left, right }
    }

    /// Two texts that differ from some place on, which is not the same on both sides: what stands
    /// before may vary.
    pub(crate) fn text(
        path: &[Step<'_>],
        why: Why,
        (left, right): (&str, &str),
        (left_at, right_at): (usize, usize),
    ) -> Self {
        let pairs = left.bytes().skip(left_at).zip(right.bytes().skip(right_at));
        let same = pairs.take_while(|(left, right)| left == right).count();
        let long = left.len().max(right.len()) > SHOWN;
        let [left, right] = [(left, left_at), (right, right_at)].map(|(text, at)| {
            Some(quoted(text, if long { (at + same).saturating_sub(BEFORE) } else { 0 }))
        });
        Self { path: JsonPath::new(path), why, left, right }
    }

    pub(crate) fn other_id(path: &[Step<'_>], left: &str, right: &str) -> Self {
        Self::text(path, Why::OtherId, (left, right), (0, 0))
    }

    pub(crate) fn only(path: &[Step<'_>], why: Why, value: &Value) -> Self {
        let value = Some(excerpt(&value.to_string(), 0));
        let (left, right) = match why {
            Why::OnlyRight => (None, value),
            _ => (value, None),
        };
        Self { path: JsonPath::new(path), why, left, right }
    }
}

/// A text as JSON, from about `start` on, cut if it is long.
fn quoted(text: &str, start: usize) -> String {
    let start = text.floor_char_boundary(start);
    let end = text.floor_char_boundary(start.saturating_add(SHOWN));
    let middle = Value::from(text.get(start..end).unwrap_or_default()).to_string();
    let middle = middle.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let before = if start > 0 { "…" } else { "\"" };
    let after = if end < text.len() { "…" } else { "\"" };
    format!("{before}{}{after}", middle.unwrap_or_default())
}

/// A text from about `start` on, cut if it is long.
fn excerpt(text: &str, start: usize) -> String {
    let start = text.floor_char_boundary(start);
    let end = text.floor_char_boundary(start.saturating_add(SHOWN));
    let middle = text.get(start..end).unwrap_or_default();
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{middle}{after}")
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, why, left, right } = self;
        match why {
            Why::OtherId => write!(f, "{path}: (an id that stood for another one before)")?,
            _ => write!(f, "{path}:")?,
        }
        for (sign, side) in [('-', left), ('+', right)] {
            if let Some(side) = side {
                write!(f, "\n  {sign} {side}")?;
            }
        }
        Ok(())
    }
}
