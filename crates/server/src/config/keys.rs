//! The keys that can be set in the environment, and tables in which they are set.

use toml::{Table, Value};

use super::error::ConfigError;

/// How the text of a variable is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As it is.
    Text,
    /// A path; it may begin with `~/`, and is relative to wherever it was written.
    Path,
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Number,
    /// Texts with commas between them.
    Texts,
    /// Paths with colons between them, as in `PATH`.
    Paths,
}

/// The keys with how they are read, in the order in which they are documented.
pub(super) const KEYS: &[(&str, Kind)] = &[
    ("listen", Kind::Text),
    ("allow_non_loopback_without_tls", Kind::Switch),
    ("public_url", Kind::Text),
    ("allowed_hosts", Kind::Texts),
    ("tls.certificate", Kind::Path),
    ("tls.key", Kind::Path),
    ("data", Kind::Path),
    ("store", Kind::Text),
    ("roots", Kind::Paths),
    ("cli.path", Kind::Path),
    ("cli.home", Kind::Path),
    ("cli.pass", Kind::Texts),
    ("limits.live_processes", Kind::Number),
    ("limits.idle_after", Kind::Text),
    ("limits.park_after", Kind::Text),
    ("limits.approval_expiry", Kind::Text),
    ("limits.restarts.count", Kind::Number),
    ("limits.restarts.within", Kind::Text),
    ("limits.start_within", Kind::Text),
    ("limits.interrupt_within", Kind::Text),
    ("limits.body", Kind::Text),
    ("limits.request", Kind::Text),
    ("limits.connections", Kind::Number),
    ("limits.streams", Kind::Number),
    ("limits.shutdown_within", Kind::Text),
    ("allow_bypass", Kind::Switch),
    ("log.level", Kind::Text),
    ("log.format", Kind::Text),
    ("retention.archived_sessions", Kind::Text),
    ("retention.audit", Kind::Text),
    ("retention.idempotency_keys", Kind::Text),
];

/// The keys that a variable has no room for.
pub(super) const FILE_ONLY: &[&str] = &["cli.set", "webhooks"];

/// Variables that begin like ours and are none of the server's configuration.
const OTHERS: &[&str] = &[
    "CONFIG",
    "SERVER",
    "TOKEN",
    "CA_FILE",
    "URL",
    "LAB",
    "CLI_CACHE",
    "TEST_FULL",
    "E2E_BROWSER",
];

/// The variable that sets a key: `limits.idle_after` is `COUNTERSIGN_LIMITS_IDLE_AFTER`.
pub(super) fn variable(key: &str) -> String {
    format!("COUNTERSIGN_{}", key.replace('.', "_").to_uppercase())
}

/// Whether a variable looks as if it were meant for us, and is not known.
pub(super) fn is_unknown(name: &str) -> bool {
    name.strip_prefix("COUNTERSIGN_").is_some_and(|rest| !OTHERS.contains(&rest))
        && !KEYS.iter().any(|(key, _)| variable(key) == name)
        && !FILE_ONLY.iter().any(|key| variable(key) == name)
}

/// Reads the text of a variable.
pub(super) fn value(name: &str, kind: Kind, text: &str) -> Result<Value, ConfigError> {
    let wrong = |message: &str| ConfigError::Environment {
        name: name.to_owned(),
        message: format!("`{text}` {message}"),
    };
    let list = |separator: char| {
        let parts = text.split(separator).map(str::trim).filter(|part| !part.is_empty());
        Value::Array(parts.map(|part| Value::String(part.to_owned())).collect())
    };
    Ok(match kind {
        Kind::Text | Kind::Path => Value::String(text.to_owned()),
        Kind::Switch => {
            Value::Boolean(text.parse().map_err(|_| wrong("is neither \"true\" nor \"false\""))?)
        }
        Kind::Number => Value::Integer(text.parse().map_err(|_| wrong("is not a whole number"))?),
        Kind::Texts => list(','),
        Kind::Paths => list(':'),
    })
}

/// What is at a key, to be changed.
pub(super) fn get_mut<'a>(table: &'a mut Table, key: &str) -> Option<&'a mut Value> {
    match key.split_once('.') {
        None => table.get_mut(key),
        Some((part, rest)) => get_mut(table.get_mut(part)?.as_table_mut()?, rest),
    }
}

/// Puts a value at a key.
pub(super) fn set(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((part, rest)) => {
            let inner = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
            if !inner.is_table() {
                *inner = Value::Table(Table::new());
            }
            if let Some(inner) = inner.as_table_mut() {
                set(inner, rest, value);
            }
        }
    }
}

/// Puts the values of one table over those of another. Lists are replaced as a whole.
pub(super) fn merge(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}
