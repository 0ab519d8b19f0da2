//! What was recorded, with the ids and paths of this run.
//!
//! A line is changed only where it must be: the order of keys and the spelling of numbers stay as
//! the CLI wrote them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::format::Channel;
use crate::meaning::{
    Bound, Class, Frame, Place, Segment, Space, Step, View, id_form, is_telling, parse_line,
};

/// What stands for what.
#[derive(Debug, Default)]
pub(crate) struct Substitutions {
    ids: HashMap<(Space, String), String>,
    /// For each named path: what it is in this run, as it is and with dashes; nothing where it is
    /// the same as on the tape.
    paths: Vec<Option<[String; 2]>>,
}

impl Substitutions {
    /// Takes note of ids that have just been bound.
    pub(crate) fn learn(&mut self, bound: Vec<Bound>) {
        for Bound { space, left, right } in bound {
            if left == right {
                continue;
            }
            // A word that is unlike others is found inside texts, too.
            if is_telling(&left) {
                self.ids.insert((Space::Shared, left.clone()), right.clone());
            }
            self.ids.insert((shared(space, &left), left), right);
        }
    }

    /// Takes note of a path, in the order in which they are given to the comparer.
    pub(crate) fn path(&mut self, recorded: &str, live: &str) {
        let dash = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let live = live.trim_end_matches('/');
        let other = recorded.trim_end_matches('/') != live;
        self.paths.push(other.then(|| [live.to_owned(), live.chars().map(dash).collect()]));
    }

    /// Whether nothing has to be changed in any line.
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.paths.iter().all(Option::is_none)
    }

    /// The line as it is written in this run; nothing if it needs no change. `value` is what the
    /// line says.
    pub(crate) fn rewrite(&self, view: &View, line: &str, value: &Value) -> Option<String> {
        let raw: &RawValue = serde_json::from_str(line).ok()?;
        let frame = Frame::of(Channel::Out, value);
        Walk { table: self, view, frame }.value(raw, value, &mut Place::default())
    }

    /// Text that is not a frame, such as a line on standard error.
    pub(crate) fn rewrite_text(&self, view: &View, text: &str) -> Option<String> {
        self.text(view, text, false)
    }

    fn id(&self, space: Space, id: &str) -> Option<&String> {
        self.ids.get(&(shared(space, id), id.to_owned()))
    }

    fn text(&self, view: &View, text: &str, spoken: bool) -> Option<String> {
        let segments = view.segments(text, spoken);
        let mut changed = false;
        let mut replace = |segment: Segment<'_>| -> Option<String> {
            let new = match segment {
                Segment::Literal(_) | Segment::Time(_) => None,
                Segment::Id(_, id) | Segment::Placeholder(id) => {
                    self.id(Space::Shared, id).cloned()
                }
                Segment::Path { path, dashed, .. } => {
                    let [plain, dashes] = self.paths.get(path)?.as_ref()?;
                    Some(if dashed { dashes } else { plain }.clone())
                }
            };
            changed |= new.is_some();
            new
        };
        let written: String = segments
            .iter()
            .map(|segment| replace(*segment).map_or(Cow::Borrowed(segment.text()), Cow::Owned))
            .collect();
        changed.then_some(written)
    }
}

/// Ids that are told by their looks, and placeholders, are the same everywhere.
fn shared(space: Space, id: &str) -> Space {
    if id_form(id).is_some() { Space::Shared } else { space }
}

struct Walk<'t> {
    table: &'t Substitutions,
    view: &'t View,
    frame: Frame,
}

