//! What changed, line by line and word by word.

use std::ops::Range;
use std::time::{Duration, Instant};

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::code::{self, Language, Piece};
use super::html::Html;
use super::visible;

/// How long is looked for the shortest difference, before a longer one will do.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many lines around a change are shown.
const AROUND: usize = 3;

/// More lines than any text has.
const EVERYTHING: usize = 1 << 30;

/// Above this length of a line, words in it are not compared.
const LONGEST_LINE: usize = 1_000;

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    hunks: Vec<Hunk>,
}

/// Lines that changed, with those around them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hunk {
    /// The number of the first line, before and after; 0 if it is not known.
    old: usize,
    new: usize,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    change: Change,
    text: String,
    /// What of it is other than in the line that it replaces, or that replaces it.
    marks: Vec<Range<usize>>,
    /// Whether that it has no end is what changed.
    is_endless: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Same,
    Removed,
    Added,
}

impl Diff {
    /// What changed from one text to another. Whether these are whole files or parts of them decides
    /// whether the numbers of lines mean anything.
    #[must_use]
    pub fn between(old: &str, new: &str, numbered: bool) -> Self {
        Self::with(old, new, numbered, AROUND)
    }

    /// The same with all lines, also those that stay: for somebody who has to know all of it.
    #[must_use]
    pub fn whole(old: &str, new: &str, numbered: bool) -> Self {
        Self::with(old, new, numbered, EVERYTHING)
    }

    fn with(old: &str, new: &str, numbered: bool, around: usize) -> Self {
        // A line ends where it says so: what else could end one on some systems is a part of it, and is shown.
        let lines = |text| -> Vec<&str> { str::split_inclusive(text, '\n').collect() };
        let (old_lines, new_lines) = (lines(old), lines(new));
        let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old_lines, &new_lines);
        // A file whose lines all end as some systems end them is a file like any other.
        let is_uniform = [old, new]
            .iter()
            .all(|text| text.matches('\n').count() == text.matches("\r\n").count());
        let ends_differ = old.ends_with('\n') != new.ends_with('\n');
        let mut hunks = Vec::new();
        for group in diff.grouped_ops(around) {
            let (Some(first), true) = (group.first(), !group.is_empty()) else { continue };
            let start = |range: Range<usize>| if numbered { range.start + 1 } else { 0 };
            let (old, new) = (start(first.old_range()), start(first.new_range()));
            let lines = group.iter().flat_map(|op| diff.iter_changes(op)).map(|change| {
                let whole = change.value();
                let text = whole.strip_suffix('\n').unwrap_or(whole);
                let text =
                    text.strip_suffix('\r').filter(|_| is_uniform).unwrap_or(text).to_owned();
                let is_endless = ends_differ && !whole.ends_with('\n');
                let change = match change.tag() {
                    ChangeTag::Equal => Change::Same,
                    ChangeTag::Delete => Change::Removed,
                    ChangeTag::Insert => Change::Added,
                };
                Line { change, text, marks: Vec::new(), is_endless }
            });
            hunks.push(Hunk { old, new, lines: lines.collect() });
        }
        Self { hunks }
    }

    /// What the CLI says that changed: its `structuredPatch`. None if it has another shape.
    #[must_use]
    pub fn of_patch(patch: &Value) -> Option<Self> {
        let number = |hunk: &Value, name: &str| {
            hunk.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
        };
        let hunk = |hunk: &Value| {
            let lines = hunk.get("lines")?.as_array()?.iter().map(Value::as_str);
            let lines = lines.map(|line| line.and_then(patch_line)).collect::<Option<Vec<_>>>()?;
            let lines = lines.into_iter().flatten().collect();
            Some(Hunk { old: number(hunk, "oldStart")?, new: number(hunk, "newStart")?, lines })
        };
        let hunks = patch.as_array()?.iter().map(hunk).collect::<Option<Vec<_>>>()?;
        Some(Self { hunks })
    }

    /// How many lines were added and removed.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let count = |wanted| {
            let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
            lines.filter(|line| line.change == wanted).count()
        };
        (count(Change::Added), count(Change::Removed))
    }

    /// Its beginning, with so many lines at most, and how many lines are left out.
    #[must_use]
    pub fn cut(mut self, most: usize) -> (Self, usize) {
        let (mut room, mut left) = (most, 0);
        for hunk in &mut self.hunks {
            let kept = hunk.lines.len().min(room);
            left += hunk.lines.len() - kept;
            hunk.lines.truncate(kept);
            room -= kept;
        }
        self.hunks.retain(|hunk| !hunk.lines.is_empty());
        (self, left)
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }

    /// With the words marked that changed, in lines that were replaced: as many as there is time for.
    fn marked(&self) -> Self {
        let mut this = self.clone();
        let until = Instant::now() + PATIENCE;
        for hunk in &mut this.hunks {
            let mut at = 0;
            while at < hunk.lines.len() {
                let run = |from: usize, change| {
                    let lines = hunk.lines.iter().skip(from);
                    from..from + lines.take_while(|line| line.change == change).count()
                };
                let removed = run(at, Change::Removed);
                let added = run(removed.end, Change::Added);
                for (old, new) in removed.clone().zip(added.clone()) {
                    mark(&mut hunk.lines, old, new, until);
                }
                at = added.end.max(at + 1);
            }
        }
        this
    }

    /// It, as HTML.
    #[must_use]
    pub fn html(&self, language: Option<Language>) -> Html {
        let mut html = Html::new();
        html.tag(
            "<div class=\"diff\" role=\"group\" aria-label=\"Changes\" tabindex=\"0\"><table>",
        );
        for (number, hunk) in self.marked().hunks.iter().enumerate() {
            if number > 0 {
                html.tag("<tr class=\"gap\"><td colspan=\"4\">⋯</td></tr>");
            }
            hunk.html(&mut html, language);
        }
        html.tag("</table></div>");
        html
    }
}

