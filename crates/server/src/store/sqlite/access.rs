//! Who is let in, in the same file.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::writer::Scratch;
use crate::access::{
    AccessStore, AccessStoreError, BrowserRecord, CarriedOut, LoginCodeRecord, Scope, SecretHash,
    StoreFuture, TokenRecord,
};
use crate::id::{BrowserId, TokenId};
use crate::store::clock::{from_number, to_number};
use crate::store::{AuditEntry, Command, Store, StoreError, Write};

impl SqliteStore {
    fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(async move { self.read(work).await.map_err(failed) })
    }

    fn keep<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let change = self.change(move |scratch: &mut Scratch<'_>| work(scratch.connection));
        Box::pin(async move { change.await.map_err(failed) })
    }

    /// Runs one statement that gives nothing back, and says how many rows it was about.
    fn execute<P: Params>(
        &self,
        sql: &'static str,
        values: impl Fn() -> P + Send + 'static,
    ) -> StoreFuture<'_, usize> {
        self.keep(move |connection| Ok(connection.prepare_cached(sql)?.execute(values())?))
    }
}

fn failed(error: StoreError) -> AccessStoreError {
    AccessStoreError(Box::new(error))
}

/// Nothing but whether it was done.
fn done(rows: StoreFuture<'_, usize>) -> StoreFuture<'_, ()> {
    Box::pin(async move { rows.await.map(drop) })
}

/// Whether there was something.
fn was_there(rows: StoreFuture<'_, usize>) -> StoreFuture<'_, bool> {
    Box::pin(async move { rows.await.map(|rows| rows > 0) })
}

const TOKEN: &str =
    "SELECT id, name, scope, hash, created, expires, last_used, revoked FROM tokens";
const BROWSER: &str = "SELECT id, hash, token, scope, created, last_used, expires FROM browsers";

fn scope(row: &Row<'_>, column: usize) -> Result<Scope, rusqlite::Error> {
    let unreadable = |error| {
        let kind = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(error))
    };
    row.get_ref(column)?.as_str()?.parse().map_err(unreadable)
}

fn time(row: &Row<'_>, column: usize) -> Result<Timestamp, rusqlite::Error> {
    row.get(column).map(from_number)
}

fn some_time(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>, rusqlite::Error> {
    Ok(row.get::<_, Option<i64>>(column)?.map(from_number))
}

fn hash(row: &Row<'_>, column: usize) -> Result<SecretHash, rusqlite::Error> {
    row.get(column).map(SecretHash::from_bytes)
}

fn uuid(row: &Row<'_>, column: usize) -> Result<Uuid, rusqlite::Error> {
    row.get(column).map(Uuid::from_bytes)
}

fn token(row: &Row<'_>) -> Result<TokenRecord, rusqlite::Error> {
    Ok(TokenRecord {
        id: uuid(row, 0)?.into(),
        name: row.get(1)?,
        scope: scope(row, 2)?,
        hash: hash(row, 3)?,
        created_at: time(row, 4)?,
        expires_at: some_time(row, 5)?,
        last_used: some_time(row, 6)?,
        revoked_at: some_time(row, 7)?,
    })
}

fn browser(row: &Row<'_>) -> Result<BrowserRecord, rusqlite::Error> {
    Ok(BrowserRecord {
        id: uuid(row, 0)?.into(),
        hash: hash(row, 1)?,
        token: uuid(row, 2)?.into(),
        scope: scope(row, 3)?,
        created_at: time(row, 4)?,
        last_used: time(row, 5)?,
        expires_at: time(row, 6)?,
    })
}

fn put_token(connection: &Connection, token: &TokenRecord) -> Result<(), StoreError> {
    let sql = "INSERT INTO tokens (id, name, scope, hash, created, expires, last_used, revoked)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    connection.prepare_cached(sql)?.execute(params![
        token.id.uuid().as_bytes(),
        token.name,
        token.scope.name(),
        token.hash.as_bytes(),
        to_number(token.created_at),
        token.expires_at.map(to_number),
        token.last_used.map(to_number),
        token.revoked_at.map(to_number),
    ])?;
    Ok(())
}

