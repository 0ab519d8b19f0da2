//! Private keys in their armour: `-----BEGIN PRIVATE KEY-----` and so on.

use std::ops::Range;

use memchr::memmem;

const DASHES: &[u8] = b"-----";

/// How long the label of an armour may be.
const MAX_LABEL: usize = 64;

/// How long a line of base64 has to be to belong to a key that was cut.
const MIN_LINE: usize = 16;

/// Finds private keys; of one that was cut, as much as there is.
///
/// The line breaks may be written as escapes, once or several times over.
pub(super) fn private_keys(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    memmem::find_iter(text, "-----BEGIN ").filter_map(|start| {
        let rest = text.get(start..)?;
        let (body, end) = armour(rest)?;
        let end = end.unwrap_or_else(|| body + cut_body(rest.get(body..).unwrap_or_default()));
        Some(start..start + end)
    })
}

/// Whether a text ends within a private key, so that the next line may belong to it.
pub(super) fn ends_in_private_key(text: &[u8]) -> bool {
    let last = memmem::rfind(text, b"-----BEGIN ").and_then(|start| text.get(start..));
    last.is_some_and(|rest| {
        armour(rest).is_some_and(|(body, end)| {
            end.is_none() && rest.get(body..).is_some_and(|body| body.iter().all(|b| is_body(*b)))
        })
    })
}

/// As [`ends_in_private_key`], for a text that has just been continued by a line, and that ended in
/// a key before that. Only the line is looked at where that is enough, because a key has many.
pub(super) fn goes_on_in_private_key(text: &[u8], line: &[u8]) -> bool {
    if memmem::find(line, DASHES).is_some() {
        return ends_in_private_key(text);
    }
    line.iter().all(|byte| is_body(*byte))
}

/// Where the body of the key at the beginning of a text begins, and where the key ends.
fn armour(text: &[u8]) -> Option<(usize, Option<usize>)> {
    let body = label(text, b"-----BEGIN ")?;
    let rest = text.get(body..)?;
    let end = memmem::find(rest, DASHES)
        .filter(|end| rest.get(..*end).is_some_and(|body| body.iter().all(|byte| is_body(*byte))))
        .and_then(|end| Some(body + end + label(rest.get(end..)?, b"-----END ")?));
    Some((body, end))
}

/// How long the first or last line of a private key at the beginning of a text is.
fn label(text: &[u8], begin: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(begin)?;
    let rest = rest.get(..rest.len().min(MAX_LABEL))?;
    let length = memmem::find(rest, DASHES)?;
    let label = rest.get(..length)?;
    let is_private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    is_private.then_some(begin.len() + length + DASHES.len())
}

/// How much of a text is the body of a key whose end is missing.
fn cut_body(text: &[u8]) -> usize {
    let mut end = 0;
    loop {
        let rest = text.get(end..).unwrap_or_default();
        let gap =
            rest.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b'\\').count();
        // The letter of an escaped line break reads like the first one of the line.
        let line = rest.iter().skip(gap).take_while(|byte| is_base64(**byte)).count();
        if line < MIN_LINE {
            return end;
        }
        end += gap + line;
    }
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

const fn is_body(byte: u8) -> bool {
    is_base64(byte)
        || byte.is_ascii_whitespace()
        || matches!(byte, b'\\' | b':' | b',' | b'.' | b'-' | b'(' | b')' | b'_')
}
