//! Code with colours.
//!
//! The colours are classes: the policy of the page allows no styles in attributes, and they depend on
//! the theme.

use std::sync::OnceLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::html::Html;
use super::visible;

/// The longest text that is coloured, in bytes.
const LONGEST: usize = 200 << 10;

/// The longest line that is coloured, in bytes: what is longer was not written by anybody.
const LONGEST_LINE: usize = 2_000;

/// What a piece of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing in particular.
    Plain,
    /// A comment.
    Comment,
    /// A text in quotes.
    String,
    /// A number, `true`, `null`.
    Constant,
    /// A word of the language.
    Keyword,
    /// The name of a function.
    Function,
    /// The name of a type.
    Type,
    /// The name of an attribute, of a key.
    Attribute,
    /// The name of a tag, a heading.
    Tag,
}

impl Class {
    const fn open(self) -> Option<&'static str> {
        Some(match self {
            Self::Plain => return None,
            Self::Comment => "<span class=\"sc\">",
            Self::String => "<span class=\"ss\">",
            Self::Constant => "<span class=\"sn\">",
            Self::Keyword => "<span class=\"sk\">",
            Self::Function => "<span class=\"sf\">",
            Self::Type => "<span class=\"st\">",
            Self::Attribute => "<span class=\"sa\">",
            Self::Tag => "<span class=\"sg\">",
        })
    }
}

/// A piece of a line, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its length in bytes.
    pub length: usize,
    /// What it is.
    pub class: Class,
}

/// A language that code can be in.
#[derive(Clone, Copy, Debug)]
pub struct Language(&'static SyntaxReference);

impl Language {
    /// The language of this name: `rust`, `py`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        if name.is_empty() || name.len() > 40 {
            return None;
        }
        all().find_syntax_by_token(name).filter(|syntax| syntax.name != "Plain Text").map(Self)
    }

    /// The language of a file, by its name.
    #[must_use]
    pub fn of_file(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next()?;
        let by = |token: &str| all().find_syntax_by_extension(token);
        let syntax = by(name).or_else(|| by(name.rsplit_once('.')?.1))?;
        Some(Self(syntax)).filter(|language| language.0.name != "Plain Text")
    }
}

fn all() -> &'static SyntaxSet {
    static ALL: OnceLock<SyntaxSet> = OnceLock::new();
    ALL.get_or_init(two_face::syntax::extra_newlines)
}

/// Makes the first code quick: the languages take a moment to load.
pub fn warm_up() {
    drop(lines("fn main() {}", Language::named("rust")));
}

/// The pieces of each line. Their lengths add up to the line without its end.
#[must_use]
pub fn lines(text: &str, language: Option<Language>) -> Vec<Vec<Piece>> {
    let plain = |line: &str| match without_end(line) {
        "" => Vec::new(),
        line => vec![Piece { length: line.len(), class: Class::Plain }],
    };
    let Some(Language(syntax)) = language.filter(|_| text.len() <= LONGEST) else {
        return text.split_inclusive('\n').map(plain).collect();
    };
    let mut state = Some((ParseState::new(syntax), ScopeStack::new()));
    text.split_inclusive('\n')
        .map(|line| {
            let Some((parse, stack)) = state.as_mut().filter(|_| line.len() <= LONGEST_LINE) else {
                // What comes after a line that was not looked at cannot be told.
                state = None;
                return plain(line);
            };
            match coloured(line, parse, stack) {
                Some(pieces) => pieces,
                None => {
                    state = None;
                    plain(line)
                }
            }
        })
        .collect()
}

fn coloured(line: &str, parse: &mut ParseState, stack: &mut ScopeStack) -> Option<Vec<Piece>> {
    let whole;
    let with_end = if line.ends_with('\n') {
        line
    } else {
        whole = format!("{line}\n");
        &whole
    };
    let changes = parse.parse_line(with_end, all()).ok()?;
    let end = without_end(line).len();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = 0;
    let mut add = |from: usize, to: usize, class: Class| {
        let length = to.min(end).saturating_sub(from);
        if length == 0 {
            return;
        }
        match pieces.last_mut() {
            Some(last) if last.class == class => last.length += length,
            _ => pieces.push(Piece { length, class }),
        }
    };
    for (position, change) in changes {
        add(at, position, class_of(stack));
        at = at.max(position);
        stack.apply(&change).ok()?;
    }
    add(at, end, class_of(stack));
    Some(pieces)
}

fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// What the innermost scope that says something is.
fn class_of(stack: &ScopeStack) -> Class {
    static KNOWN: OnceLock<Vec<(Scope, Class)>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        [
            ("comment", Class::Comment),
            ("string", Class::String),
            ("constant.character.escape", Class::Constant),
            ("constant", Class::Constant),
            ("keyword.operator", Class::Plain),
            ("keyword", Class::Keyword),
            ("storage.type.function", Class::Keyword),
            ("storage", Class::Keyword),
            ("entity.name.function", Class::Function),
            ("support.function", Class::Function),
            ("variable.function", Class::Function),
            ("entity.name.tag", Class::Tag),
            ("entity.name.section", Class::Tag),
            ("markup.heading", Class::Tag),
            ("entity.other.attribute-name", Class::Attribute),
            ("meta.mapping.key", Class::Attribute),
            ("support.type.property-name", Class::Attribute),
            ("entity.name.type", Class::Type),
            ("entity.name.struct", Class::Type),
            ("entity.name.enum", Class::Type),
            ("entity.name.class", Class::Type),
            ("entity.name.trait", Class::Type),
            ("support.type", Class::Type),
            ("support.class", Class::Type),
        ]
        .into_iter()
        .filter_map(|(name, class)| Some((Scope::new(name).ok()?, class)))
        .collect()
    });
    let class = |scope: &Scope| {
        known.iter().find(|(known, _)| known.is_prefix_of(*scope)).map(|(_, class)| *class)
    };
    stack.scopes.iter().rev().find_map(class).unwrap_or(Class::Plain)
}

/// A piece of code with colours.
#[must_use]
pub fn html(text: &str, language: Option<Language>) -> Html {
    let mut html = Html::new();
    for (line, pieces) in text.split_inclusive('\n').zip(lines(text, language)) {
        let mut rest = without_end(line);
        for piece in pieces {
            let (text, after) = rest.split_at_checked(piece.length).unwrap_or((rest, ""));
            span(&mut html, text, piece.class);
            rest = after;
        }
        if line.ends_with('\n') {
            html.tag("\n");
        }
    }
    html
}

/// A text of this class. Characters that are not seen are shown.
pub fn span(html: &mut Html, text: &str, class: Class) {
    match class.open() {
        Some(open) => {
            html.tag(open);
            visible::write(html, text);
            html.tag("</span>");
        }
        None => visible::write(html, text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn code_has_its_colours() {
        let html = html("let x = \"a\"; // b\n", Language::named("rust"));
        assert!(html.as_str().contains("<span class=\"sk\">let</span>"), "{html}");
        assert!(html.as_str().contains("<span class=\"ss\">&quot;a&quot;</span>"), "{html}");
        assert!(html.as_str().contains("<span class=\"sc\">// b</span>"), "{html}");
    }

    #[test]
    fn languages_are_found_by_name_and_by_file() {
        for name in [
            "rust",
            "rs",
            "py",
            "python",
            "js",
            "ts",
            "typescript",
            "toml",
            "json",
            "sh",
            "bash",
            "yaml",
            "diff",
            "html",
            "css",
            "sql",
            "go",
            "dockerfile",
        ] {
            assert!(Language::named(name).is_some(), "{name}");
        }
        for file in ["a.rs", "/x/y.py", "Makefile", "Dockerfile", "a.tar.ts", "b.toml"] {
            assert!(Language::of_file(file).is_some(), "{file}");
        }
        for none in ["", "no such language", "txt"] {
            assert!(Language::named(none).is_none(), "{none}");
        }
        assert!(Language::of_file("a.txt").is_none());
        assert!(Language::of_file("unknown.zzz").is_none());
    }

    #[test]
    fn what_is_too_long_is_shown_without_colours() {
        let long = format!("let {} = 1;\nlet y = 2;", "x".repeat(LONGEST_LINE));
        assert!(!html(&long, Language::named("rust")).as_str().contains("span"));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_added(text in "\\PC{0,40}(\r?\n\\PC{0,40}){0,4}\n?") {
            for language in [None, Language::named("rust"), Language::named("markdown"), Language::named("sh")] {
                let pieces = lines(&text, language);
                let lengths: Vec<usize> = pieces.iter().map(|line| line.iter().map(|p| p.length).sum()).collect();
                let wanted: Vec<usize> = text.split_inclusive('\n').map(|line| without_end(line).len()).collect();
                prop_assert_eq!(lengths, wanted);
            }
        }
    }
}
