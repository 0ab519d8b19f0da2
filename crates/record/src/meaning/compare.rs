//! Two conversations, frame by frame.

use serde_json::{Map, Number, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::canonical::{Canonical, View, hash_of};
use super::difference::{Difference, Why};
use super::identity::{Bindings, Bound, Identity};
use super::path::Step;
use super::rules::{Class, Frame, Place, Rules, Space};
use crate::format::Channel;
use crate::redact::is_placeholder;

/// Compares two conversations by what they say.
///
/// The frames are given in pairs, in the order of the conversation. What is found out about ids in
/// one pair holds for all that follow: an id on the left stands for one id on the right, and the
/// other way round.
///
/// ```
/// use countersign_record::Channel;
/// use countersign_record::meaning::{Comparer, Rules};
/// use serde_json::json;
///
/// let mut comparer = Comparer::new(Rules::new());
/// let ask = |id| json!({"type": "control_request", "request_id": id, "request": {"subtype": "interrupt"}});
/// let answer = |id| json!({"type": "control_response", "response": {"subtype": "success", "request_id": id}});
/// assert!(comparer.compare(Channel::In, &ask("1"), &ask("A")).is_empty());
/// assert!(comparer.compare(Channel::Out, &answer("1"), &answer("A")).is_empty());
/// let [difference] = &comparer.compare(Channel::Out, &answer("1"), &answer("B"))[..] else {
///     panic!("one difference is expected");
/// };
/// assert_eq!(difference.path.to_string(), "response.request_id");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Comparer {
    pub(super) left: View,
    pub(super) right: View,
    pub(super) bindings: Bindings,
}

impl Comparer {
    /// Begins with two conversations.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let left = View { rules, ..View::default() };
        Self { right: left.clone(), left, bindings: Bindings::default() }
    }

    /// Says that a path on the left stands for one on the right, wherever the two appear: the
    /// working directories, for instance.
    #[must_use]
    pub fn with_path(mut self, name: &str, left: &str, right: &str) -> Self {
        for (view, path) in [(&mut self.left, left), (&mut self.right, right)] {
            view.paths.push(path);
            view.path_names.push(name.to_owned());
        }
        self
    }

    /// Compares the next two frames, and remembers which ids stand for which.
    pub fn compare(&mut self, channel: Channel, left: &Value, right: &Value) -> Vec<Difference> {
        let differences = self.look(channel, left, right);
        self.commit();
        differences
    }

    /// Compares two frames that may not belong together: ids are remembered only when the frames
    /// say the same.
    pub fn try_compare(
        &mut self,
        channel: Channel,
        left: &Value,
        right: &Value,
    ) -> Vec<Difference> {
        let differences = self.look(channel, left, right);
        if differences.is_empty() {
            self.commit();
        } else {
            self.roll_back();
        }
        differences
    }

    /// Compares two texts that are not frames, such as arguments.
    pub fn compare_texts(&mut self, left: &str, right: &str) -> Vec<Difference> {
        let mut walk = Walk::new(self, Frame::of(Channel::Err, &Value::Null));
        walk.texts(&Place::default(), left, right);
        let differences = walk.differences;
        self.commit();
        differences
    }

    /// Compares two frames. The caller has to decide whether what is now known about ids is kept.
    pub(crate) fn look(
        &mut self,
        channel: Channel,
        left: &Value,
        right: &Value,
    ) -> Vec<Difference> {
        let frame = Frame::of(channel, left);
        self.left.learn(&frame, left, &mut |_, _| {});
        self.right.learn(&frame, right, &mut |_, _| {});
        let mut walk = Walk::new(self, frame);
        walk.values(&mut Place::default(), left, right);
        walk.differences
    }

    /// How the left side is looked at.
    pub(crate) const fn left_view(&self) -> &View {
        &self.left
    }

    pub(crate) fn commit(&mut self) -> Vec<Bound> {
        self.bindings.commit()
    }

    pub(crate) fn roll_back(&mut self) {
        self.bindings.roll_back();
    }
}

/// A walk through two frames at once.
pub(super) struct Walk<'c> {
    pub(super) comparer: &'c mut Comparer,
    frame: Frame,
    pub(super) differences: Vec<Difference>,
}

impl<'c> Walk<'c> {
    const fn new(comparer: &'c mut Comparer, frame: Frame) -> Self {
        Self { comparer, frame, differences: Vec::new() }
    }

