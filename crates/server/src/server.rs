//! Everything together: a server that can be started and stopped.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use jiff::Timestamp;
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::first::{FirstLinkError, FirstTokenError, first_link, first_token};
use crate::access::{self, Access, AccessStore, Cookies, Streams, SystemClock};
use crate::api::{self, Api, Info};
use crate::bus::Bus;
use crate::config::{self, Config, Retention, Roots, RootsError, Secret};
use crate::home;
use crate::hub::{Hub, Settings};
use crate::keeping::Keeping;
use crate::service::Service;
use crate::store::{PostgresStore, SqliteStore, Store, StoreError};
use crate::web::Shell;
use crate::web::guard::Hosts;
use crate::web::health::{self, Readiness};
use crate::web::metrics::{self, Metrics};
use crate::web::serve::{BindError, Server as Listening};
use crate::web::tls::Tls;
use crate::webhook::{Patience, Post, WebhookError, Webhooks};

/// The file for messages that no time limit is set for.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The folder in the data folder for what only the CLI is to read.
const PRIVATE: &str = "processes";

/// Why a server does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The folder for its data cannot be made.
    #[error("cannot use the data directory {folder}")]
    Data {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A folder that sessions may use is none.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The first token cannot be made.
    #[error(transparent)]
    FirstToken(#[from] FirstTokenError),
    /// The address cannot be listened on.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Those who are to be told what happens cannot be.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listening: Listening,
    routes: Router,
    hub: Arc<Hub>,
    access: Arc<Access>,
    webhooks: Webhooks,
    url: String,
    data: PathBuf,
    token_file: Option<PathBuf>,
    retention: Retention,
}

/// Pages that a server has beside its API.
#[derive(Debug, Default)]
pub struct Pages {
    /// Those for everybody: nothing in them may be secret.
    pub open: Router,
    /// Those for people who are signed in.
    pub closed: Router,
}

impl Server {
    /// Starts a server without pages of its own, for programs: see [`start_with`](Self::start_with).
    ///
    /// # Errors
    /// When the store, the data folder or the address cannot be had.
    pub async fn start(config: &Config) -> Result<Self, StartError> {
        let plain = |_: &Api| Pages { open: Router::new(), closed: home::routes() };
        Self::start_with(config, plain).await
    }

    /// Opens the store, goes on with every session that has something to do, and listens. It has these
    /// pages beside its API.
    ///
    /// # Errors
    /// When the store, the data folder or the address cannot be had.
    pub async fn start_with(
        config: &Config,
        pages: impl FnOnce(&Api) -> Pages,
    ) -> Result<Self, StartError> {
        make_private(&config.data)?;
        let private = config.data.join(PRIVATE);
        let roots = Roots::new(&config.roots)?;
        // First, so that a second server does not come as far as the sessions of the first.
        let listening = Listening::bind(config).await?;
        let address = listening.address();
        let bus = Arc::new(Bus::new());
        let (store, tokens) = open_store(config, &bus).await?;
        let url = config.url(address);
        let cookies = Cookies::of(config, address);
        let access = Arc::new(Access::new(tokens, Arc::new(SystemClock), cookies, url.as_str()));
        let token_file = first_token(&access, &config.data).await?;
        let post = Post {
            store: Arc::clone(&store),
            bus: Arc::clone(&bus),
            clock: Arc::new(SystemClock),
            url: url.clone(),
            patience: Patience::default(),
        };
        // Before anything happens, so that nothing is passed over.
        let webhooks = Webhooks::start(&config.webhooks, post).await?;
        // What a server left there that was killed.
        drop(std::fs::remove_dir_all(&private));
        make_private(&private)?;
        let settings = Settings { private: Some(private), ..settings(config, roots.clone()) };
        let hub = Hub::new(store, bus, settings);
        hub.recover().await?;
        let mut counted = Metrics::default();
        hub.count_in(counted.registry());
        let metrics = Arc::new(counted);
        let listening = listening.count_in(metrics.connections());
        let service = Service::new(Arc::clone(&hub), roots);
        let info = Info { backups: config.data.join("backups"), started_at: Timestamp::now() };
        let streams = Streams::at_most(config.limits.streams);
        let api = Api { service, info: Arc::new(info), access: Arc::clone(&access), streams };
        let shell = Shell {
            hosts: Arc::new(Hosts::new(config, address)),
            access: Arc::clone(&access),
            metrics: Arc::clone(&metrics),
            body: config.limits.body,
            request: config.limits.request,
        };
        let routes = routes(&api, &access, shell, metrics, pages(&api));
        let (data, retention) = (config.data.clone(), config.retention.clone());
        Ok(Self { listening, routes, hub, access, webhooks, url, data, token_file, retention })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    /// Where people find it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The file with the token that was made because there was none.
    #[must_use]
    pub const fn token_file(&self) -> Option<&PathBuf> {
        self.token_file.as_ref()
    }

    /// A link that lets in one browser, once, with the rights of the token in the data folder. Gives
    /// the link and when it ends.
    ///
    /// # Errors
    /// When there is no such token, or it is not valid any more.
    pub async fn login_link(&self) -> Result<(Secret, Timestamp), FirstLinkError> {
        first_link(&self.access, &self.data).await
    }

    /// Its certificate, to take up a new one at once.
    #[must_use]
    pub fn tls(&self) -> Option<Arc<Tls>> {
        self.listening.tls()
    }

    /// Who may do what.
    #[must_use]
    pub const fn access(&self) -> &Arc<Access> {
        &self.access
    }

    /// All sessions.
    #[must_use]
    pub const fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Answers requests until it is told to stop, and then ends everything in order: no work is
    /// taken any more, what waits for a person is parked, and what is running has its time to come
    /// to its end.
    pub async fn run(self, stop: CancellationToken) {
        let Self { listening, routes, hub, access, webhooks, retention, .. } = self;
        let tasks = TaskTracker::new();
        let expiring = Arc::clone(&hub);
        tasks.spawn(async move { expiring.expire().await });
        let keeping = Keeping { store: Arc::clone(hub.store()), access, retention };
        let until = stop.clone();
        tasks.spawn(async move { keeping.run(until).await });
        tasks.close();
        // Requests are answered while sessions end: whoever looks on sees it.
        let cut = CancellationToken::new();
        let serving = listening.run(routes, cut.clone());
        let ending = async {
            stop.cancelled().await;
            hub.close().await;
            cut.cancel();
        };
        let (ended, ()) = tokio::join!(serving, ending);
        if ended.cut > 0 {
            tracing::info!(cut = ended.cut, "connections were cut");
        }
        tasks.wait().await;
        webhooks.close().await;
        if let Err(error) = hub.end_run().await {
            tracing::warn!(%error, "it could not be noted that the server ended");
        }
        if let Err(error) = hub.store().close().await {
            tracing::warn!(%error, "the store could not be closed");
        }
    }
}

/// Who may do what with a server that does not run: for somebody who has lost every token.
///
/// # Errors
/// When the store cannot be opened, most likely because the server runs.
pub async fn access_of(config: &Config) -> Result<Access, StartError> {
    make_private(&config.data)?;
    let (_, tokens) = open_store(config, &Arc::new(Bus::new())).await?;
    let cookies = Cookies::of(config, config.listen);
    Ok(Access::new(tokens, Arc::new(SystemClock), cookies, config.url(config.listen)))
}

/// Makes a folder that only its owner can use.
fn make_private(folder: &PathBuf) -> Result<(), StartError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| StartError::Data { folder: folder.clone(), source })
}

