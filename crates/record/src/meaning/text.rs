//! Ids, times, paths and placeholders inside a text.

use super::placeholder::placeholders;
use super::sort::{Sort, free_key, id_form, is_telling, is_word_byte};

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment<'t> {
    /// Text that says what it says.
    Literal(&'t str),
    /// An id; without a sort when only a field can tell what it is the id of.
    Id(Option<Sort>, &'t str),
    /// A point in time, or how long something took.
    Time(&'t str),
    /// A path that the caller has named.
    Path {
        /// The number of the path.
        path: usize,
        /// As the CLI writes it in names of folders: every character that is neither a letter nor
        /// a digit is a dash.
        dashed: bool,
        text: &'t str,
    },
    /// What a redactor put in the place of something.
    Placeholder(&'t str),
}

impl<'t> Segment<'t> {
    pub(crate) const fn text(self) -> &'t str {
        match self {
            Self::Literal(text)
            | Self::Id(_, text)
            | Self::Time(text)
            | Self::Path { text, .. }
            | Self::Placeholder(text) => text,
        }
    }
}

/// Paths that stand for something, such as the working directory: on one side of a comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    /// Each as it is and with dashes, the longest first.
    forms: Vec<Form>,
    count: usize,
}

#[derive(Clone, Debug)]
struct Form {
    path: usize,
    dashed: bool,
    text: String,
}

impl Paths {
    /// Adds a path, and gives its number. One that would be found everywhere, such as `/`, is
    /// counted but not looked for.
    pub(crate) fn push(&mut self, path: &str) -> usize {
        let number = self.count;
        self.count += 1;
        let path = path.trim_end_matches('/');
        if path.len() >= 2 {
            let dash = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            let dashed = path.chars().map(dash).collect();
            self.forms.push(Form { path: number, dashed: false, text: path.to_owned() });
            self.forms.push(Form { path: number, dashed: true, text: dashed });
            self.forms.sort_by_key(|form| std::cmp::Reverse(form.text.len()));
        }
        number
    }

    /// The forms that are anywhere in a text.
    fn within(&self, text: &str) -> Vec<&Form> {
        self.forms.iter().filter(|form| text.contains(&form.text)).collect()
    }
}

/// The path, in one of these forms, that begins here.
fn path_at<'t>(forms: &[&Form], text: &'t str, at: usize) -> Option<Segment<'t>> {
    let rest = text.get(at..)?;
    let form = forms.iter().find(|form| {
        let Some(after) = rest.strip_prefix(form.text.as_str()) else { return false };
        let before = text.as_bytes().get(..at).and_then(<[u8]>::last);
        // "/a/b" is neither in "/a/bc" nor in "/x/a/b", but it is in "file:///a/b" and at the end
        // of a sentence.
        let mut after = after.bytes();
        let ends = match after.next() {
            Some(b'.') => !after.next().is_some_and(|b| b.is_ascii_alphanumeric()),
            Some(b'-') => form.dashed,
            next => !next.is_some_and(is_word_byte),
        };
        ends && !before.is_some_and(|&b| is_word_byte(b) || matches!(b, b'.' | b'-'))
    })?;
    let text = rest.get(..form.text.len())?;
    Some(Segment::Path { path: form.path, dashed: form.dashed, text })
}

/// Cuts a text into segments.
///
/// `spoken` is a text in which times are what somebody said: the input of a tool. `known` tells
/// the ids that have been named by a field before and that cannot be told by their looks.
pub(crate) fn segments<'t>(
    text: &'t str,
    spoken: bool,
    paths: &Paths,
    known: &dyn Fn(&str) -> bool,
) -> Vec<Segment<'t>> {
    // Most texts are long and have neither paths nor placeholders in them, so these are looked
    // for in the whole text first.
    let paths = paths.within(text);
    let mut placeholders = placeholders(text);
    let mut cutter = Cutter { text, done: 0, found: Vec::new() };
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let named = if paths.is_empty() { None } else { path_at(&paths, text, at) };
        while placeholders.front().is_some_and(|next| next.start < at) {
            placeholders.pop_front();
        }
        let named = named.or_else(|| {
            let next = placeholders.front().filter(|next| next.start == at)?;
            text.get(next.clone()).map(Segment::Placeholder)
        });
        if let Some(segment) = named {
            cutter.push(at, segment);
            at = cutter.done;
        } else if is_word_byte(byte) {
            let word = word_at(text, at);
            let named = match at.checked_sub(1).and_then(|before| text.as_bytes().get(before)) {
                Some(b'/') => named_file(text, at),
                _ => None,
            };
            let found = named.or_else(|| variable(text, at, word, spoken, known));
            if let Some(segment) = found {
                cutter.push(at, segment);
                at = cutter.done;
                continue;
            }
            at += word.len();
            // A placeholder may begin within a word.
            if let Some(next) = placeholders.front().filter(|next| next.start < at) {
                at = next.start;
                continue;
            }
            if !spoken
                && let Some((start, number)) = number_after(text, at)
                && free_key(word).is_some()
            {
                cutter.push(start, Segment::Time(number));
                at = cutter.done;
            }
        } else {
            at += 1;
        }
    }
    cutter.finish()
}

