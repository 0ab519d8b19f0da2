//! A session that is kept in a store as it goes, or comes from one.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_protocol::ids::SessionId;

use crate::builder::SessionBuilder;
use crate::error::ConnectError;
use crate::store::{
    ConfigSource, MaterializeOptions, Materialized, Mirror, MirrorOptions, SessionStore, StoreKey,
};
use crate::transcript::ProjectKey;

/// The store of a session.
#[derive(Clone)]
pub(crate) struct Mirroring {
    store: Arc<dyn SessionStore>,
    options: MirrorOptions,
    /// Where to take the login and the settings from when the session comes from the store.
    config: Option<ConfigSource>,
}

impl SessionBuilder {
    /// Keeps the session in a store as it goes: whatever the CLI writes to its transcripts goes
    /// there, too, before a result is shown.
    ///
    /// What goes wrong with the store does not reach the session; the options say who is told.
    /// Needs 2.1.197 or later.
    pub fn session_store(
        mut self,
        store: impl Into<Arc<dyn SessionStore>>,
        options: MirrorOptions,
    ) -> Self {
        self.options.mirror_session();
        self.mirroring = Some(Mirroring { store: store.into(), options, config: None });
        self
    }

    /// Where to take the login and the settings of the user from when a session is resumed from
    /// the store: the configuration of the CLI is then a folder of its own, which holds nothing
    /// but the session.
    pub fn store_config(mut self, config: ConfigSource) -> Self {
        if let Some(mirroring) = &mut self.mirroring {
            mirroring.config = Some(config);
        }
        self
    }

    /// Goes on with a session that is in the store given with
    /// [`session_store`](Self::session_store), wherever it was held.
    ///
    /// # Errors
    /// When there is no store, it does not have the session, or the session cannot be started.
    pub async fn resume_from_store(
        mut self,
        session: &SessionId,
    ) -> Result<crate::Session, ConnectError> {
        let place = self.place()?;
        let materialized = self.materialize(&ProjectKey::of(&place.cwd), session).await?;
        self.options.go_on(session, None);
        let home = materialized.config_home().to_owned();
        let mut session = self.env("CLAUDE_CONFIG_DIR", home).connect().await?;
        session.keep(materialized);
        Ok(session)
    }

    async fn materialize(
        &self,
        project: &ProjectKey,
        session: &SessionId,
    ) -> Result<Materialized, ConnectError> {
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| ConnectError::Store(error);
        let Some(mirroring) = &self.mirroring else {
            return Err(failed("there is no store: give one with `session_store`".into()));
        };
        let key = StoreKey::new(project.clone(), session.clone());
        let key = key.map_err(|error| failed(error.into()))?;
        let mut options = MaterializeOptions::new();
        if let Some(config) = &mirroring.config {
            options = options.config(config.clone());
        }
        let materialized = Materialized::from_store(&*mirroring.store, &key, &options).await;
        materialized.map_err(|error| failed(error.into()))
    }
}

impl Mirroring {
    /// A mirror for the CLI with this configuration, and the work that it does.
    pub(super) fn start(
        &self,
        config_home: Option<&PathBuf>,
    ) -> Option<(Arc<Mirror>, impl Future<Output = ()> + Send + 'static)> {
        let store = Arc::clone(&self.store);
        let (mirror, work) = Mirror::new(store, config_home?, self.options.clone());
        Some((Arc::new(mirror), work))
    }
}
