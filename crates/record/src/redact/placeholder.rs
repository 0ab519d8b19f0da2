//! Placeholders: what stands on a redacted tape where a secret was.
//!
//! They keep the text around them valid: a home is still an absolute path, an e-mail address is
//! still one, and none has a character that JSON, a shell or a URL would have to escape.

use std::ops::Range;

use memchr::memmem;

/// A regular expression that finds placeholders, for programs that treat them as variables.
///
/// [`is_placeholder`] says whether a text is one from its first to its last byte.
pub const PLACEHOLDER_PATTERN: &str = concat!(
    r"redacted(?:-[0-9]*[a-z][a-z0-9]*)+-[0-9]{1,6}\b",
    r"|user-[0-9]{1,6}@example\.invalid\b",
    r"|(?:/home/|/Users/|[A-Za-z]:[\\/]+[Uu]sers[\\/]+|-home-|-Users-)user-[0-9]{1,6}\b",
);

/// The domain of e-mail addresses on redacted tapes; RFC 2606 keeps it from ever being one.
pub(super) const EMAIL_DOMAIN: &str = "@example.invalid";

/// The kind under which homes are numbered.
pub(super) const HOME: &str = "home";

/// The kind under which e-mail addresses are numbered.
pub(super) const EMAIL: &str = "email";

/// How many digits the number of a placeholder can have.
const MAX_DIGITS: usize = 6;

/// How long the kind in a placeholder can be.
pub(super) const MAX_KIND: usize = 64;

/// How a placeholder is written at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `redacted-api-key-1`.
    Word,
    /// `user-1@example.invalid`.
    Email,
    /// `user-1`, where the name of a home stood.
    Name,
    /// `home/user-1`, where `root` was a home of its own.
    RootPath,
    /// `home-user-1`, the same in the name of a folder that stands for a path.
    RootFolder,
}

impl Form {
    /// Whether the placeholder stands for itself rather than for a part of a path.
    pub(super) const fn is_word(self) -> bool {
        matches!(self, Self::Word | Self::Email)
    }

    /// The placeholder with this number.
    pub(super) fn write(self, kind: &str, number: u32) -> String {
        match self {
            Self::Word => format!("redacted-{kind}-{number}"),
            Self::Email => format!("user-{number}{EMAIL_DOMAIN}"),
            Self::Name => format!("user-{number}"),
            Self::RootPath => format!("home/user-{number}"),
            Self::RootFolder => format!("home-user-{number}"),
        }
    }
}

/// A placeholder that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder<'a> {
    /// Where it stands; for a home only its name.
    pub(super) range: Range<usize>,
    pub(super) kind: &'a str,
    pub(super) number: u32,
}

/// Whether a text is a placeholder, such as `redacted-api-key-1`, `user-1@example.invalid` or
/// `/home/user-1`.
///
/// ```
/// use countersign_record::redact::is_placeholder;
///
/// assert!(is_placeholder("redacted-token-12"));
/// assert!(is_placeholder("/home/user-1"));
/// assert!(!is_placeholder("/home/user-1/project"));
/// assert!(!is_placeholder("redacted"));
/// ```
#[must_use]
pub fn is_placeholder(text: &str) -> bool {
    placeholders(text.as_bytes()).any(|found| {
        let before = text.get(..found.range.start).unwrap_or_default();
        let home = found.kind == HOME && is_home_prefix(before);
        found.range.end == text.len() && (home || found.range.start == 0)
    })
}

/// Whether a text is all that stands before the name of a home.
fn is_home_prefix(text: &str) -> bool {
    if matches!(text, "/home/" | "/Users/" | "-home-" | "-Users-") {
        return true;
    }
    let is_slash = |character| matches!(character, '/' | '\\');
    let Some((drive, rest)) = text.split_once(':') else { return false };
    let folder = rest.trim_matches(is_slash);
    drive.len() == 1
        && drive.as_bytes().iter().all(u8::is_ascii_alphabetic)
        && matches!(folder, "Users" | "users")
        && rest.starts_with(is_slash)
        && rest.ends_with(is_slash)
}

/// Finds all placeholders in a text.
pub(super) fn placeholders(text: &[u8]) -> impl Iterator<Item = Placeholder<'_>> {
    let words = memmem::find_iter(text, "redacted-").filter_map(|at| word(text, at));
    let users = memmem::find_iter(text, "user-").filter_map(|at| user(text, at));
    words.chain(users)
}

