//! The sections of the configuration.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;
use url::Url;

use super::text::{duration, size};
use super::values::Secret;

/// The certificate that the server shows. Both or neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// A PEM file with the certificate and those that lead up to a known one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// A PEM file with the key of the certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
}

/// The two files that TLS needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsFiles<'a> {
    /// The certificate and those that lead up to a known one.
    pub certificate: &'a Path,
    /// Its key.
    pub key: &'a Path,
}

impl Tls {
    /// The files, when there are both.
    #[must_use]
    pub fn files(&self) -> Option<TlsFiles<'_>> {
        Some(TlsFiles { certificate: self.certificate.as_deref()?, key: self.key.as_deref()? })
    }
}

/// The CLI that sessions run, and what it gets to see of the server's environment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cli {
    /// The program. Without it, it is looked for where the client library looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The home folder that it gets instead of the server's own: its settings, its credentials and
    /// its transcripts are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<PathBuf>,
    /// The variables that are passed on, by name. A `*` at the end stands for any end of the name.
    /// Nothing that begins with `COUNTERSIGN_` is ever passed on: secrets of the server are there.
    pub pass: Vec<String>,
    /// Variables that are set, by name.
    pub set: BTreeMap<String, Secret>,
}

/// What a CLI needs to run, to find the network and to know who pays.
const PASSED: [&str; 32] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "SSH_AUTH_SOCK",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "ANTHROPIC_*",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "MAX_THINKING_TOKENS",
    "BASH_DEFAULT_TIMEOUT_MS",
];

impl Default for Cli {
    fn default() -> Self {
        Self {
            path: None,
            home: None,
            pass: PASSED.map(str::to_owned).to_vec(),
            set: BTreeMap::new(),
        }
    }
}

impl Cli {
    /// The whole environment of the CLI, made of the server's own.
    #[must_use]
    pub fn environment(
        &self,
        own: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let mut all: BTreeMap<_, _> =
            own.into_iter().filter(|(name, _)| self.passes(name)).collect();
        if let Some(home) = &self.home {
            all.insert("HOME".into(), home.into());
        }
        for (name, value) in &self.set {
            all.insert(name.into(), value.expose().into());
        }
        all
    }

    fn passes(&self, name: &OsStr) -> bool {
        let name = name.as_encoded_bytes();
        !name.starts_with(b"COUNTERSIGN_")
            && self.pass.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(front) => name.starts_with(front.as_bytes()),
                None => name == pattern.as_bytes(),
            })
    }
}

/// What sessions and requests may take.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Processes of the CLI that run at once. Beyond it sessions wait, and those that wait for a
    /// person are parked first.
    pub live_processes: usize,
    /// How long a session without a turn keeps its process, or `off`.
    #[serde(with = "duration::or_off")]
    pub idle_after: Option<Duration>,
    /// How long a session that waits for a person keeps its process, or `off`.
    #[serde(with = "duration::or_off")]
    pub park_after: Option<Duration>,
    /// After which time a question that nobody answered is denied and the turn interrupted, or
    /// `off`: then it waits for ever.
    #[serde(with = "duration::or_off")]
    pub approval_expiry: Option<Duration>,
    /// How often a process that fails is started again.
    pub restarts: Restarts,
    /// How long the CLI may take to start, before that has failed.
    #[serde(with = "duration")]
    pub start_within: Duration,
    /// How long the CLI may take to interrupt a turn, before its process is ended.
    #[serde(with = "duration")]
    pub interrupt_within: Duration,
    /// The longest body of a request.
    #[serde(with = "size")]
    pub body: usize,
    /// How long a request may take until its answer begins. A stream of events goes on for as long
    /// as somebody listens.
    #[serde(with = "duration")]
    pub request: Duration,
    /// Connections that are open at once. Beyond it new ones are told to come again, and closed.
    pub connections: usize,
    /// Streams of events that one token has open at once, its browsers included.
    pub streams: usize,
    /// How long the server may take to stop.
    #[serde(with = "duration")]
    pub shutdown_within: Duration,
}

/// How often a process that fails is started again, before its session has failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Restarts {
    /// So often.
    pub count: u32,
    /// Within this time.
    #[serde(with = "duration")]
    pub within: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            live_processes: 8,
            idle_after: Some(Duration::from_secs(600)),
            park_after: Some(Duration::from_secs(120)),
            approval_expiry: None,
            restarts: Restarts::default(),
            start_within: Duration::from_secs(60),
            interrupt_within: Duration::from_secs(10),
            body: 32 << 20,
            request: Duration::from_secs(60),
            connections: 1024,
            streams: 100,
            shutdown_within: Duration::from_secs(20),
        }
    }
}

impl Default for Restarts {
    fn default() -> Self {
        Self { count: 3, within: Duration::from_secs(600) }
    }
}

/// Somebody who is told when something happens, by a signed request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// Where the request goes.
    pub url: WebhookUrl,
    /// What it is signed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
    /// A file with what it is signed with; blanks at the end of the file do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// What is told. Everything, when nothing is said.
    #[serde(default = "WebhookEvent::all")]
    pub events: Vec<WebhookEvent>,
}

/// Where a webhook is. Only its host is shown: with many services, whoever knows the rest may use it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct WebhookUrl(Url);

