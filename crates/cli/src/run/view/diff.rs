//! What a change does to a file, with line numbers and the words that differ.

use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

use super::line::{Line, Tone};

/// How many lines stand around a change.
const CONTEXT: usize = 3;

/// How long the shortest description is looked for. After that any will do.
const PATIENCE: Duration = Duration::from_millis(300);

/// The change of a text, as lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) lines: Vec<Line>,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// What becomes of a text. Without numbers where it is a part of a file that nobody knows.
pub(crate) fn change(before: &str, after: &str, numbered: bool) -> Change {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .timeout(PATIENCE)
        .diff_lines(before, after);
    let width = before.lines().count().max(after.lines().count()).max(1).ilog10() as usize + 1;
    let (mut lines, mut added, mut removed) = (Vec::new(), 0, 0);
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if number > 0 {
            lines.push(Line::of(Tone::Dim, &format!("{:>width$} ⋮", "")));
        }
        for part in group.iter().flat_map(|op| diff.iter_inline_changes(op)) {
            let (sign, tone, words, at) = match part.tag() {
                ChangeTag::Equal => (' ', Tone::Plain, Tone::Plain, part.new_index()),
                ChangeTag::Delete => ('-', Tone::Removed, Tone::RemovedWords, part.old_index()),
                ChangeTag::Insert => ('+', Tone::Added, Tone::AddedWords, part.new_index()),
            };
            added += usize::from(part.tag() == ChangeTag::Insert);
            removed += usize::from(part.tag() == ChangeTag::Delete);
            let number = match at {
                Some(at) if numbered => (at + 1).to_string(),
                _ => String::new(),
            };
            let mut line = Line::of(Tone::Dim, &format!("{number:>width$} "))
                .and(tone, &format!("{sign} "))
                .hanging(width + 3);
            for (is_the_difference, text) in part.iter_strings_lossy() {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                line = line.and(if is_the_difference { words } else { tone }, text);
            }
            if part.missing_newline() {
                line = line.and(Tone::Dim, " (no line break at the end)");
            }
            lines.push(line);
        }
    }
    Change { lines, added, removed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let change = change(before, after, true);
        let mut lines: Vec<_> = change.lines.iter().map(Line::text).collect();
        lines.push(format!("+{} -{}", change.added, change.removed));
        lines.join("\n")
    }

    #[test]
    fn lines_have_the_number_that_they_have_where_they_are() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
        let after = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk";
        insta::assert_snapshot!(shown(before, after), @r"
         1   a
         2 - b
         2 + B
         3   c
         4   d
         5   e
           ⋮
         8   h
         9   i
        10   j
        11 + k (no line break at the end)
        +2 -1
        ");
    }

    #[test]
    fn the_words_that_differ_are_marked() {
        let change = change("let answer = 41;\n", "let answer = 42;\n", true);
        let coloured = change.lines[1].rendered(true);
        assert!(coloured.contains("let answer = \u{1b}[0m"), "{coloured:?}");
        assert!(coloured.contains("42;"), "{coloured:?}");
    }

    #[test]
    fn a_new_file_is_all_new() {
        insta::assert_snapshot!(shown("", "x\n\u{1b}[31my\r\n"), @r"
        1 + x
        2 + \u{1b}[31my\u{d}
        +2 -0
        ");
    }
}
