//! Which ids are the same, within one conversation and between two.
//!
//! A conversation can have millions of ids: each frame has one of its own. So they are kept as
//! hashes of 64 bits, at which two different ones of a million are taken for the same with a
//! probability of one in thirty million.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::rules::Space;
use super::sort::{id_form, is_telling};

/// An id within its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Identity(u64);

impl Identity {
    pub(crate) fn new(space: Space, id: &str) -> Self {
        let space = if id_form(id).is_some() { Space::Shared } else { space };
        let mut hasher = DefaultHasher::new();
        (space, id).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The ids that a field has named and that are not told by their looks: those that must be looked
/// up to be found inside a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(HashMap<u64, Identity>);

impl Known {
    /// Takes note of an id in a field.
    pub(crate) fn learn(&mut self, id: &str, identity: Identity) {
        if is_telling(id) && id_form(id).is_none() {
            self.0.entry(Self::key(id)).or_insert(identity);
        }
    }

    /// The id that this word is.
    pub(crate) fn find(&self, word: &str) -> Option<Identity> {
        if self.0.is_empty() { None } else { self.0.get(&Self::key(word)).copied() }
    }

    fn key(word: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        word.hash(&mut hasher);
        hasher.finish()
    }
}

/// Which ids of one conversation are which of another: one to one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    forward: HashMap<Identity, Identity>,
    backward: HashMap<Identity, Identity>,
    /// What has been bound since the last call of [`commit`](Self::commit).
    fresh: Vec<Fresh>,
}

#[derive(Clone, Debug)]
struct Fresh {
    pair: (Identity, Identity),
    one_way: bool,
    bound: Bound,
}

/// Two ids that stand for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) space: Space,
    pub(crate) left: String,
    pub(crate) right: String,
}

impl Bindings {
    /// Binds two ids to each other; false when one of them is bound to another.
    pub(crate) fn bind(
        &mut self,
        pair: (Identity, Identity),
        bound: impl FnOnce() -> Bound,
    ) -> bool {
        let (left, right) = pair;
        match (self.forward.get(&left), self.backward.get(&right)) {
            (None, None) => {
                self.forward.insert(left, right);
                self.backward.insert(right, left);
                self.fresh.push(Fresh { pair, one_way: false, bound: bound() });
                true
            }
            (Some(bound), _) => *bound == right,
            (None, Some(_)) => false,
        }
    }

    /// Binds a placeholder to what stands in its place on the other side. Two of them may stand
    /// for the same thing there: whoever plays a tape may well use one key for all.
    pub(crate) fn stand_for(
        &mut self,
        placeholder: Identity,
        value: Identity,
        bound: impl FnOnce() -> Bound,
    ) -> bool {
        if let Some(before) = self.forward.get(&placeholder) {
            return *before == value;
        }
        self.forward.insert(placeholder, value);
        self.fresh.push(Fresh { pair: (placeholder, value), one_way: true, bound: bound() });
        true
    }

    /// Keeps what was bound, and says what it was.
    pub(crate) fn commit(&mut self) -> Vec<Bound> {
        std::mem::take(&mut self.fresh).into_iter().map(|fresh| fresh.bound).collect()
    }

    /// Forgets what was bound since the last commit.
    pub(crate) fn roll_back(&mut self) {
        for Fresh { pair: (left, right), one_way, .. } in self.fresh.drain(..) {
            self.forward.remove(&left);
            if !one_way {
                self.backward.remove(&right);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(bindings: &mut Bindings, left: &str, right: &str) -> bool {
        let id = |text| Identity::new(Space::Named("t"), text);
        bindings.bind((id(left), id(right)), || Bound {
            space: Space::Named("t"),
            left: left.into(),
            right: right.into(),
        })
    }

    #[test]
    fn ids_are_bound_one_to_one() {
        let mut bindings = Bindings::default();
        assert!(bind(&mut bindings, "a", "x"));
        assert!(bind(&mut bindings, "a", "x"));
        assert!(!bind(&mut bindings, "a", "y"));
        assert!(!bind(&mut bindings, "b", "x"));
        assert!(bind(&mut bindings, "b", "y"));
    }

    #[test]
    fn what_is_not_committed_is_forgotten() {
        let mut bindings = Bindings::default();
        assert!(bind(&mut bindings, "a", "x"));
        assert_eq!(bindings.commit().len(), 1);
        assert!(bind(&mut bindings, "b", "y"));
        bindings.roll_back();
        assert!(bind(&mut bindings, "b", "z"));
        assert!(!bind(&mut bindings, "a", "z"));
    }
}
