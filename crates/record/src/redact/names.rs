//! Which names say that their value is a secret.
//!
//! A name is looked at as the words it is made of, whatever its style: `x-api-key`, `apiKey` and
//! `API_KEY` are the same. Its last words decide: `apiKeySource` is where a key comes from, and
//! `max_tokens` is a number of tokens.

use super::placeholder::is_word;

/// How long a name may be.
pub(super) const MAX_NAME: usize = 80;

/// What kind of secret a name announces; also the word in the placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announced {
    Key,
    Token,
    Password,
    Secret,
    Cookie,
}

impl Announced {
    /// All of them.
    pub(super) const ALL: [Self; 5] =
        [Self::Key, Self::Token, Self::Password, Self::Secret, Self::Cookie];

    /// The kind under which the placeholders are numbered.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Key => "api-key",
            Self::Token => "token",
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Cookie => "cookie",
        }
    }
}

/// A name that says that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) announced: Announced,
    /// Written like an environment variable: `MY_TOKEN`.
    pub(super) shouted: bool,
    /// The name of a header whose value may begin with a scheme, such as `Bearer`.
    pub(super) has_scheme: bool,
}

/// The words at the end of which a name can turn out to be secret, for a quick search.
pub(super) const LAST_WORDS: &str =
    r"(?i-u)passw(?:or)?d|passphrase|pwd|secret|key|token|authorization|cookie|code|verifier";

/// How a name that says so can end.
const ENDS: &[&[u8]] = &[
    b"password",
    b"passwd",
    b"passphrase",
    b"pwd",
    b"secret",
    b"key",
    b"token",
    b"authorization",
    b"cookie",
    b"code",
    b"verifier",
];

/// What makes a `…Key` a secret one.
const KEYS: &[&str] = &[
    "api",
    "secret",
    "private",
    "access",
    "signing",
    "signature",
    "encryption",
    "auth",
    "account",
    "master",
    "ssh",
    "license",
    "subscription",
    "deploy",
    "shared",
    "service",
    "storage",
    "webhook",
];

/// What makes a `…Token` a secret one.
const TOKENS: &[&str] = &[
    "access", "refresh", "id", "auth", "bearer", "api", "session", "oauth", "csrf", "xsrf",
    "security", "secret", "bot", "github", "gitlab", "npm", "slack", "hf", "personal", "private",
    "deploy", "service", "admin", "user", "app", "jwt", "login", "reset", "invite", "vault",
];

/// What makes a `…_KEY` or `…_TOKEN` an ordinary one, even in the environment.
const ORDINARY: &[&str] = &[
    "primary",
    "foreign",
    "public",
    "cache",
    "sort",
    "partition",
    "unique",
    "index",
    "hot",
    "row",
    "group",
    "map",
    "max",
    "next",
    "page",
    "progress",
    "continuation",
    "cancel",
    "stop",
    "pad",
    "eos",
    "bos",
    "unk",
    "mask",
    "sep",
    "cls",
    "per",
];

/// What a name announces, if it says that its value is a secret.
pub(super) fn announces(name: &[u8]) -> Option<Name> {
    let is_part = |byte: &u8| is_word(*byte) || matches!(byte, b'-' | b'.' | b':' | b' ');
    // Nearly all names are ordinary, and this is asked for each.
    if !ENDS.iter().any(|end| ends_with(name, end)) {
        return None;
    }
    // A longer one, or one with other characters, is a text rather than a name.
    if name.len() > MAX_NAME || !name.iter().all(is_part) {
        return None;
    }
    let name = str::from_utf8(name).ok()?;
    let words = words(name);
    let (last, before) = words.split_last()?;
    let previous = before.last().map(String::as_str);
    let shouted = !name.bytes().any(|byte| byte.is_ascii_lowercase()) && name.bytes().all(is_word);
    let among = |list: &[&str]| previous.is_some_and(|word| list.contains(&word));
    let mut has_scheme = false;
    let announced = match last.as_str() {
        word if ["password", "passwd", "passphrase"].iter().any(|end| word.ends_with(end)) => {
            Announced::Password
        }
        "pwd" if previous.is_some() => Announced::Password,
        "secret" => Announced::Secret,
        "apikey" | "secretkey" | "accesskey" | "privatekey" => Announced::Key,
        "key" if among(KEYS) => Announced::Key,
        "key" if shouted && previous.is_some() && !among(ORDINARY) => Announced::Key,
        "token" if previous.is_none() || among(TOKENS) => Announced::Token,
        "token" if shouted && !among(ORDINARY) => Announced::Token,
        "accesstoken" | "refreshtoken" | "idtoken" | "authtoken" => Announced::Token,
        "authorization" => {
            has_scheme = true;
            Announced::Token
        }
        "cookie" => Announced::Cookie,
        "code" if among(&["authorization", "auth"]) => Announced::Token,
        "verifier" if among(&["code"]) => Announced::Secret,
        _ => return None,
    };
    Some(Name { announced, shouted, has_scheme })
}