/// A line of a patch. Some are about the file and not of it: `\ No newline at end of file`.
#[expect(clippy::option_option, reason = "a line that is none is not a mistake")]
fn patch_line(line: &str) -> Option<Option<Line>> {
    let (change, text) = match line.chars().next() {
        Some(' ') => (Change::Same, line.get(1..)?),
        Some('-') => (Change::Removed, line.get(1..)?),
        Some('+') => (Change::Added, line.get(1..)?),
        Some('\\') => return Some(None),
        None => (Change::Same, ""),
        Some(_) => return None,
    };
    Some(Some(Line { change, text: text.to_owned(), marks: Vec::new(), is_endless: false }))
}

fn mark(lines: &mut [Line], old: usize, new: usize, until: Instant) {
    let texts = (lines.get(old).map(|line| &*line.text), lines.get(new).map(|line| &*line.text));
    let (Some(before), Some(after)) = texts else { return };
    if before.len().max(after.len()) > LONGEST_LINE || Instant::now() > until {
        return;
    }
    let (old_words, new_words) = (words(before), words(after));
    let diff = TextDiff::configure().deadline(until).diff_slices(&old_words, &new_words);
    // Lines that have little in common are two lines, and not one that changed.
    if diff.ratio() < 0.4 {
        return;
    }
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let (mut at_old, mut at_new) = (0, 0);
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Equal => {
                at_old += length;
                at_new += length;
            }
            ChangeTag::Delete => {
                join(&mut removed, at_old..at_old + length);
                at_old += length;
            }
            ChangeTag::Insert => {
                join(&mut added, at_new..at_new + length);
                at_new += length;
            }
        }
    }
    if let Some(line) = lines.get_mut(old) {
        line.marks = removed;
    }
    if let Some(line) = lines.get_mut(new) {
        line.marks = added;
    }
}

