//! Pipes that are none: those in quotes, in comments and in texts to read.
//!
//! The parser takes the square of the number of pipes on some lines, so a line may only have so many. A
//! table in a text has many, and none of them joins commands. They are kept from the parser.

use std::collections::VecDeque;

use tree_sitter::Tree;

/// How many pipes a line may have. The parser does not look at the clock in the middle of them.
const PIPES: usize = 500;

/// A text that begins in the next line.
struct Text<'a> {
    end: &'a str,
    strips: bool,
    is_quoted: bool,
}

/// Where the pipes are that join no commands, if there are too many pipes in a line. None where there
/// are too many of the others.
pub(super) fn quiet(line: &str) -> Option<Vec<usize>> {
    let all = line.matches('|').count();
    if all <= PIPES {
        return Some(Vec::new());
    }
    let quiet = found(line);
    (all - quiet.len() <= PIPES).then_some(quiet)
}

fn found(line: &str) -> Vec<usize> {
    let mut quiet = Vec::new();
    let mut texts: VecDeque<Text<'_>> = VecDeque::new();
    let mut at = 0;
    let mut before = '\n';
    while let Some(rest) = line.get(at..)
        && let Some(letter) = rest.chars().next()
    {
        let mut length = letter.len_utf8();
        match letter {
            '\\' => length += rest.chars().nth(1).map_or(0, char::len_utf8),
            '\'' => {
                let end = rest.get(1..).and_then(|inner| inner.find('\''));
                length = add(rest, end.map(|end| end + 2), at, &mut quiet);
            }
            '"' => {
                let end = closing(rest);
                let has_more = end.and_then(|end| rest.get(..end)).is_none_or(puts_in);
                if has_more {
                    length = end.unwrap_or(rest.len());
                } else {
                    length = add(rest, end, at, &mut quiet);
                }
            }
            '#' if before.is_ascii_whitespace() => {
                length = add(rest, rest.find('\n'), at, &mut quiet);
            }
            '<' if rest.starts_with("<<<") => length = 3,
            '<' => {
                if let Some(text) = text(rest) {
                    texts.push_back(text);
                    length = 2;
                }
            }
            '\n' => {
                while let Some(text) = texts.pop_front() {
                    let from = at + length;
                    let behind = line.get(from..).unwrap_or_default();
                    let body = body(behind, &text);
                    if text.is_quoted || !puts_in(body) {
                        add(body, Some(body.len()), from, &mut quiet);
                    }
                    length += body.len();
                }
            }
            _ => {}
        }
        before = letter;
        at += length.max(1);
    }
    quiet
}

/// Adds the pipes in the first part of a text, and says how long that is.
fn add(text: &str, length: Option<usize>, from: usize, quiet: &mut Vec<usize>) -> usize {
    let length = length.unwrap_or(text.len());
    let part = text.get(..length).unwrap_or_default();
    quiet.extend(part.match_indices('|').map(|(at, _)| from + at));
    length
}

/// Whether commands can be put into a text.
fn puts_in(text: &str) -> bool {
    text.contains(['$', '`'])
}

/// Where a text in double quotes ends that begins here.
fn closing(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if std::mem::take(&mut is_escaped) => {}
            '\\' => is_escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The text that is announced here: `<<'EOF'`.
fn text(rest: &str) -> Option<Text<'_>> {
    let rest = rest.strip_prefix("<<")?;
    let (strips, rest) = rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest));
    let rest = rest.trim_start_matches([' ', '\t']);
    for quote in ['\'', '"'] {
        if let Some(quoted) = rest.strip_prefix(quote) {
            return Some(Text { end: quoted.split(quote).next()?, strips, is_quoted: true });
        }
    }
    let end = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!end.is_empty()).then_some(Text { end, strips, is_quoted: false })
}

/// What stands before the end of a text.
fn body<'a>(behind: &'a str, text: &Text<'_>) -> &'a str {
    let mut length = 0;
    for line in behind.split_inclusive('\n') {
        let plain = line.trim_end_matches('\n');
        let plain = if text.strips { plain.trim_start_matches('\t') } else { plain };
        if plain == text.end {
            break;
        }
        length += line.len();
    }
    behind.get(..length).unwrap_or_default()
}

/// Whether the parser, too, has found these pipes where none joins commands.
pub(super) fn are_quiet(pipes: &[usize], tree: &Tree) -> bool {
    if pipes.is_empty() {
        return true;
    }
    let mut literal = Vec::new();
    let mut cursor = tree.walk();
    'all: loop {
        let node = cursor.node();
        let is_literal = match node.kind() {
            "raw_string" | "ansi_c_string" | "comment" => true,
            "string" | "heredoc_body" => {
                let mut inner = node.walk();
                node.named_children(&mut inner).all(|child| child.kind().ends_with("_content"))
            }
            _ => false,
        };
        if is_literal {
            literal.push(node.byte_range());
        }
        if !is_literal && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'all;
            }
        }
    }
    pipes.iter().all(|at| {
        let behind = literal.partition_point(|range| range.end <= *at);
        literal.get(behind).is_some_and(|range| range.contains(at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_in_texts_are_no_pipes() {
        let count = |line: &str| found(line).len();
        assert_eq!(count("a | b |& c || d"), 0);
        assert_eq!(count("a '|' \"|\" \\| x#| # |\n| \\' |"), 3);
        assert_eq!(count("a \"$(b | c)\" | d"), 0);
        assert_eq!(count("a <<'E' | b\n|$(c | d)\nE\n| e"), 2);
        assert_eq!(count("a <<-E | b\n||\n\tE\n| e"), 2);
        assert_eq!(count("a <<E | b\n|$(c | d)\nE\n| e"), 0);
        assert_eq!(count("a <<< '|' | b"), 1);
        assert_eq!(count("a <<A <<'B'\n|\nA\n|\nB\n|"), 2);
    }
}
