//! Words of commands, without their quotes.

use std::ops::Range;

use tree_sitter::Node;

use super::brace;

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// What it says, without quotes.
    pub text: String,
    /// Whether it depends on something that is only known when it runs.
    pub is_open: bool,
    /// Where in the text the first thing begins that could be anything: the value of a variable, what
    /// a command says. What stands for files that are there, like `*`, could not.
    pub(crate) hole: Option<usize>,
    /// Whether it begins with quotes, so that a `~` there is a `~`.
    pub(crate) is_quoted: bool,
    /// The numbers of the commands in it.
    pub(crate) commands: Range<usize>,
}

/// How a word begins, if it is a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin<'a> {
    /// As it is written.
    Text(&'a str),
    /// In the home folder, with this after it.
    Home(&'a str),
    /// In the folder that it is run in, with this after it.
    Here(&'a str),
    /// In the home folder of somebody else.
    OtherHome,
    /// In a place that is only known when it runs.
    Open,
}

impl Word {
    /// A word that is known.
    pub(crate) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A word that could be anything.
    pub(super) fn unknown(text: &str) -> Self {
        Self { text: text.to_owned(), is_open: true, hole: Some(0), ..Self::default() }
    }

    /// Words as one, with something between them.
    pub(crate) fn joined<'a>(words: impl IntoIterator<Item = &'a Self>, between: &str) -> Self {
        let mut all = Self::default();
        for (number, word) in words.into_iter().enumerate() {
            if number > 0 {
                all.text.push_str(between);
            } else {
                all.is_quoted = word.is_quoted;
            }
            all.hole = all.hole.or(word.hole.map(|hole| hole + all.text.len()));
            all.text.push_str(&word.text);
            all.is_open |= word.is_open;
            if !word.commands.is_empty() {
                let start = if all.commands.is_empty() { &word.commands } else { &all.commands };
                all.commands = start.start..word.commands.end;
            }
        }
        all
    }

    /// What of it begins at this byte: the value in `--output=x`.
    pub(crate) fn after(&self, byte: usize) -> Self {
        Self {
            text: self.text.get(byte..).unwrap_or_default().to_owned(),
            hole: self.hole.map(|hole| hole.saturating_sub(byte)),
            is_quoted: byte == 0 && self.is_quoted,
            ..self.clone()
        }
    }

    /// How it begins, if it is a path.
    pub(crate) fn begin(&self) -> Begin<'_> {
        let text = self.text.as_str();
        let after = |beginnings: &[&str]| {
            let rest = beginnings.iter().find_map(|beginning| text.strip_prefix(beginning))?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        };
        if self.hole == Some(0) {
            if let Some(rest) = after(&["$HOME", "${HOME}"]) {
                return Begin::Home(rest);
            }
            return after(&["$PWD", "${PWD}", "$(pwd)", "`pwd`"]).map_or(Begin::Open, Begin::Here);
        }
        if self.is_quoted || !text.starts_with('~') {
            return Begin::Text(text);
        }
        match (after(&["~"]), after(&["~+"])) {
            (Some(rest), _) => Begin::Home(rest),
            (_, Some(rest)) => Begin::Here(rest),
            _ => Begin::OtherHome,
        }
    }

    /// Whether it stands for what a command writes, as if that was a file: `<(…)`.
    pub(crate) fn is_process(&self) -> bool {
        self.hole == Some(0) && self.text.starts_with(['<', '>'])
    }

    fn of(pieces: &[Piece]) -> Self {
        let mut word = Self::default();
        for (number, piece) in pieces.iter().enumerate() {
            match piece.kind {
                Kind::Open => word.hole = word.hole.or(Some(word.text.len())),
                Kind::Quoted if number == 0 => word.is_quoted = true,
                _ => {}
            }
            word.is_open |= match piece.kind {
                Kind::Open | Kind::Several => true,
                Kind::Plain => piece.text.contains(['*', '?', '[']),
                Kind::Quoted => false,
            };
            word.text.push_str(&piece.text);
        }
        word
    }
}

/// What a part of a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Written as it is.
    Plain,
    /// Written with quotes: nothing in it has a meaning of its own.
    Quoted,
    /// Only known when it runs.
    Open,
    /// Several words at once, all of them here: `{1..3}`.
    Several,
}

