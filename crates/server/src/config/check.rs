//! What is wrong with a configuration that could be read.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Config;
use super::error::Origin;
use super::load::Loaded;
use super::roots::Roots;
use super::values::{PublicUrl, Store};
use crate::store::PostgresStore;

/// The configuration that is in effect, with all that is wrong with it.
///
/// It is what `--check-config` prints: it has no secrets in it.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// The file that was read, if there was one.
    pub file: Option<PathBuf>,
    /// What the server must not be started with.
    pub faults: Vec<Fault>,
    /// What somebody should look at.
    pub warnings: Vec<String>,
    /// Where the keys were set that are not at their default.
    pub origins: BTreeMap<String, Origin>,
    /// The values in effect.
    pub config: Config,
}

/// Something that the server must not be started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The key.
    pub key: String,
    /// Where it was set.
    pub at: Origin,
    /// What is wrong, and what to do.
    pub message: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` ({}): {}", self.key, self.at, self.message)
    }
}

impl std::error::Error for Fault {}

impl Loaded {
    /// Looks at everything, also at the files and folders that are named, and says all that is wrong
    /// at once.
    #[must_use]
    pub fn check(&self) -> Checked {
        let mut checked = Checked {
            file: self.file.clone(),
            faults: Vec::new(),
            warnings: Vec::new(),
            origins: self.origins.clone(),
            config: self.config.clone(),
        };
        self.check_listening(&mut checked);
        self.check_limits(&mut checked);
        self.check_folders(&mut checked);
        self.check_files(&mut checked);
        self.check_store(&mut checked);
        self.check_webhooks(&mut checked);
        for name in &self.unknown_variables {
            checked
                .warnings
                .push(format!("the environment variable {name} sets nothing; is it misspelt?"));
        }
        checked
    }

    fn fault(&self, checked: &mut Checked, key: &str, message: impl Into<String>) {
        let at = self.origin(key).clone();
        checked.faults.push(Fault { key: key.to_owned(), at, message: message.into() });
    }

    fn check_listening(&self, checked: &mut Checked) {
        let config = &self.config;
        match (&config.tls.certificate, &config.tls.key) {
            (Some(_), None) => {
                self.fault(checked, "tls.key", "a certificate needs its key; set it too");
            }
            (None, Some(_)) => {
                self.fault(checked, "tls.certificate", "a key needs its certificate; set it too");
            }
            _ => {}
        }
        let open = !config.listen.ip().is_loopback();
        let tls = config.tls.files().is_some();
        if open && !tls && !config.allow_non_loopback_without_tls {
            self.fault(
                checked,
                "listen",
                "other machines reach this address, and without TLS everybody on the way reads the \
                 tokens; set `tls`, or listen on 127.0.0.1, or set `allow_non_loopback_without_tls` if \
                 something in front of the server speaks TLS",
            );
        }
        if open && config.public_url.is_none() && config.allowed_hosts.is_empty() {
            checked.warnings.push(
                "the server listens for other machines and knows no name of its own: requests that name \
                 it are refused; set `public_url` or `allowed_hosts`"
                    .to_owned(),
            );
        }
        if tls && config.public_url.as_ref().is_some_and(|url| !PublicUrl::is_https(url)) {
            self.fault(checked, "public_url", "the server speaks TLS; write it with https://");
        }
    }

    fn check_limits(&self, checked: &mut Checked) {
        let limits = &self.config.limits;
        for (key, is_zero) in [
            ("limits.live_processes", limits.live_processes == 0),
            ("limits.connections", limits.connections == 0),
            ("limits.request", limits.request.is_zero()),
            ("limits.shutdown_within", limits.shutdown_within.is_zero()),
            ("limits.restarts.within", limits.restarts.within.is_zero()),
            ("limits.start_within", limits.start_within.is_zero()),
            ("limits.interrupt_within", limits.interrupt_within.is_zero()),
            ("retention.idempotency_keys", self.config.retention.idempotency_keys.is_zero()),
        ] {
            if is_zero {
                self.fault(checked, key, "nothing works with zero; set it to more");
            }
        }
        for (key, value) in [
            ("limits.idle_after", limits.idle_after),
            ("limits.park_after", limits.park_after),
            ("limits.approval_expiry", limits.approval_expiry),
        ] {
            if value.is_some_and(|value| value.is_zero()) {
                self.fault(checked, key, "nothing works with zero; set it to more, or to \"off\"");
            }
        }
        if limits.body < 1024 {
            self.fault(checked, "limits.body", "no command fits into that; set it to 1KiB or more");
        }
    }

    fn check_folders(&self, checked: &mut Checked) {
        let config = &self.config;
        if config.roots.is_empty() {
            checked.warnings.push(
                "no folder is open to sessions: add one to `roots`, or start with --root FOLDER"
                    .to_owned(),
            );
        }
        match Roots::new(&config.roots) {
            Err(error) => self.fault(checked, "roots", error.to_string()),
            Ok(roots) => {
                if fs::canonicalize(&config.data).is_ok_and(|data| roots.contains(&data)) {
                    checked.warnings.push(
                        "the data folder is within a root, where sessions can read the server's tokens; \
                         keep them apart"
                            .to_owned(),
                    );
                }
            }
        }
        if !config.data.is_absolute() {
            self.fault(
                checked,
                "data",
                "the path is not absolute; write it with a `/` at its front",
            );
        } else if config.data.exists() && !config.data.is_dir() {
            self.fault(checked, "data", "this is not a folder; name one");
        }
    }

    fn check_files(&self, checked: &mut Checked) {
        let config = &self.config;
        for (key, path) in [
            ("tls.certificate", &config.tls.certificate),
            ("tls.key", &config.tls.key),
            ("cli.path", &config.cli.path),
        ] {
            if let Some(Err(error)) = path.as_ref().map(fs::File::open) {
                self.fault(checked, key, format!("the file cannot be read: {error}"));
            }
        }
        if config.cli.home.as_ref().is_some_and(|home| !home.is_dir()) {
            self.fault(checked, "cli.home", "this is not a folder that is there; create it first");
        }
        let has_secrets = !config.cli.set.is_empty()
            || config.webhooks.iter().any(|hook| hook.secret.is_some())
            || matches!(config.store, Store::Postgres(_));
        if let Some(file) = self.file.as_deref().filter(|file| has_secrets && others_read(file)) {
            checked.warnings.push(format!(
                "{} has secrets in it and others can read it; run chmod 600 on it",
                file.display()
            ));
        }
        if let Some(key) = config.tls.key.as_deref().filter(|key| others_read(key)) {
            checked
                .warnings
                .push(format!("others can read the key {}; run chmod 600 on it", key.display()));
        }
    }

    fn check_store(&self, checked: &mut Checked) {
        if let Store::Postgres(url) = &self.config.store
            && let Err(error) = PostgresStore::check_url(url.expose())
        {
            self.fault(checked, "store", error.to_string());
        }
    }

    fn check_webhooks(&self, checked: &mut Checked) {
        for (index, hook) in self.config.webhooks.iter().enumerate() {
            let key = format!("webhooks[{index}]");
            if !matches!(hook.url.expose().scheme(), "http" | "https") {
                self.fault(checked, &key, "its `url` is neither http:// nor https://");
            }
            if hook.events.is_empty() {
                self.fault(
                    checked,
                    &key,
                    "its `events` are empty; name some, or leave the key out",
                );
            }
            if let Err(error) = hook.signing_secret() {
                self.fault(checked, &key, error.to_string());
            }
        }
    }
}

/// Whether somebody else than its owner can read a file.
fn others_read(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|about| about.permissions().mode() & 0o044 != 0)
}
