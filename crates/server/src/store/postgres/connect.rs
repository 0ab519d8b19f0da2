//! How a database is reached, whose it is, and which version it has.

use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::config::Config;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_util::task::TaskTracker;

use super::tls::{Security, Tls, take_out};
use crate::store::StoreError;

/// What each version adds. It is never changed, only added to.
const MIGRATIONS: [&str; 3] =
    [include_str!("schema.sql"), include_str!("writers.sql"), include_str!("deleted.sql")];

/// What the lock of a server is called in the database: `Ctsn`. The rest of its name is the schema.
const LOCK: i32 = 0x4374_736e;

/// A parameter of a statement.
pub(super) type Value<'a> = &'a (dyn ToSql + Sync);

/// A store that cannot be used now.
pub(super) fn unavailable(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    StoreError::Unavailable(error.into())
}

/// The database says why in the source of its error.
#[derive(Debug, thiserror::Error)]
#[error("{}", reason(.0))]
struct Reason(#[from] tokio_postgres::Error);

fn reason(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Unavailable(Box::new(Reason(error)))
    }
}

/// A database, and how it is reached.
#[derive(Clone, Debug)]
pub(super) struct Database {
    config: Config,
    tls: Tls,
}

impl Database {
    /// The one that a URL names.
    pub(super) async fn of(url: &str, patience: Duration) -> Result<Self, StoreError> {
        let (mut config, security) = read_url(url)?;
        config.ssl_mode(security.ssl_mode());
        if config.get_application_name().is_none() {
            config.application_name("countersign");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(patience);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(patience);
        }
        Ok(Self { config, tls: security.make().await? })
    }
}

/// Reads the URL of a database.
pub(super) fn read_url(url: &str) -> Result<(Config, Security), StoreError> {
    let (rest, asked) = take_out(url)?;
    let config: Config = rest.parse().map_err(|error| {
        // What it is called is all that a reason says; the rest may be a secret.
        let why = reason(&error);
        StoreError::Unsupported(format!(
            "the URL of the database cannot be read ({why}): write it as \
             postgresql://user@host/database"
        ))
    })?;
    let security = Security::of(&config, asked)?;
    Ok((config, security))
}

/// Connections that read.
pub(super) fn readers(
    database: &Database,
    patience: Duration,
    count: usize,
) -> Result<Pool, StoreError> {
    // A connection on which somebody gave up waiting may still be busy: it has to answer first.
    let recycling_method = RecyclingMethod::Verified;
    let Database { config, tls } = database.clone();
    let manager = Manager::from_config(config, tls, ManagerConfig { recycling_method });
    let pool = Pool::builder(manager)
        .max_size(count.max(1))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(patience))
        .create_timeout(Some(patience))
        .recycle_timeout(Some(patience));
    pool.build().map_err(unavailable)
}

/// Connects, and takes the database for this server.
pub(super) async fn take(
    database: &Database,
    tasks: &TaskTracker,
) -> Result<ClientWrapper, StoreError> {
    let (client, connection) = database.config.connect(database.tls.clone()).await?;
    let driven = tasks.spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(error = %reason(&error), "the connection to the database is lost");
        }
    });
    let client = ClientWrapper::new(client, driven);
    // A server that was killed a moment ago has it until the database has noticed.
    client.batch_execute("SET lock_timeout = '2s'").await?;
    let sql = "SELECT pg_advisory_lock($1, hashtext(current_schema()))";
    match client.execute(sql, &[&LOCK]).await {
        Ok(_) => client.batch_execute("RESET lock_timeout").await?,
        Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            return Err(StoreError::InUse(format!(
                "the database is in use by another server{}: stop that one first, or give this \
                 one a database or schema of its own",
                owner(&client).await.unwrap_or_default()
            )));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(client)
}

/// Gives the database back. The end of the connection does that, too, but not at once.
pub(super) async fn give_back(client: ClientWrapper, patience: Duration) {
    let unlocking = client.batch_execute("SELECT pg_advisory_unlock_all()");
    if !matches!(timeout(patience, unlocking).await, Ok(Ok(()))) {
        tracing::warn!("the database could not be given back before the connection ended");
    }
}

/// Who has the lock, in words.
async fn owner(client: &ClientWrapper) -> Result<String, StoreError> {
    let sql = "SELECT l.pid, host(a.client_addr), a.backend_start::text
               FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
               WHERE l.locktype = 'advisory' AND l.granted AND l.classid::bigint = $1
                   AND l.objid::bigint = hashtext(current_schema())::bigint & 4294967295
                   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let Some(row) = client.query_opt(sql, &[&i64::from(LOCK)]).await? else {
        return Ok(String::new());
    };
    let pid: i32 = row.try_get(0)?;
    let from: Option<String> = row.try_get(1)?;
    let since: Option<String> = row.try_get(2)?;
    let from = from.unwrap_or_else(|| "the database's own machine".to_owned());
    let since = since.map_or_else(String::new, |since| format!(", since {since}"));
    Ok(format!(" (connected from {from} as backend {pid}{since})"))
}

