//! Reads what was written.

use std::sync::Arc;

use countersign::park::ParkingToken;
use deadpool_postgres::ClientWrapper;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use uuid::Uuid;

use super::connect::{Value, query, query_one, query_opt};
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{Approval, Event, Happening, Head, Stage, read_token};
use crate::store::clock::{from_number, to_number};
use crate::store::plan::{NAMING_A_CONVERSATION, read_run, to_i64, to_u64};
use crate::store::words::storable;
use crate::store::{PAGE_BYTES, ServerRun, StoreError, StoredMessage, Totals};

/// Reads JSON that was kept.
pub(super) fn json<T: DeserializeOwned>(
    what: &'static str,
    row: &Row,
    column: usize,
) -> Result<T, StoreError> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|source| StoreError::Unreadable { what, source })
}

pub(super) async fn head(
    client: &ClientWrapper,
    session: SessionId,
) -> Result<Option<Arc<Head>>, StoreError> {
    let sql = "SELECT head FROM sessions WHERE id = $1";
    let row = query_opt(client, sql, &[&session.uuid()]).await?;
    row.map(|row| json("a session", &row, 0).map(Arc::new)).transpose()
}

/// The sessions that come from this one.
pub(super) async fn children(
    client: &ClientWrapper,
    session: SessionId,
) -> Result<Vec<Head>, StoreError> {
    let sql = "SELECT head FROM sessions WHERE parent = $1";
    let rows = query(client, sql, &[&session.uuid()]).await?;
    rows.iter().map(|row| json("a session", row, 0)).collect()
}

pub(super) async fn unsettled(client: &ClientWrapper) -> Result<Vec<SessionId>, StoreError> {
    let rows = query(client, "SELECT id FROM sessions WHERE is_unsettled ORDER BY id", &[]).await?;
    rows.iter().map(|row| Ok(row.try_get::<_, Uuid>(0)?.into())).collect()
}