struct Cutter<'t> {
    text: &'t str,
    done: usize,
    found: Vec<Segment<'t>>,
}

impl<'t> Cutter<'t> {
    fn push(&mut self, start: usize, segment: Segment<'t>) {
        self.literal(start);
        self.done = start + segment.text().len();
        self.found.push(segment);
    }

    fn literal(&mut self, end: usize) {
        if let Some(literal) = self.text.get(self.done..end)
            && !literal.is_empty()
        {
            self.found.push(Segment::Literal(literal));
        }
    }

    fn finish(mut self) -> Vec<Segment<'t>> {
        self.literal(self.text.len());
        self.found
    }
}

/// What has a name of its own in a folder of the CLI: a plan, and the socket of a process.
fn named_file(text: &str, at: usize) -> Option<Segment<'_>> {
    let (before, rest) = text.split_at_checked(at)?;
    let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    let (name, ending) = rest.split_at_checked(length)?;
    if before.ends_with("/plans/") && ending.starts_with(".md") {
        return Some(Segment::Id(Some(Sort::Plan), name));
    }
    let socket = before.ends_with("/cc-socks/") && ending.starts_with(".sock");
    socket.then_some(Segment::Time(name))
}

/// The id or time that begins with this word.
fn variable<'t>(
    text: &'t str,
    at: usize,
    word: &'t str,
    spoken: bool,
    known: &dyn Fn(&str) -> bool,
) -> Option<Segment<'t>> {
    let next = text.as_bytes().get(at + word.len());
    if next == Some(&b'-') {
        if let Some(uuid) = text.get(at..at + 36)
            && word.len() == 8
            && id_form(uuid) == Some(Sort::Uuid)
            && !text.as_bytes().get(at + 36).is_some_and(|&b| is_word_byte(b))
        {
            return Some(Segment::Id(Some(Sort::Uuid), uuid));
        }
        if !spoken
            && word.len() == 4
            && let Some(time) = timestamp_at(text, at)
        {
            return Some(Segment::Time(time));
        }
    }
    // No shorter word is an id, and none that is all letters.
    if word.len() < 8 || !word.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    if let Some(sort) = id_form(word) {
        return Some(Segment::Id(Some(sort), word));
    }
    (is_telling(word) && known(word)).then_some(Segment::Id(None, word))
}

fn word_at(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.bytes().position(|b| !is_word_byte(b)).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// The time after a word that names one: `duration_ms: 115`, `"ttft_ms":7.5`,
/// `<duration_ms>286</duration_ms>`, `duration (wall): 1m 3s`.
fn number_after(text: &str, at: usize) -> Option<(usize, &str)> {
    let rest = text.get(at..)?;
    let remark = rest.strip_prefix(" (").map(|rest| word_at(rest, 0));
    let remark = remark.map_or(0, |remark| " (".len() + remark.len() + ")".len());
    let after = rest.get(remark..)?;
    let gap = after
        .bytes()
        .position(|b| !matches!(b, b'"' | b'\'' | b'\\' | b':' | b'=' | b'>' | b' '))?;
    if !after.get(..gap)?.contains([':', '=', '>']) {
        return None;
    }
    let value = after.get(gap..)?;
    // Units can follow, and numbers after those: 1m 3s.
    let part = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'd' | b'h' | b'm' | b's' | b' ');
    let length = value.bytes().take_while(part).count();
    let value = value.get(..length)?.trim_end_matches([' ', '.']);
    value.starts_with(|c: char| c.is_ascii_digit()).then_some((at + remark + gap, value))
}

