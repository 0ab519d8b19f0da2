//! A report as Markdown.

use std::fmt::Write as _;

use super::block::{Block, Cell, Table, Tone};

/// Writes the blocks of a report. Everything in them that comes from a program is inert.
pub(super) fn write(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        // Writing to a text does not fail.
        let _ = match block {
            Block::Heading { level, text: words, anchor } => {
                let marks = "#".repeat(usize::from(*level));
                writeln!(text, "<a id=\"{anchor}\"></a>\n\n{marks} {}\n", inert(words))
            }
            // Our own words, with nothing in them but what was checked when it was read.
            Block::Text(words) => writeln!(text, "{words}\n"),
            Block::Question(words) => writeln!(text, "*{}*\n", inert(words)),
            Block::Table(table) => writeln!(text, "{}", rows(table)),
            Block::Tapes { title, tapes } => {
                let links: Vec<_> = tapes.iter().map(|tape| format!("[{tape}]({tape})")).collect();
                writeln!(text, "Tapes of {title}: {}\n", links.join(", "))
            }
            Block::Verbatim(words) => {
                // Indented by four, nothing in it means anything.
                words
                    .lines()
                    .try_for_each(|line| writeln!(text, "    {}", visible(line)))
                    .and_then(|()| writeln!(text))
            }
        };
    }
    text
}

fn rows(table: &Table) -> String {
    let mut text = format!("| {} |\n", table.head.join(" | "));
    // Writing to a text does not fail.
    let _ = writeln!(text, "|{}", "---|".repeat(table.head.len()));
    for row in &table.rows {
        let cells: Vec<_> = row.iter().map(cell).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn cell(cell: &Cell) -> String {
    let text = inert(&cell.text);
    let text = match cell.tone {
        Tone::Bad => format!("**{text}**"),
        Tone::Plain | Tone::Good | Tone::Faint => text,
    };
    match &cell.to {
        Some(anchor) => format!("[{text}](#{anchor})"),
        None => text,
    }
}

/// A line with what cannot be seen made visible: some of it would begin a new line.
fn visible(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => shown.push(c),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                shown.extend(c.escape_unicode());
            }
            c => shown.push(c),
        }
    }
    shown
}

/// A text in which nothing is taken for Markdown or HTML, on one line.
pub(crate) fn inert(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' => {
                shown.push('\\');
                shown.push(c);
            }
            c if c.is_control() => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}
