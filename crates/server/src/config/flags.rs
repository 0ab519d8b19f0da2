//! What the command line says.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::keys::set;
use super::sections::{LogFormat, LogLevel};

/// What the command line says; what is `None`, `false` or empty is not said there.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The configuration file, which then has to exist.
    pub config: Option<PathBuf>,
    /// `listen`.
    pub listen: Option<SocketAddr>,
    /// `allow_non_loopback_without_tls`.
    pub allow_non_loopback_without_tls: bool,
    /// `public_url`.
    pub public_url: Option<String>,
    /// `allowed_hosts`.
    pub allowed_hosts: Vec<String>,
    /// `tls.certificate`.
    pub tls_certificate: Option<PathBuf>,
    /// `tls.key`.
    pub tls_key: Option<PathBuf>,
    /// `data`.
    pub data: Option<PathBuf>,
    /// `store`.
    pub store: Option<String>,
    /// `roots`.
    pub roots: Vec<PathBuf>,
    /// `cli.path`.
    pub cli: Option<PathBuf>,
    /// `limits.live_processes`.
    pub live_processes: Option<usize>,
    /// `allow_bypass`.
    pub allow_bypass: bool,
    /// `log.level`.
    pub log_level: Option<LogLevel>,
    /// `log.format`.
    pub log_format: Option<LogFormat>,
}

impl Flags {
    /// The keys that are set, each with its value. A path that is not Unicode cannot be written in a
    /// table and is the error.
    pub(super) fn values(&self) -> Result<Vec<(&'static str, Value)>, &'static str> {
        let mut values = Vec::new();
        let mut texts = |key, text: Option<String>| {
            values.extend(text.map(|text| (key, Value::String(text))));
        };
        texts("listen", self.listen.map(|address| address.to_string()));
        texts("public_url", self.public_url.clone());
        texts("store", self.store.clone());
        texts("log.level", self.log_level.and_then(name));
        texts("log.format", self.log_format.and_then(name));
        for (key, path) in [
            ("tls.certificate", &self.tls_certificate),
            ("tls.key", &self.tls_key),
            ("data", &self.data),
            ("cli.path", &self.cli),
        ] {
            if let Some(path) = path {
                values.push((key, path_value(path).ok_or(key)?));
            }
        }
        for (key, said) in [
            ("allow_non_loopback_without_tls", self.allow_non_loopback_without_tls),
            ("allow_bypass", self.allow_bypass),
        ] {
            if said {
                values.push((key, Value::Boolean(true)));
            }
        }
        if !self.allowed_hosts.is_empty() {
            let hosts = self.allowed_hosts.iter().cloned().map(Value::String).collect();
            values.push(("allowed_hosts", Value::Array(hosts)));
        }
        if !self.roots.is_empty() {
            let roots = self
                .roots
                .iter()
                .map(|root| path_value(root))
                .collect::<Option<_>>()
                .ok_or("roots")?;
            values.push(("roots", Value::Array(roots)));
        }
        if let Some(count) = self.live_processes {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            values.push(("limits.live_processes", Value::Integer(count)));
        }
        Ok(values)
    }
}

fn path_value(path: &Path) -> Option<Value> {
    path.to_str().map(|path| Value::String(path.to_owned()))
}

/// How a value with a name is written.
fn name<T: serde::Serialize>(value: T) -> Option<String> {
    Value::try_from(value).ok()?.as_str().map(str::to_owned)
}

/// A table with one key.
pub(super) fn single(key: &str, value: Value) -> Table {
    let mut table = Table::new();
    set(&mut table, key, value);
    table
}
