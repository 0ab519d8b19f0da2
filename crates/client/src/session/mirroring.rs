//! A session that is kept in a store as it goes, or comes from one.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_protocol::ids::SessionId;

use super::place::Place;
use crate::builder::SessionBuilder;
use crate::error::ConnectError;
use crate::store::{
    ConfigSource, MaterializeOptions, Materialized, Mirror, MirrorOptions, SessionStore, StoreKey,
};
use crate::transcript::ProjectKey;

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
    pub async fn resume_from_store(
        mut self,
        session: &SessionId,
    ) -> Result<crate::Session, ConnectError> {
        let place = self.place()?;
        let materialized = self.materialize(&ProjectKey::of(&place.cwd), session).await?;
        self.options.go_on(session, None);
        let home = materialized.config_home().to_owned();
        self.mirroring.config = Some(Arc::new(materialized));
        self.env("CLAUDE_CONFIG_DIR", home).connect().await
    }

    async fn materialize(
        &self,
        project: &ProjectKey,
        session: &SessionId,
    ) -> Result<Materialized, ConnectError> {
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| ConnectError::Store(error);
        let Some((store, _)) = &self.mirroring.store else {
            return Err(failed("there is no store: give one with `session_store`".into()));
        };
        let key = StoreKey::new(project.clone(), session.clone());
        let key = key.map_err(|error| failed(error.into()))?;
        let mut options = MaterializeOptions::new();
        if let Some(config) = &self.mirroring.source {
            options = options.config(config.clone());
        }
        let materialized = Materialized::from_store(&**store, &key, &options).await;
        materialized.map_err(|error| failed(error.into()))
    }
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
