//! How a database is reached, whose it is, and which version it has.

use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio::time::timeout;
use tokio_postgres::config::{Config, Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{NoTls, Row};
use tokio_util::task::TaskTracker;

use crate::store::StoreError;

/// What each version adds. It is never changed, only added to.
const MIGRATIONS: [&str; 2] = [include_str!("schema.sql"), include_str!("deleted.sql")];

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

/// Reads the URL of a database.
pub(super) fn read_url(url: &str, patience: Duration) -> Result<Config, StoreError> {
    let no_encryption = || {
        StoreError::Unsupported(
            "encrypted connections to the database are not supported yet: leave sslmode out, and \
             use a socket of this machine or a tunnel"
                .to_owned(),
        )
    };
    let mut config: Config = url.parse().map_err(|error| {
        // What it is called is all that a reason says; the rest may be a secret.
        let why = reason(&error);
        if why.contains("sslmode") || why.contains("sslrootcert") || why.contains("sslcert") {
            return no_encryption();
        }
        StoreError::Unsupported(format!(
            "the URL of the database cannot be read ({why}): write it as \
             postgresql://user@host/database"
        ))
    })?;
    if config.get_ssl_mode() == SslMode::Require {
        return Err(no_encryption());
    }
    let is_remote = |host: &Host| matches!(host, Host::Tcp(name) if !is_this_machine(name));
    if config.get_hosts().iter().any(is_remote) {
        tracing::warn!("the connection to the database is not encrypted");
    }
    if config.get_application_name().is_none() {
        config.application_name("countersign");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(patience);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(patience);
    }
    Ok(config)
}

fn is_this_machine(name: &str) -> bool {
    let address = name.parse::<std::net::IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Connections that read.
pub(super) fn readers(
    config: &Config,
    patience: Duration,
    count: usize,
) -> Result<Pool, StoreError> {
    // A connection on which somebody gave up waiting may still be busy: it has to answer first.
    let recycling_method = RecyclingMethod::Verified;
    let manager = Manager::from_config(config.clone(), NoTls, ManagerConfig { recycling_method });
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
    config: &Config,
    tasks: &TaskTracker,
) -> Result<ClientWrapper, StoreError> {
    let (client, connection) = config.connect(NoTls).await?;
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
    use super::*;

    #[track_caller]
    fn refused(url: &str) -> String {
        match read_url(url, Duration::from_secs(1)) {
            Err(StoreError::Unsupported(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_url_that_asks_for_encryption_is_refused_and_says_so() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let why = refused(&format!("postgresql://me:secret@host/db?sslmode={mode}"));
            assert!(why.contains("not supported yet"), "{why}");
        }
        for url in
            ["postgresql://me@host/db", "postgresql://me@host/db?sslmode=disable", "host=/run"]
        {
            read_url(url, Duration::from_secs(1)).unwrap();
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
