//! Secrets: how they are made, how they read, and what is kept of them.
//!
//! | text | what |
//! | --- | --- |
//! | `cst_<id>_<secret>` | an API token; the id is no secret and finds its record |
//! | `csl_<secret>` | the code of a link that works once |
//! | `csb_<secret>` | the cookie of a browser |
//!
//! A secret is 256 random bits in hexadecimal digits, so that a double click selects all of it. The
//! beginnings are there so that scanners for leaked secrets know them.

use std::fmt;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use thiserror::Error;
use tokio_rustls::rustls::crypto::ring;
use uuid::Uuid;

use crate::config::Secret;
use crate::id::TokenId;

/// The beginning of a token.
const TOKEN: &str = "cst_";
/// The beginning of a code.
const CODE: &str = "csl_";
/// The beginning of a cookie.
const COOKIE: &str = "csb_";
/// How many hexadecimal digits a secret has.
const DIGITS: usize = 64;

/// The machine has no random numbers to give. Nothing secret can be made then.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the operating system gives no random numbers")]
pub struct NoRandomness;

/// What is kept of a secret: its SHA-256. It says nothing about the secret, which has 256 bits.
#[derive(Clone, Copy, Eq)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// The hash of a secret, as text.
    #[must_use]
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// The hash, to be kept.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A hash that was kept.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// In a time that does not depend on where they differ.
impl PartialEq for SecretHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl std::hash::Hash for SecretHash {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash")
    }
}

/// A new token with this id.
pub(super) fn new_token(id: TokenId) -> Result<Secret, NoRandomness> {
    Ok(Secret::new(format!("{TOKEN}{}_{}", id.uuid().simple(), digits()?)))
}

/// A new code for a link.
pub(super) fn new_code() -> Result<Secret, NoRandomness> {
    Ok(Secret::new(format!("{CODE}{}", digits()?)))
}

/// A new value for a cookie.
pub(super) fn new_cookie() -> Result<Secret, NoRandomness> {
    Ok(Secret::new(format!("{COOKIE}{}", digits()?)))
}

/// The id in a text that reads like a token.
pub(super) fn token_id(text: &str) -> Option<TokenId> {
    let (id, secret) = text.strip_prefix(TOKEN)?.split_once('_')?;
    // Only the one spelling that we make: a UUID has many.
    let id = Some(id).filter(|id| is_digits(id, 32)).and_then(|id| Uuid::try_parse(id).ok())?;
    is_digits(secret, DIGITS).then(|| id.into())
}

/// Whether a text reads like a code.
pub(super) fn is_code(text: &str) -> bool {
    text.strip_prefix(CODE).is_some_and(|secret| is_digits(secret, DIGITS))
}

/// Whether a text reads like the value of a cookie.
pub(super) fn is_cookie(text: &str) -> bool {
    text.strip_prefix(COOKIE).is_some_and(|secret| is_digits(secret, DIGITS))
}

fn is_digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// 256 random bits, from where the keys of TLS come from as well.
fn digits() -> Result<String, NoRandomness> {
    let mut bytes = [0; DIGITS / 2];
    ring::default_provider().secure_random.fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes.iter().fold(String::with_capacity(DIGITS), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::{SecretHash, is_code, is_cookie, new_code, new_cookie, new_token, token_id};
    use crate::id::TokenId;

    #[test]
    fn a_token_has_its_id_in_it_and_256_bits_besides() {
        let id = TokenId::new();
        let [one, two] = [new_token(id).unwrap(), new_token(id).unwrap()];
        assert_eq!(token_id(one.expose()), Some(id));
        assert_ne!(one, two);
        let (front, secret) = one.expose().rsplit_once('_').unwrap();
        assert_eq!((front, secret.len()), (&*format!("cst_{}", id.uuid().simple()), 64));
    }

    #[test]
    fn only_the_one_spelling_of_a_token_is_one() {
        let token = new_token(TokenId::new()).unwrap();
        let text = token.expose();
        for wrong in [
            "",
            "cst_",
            "cst__",
            &text[1..],
            &text[..text.len() - 1],
            &format!("{text}0"),
            &text.to_uppercase(),
            &text.replace("cst_", "csb_"),
            &text.replacen('_', "_{", 1),
        ] {
            assert_eq!(token_id(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn codes_and_cookies_are_not_mixed_up() {
        let (code, cookie) = (new_code().unwrap(), new_cookie().unwrap());
        assert!(is_code(code.expose()) && !is_cookie(code.expose()));
        assert!(is_cookie(cookie.expose()) && !is_code(cookie.expose()));
    }

    #[test]
    fn a_hash_is_the_same_for_the_same_text_only() {
        assert_eq!(SecretHash::of("a"), SecretHash::of("a"));
        assert_ne!(SecretHash::of("a"), SecretHash::of("b"));
        assert_eq!(SecretHash::from_bytes(*SecretHash::of("a").as_bytes()), SecretHash::of("a"));
    }
}
