//! The guard: what the real CLI must not be started with.
//!
//! The laboratory is offline. A key that could be real, or an address that is not this machine,
//! has no business in it, wherever it came from.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Component, Path};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// The key that the CLI is given. It looks like one, and says that it is none.
pub(crate) const DUMMY_KEY: &str = "sk-ant-mock-000000000000";
/// What every key begins with that says it is none.
const DUMMY_PREFIX: &str = "sk-ant-mock-";

/// The switches that keep the CLI from talking to anybody but its model.
pub(crate) const SWITCHES: [(&str, &str); 4] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];

/// What credentials look like. What comes before may be anything but a letter or a digit: the name
/// of a folder such as `task-management-project` is none.
const KEY_FORMS: &str = concat!(
    r"(?:^|[^A-Za-z0-9])(sk-[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}",
    r"|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,})",
);

/// Refuses variables that would let the CLI out of the laboratory, which is in the folder `root`.
///
/// # Errors
///
/// When a value looks like a real key, an address is not on this machine, or a variable leads the
/// CLI outside in another way.
pub(crate) fn check_environment<'a>(
    environment: impl IntoIterator<Item = (&'a str, &'a str)>,
    root: &Path,
) -> Result<(), Refused> {
    for (name, value) in environment {
        check_variable(name, value)?;
        check_folder(name, value, root)?;
    }
    Ok(())
}

/// Refuses arguments that would do the same. Some of them hold settings, or name a file of them,
/// from the folder `work` on.
///
/// # Errors
///
/// As above.
pub(crate) fn check_arguments<'a>(
    arguments: impl IntoIterator<Item = &'a str>,
    work: &Path,
) -> Result<(), Refused> {
    let mut flag = None;
    for argument in arguments {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (Some(name), value),
            _ => (flag, argument),
        };
        let place = name.map_or("an argument".to_owned(), |flag| format!("the argument {flag}"));
        if looks_like_a_key(argument) {
            return Err(Refused::Key { place });
        }
        check_json(value)?;
        if matches!(name, Some("--settings" | "--mcp-config" | "--managed-settings")) {
            check_file(&work.join(value))?;
        }
        // A flag may take several.
        if argument.starts_with("--") {
            flag = Some(argument);
        }
    }
    Ok(())
}

/// Refuses a file of settings that would do the same. A file that is not there is none.
///
/// # Errors
///
/// As above.
pub(crate) fn check_file(file: &Path) -> Result<(), Refused> {
    // Nothing is read from what is not a file, and might never end.
    let text = if file.is_file() { std::fs::read_to_string(file) } else { return Ok(()) };
    let Ok(text) = text else { return Ok(()) };
    if looks_like_a_key(&text) {
        return Err(Refused::Key { place: format!("the file {}", file.display()) });
    }
    check_json(&text)
}

/// Looks for variables and addresses in what may be settings.
fn check_json(text: &str) -> Result<(), Refused> {
    // The CLI takes nothing else for settings that are written out.
    if !text.trim_start().starts_with('{') {
        return Ok(());
    }
    serde_json::from_str(text).map_or(Ok(()), |settings| check_settings(&settings))
}

