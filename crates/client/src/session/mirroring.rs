//! A session that is kept in a store as it goes, or comes from one.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_protocol::RawJson;
use countersign_protocol::ids::SessionId;

use super::Session;
use super::place::Place;
use super::shared::Shared;
use crate::builder::SessionBuilder;
use crate::error::ConnectError;
use crate::store::{
    ConfigSource, ImportOptions, KeyError, MaterializeOptions, Materialized, Mirror, MirrorOptions,
    SessionStore, StoreError, StoreKey, StoreSessionError, import_session,
};
use crate::transcript::{ProjectKey, Sessions};

/// What a session has to do with stores.
#[derive(Clone, Default)]
pub(crate) struct Mirroring {
    store: Option<(Arc<dyn SessionStore>, MirrorOptions)>,
    /// Where to take the login and the settings from when the session comes from the store.
    source: Option<ConfigSource>,
    /// The configuration of the CLI, if the session comes from the store.
    pub(super) config: Option<Arc<Materialized>>,
}

impl SessionBuilder {
    /// Keeps the session in a store as it goes: whatever the CLI writes to its transcripts goes
    /// there, too, before a result is shown, and before the session is said to have ended. A session
    /// that is killed or dropped ends without waiting for its store: what came since the last result
    /// is sent after it, for as long as the runtime runs.
    ///
    /// What goes wrong with the store does not reach the session; the options say who is told.
    /// Needs 2.1.197 or later.
    pub fn session_store(
        mut self,
        store: impl Into<Arc<dyn SessionStore>>,
        options: MirrorOptions,
    ) -> Self {
        self.options.mirror_session();
        self.mirroring.store = Some((store.into(), options));
        self
    }

    /// Where to take the login and the settings of the user from when a session is resumed from
    /// the store: the configuration of the CLI is then a folder of its own, which holds nothing
    /// but the session.
    pub fn store_config(mut self, config: ConfigSource) -> Self {
        self.mirroring.source = Some(config);
        self
    }

    /// Goes on with a session that is in the store given with
    /// [`session_store`](Self::session_store), wherever it was held.
    ///
    /// # Errors
    /// When there is no store, it does not have the session, or the session cannot be started.
    pub async fn resume_from_store(mut self, session: &SessionId) -> Result<Session, ConnectError> {
        let materialized = self.materialize(session).await?;
        let materialized = materialized.map_err(|error| ConnectError::Store(error.into()))?;
        self.options.go_on(session, None);
        self.at_home_in(materialized).connect().await
    }

    /// Goes on with a copy of a session that is in the store given with
    /// [`session_store`](Self::session_store), and leaves that one as it is. The copy has the
    /// [id](Self::session_id) of this builder, and ends where [`resume_at`](Self::resume_at) says.
    ///
    /// # Errors
    /// When there is no store, it does not have the session, or the session cannot be started.
    pub async fn fork_from_store(self, session: &SessionId) -> Result<Session, ConnectError> {
        let copy = self.resume(session.as_str()).fork();
        let materialized = copy.materialize(session).await?;
        let materialized = materialized.map_err(|error| ConnectError::Store(error.into()))?;
        copy.at_home_in(materialized).connect().await
    }

    /// The session as the store has it, where a CLI can resume it. None when there is no store, or
    /// it does not have the session.
    pub(crate) async fn in_store(
        &self,
        session: &SessionId,
    ) -> Result<Option<Materialized>, ConnectError> {
        if self.mirroring.store.is_none() {
            return Ok(None);
        }
        match self.materialize(session).await? {
            Ok(materialized) => Ok(Some(materialized)),
            Err(StoreSessionError::NotFound { .. }) => Ok(None),
            Err(error) => Err(ConnectError::Store(error.into())),
        }
    }

    /// The CLI takes its configuration, and the session, from this folder.
    pub(crate) fn at_home_in(mut self, materialized: Materialized) -> Self {
        let home = materialized.config_home().to_owned();
        self.mirroring.config = Some(Arc::new(materialized));
        self.env("CLAUDE_CONFIG_DIR", home)
    }

    async fn materialize(
        &self,
        session: &SessionId,
    ) -> Result<Result<Materialized, StoreSessionError>, ConnectError> {
        let Some((store, _)) = &self.mirroring.store else {
            let what = "there is no store: give one with `session_store`";
            return Err(ConnectError::Store(what.into()));
        };
        let key = match key_of(&self.place()?, session) {
            Ok(key) => key,
            Err(error) => return Ok(Err(error.into())),
        };
        let mut options = MaterializeOptions::new();
        if let Some(config) = &self.mirroring.source {
            options = options.config(config.clone());
        }
        Ok(Materialized::from_store(&**store, &key, &options).await)
    }
}

/// Where a session is kept besides its transcript.
pub(crate) struct Kept {
    shared: Arc<Shared>,
    store: Option<Arc<dyn SessionStore>>,
    mirror: Option<Arc<Mirror>>,
    is_from_store: bool,
}

impl Session {
    /// Where the session is kept besides its transcript.
    pub(crate) fn kept(&self) -> Kept {
        let Mirroring { store, config, .. } = &self.builder.mirroring;
        Kept {
            shared: Arc::clone(self.shared()),
            store: store.as_ref().map(|(store, _)| Arc::clone(store)),
            mirror: self.mirror.clone(),
            is_from_store: config.is_some(),
        }
    }
}

impl Kept {
    /// Whether the transcript of the session is there for as long as the session alone.
    pub(crate) const fn is_from_store(&self) -> bool {
        self.is_from_store
    }

    /// Sees to it that the store, if there is one, has of a transcript what is looked for. The CLI
    /// tells of what it has written when it gets to it.
    pub(crate) async fn catch_up(
        &self,
        session: &SessionId,
        is_there: impl Fn(&[RawJson]) -> bool,
    ) -> Result<(), StoreSessionError> {
        let (Some(store), Some(mirror)) = (&self.store, &self.mirror) else { return Ok(()) };
        let place = self.shared.place();
        let Some(home) = &place.config_home else { return Ok(()) };
        let caught_up = async {
            mirror.flush().await;
            let stored = store.load(&key_of(place, session)?).await?;
            if !is_there(&stored.unwrap_or_default()) {
                let options = ImportOptions::new();
                import_session(&Sessions::at(home), session, &**store, &options).await?;
            }
            Ok(())
        };
        let after = self.shared.request_timeout;
        let operation = "load";
        let timeout = |_| Err(StoreError::Timeout { operation, after }.into());
        tokio::time::timeout(after, caught_up).await.unwrap_or_else(timeout)
    }
}

/// Where a session is in a store.
fn key_of(place: &Place, session: &SessionId) -> Result<StoreKey, KeyError> {
    StoreKey::new(ProjectKey::of(&place.cwd), session.clone())
}

impl Mirroring {
    /// Makes sure that it is known which files are transcripts.
    pub(super) fn check(&self, place: &Place) -> Result<(), ConnectError> {
        if self.store.is_some() && place.config_home.is_none() {
            let what = "it is not known where the CLI keeps its sessions: set HOME or \
                        CLAUDE_CONFIG_DIR in its environment";
            return Err(ConnectError::Store(what.into()));
        }
        Ok(())
    }

    /// A mirror for the CLI with this configuration, and the work that it does.
    pub(super) fn start(
        &self,
        config_home: Option<&PathBuf>,
    ) -> Option<(Arc<Mirror>, impl Future<Output = ()> + Send + 'static)> {
        let (store, options) = self.store.clone()?;
        let (mirror, work) = Mirror::new(store, config_home?, options);
        Some((Arc::new(mirror), work))
    }
}
