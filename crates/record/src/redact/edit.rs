//! What is replaced by what.

use std::ops::Range;

use super::placeholder::Form;
use super::secret::{Identity, SecretId};

/// A place at which a secret was found.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) range: Range<usize>,
    pub(super) identity: Identity,
    pub(super) form: Form,
    /// How many layers of escapes lie around what was found.
    pub(super) depth: usize,
    /// The placeholder needs quotes: what it replaces was a number.
    pub(super) quoted: bool,
}

/// A change: the placeholder of a secret instead of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    /// Nothing where the placeholder stands in the piece before.
    pub(super) with: Option<With>,
}

/// How the placeholder of a secret is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct With {
    pub(super) secret: SecretId,
    pub(super) form: Form,
    pub(super) depth: usize,
    pub(super) quoted: bool,
}

/// Makes places that overlap into one. They come out in order.
///
/// The widest decides what stands there then: a key in a URL in a private note is the note's.
pub(super) fn settle(mut places: Vec<Place>) -> Vec<Place> {
    // The sort is stable, so that of equal places the one of the first rule stays first; the
    // deepest layer goes before it, because there the value has no escapes left.
    places.sort_by(|a, b| {
        let order = a.range.start.cmp(&b.range.start).then(b.range.end.cmp(&a.range.end));
        order.then(b.depth.cmp(&a.depth))
    });
    let mut settled: Vec<Place> = Vec::new();
    // What the last of them was found to be, before others were added to it.
    let mut own = 0..0;
    for place in places {
        match settled.last_mut().filter(|last| place.range.start < last.range.end) {
            None => {
                own = place.range.clone();
                settled.push(place);
            }
            Some(last) => {
                let all = last.range.start..last.range.end.max(place.range.end);
                // The name of a home only stands for itself, not for what is around it.
                let can_be_all = |form: Form, range: &Range<usize>| form.is_word() || *range == all;
                let fits = can_be_all(place.form, &place.range);
                let fitted = can_be_all(last.form, &own);
                let is_wider = place.range.len() > own.len();
                if fits && (is_wider || !fitted) {
                    own = place.range.clone();
                    *last = Place { range: all, ..place };
                } else {
                    last.range = all;
                }
            }
        }
    }
    settled
}

/// Cuts an edit at the ends of pieces: the first piece gets the placeholder, the others lose
/// their part. `pieces` stand in order, each at its `place`.
///
/// Only the pieces that the edit touches are looked at: there can be millions of both.
pub(super) fn distribute<'p, T>(
    edit: &Edit,
    pieces: &'p [T],
    place: impl Fn(&T) -> &Range<usize>,
) -> impl Iterator<Item = (&'p T, Edit)> {
    let mut with = edit.with;
    let range = edit.range.clone();
    let before = pieces.partition_point(|piece| place(piece).end <= range.start);
    let end = range.end;
    let touched = pieces.iter().skip(before).map(move |piece| (piece, place(piece)));
    touched.take_while(move |(_, place)| place.start < end).filter_map(move |(piece, place)| {
        let part = range.start.max(place.start)..range.end.min(place.end);
        (!part.is_empty()).then(|| {
            let local = part.start - place.start..part.end - place.start;
            (piece, Edit { range: local, with: with.take() })
        })
    })
}

/// New text for a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) range: Range<usize>,
    pub(super) with: Vec<u8>,
}

/// A text with some changes made. They do not overlap.
pub(super) fn changed(text: &[u8], mut changes: Vec<Change>) -> Vec<u8> {
    changes.sort_by_key(|change| change.range.start);
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0;
    for change in changes {
        out.extend_from_slice(text.get(done..change.range.start).unwrap_or_default());
        out.extend_from_slice(&change.with);
        done = done.max(change.range.end);
    }
    out.extend_from_slice(text.get(done..).unwrap_or_default());
    out
}

/// Adds one layer of the escapes that a placeholder can need.
pub(super) fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::secret::{KindId, Reach, RuleId, Secret};
    use super::*;

    /// Settles places that are given by their ranges and forms, and says which ones won.
    fn check(places: &[(Range<usize>, Form)], expected: &[(Range<usize>, usize)]) {
        let place = |(number, (range, form)): (usize, &(Range<usize>, Form))| Place {
            range: range.clone(),
            identity: Identity::Found(Secret {
                rule: RuleId(0),
                kind: KindId(number),
                value: Vec::new(),
                reach: Reach::Here,
            }),
            form: *form,
            depth: 0,
            quoted: false,
        };
        let settled = settle(places.iter().enumerate().map(place).collect());
        let won = |place: Place| match place.identity {
            Identity::Found(secret) => (place.range, secret.kind.0),
            Identity::Known(_) => panic!("none is known"),
        };
        assert_eq!(settled.into_iter().map(won).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_widest_of_those_that_overlap_decides() {
        check(&[(5..9, Form::Word), (0..3, Form::Word)], &[(0..3, 1), (5..9, 0)]);
        check(&[(0..4, Form::Word), (0..4, Form::Word)], &[(0..4, 0)]);
        check(&[(2..4, Form::Word), (0..9, Form::Word)], &[(0..9, 1)]);
        check(&[(0..4, Form::Word), (3..9, Form::Word)], &[(0..9, 1)]);
        check(&[(0..4, Form::Word), (4..9, Form::Word)], &[(0..4, 0), (4..9, 1)]);
    }

    #[test]
    fn an_edit_is_cut_at_the_ends_of_the_pieces_that_it_touches() {
        let with = With { secret: SecretId(7), form: Form::Word, depth: 0, quoted: false };
        // One piece is empty, and between the last two stands a newline that belongs to neither.
        let pieces = [0..4, 4..4, 4..10, 11..20];
        let cut = |range: Range<usize>| {
            distribute(&Edit { range, with: Some(with) }, &pieces, |piece| piece)
                .map(|(piece, edit)| (piece.start, edit.range, edit.with.is_some()))
                .collect::<Vec<_>>()
        };
        assert_eq!(cut(0..4), [(0, 0..4, true)]);
        assert_eq!(cut(1..3), [(0, 1..3, true)]);
        assert_eq!(cut(2..6), [(0, 2..4, true), (4, 0..2, false)]);
        assert_eq!(cut(3..15), [(0, 3..4, true), (4, 0..6, false), (11, 0..4, false)]);
        assert_eq!(cut(10..12), [(11, 0..1, true)]);
        assert_eq!(cut(20..25), []);
    }

    #[test]
    fn the_name_of_a_home_does_not_stand_for_more_than_itself() {
        check(&[(0..4, Form::Word), (2..9, Form::Name)], &[(0..9, 0)]);
        check(&[(0..7, Form::Name), (5..9, Form::Word)], &[(0..9, 1)]);
        check(&[(0..7, Form::Name), (2..5, Form::Word)], &[(0..7, 0)]);
    }
}
