//! A frame with its ids numbered, its times left out and its paths named.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value};

use super::identity::{Identity, Known};
use super::path::Step;
use super::rules::{Class, Frame, Place, Rules, Space};
use super::sort::Sort;
use super::text::{Paths, Segment, segments};
use crate::format::Channel;

/// Brings the frames of a conversation into a form that does not depend on the run.
///
/// Ids are numbered by their sort in the order in which they appear, times become `$time`, paths
/// that have a name become that name, what means nothing is left out. Two conversations that say
/// the same have the same canonical form, if nothing in them is in another order.
///
/// ```
/// use countersign_record::Channel;
/// use countersign_record::meaning::{Canonical, Rules};
/// use serde_json::json;
///
/// let mut canonical = Canonical::new(Rules::new()).with_path("cwd", "/home/dev/proj");
/// let frame = json!({
///     "type": "system", "subtype": "init", "cwd": "/home/dev/proj",
///     "session_id": "b5228912-ccb1-4d51-aca3-a2259dfdca32",
///     "log": "/home/dev/proj/b5228912-ccb1-4d51-aca3-a2259dfdca32.jsonl",
///     "duration_ms": 17,
/// });
/// assert_eq!(
///     canonical.frame(Channel::Out, &frame),
///     json!({
///         "type": "system", "subtype": "init", "cwd": "$cwd", "session_id": "$session1",
///         "log": "$cwd/$session1.jsonl", "duration_ms": "$time",
///     }),
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Canonical {
    view: View,
    names: Names,
}

/// What is needed to look at one conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) rules: Rules,
    pub(crate) paths: Paths,
    pub(crate) path_names: Vec<String>,
    pub(crate) known: Known,
}