fn check_settings(settings: &Value) -> Result<(), Refused> {
    match settings {
        Value::Array(items) => items.iter().try_for_each(check_settings),
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            match (key.as_str(), value) {
                ("env", Value::Object(variables)) => {
                    for (name, value) in variables {
                        check_variable(name, value.as_str().unwrap_or_default())?;
                    }
                }
                // Of a server of tools, or of a hook.
                ("url", Value::String(url)) => check_address("url", url)?,
                _ => {}
            }
            check_settings(value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn check_variable(name: &str, value: &str) -> Result<(), Refused> {
    let upper = name.to_ascii_uppercase();
    if looks_like_a_key(value) || holds_a_credential(&upper, value) {
        return Err(Refused::Key { place: format!("the variable {name}") });
    }
    let address = upper.ends_with("_BASE_URL")
        || upper.ends_with("_PROXY") && upper != "NO_PROXY"
        || upper.starts_with("OTEL_") && upper.ends_with("_ENDPOINT");
    if address && !value.is_empty() {
        check_address(name, value)?;
    }
    if upper.starts_with("CLAUDE_CODE_USE_") && !matches!(value, "" | "0" | "false") {
        return Err(Refused::Provider { name: name.to_owned() });
    }
    if SWITCHES.iter().any(|(switch, on)| *switch == upper && *on != value) {
        return Err(Refused::Traffic { name: name.to_owned() });
    }
    Ok(())
}

/// Whether a variable that exists to hold a credential holds one that does not say it is none.
/// Those of some providers have no form to tell them by.
fn holds_a_credential(name: &str, value: &str) -> bool {
    let endings = ["_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN"];
    let names = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"];
    let header = || {
        let value = value.to_ascii_lowercase();
        name == "ANTHROPIC_CUSTOM_HEADERS"
            && ["authorization:", "x-api-key:"].iter().any(|header| value.contains(header))
            && !value.contains(DUMMY_PREFIX)
    };
    let secret = endings.iter().any(|ending| name.ends_with(ending)) || names.contains(&name);
    secret && !value.is_empty() && !value.starts_with(DUMMY_PREFIX) || header()
}

/// Refuses a home or a configuration folder that is not the laboratory's: the real one has a login.
fn check_folder(name: &str, value: &str, root: &Path) -> Result<(), Refused> {
    let folder = Path::new(value);
    let climbs = folder.components().any(|part| part == Component::ParentDir);
    if matches!(name, "HOME" | "CLAUDE_CONFIG_DIR") && (climbs || !folder.starts_with(root)) {
        return Err(Refused::Folder { name: name.to_owned(), value: value.to_owned() });
    }
    Ok(())
}

fn check_address(name: &str, value: &str) -> Result<(), Refused> {
    if is_loopback(value) {
        return Ok(());
    }
    Err(Refused::Address { name: name.to_owned(), value: value.to_owned() })
}

/// Whether a text holds something in the form of a credential.
fn looks_like_a_key(text: &str) -> bool {
    static FORMS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(KEY_FORMS).ok());
    // A pattern that does not compile is found by the tests; until then nothing gets past.
    let Some(pattern) = FORMS.as_ref() else { return true };
    let mut found = pattern.captures_iter(text).filter_map(|found| found.get(1));
    found.any(|found| !found.as_str().starts_with(DUMMY_PREFIX))
}

/// Whether an address is on this machine. A name is not looked up: only `localhost` is taken.
fn is_loopback(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    if !matches!(scheme, "http" | "https" | "ws" | "wss") {
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
    /// A variable lets the CLI talk to somebody else than its model.
    #[error("{name} lets the CLI talk to other machines; the laboratory is offline: remove it")]
    Traffic {
        /// The variable.
        name: String,
    },
    /// A folder is not the laboratory's own.
    #[error(
        "{name} is {value}, which may hold a real login; \
             use a folder in the root folder of the laboratory"
    )]
    Folder {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA";

    fn check(name: &str, value: &str) -> Result<(), Refused> {
        check_environment([(name, value)], Path::new("/lab"))
    }

    fn check_argument(arguments: &[&str]) -> Result<(), Refused> {
        check_arguments(arguments.iter().copied(), Path::new("/lab/work"))
    }

    #[track_caller]
    fn refused(name: &str, value: &str) {
        assert!(check(name, value).is_err(), "{name}={value}");
    }

    #[track_caller]
    fn taken(name: &str, value: &str) {
        assert_eq!(check(name, value), Ok(()), "{name}={value}");
    }

    #[test]
    fn a_key_that_could_be_real_is_refused_wherever_it_stands() {
        refused("ANTHROPIC_API_KEY", KEY);
        refused("ANTHROPIC_API_KEY", "anything");
        refused("ANTHROPIC_API_KEY", "not-a-mock");
        refused("CLAUDE_CODE_OAUTH_TOKEN", "anything");
        refused("AWS_SECRET_ACCESS_KEY", "anything");
        refused("ANTHROPIC_CUSTOM_HEADERS", "Authorization: Bearer anything");
        refused("FOO", &format!("x {KEY}"));
        refused("FOO", &format!("{DUMMY_KEY} {KEY}"));
        refused("FOO", "AKIAIOSFODNN7EXAMPLE");
        taken("ANTHROPIC_API_KEY", DUMMY_KEY);
        taken("ANTHROPIC_API_KEY", "");
        taken("FOO", "task-force");
        taken("PATH", "/home/me/task-management-project/bin:/risk-assessment-of-2026");
        taken("ANTHROPIC_CUSTOM_HEADERS", "x-test: 1");
        let settings = format!(r#"--settings={{"env":{{"K":"{KEY}"}}}}"#);
        let error = check_argument(&[&settings]).unwrap_err();
        assert_eq!(error, Refused::Key { place: "the argument --settings".into() });
        assert!(!error.to_string().contains("AAAA"), "the key is not repeated");
        let error = check_argument(&["--append-system-prompt", KEY]).unwrap_err();
        assert_eq!(error, Refused::Key { place: "the argument --append-system-prompt".into() });
        assert_eq!(check_argument(&["--resume=5f70", "a = b", "{}", "{"]), Ok(()));
    }

    #[test]
    fn settings_are_looked_into() {
        let base = r#"{"env":{"ANTHROPIC_BASE_URL":"https://api.anthropic.com"}}"#;
        let server = r#"{"mcpServers":{"a":{"type":"http","url":"https://example.com/mcp"}}}"#;
        let local = r#"{"env":{"A":"b"},"hooks":[{"url":"http://127.0.0.1:5/x"}]}"#;
        for refused in [
            vec!["--settings", base],
            vec![&format!("--settings={base}")],
            vec!["--mcp-config", local, server],
            vec!["--verbose", server],
        ] {
            let error = check_argument(&refused).unwrap_err();
            assert!(matches!(error, Refused::Address { .. }), "{refused:?}: {error}");
        }
        assert_eq!(check_argument(&["--settings", local]), Ok(()));

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        let by_name = ["--settings", "settings.json"];
        let checked = || check_arguments(by_name, folder.path());
        assert_eq!(checked(), Ok(()), "a file that is not there");
        std::fs::write(&file, base).unwrap();
        assert!(matches!(checked(), Err(Refused::Address { .. })));
        std::fs::write(&file, format!(r#"{{"env":{{"FOO":"{KEY}"}}}}"#)).unwrap();
        assert!(matches!(checked(), Err(Refused::Key { .. })));
        std::fs::write(&file, local).unwrap();
        assert_eq!(checked(), Ok(()));
    }

    #[test]
    fn what_is_switched_off_stays_off() {
        refused("DISABLE_TELEMETRY", "0");
        refused("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "");
        taken("DISABLE_TELEMETRY", "1");
    }

    #[test]
    fn the_home_is_that_of_the_laboratory() {
        for folder in ["/root", "", "home", "/lab/../root", "/laboratory"] {
            refused("HOME", folder);
            refused("CLAUDE_CONFIG_DIR", folder);
        }
        taken("CLAUDE_CONFIG_DIR", "/lab/home/.other");
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
            refused("OTEL_EXPORTER_OTLP_ENDPOINT", url);
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
