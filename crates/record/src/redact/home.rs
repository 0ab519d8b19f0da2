//! Home folders: whose machine it was.
//!
//! Found are `/home/NAME`, `/Users/NAME`, `C:\Users\NAME` with slashes of either kind and
//! number, `/root`, and the folders in which the CLI keeps what belongs to a project: their names
//! are paths in which everything but letters and digits became a hyphen, as in
//! `-home-NAME-project`.

use std::ops::Range;

use regex::bytes::Regex;

use super::placeholder::{Form, placeholders};
use super::secret::SecretId;

/// The words at which a home can be found, for a quick search.
pub(super) const ANCHORS: &str = r"(?-u)home|Users|users|root";

/// How many characters of a name are looked at.
const MAX_NAME: usize = 64;

/// How many slashes may stand between two parts of a path.
const MAX_SLASHES: usize = 16;

/// How many folders a home may lie in: `/mnt/c/Users/NAME` has two before `Users`.
const MAX_PREFIX: usize = 3;

/// How far the beginning of a path is looked for.
const MAX_PATH: usize = 256;

/// Folders among the homes that belong to nobody, or whose names would be taken for the
/// beginning of another home.
const NOBODY: &[&[u8]] = &[
    b"Shared",
    b"Public",
    b"Default",
    b"Default User",
    b"All Users",
    b"linuxbrew",
    b"home",
    b"Users",
    b"users",
    b"root",
];

/// A home: where its name stands, and how a placeholder is written there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) name: Range<usize>,
    pub(super) form: Form,
    /// The secret, where the name of a folder was recognised by one.
    pub(super) known: Option<SecretId>,
}

impl Home {
    /// All of the path that was looked at.
    pub(super) fn context(&self, text: &[u8]) -> Range<usize> {
        let before = text.get(..self.name.start).unwrap_or_default();
        let is_path = |byte: &&u8| is_path(**byte) || matches!(byte, b'\\' | b':');
        let length = before.iter().rev().take(MAX_PATH + MAX_NAME).take_while(is_path).count();
        self.name.start - length..self.name.end
    }
}

/// The names of homes that are known, as they are spelled in the names of folders.
#[derive(Clone, Debug, Default)]
pub(super) struct Folders {
    /// The longest first: `-home-mary-ann` is Mary Ann's, if there is one, not Mary's.
    names: Vec<(Vec<u8>, SecretId)>,
}

impl Folders {
    /// Takes the names of homes.
    pub(super) fn new<'a>(homes: impl Iterator<Item = (&'a [u8], SecretId)>) -> Self {
        let mut names: Vec<_> = homes.map(|(name, secret)| (folder_name(name), secret)).collect();
        names.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Self { names }
    }

    /// The name at the beginning of a text.
    fn at(&self, text: &[u8]) -> Option<(usize, SecretId)> {
        let ends = |length: usize| !text.get(length).is_some_and(u8::is_ascii_alphanumeric);
        let found =
            self.names.iter().find(|(name, _)| text.starts_with(name) && ends(name.len()))?;
        Some((found.0.len(), found.1))
    }
}

/// A name as the CLI writes it in the name of a folder.
fn folder_name(name: &[u8]) -> Vec<u8> {
    let name = String::from_utf8_lossy(name);
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c as u8 } else { b'-' }).collect()
}

/// Finds homes. Names of folders are looked at only where `folders` are given.
pub(super) fn homes<'a>(
    text: &'a [u8],
    anchors: &'a Regex,
    folders: Option<&'a Folders>,
) -> impl Iterator<Item = Home> + 'a {
    anchors.find_iter(text).filter_map(move |word| {
        let before = text.get(..word.start())?;
        match before.last()? {
            b'/' | b'\\' => path(text, word.range()),
            b'-' => folder(text, word.range(), folders?),
            _ => None,
        }
    })
}

/// Reads a home in a path, at its folder `home`, `Users` or `root`.
fn path(text: &[u8], word: Range<usize>) -> Option<Home> {
    let before = text.get(..word.start)?;
    let slashes = before.iter().rev().take_while(|byte| is_slash(**byte)).count();
    let before_slashes = before.get(..before.len() - slashes)?;
    let windows = is_drive(before_slashes) && slashes <= MAX_SLASHES;
    let unix = before.last() == Some(&b'/');
    match text.get(word.clone())? {
        b"root" => {
            let goes_on = match text.get(word.end..)? {
                [b'.' | b'-', next, ..] => is_name(*next),
                [next, ..] => is_name(*next),
                [] => false,
            };
            let starts = unix && prefix(before) == Some(0);
            (starts && !goes_on).then_some(Home { name: word, form: Form::RootPath, known: None })
        }
        b"home" if unix && is_absolute(before) => unix_name(text, word.end),
        b"Users" if unix && is_absolute(before) => unix_name(text, word.end),
        b"Users" | b"users" if windows => windows_name(text, word.end),
        _ => None,
    }
}

/// Whether the path that ends in the slash at the end of `before` begins at the root.
fn is_absolute(before: &[u8]) -> bool {
    prefix(before).is_some_and(|folders| folders <= MAX_PREFIX)
}