impl View {
    pub(crate) fn segments<'t>(&self, text: &'t str, spoken: bool) -> Vec<Segment<'t>> {
        segments(text, spoken, &self.paths, &|word| self.known.find(word).is_some())
    }

    /// Takes note of the ids in the fields of a frame, so that they are known in its texts, and
    /// shows each of them.
    pub(crate) fn learn(
        &mut self,
        frame: &Frame,
        value: &Value,
        see: &mut dyn FnMut(Sort, Identity),
    ) {
        self.learn_at(frame, &mut Place::default(), value, see);
    }

    fn learn_at<'f>(
        &mut self,
        frame: &Frame,
        place: &mut Place<'f>,
        value: &'f Value,
        see: &mut dyn FnMut(Sort, Identity),
    ) {
        match value {
            Value::String(id) => {
                if let Class::Id(sort, space) = self.rules.class(frame, place)
                    && !id.is_empty()
                {
                    let identity = Identity::new(space, id);
                    self.known.learn(id, identity);
                    see(sort, identity);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    place.steps.push(Step::Index(index));
                    self.learn_at(frame, place, item, see);
                    place.steps.pop();
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    let back = place.enter(fields, key);
                    self.learn_at(frame, place, field, see);
                    place.leave(back);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The id in a segment.
    pub(crate) fn identity(&self, id: &str) -> Identity {
        self.known.find(id).unwrap_or_else(|| Identity::new(Space::Shared, id))
    }
}

/// How ids are called.
#[derive(Clone, Debug)]
enum Names {
    /// By sort and number.
    Numbered { names: HashMap<Identity, String>, last: HashMap<&'static str, u64> },
    /// All the same, whatever their sort: what is left is the shape of a frame.
    Alike,
}

impl Names {
    fn name(&mut self, sort: Sort, identity: Identity) -> String {
        let Self::Numbered { names, last } = self else { return "$id".to_owned() };
        let name = names.entry(identity).or_insert_with(|| {
            let number = last.entry(sort.name()).or_insert(0);
            *number += 1;
            format!("${}{number}", sort.name())
        });
        name.clone()
    }
}

impl Canonical {
    /// Begins a conversation.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let names = Names::Numbered { names: HashMap::new(), last: HashMap::new() };
        Self { view: View { rules, ..View::default() }, names }
    }

    /// The same, but with ids that all have the same name: two frames have the same shape when
    /// they say the same but for which ids are which.
    pub(crate) fn shapes(rules: Rules) -> Self {
        Self { names: Names::Alike, ..Self::new(rules) }
    }

    /// The shapes as a comparer sees them on one of its sides.
    pub(crate) fn shapes_of(view: &View) -> Self {
        Self { view: view.clone(), names: Names::Alike }
    }

    /// Gives a path a name, under which it appears wherever it stands: `cwd` becomes `$cwd`.
    #[must_use]
    pub fn with_path(mut self, name: &str, path: &str) -> Self {
        self.view.paths.push(path);
        self.view.path_names.push(name.to_owned());
        self
    }

    /// The canonical form of the next frame.
    #[must_use]
    pub fn frame(&mut self, channel: Channel, value: &Value) -> Value {
        let frame = Frame::of(channel, value);
        let Self { view, names } = self;
        view.learn(&frame, value, &mut |sort, identity| {
            names.name(sort, identity);
        });
        self.value(&frame, &mut Place::default(), value).unwrap_or_default()
    }

    /// A hash of what [`frame`](Self::frame) gives.
    pub(crate) fn hash(&mut self, channel: Channel, value: &Value) -> u64 {
        hash_of(&self.frame(channel, value))
    }

    fn value<'f>(
        &mut self,
        frame: &Frame,
        place: &mut Place<'f>,
        value: &'f Value,
    ) -> Option<Value> {
        let class = self.view.rules.class(frame, place);
        Some(match (class, value) {
            (Class::Ignored, _) => return None,
            (Class::Exact, value) => value.clone(),
            (Class::Free(name), Value::Number(_) | Value::String(_)) => format!("${name}").into(),
            (Class::Id(sort, space), Value::String(id)) if !id.is_empty() => {
                self.names.name(sort, Identity::new(space, id)).into()
            }
            (_, Value::String(text)) => self.text(text, place.payload).into(),
            (_, Value::Array(items)) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    place.steps.push(Step::Index(index));
                    list.extend(self.value(frame, place, item));
                    place.steps.pop();
                }
                list.into()
            }
            (_, Value::Object(fields)) => {
                let mut object = Map::new();
                for (key, field) in fields {
                    let back = place.enter(fields, key);
                    let absent = field.is_null() && frame.null_is_absent(&place.steps);
                    if !absent && let Some(field) = self.value(frame, place, field) {
                        object.insert(key.clone(), field);
                    }
                    place.leave(back);
                }
                object.into()
            }
            (_, value) => value.clone(),
        })
    }

    fn text(&mut self, text: &str, spoken: bool) -> String {
        let mut canonical = String::with_capacity(text.len());
        for segment in self.view.segments(text, spoken) {
            match segment {
                Segment::Literal(literal) => canonical.push_str(literal),
                Segment::Time(_) => canonical.push_str("$time"),
                Segment::Id(sort, id) => {
                    let identity = self.view.identity(id);
                    canonical.push_str(&self.names.name(sort.unwrap_or(Sort::Uuid), identity));
                }
                Segment::Placeholder(text) => {
                    let identity = Identity::new(Space::Shared, text);
                    canonical.push_str(&self.names.name(Sort::Redacted, identity));
                }
                Segment::Path { path, dashed, .. } => {
                    canonical.push_str(if dashed { "-$" } else { "$" });
                    let name = self.view.path_names.get(path);
                    canonical.push_str(name.map_or("path", String::as_str));
                }
            }
        }
        canonical
    }
}

/// A hash of a value in which numbers count by their value: `1.0` is `1`.
pub(crate) fn hash_of(value: &Value) -> u64 {
    fn feed(value: &Value, hasher: &mut DefaultHasher) {
        match value {
            Value::Null => 0u8.hash(hasher),
            Value::Bool(flag) => (1u8, flag).hash(hasher),
            // Zero has two signs, and they are equal.
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                let bits = if number == 0.0 { 0 } else { number.to_bits() };
                (2u8, bits).hash(hasher);
            }
            Value::String(text) => (3u8, text).hash(hasher),
            Value::Array(items) => {
                (4u8, items.len()).hash(hasher);
                items.iter().for_each(|item| feed(item, hasher));
            }
            Value::Object(fields) => {
                (5u8, fields.len()).hash(hasher);
                for (key, field) in fields {
                    key.hash(hasher);
                    feed(field, hasher);
                }
            }
        }
    }
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher);
    hasher.finish()
}
