//! Which frames of two tapes belong together.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices, capture_diff_slices_deadline};

use super::index::Mark;

/// Two frames that belong together, or one that has no counterpart; by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aligned {
    Pair(usize, usize),
    /// The same frame at another place in the order.
    Moved(usize, usize),
    Left(usize),
    Right(usize),
}

/// How long the search for the shortest difference may take before a longer one will do. Only
/// tapes with hundreds of thousands of frames in quite another order come near it.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many frames in a row are compared with each other where the tapes have nothing in common.
const WINDOW: usize = 2000;

/// Finds which frames belong together: first those that say the same, then, between those, what is
/// of the same kind, in order.
pub(crate) fn align(left: &[Mark], right: &[Mark]) -> Vec<Aligned> {
    let mut aligned = Vec::with_capacity(left.len().max(right.len()));
    let (mut left_done, mut right_done) = (0, 0);
    for (left_at, right_at) in anchors(left, right).into_iter().chain([(left.len(), right.len())]) {
        gap(left, left_done..left_at, right, right_done..right_at, &mut aligned);
        if left_at < left.len() {
            aligned.push(Aligned::Pair(left_at, right_at));
        }
        (left_done, right_done) = (left_at + 1, right_at + 1);
    }
    moved(left, right, aligned)
}

/// The frames that say the same on both sides, in order.
fn anchors(left: &[Mark], right: &[Mark]) -> Vec<(usize, usize)> {
    // What only one side has cannot be an anchor, and takes the most time: it is left out.
    let shapes = |marks: &[Mark]| marks.iter().map(|mark| mark.shape).collect::<HashSet<u64>>();
    let common = |marks: &[Mark], other: &HashSet<u64>| -> (Vec<usize>, Vec<u64>) {
        let found = marks.iter().enumerate().filter(|(_, mark)| other.contains(&mark.shape));
        found.map(|(at, mark)| (at, mark.shape)).unzip()
    };
    let (left_at, left_shapes) = common(left, &shapes(right));
    let (right_at, right_shapes) = common(right, &shapes(left));
    let deadline = Some(Instant::now() + PATIENCE);
    let algorithm = Algorithm::Patience;
    let ops = capture_diff_slices_deadline(algorithm, &left_shapes, &right_shapes, deadline);
    let mut found = Vec::with_capacity(left_at.len());
    for op in ops {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            let lefts = left_at.iter().skip(old_index).take(len);
            found.extend(lefts.zip(right_at.iter().skip(new_index)).map(|(l, r)| (*l, *r)));
        }
    }
    found
}

/// Aligns what stands between two anchors by what kind of frame it is.
fn gap(
    left: &[Mark],
    left_range: Range<usize>,
    right: &[Mark],
    right_range: Range<usize>,
    aligned: &mut Vec<Aligned>,
) {
    let (mut lefts, mut rights) = (left_range, right_range);
    while !lefts.is_empty() || !rights.is_empty() {
        let [left_part, right_part] =
            [&mut lefts, &mut rights].map(|range| range.by_ref().take(WINDOW).collect::<Vec<_>>());
        let labels = |marks: &[Mark], part: &[usize]| -> Vec<u32> {
            part.iter().filter_map(|at| Some(marks.get(*at)?.label)).collect()
        };
        let (left_labels, right_labels) = (labels(left, &left_part), labels(right, &right_part));
        for op in capture_diff_slices(Algorithm::Myers, &left_labels, &right_labels) {
            let old = left_part.get(op.old_range()).unwrap_or_default();
            let new = right_part.get(op.new_range()).unwrap_or_default();
            if let DiffOp::Equal { .. } = op {
                aligned.extend(old.iter().zip(new).map(|(l, r)| Aligned::Pair(*l, *r)));
            } else {
                aligned.extend(old.iter().map(|at| Aligned::Left(*at)));
                aligned.extend(new.iter().map(|at| Aligned::Right(*at)));
            }
        }
    }
}

/// Joins what is missing at one place and there at another. A moved frame stands where it is on
/// the left.
fn moved(left: &[Mark], right: &[Mark], mut aligned: Vec<Aligned>) -> Vec<Aligned> {
    let mut spare: HashMap<u64, Vec<usize>> = HashMap::new();
    for found in aligned.iter().rev() {
        if let Aligned::Right(at) = found
            && let Some(mark) = right.get(*at)
        {
            spare.entry(mark.shape).or_default().push(*at);
        }
    }
    let mut taken = HashSet::new();
    for found in &mut aligned {
        if let Aligned::Left(at) = *found
            && let Some(mark) = left.get(at)
            && let Some(other) = spare.get_mut(&mark.shape).and_then(Vec::pop)
        {
            *found = Aligned::Moved(at, other);
            taken.insert(other);
        }
    }
    aligned.retain(|found| !matches!(found, Aligned::Right(at) if taken.contains(at)));
    aligned
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Aligns frames that are written as a letter for the label and a digit for what they say.
    fn check(left: &str, right: &str, expected: &str) {
        let marks = |text: &str| -> Vec<Mark> {
            text.split_whitespace()
                .map(|word| {
                    Mark::for_test(u32::from(word.as_bytes()[0]), u64::from(word.as_bytes()[1]))
                })
                .collect()
        };
        let (left_marks, right_marks) = (marks(left), marks(right));
        let names =
            |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        let (left, right) = (names(left), names(right));
        let found: Vec<String> = align(&left_marks, &right_marks)
            .into_iter()
            .map(|found| match found {
                Aligned::Pair(l, r) if left[l] == right[r] => left[l].clone(),
                Aligned::Pair(l, r) => format!("{}/{}", left[l], right[r]),
                Aligned::Moved(l, _) => format!("~{}", left[l]),
                Aligned::Left(l) => format!("-{}", left[l]),
                Aligned::Right(r) => format!("+{}", right[r]),
            })
            .collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn frames_are_aligned_by_what_they_say_and_then_by_kind() {
        check("a1 b2 c3", "a1 b2 c3", "a1 b2 c3");
        check("a1 a2 a3", "a1 a3", "a1 -a2 a3");
        check("a1 a3", "a1 a2 a3", "a1 +a2 a3");
        check("a1 a2 a3", "a1 a4 a3", "a1 a2/a4 a3");
        check("a1 b2 c3", "a1 d4 c3", "a1 -b2 +d4 c3");
        check("", "a1", "+a1");
        check("a1", "", "-a1");
    }

    #[test]
    fn a_frame_at_another_place_has_moved() {
        check("a1 b2 c3 d4", "b2 c3 a1 d4", "~a1 b2 c3 d4");
        check("a1 a2 a3", "a2 a1 a3", "a1 ~a2 a3");
    }

    #[test]
    fn a_long_stretch_with_nothing_in_common_is_aligned_in_parts() {
        let marks = |shape: u64, count: usize| vec![Mark::for_test(1, shape); count];
        let found = align(&marks(1, 3 * WINDOW), &marks(2, 3 * WINDOW));
        assert_eq!(found.len(), 3 * WINDOW);
        assert!(found.iter().all(|found| matches!(found, Aligned::Pair(l, r) if l == r)));
    }
}