/// How many folders the path has that ends in the slash at the end of `before`, if it is absolute.
fn prefix(before: &[u8]) -> Option<usize> {
    let length = before.iter().rev().take(MAX_PATH).take_while(|byte| is_path(**byte)).count();
    let (outside, path) = before.split_at_checked(before.len() - length)?;
    // `-I/home/…` is a flag and a path.
    let flag = match path {
        [b'-', rest @ ..] => 1 + rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count(),
        _ => 0,
    };
    let path = path.get(flag..)?;
    if path.first() != Some(&b'/') {
        return None;
    }
    // `https://host/home/page` is no home; `file:///home/…` is one.
    let is_host = path.starts_with(b"//") && path.get(2).is_some_and(|byte| *byte != b'/');
    if is_host && outside.last() == Some(&b':') {
        return None;
    }
    let folders = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
    // A folder `home` in somebody's home is part of a project.
    let in_home = folders.clone().any(|part| matches!(part, b"home" | b"Users"));
    if in_home { None } else { Some(folders.count()) }
}

/// Whether a text ends in the letter of a drive.
fn is_drive(text: &[u8]) -> bool {
    match text {
        [.., before, letter, b':'] => {
            letter.is_ascii_alphabetic() && !before.is_ascii_alphanumeric()
        }
        [letter, b':'] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

fn unix_name(text: &[u8], folder_end: usize) -> Option<Home> {
    let start = folder_end + 1;
    if text.get(folder_end) != Some(&b'/') {
        return None;
    }
    let rest = text.get(start..)?;
    home(text, start, name_length(rest))
}

fn windows_name(text: &[u8], folder_end: usize) -> Option<Home> {
    let rest = text.get(folder_end..)?;
    let slashes = rest.iter().take(MAX_SLASHES).take_while(|byte| is_slash(**byte)).count();
    let start = folder_end + slashes;
    // The backslash of `\u005c` is no separator; the text without escapes has one there.
    let backslashes = text.get(..start)?.iter().rev().take_while(|byte| **byte == b'\\').count();
    let digits = text.get(start + 1..start + 5).unwrap_or_default();
    let is_escape = backslashes % 2 == 1
        && text.get(start) == Some(&b'u')
        && digits.len() == 4
        && digits.iter().all(u8::is_ascii_hexdigit);
    if slashes == 0 || is_escape {
        return None;
    }
    let rest = text.get(start..)?;
    // Names with spaces are common here, but only a slash shows that the words belong together.
    let is_part = |byte: &&u8| is_name(**byte) || matches!(byte, b' ' | b'\'');
    let long = rest.iter().take(MAX_NAME).take_while(is_part).count();
    let is_long = rest.get(long).copied().is_some_and(is_slash)
        && rest.get(..long).is_some_and(|name| placeholders(name).next().is_none());
    if is_long {
        return home(text, start, long);
    }
    home(text, start, name_length(rest))
}

/// How long the name at the beginning of a text is.
fn name_length(text: &[u8]) -> usize {
    let text = text.get(..text.len().min(4 * MAX_NAME)).unwrap_or_default();
    let valid = text.utf8_chunks().next().map(|chunk| chunk.valid()).unwrap_or_default();
    let is_part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    valid.chars().take_while(is_part).map(char::len_utf8).sum()
}

/// The home whose name has at most `length` bytes, if they are a name.
fn home(text: &[u8], start: usize, length: usize) -> Option<Home> {
    let name = text.get(start..start + length)?;
    // The full stop of a sentence is not part of a name.
    let dots = name.iter().rev().take_while(|byte| matches!(byte, b'.' | b' ')).count();
    let name = name.get(..name.len() - dots)?;
    let first = *name.first()?;
    let is_somebody = is_name(first) && !matches!(first, b'.' | b'-') && !NOBODY.contains(&name);
    is_somebody.then_some(Home { name: start..start + name.len(), form: Form::Name, known: None })
}

/// Reads a home in the name of a folder, at its part `home`, `Users` or `root`.
fn folder(text: &[u8], word: Range<usize>, folders: &Folders) -> Option<Home> {
    let before = text.get(..word.start - 1)?;
    let outside = match before {
        // `C--Users-NAME`, from a drive.
        [outside @ .., letter, b'-'] if letter.is_ascii_alphabetic() => outside,
        outside => outside,
    };
    let begins = match outside.last() {
        None | Some(b'/' | b'\\') => true,
        // An option can begin like the folder of root.
        Some(b'"' | b'\'' | b'`' | b'=') => text.get(word.clone()) != Some(b"root"),
        Some(_) => false,
    };
    if !begins {
        return None;
    }
    let rest = text.get(word.end..)?;
    if text.get(word.clone())? == b"root" {
        let ends = !rest.first().copied().is_some_and(is_name) || rest.first() == Some(&b'-');
        return (ends && !before.is_empty()).then_some(Home {
            name: word,
            form: Form::RootFolder,
            known: None,
        });
    }
    let rest = rest.strip_prefix(b"-")?;
    let start = word.end + 1;
    if let Some((length, secret)) = folders.at(rest) {
        return Some(Home { name: start..start + length, form: Form::Name, known: Some(secret) });
    }
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    home(text, start, length)
}

/// Whether a byte is taken for a part of a path, on the way to its beginning.
const fn is_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'.' | b'-')
}

const fn is_slash(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') || byte >= 0x80
}
