//! What names of the protocol look like in the text of an executable.
//!
//! The program is JavaScript that was made small: no spaces, short names for everything that is not
//! part of a format. A schema says `type:z.literal("user")`, a comparison `subtype==="init"`, a
//! message `{type:"system",subtype:"status"}`.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use regex::bytes::Regex;

use super::Kind;

/// The longest list of names that is looked at, and how far behind the kind of a frame its other
/// fields may stand. The pieces of a file overlap by more.
const LIST: usize = 4096;
const FIELDS: usize = 400;

/// The names that were found, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    names: BTreeMap<Kind, BTreeSet<String>>,
}

impl Found {
    pub(super) fn of(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.names.get(&kind).into_iter().flatten().map(String::as_str)
    }

    pub(super) fn has(&self, kind: Kind, name: &str) -> bool {
        self.names.get(&kind).is_some_and(|names| names.contains(name))
    }

    pub(super) fn has_any(&self, kind: Kind) -> bool {
        self.names.contains_key(&kind)
    }

    fn add(&mut self, kind: Kind, name: &[u8]) {
        if let Ok(name) = std::str::from_utf8(name) {
            self.names.entry(kind).or_default().insert(name.to_owned());
        }
    }
}

/// Finds names where they are used as such.
#[derive(Debug)]
pub(super) struct Patterns {
    /// Patterns whose first group is a name.
    simple: Vec<(Kind, Regex)>,
    frame: Regex,
    next_type: memmem::Finder<'static>,
    /// Names with which the lists of a kind are found: whatever stands in one list with them is of
    /// the same kind.
    lists: [(Kind, memmem::Finder<'static>); 2],
}

impl Patterns {
    pub(super) fn new() -> Result<Self, regex::Error> {
        let simple = [
            (
                Kind::System,
                r#"(?-u)type:[\w$.]{0,14}\(?"system"\)?,subtype:[\w$.]{0,14}\(?"([a-z_]+)""#,
            ),
            (Kind::Control, r#"(?-u)subtype:[\w$.]{0,14}\(?"([a-z_]+)""#),
            (Kind::Control, r#"(?-u)subtype={2,3}"([a-z_]+)""#),
            (Kind::Error, r#"(?-u)error_code:[\w$.]{0,14}\(?"([a-z_0-9]+)""#),
            // A flag as it is declared, with its argument and its description.
            (
                Kind::Flag,
                r#"(?-u)\("(?:-\w, )?(--[a-z][a-zA-Z0-9-]+)(?:, --[\w-]+)?(?: [<\[][^"]{0,60}[>\]])?",["`]"#,
            ),
        ];
        let mut patterns = Vec::new();
        for (kind, pattern) in simple {
            patterns.push((kind, Regex::new(pattern)?));
        }
        Ok(Self {
            simple: patterns,
            frame: Regex::new(r#"(?-u)[{,]type:[\w$.]{1,14}\("([a-z_]+)"\)(,request(?:_id)?:)?"#)?,
            next_type: memmem::Finder::new(",type:"),
            lists: [
                (Kind::Hook, memmem::Finder::new("\"PreToolUse\"")),
                (Kind::Mode, memmem::Finder::new("\"acceptEdits\"")),
            ],
        })
    }

    /// Adds what is found in these bytes.
    pub(super) fn search(&self, bytes: &[u8], found: &mut Found) {
        for (kind, pattern) in &self.simple {
            for groups in pattern.captures_iter(bytes) {
                if let Some(name) = groups.get(1) {
                    found.add(*kind, name.as_bytes());
                }
            }
        }
        for groups in self.frame.captures_iter(bytes) {
            let (Some(whole), Some(name)) = (groups.get(0), groups.get(1)) else { continue };
            let rest = bytes.get(whole.end()..).unwrap_or_default();
            if groups.get(2).is_some() || self.has_fields_of_a_frame(rest) {
                found.add(Kind::Frame, name.as_bytes());
            }
        }
        for (kind, finder) in &self.lists {
            for at in finder.find_iter(bytes) {
                for name in list_around(bytes, at).unwrap_or_default() {
                    found.add(*kind, name);
                }
            }
        }
    }

    /// Whether the fields that every message has come before the next object.
    fn has_fields_of_a_frame(&self, rest: &[u8]) -> bool {
        let rest = rest.get(..FIELDS.min(rest.len())).unwrap_or_default();
        let end = self.next_type.find(rest).unwrap_or(rest.len());
        let fields = rest.get(..end).unwrap_or_default();
        let has = |field: &str| memmem::find(fields, field.as_bytes()).is_some();
        has("session_id:") && has("uuid:")
    }
}

/// The names of the list in which this place is, if it is in a list of quoted names and nothing
/// else.
fn list_around(bytes: &[u8], at: usize) -> Option<Vec<&[u8]>> {
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'"' | b',' | b'_');
    let before = bytes.get(at.saturating_sub(LIST)..at)?;
    let start = at - before.iter().rev().take_while(|byte| belongs(byte)).count();
    let behind = bytes.get(at..bytes.len().min(at + LIST))?;
    let end = at + behind.iter().take_while(|byte| belongs(byte)).count();
    if bytes.get(start.checked_sub(1)?) != Some(&b'[') || bytes.get(end) != Some(&b']') {
        return None;
    }
    let items = bytes.get(start..end)?.split(|&byte| byte == b',');
    items.map(|item| item.strip_prefix(b"\"")?.strip_suffix(b"\"")).collect()
}