/// Whether a name ends so, in capitals or not.
fn ends_with(name: &[u8], end: &[u8]) -> bool {
    let start = name.len().checked_sub(end.len());
    start.and_then(|start| name.get(start..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
}

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut end = |word: &mut String| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    let mut characters = name.chars().peekable();
    let mut lower_before = false;
    let mut upper_before = false;
    while let Some(character) = characters.next() {
        if !character.is_alphanumeric() {
            end(&mut word);
            lower_before = false;
            upper_before = false;
            continue;
        }
        let upper = character.is_uppercase();
        // `apiKey` is two words, and so is `APIKey`.
        let next_lower = characters.peek().is_some_and(|next| next.is_lowercase());
        if upper && (lower_before || upper_before && next_lower) {
            end(&mut word);
        }
        word.extend(character.to_lowercase());
        lower_before = !upper;
        upper_before = upper;
    }
    end(&mut word);
    words
}

/// Whether a value can be a secret at all: not empty, not a word that stands for nothing, not a
/// reference to a value that is somewhere else.
pub(super) fn is_value(value: &[u8]) -> bool {
    const NOTHING: &[&[u8]] = &[
        b"null",
        b"none",
        b"nil",
        b"undefined",
        b"true",
        b"false",
        b"string",
        b"str",
        b"...",
        b"\xe2\x80\xa6",
    ];
    let is_mask = |byte: &u8| matches!(byte, b'*' | b'.' | b'-' | b'x' | b'X');
    let masked = value.len() >= 3 && value.iter().all(is_mask);
    // `"api_key": "ANTHROPIC_API_KEY"` says where the key is.
    let variable = value.contains(&b'_')
        && value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    let nothing = NOTHING.iter().any(|word| value.eq_ignore_ascii_case(word));
    !value.is_empty() && !is_reference(value) && !masked && !variable && !nothing
}

/// Whether a value only says where the real one is: `$TOKEN`, `${{ secrets.x }}`, `<token>`.
fn is_reference(value: &[u8]) -> bool {
    match (value.first(), value.last()) {
        (Some(b'<'), Some(b'>'))
        | (Some(b'{'), Some(b'}'))
        | (Some(b'['), Some(b']'))
        | (Some(b'%'), Some(b'%')) => true,
        (Some(b'$'), _) => {
            let name = value.get(1..).unwrap_or_default();
            let shouted =
                |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
            matches!(name.first(), Some(b'{' | b'(')) || name.iter().all(shouted)
        }
        _ => false,
    }
}

/// Whether a value that no quotes surround looks made up by a machine or a careful person, rather
/// than being a word or a piece of code.
pub(super) fn is_random(value: &[u8]) -> bool {
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let others = value.iter().any(|byte| byte.is_ascii_digit() || is_symbol(*byte));
    value.len() >= 8 && letters && others && !is_code(value)
}

const fn is_symbol(byte: u8) -> bool {
    matches!(byte, b'!' | b'#' | b'%' | b'^' | b'*' | b'+' | b'~' | b'@' | b'?')
}

/// Whether a value reads like an expression: `self.token2`, `std::env`.
fn is_code(value: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(value) else { return false };
    let is_name = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.bytes().all(is_word)
            && part.len() < 24
    };
    text.contains("::") || (text.contains('.') && text.split('.').all(is_name))
}

