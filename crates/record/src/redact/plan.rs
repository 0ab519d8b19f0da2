//! What is to be changed on a tape, and how often each secret is in it.

use std::collections::HashMap;

use super::edit::{Edit, Place, With, settle};
use super::ledger::Ledger;
use super::manifest::{Manifest, ManifestEntry};
use super::pieces::{RecordId, to_records};
use super::placeholder::Form;
use super::rules::Rules;
use super::secret::SecretId;
use super::survey::Source;

/// What is to be changed, as far as it cannot be told from a record alone.
#[derive(Debug, Default)]
pub(super) struct Plan {
    records: HashMap<u64, RecordPlan>,
    seen: HashMap<SecretId, Seen>,
}

/// What is to be changed in a record.
#[derive(Debug, Default)]
pub(super) struct RecordPlan {
    /// The record holds a piece of a line: all there is to change is here.
    pub(super) joined: bool,
    pub(super) edits: Vec<Edit>,
}

/// How often a secret is on a tape, and where first.
#[derive(Clone, Copy, Debug)]
struct Seen {
    count: u64,
    first: (RecordId, usize),
    form: Form,
}

impl Plan {
    /// Takes in what was found in a text.
    pub(super) fn take(
        &mut self,
        rules: &Rules,
        ledger: &mut Ledger,
        source: &Source<'_>,
        places: Vec<Place>,
    ) {
        if let Source::Line(line) = source
            && line.is_joined()
        {
            for piece in line.pieces.iter() {
                self.records.entry(piece.record.index).or_default().joined = true;
            }
        }
        for edit in edits(rules, ledger, places) {
            let parts: Vec<_> = match source {
                Source::Tape(record, _) => vec![(*record, edit.clone())],
                Source::Line(line) => to_records(&line.pieces, &edit),
                Source::Block(block) => block.to_records(&edit),
            };
            if let (Some(with), Some((record, part))) = (edit.with, parts.first()) {
                self.see(with, (*record, part.range.start));
            }
            let is_stored = match source {
                Source::Tape(..) => false,
                Source::Line(line) => line.is_joined(),
                Source::Block(_) => true,
            };
            if is_stored {
                for (record, part) in parts {
                    self.records.entry(record.index).or_default().edits.push(part);
                }
            }
        }
    }

    /// What is to be changed in a record.
    pub(super) fn record(&self, index: u64) -> Option<&RecordPlan> {
        self.records.get(&index)
    }

    /// Gives numbers to the secrets, in the order in which they appear.
    pub(super) fn number(&self, ledger: &mut Ledger) {
        for (secret, _) in self.in_order() {
            ledger.number(secret);
        }
    }

    /// Lists what is taken out.
    pub(super) fn manifest(&self, rules: &Rules, ledger: &Ledger, torn: u64) -> Manifest {
        let entries = self.in_order().into_iter().filter_map(|(id, seen)| {
            let form = if seen.form.is_word() { seen.form } else { Form::RootPath };
            let mut placeholder = ledger.placeholder(rules, id, form);
            if form == Form::RootPath {
                placeholder.insert(0, '/');
            }
            Some(ManifestEntry {
                rule: rules.name(ledger.secret(id)?.rule).to_owned(),
                placeholder,
                count: seen.count,
                first: seen.first.0.seq,
            })
        });
        Manifest::new(torn, entries.collect())
    }

    fn see(&mut self, with: With, at: (RecordId, usize)) {
        let new = Seen { count: 0, first: at, form: with.form };
        let seen = self.seen.entry(with.secret).or_insert(new);
        seen.count += 1;
        seen.first = seen.first.min(at);
    }

    fn in_order(&self) -> Vec<(SecretId, Seen)> {
        let mut seen: Vec<_> = self.seen.iter().map(|(id, seen)| (*id, *seen)).collect();
        seen.sort_by_key(|(id, seen)| (seen.first, *id));
        seen
    }
}

/// Makes edits of what was found, in order.
pub(super) fn edits(rules: &Rules, ledger: &mut Ledger, places: Vec<Place>) -> Vec<Edit> {
    let edit = |place: Place| {
        let secret = ledger.learn(rules, place.identity);
        let with = With { secret, form: place.form, depth: place.depth, quoted: place.quoted };
        Edit { range: place.range, with: Some(with) }
    };
    settle(places).into_iter().map(edit).collect()
}
