//! Who is let in, in the same database.

use deadpool_postgres::ClientWrapper;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::connect::{Value, execute, query, query_opt, unavailable};
use super::writer::{Scratch, Work};
use crate::access::{
    AccessStore, AccessStoreError, BrowserRecord, CarriedOut, LoginCodeRecord, Scope, SecretHash,
    StoreFuture, TokenRecord,
};
use crate::id::{BrowserId, TokenId};
use crate::store::clock::{from_number, to_number};
use crate::store::{AuditEntry, Command, Store, StoreError, Write};

/// Says what went wrong as a store of tokens does.
fn told<'a, T: 'a>(
    result: impl Future<Output = Result<T, StoreError>> + Send + 'a,
) -> StoreFuture<'a, T> {
    Box::pin(async move { result.await.map_err(|error| AccessStoreError(Box::new(error))) })
}

impl PostgresStore {
    fn keep<I, T>(&self, input: I, work: Work<I, T, StoreError>) -> StoreFuture<'_, T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        told(self.writer.run(input, work))
    }
}

const TOKEN: &str =
    "SELECT id, name, scope, hash, created, expires, last_used, revoked FROM tokens";
const BROWSER: &str = "SELECT id, hash, token, scope, created, last_used, expires FROM browsers";

fn scope(row: &Row, column: usize) -> Result<Scope, StoreError> {
    row.try_get::<_, &str>(column)?.parse().map_err(unavailable)
}

fn time(row: &Row, column: usize) -> Result<Timestamp, StoreError> {
    Ok(from_number(row.try_get(column)?))
}

fn some_time(row: &Row, column: usize) -> Result<Option<Timestamp>, StoreError> {
    Ok(row.try_get::<_, Option<i64>>(column)?.map(from_number))
}

fn hash(row: &Row, column: usize) -> Result<SecretHash, StoreError> {
    let bytes: &[u8] = row.try_get(column)?;
    bytes.try_into().map(SecretHash::from_bytes).map_err(unavailable)
}

fn uuid<T: From<Uuid>>(row: &Row, column: usize) -> Result<T, StoreError> {
    Ok(row.try_get::<_, Uuid>(column)?.into())
}

fn token(row: &Row) -> Result<TokenRecord, StoreError> {
    Ok(TokenRecord {
        id: uuid(row, 0)?,
        name: String::from_utf8_lossy(row.try_get(1)?).into_owned(),
        scope: scope(row, 2)?,
        hash: hash(row, 3)?,
        created_at: time(row, 4)?,
        expires_at: some_time(row, 5)?,
        last_used: some_time(row, 6)?,
        revoked_at: some_time(row, 7)?,
    })
}

fn browser(row: &Row) -> Result<BrowserRecord, StoreError> {
    Ok(BrowserRecord {
        id: uuid(row, 0)?,
        hash: hash(row, 1)?,
        token: uuid(row, 2)?,
        scope: scope(row, 3)?,
        created_at: time(row, 4)?,
        last_used: time(row, 5)?,
        expires_at: time(row, 6)?,
    })
}

async fn put_token(client: &ClientWrapper, token: &TokenRecord) -> Result<(), StoreError> {
    let sql = "INSERT INTO tokens (id, name, scope, hash, created, expires, last_used, revoked)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values: [Value<'_>; 8] = [
        &token.id.uuid(),
        &token.name.as_bytes(),
        &token.scope.name(),
        &token.hash.as_bytes().as_slice(),
        &to_number(token.created_at),
        &token.expires_at.map(to_number),
        &token.last_used.map(to_number),
        &token.revoked_at.map(to_number),
    ];
    execute(client, sql, &values).await.map(drop)
}

/// A statement with an id, a time and another time, of which it may not use all.
struct Touch {
    sql: &'static str,
    id: Uuid,
    times: Vec<i64>,
}