type Opened = (Arc<dyn Store>, Arc<dyn AccessStore>);

async fn open_store(config: &Config, bus: &Arc<Bus>) -> Result<Opened, StartError> {
    match &config.store {
        config::Store::Sqlite(path) => {
            let path = config.data.join(path);
            let store = Arc::new(SqliteStore::open(path, Arc::clone(bus)).await?);
            Ok((Arc::clone(&store) as Arc<dyn Store>, store))
        }
        config::Store::Postgres(url) => {
            let store = Arc::new(PostgresStore::connect(url.expose(), Arc::clone(bus)).await?);
            Ok((Arc::clone(&store) as Arc<dyn Store>, store))
        }
    }
}

/// How sessions are run, by what the server is told.
fn settings(config: &Config, roots: Roots) -> Settings {
    let limits = &config.limits;
    let environment = config.cli.environment(std::env::vars_os());
    Settings {
        cli: config.cli.path.clone(),
        environment: countersign::Environment::replace(environment),
        roots,
        live_processes: limits.live_processes,
        idle_after: limits.idle_after.unwrap_or(NEVER),
        park_after: limits.park_after.unwrap_or(NEVER),
        expiry: limits.approval_expiry,
        restarts: usize::try_from(limits.restarts.count).unwrap_or(usize::MAX),
        restarts_within: limits.restarts.within,
        allow_bypass: config.allow_bypass,
        shutdown_within: limits.shutdown_within,
        start_within: limits.start_within,
        interrupt_within: limits.interrupt_within,
        ..Settings::default()
    }
}

/// Whether the store can be written to, and sessions are taken.
#[derive(Debug)]
struct Ready(Arc<Hub>);

impl Readiness for Ready {
    fn look(&self) -> Pin<Box<dyn Future<Output = Result<(), &'static str>> + Send + '_>> {
        Box::pin(async {
            if self.0.is_closing() {
                return Err("the server is about to stop");
            }
            let checked = self.0.store().check().await;
            checked.map_err(|_| "the store cannot be written to")
        })
    }
}

/// All routes. Those that [`api::document`] describes are the same.
fn routes(
    api: &Api,
    access: &Arc<Access>,
    shell: Shell,
    metrics: Arc<Metrics>,
    pages: Pages,
) -> Router {
    let ready = Arc::new(Ready(Arc::clone(api.service.hub())));
    let open = Router::new()
        .merge(health::routes().with_state(ready))
        .merge(access::login::open_routes().with_state(Arc::clone(access)))
        .merge(pages.open);
    let closed = Router::new()
        .merge(access::api::routes().with_state(Arc::clone(access)))
        .nest("/api/v1", api::routes().with_state(api.clone()))
        .merge(metrics::routes().with_state(metrics))
        .merge(pages.closed);
    shell.around(open, closed)
}
