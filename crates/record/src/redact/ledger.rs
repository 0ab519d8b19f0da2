//! Which secrets there are, and which numbers they have.

use std::borrow::Cow;
use std::collections::HashMap;

use super::codings::codings;
use super::edit::{Change, Edit, escaped};
use super::home::Folders;
use super::known::Known;
use super::placeholder::Form;
use super::rules::Rules;
use super::secret::{Identity, KindId, Reach, Secret, SecretId};

/// All secrets that a redactor has met, over all tapes.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    entries: Vec<Entry>,
    /// The names of homes are kept apart: `dev` can be the owner of a home and a password.
    by_value: HashMap<(bool, Vec<u8>), SecretId>,
    /// The highest number of each kind that is taken.
    numbers: HashMap<KindId, u32>,
    /// Raised whenever there is more to look for.
    revision: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    secret: Secret,
    is_home: bool,
    number: Option<u32>,
}

impl Ledger {
    /// The secret that a rule found, which may be new.
    pub(super) fn learn(&mut self, rules: &Rules, identity: Identity) -> SecretId {
        let secret = match identity {
            Identity::Known(id) => return id,
            Identity::Found(secret) => secret,
        };
        let is_home = rules.is_home(&secret);
        let key = (is_home, secret.value.clone());
        if let Some(id) = self.by_value.get(&key) {
            if let Some(entry) = self.entries.get_mut(id.0)
                && entry.secret.reach != secret.reach
                && secret.reach == Reach::Everywhere
            {
                entry.secret.reach = Reach::Everywhere;
                self.revision += 1;
            }
            return *id;
        }
        let id = SecretId(self.entries.len());
        self.entries.push(Entry { secret, is_home, number: None });
        self.by_value.insert(key, id);
        self.revision += 1;
        id
    }

    /// Takes a number out of use, because a placeholder of an earlier time has it.
    pub(super) fn reserve(&mut self, kind: KindId, number: u32) {
        let highest = self.numbers.entry(kind).or_default();
        *highest = number.max(*highest);
    }

    /// Gives a secret its number, unless it has one.
    pub(super) fn number(&mut self, id: SecretId) {
        if let Some(entry) = self.entries.get_mut(id.0)
            && entry.number.is_none()
        {
            let highest = self.numbers.entry(entry.secret.kind).or_default();
            *highest += 1;
            entry.number = Some(*highest);
        }
    }

    /// A number that is higher whenever there is more to look for.
    pub(super) const fn revision(&self) -> u64 {
        self.revision
    }

    /// What has been found of a secret.
    pub(super) fn secret(&self, id: SecretId) -> Option<&Secret> {
        self.entries.get(id.0).map(|entry| &entry.secret)
    }

    /// Whether somebody's home is known.
    pub(super) fn has_home(&self, name: &[u8]) -> bool {
        self.by_value.contains_key(&(true, name.to_vec()))
    }

    /// The placeholder of a secret in a form.
    pub(super) fn placeholder(&self, rules: &Rules, id: SecretId, form: Form) -> String {
        let entry = self.entries.get(id.0);
        let kind = entry.map_or("", |entry| rules.kind_name(entry.secret.kind));
        form.write(kind, entry.and_then(|entry| entry.number).unwrap_or_default())
    }

    /// The change that an edit is.
    pub(super) fn change(&self, rules: &Rules, edit: &Edit) -> Change {
        let with = edit.with.map_or_else(Vec::new, |with| {
            let placeholder = self.placeholder(rules, with.secret, with.form);
            if !with.quoted {
                return placeholder.into_bytes();
            }
            let quoted = format!("\"{placeholder}\"").into_bytes();
            (0..with.depth).fold(quoted, |text, _| escaped(&text))
        });
        Change { range: edit.range.clone(), with }
    }

    /// All that is known, ready to be looked for.
    pub(super) fn known(&self, rules: &Rules) -> Known {
        let entries = || self.entries.iter().enumerate().map(|(at, entry)| (SecretId(at), entry));
        let values: Vec<_> = entries()
            .filter(|(_, entry)| entry.secret.reach == Reach::Everywhere)
            .flat_map(|(id, entry)| {
                let form = rules.form(entry.secret.kind);
                let value = &entry.secret.value;
                let all = std::iter::once(Cow::Borrowed(value.as_slice()));
                all.chain(codings(value).into_iter().map(Cow::Owned))
                    .map(move |value| (value, id, form))
            })
            .collect();
        let homes = entries()
            .filter(|(_, entry)| entry.is_home)
            .map(|(id, entry)| (entry.secret.value.as_slice(), id));
        Known::new(&values, Folders::new(homes))
    }
}
