//! E-mail addresses, and passwords in URLs.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem};

use super::names::is_value;

/// How long the part before the @ may be.
const MAX_LOCAL: usize = 64;

/// How long the part after it may be.
const MAX_DOMAIN: usize = 253;

/// How long the user and password of a URL may be.
const MAX_USERINFO: usize = 512;

/// Nobody is behind these.
const NOBODY: &[&[u8]] = &[b"git", b"noreply", b"no-reply", b"donotreply"];

/// Endings of domains that are reserved, and of files and units that have an @ in their names.
const NOT_A_DOMAIN: &[&[u8]] = &[
    b"invalid",
    b"example",
    b"test",
    b"localhost",
    b"png",
    b"jpg",
    b"jpeg",
    b"gif",
    b"svg",
    b"webp",
    b"ico",
    b"js",
    b"mjs",
    b"ts",
    b"tsx",
    b"jsx",
    b"css",
    b"scss",
    b"json",
    b"md",
    b"html",
    b"service",
    b"socket",
    b"timer",
    b"mount",
    b"slice",
    b"target",
    b"scope",
];

/// Domains that are reserved for examples.
const EXAMPLES: &[&[u8]] = &[b"example.com", b"example.org", b"example.net"];

/// Finds e-mail addresses.
pub(super) fn emails(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    memchr_iter(b'@', text).filter_map(|at| email(text, at))
}

fn email(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before = text.get(at.saturating_sub(MAX_LOCAL)..at)?;
    let length = before.iter().rev().take_while(|byte| is_local(**byte)).count();
    let local = before.get(before.len() - length..)?;
    let local =
        local.get(local.iter().take_while(|byte| !byte.is_ascii_alphanumeric()).count()..)?;
    let start = at - local.len();

    let after = text.get(at + 1..)?;
    let length = after.iter().take(MAX_DOMAIN).take_while(|byte| is_domain(**byte)).count();
    let domain = after.get(..length)?;
    let trailing = domain.iter().rev().take_while(|byte| !byte.is_ascii_alphanumeric()).count();
    let domain = domain.get(..length - trailing)?;
    let end = at + 1 + domain.len();

    let mut labels = domain.rsplit(|byte| *byte == b'.');
    let top = labels.next()?;
    let has_labels = labels.clone().next().is_some() && labels.all(|label| !label.is_empty());
    let is_domain = has_labels
        && top.len() >= 2
        && top.iter().all(u8::is_ascii_alphabetic)
        && !is_among(top, NOT_A_DOMAIN)
        && !is_among(domain, EXAMPLES);
    let is_person = !local.is_empty() && !is_among(local, NOBODY);
    (is_domain && is_person && !is_userinfo(text, start)).then_some(start..end)
}

const fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-')
}

const fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

fn is_among(word: &[u8], list: &[&[u8]]) -> bool {
    list.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Whether what stands at `start` is the login of a URL rather than the beginning of an address.
fn is_userinfo(text: &[u8], start: usize) -> bool {
    let before = text.get(start.saturating_sub(MAX_USERINFO)..start).unwrap_or_default();
    let login = before.iter().rev().take_while(|byte| is_login(**byte)).count();
    before.get(..before.len() - login).unwrap_or_default().ends_with(b"://")
}

/// Finds the passwords of URLs, and tokens that stand where the user would.
///
/// The first range is the login up to where the secret ends, the second the secret.
pub(super) fn url_passwords(text: &[u8]) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    memmem::find_iter(text, "://").map(|at| at + 3).flat_map(|start| {
        let secrets = login_secrets(text, start).into_iter().flatten();
        secrets.map(move |secret| (start..secret.end, secret))
    })
}

/// What is secret in the login that begins at `start`: the user, the password, or neither.
fn login_secrets(text: &[u8], start: usize) -> [Option<Range<usize>>; 2] {
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.iter().take(MAX_USERINFO).take_while(|byte| is_login(**byte)).count();
    if rest.get(length) != Some(&b'@') {
        return [None, None];
    }
    let login = rest.get(..length).unwrap_or_default();
    let user = login.get(..memchr(b':', login).unwrap_or(length)).unwrap_or_default();
    let password = login.get(user.len() + 1..).unwrap_or_default();
    let is_token = user.len() >= 16 && user.iter().any(u8::is_ascii_digit);
    let user_end = start + user.len();
    [
        is_token.then_some(start..user_end),
        is_value(password).then_some(user_end + 1..start + length),
    ]
}

fn is_login(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'/' | b'?' | b'#' | b'@' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}
