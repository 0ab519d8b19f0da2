//! What is shown of a panel that is too high for the window.

use crate::run::view::line::{Line, Rank};

/// As many rows as there is room for: where the person is, what it is about, and what is next to
/// that. Where nobody is anywhere in it, the last rows count.
pub(super) fn fit(rows: Vec<Line>, room: usize) -> Vec<Line> {
    let count = rows.len();
    if count <= room {
        return rows;
    }
    let here = here(&rows, room);
    let mut is_shown: Vec<_> = (0..count).map(|at| here.contains(&at)).collect();
    let mut left = room - here.len();
    let mut show = |at: usize, left: &mut usize| match is_shown.get_mut(at) {
        Some(shown) if !*shown && *left > 0 => {
            *shown = true;
            *left -= 1;
        }
        _ => {}
    };
    // At most half of it, or a long question would leave no room for answers. The last come first:
    // they say which keys there are.
    let mut for_kept = left.min(room.div_ceil(2));
    left -= for_kept;
    for (at, _) in rows.iter().enumerate().rev().filter(|(_, row)| row.rank() == Rank::Kept) {
        show(at, &mut for_kept);
    }
    left += for_kept;
    for at in (here.end..count).chain((0..here.start).rev()) {
        show(at, &mut left);
    }
    rows.into_iter().zip(is_shown).filter_map(|(row, shown)| shown.then_some(row)).collect()
}

/// The rows where the person is, as far as there is room for them: where the cursor is, or what would
/// be chosen. Where there are none, it is the end.
fn here(rows: &[Line], room: usize) -> std::ops::Range<usize> {
    let cursor = rows.iter().position(|row| row.cursor_column().is_some());
    if let Some(at) = cursor {
        return at..at + room.min(1);
    }
    let Some(from) = rows.iter().position(|row| row.rank() == Rank::Here) else {
        return rows.len()..rows.len();
    };
    let more = rows.iter().skip(from).take_while(|row| row.rank() == Rank::Here).count();
    from..from + more.min(room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::view::line::Tone;

    /// What is left of a panel with a title, a question, choices and a line about keys.
    fn fitted(at: usize, room: usize) -> String {
        let line = |text: &str| Line::of(Tone::Plain, text);
        let mut rows = vec![line("title"), line("question").kept()];
        rows.extend((1..=5).map(|number| {
            let choice = line(&number.to_string());
            if number == at { choice.here() } else { choice }
        }));
        rows.push(line("keys").kept());
        let fitted: Vec<_> = fit(rows, room).iter().map(Line::text).collect();
        fitted.join(" ")
    }

    #[test]
    fn what_would_be_chosen_is_always_there_with_the_question() {
        assert_eq!(fitted(1, 8), "title question 1 2 3 4 5 keys");
        assert_eq!(fitted(1, 7), "question 1 2 3 4 5 keys");
        assert_eq!(fitted(1, 5), "question 1 2 3 keys");
        assert_eq!(fitted(3, 5), "question 3 4 5 keys");
        assert_eq!(fitted(5, 5), "question 3 4 5 keys");
        assert_eq!(fitted(2, 3), "question 2 keys");
        assert_eq!(fitted(2, 2), "2 keys");
        assert_eq!(fitted(2, 1), "2");
    }

    #[test]
    fn a_long_question_leaves_room_for_answers() {
        let line = |text: &str| Line::of(Tone::Plain, text);
        let mut rows = vec![line("question").kept(); 9];
        rows.extend([line("1"), line("2").here(), line("3"), line("keys").kept()]);
        let fitted: Vec<_> = fit(rows, 6).iter().map(Line::text).collect();
        assert_eq!(fitted, ["question", "question", "1", "2", "3", "keys"]);
    }

    #[test]
    fn the_cursor_is_always_there() {
        let line = |text: &str| Line::of(Tone::Plain, text);
        let rows = vec![line("a").here(), line("b"), line("c").cursor(), line("d"), line("e")];
        let fitted: Vec<_> = fit(rows, 2).iter().map(Line::text).collect();
        assert_eq!(fitted, ["c", "d"]);
    }
}
