//! The guard: what the real CLI must not be started with.
//!
//! The laboratory is offline. A key that could be real, or an address that is not this machine,
//! has no business in it, wherever it came from.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

/// The key that the CLI is given. It looks like one, and says that it is none.
pub(crate) const DUMMY_KEY: &str = "sk-ant-mock-000000000000";

/// What credentials look like.
const KEY_FORMS: &str = concat!(
    r"sk-[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}",
    r"|xox[abprs]-[\w-]{10,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}",
);

/// Refuses an environment or an argument that would let the CLI out.
///
/// # Errors
///
/// When a value looks like a real key, an address is not on this machine, or a variable sends the
/// CLI to another provider.
pub(crate) fn check<'a>(
    environment: impl IntoIterator<Item = (&'a str, &'a str)>,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Result<(), Refused> {
    for (name, value) in environment {
        check_variable(name, value)?;
    }
    for argument in arguments {
        if looks_like_a_key(argument) {
            let flag = argument.split('=').next().filter(|flag| flag.starts_with("--"));
            let place =
                flag.map_or("an argument".to_owned(), |flag| format!("the argument {flag}"));
            return Err(Refused::Key { place });
        }
    }
    Ok(())
}

fn check_variable(name: &str, value: &str) -> Result<(), Refused> {
    let upper = name.to_ascii_uppercase();
    let secret = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];
    // A variable that exists to hold a credential may only hold one that says it is none.
    if secret.contains(&upper.as_str()) && !value.is_empty() && !value.contains("mock") {
        return Err(Refused::Key { place: format!("the variable {name}") });
    }
    if looks_like_a_key(value) {
        return Err(Refused::Key { place: format!("the variable {name}") });
    }
    let address = upper.ends_with("_BASE_URL") || upper.ends_with("_PROXY");
    if address && upper != "NO_PROXY" && !value.is_empty() && !is_loopback(value) {
        return Err(Refused::Address { name: name.to_owned(), value: value.to_owned() });
    }
    if upper.starts_with("CLAUDE_CODE_USE_") && !matches!(value, "" | "0" | "false") {
        return Err(Refused::Provider { name: name.to_owned() });
    }
    Ok(())
}

/// Whether a text holds something in the form of a credential.
fn looks_like_a_key(text: &str) -> bool {
    static FORMS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(KEY_FORMS).ok());
    // A pattern that does not compile is found by the tests; until then nothing gets past.
    let Some(pattern) = FORMS.as_ref() else { return true };
    pattern.find_iter(text).any(|found| !found.as_str().starts_with("sk-ant-mock-"))
}

/// Whether an address is on this machine. A name is not looked up: only `localhost` is taken.
fn is_loopback(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    if !matches!(scheme, "http" | "https") {
        return false;
    }
    // What stands before an @ is a user; what a person reads as the host may be one.
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if authority.contains('@') {
        return false;
    }
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address == Ipv4Addr::LOCALHOST,
        Ok(IpAddr::V6(address)) => address == Ipv6Addr::LOCALHOST,
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

/// Why the CLI is not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Something looks like a real key. It is not repeated here.
    #[error(
        "{place} looks like a real credential; the laboratory runs without one: remove it, \
             or use a made-up key that begins with sk-ant-mock-"
    )]
    Key {
        /// Where it stands.
        place: String,
    },
    /// An address is not on this machine.
    #[error(
        "{name} is {value}, which is not on this machine; the laboratory is offline: \
             use an address on 127.0.0.1"
    )]
    Address {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
    },
    /// A variable sends the CLI to another provider.
    #[error("{name} sends the CLI to another provider; the laboratory is offline: remove it")]
    Provider {
        /// The variable.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(name: &str, value: &str) {
        assert!(check([(name, value)], []).is_err(), "{name}={value}");
    }

    #[track_caller]
    fn taken(name: &str, value: &str) {
        assert_eq!(check([(name, value)], []), Ok(()), "{name}={value}");
    }

    #[test]
    fn a_key_that_could_be_real_is_refused_wherever_it_stands() {
        refused("ANTHROPIC_API_KEY", "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA");
        refused("ANTHROPIC_API_KEY", "anything");
        refused("CLAUDE_CODE_OAUTH_TOKEN", "anything");
        refused("FOO", "x sk-ant-api03-AAAAAAAAAAAAAAAAAAAA");
        refused("FOO", "AKIAIOSFODNN7EXAMPLE");
        taken("ANTHROPIC_API_KEY", DUMMY_KEY);
        taken("ANTHROPIC_API_KEY", "");
        taken("FOO", "task-force");
        let settings = r#"--settings={"env":{"K":"sk-ant-api03-AAAAAAAAAAAAAAAAAAAA"}}"#;
        let error = check([], [settings]).unwrap_err();
        assert_eq!(error, Refused::Key { place: "the argument --settings".into() });
        assert!(!error.to_string().contains("AAAA"), "the key is not repeated");
    }

    #[test]
    fn an_address_that_is_not_this_machine_is_refused() {
        for url in [
            "https://api.anthropic.com",
            "http://127.0.0.1@example.com",
            "http://127.0.0.1.example.com",
            "http://example.com/127.0.0.1",
            "http://example.com\\@127.0.0.1",
            "http://0.0.0.0:1",
            "http://10.0.0.1",
            "ftp://127.0.0.1",
            "127.0.0.1:80",
            "http://localhost.example.com",
        ] {
            refused("ANTHROPIC_BASE_URL", url);
            refused("https_proxy", url);
        }
        for url in
            ["http://127.0.0.1:8080", "http://localhost:1/x", "http://[::1]:5", "https://LOCALHOST"]
        {
            taken("ANTHROPIC_BASE_URL", url);
        }
        taken("ANTHROPIC_BASE_URL", "");
        taken("NO_PROXY", "example.com");
    }

    #[test]
    fn another_provider_is_refused() {
        refused("CLAUDE_CODE_USE_BEDROCK", "1");
        taken("CLAUDE_CODE_USE_BEDROCK", "0");
    }
}