    fn values<'f>(&mut self, place: &mut Place<'f>, left: &'f Value, right: &'f Value) {
        let class = self.comparer.left.rules.class(&self.frame, place);
        match (class, left, right) {
            (Class::Ignored, _, _) => {}
            (Class::Free(_), Value::Number(_), Value::Number(_))
            | (Class::Free(_), Value::String(_), Value::String(_)) => {}
            (Class::Id(_, space), Value::String(left), Value::String(right))
                if !left.is_empty() && !right.is_empty() =>
            {
                self.ids(place, space, left, right);
            }
            (Class::Exact, left, right) => {
                if !same(left, right) {
                    self.differences.push(Difference::changed(&place.steps, left, right));
                }
            }
            (_, Value::Object(left), Value::Object(right)) => self.objects(place, left, right),
            (_, Value::Array(left), Value::Array(right)) => self.lists(place, left, right),
            (_, Value::String(left), Value::String(right)) => self.texts(place, left, right),
            // A redactor puts a text even where a number was.
            (_, Value::String(text), Value::Number(number)) if is_placeholder(text) => {
                self.texts(place, text, &number.to_string());
            }
            (_, Value::Number(number), Value::String(text)) if is_placeholder(text) => {
                self.texts(place, &number.to_string(), text);
            }
            (_, left, right) => {
                if !same(left, right) {
                    self.differences.push(Difference::changed(&place.steps, left, right));
                }
            }
        }
    }

    fn objects<'f>(
        &mut self,
        place: &mut Place<'f>,
        left: &'f Map<String, Value>,
        right: &'f Map<String, Value>,
    ) {
        for (key, field) in left {
            let back = place.enter(left, key);
            match right.get(key) {
                Some(other) => self.values(place, field, other),
                None => self.only(place, Why::OnlyLeft, field),
            }
            place.leave(back);
        }
        for (key, field) in right.iter().filter(|(key, _)| !left.contains_key(*key)) {
            let back = place.enter(right, key);
            self.only(place, Why::OnlyRight, field);
            place.leave(back);
        }
    }

    fn only(&mut self, place: &Place<'_>, why: Why, value: &Value) {
        let nothing = self.comparer.left.rules.class(&self.frame, place) == Class::Ignored
            || (value.is_null() && self.frame.null_is_absent(&place.steps));
        if !nothing {
            self.differences.push(Difference::only(&place.steps, why, value));
        }
    }

    fn lists<'f>(&mut self, place: &mut Place<'f>, left: &'f [Value], right: &'f [Value]) {
        if left.len() == right.len() {
            self.pairs(place, 0, left, right);
            return;
        }
        // Something was put in or taken out: what is alike is found first, so that the rest of the
        // list is not compared with its neighbours.
        let shapes = |view: &View, items: &[Value]| -> Vec<u64> {
            let mut shapes = Canonical::shapes_of(view);
            items.iter().map(|item| hash_of(&shapes.frame(self.frame.channel, item))).collect()
        };
        let left_shapes = shapes(&self.comparer.left, left);
        let right_shapes = shapes(&self.comparer.right, right);
        for op in capture_diff_slices(Algorithm::Patience, &left_shapes, &right_shapes) {
            let (old, new) = (op.old_range(), op.new_range());
            let shared = if let DiffOp::Delete { .. } | DiffOp::Insert { .. } = op {
                0
            } else {
                old.len().min(new.len())
            };
            let slice = |items: &'f [Value], range: std::ops::Range<usize>| {
                items.get(range).unwrap_or_default()
            };
            self.pairs(
                place,
                old.start,
                slice(left, old.start..old.start + shared),
                slice(right, new.start..new.start + shared),
            );
            for (why, items, range) in [(Why::OnlyLeft, left, old), (Why::OnlyRight, right, new)] {
                for index in range.skip(shared) {
                    let Some(item) = items.get(index) else { continue };
                    place.steps.push(Step::Index(index));
                    self.only(place, why, item);
                    place.steps.pop();
                }
            }
        }
    }

    fn pairs<'f>(
        &mut self,
        place: &mut Place<'f>,
        at: usize,
        left: &'f [Value],
        right: &'f [Value],
    ) {
        for (index, (left, right)) in left.iter().zip(right).enumerate() {
            place.steps.push(Step::Index(at + index));
            self.values(place, left, right);
            place.steps.pop();
        }
    }

    fn ids(&mut self, place: &Place<'_>, space: Space, left: &str, right: &str) {
        let pair = (Identity::new(space, left), Identity::new(space, right));
        if !self.bind(pair, space, left, right) {
            self.differences.push(Difference::other_id(&place.steps, left, right));
        }
    }

    pub(super) fn bind(
        &mut self,
        pair: (Identity, Identity),
        space: Space,
        left: &str,
        right: &str,
    ) -> bool {
        let bound = || Bound { space, left: left.to_owned(), right: right.to_owned() };
        self.comparer.bindings.bind(pair, bound)
    }
}

/// Whether two values are the same, numbers by their value.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, field)| right.get(key).is_some_and(|other| same(field, other)))
        }
        (left, right) => left == right,
    }
}

#[expect(clippy::float_cmp, reason = "the same number is meant, not one that is near")]
fn same_number(left: &Number, right: &Number) -> bool {
    left == right
        || (left.is_f64() || right.is_f64())
            && left.as_f64().unwrap_or(f64::NAN) == right.as_f64().unwrap_or(f64::NAN)
}