/// A point in time in the form of ISO 8601 that begins here.
fn timestamp_at(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..)?;
    let bytes = rest.as_bytes();
    let shape = |from: usize, shape: &str| {
        bytes.get(from..from + shape.len()).is_some_and(|bytes| {
            bytes.iter().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b't' | b' '),
                b'+' => matches!(byte, b'+' | b'-'),
                _ => *byte == wanted,
            })
        })
    };
    let mut end = match () {
        () if shape(0, "0000-00-00T00:00:00") => 19,
        () if shape(0, "0000-00-00T00:00") => 16,
        () => return None,
    };
    if shape(end, ".0") {
        end += 1;
        end += bytes.iter().skip(end).take_while(|b| b.is_ascii_digit()).count();
    }
    end += match () {
        () if shape(end, "+00:00") => 6,
        () if shape(end, "+0000") => 5,
        () if matches!(bytes.get(end), Some(b'Z' | b'z')) => 1,
        () => 0,
    };
    rest.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The segments of a text, in short: ids in `<>`, times as `@`, paths in `{}`, placeholders
    /// in `()`.
    fn check(text: &str, expected: &str) {
        let mut paths = Paths::default();
        paths.push("/home/dev/proj");
        paths.push("/home/dev");
        paths.push("/");
        let known = |word: &str| word == "b208upjs3";
        let segments = segments(text, false, &paths, &known);
        assert_eq!(segments.iter().map(|s| s.text()).collect::<String>(), text);
        let shown: String = segments
            .iter()
            .map(|segment| match segment {
                Segment::Literal(text) => (*text).to_owned(),
                Segment::Id(sort, _) => format!("<{}>", sort.map_or("id", Sort::name)),
                Segment::Time(_) => "@".to_owned(),
                Segment::Path { path, dashed: false, .. } => format!("{{{path}}}"),
                Segment::Path { path, .. } => format!("{{-{path}}}"),
                Segment::Placeholder(text) => format!("({text})"),
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_text_is_cut_where_something_varies() {
        check("", "");
        check("nothing here, ü", "nothing here, ü");
        check("id 55555555-5555-4555-8555-555555555555.", "id <uuid>.");
        check("x55555555-5555-4555-8555-555555555555", "x55555555-5555-4555-8555-555555555555");
        check(
            "hook-55555555-5555-4555-8555-555555555555-0 toolu_01AbCdEfGhIj",
            "hook-<uuid>-0 <tool>",
        );
        check("<tool-use-id>toolu_01AbCdEfGhIj</tool-use-id>", "<tool-use-id><tool></tool-use-id>");
        check("agentId: a0ab66072a84b93f9 (use it)", "agentId: <agent> (use it)");
        check("in b208upjs3, not in b208upjs4", "in <id>, not in b208upjs4");
        check("at 2026-11-15T23:35:25.122Z on", "at @ on");
        check("2026-11-15 23:35+01:00", "@");
        check("2026-11-15 alone", "2026-11-15 alone");
        check(
            "<usage>tool_uses: 1\nduration_ms: 115</usage>",
            "<usage>tool_uses: 1\nduration_ms: @</usage>",
        );
        check(r#"{"ttft_ms":7.5,"timeout_ms":9}"#, r#"{"ttft_ms":@,"timeout_ms":9}"#);
        check("<duration_ms>286</duration_ms>", "<duration_ms>@</duration_ms>");
        check(
            "/h/.claude/plans/plan-it-hazy-sketch.md, /plans/a b.md",
            "/h/.claude/plans/<plan>.md, /plans/a b.md",
        );
        check("uds:/tmp/cc-socks/9090.sock", "uds:/tmp/cc-socks/@.sock");
        check("the duration 5", "the duration 5");
        check("Total duration (wall): 1m 3s\nTotal", "Total duration (wall): @\nTotal");
    }

    #[test]
    fn a_path_is_found_as_a_whole_and_with_dashes() {
        check("/home/dev/proj", "{0}");
        check("in /home/dev/proj/a.txt, /home/dev/x.", "in {0}/a.txt, {1}/x.");
        check("(/home/dev/proj.)", "({0}.)");
        check(
            "/home/dev/project /home/dev.bak /x/home/dev",
            "{1}/project /home/dev.bak /x/home/dev",
        );
        check("file:///home/dev/proj Edit(//home/dev/**)", "file://{0} Edit(/{1}/**)");
        check("~/.claude/projects/-home-dev-proj/1.jsonl", "~/.claude/projects/{-0}/1.jsonl");
    }

    #[test]
    fn what_a_tool_is_told_keeps_its_times() {
        let text = "2026-11-15T23:35:25Z duration_ms: 5 a0ab66072a84b93f9";
        let segments = segments(text, true, &Paths::default(), &|_| false);
        assert!(matches!(segments.as_slice(), [Segment::Literal(_), Segment::Id(..)]));
    }
}
