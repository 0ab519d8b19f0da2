//! Where a value stands in a frame, and patterns for such places.

use std::fmt::{self, Write as _};

/// A step from a value to one inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Where a value stands in a frame, such as `message.content[0].text`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct JsonPath {
    text: String,
    /// The steps: a key, or else an index.
    steps: Vec<Result<String, usize>>,
}

impl JsonPath {
    pub(crate) fn new(steps: &[Step<'_>]) -> Self {
        let mut text = String::new();
        for step in steps {
            let dot = if text.is_empty() { "" } else { "." };
            let written = match step {
                Step::Index(index) => write!(text, "[{index}]"),
                Step::Key(key) if is_plain(key) => write!(text, "{dot}{key}"),
                Step::Key(key) => write!(text, "[{key:?}]"),
            };
            // Writing to a string cannot fail.
            debug_assert!(written.is_ok());
        }
        let steps = steps.iter().map(|step| match step {
            Step::Key(key) => Ok((*key).to_owned()),
            Step::Index(index) => Err(*index),
        });
        Self { text, steps: steps.collect() }
    }

    /// The path as text; empty for the frame itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.text.is_empty() { "(the whole line)" } else { &self.text })
    }
}

/// Keys that need no quotes in a path.
fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// A pattern for places in frames.
///
/// A pattern is a path in which `*` stands for any key, `[*]` for any index and `**` for any
/// number of steps. A key with other characters than letters, digits, `_` and `-` stands in
/// brackets and quotes: `["claudecode/toolUseId"]`. Before the path, and set off by a colon,
/// there may be the kind of frame that is meant: `result:total_cost_usd`,
/// `system/init:slash_commands[*]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    kind: Option<String>,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Key(String),
    AnyKey,
    Index(usize),
    AnyIndex,
    AnySteps,
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pattern:?} is not a pattern for a place in a frame: {why}")]
pub struct PatternError {
    pattern: String,
    why: &'static str,
}

impl std::str::FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let error = |why| PatternError { pattern: text.to_owned(), why };
        let (kind, mut rest) = match text.split_once(':') {
            Some((kind, rest))
                if !kind.is_empty()
                    && kind.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'/')) =>
            {
                (Some(kind.to_owned()), rest)
            }
            _ => (None, text),
        };
        let mut parts = Vec::new();
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix('[') {
                let (part, after) = bracket(inside).map_err(error)?;
                parts.push(part);
                rest = after;
                continue;
            }
            if !parts.is_empty() {
                rest = rest.strip_prefix('.').ok_or_else(|| error("a dot is missing"))?;
            }
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            parts.push(match word {
                "*" => Part::AnyKey,
                "**" => Part::AnySteps,
                key if is_plain(key) => Part::Key(key.to_owned()),
                "" => return Err(error("a key is empty")),
                _ => return Err(error("a key with such characters needs [\"…\"]")),
            });
            rest = after;
        }
        if parts.is_empty() {
            return Err(error("it names no field"));
        }
        Ok(Self { kind, parts })
    }
}

/// What follows an opening bracket: a part, and the text after the closing bracket.
fn bracket(inside: &str) -> Result<(Part, &str), &'static str> {
    if inside.starts_with('"') {
        let mut keys = serde_json::Deserializer::from_str(inside).into_iter::<String>();
        let Some(Ok(key)) = keys.next() else { return Err("a key in brackets has no end") };
        let after = inside.get(keys.byte_offset()..).and_then(|after| after.strip_prefix(']'));
        return Ok((Part::Key(key), after.ok_or("a bracket is not closed")?));
    }
    let (word, after) = inside.split_once(']').ok_or("a bracket is not closed")?;
    if word == "*" {
        return Ok((Part::AnyIndex, after));
    }
    let index = word.parse().map_err(|_| "an index is a number or *")?;
    Ok((Part::Index(index), after))
}

impl Pattern {
    /// Whether the pattern means this place in a frame of this kind, such as `result` or
    /// `control_request/initialize`.
    #[must_use]
    pub fn matches(&self, kind: &str, path: &JsonPath) -> bool {
        let steps = path.steps.iter().map(|step| match step {
            Ok(key) => Step::Key(key),
            Err(index) => Step::Index(*index),
        });
        self.fits(kind, &steps.collect::<Vec<_>>())
    }

    pub(crate) fn fits(&self, kind: &str, path: &[Step<'_>]) -> bool {
        self.kind.as_deref().is_none_or(|wanted| wanted == kind) && fits(&self.parts, path)
    }
}

fn fits(parts: &[Part], path: &[Step<'_>]) -> bool {
    match (parts, path) {
        ([], []) => true,
        ([Part::AnySteps, rest @ ..], _) => {
            (0..=path.len()).any(|skip| path.get(skip..).is_some_and(|path| fits(rest, path)))
        }
        ([part, rest @ ..], [step, steps @ ..]) => {
            let one = match (part, step) {
                (Part::Key(wanted), Step::Key(key)) => wanted == key,
                (Part::AnyKey, Step::Key(_)) | (Part::AnyIndex, Step::Index(_)) => true,
                (Part::Index(wanted), Step::Index(index)) => wanted == index,
                _ => false,
            };
            one && fits(rest, steps)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_quotes_what_it_must() {
        let path = [Step::Key("a"), Step::Index(0), Step::Key("b/c"), Step::Key("d")];
        assert_eq!(JsonPath::new(&path).to_string(), r#"a[0]["b/c"].d"#);
        assert_eq!(JsonPath::new(&[]).to_string(), "(the whole line)");
    }

    #[test]
    fn patterns_mean_what_they_say() {
        let path =
            [Step::Key("modelUsage"), Step::Key("m"), Step::Index(2), Step::Key("claude/cost")];
        for (pattern, fits) in [
            (r#"modelUsage.m[2]["claude/cost"]"#, true),
            (r#"modelUsage.*[*]["claude/cost"]"#, true),
            (r#"**["claude/cost"]"#, true),
            ("**", true),
            ("modelUsage.**", true),
            (r#"result:**["claude/cost"]"#, true),
            (r#"system/init:**["claude/cost"]"#, false),
            ("modelUsage", false),
            ("modelUsage.*", false),
            ("modelUsage.m[1].**", false),
            ("*", false),
        ] {
            let parsed: Pattern = pattern.parse().unwrap();
            assert_eq!(parsed.matches("result", &JsonPath::new(&path)), fits, "{pattern}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for pattern in ["", "result:", "a..b", "a[", "a[x]", "a[\"b]", "a b", ".a", "a[0]b"] {
            let error = pattern.parse::<Pattern>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{pattern:?} is not")), "{error}");
        }
    }
}
