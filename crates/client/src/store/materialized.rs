//! A session from a store, where a CLI can resume it.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_protocol::RawJson;
use countersign_protocol::ids::SessionId;
use tempfile::TempDir;

use super::config::ConfigSource;
use super::error::{StoreError, StoreSessionError};
use super::key::{StoreKey, Subpath};
use super::sessions::{deduplicated, split_metadata};
use super::traits::{SessionStore, StoreFuture};
use crate::transcript::{Fields, ProjectKey, agent_metadata_path};

/// A configuration folder with one session in it, made from a store. It is removed when this is
/// dropped.
///
/// Start the CLI with [`config_home`](Self::config_home) in `CLAUDE_CONFIG_DIR` and
/// [`session_id`](Self::session_id) in `--resume`, in the working folder of the project, and keep
/// this until the CLI has ended.
#[derive(Debug)]
pub struct Materialized {
    folder: TempDir,
    session: SessionId,
}

/// How a session is taken from a store.
#[derive(Clone, Debug)]
#[must_use = "pass it to `Materialized::from_store`"]
#[non_exhaustive]
pub struct MaterializeOptions {
    timeout: Duration,
    source: Option<ConfigSource>,
    parent: Option<PathBuf>,
}

impl Default for MaterializeOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl MaterializeOptions {
    /// With 60 seconds for each answer of the store, and without a login or settings: for a CLI
    /// that has a key in its environment.
    pub const fn new() -> Self {
        Self { timeout: Duration::from_secs(60), source: None, parent: None }
    }

    /// Copies the login and the user settings of this folder: the login without its refresh
    /// token, the settings without plugins.
    pub fn config(mut self, source: ConfigSource) -> Self {
        self.source = Some(source);
        self
    }

    /// How long the store may take for an answer.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Makes the folder in this one, not where temporary files are kept.
    pub fn within(mut self, folder: impl Into<PathBuf>) -> Self {
        self.parent = Some(folder.into());
        self
    }

    async fn wait<T>(
        &self,
        operation: &'static str,
        answer: StoreFuture<'_, T>,
    ) -> Result<T, StoreError> {
        let after = self.timeout;
        let answered = tokio::time::timeout(after, answer).await;
        answered.unwrap_or(Err(StoreError::Timeout { operation, after }))
    }
}

impl Materialized {
    /// Takes a session from a store, with its sub-agents if the store lists them.
    ///
    /// # Errors
    ///
    /// When there is no such session, the store fails or does not answer in time, it names a
    /// sub-agent that leads out of the folder of the session, or the folder cannot be written.
    pub async fn from_store(
        store: &dyn SessionStore,
        key: &StoreKey,
        options: &MaterializeOptions,
    ) -> Result<Self, StoreSessionError> {
        let key = key.main();
        let entries = options.wait("load", store.load(&key)).await?.unwrap_or_default();
        if entries.is_empty() {
            return Err(StoreSessionError::NotFound { key });
        }
        Self::with_entries(store, &key, entries, options).await
    }

    /// Takes the latest session of a project from a store, as `--continue` would; nothing if there
    /// is none.
    ///
    /// # Errors
    ///
    /// When the store does not list sessions, and as above.
    pub async fn latest(
        store: &dyn SessionStore,
        project: &ProjectKey,
        options: &MaterializeOptions,
    ) -> Result<Option<Self>, StoreSessionError> {
        let mut sessions = options.wait("list_sessions", store.list_sessions(project)).await?;
        sessions.sort_by_key(|session| std::cmp::Reverse(session.modified));
        for session in sessions {
            let Ok(key) = StoreKey::new(project.clone(), session.session_id) else { continue };
            let entries = options.wait("load", store.load(&key)).await?.unwrap_or_default();
            let first = entries.first().and_then(|entry| Fields::parse(entry.as_str()));
            // What a sub-agent said is not what a user wants to go on with.
            if first.is_some_and(|first| !first.is_true("isSidechain")) {
                return Self::with_entries(store, &key, entries, options).await.map(Some);
            }
        }
        Ok(None)
    }

    /// The folder, for `CLAUDE_CONFIG_DIR`.
    #[must_use]
    pub fn config_home(&self) -> &Path {
        self.folder.path()
    }

    /// The session, for `--resume`.
    #[must_use]
    pub const fn session_id(&self) -> &SessionId {
        &self.session
    }

    /// Removes the folder, and says whether that worked.
    ///
    /// # Errors
    ///
    /// When something in it cannot be removed.
    pub fn close(self) -> io::Result<()> {
        self.folder.close()
    }

    async fn with_entries(
        store: &dyn SessionStore,
        key: &StoreKey,
        entries: Vec<RawJson>,
        options: &MaterializeOptions,
    ) -> Result<Self, StoreSessionError> {
        let mut plan = Plan { key: key.clone(), main: entries, agents: Vec::new() };
        let listed = options.wait("list_subkeys", store.list_subkeys(key)).await;
        let subpaths = match listed {
            Err(error) if error.is_unsupported() => Vec::new(),
            listed => listed?,
        };
        for subpath in subpaths {
            let subpath = Subpath::new(&subpath)?;
            let inner = key.with_subpath(subpath.clone());
            let entries = options.wait("load", store.load(&inner)).await?;
            plan.agents.push((subpath, entries.unwrap_or_default()));
        }
        let (source, parent) = (options.source.clone(), options.parent.clone());
        let session = key.session_id().clone();
        let written = tokio::task::spawn_blocking(move || plan.write(source.as_ref(), parent));
        let folder = written.await.map_err(StoreError::backend)??;
        Ok(Self { folder, session })
    }
}

/// What is to be written.
struct Plan {
    key: StoreKey,
    main: Vec<RawJson>,
    agents: Vec<(Subpath, Vec<RawJson>)>,
}

impl Plan {
    fn write(
        self,
        source: Option<&ConfigSource>,
        parent: Option<PathBuf>,
    ) -> Result<TempDir, StoreError> {
        let parent = parent.unwrap_or_else(std::env::temp_dir);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Io { path, source }
        };
        // For its owner alone from the beginning, and gone again when something goes wrong.
        let mut builder = tempfile::Builder::new();
        builder.prefix("countersign-resume-").permissions(Permissions::from_mode(0o700));
        let folder = builder.tempdir_in(&parent).map_err(failed(&parent))?;
        let project = folder.path().join("projects").join(self.key.project_key().as_str());
        let session = self.key.session_id();
        let write = |file: &Path, lines: &[RawJson]| write_lines(file, lines).map_err(failed(file));
        write(&project.join(format!("{session}.jsonl")), &deduplicated(self.main))?;
        for (subpath, entries) in self.agents {
            let (metadata, entries) = split_metadata(deduplicated(entries));
            let file = project.join(session.as_str()).join(format!("{subpath}.jsonl"));
            if !entries.is_empty() {
                write(&file, &entries)?;
            }
            if let Some(metadata) = metadata {
                write(&agent_metadata_path(&file), &[metadata])?;
            }
        }
        for (name, content) in source.map(ConfigSource::files).unwrap_or_default() {
            let file = folder.path().join(name);
            create(&file).and_then(|mut file| file.write_all(&content)).map_err(failed(&file))?;
        }
        Ok(folder)
    }
}

fn write_lines(path: &Path, lines: &[RawJson]) -> io::Result<()> {
    let mut file = BufWriter::new(create(path)?);
    for line in lines {
        writeln!(file, "{}", line.as_str().replace(['\n', '\r'], " "))?;
    }
    file.flush()
}

/// A new file for its owner alone.
fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