impl WebhookUrl {
    /// All of it. Whoever asks answers for where it goes.
    #[must_use]
    pub const fn expose(&self) -> &Url {
        &self.0
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/(hidden)", self.0.origin().ascii_serialization())
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for WebhookUrl {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Something that is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum WebhookEvent {
    /// A person is asked.
    #[serde(rename = "approval.opened")]
    ApprovalOpened,
    /// A session has ended.
    #[serde(rename = "session.ended")]
    SessionEnded,
    /// A session has failed.
    #[serde(rename = "session.failed")]
    SessionFailed,
}

impl WebhookEvent {
    fn all() -> Vec<Self> {
        vec![Self::ApprovalOpened, Self::SessionEnded, Self::SessionFailed]
    }
}

/// Why there is nothing to sign with.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WebhookSecretError {
    /// Neither or both are given.
    #[error(
        "give it either `secret` or `secret_file`, so that it can tell our requests from others'"
    )]
    NotOne,
    /// The file cannot be read.
    #[error("its secret cannot be read from {file}: {source}")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It could be guessed.
    #[error(
        "its secret is shorter than {} characters; make one with `openssl rand -hex 32`",
        Webhook::SHORTEST
    )]
    Short,
}

impl Webhook {
    /// A secret that is shorter than this can be guessed.
    pub const SHORTEST: usize = 16;

    /// What requests are signed with.
    ///
    /// # Errors
    ///
    /// There is not exactly one secret, its file cannot be read, or it is too short.
    pub fn signing_secret(&self) -> Result<Secret, WebhookSecretError> {
        let secret = match (&self.secret, &self.secret_file) {
            (Some(secret), None) => secret.clone(),
            (None, Some(file)) => {
                let text = std::fs::read_to_string(file)
                    .map_err(|source| WebhookSecretError::Read { file: file.clone(), source })?;
                Secret::new(text.trim_end())
            }
            _ => return Err(WebhookSecretError::NotOne),
        };
        if secret.expose().len() < Self::SHORTEST {
            return Err(WebhookSecretError::Short);
        }
        Ok(secret)
    }
}

/// What the server writes about itself, to standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// How much.
    pub level: LogLevel,
    /// For whom.
    pub format: LogFormat,
}

/// How much is written; each level has those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// What failed.
    Error,
    /// What somebody should look at.
    Warn,
    /// What happened.
    #[default]
    Info,
    /// How it happened.
    Debug,
    /// Every step.
    Trace,
}

/// Who reads the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// People.
    #[default]
    Text,
    /// Programs: a JSON object a line.
    Json,
}

/// How long things are kept. What is `off` is kept for ever.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Sessions in the archive, counted from when something last happened in them.
    #[serde(with = "duration::or_off")]
    pub archived_sessions: Option<Duration>,
    /// Who decided what.
    #[serde(with = "duration::or_off")]
    pub audit: Option<Duration>,
    /// What a command answered, for whoever sends it again with the same key.
    #[serde(with = "duration")]
    pub idempotency_keys: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            archived_sessions: None,
            audit: None,
            idempotency_keys: Duration::from_secs(24 * 3600),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::path::PathBuf;

    use super::{Cli, Secret, Webhook, WebhookSecretError, WebhookUrl};

    fn environment(cli: &Cli, own: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        cli.environment(own.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn only_what_is_named_is_passed_on() {
        let own = [("PATH", "/bin"), ("LC_ALL", "C"), ("AWS_SECRET", "x"), ("PATHS", "x")];
        let passed = environment(&Cli::default(), &own);
        assert_eq!(passed.keys().collect::<Vec<_>>(), ["LC_ALL", "PATH"]);
    }

    #[test]
    fn what_is_the_servers_own_is_never_passed_on() {
        let cli = Cli { pass: vec!["*".into(), "COUNTERSIGN_STORE".into()], ..Cli::default() };
        let passed = environment(&cli, &[("COUNTERSIGN_STORE", "postgres://…"), ("A", "b")]);
        assert_eq!(passed.keys().collect::<Vec<_>>(), ["A"]);
    }

    #[test]
    fn what_is_set_wins_over_what_is_passed_on() {
        let cli = Cli {
            home: Some(PathBuf::from("/srv/agent")),
            set: BTreeMap::from([("PATH".into(), Secret::new("/opt"))]),
            ..Cli::default()
        };
        let passed = environment(&cli, &[("PATH", "/bin"), ("HOME", "/root")]);
        assert_eq!(passed[&OsString::from("PATH")], "/opt");
        assert_eq!(passed[&OsString::from("HOME")], "/srv/agent");
    }

    #[test]
    fn a_webhook_has_exactly_one_secret_that_cannot_be_guessed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, "0123456789abcdef\n").unwrap();
        let hook = |secret: Option<&str>, file: Option<&PathBuf>| Webhook {
            url: WebhookUrl("https://example.org/hook".parse().unwrap()),
            secret: secret.map(Secret::new),
            secret_file: file.cloned(),
            events: Vec::new(),
        };
        assert_eq!(hook(None, Some(&file)).signing_secret().unwrap().expose(), "0123456789abcdef");
        let wrong = |hook: Webhook| hook.signing_secret().unwrap_err();
        assert!(matches!(wrong(hook(None, None)), WebhookSecretError::NotOne));
        assert!(matches!(
            wrong(hook(Some("0123456789abcdef"), Some(&file))),
            WebhookSecretError::NotOne
        ));
        assert!(matches!(wrong(hook(Some("short"), None)), WebhookSecretError::Short));
        assert!(matches!(
            wrong(hook(None, Some(&folder.path().join("no")))),
            WebhookSecretError::Read { .. }
        ));
    }
}