impl AccessStore for SqliteStore {
    fn add_token(&self, token: TokenRecord) -> StoreFuture<'_, ()> {
        self.keep(move |connection| put_token(connection, &token))
    }

    fn add_first_token(&self, token: TokenRecord) -> StoreFuture<'_, bool> {
        self.keep(move |connection| {
            if connection.prepare_cached("SELECT 1 FROM tokens LIMIT 1")?.exists([])? {
                return Ok(false);
            }
            put_token(connection, &token).map(|()| true)
        })
    }

    fn token(&self, id: TokenId) -> StoreFuture<'_, Option<TokenRecord>> {
        self.look(move |connection| {
            let mut found = connection.prepare_cached(&format!("{TOKEN} WHERE id = ?1"))?;
            Ok(found.query_row([id.uuid().as_bytes()], token).optional()?)
        })
    }

    fn tokens(&self) -> StoreFuture<'_, Vec<TokenRecord>> {
        self.look(|connection| {
            let mut found = connection.prepare_cached(&format!("{TOKEN} ORDER BY id"))?;
            Ok(found.query_map([], token)?.collect::<Result<_, _>>()?)
        })
    }

    fn revoke_token(&self, id: TokenId, at: Timestamp) -> StoreFuture<'_, bool> {
        self.keep(move |connection| {
            let id = *id.uuid().as_bytes();
            for sql in [
                "DELETE FROM login_codes WHERE token = ?1",
                "DELETE FROM browsers WHERE token = ?1",
            ] {
                connection.prepare_cached(sql)?.execute([id])?;
            }
            let sql = "UPDATE tokens SET revoked = coalesce(revoked, ?2) WHERE id = ?1";
            Ok(connection.prepare_cached(sql)?.execute(params![id, to_number(at)])? > 0)
        })
    }

    fn touch_token(&self, id: TokenId, at: Timestamp) -> StoreFuture<'_, ()> {
        let values = move || (*id.uuid().as_bytes(), to_number(at));
        done(self.execute("UPDATE tokens SET last_used = ?2 WHERE id = ?1", values))
    }

    fn add_login_code(&self, code: LoginCodeRecord) -> StoreFuture<'_, ()> {
        let sql = "INSERT INTO login_codes (hash, token, scope, expires) VALUES (?1, ?2, ?3, ?4)";
        let (hash, token) = (*code.hash.as_bytes(), *code.token.uuid().as_bytes());
        let values = move || (hash, token, code.scope.name(), to_number(code.expires_at));
        done(self.execute(sql, values))
    }

    fn take_login_code(
        &self,
        hash: SecretHash,
        now: Timestamp,
    ) -> StoreFuture<'_, Option<LoginCodeRecord>> {
        self.keep(move |connection| {
            let sql = "DELETE FROM login_codes WHERE hash = ?1 RETURNING token, scope, expires";
            let mut taken = connection.prepare_cached(sql)?;
            let code = taken.query_row([hash.as_bytes()], |row| {
                let (token, expires_at) = (uuid(row, 0)?.into(), time(row, 2)?);
                Ok(LoginCodeRecord { hash, token, scope: scope(row, 1)?, expires_at })
            });
            Ok(code.optional()?.filter(|code| now < code.expires_at))
        })
    }

    fn add_browser(&self, browser: BrowserRecord) -> StoreFuture<'_, ()> {
        let sql = "INSERT INTO browsers (id, hash, token, scope, created, last_used, expires)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let values = move || {
            (
                *browser.id.uuid().as_bytes(),
                *browser.hash.as_bytes(),
                *browser.token.uuid().as_bytes(),
                browser.scope.name(),
                to_number(browser.created_at),
                to_number(browser.last_used),
                to_number(browser.expires_at),
            )
        };
        done(self.execute(sql, values))
    }

    fn browser(&self, hash: SecretHash) -> StoreFuture<'_, Option<BrowserRecord>> {
        self.look(move |connection| {
            let mut found = connection.prepare_cached(&format!("{BROWSER} WHERE hash = ?1"))?;
            Ok(found.query_row([hash.as_bytes()], browser).optional()?)
        })
    }

    fn browsers(&self) -> StoreFuture<'_, Vec<BrowserRecord>> {
        self.look(|connection| {
            let mut found = connection.prepare_cached(&format!("{BROWSER} ORDER BY id"))?;
            Ok(found.query_map([], browser)?.collect::<Result<_, _>>()?)
        })
    }

    fn touch_browser(
        &self,
        id: BrowserId,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> StoreFuture<'_, ()> {
        let sql = "UPDATE browsers SET last_used = ?2, expires = ?3 WHERE id = ?1";
        let values = move || (*id.uuid().as_bytes(), to_number(at), to_number(expires_at));
        done(self.execute(sql, values))
    }

    fn remove_browser(&self, id: BrowserId) -> StoreFuture<'_, bool> {
        let values = move || [*id.uuid().as_bytes()];
        was_there(self.execute("DELETE FROM browsers WHERE id = ?1", values))
    }

    fn carried_out(&self, command: Command) -> StoreFuture<'_, CarriedOut> {
        Box::pin(async move { CarriedOut::of(Store::carried_out(self, command).await) })
    }

    fn remember(&self, command: Command) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let write = Write::default().because_of(Some(command));
            let written = self.write(write).await.map(drop);
            written.map_err(|error| AccessStoreError(Box::new(error)))
        })
    }

    fn note(&self, entry: AuditEntry) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.note_in_audit(entry).await.map_err(failed) })
    }

    fn forget_expired(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        self.keep(move |connection| {
            let mut gone = 0;
            for sql in [
                "DELETE FROM login_codes WHERE expires <= ?1",
                "DELETE FROM browsers WHERE expires <= ?1",
            ] {
                gone += connection.prepare_cached(sql)?.execute([to_number(now)])?;
            }
            Ok(gone)
        })
    }
}