/// Where placeholders stand in a text, ready to be asked about many places of it.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    /// In order, and apart from each other.
    ranges: Vec<Range<usize>>,
}

impl Placeholders {
    /// Finds all placeholders in a text.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut found: Vec<_> = placeholders(text).map(|found| found.range).collect();
        found.sort_by_key(|range| range.start);
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for range in found {
            match ranges.last_mut().filter(|last| range.start < last.end) {
                // The end of `redacted-home-user-1` looks like a placeholder as well.
                Some(last) => last.end = last.end.max(range.end),
                None => ranges.push(range),
            }
        }
        Self { ranges }
    }

    /// Whether a part of the text has a placeholder in it, or a part of one.
    pub(super) fn overlap(&self, part: &Range<usize>) -> bool {
        self.first_after(part.start).is_some_and(|range| range.start < part.end)
    }

    /// Whether a part of the text is part of a placeholder.
    pub(super) fn cover(&self, part: &Range<usize>) -> bool {
        let first = self.first_after(part.start);
        first.is_some_and(|range| range.start <= part.start && part.end <= range.end)
    }

    /// The first placeholder that does not end before `at`.
    fn first_after(&self, at: usize) -> Option<&Range<usize>> {
        self.ranges.get(self.ranges.partition_point(|range| range.end <= at))
    }
}

/// Reads `redacted-KIND-NUMBER`. A kind has no part that is all digits, so the first such part is
/// the number.
fn word(text: &[u8], start: usize) -> Option<Placeholder<'_>> {
    let kind_start = start + "redacted-".len();
    let mut at = kind_start;
    loop {
        let rest = text.get(at..)?;
        let is_part = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let part = rest.get(..rest.iter().take(MAX_KIND).take_while(is_part).count())?;
        if let Some(number) = number(part) {
            let kind = str::from_utf8(text.get(kind_start..at.checked_sub(1)?)?).ok()?;
            let range = start..at + part.len();
            return (!kind.is_empty() && !goes_on(text, range.end)).then_some(Placeholder {
                range,
                kind,
                number,
            });
        }
        if part.iter().all(u8::is_ascii_digit) || rest.get(part.len()) != Some(&b'-') {
            return None;
        }
        at += part.len() + 1;
        if at - kind_start > MAX_KIND {
            return None;
        }
    }
}

/// Reads `user-NUMBER`, where it is an address or the name of a home.
fn user(text: &[u8], start: usize) -> Option<Placeholder<'_>> {
    let digits_at = start + "user-".len();
    let digits = text.get(digits_at..)?;
    let digits = digits.get(..digits.iter().take_while(|byte| byte.is_ascii_digit()).count())?;
    let number = number(digits)?;
    let end = digits_at + digits.len();
    let domain_end = end + EMAIL_DOMAIN.len();
    if text.get(end..domain_end) == Some(EMAIL_DOMAIN.as_bytes()) && !goes_on(text, domain_end) {
        return Some(Placeholder { range: start..domain_end, kind: EMAIL, number });
    }
    let before = text.get(..start)?;
    let folder = match before.split_last()? {
        (b'-', folder) => folder,
        (b'/' | b'\\', _) => before.trim_suffix_slashes(),
        _ => return None,
    };
    let is_home = [&b"home"[..], b"Users", b"users"].iter().any(|name| folder.ends_with(name));
    (is_home && !goes_on(text, end)).then_some(Placeholder {
        range: start..end,
        kind: HOME,
        number,
    })
}

/// Whether a word goes on at `at`.
fn goes_on(text: &[u8], at: usize) -> bool {
    text.get(at).copied().is_some_and(is_word)
}

/// Whether a byte belongs to a word. What directly follows a secret and belongs to a word goes
/// with it; otherwise nobody could tell where the number of the placeholder ends.
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn number(digits: &[u8]) -> Option<u32> {
    if digits.len() > MAX_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(digits).ok()?.parse().ok()
}

trait TrimSlashes {
    fn trim_suffix_slashes(&self) -> &Self;
}

impl TrimSlashes for [u8] {
    fn trim_suffix_slashes(&self) -> &Self {
        let slashes = self.iter().rev().take_while(|byte| matches!(byte, b'/' | b'\\')).count();
        self.get(..self.len() - slashes).unwrap_or_default()
    }
}
