//! Two texts, with what varies in them.

use super::compare::Walk;
use super::difference::{Difference, Why};
use super::filled::{Found, fill};
use super::identity::{Bound, Identity};
use super::rules::{Place, Space};
use super::text::Segment;

impl Walk<'_> {
    pub(super) fn texts(&mut self, place: &Place<'_>, left: &str, right: &str) {
        let spoken = place.payload;
        let lefts = self.comparer.left.segments(left, spoken);
        let rights = self.comparer.right.segments(right, spoken);
        // The same path is not the same thing when it is the working directory on one side only.
        let path = |segment: &Segment<'_>| matches!(segment, Segment::Path { .. });
        let verdict = if left == right && !lefts.iter().chain(&rights).any(path) {
            self.same_text(&lefts)
        } else {
            let placeholder = |segment: &Segment<'_>| matches!(segment, Segment::Placeholder(_));
            match self.segments(&lefts, &rights) {
                Verdict::Other(at) if lefts.iter().any(placeholder) => {
                    self.filled(Side::Left, fill(&lefts, right, &rights), at)
                }
                Verdict::Other(at) if rights.iter().any(placeholder) => {
                    self.filled(Side::Right, fill(&rights, left, &lefts), at)
                }
                verdict => verdict,
            }
        };
        let difference = match verdict {
            Verdict::Same => return,
            Verdict::Other(at) => Difference::text(&place.steps, Why::Changed, (left, right), at),
            Verdict::OtherId(at) => Difference::text(&place.steps, Why::OtherId, (left, right), at),
        };
        self.differences.push(difference);
    }

    /// One text on both sides: its ids stand for themselves.
    fn same_text(&mut self, segments: &[Segment<'_>]) -> Verdict {
        let mut at = 0;
        for segment in segments {
            if let Segment::Id(_, id) = segment {
                let pair = (self.comparer.left.identity(id), self.comparer.right.identity(id));
                if !self.bind(pair, Space::Shared, id, id) {
                    return Verdict::OtherId((at, at));
                }
            }
            at += segment.text().len();
        }
        Verdict::Same
    }

    fn segments(&mut self, left: &[Segment<'_>], right: &[Segment<'_>]) -> Verdict {
        let mut at = (0, 0);
        for (left, right) in left.iter().zip(right) {
            if !alike(left, right) {
                return Verdict::Other(at);
            }
            at = (at.0 + left.text().len(), at.1 + right.text().len());
        }
        if left.len() != right.len() {
            return Verdict::Other(at);
        }
        at = (0, 0);
        for (left, right) in left.iter().zip(right) {
            let (left_text, right_text) = (left.text(), right.text());
            if let Segment::Id(..) | Segment::Placeholder(_) = left {
                let view = &self.comparer;
                let ids = (view.left.identity(left_text), view.right.identity(right_text));
                if !self.bind(ids, Space::Shared, left_text, right_text) {
                    return Verdict::OtherId(at);
                }
            }
            at = (at.0 + left_text.len(), at.1 + right_text.len());
        }
        Verdict::Same
    }

    /// Whether a text is what one gets when the placeholders in another one are filled in. If not,
    /// they differ where they were found to differ before.
    fn filled(&mut self, redacted: Side, found: Option<Found<'_>>, at: (usize, usize)) -> Verdict {
        for (segment, value) in match found {
            Some(found) => found,
            None => return Verdict::Other(at),
        } {
            let (left, right) = redacted.ordered(segment.text(), value);
            let same = if let Segment::Placeholder(placeholder) = segment {
                self.fill(placeholder, value, redacted)
            } else {
                let view = &self.comparer;
                let ids = (view.left.identity(left), view.right.identity(right));
                self.bind(ids, Space::Shared, left, right)
            };
            if !same {
                return Verdict::OtherId(at);
            }
        }
        Verdict::Same
    }

    /// Takes note of what a placeholder stands for.
    fn fill(&mut self, placeholder: &str, value: &str, redacted: Side) -> bool {
        // A placeholder on the right has a space of its own, so that it does not get in the way of
        // the same one on the left.
        let space = Space::Named(match redacted {
            Side::Left => "left placeholder",
            Side::Right => "right placeholder",
        });
        let ids = (Identity::new(space, placeholder), Identity::new(Space::Shared, value));
        let (left, right) = redacted.ordered(placeholder, value);
        let bound =
            || Bound { space: Space::Shared, left: left.to_owned(), right: right.to_owned() };
        self.comparer.bindings.stand_for(ids.0, ids.1, bound)
    }
}

/// What two texts are to each other, and where they begin to differ.
enum Verdict {
    Same,
    Other((usize, usize)),
    OtherId((usize, usize)),
}

/// Whether two segments say the same, but for which ids are which.
fn alike(left: &Segment<'_>, right: &Segment<'_>) -> bool {
    match (left, right) {
        (Segment::Literal(left), Segment::Literal(right)) => left == right,
        (
            Segment::Path { path: left, dashed: left_dashed, .. },
            Segment::Path { path: right, dashed: right_dashed, .. },
        ) => (left, left_dashed) == (right, right_dashed),
        (Segment::Id(..), Segment::Id(..))
        | (Segment::Time(_), Segment::Time(_))
        | (Segment::Placeholder(_), Segment::Placeholder(_)) => true,
        _ => false,
    }
}

/// The side that is redacted when the other is not.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

impl Side {
    /// What is on this side and what is on the other, as left and right.
    const fn ordered<'t>(self, this: &'t str, other: &'t str) -> (&'t str, &'t str) {
        match self {
            Self::Left => (this, other),
            Self::Right => (other, this),
        }
    }
}