/// A part of a word.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// The words that a node of the tree stands for: one, or more where there are braces.
///
/// They are made without recursion: concatenations and strings have one level of their own, and all
/// that is deeper is only known when it runs.
pub(super) fn words(line: &str, node: Node<'_>) -> Vec<Word> {
    let mut pieces = Vec::new();
    let mut node = node;
    while let ("command_name", Some(inner)) = (node.kind(), node.child(0)) {
        node = inner;
    }
    if node.kind() == "concatenation" {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            piece(line, child, &mut pieces);
        }
    } else {
        piece(line, node, &mut pieces);
    }
    brace::expanded(pieces).iter().map(|pieces| Word::of(pieces)).collect()
}

fn piece(line: &str, node: Node<'_>, pieces: &mut Vec<Piece>) {
    let text = line.get(node.byte_range()).unwrap_or_default();
    let mut push = |kind, text: String| pieces.push(Piece { kind, text });
    match node.kind() {
        "raw_string" => push(Kind::Quoted, within(text, "'").to_owned()),
        "ansi_c_string" => {
            push(Kind::Quoted, ansi(within(text.strip_prefix('$').unwrap_or(text), "'")));
        }
        "string" => string(line, node, pieces),
        "translated_string" => {
            if let Some(inner) = node.named_child(0) {
                string(line, inner, pieces);
            }
        }
        "word" | "number" if node.named_child_count() == 0 => plain(text, pieces),
        "brace_expression" => push(Kind::Several, text.to_owned()),
        "$" | "variable_name" => push(Kind::Plain, text.to_owned()),
        _ => push(Kind::Open, text.to_owned()),
    }
}

/// A string in double quotes: what is in it, and what is put in.
fn string(line: &str, node: Node<'_>, pieces: &mut Vec<Piece>) {
    let range = node.byte_range();
    let text = line.get(range.clone()).unwrap_or_default();
    let end = if text.len() > 1 && text.ends_with('"') { range.end - 1 } else { range.end };
    let mut at = range.start + usize::from(text.starts_with('"'));
    // Ends of lines belong to no node, so what is not put in is what stands between.
    let mut push = |kind, range: Range<usize>| {
        let text = line.get(range).unwrap_or_default();
        let text = if kind == Kind::Open { text.to_owned() } else { unescaped(text) };
        pieces.push(Piece { kind, text });
    };
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor).filter(|child| child.kind() != "string_content") {
        if child.start_byte() > at {
            push(Kind::Quoted, at..child.start_byte());
        }
        push(Kind::Open, child.byte_range());
        at = child.end_byte();
    }
    if end > at || at == range.start + 1 {
        push(Kind::Quoted, at..end);
    }
}

/// A word without quotes: a backslash makes a quote of what comes after it.
fn plain(text: &str, pieces: &mut Vec<Piece>) {
    let mut add = |kind, character| match pieces.last_mut() {
        Some(Piece { kind: last, text }) if *last == kind => text.push(character),
        _ => pieces.push(Piece { kind, text: String::from(character) }),
    };
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('\n') => {}
                Some(next) => add(Kind::Quoted, next),
                None => add(Kind::Plain, character),
            },
            _ => add(Kind::Plain, character),
        }
    }
}

fn within<'a>(text: &'a str, quote: &str) -> &'a str {
    let inner = text.strip_prefix(quote).unwrap_or(text);
    inner.strip_suffix(quote).unwrap_or(inner)
}

/// What a text in double quotes, or in a text to read, says.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match characters.peek() {
            Some('\n') if character == '\\' => drop(characters.next()),
            Some(&next @ ('"' | '\\' | '$' | '`')) if character == '\\' => {
                plain.push(next);
                characters.next();
            }
            _ => plain.push(character),
        }
    }
    plain
}

/// What `$'…'` says.
fn ansi(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut characters = after.chars();
        let escape = characters.next().unwrap_or('\\');
        rest = characters.as_str();
        let (digits, radix) = match escape {
            'x' => (2, 16),
            'u' => (4, 16),
            'U' => (8, 16),
            '0'..='7' => {
                rest = after;
                (3, 8)
            }
            _ => (0, 10),
        };
        let length = rest.chars().take(digits).take_while(|digit| digit.is_digit(radix)).count();
        let (number, behind) = rest.split_at_checked(length).unwrap_or_default();
        if length > 0 {
            let code = u32::from_str_radix(number, radix).unwrap_or_default();
            plain.extend(char::from_u32(code));
            rest = behind;
            continue;
        }
        match escape {
            'n' => plain.push('\n'),
            't' => plain.push('\t'),
            'r' => plain.push('\r'),
            '\\' | '\'' | '"' | '?' => plain.push(escape),
            'a' | 'b' | 'e' | 'E' | 'f' | 'v' => {}
            other => plain.extend(['\\', other]),
        }
    }
    plain.push_str(rest);
    plain
}