fn touch<'a>(
    touch: &'a Touch,
    scratch: &'a mut Scratch<'_>,
) -> BoxFuture<'a, Result<bool, StoreError>> {
    Box::pin(async move {
        let mut values: Vec<Value<'_>> = vec![&touch.id];
        values.extend(touch.times.iter().map(|time| time as Value<'_>));
        Ok(execute(scratch.client, touch.sql, &values).await? > 0)
    })
}

impl PostgresStore {
    fn touch(&self, sql: &'static str, id: Uuid, times: &[Timestamp]) -> StoreFuture<'_, bool> {
        let times = times.iter().copied().map(to_number).collect();
        self.keep(Touch { sql, id, times }, touch)
    }
}

impl AccessStore for PostgresStore {
    fn add_token(&self, token: TokenRecord) -> StoreFuture<'_, ()> {
        self.keep(token, |token, scratch| Box::pin(put_token(scratch.client, token)))
    }

    fn add_first_token(&self, token: TokenRecord) -> StoreFuture<'_, bool> {
        self.keep(token, |token, scratch| {
            Box::pin(async move {
                let sql = "SELECT 1 FROM tokens LIMIT 1";
                if query_opt(scratch.client, sql, &[]).await?.is_some() {
                    return Ok(false);
                }
                put_token(scratch.client, token).await.map(|()| true)
            })
        })
    }

    fn token(&self, id: TokenId) -> StoreFuture<'_, Option<TokenRecord>> {
        told(self.readers.read(move |client| async move {
            let sql = format!("{TOKEN} WHERE id = $1");
            query_opt(&client, &sql, &[&id.uuid()]).await?.as_ref().map(token).transpose()
        }))
    }

    fn tokens(&self) -> StoreFuture<'_, Vec<TokenRecord>> {
        told(self.readers.read(|client| async move {
            let rows = query(&client, &format!("{TOKEN} ORDER BY id"), &[]).await?;
            rows.iter().map(token).collect()
        }))
    }

    fn revoke_token(&self, id: TokenId, at: Timestamp) -> StoreFuture<'_, bool> {
        self.keep((id.uuid(), to_number(at)), |(id, at), scratch| {
            Box::pin(async move {
                for sql in [
                    "DELETE FROM login_codes WHERE token = $1",
                    "DELETE FROM browsers WHERE token = $1",
                ] {
                    execute(scratch.client, sql, &[id]).await?;
                }
                let sql = "UPDATE tokens SET revoked = coalesce(revoked, $2) WHERE id = $1";
                Ok(execute(scratch.client, sql, &[id, at]).await? > 0)
            })
        })
    }

    fn touch_token(&self, id: TokenId, at: Timestamp) -> StoreFuture<'_, ()> {
        let sql = "UPDATE tokens SET last_used = $2 WHERE id = $1";
        let touched = self.touch(sql, id.uuid(), &[at]);
        Box::pin(async move { touched.await.map(|_| ()) })
    }

    fn add_login_code(&self, code: LoginCodeRecord) -> StoreFuture<'_, ()> {
        self.keep(code, |code, scratch| {
            Box::pin(async move {
                let sql = "INSERT INTO login_codes (hash, token, scope, expires)
                           VALUES ($1, $2, $3, $4)";
                let values: [Value<'_>; 4] = [
                    &code.hash.as_bytes().as_slice(),
                    &code.token.uuid(),
                    &code.scope.name(),
                    &to_number(code.expires_at),
                ];
                execute(scratch.client, sql, &values).await.map(drop)
            })
        })
    }

    fn take_login_code(
        &self,
        hash: SecretHash,
        now: Timestamp,
    ) -> StoreFuture<'_, Option<LoginCodeRecord>> {
        self.keep((hash, now), |(hash, now), scratch| {
            Box::pin(async move {
                let sql = "DELETE FROM login_codes WHERE hash = $1 RETURNING token, scope, expires";
                let row = query_opt(scratch.client, sql, &[&hash.as_bytes().as_slice()]).await?;
                let Some(row) = row else { return Ok(None) };
                let (token, scope, expires_at) = (uuid(&row, 0)?, scope(&row, 1)?, time(&row, 2)?);
                let code = LoginCodeRecord { hash: *hash, token, scope, expires_at };
                Ok(Some(code).filter(|code| *now < code.expires_at))
            })
        })
    }

    fn add_browser(&self, browser: BrowserRecord) -> StoreFuture<'_, ()> {
        self.keep(browser, |browser, scratch| {
            Box::pin(async move {
                let sql = "INSERT INTO browsers
                               (id, hash, token, scope, created, last_used, expires)
                           VALUES ($1, $2, $3, $4, $5, $6, $7)";
                let values: [Value<'_>; 7] = [
                    &browser.id.uuid(),
                    &browser.hash.as_bytes().as_slice(),
                    &browser.token.uuid(),
                    &browser.scope.name(),
                    &to_number(browser.created_at),
                    &to_number(browser.last_used),
                    &to_number(browser.expires_at),
                ];
                execute(scratch.client, sql, &values).await.map(drop)
            })
        })
    }

    fn browser(&self, hash: SecretHash) -> StoreFuture<'_, Option<BrowserRecord>> {
        told(self.readers.read(move |client| async move {
            let sql = format!("{BROWSER} WHERE hash = $1");
            let row = query_opt(&client, &sql, &[&hash.as_bytes().as_slice()]).await?;
            row.as_ref().map(browser).transpose()
        }))
    }

    fn browsers(&self) -> StoreFuture<'_, Vec<BrowserRecord>> {
        told(self.readers.read(|client| async move {
            let rows = query(&client, &format!("{BROWSER} ORDER BY id"), &[]).await?;
            rows.iter().map(browser).collect()
        }))
    }

    fn touch_browser(
        &self,
        id: BrowserId,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> StoreFuture<'_, ()> {
        let sql = "UPDATE browsers SET last_used = $2, expires = $3 WHERE id = $1";
        let touched = self.touch(sql, id.uuid(), &[at, expires_at]);
        Box::pin(async move { touched.await.map(|_| ()) })
    }

    fn remove_browser(&self, id: BrowserId) -> StoreFuture<'_, bool> {
        self.touch("DELETE FROM browsers WHERE id = $1", id.uuid(), &[])
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
        told(self.note_in_audit(entry))
    }

    fn forget_expired(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        self.keep(to_number(now), |now, scratch| {
            Box::pin(async move {
                let mut gone = 0;
                for sql in [
                    "DELETE FROM login_codes WHERE expires <= $1",
                    "DELETE FROM browsers WHERE expires <= $1",
                ] {
                    gone += execute(scratch.client, sql, &[now]).await?;
                }
                Ok(usize::try_from(gone).unwrap_or(usize::MAX))
            })
        })
    }
}