/// Whether a value stands out so that every place where it occurs can be taken for the secret.
///
/// The word `default` as a password is taken out where it is called one; taking it out everywhere
/// would ruin the tape and tell what it was. The same goes for words with spaces between them and
/// for names such as `parent_tool_use_id`.
pub(super) fn is_distinctive(value: &[u8]) -> bool {
    let is_prose = |byte: &u8| {
        byte.is_ascii_alphabetic()
            || matches!(byte, b'_' | b'-' | b' ' | b'.' | b',' | b'\'' | b'!')
    };
    let is_phrase = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'-';
    let digits = value.iter().all(u8::is_ascii_digit);
    let phrase = value.len() >= 16 && value.iter().all(is_phrase);
    value.len() >= 8 && !digits && (phrase || !value.iter().all(is_prose))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_names_that_look_like_them() {
        let announced = |name: &str| announces(name.as_bytes()).map(|name| name.announced);
        for (name, expected) in [
            ("api_key", Announced::Key),
            ("apiKey", Announced::Key),
            ("APIKey", Announced::Key),
            ("apikey", Announced::Key),
            ("x-api-key", Announced::Key),
            ("X-Goog-Api-Key", Announced::Key),
            ("ANTHROPIC_API_KEY", Announced::Key),
            ("aws_secret_access_key", Announced::Key),
            ("private_key", Announced::Key),
            ("STRIPE_KEY", Announced::Key),
            ("token", Announced::Token),
            ("access_token", Announced::Token),
            ("accessToken", Announced::Token),
            ("refresh_token", Announced::Token),
            ("id_token", Announced::Token),
            ("authToken", Announced::Token),
            ("CLAUDE_CODE_OAUTH_TOKEN", Announced::Token),
            ("X_TOKEN", Announced::Token),
            ("x-amz-security-token", Announced::Token),
            ("Authorization", Announced::Token),
            ("proxy-authorization", Announced::Token),
            ("authorizationCode", Announced::Token),
            ("password", Announced::Password),
            ("PGPASSWORD", Announced::Password),
            ("spring.datasource.password", Announced::Password),
            ("passwd", Announced::Password),
            ("db_pwd", Announced::Password),
            ("secret", Announced::Secret),
            ("client_secret", Announced::Secret),
            ("code_verifier", Announced::Secret),
            ("Set-Cookie", Announced::Cookie),
        ] {
            assert_eq!(announced(name), Some(expected), "{name}");
        }
        for name in [
            "apiKeySource",
            "apiKeyHelper",
            "tokenSource",
            "token_state",
            "progressToken",
            "max_tokens",
            "output_tokens",
            "tokens",
            "cache_read_input_tokens",
            "keyboard",
            "key",
            "turnAttributionKey",
            "monkey",
            "PRIMARY_KEY",
            "PUBLIC_KEY",
            "NEXT_TOKEN",
            "PWD",
            "OLDPWD",
            "nextPageToken",
            "secrets",
            "credentials",
            "passwordless",
            "secretary",
            "signature",
            "exit_code",
            "code",
            "sort_key",
            "authorizationUrl",
            "session_id",
            "tool_use_id",
            "cookies",
            "cookieConsent",
            "publicKey",
            "",
            "-",
        ] {
            assert_eq!(announced(name), None, "{name}");
        }
    }

    #[test]
    fn ordinary_words_are_not_looked_for_everywhere() {
        for value in
            ["assistant", "not found", "12345678", "parent_tool_use_id", "a1", "bypassPermissions"]
        {
            assert!(!is_distinctive(value.as_bytes()), "{value}");
        }
        for value in
            ["hunter22", "correct-horse-battery", "qwertyuiopasdfgh", "Pa$$word", "wJalr/Kbc"]
        {
            assert!(is_distinctive(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn references_are_no_values() {
        for value in [
            "",
            "$TOKEN",
            "${TOKEN}",
            "<token>",
            "{{ token }}",
            "%TOKEN%",
            "none",
            "Null",
            "***",
            "ANTHROPIC_API_KEY",
            "xxxx",
        ] {
            assert!(!is_value(value.as_bytes()), "{value}");
        }
        for value in ["hunter2", "a", "$ecret", "$2b$10$abc", "abc_def", "A1_B2", "correct horse"] {
            assert!(is_value(value.as_bytes()), "{value}");
        }
    }
}