pub(super) async fn open_since_before(
    client: &ClientWrapper,
    time: Timestamp,
    limit: usize,
) -> Result<Vec<(SessionId, ApprovalId)>, StoreError> {
    let sql = "SELECT sessions.id, approvals.id
               FROM approvals JOIN sessions ON sessions.id = session
               WHERE stage = $1 AND opened < $2
               ORDER BY opened, approvals.id LIMIT $3";
    let values: [Value<'_>; 3] = [&Stage::Open.name(), &to_number(time), &to_i64(limit)];
    let pair = |row: &Row| {
        let (session, approval): (Uuid, Uuid) = (row.try_get(0)?, row.try_get(1)?);
        Ok((session.into(), approval.into()))
    };
    query(client, sql, &values).await?.iter().map(pair).collect()
}

/// A page of events, in an order. The database counts how much they are, so that no more is sent.
async fn page_of_events(
    client: &ClientWrapper,
    rest: &str,
    order: &str,
    values: &[Value<'_>],
) -> Result<Vec<Arc<Event>>, StoreError> {
    let sql = format!(
        "SELECT position, session, seq, at, kind, body FROM (
             SELECT *, sum(octet_length(body)) OVER (ORDER BY {order}) AS until FROM (
                 SELECT position, session, seq, at, kind, body FROM events {rest}
             ) AS page
         ) AS counted
         WHERE until <= {PAGE_BYTES} OR until = octet_length(body)
         ORDER BY {order}"
    );
    read_events(client, &sql, values).await
}

async fn read_events(
    client: &ClientWrapper,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Arc<Event>>, StoreError> {
    let event = |row: &Row| {
        let happening = Happening::read(row.try_get(4)?, row.try_get(5)?)?;
        let session: Uuid = row.try_get(1)?;
        let (position, seq) = (to_u64(row.try_get(0)?), to_u64(row.try_get(2)?));
        let at = from_number(row.try_get(3)?);
        Ok(Arc::new(Event::new(session.into(), seq, position, at, happening)))
    };
    query(client, sql, values).await?.iter().map(event).collect()
}

pub(super) async fn events(
    client: &ClientWrapper,
    session: SessionId,
    after: u64,
    limit: usize,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let rest = "WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    let values: [Value<'_>; 3] = [&session.uuid(), &to_i64(after), &to_i64(limit)];
    page_of_events(client, rest, "seq", &values).await
}

pub(super) async fn events_before(
    client: &ClientWrapper,
    session: SessionId,
    before: u64,
    limit: usize,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let rest = "WHERE session = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3";
    let values: [Value<'_>; 3] = [&session.uuid(), &to_i64(before), &to_i64(limit)];
    let mut events = page_of_events(client, rest, "seq DESC", &values).await?;
    events.reverse();
    Ok(events)
}

pub(super) async fn events_of(
    client: &ClientWrapper,
    session: SessionId,
    kinds: &[&str],
    before: u64,
    limit: usize,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let (id, before, limit) = (session.uuid(), to_i64(before), to_i64(limit));
    let kinds: Vec<String> = kinds.iter().map(|kind| storable(kind)).collect();
    let rest = "WHERE session = $1 AND seq < $2 AND (kind = ANY($4) OR cardinality($4) = 0)
                ORDER BY seq DESC LIMIT $3";
    page_of_events(client, rest, "seq DESC", &[&id, &before, &limit, &kinds]).await
}

pub(super) async fn all_events(
    client: &ClientWrapper,
    after: u64,
    kinds: &[&str],
    limit: usize,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let (after, limit) = (to_i64(after), to_i64(limit));
    if kinds.is_empty() {
        let rest = "WHERE position > $1 ORDER BY position LIMIT $2";
        return page_of_events(client, rest, "position", &[&after, &limit]).await;
    }
    let kinds: Vec<String> = kinds.iter().map(|kind| storable(kind)).collect();
    let rest = "WHERE position > $1 AND kind = ANY($3) ORDER BY position LIMIT $2";
    page_of_events(client, rest, "position", &[&after, &limit, &kinds]).await
}

/// The events of a session that say which conversations it had.
pub(super) async fn naming_a_conversation(
    client: &ClientWrapper,
    session: SessionId,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let sql = "SELECT position, session, seq, at, kind, body FROM events
               WHERE session = $1 AND kind = ANY($2) ORDER BY seq";
    let kinds = NAMING_A_CONVERSATION.to_vec();
    read_events(client, sql, &[&session.uuid(), &kinds]).await
}

pub(super) async fn last_position(client: &ClientWrapper) -> Result<u64, StoreError> {
    let sql = "SELECT coalesce(max(position), 0) FROM events";
    Ok(to_u64(query_one(client, sql, &[]).await?.try_get(0)?))
}

pub(super) async fn count_open(client: &ClientWrapper) -> Result<u64, StoreError> {
    let sql = "SELECT count(*) FROM approvals WHERE stage = $1";
    Ok(to_u64(query_one(client, sql, &[&Stage::Open.name()]).await?.try_get(0)?))
}

pub(super) async fn approval(
    client: &ClientWrapper,
    approval: ApprovalId,
) -> Result<Option<Approval>, StoreError> {
    let sql = "SELECT approval FROM approvals WHERE id = $1";
    let row = query_opt(client, sql, &[&approval.uuid()]).await?;
    row.map(|row| json("an approval", &row, 0)).transpose()
}

pub(super) async fn parking_token(
    client: &ClientWrapper,
    approval: ApprovalId,
) -> Result<Option<ParkingToken>, StoreError> {
    let sql = "SELECT token FROM approvals WHERE id = $1 AND token IS NOT NULL";
    let row = query_opt(client, sql, &[&approval.uuid()]).await?;
    let Some(row) = row else { return Ok(None) };
    let what = "what brings a call back";
    let token = read_token(&json(what, &row, 0)?);
    token.map(Some).map_err(|source| StoreError::Unreadable { what, source })
}

pub(super) async fn message(
    client: &ClientWrapper,
    message: MessageId,
) -> Result<Option<StoredMessage>, StoreError> {
    let sql = "SELECT message FROM messages WHERE id = $1";
    let row = query_opt(client, sql, &[&message.uuid()]).await?;
    row.map(|row| json("a message", &row, 0)).transpose()
}

/// Messages that wait. Their rows stay, so that what is read after the head is there.
pub(super) async fn queued_messages(
    client: &ClientWrapper,
    session: SessionId,
) -> Result<Vec<StoredMessage>, StoreError> {
    let Some(head) = head(client, session).await? else { return Ok(Vec::new()) };
    let ids: Vec<Uuid> = head.queue.iter().map(|queued| queued.message.uuid()).collect();
    let sql = "SELECT message FROM messages
               JOIN unnest($1::uuid[]) WITH ORDINALITY AS queue (id, number) USING (id)
               ORDER BY number";
    let rows = query(client, sql, &[&ids]).await?;
    rows.iter().map(|row| json("a message", row, 0)).collect()
}

pub(super) async fn totals(client: &ClientWrapper) -> Result<Totals, StoreError> {
    let mut totals = Totals::default();
    let sql = "SELECT cost, input_tokens, output_tokens, turns FROM deleted";
    let gone = query_one(client, sql, &[]).await?;
    totals.cost_usd = gone.try_get(0)?;
    totals.input_tokens = to_u64(gone.try_get(1)?);
    totals.output_tokens = to_u64(gone.try_get(2)?);
    totals.turns = to_u64(gone.try_get(3)?);
    let sql = "SELECT state, count(*), sum(cost), sum(input_tokens)::bigint,
                   sum(output_tokens)::bigint, sum(turns)::bigint, sum(open_approvals)::bigint
               FROM sessions GROUP BY state";
    for row in query(client, sql, &[]).await? {
        totals.sessions.insert(row.try_get(0)?, to_u64(row.try_get(1)?));
        totals.cost_usd += row.try_get::<_, f64>(2)?;
        totals.input_tokens += to_u64(row.try_get(3)?);
        totals.output_tokens += to_u64(row.try_get(4)?);
        totals.turns += to_u64(row.try_get(5)?);
        totals.open_approvals += to_u64(row.try_get(6)?);
    }
    Ok(totals)
}

pub(super) async fn cursor(client: &ClientWrapper, name: &str) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT position FROM cursors WHERE name = $1";
    let row = query_opt(client, sql, &[&storable(name)]).await?;
    row.map(|row| Ok(to_u64(row.try_get(0)?))).transpose()
}

/// The runs of servers that did not say that they ended.
pub(super) async fn runs(client: &ClientWrapper) -> Result<Vec<ServerRun>, StoreError> {
    let sql = "SELECT mark, process, began FROM runs ORDER BY began, mark";
    let run = |row: &Row| read_run(row.try_get(0)?, row.try_get(1)?, from_number(row.try_get(2)?));
    query(client, sql, &[]).await?.iter().map(run).collect()
}

/// When a transcript was last changed.
pub(super) async fn last_modified(client: &ClientWrapper) -> Result<Timestamp, StoreError> {
    let sql = "SELECT coalesce(max(modified), 0) FROM transcripts";
    Ok(from_number(query_one(client, sql, &[]).await?.try_get(0)?))
}
