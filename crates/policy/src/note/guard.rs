//! What switches off something that protects: the checks of certificates and of keys, a sandbox.

use std::borrow::Cow;

use serde_json::Value;

use super::content::Contents;
use super::{Danger, Found, send, subcommands, write};
use crate::call::Call;
use crate::shell::{Command, GIT, Run, Word};

/// Variables that switch checks off, and the values with which they do. All values, if there is none.
const VARIABLES: &[(&str, &[&str])] = &[
    ("GIT_SSL_NO_VERIFY", &[]),
    ("GOINSECURE", &[]),
    ("GOSUMDB", &["off"]),
    ("NODE_TLS_REJECT_UNAUTHORIZED", &["0"]),
    ("NPM_CONFIG_STRICT_SSL", &["0", "false"]),
    ("PIP_TRUSTED_HOST", &[]),
    ("PYTHONHTTPSVERIFY", &["0"]),
    ("npm_config_strict_ssl", &["0", "false"]),
];

/// Options that do, whatever program they are given to.
const OPTIONS: &[&str] = &[
    "--allow-insecure-host",
    "--allow-unauthenticated",
    "--insecure-skip-tls-verify",
    "--no-check-certificate",
    "--no-gpg-checks",
    "--no-strict-ssl",
    "--no-verify-ssl",
    "--nogpgcheck",
    "--strict-ssl=false",
    "--tls-verify=false",
    "--trusted-host",
    "--verify=false",
    "--verify=no",
];

/// Programs that only say what they are given, or look for it.
const TEXTS: &[&str] = &["ag", "echo", "egrep", "grep", "printf", "rg", "test", "["];

const CERTIFICATES: &str = "does not check who is at the other end";

impl Found {
    /// What is said of a call besides its command.
    pub(super) fn unguarded_call(&mut self, call: &Call<'_>) {
        let is_off = match call.input.get("dangerouslyDisableSandbox") {
            Some(Value::Bool(is_off)) => *is_off,
            Some(Value::String(text)) => text == "true",
            _ => false,
        };
        if is_off {
            self.add(Danger::Unguarded, "runs outside of the sandbox");
        }
    }

    /// A variable is set.
    pub(super) fn unguarded_variable(&mut self, name: &str, values: &[Word]) {
        if values.iter().any(|value| switches_off(name, &value.text)) {
            self.add(Danger::Unguarded, format!("{CERTIFICATES} ({name})"));
        }
        self.unguarded_words(values);
    }

    pub(super) fn unguarded(&mut self, command: &Command, run: &Run<'_>, contents: &Contents) {
        if TEXTS.contains(&run.program) {
            return;
        }
        self.unguarded_words(&command.words);
        let words = subcommands(run);
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let is_off = match run.program {
            "curl" => {
                let parsed = write::curl_options().anywhere(run.arguments);
                let to: Vec<Cow<'_, Word>> =
                    parsed.operands.iter().map(|word| Cow::Borrowed(*word)).collect();
                parsed.has(&["k", "insecure", "proxy-insecure", "doh-insecure"])
                    && !send::stays_here(&to, command, contents)
            }
            "git" => is_git_unchecked(run),
            "npm" | "pnpm" | "yarn" => {
                let from = usize::from(text(0) == "config");
                let pair = format!("{}={}", text(from + 1), text(from + 2));
                let pair = pair.trim_end_matches('=');
                text(from) == "set" && matches!(pair, "strict-ssl=false" | "enableStrictSsl=false")
            }
            "claude" => {
                let skips = |word: &Word| word.text.ends_with("dangerously-skip-permissions");
                if run.arguments.iter().any(skips) {
                    let text = "lets an agent do everything without asking (claude)";
                    self.add(Danger::Unguarded, text);
                }
                return;
            }
            "setenforce" if matches!(text(0), "0" | "Permissive" | "permissive") => {
                return self.add(Danger::Unguarded, "switches a protection of the machine off");
            }
            "ufw" if text(0) == "disable" => {
                return self.add(Danger::Unguarded, "switches the firewall off");
            }
            _ => false,
        };
        if is_off {
            self.add(Danger::Unguarded, format!("{CERTIFICATES} (with {})", run.program));
        }
    }

    fn unguarded_words(&mut self, words: &[Word]) {
        for word in words {
            let text = word.text.as_str();
            let option = || OPTIONS.iter().find(|option| is_option(text, option)).copied();
            let set = || {
                let (name, value) = text.split_once('=')?;
                switches_off(name, value).then_some(name)
            };
            let asks_no_key = || {
                let text = text.to_ascii_lowercase();
                let at = text.find("stricthostkeychecking")?;
                let value = text.get(at..)?.split(['=', ' ']).nth(1)?;
                matches!(value, "no" | "off").then_some("StrictHostKeyChecking")
            };
            if let Some(by) = option().or_else(set).or_else(asks_no_key) {
                self.add(Danger::Unguarded, format!("{CERTIFICATES} ({by})"));
            }
        }
    }
}

fn is_option(text: &str, option: &str) -> bool {
    text.strip_prefix(option).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with('=') && !matches!(rest, "=false" | "=no")
    })
}

fn switches_off(name: &str, value: &str) -> bool {
    let known = VARIABLES.iter().find(|(known, _)| *known == name);
    known.is_some_and(|(_, values)| {
        values.contains(&value) || values.is_empty() && !value.is_empty()
    })
}

/// `git -c http.sslVerify=false`, and the same setting for later.
fn is_git_unchecked(run: &Run<'_>) -> bool {
    let is_key = |key: &str| {
        let key = key.to_ascii_lowercase();
        key.starts_with("http.") && key.ends_with(".sslverify") || key == "http.sslverify"
    };
    let is_no =
        |value: &str| ["0", "false", "no", "off"].iter().any(|no| value.eq_ignore_ascii_case(no));
    let parsed = GIT.leading(run.arguments);
    let mut settings = parsed.values(&["c"]);
    settings.any(|setting| {
        setting.text.split_once('=').is_some_and(|(key, value)| is_key(key) && is_no(value))
    }) || parsed.rest.first().is_some_and(|name| name.text == "config")
        && parsed.rest.windows(2).any(|pair| match pair {
            [key, value] => is_key(&key.text) && is_no(&value.text),
            _ => false,
        })
}