impl Walk<'_> {
    /// The text of a value after the change; nothing if there is none.
    fn value<'v>(&self, raw: &RawValue, value: &'v Value, place: &mut Place<'v>) -> Option<String> {
        match value {
            Value::String(text) => self.string(text, place),
            Value::Array(items) => {
                let raws = list(raw)?;
                let mut changed = false;
                let mut parts = Vec::with_capacity(raws.len());
                for (index, (raw, item)) in raws.iter().zip(items).enumerate() {
                    place.steps.push(Step::Index(index));
                    let new = self.value(raw, item, place);
                    place.steps.pop();
                    changed |= new.is_some();
                    parts.push(new.map_or(Cow::Borrowed(raw.get()), Cow::Owned));
                }
                changed.then(|| format!("[{}]", parts.join(",")))
            }
            Value::Object(fields) => {
                let raws = object(raw)?;
                let mut changed = false;
                let mut parts = Vec::with_capacity(raws.len());
                for (key, raw) in &raws {
                    let new = fields.get_key_value(key).and_then(|(key, field)| {
                        let back = place.enter(fields, key);
                        let new = self.value(raw, field, place);
                        place.leave(back);
                        new
                    });
                    changed |= new.is_some();
                    let new = new.map_or(Cow::Borrowed(raw.get()), Cow::Owned);
                    parts.push(format!("{}:{new}", Value::from(key.as_str())));
                }
                changed.then(|| format!("{{{}}}", parts.join(",")))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    fn string(&self, text: &str, place: &Place<'_>) -> Option<String> {
        let new = match self.view.rules.class(&self.frame, place) {
            Class::Ignored | Class::Exact | Class::Free(_) => None,
            Class::Id(_, space) if !text.is_empty() => self.table.id(space, text).cloned(),
            Class::Id(..) | Class::Said => self.table.text(self.view, text, place.payload),
        };
        new.map(|new| Value::from(new).to_string())
    }
}

/// The elements of a list as they are written.
fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    struct List;

    impl<'de> Visitor<'de> for List {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some(item) = items.next_element()? {
                found.push(item);
            }
            Ok(found)
        }
    }

    serde_json::Deserializer::from_str(raw.get()).deserialize_seq(List).ok()
}

/// The fields of an object as they are written, in their order.
fn object(raw: &RawValue) -> Option<Vec<(String, &RawValue)>> {
    struct Object;

    impl<'de> Visitor<'de> for Object {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some(field) = fields.next_entry()? {
                found.push(field);
            }
            Ok(found)
        }
    }

    serde_json::Deserializer::from_str(raw.get()).deserialize_map(Object).ok()
}

/// The line with what stands in it for this run, and what it says then.
pub(crate) struct Written<'l> {
    pub(crate) line: Cow<'l, [u8]>,
    /// What the line says on the tape, and in this run; nothing where it is not JSON.
    pub(crate) values: Option<(Value, Value)>,
}

impl Substitutions {
    /// Makes a line of the output ready for this run.
    pub(crate) fn apply<'l>(&self, view: &View, line: &'l [u8]) -> Written<'l> {
        let Some(value) = parse_line(line) else {
            return Written { line: Cow::Borrowed(line), values: None };
        };
        let changed = if self.is_empty() {
            None
        } else {
            std::str::from_utf8(line).ok().and_then(|line| self.rewrite(view, line, &value))
        };
        match changed {
            Some(changed) => {
                let live = parse_line(changed.as_bytes()).unwrap_or_else(|| value.clone());
                Written { line: Cow::Owned(changed.into_bytes()), values: Some((value, live)) }
            }
            None => Written { line: Cow::Borrowed(line), values: Some((value.clone(), value)) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::{Comparer, Rules};

    #[test]
    fn a_line_is_changed_only_where_it_must_be() {
        let mut comparer = Comparer::new(Rules::new()).with_path("cwd", "/rec/w", "/live/w");
        let mut table = Substitutions::default();
        table.path("/rec/w", "/live/w");
        let uuid = |n: u8| format!("00000000-0000-4000-8000-00000000000{n}");
        let ask = |id: &str, uuid: &str| serde_json::json!({"type": "control_request", "request_id": id, "x": uuid});
        let found = comparer.look(Channel::In, &ask("1", &uuid(1)), &ask("live-1", &uuid(2)));
        assert_eq!(found, []);
        table.learn(comparer.commit());

        let one = uuid(1);
        let line = format!(
            r#"{{"z":1.50, "response":{{"request_id":"1","n":"1"}},"type":"control_response","u":["{one}", 1e2, "a/{one}"],"p":"in /rec/w/a -rec-w"}}"#
        );
        let two = uuid(2);
        let expected = format!(
            r#"{{"z":1.50,"response":{{"request_id":"live-1","n":"1"}},"type":"control_response","u":["{two}",1e2,"a/{two}"],"p":"in /live/w/a -live-w"}}"#
        );
        let written = table.apply(comparer.left_view(), line.as_bytes());
        assert_eq!(String::from_utf8_lossy(&written.line), expected);
        let other = br#"{"type": "assistant",  "b":[ 1.0 ]}"#;
        assert_eq!(table.apply(comparer.left_view(), other).line.as_ref(), other);
    }
}
