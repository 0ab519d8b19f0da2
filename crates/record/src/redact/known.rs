//! Secrets that are known, found by their values.
//!
//! A password that a field gave away is the same password in the middle of a sentence.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};

use super::home::Folders;
use super::placeholder::Form;
use super::secret::{Hit, Identity, SecretId};

/// What is known, ready to be looked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    searches: Vec<Search>,
    folders: Folders,
}

/// A value that is looked for, and what is found then.
pub(super) type Value<'a> = (Cow<'a, [u8]>, SecretId, Form);

/// A search for some of the values, all at once.
#[derive(Clone, Debug)]
struct Search {
    automaton: AhoCorasick,
    /// The secrets, in the order of the values.
    secrets: Vec<(SecretId, Form)>,
}

impl Known {
    /// Takes the values that have to go wherever they stand, and the names of homes.
    pub(super) fn new(values: &[Value<'_>], folders: Folders) -> Self {
        let mut searches = Vec::new();
        add_searches(values, &mut searches);
        Self { searches, folders }
    }

    /// The names of homes, as folders spell them.
    pub(super) const fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Finds the values in a text.
    pub(super) fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Hit> + 'a {
        self.searches.iter().flat_map(move |search| {
            search.automaton.find_iter(text).filter_map(|found| {
                let (secret, form) = *search.secrets.get(found.pattern().as_usize())?;
                let range = found.range();
                Some(Hit { context: range.clone(), range, identity: Identity::Known(secret), form })
            })
        })
    }
}

/// Makes one search of all values, or more where they are too many for one.
fn add_searches(values: &[Value<'_>], searches: &mut Vec<Search>) {
    if values.is_empty() {
        return;
    }
    let mut builder = AhoCorasick::builder();
    builder.match_kind(MatchKind::LeftmostLongest);
    match builder.build(values.iter().map(|(value, ..)| value)) {
        Ok(automaton) => {
            let secrets = values.iter().map(|(_, secret, form)| (*secret, *form)).collect();
            searches.push(Search { automaton, secrets });
        }
        // The limit is gigabytes, which no single value has: it is part of a line.
        Err(_) if values.len() == 1 => {}
        Err(_) => {
            let (first, second) = values.split_at(values.len() / 2);
            add_searches(first, searches);
            add_searches(second, searches);
        }
    }
}