/// Looks whether it is a database that a store can be in, and brings it to the newest version, step
/// by step. There is no way back.
pub(super) async fn migrate(client: &mut ClientWrapper) -> Result<(), StoreError> {
    let encoding = client.query_one("SHOW server_encoding", &[]).await?;
    let encoding: String = encoding.try_get(0)?;
    if encoding != "UTF8" {
        return Err(StoreError::Unsupported(format!(
            "the database keeps text as {encoding}: make one with the encoding UTF8"
        )));
    }
    let transaction = client.transaction().await?;
    let sql = "SELECT to_regclass('countersign_version') IS NOT NULL, (
                   SELECT count(*) FROM pg_tables WHERE schemaname = current_schema())";
    let found = transaction.query_one(sql, &[]).await?;
    let (is_ours, tables): (bool, i64) = (found.try_get(0)?, found.try_get(1)?);
    if !is_ours && tables > 0 {
        return Err(StoreError::Version(
            "the database has tables of something else: give the server a database or schema of \
             its own"
                .to_owned(),
        ));
    }
    let mut version: i32 = 0;
    if is_ours {
        let row = transaction.query_one("SELECT version FROM countersign_version", &[]).await?;
        version = row.try_get(0)?;
    } else {
        let sql = "CREATE TABLE countersign_version (version INTEGER NOT NULL);
                   INSERT INTO countersign_version VALUES (0)";
        transaction.batch_execute(sql).await?;
    }
    let (known, done) = (MIGRATIONS.len(), usize::try_from(version).unwrap_or(usize::MAX));
    if done > known {
        return Err(StoreError::Version(format!(
            "the database has version {version}, and this program knows versions up to {known}: \
             use the newer program that wrote it, or a backup from before"
        )));
    }
    for step in MIGRATIONS.iter().skip(done) {
        transaction.batch_execute(step).await?;
        version += 1;
        let sql = "UPDATE countersign_version SET version = $1";
        transaction.execute(sql, &[&version]).await?;
    }
    Ok(transaction.commit().await?)
}

/// Runs a statement that gives rows.
pub(super) async fn query(
    client: &ClientWrapper,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, StoreError> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, values).await?)
}

/// Runs a statement that gives a row, or none.
pub(super) async fn query_opt(
    client: &ClientWrapper,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Option<Row>, StoreError> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query_opt(&statement, values).await?)
}

/// Runs a statement that gives one row.
pub(super) async fn query_one(
    client: &ClientWrapper,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Row, StoreError> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query_one(&statement, values).await?)
}

/// Runs a statement that gives nothing, and says how many rows it was about.
pub(super) async fn execute(
    client: &ClientWrapper,
    sql: &str,
    values: &[Value<'_>],
) -> Result<u64, StoreError> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.execute(&statement, values).await?)
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::SslMode;

    use super::*;

    #[track_caller]
    fn refused(url: &str) -> String {
        match read_url(url) {
            Err(StoreError::Unsupported(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn mode(url: &str) -> SslMode {
        read_url(url).unwrap().1.ssl_mode()
    }

    #[test]
    fn a_database_elsewhere_is_not_spoken_to_in_the_clear_unless_that_is_said() {
        for url in [
            "postgresql://me:secret@host/db",
            "postgres://me:secret@host/db?sslmode=prefer",
            "postgres://me:secret@192.0.2.1/db?connect_timeout=3",
            "postgres://me:secret@localhost,host/db",
            "host=host user=me password=secret",
            "host=localhost hostaddr=192.0.2.1 password=secret",
        ] {
            let why = refused(url);
            assert!(why.contains("sslmode=verify-full") && !why.contains("secret"), "{why}");
        }
        assert_eq!(mode("postgres://me@host/db?sslmode=disable"), SslMode::Disable);
        for word in ["require", "verify-ca", "verify-full"] {
            assert_eq!(mode(&format!("postgres://me@host/db?sslmode={word}")), SslMode::Require);
        }
        assert_eq!(mode("host=host sslmode=require"), SslMode::Require);
        // The last one counts, as it does elsewhere.
        let twice = "postgres://me@host/db?sslmode=require&sslmode=disable";
        assert_eq!(mode(twice), SslMode::Disable);
    }

    #[test]
    fn a_database_on_this_machine_need_not_be_secured() {
        for url in [
            "postgresql://me@localhost/db",
            "postgresql://me@127.0.0.1:5433/db",
            "postgresql://me@[::1]/db",
            "postgresql://me@%2Frun%2Fpostgresql/db",
            "host=/run",
            "host=name hostaddr=127.0.0.1",
        ] {
            assert_eq!(mode(url), SslMode::Disable, "{url}");
        }
        assert_eq!(mode("postgres://me@localhost/db?sslmode=prefer"), SslMode::Prefer);
        let why = refused("postgres://me@%2Frun%2Fpostgresql/db?sslmode=require");
        assert!(why.contains("socket"), "{why}");
    }

    #[test]
    fn what_is_said_of_tls_does_not_hide_the_rest_of_a_url() {
        let url = "postgres://me:a?b%26c@host:1234/db?sslmode=verify-full&sslrootcert=system\
                   &options=-c%20search_path%3Dmine";
        let (config, _) = read_url(url).unwrap();
        assert_eq!(config.get_options(), Some("-c search_path=mine"));
        assert_eq!(config.get_password(), Some(&b"a?b&c"[..]));
        assert_eq!((config.get_ports(), config.get_dbname()), (&[1234][..], Some("db")));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_to_do() {
        for (query, part) in [
            ("sslmode=allow", "verify-full"),
            ("sslmode=verify-full&sslrootcert=ca.pem", "at its front"),
            ("sslmode=verify-full&sslrootcert=%2Fnowhere%2Fca.pem", "/nowhere/ca.pem"),
            ("sslmode=disable&sslrootcert=%2Fnowhere", "does not look"),
            ("sslmode=require&sslcert=%2Fmine", "sslcert"),
        ] {
            let why = refused(&format!("postgres://me:secret@host/db?{query}"));
            assert!(why.contains(part) && !why.contains("secret"), "{why}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_read_is_not_shown() {
        for url in ["postgresql://me:secret@host:port/db", "secret", "postgresql://h/db?secret=1x"]
        {
            let why = refused(url);
            assert!(!why.contains("secret@") && why.contains("postgresql://user@host"), "{why}");
        }
    }
}
