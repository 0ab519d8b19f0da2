//! The difference between two texts, as the client is shown it.

use crate::sim::json::{Object, obj};

/// Lines around a change.
const CONTEXT: usize = 3;

/// The hunks of a patch. One hunk from the first line that differs to the last one is enough for a
/// file that a script writes.
pub(super) fn structured_patch(before: &str, after: &str) -> Vec<Object> {
    if before == after {
        return Vec::new();
    }
    let (old, new) = (lines(before), lines(after));
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let left = old.len().min(new.len()) - same;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(left)
        .take_while(|(old, new)| old == new)
        .count();
    let start = same.saturating_sub(CONTEXT);
    let after_context = tail.min(CONTEXT);
    let part = |lines: &[&str], from: usize, to: usize, sign: char| -> Vec<String> {
        let lines = lines.get(from..to).unwrap_or_default();
        lines.iter().map(|line| format!("{sign}{line}")).collect()
    };
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut shown = part(&old, start, same, ' ');
    shown.extend(part(&old, same, old_end, '-'));
    shown.extend(part(&new, same, new_end, '+'));
    shown.extend(part(&old, old_end, old_end + after_context, ' '));
    vec![obj! {
        "oldStart": start + 1,
        "oldLines": old_end + after_context - start,
        "newStart": start + 1,
        "newLines": new_end + after_context - start,
        "lines": shown,
    }]
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_changed_line_is_one_hunk() {
        let patch = structured_patch("a\nb\nc\n", "a\nx\nc\n");
        let shown = patch.first().unwrap().to_string();
        assert_eq!(
            shown,
            r#"{"oldStart":1,"oldLines":3,"newStart":1,"newLines":3,"lines":[" a","-b","+x"," c"]}"#
        );
    }
}
