//! Markdown in the terminal, line by line: as it is written, with a little colour.

use super::line::{Line, Tone};

/// Colours lines of a text, of which it knows those before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Markdown {
    in_code: bool,
}

impl Markdown {
    /// A whole text.
    pub(crate) fn text(text: &str) -> Vec<Line> {
        let mut markdown = Self::default();
        text.lines().map(|line| markdown.line(line)).collect()
    }

    /// The next line.
    pub(crate) fn line(&mut self, text: &str) -> Line {
        let line = self.peek(text);
        if is_fence(text) {
            self.in_code = !self.in_code;
        }
        line
    }

    /// The next line, of which there may be more to come.
    pub(crate) fn peek(&self, text: &str) -> Line {
        let trimmed = text.trim_start();
        let indent = text.chars().count() - trimmed.chars().count();
        if is_fence(text) {
            return Line::of(Tone::Dim, text);
        }
        if self.in_code {
            return Line::of(Tone::Code, text).hanging(indent);
        }
        if trimmed.starts_with('#') && trimmed.trim_start_matches('#').starts_with(' ') {
            return Line::of(Tone::Bold, text);
        }
        if trimmed.starts_with('>') {
            return Line::of(Tone::Dim, text).hanging(indent + 2);
        }
        inline(text).hanging(indent + marker(trimmed))
    }
}

fn is_fence(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("```") || text.starts_with("~~~")
}

/// How wide the sign of a list is that a line begins with.
fn marker(text: &str) -> usize {
    let number = text.chars().take_while(char::is_ascii_digit).count();
    let mut after = text.chars().skip(number);
    match (number, after.next(), after.next()) {
        (0, Some('-' | '*' | '+'), Some(' ')) => 2,
        (1..=3, Some('.' | ')'), Some(' ')) => number + 2,
        _ => 0,
    }
}

/// Code and strong words. The signs around strong words are left out.
fn inline(text: &str) -> Line {
    let mut line = Line::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*']) {
        let (before, from) = rest.split_at(at);
        let (sign, tone) = if from.starts_with("**") {
            ("**", Tone::Bold)
        } else if from.starts_with('`') {
            ("`", Tone::Code)
        } else {
            let (star, after) = from.split_at(1);
            line = line.and(Tone::Plain, before).and(Tone::Plain, star);
            rest = after;
            continue;
        };
        line = line.and(Tone::Plain, before);
        let inside = from.strip_prefix(sign).unwrap_or_default();
        match inside.split_once(sign) {
            Some((words, after)) if !words.is_empty() => {
                line = line.and(tone, words);
                rest = after;
            }
            _ => {
                line = line.and(Tone::Plain, sign);
                rest = inside;
            }
        }
    }
    line.and(Tone::Plain, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_without_a_partner_stay() {
        let text = |text: &str| Markdown::default().line(text).text();
        assert_eq!(text("a `b` and **c** d"), "a b and c d");
        assert_eq!(text("2 * 3 ** 4 ` 5"), "2 * 3 ** 4 ` 5");
        assert_eq!(text("****"), "****");
    }

    #[test]
    fn code_is_left_as_it_is() {
        let lines = Markdown::text("```sh\n**x** `y`\n```\n**x**");
        let text: Vec<_> = lines.iter().map(Line::text).collect();
        assert_eq!(text, ["```sh", "**x** `y`", "```", "x"]);
    }

    #[test]
    fn lists_hang() {
        let rows = Markdown::default().line("- one two three").wrapped(10);
        assert_eq!(rows[1].text(), "  three");
    }
}
