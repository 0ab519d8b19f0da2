//! A text with placeholders, and the same text with what they stand for.

use std::collections::HashMap;

use super::text::Segment;

/// How many places are tried for a part of a text: enough for any text that was not made to take
/// long.
const MAX_TRIES: usize = 100_000;

/// What stands in a filled text where the other has something that varies.
pub(super) type Found<'t> = Vec<(Segment<'t>, &'t str)>;

/// Matches a text that has placeholders, cut into segments, with another text in which something
/// may stand in their places. `tokens` are the segments of that other text.
///
/// What a placeholder stands for is as short as can be, and never empty.
pub(super) fn fill<'t>(
    redacted: &[Segment<'t>],
    text: &'t str,
    tokens: &[Segment<'t>],
) -> Option<Found<'t>> {
    let tokens = Tokens::new(tokens);
    let mut runs = redacted.split(|segment| matches!(segment, Segment::Placeholder(_)));
    let placeholders = redacted.iter().filter(|segment| matches!(segment, Segment::Placeholder(_)));
    let mut found = Vec::new();
    let mut at = tokens.run(runs.next()?, text, 0, &mut found)?;
    let mut runs = runs.peekable();
    for placeholder in placeholders {
        let run = runs.next()?;
        let last = runs.peek().is_none();
        // The first place at which the run can stand; for the last one, that at the end.
        let (begin, end, more) =
            candidates(run, text, at, last).take(MAX_TRIES).find_map(|begin| {
                let mut more = Vec::new();
                let end = tokens.run(run, text, begin, &mut more)?;
                (!last || end == text.len()).then_some((begin, end, more))
            })?;
        found.push((*placeholder, text.get(at..begin)?));
        found.extend(more);
        at = end;
    }
    (at == text.len()).then_some(found)
}

/// Where a run may stand in a text, after something that is not empty and begins at `start`.
fn candidates<'a>(
    run: &'a [Segment<'_>],
    text: &'a str,
    start: usize,
    last: bool,
) -> Box<dyn Iterator<Item = usize> + 'a> {
    let after = text.ceil_char_boundary(start + 1);
    match run {
        [] if last => Box::new([text.len()].into_iter().filter(move |at| *at > start)),
        [Segment::Literal(literal)] if last => {
            let at = text.len().checked_sub(literal.len()).filter(|at| *at >= after);
            Box::new(at.into_iter())
        }
        [Segment::Literal(literal), ..] => {
            let mut from = after;
            Box::new(std::iter::from_fn(move || {
                let at = from + text.get(from..)?.find(literal)?;
                from = text.ceil_char_boundary(at + 1);
                Some(at)
            }))
        }
        _ => Box::new((after..=text.len()).filter(|at| text.is_char_boundary(*at))),
    }
}

/// The segments of a text by where they begin.
struct Tokens<'s, 't>(HashMap<usize, &'s Segment<'t>>);

impl<'s, 't> Tokens<'s, 't> {
    fn new(segments: &'s [Segment<'t>]) -> Self {
        let mut at = 0;
        let place = |segment: &'s Segment<'t>| {
            let start = at;
            at += segment.text().len();
            (start, segment)
        };
        Self(segments.iter().map(place).collect())
    }

    /// Matches segments without placeholders at a place. Gives where they end.
    fn run(
        &self,
        run: &[Segment<'t>],
        text: &'t str,
        mut at: usize,
        found: &mut Found<'t>,
    ) -> Option<usize> {
        for segment in run {
            let here = match (segment, self.0.get(&at)) {
                (Segment::Literal(literal), _) => {
                    text.get(at..)?.starts_with(literal).then_some(*literal)?
                }
                (Segment::Id(..), Some(Segment::Id(_, here)))
                | (Segment::Time(_), Some(Segment::Time(here))) => here,
                (
                    Segment::Path { path: left, dashed: left_dashed, .. },
                    Some(Segment::Path { path: right, dashed: right_dashed, text }),
                ) if (left, left_dashed) == (right, right_dashed) => text,
                _ => return None,
            };
            if matches!(segment, Segment::Id(..)) {
                found.push((*segment, here));
            }
            at += here.len();
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::{Paths, segments};
    use super::*;

    fn check(redacted: &str, text: &str, expected: Option<&[&str]>) {
        let cut = |text| segments(text, false, &Paths::default(), &|_| false);
        let found = fill(&cut(redacted), text, &cut(text));
        let found = found.map(|found| found.iter().map(|(_, text)| *text).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{redacted} {text}");
    }

    #[test]
    fn a_text_that_fits_nearly_everywhere_does_not_take_for_ever() {
        let long = "a".repeat(200_000);
        check(&format!("redacted-b-1 {long}"), &format!("{long}{long}"), None);
        check(&format!("redacted-b-1 {long} redacted-b-2"), &format!("{long} {long}"), None);
    }

    #[test]
    fn placeholders_are_filled_with_as_little_as_can_be() {
        check("redacted-a-1", "x", Some(&["x"]));
        check("redacted-a-1", "", None);
        check("a redacted-a-1 b", "a x y b", Some(&["x y"]));
        check("a redacted-a-1 b", "a x b b", Some(&["x b"]));
        check("a redacted-a-1, redacted-a-2.", "a x, y.", Some(&["x", "y"]));
        check("a redacted-a-1 b", "a x c", None);
        check("a redacted-a-1 b", "b x b", None);
        check("redacted-a-1 ü", "ö ü", Some(&["ö"]));
        let id = "55555555-5555-4555-8555-555555555555";
        check(&format!("redacted-a-1 {id}!"), &format!("key {id}!"), Some(&["key", id]));
        check("redacted-a-1 redacted-b-1", "x y z", Some(&["x", "y z"]));
        check("redacted-a-1", "ü", Some(&["ü"]));
        check("at 2026-01-01T00:00:00Z redacted-a-1", "at 2027-01-01T00:00:00Z x", Some(&["x"]));
    }
}
