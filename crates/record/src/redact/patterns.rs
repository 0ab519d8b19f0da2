//! Secrets that are told by what they look like.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::bytes::Regex;

use super::placeholder::is_word;

/// A built-in rule that is a regular expression.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) rule: &'static str,
    pub(super) kind: &'static str,
    /// Words of which every match has one, with bars between them.
    pub(super) words: &'static str,
    /// The first group is the secret; without a group it is the whole match.
    pub(super) regex: Regex,
    /// A look at what no regular expression can say.
    pub(super) check: Check,
}

/// What has to hold besides the match.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    None,
    /// No word goes on before the match: `task-notification` has no key in it.
    Start,
    /// Neither does one go on after it.
    Whole,
    /// As `Start`, and it looks random rather than like words with hyphens between them.
    StartRandom,
    /// As `Start`, and there is a digit in the secret: `Bearer authentication` is no token.
    StartDigit,
    /// As `Start`, and the secret is base64 of `user:password`.
    StartLogin,
    /// The first part is base64 of an object: `eyJustAName.method` is code.
    Jwt,
}

impl Pattern {
    /// The first match at `from` or after it: all of it, and the secret in it.
    pub(super) fn find_at(&self, text: &[u8], from: usize) -> Option<(Range<usize>, Range<usize>)> {
        let found = self.regex.find_at(text, from)?.range();
        if self.regex.captures_len() == 1 {
            return Some((found.clone(), found));
        }
        let captures = self.regex.captures_at(text, found.start)?;
        Some((found, captures.get(1)?.range()))
    }
}

impl Check {
    /// Whether a match in a text, with a secret in it, holds.
    pub(super) fn holds(self, text: &[u8], found: &Range<usize>, secret: &[u8]) -> bool {
        let word_at =
            |at: Option<usize>| at.and_then(|at| text.get(at)).copied().is_some_and(is_word);
        let starts = !word_at(found.start.checked_sub(1));
        match self {
            Self::None => true,
            Self::Start => starts,
            Self::Whole => starts && !word_at(Some(found.end)),
            Self::StartRandom => starts && looks_like_key(secret),
            Self::StartDigit => starts && secret.iter().any(u8::is_ascii_digit),
            Self::StartLogin => starts && is_login(secret),
            Self::Jwt => is_jwt(secret),
        }
    }
}

/// A rule, its kind, the words of which every match has one, what it looks for, and what else has
/// to hold.
type Row = (&'static str, &'static str, &'static str, &'static str, Check);

/// The more a pattern says, the earlier it stands: where two find the same text, the first counts.
///
/// A pattern that may be refused for what stands around it has an upper limit: after each refusal
/// the search goes on one byte further, and hostile text could make that take for ever.
const TABLE: &[Row] = &[
    ("anthropic-key", "api-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{8,}", Check::None),
    ("openai-key", "api-key", "sk-", r"sk-[A-Za-z0-9_-]{20,250}", Check::StartRandom),
    (
        "stripe-key",
        "api-key",
        "k_live_|k_test_",
        r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,250}",
        Check::Start,
    ),
    (
        "aws-key",
        "api-key",
        "AKIA|ASIA|ABIA|ACCA",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}",
        Check::Whole,
    ),
    ("google-key", "api-key", "AIza", r"AIza[A-Za-z0-9_-]{35,60}", Check::Start),
    ("google-key", "api-key", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,60}", Check::Start),
    ("google-key", "token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,500}", Check::Start),
    (
        "github-token",
        "token",
        "ghp_|gho_|ghu_|ghs_|ghr_",
        r"gh[pousr]_[A-Za-z0-9]{20,}",
        Check::None,
    ),
    ("github-token", "token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}", Check::None),
    (
        "gitlab-token",
        "token",
        "glpat-|glptt-|gldt-|glrt-|glcbt-|gloas-|glft-|glagent-|glsoat-|glimt-",
        r"gl(?:pat|ptt|dt|rt|cbt|oas|ft|agent|soat|imt)-[A-Za-z0-9_-]{16,250}",
        Check::Start,
    ),
    ("slack-token", "token", "xox", r"xox[a-z]-[A-Za-z0-9-]{10,}", Check::None),
    ("slack-token", "token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{10,}", Check::None),
    (
        "slack-token",
        "token",
        "hooks.slack",
        r"hooks\.slack\.com/services/([A-Za-z0-9/_]{20,})",
        Check::None,
    ),
    ("npm-token", "token", "npm_", r"npm_[A-Za-z0-9]{36,60}", Check::Start),
    ("huggingface-token", "token", "hf_", r"hf_[A-Za-z0-9]{30,60}", Check::Start),
    (
        "service-key",
        "api-key",
        "SG.",
        r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}",
        Check::Start,
    ),
    ("service-key", "api-key", "pypi-", r"pypi-[A-Za-z0-9_-]{50,250}", Check::Start),
    ("service-key", "api-key", "dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{20,60}", Check::Start),
    ("service-key", "api-key", "dop_v1_|doo_v1_", r"do[op]_v1_[a-f0-9]{40,100}", Check::Start),
    (
        "service-key",
        "api-key",
        "gsk_|xai-|pplx-|r8_",
        r"(?:gsk_|xai-|pplx-|r8_)[A-Za-z0-9]{30,120}",
        Check::Start,
    ),
    // Three parts, or five of which one may be empty, or fewer where it was cut.
    ("jwt", "jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,1000}(?:\.\.?[A-Za-z0-9_-]{4,}){1,4}", Check::Jwt),
    ("bearer", "token", "bearer", r"(?i)bearer[ \t]+([a-z0-9._~+/=-]{8,})", Check::StartDigit),
    ("basic-auth", "login", "basic", r"(?i)basic[ \t]+([a-z0-9+/]{8,}={0,2})", Check::StartLogin),
];

/// All built-in rules that are regular expressions.
pub(super) fn patterns() -> Result<Vec<Pattern>, regex::Error> {
    let compile = |&(rule, kind, words, source, check): &Row| {
        // ASCII only: the classes above are meant as written, and lines need not be UTF-8.
        let regex = regex::bytes::RegexBuilder::new(source).unicode(false).build()?;
        Ok(Pattern { rule, kind, words, regex, check })
    };
    TABLE.iter().map(compile).collect()
}

/// Whether a text looks like a key: with digits, and with capitals or a long stretch without hyphens.
fn looks_like_key(key: &[u8]) -> bool {
    let digits = key.iter().any(u8::is_ascii_digit);
    let capitals = key.iter().any(u8::is_ascii_uppercase);
    let longest = key.split(|byte| matches!(byte, b'-' | b'_')).map(<[u8]>::len).max();
    digits && (capitals || longest >= Some(16))
}

/// Whether a text is base64 of a user and a password.
fn is_login(coded: &[u8]) -> bool {
    let bare = coded.iter().take_while(|byte| **byte != b'=').count();
    let decoded = STANDARD_NO_PAD.decode(coded.get(..bare).unwrap_or_default());
    decoded.is_ok_and(|decoded| {
        decoded.contains(&b':') && decoded.iter().all(|byte| !byte.is_ascii_control())
    })
}

/// Whether the first part of a token is the header of one.
fn is_jwt(token: &[u8]) -> bool {
    let header = token.split(|byte| *byte == b'.').next().unwrap_or_default();
    URL_SAFE_NO_PAD.decode(header).is_ok_and(|header| {
        header.ends_with(b"}") && header.iter().all(|byte| !byte.is_ascii_control())
    })
}
