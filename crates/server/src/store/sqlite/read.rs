//! Reads what was written.

use std::sync::Arc;

use countersign::park::ParkingToken;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::{to_i64, to_u64};
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{Approval, Event, Happening, Head, Stage, read_token};
use crate::store::clock::{from_number, to_number};
use crate::store::plan::{NAMING_A_CONVERSATION, read_run};
use crate::store::{PAGE_BYTES, ServerRun, StoreError, StoredMessage, Totals};

/// Reads JSON that was kept.
pub(super) fn json<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|source| StoreError::Unreadable { what, source })
}

fn uuid(row: &Row<'_>, column: usize) -> Result<Uuid, rusqlite::Error> {
    Ok(Uuid::from_bytes(row.get(column)?))
}

pub(super) fn head(
    connection: &Connection,
    session: SessionId,
) -> Result<Option<Arc<Head>>, StoreError> {
    let sql = "SELECT head FROM heads WHERE session = (SELECT key FROM sessions WHERE id = ?1)";
    let mut found = connection.prepare_cached(sql)?;
    let text = found.query_row([session.uuid().as_bytes()], |row| row.get::<_, String>(0));
    text.optional()?.map(|text| json("a session", &text).map(Arc::new)).transpose()
}

/// The sessions that come from this one.
pub(super) fn children(
    connection: &Connection,
    session: SessionId,
) -> Result<Vec<Head>, StoreError> {
    let sql = "SELECT head FROM heads JOIN sessions ON key = session WHERE parent = ?1";
    let mut found = connection.prepare_cached(sql)?;
    let mut rows = found.query([session.uuid().as_bytes()])?;
    let mut heads = Vec::new();
    while let Some(row) = rows.next()? {
        heads.push(json("a session", row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?);
    }
    Ok(heads)
}

pub(super) fn unsettled(connection: &Connection) -> Result<Vec<SessionId>, StoreError> {
    let mut found =
        connection.prepare_cached("SELECT id FROM sessions WHERE is_unsettled ORDER BY id")?;
    let ids = found.query_map([], |row| uuid(row, 0))?;
    Ok(ids.map(|id| id.map(SessionId::from)).collect::<Result<_, _>>()?)
}

pub(super) fn open_since_before(
    connection: &Connection,
    time: Timestamp,
    limit: usize,
) -> Result<Vec<(SessionId, ApprovalId)>, StoreError> {
    let mut found = connection.prepare_cached(
        "SELECT sessions.id, approvals.id FROM approvals JOIN sessions ON key = session
         WHERE stage = ?1 AND opened < ?2
         ORDER BY opened, approvals.id LIMIT ?3",
    )?;
    let values = params![Stage::Open.name(), to_number(time), to_i64(limit)];
    let pairs = found.query_map(values, |row| Ok((uuid(row, 0)?.into(), uuid(row, 1)?.into())))?;
    Ok(pairs.collect::<Result<_, _>>()?)
}

const EVENT: &str = "SELECT position, session, seq, at, kind, body FROM events";

fn events_by(
    connection: &Connection,
    rest: &str,
    values: impl Params,
    most: usize,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let mut found = connection.prepare_cached(&format!("{EVENT} {rest}"))?;
    let mut rows = found.query(values)?;
    let mut events = Vec::new();
    let mut room = most;
    while let Some(row) = rows.next()? {
        let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
        let length = text(5)?.len();
        if length > room && !events.is_empty() {
            break;
        }
        room = room.saturating_sub(length);
        let happening = Happening::read(text(4)?, text(5)?)?;
        let (position, session) = (to_u64(row.get(0)?), uuid(row, 1)?.into());
        let (seq, at) = (to_u64(row.get(2)?), from_number(row.get(3)?));
        events.push(Arc::new(Event::new(session, seq, position, at, happening)));
    }
    Ok(events)
}

pub(super) fn events(
    connection: &Connection,
    session: SessionId,
    after: u64,
    limit: usize,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let rest = "WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let id = session.uuid();
    let values = params![id.as_bytes(), to_i64(after), to_i64(limit)];
    events_by(connection, rest, values, PAGE_BYTES)
}

pub(super) fn events_before(
    connection: &Connection,
    session: SessionId,
    before: u64,
    limit: usize,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let rest = "WHERE session = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3";
    let id = session.uuid();
    let values = params![id.as_bytes(), to_i64(before), to_i64(limit)];
    let mut events = events_by(connection, rest, values, PAGE_BYTES)?;
    events.reverse();
    Ok(events)
}

pub(super) fn events_of(
    connection: &Connection,
    session: SessionId,
    kinds: &[String],
    before: u64,
    limit: usize,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let of_kinds = of_kinds(kinds);
    let rest = format!("WHERE session = ? AND seq < ? {of_kinds} ORDER BY seq DESC LIMIT ?");
    let id = session.uuid().as_bytes().to_vec();
    let mut values = vec![rusqlite::types::Value::from(id), to_i64(before).into()];
    values.extend(kinds.iter().cloned().map(Into::into));
    values.push(to_i64(limit).into());
    events_by(connection, &rest, rusqlite::params_from_iter(values), PAGE_BYTES)
}

/// The condition that an event is of one of these kinds; of any if there are none.
fn of_kinds(kinds: &[String]) -> String {
    match vec!["?"; kinds.len()].join(", ") {
        none if none.is_empty() => none,
        marks => format!("AND kind IN ({marks})"),
    }
}

pub(super) fn all_events(
    connection: &Connection,
    after: u64,
    kinds: &[String],
    limit: usize,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let of_kinds = of_kinds(kinds);
    let rest = format!("WHERE position > ? {of_kinds} ORDER BY position LIMIT ?");
    let mut values = vec![rusqlite::types::Value::from(to_i64(after))];
    values.extend(kinds.iter().cloned().map(Into::into));
    values.push(to_i64(limit).into());
    events_by(connection, &rest, rusqlite::params_from_iter(values), PAGE_BYTES)
}

/// The events of a session that say which conversations it had.
pub(super) fn naming_a_conversation(
    connection: &Connection,
    session: SessionId,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let [first, second] = NAMING_A_CONVERSATION;
    let rest = "WHERE session = ?1 AND kind IN (?2, ?3) ORDER BY seq";
    let id = session.uuid();
    let values = params![id.as_bytes(), first, second];
    events_by(connection, rest, values, usize::MAX)
}

pub(super) fn last_position(connection: &Connection) -> Result<u64, StoreError> {
    let mut found = connection.prepare_cached("SELECT coalesce(max(position), 0) FROM events")?;
    Ok(to_u64(found.query_row([], |row| row.get(0))?))
}

pub(super) fn approval(
    connection: &Connection,
    approval: ApprovalId,
) -> Result<Option<Approval>, StoreError> {
    let mut found = connection.prepare_cached("SELECT approval FROM approvals WHERE id = ?1")?;
    let text = found.query_row([approval.uuid().as_bytes()], |row| row.get::<_, String>(0));
    text.optional()?.map(|text| json("an approval", &text)).transpose()
}

pub(super) fn count_open(connection: &Connection) -> Result<u64, StoreError> {
    let sql = "SELECT count(*) FROM approvals WHERE stage = ?1";
    let mut found = connection.prepare_cached(sql)?;
    Ok(to_u64(found.query_row([Stage::Open.name()], |row| row.get(0))?))
}

pub(super) fn parking_token(
    connection: &Connection,
    approval: ApprovalId,
) -> Result<Option<ParkingToken>, StoreError> {
    let mut found = connection.prepare_cached("SELECT token FROM approvals WHERE id = ?1")?;
    let text = found.query_row([approval.uuid().as_bytes()], |row| row.get(0)).optional()?;
    let Some(text) = text.flatten() else { return Ok(None) };
    let text: String = text;
    let what = "what brings a call back";
    let token = json(what, &text)?;
    read_token(&token).map(Some).map_err(|source| StoreError::Unreadable { what, source })
}

pub(super) fn message(
    connection: &Connection,
    message: MessageId,
) -> Result<Option<StoredMessage>, StoreError> {
    let mut found = connection.prepare_cached("SELECT message FROM messages WHERE id = ?1")?;
    let text = found.query_row([message.uuid().as_bytes()], |row| row.get::<_, String>(0));
    text.optional()?.map(|text| json("a message", &text)).transpose()
}

pub(super) fn queued_messages(
    connection: &Connection,
    session: SessionId,
) -> Result<Vec<StoredMessage>, StoreError> {
    let Some(head) = head(connection, session)? else { return Ok(Vec::new()) };
    let mut messages = Vec::with_capacity(head.queue.len());
    for queued in &head.queue {
        messages.extend(message(connection, queued.message)?);
    }
    Ok(messages)
}

pub(super) fn totals(connection: &Connection) -> Result<Totals, StoreError> {
    let mut totals = Totals::default();
    let sql = "SELECT cost, input_tokens, output_tokens, turns FROM deleted";
    connection.prepare_cached(sql)?.query_row([], |row| {
        totals.cost_usd = row.get(0)?;
        totals.input_tokens = to_u64(row.get(1)?);
        totals.output_tokens = to_u64(row.get(2)?);
        totals.turns = to_u64(row.get(3)?);
        Ok(())
    })?;
    let mut found = connection.prepare_cached(
        "SELECT state, count(*), sum(cost), sum(input_tokens), sum(output_tokens), sum(turns)
         FROM sessions GROUP BY state",
    )?;
    let mut rows = found.query([])?;
    while let Some(row) = rows.next()? {
        totals.sessions.insert(row.get(0)?, to_u64(row.get(1)?));
        totals.cost_usd += row.get::<_, f64>(2)?;
        totals.input_tokens += to_u64(row.get(3)?);
        totals.output_tokens += to_u64(row.get(4)?);
        totals.turns += to_u64(row.get(5)?);
    }
    let sql = "SELECT count(*) FROM approvals WHERE stage = ?1";
    let open = connection.prepare_cached(sql)?.query_row([Stage::Open.name()], |row| row.get(0))?;
    totals.open_approvals = to_u64(open);
    Ok(totals)
}

pub(super) fn cursor(connection: &Connection, name: &str) -> Result<Option<u64>, StoreError> {
    let mut found = connection.prepare_cached("SELECT position FROM cursors WHERE name = ?1")?;
    Ok(found.query_row([name], |row| row.get(0)).optional()?.map(to_u64))
}

/// The runs of servers that did not say that they ended.
pub(super) fn runs(connection: &Connection) -> Result<Vec<ServerRun>, StoreError> {
    let mut found =
        connection.prepare_cached("SELECT mark, process, began FROM runs ORDER BY began, mark")?;
    let mut rows = found.query([])?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        let (mark, process): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let began_at = from_number(row.get(2)?);
        runs.push(read_run(mark, process, began_at)?);
    }
    Ok(runs)
}

/// When a transcript was last changed.
pub(super) fn last_modified(connection: &Connection) -> Result<Timestamp, StoreError> {
    let sql = "SELECT coalesce(max(modified), 0) FROM transcripts";
    Ok(from_number(connection.query_row(sql, [], |row| row.get(0))?))
}