/// The words of a line, and each sign between them.
fn words(line: &str) -> Vec<&str> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = if is_word(first) {
            rest.find(|character| !is_word(character)).unwrap_or(rest.len())
        } else if first.is_whitespace() {
            rest.find(|character: char| !character.is_whitespace()).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        words.push(word);
        rest = after;
    }
    words
}

fn join(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

impl Hunk {
    fn html(&self, html: &mut Html, language: Option<Language>) {
        // The two sides are coloured each by itself, since each of them is code.
        let side = |left: Change| {
            let lines = self.lines.iter().filter(|line| line.change != left);
            let mut text = String::new();
            for line in lines {
                text.push_str(&line.text.replace('\n', " "));
                text.push('\n');
            }
            code::lines(&text, language).into_iter()
        };
        let (mut old_pieces, mut new_pieces) = (side(Change::Added), side(Change::Removed));
        let (mut old, mut new) = (self.old, self.new);
        for line in &self.lines {
            let (row, sign, name) = match line.change {
                Change::Same => ("<tr>", " ", ""),
                Change::Removed => ("<tr class=\"del\">", "−", "removed: "),
                Change::Added => ("<tr class=\"ins\">", "+", "added: "),
            };
            let is_old = line.change != Change::Added;
            let is_new = line.change != Change::Removed;
            let from_old = if is_old { old_pieces.next() } else { None };
            let from_new = if is_new { new_pieces.next() } else { None };
            html.tag(row);
            number(html, is_old.then_some(old).filter(|_| self.old > 0));
            number(html, is_new.then_some(new).filter(|_| self.new > 0));
            html.tag("<td class=\"sign\"><span aria-hidden=\"true\">").tag(sign);
            html.tag("</span><span class=\"hidden\">").tag(name).tag("</span></td><td><code>");
            let pieces = from_new.or(from_old).unwrap_or_default();
            written(html, &line.text, &pieces, &line.marks);
            if line.is_endless {
                html.tag("<span class=\"soft\"> ⌁ no end of line</span>");
            }
            html.tag("</code></td></tr>");
            old += usize::from(is_old);
            new += usize::from(is_new);
        }
    }
}

fn number(html: &mut Html, number: Option<usize>) {
    html.tag("<td class=\"no\">");
    if let Some(number) = number {
        html.number(number as u64);
    }
    html.tag("</td>");
}

/// A line with its colours and its marks.
fn written(html: &mut Html, text: &str, pieces: &[Piece], marks: &[Range<usize>]) {
    let mut at = 0;
    let mut marks = marks.iter().peekable();
    for piece in pieces {
        let end = (at + piece.length).min(text.len());
        while at < end {
            while marks.next_if(|mark| mark.end <= at).is_some() {}
            let (stop, is_marked) = match marks.peek() {
                Some(mark) if mark.start <= at => (mark.end.min(end), true),
                Some(mark) => (mark.start.min(end), false),
                None => (end, false),
            };
            if is_marked {
                html.tag("<mark>");
            }
            code::span(html, text.get(at..stop).unwrap_or_default(), piece.class);
            if is_marked {
                html.tag("</mark>");
            }
            at = stop;
        }
    }
    visible::write(html, text.get(at..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A line of a diff as it is shown, without markup: signs, numbers and marks in brackets.
    fn shown(diff: &Diff) -> String {
        let html = diff.html(None).into_string();
        let rows = html.split("<tr").skip(1).map(|row| {
            let row =
                row.replace("<mark>", "[").replace("</mark>", "]").replace("</td><td", "|<td");
            let mut text = String::new();
            let mut in_tag = true;
            for character in row.chars() {
                match character {
                    '<' => in_tag = true,
                    '>' => in_tag = false,
                    _ if !in_tag => text.push(character),
                    _ => {}
                }
            }
            format!("{text}\n")
        });
        rows.collect()
    }

    #[test]
    fn lines_and_words_that_changed_are_marked() {
        let diff = Diff::between("a\nlet x = 1;\nc\n", "a\nlet y = 1;\nc\nd\n", true);
        insta::assert_snapshot!(shown(&diff));
        assert_eq!(diff.counts(), (2, 1));
    }

    #[test]
    fn lines_far_from_a_change_are_left_out() {
        let old: String = (0..40).map(|number| format!("line {number}\n")).collect();
        let new = old.replace("line 5\n", "").replace("line 30\n", "line thirty\n");
        insta::assert_snapshot!(shown(&Diff::between(&old, &new, true)));
    }

    #[test]
    fn nothing_is_left_out_for_somebody_who_decides() {
        let old: String = (0..40).map(|number| format!("line {number}\n")).collect();
        let new = old.replace("line 5\n", "line\u{202e} five\n");
        let html = Diff::whole(&old, &new, false).html(None).into_string();
        assert_eq!(html.matches("<tr").count(), 41);
        assert!(html.contains("<b class=\"odd\">U+202E</b>"), "{html}");
        let (cut, left) = Diff::whole(&old, &new, false).cut(10);
        assert_eq!((cut.html(None).into_string().matches("<tr").count(), left), (10, 31));
    }

    #[test]
    fn ends_of_lines_are_told_where_they_change() {
        let html = |old: &str, new: &str| Diff::between(old, new, false).html(None).into_string();
        assert_eq!(html("a\nb", "a\nb\n").matches("no end of line").count(), 1);
        assert_eq!(html("a\nb", "a\nc").matches("no end of line").count(), 0);
        assert_eq!(html("a\r\nb\r\n", "a\r\nc\r\n").matches("U+000D").count(), 0);
        assert_eq!(html("a\nb\n", "a\r\nb\n").matches("U+000D").count(), 1);
        assert_eq!(html("a\r\n", "a\rb\r\n").matches("U+000D").count(), 1);
        assert_eq!(html("a", "a\rb").matches("U+000D").count(), 1);
    }

    #[test]
    fn a_patch_of_the_cli_is_read() {
        let patch = json!([{"oldStart": 7, "oldLines": 2, "newStart": 7, "newLines": 2,
            "lines": [" a", "-b c", "+b d", "\\ No newline at end of file"]}]);
        insta::assert_snapshot!(shown(&Diff::of_patch(&patch).unwrap()));
        for bad in [json!({}), json!([{}]), json!([{"oldStart": 1, "newStart": 1, "lines": ["x"]}])]
        {
            assert_eq!(Diff::of_patch(&bad), None);
        }
        assert!(Diff::of_patch(&json!([])).unwrap().is_empty());
    }

    #[test]
    fn code_in_a_diff_has_colours_and_stays_text() {
        let diff = Diff::between("let a = \"<b>\";\n", "let a = \"<i>\";\n", false);
        let html = diff.html(Language::named("rust")).into_string();
        assert!(html.contains("<span class=\"sk\">let</span>"), "{html}");
        assert!(!html.contains("<b>") && html.contains("&lt;"), "{html}");
    }

    proptest! {
        #[test]
        fn both_sides_can_be_read_from_it(old in "([ab ]{0,5}\n){0,12}", new in "([abc ]{0,5}\n){0,12}") {
            let mut diff = Diff::between(&old, &new, true);
            // With everything around, nothing is left out.
            diff.hunks.retain(|hunk| !hunk.lines.is_empty());
            let (added, removed) = diff.counts();
            let count = |text: &str| text.lines().count();
            prop_assert_eq!(count(&new) as i64 - count(&old) as i64, added as i64 - removed as i64);
            let html = diff.html(None).into_string();
            prop_assert_eq!(html.matches("class=\"ins\"").count(), added);
            prop_assert_eq!(html.matches("class=\"del\"").count(), removed);
        }
    }
}
