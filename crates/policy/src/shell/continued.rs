//! Words that go on in the next line.
//!
//! A shell takes a backslash at the end of a line away before it looks for words: of `r\⏎m x` it makes
//! `rm x`. The parser makes two words of it, so it is given the line as a shell sees it.

use tree_sitter::Tree;

use super::tree::Effort;

/// How often the line is read for this. Only a `#` behind a backslash needs it more than once.
const TRIES: usize = 4;

/// What is left of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Continued {
    /// The line, with its words in one piece.
    pub(super) line: String,
    /// Whether a word was in pieces, and not just an operator at the end of a line.
    pub(super) has_words: bool,
    /// Whether all of them are in one piece now.
    pub(super) is_whole: bool,
}

/// The line with its words in one piece. None where they are already.
pub(super) fn continued(line: &str, effort: &Effort) -> Option<Continued> {
    let mut breaks = breaks(line);
    if breaks.is_empty() {
        return None;
    }
    let mut whole = Continued { line: line.to_owned(), has_words: false, is_whole: false };
    for _ in 0..TRIES {
        let tree = effort.tree(&whole.line)?;
        let literal = literal(&whole.line, &tree);
        breaks.retain(|at| {
            let behind = literal.partition_point(|range| range.end <= *at);
            literal.get(behind).is_none_or(|range| *at < range.start)
        });
        if breaks.is_empty() {
            whole.is_whole = true;
            break;
        }
        let mut joined = String::with_capacity(whole.line.len());
        let mut from = 0;
        for at in &breaks {
            let before = whole.line.get(from..*at).unwrap_or_default();
            joined.push_str(before);
            whole.has_words |= !joined.ends_with([';', '|', '&', '(']);
            from = at + "\\\n".len();
        }
        joined.push_str(whole.line.get(from..).unwrap_or_default());
        whole.line = joined;
        breaks = self::breaks(&whole.line);
    }
    (whole.line != line || !whole.is_whole).then_some(whole)
}

/// Where in a line a backslash at its end stands between two characters that are no blanks. Those
/// with blanks around them are between words, where the parser knows them.
fn breaks(line: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    let mut is_escaped = false;
    let mut before = None;
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && !is_escaped && letters.peek().is_some_and(|(_, next)| *next == '\n') {
            letters.next();
            open.push(at);
            continue;
        }
        is_escaped = letter == '\\' && !is_escaped;
        if before.is_some_and(is_letter) && is_letter(letter) {
            found.append(&mut open);
        }
        open.clear();
        before = Some(letter);
    }
    found
}

fn is_letter(character: char) -> bool {
    !matches!(character, ' ' | '\t' | '\n')
}

/// The parts of a line in which a backslash is a backslash, in their order: quotes, comments, texts
/// that nothing is put into.
fn literal(line: &str, tree: &Tree) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    // Of each depth, whether the text that begins there has its name in quotes.
    let mut quoted: Vec<bool> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let depth = usize::try_from(cursor.depth()).unwrap_or_default();
        if quoted.len() <= depth {
            quoted.resize(depth + 1, false);
        }
        let is_literal = match node.kind() {
            "raw_string" | "ansi_c_string" | "comment" => true,
            "heredoc_start" => {
                let name = line.get(node.byte_range()).unwrap_or_default();
                if let Some(is_quoted) = quoted.get_mut(depth) {
                    *is_quoted = name.contains(['\'', '"', '\\']);
                }
                false
            }
            "heredoc_body" => quoted.get(depth).copied().unwrap_or_default(),
            _ => false,
        };
        if is_literal {
            ranges.push(node.byte_range());
        }
        if !is_literal && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return ranges;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn line(line: &str) -> String {
        let whole = continued(line, &Effort::new(1000));
        whole.map_or_else(|| "as it is".to_owned(), |whole| whole.line)
    }

    #[test]
    fn words_are_in_one_piece() {
        assert_eq!(line("r\\\nm x"), "rm x");
        assert_eq!(line("r\\\n\\\nm \"a\\\nb\" $(s\\\nh)"), "rm \"ab\" $(sh)");
        assert_eq!(line("a |\\\n| b"), "a || b");
        assert_eq!(line("cat <<A\na\\\nb\nA"), "cat <<A\nab\nA");
        assert_eq!(line("e a\\\n#b;r\\\nm x"), "e a#b;rm x");
    }

    #[test]
    fn what_is_no_word_is_as_it_is() {
        for text in [
            "a \\\n b",
            "a\\\n b",
            "a \\\nb",
            "a\\\\\nb",
            "'a\\\nb'",
            "$'a\\\nb'",
            "# a\\\nb",
            "cat <<'A'\na\\\nb\nA",
            "a\\\n",
        ] {
            assert_eq!(line(text), "as it is", "{text}");
        }
    }
}
