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
///
/// This is all that grows with a tape, so it is kept small: there may be a secret in each delta.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The records that hold a piece of a line: all there is to change in them is here. In order
    /// once the plan is complete.
    joined: Vec<u64>,
    /// What is to be changed, with the record. In the order of the records once the plan is
    /// complete.
    edits: Vec<(u64, Edit)>,
    seen: HashMap<SecretId, Seen>,
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
            self.joined.extend(line.pieces.iter().map(|piece| piece.record.index));
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
                self.edits.extend(parts.into_iter().map(|(record, part)| (record.index, part)));
            }
        }
    }

    /// Whether a record holds a piece of a line, so that all there is to change in it is here.
    pub(super) fn is_joined(&self, index: u64) -> bool {
        self.joined.binary_search(&index).is_ok()
    }

    /// What is to be changed in a record, as far as it is here.
    pub(super) fn edits(&self, index: u64) -> impl Iterator<Item = &Edit> {
        let before = self.edits.partition_point(|(record, _)| *record < index);
        let rest = self.edits.iter().skip(before);
        rest.take_while(move |(record, _)| *record == index).map(|(_, edit)| edit)
    }

    /// Completes the plan: puts it in order, and gives numbers to the secrets, in the order in
    /// which they appear.
    pub(super) fn complete(&mut self, ledger: &mut Ledger) {
        self.joined.sort_unstable();
        // Without the memory that a stable sort takes: the edits of a record do not overlap.
        self.edits.sort_unstable_by_key(|(record, edit)| (*record, edit.range.start));
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
