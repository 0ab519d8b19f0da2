//! Writes down what happens.

use std::collections::HashMap;

use countersign_protocol::RawJson;
use rusqlite::{Connection, OptionalExtension as _, params};
use uuid::Uuid;

use super::writer::Scratch;
use super::{read, to_i64, transcripts};
use crate::id::SessionId;
use crate::session::Parent;
use crate::store::clock::to_number;
use crate::store::plan::{
    Change, ChangedApproval, CommandKey, Known, Needs, Plan, Record, Row, SAYING, conversation_of,
};
use crate::store::words::storable;
use crate::store::{AuditEntry, Command, StoreError, StoredMessage, Write, WriteError, Written};

/// How many bits the number of an event has in the number of its words.
pub(super) const SEQ_BITS: u32 = 24;

/// Judges a write and writes it down.
pub(super) fn write(scratch: &mut Scratch<'_>, write: &Write) -> Result<Written, WriteError> {
    let connection = scratch.connection;
    let command = write.command.as_ref().map(|command| (CommandKey::of(command), command));
    if let Some((key, command)) = &command
        && let Some((fingerprint, response)) = carried_out(connection, key)?
    {
        return key.again(command, &fingerprint, response);
    }
    let at = scratch.now();
    let known = look_up(scratch, &Needs::of(write))?;
    let plan = Plan::new(write, at, &known)?;
    let positions = carry_out(connection, &plan, to_number(at))?;
    if let Some((key, command)) = command {
        keep_command(connection, &key, command, to_number(at))?;
    }
    for change in &plan.sessions {
        let head = (!change.is_deleted).then(|| change.after.clone());
        scratch.memory.change(change.after.id, head);
    }
    let (written, news) = plan.written(write, at, &positions);
    scratch.memory.publish(news);
    Ok(written)
}

pub(super) fn carried_out(
    connection: &Connection,
    key: &CommandKey,
) -> Result<Option<(Vec<u8>, String)>, StoreError> {
    let sql = "SELECT fingerprint, response FROM commands WHERE name = ?1";
    let mut found = connection.prepare_cached(sql)?;
    Ok(found.query_row([key.name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

fn keep_command(
    connection: &Connection,
    key: &CommandKey,
    command: &Command,
    at: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO commands (name, fingerprint, response, at) VALUES (?1, ?2, ?3, ?4)";
    let values = params![key.name, key.fingerprint, command.response, at];
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn look_up(scratch: &mut Scratch<'_>, needs: &Needs) -> Result<Known, StoreError> {
    let connection = scratch.connection;
    let mut known = Known::default();
    for session in &needs.sessions {
        match scratch.head(*session)? {
            Some(head) => drop(known.heads.insert(*session, head)),
            None if was_there(connection, *session)? => drop(known.deleted.insert(*session)),
            None => {}
        }
    }
    for id in &needs.approvals {
        if let Some(approval) = read::approval(connection, *id)? {
            known.approvals.insert(*id, approval);
        }
    }
    for id in &needs.messages {
        let sql = "SELECT 1 FROM messages WHERE id = ?1";
        if connection.prepare_cached(sql)?.exists([id.uuid().as_bytes()])? {
            known.messages.insert(*id);
        }
    }
    Ok(known)
}

fn was_there(connection: &Connection, session: SessionId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM events WHERE session = ?1 LIMIT 1";
    Ok(connection.prepare_cached(sql)?.exists([session.uuid().as_bytes()])?)
}

/// Writes a plan down, and gives the positions of its events.
fn carry_out(connection: &Connection, plan: &Plan, at: i64) -> Result<Vec<u64>, StoreError> {
    let positions = append(connection, &plan.records, at)?;
    let mut keys = HashMap::new();
    for change in &plan.sessions {
        if change.is_deleted {
            delete(connection, change)?;
        } else {
            keys.insert(change.after.id, put_session(connection, change)?);
        }
    }
    for record in &plan.records {
        if let Some(key) = keys.get(&record.session) {
            put_words(connection, *key, record)?;
        }
    }
    for changed in plan.approvals.values() {
        if let Some(key) = keys.get(&changed.approval.session) {
            put_approval(connection, *key, changed)?;
        }
    }
    for message in plan.messages.values() {
        if let Some(key) = keys.get(&message.session) {
            put_message(connection, *key, message)?;
        }
    }
    plan.audit.iter().try_for_each(|entry| put_audit(connection, entry))?;
    Ok(positions)
}

fn append(connection: &Connection, records: &[Record], at: i64) -> Result<Vec<u64>, StoreError> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO events (session, seq, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut positions = Vec::with_capacity(records.len());
    for record in records {
        let seq = to_i64(record.seq);
        let session = record.session.uuid();
        let position =
            insert.insert(params![session.as_bytes(), seq, at, record.kind, record.body])?;
        positions.push(super::to_u64(position));
    }
    Ok(positions)
}

fn put_session(connection: &Connection, change: &Change) -> Result<i64, StoreError> {
    let row = Row::of(&change.after)?;
    let mut put = connection.prepare_cached(
        "INSERT INTO sessions (id, state, archived, created, updated, title, folder, parent,
             open_approvals, is_unsettled, cost, input_tokens, output_tokens, turns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (id) DO UPDATE SET state = ?2, archived = ?3, updated = ?5, title = ?6,
             open_approvals = ?9, is_unsettled = ?10, cost = ?11, input_tokens = ?12,
             output_tokens = ?13, turns = ?14
         RETURNING key",
    )?;
    let values = params![
        row.id.as_bytes(),
        row.state,
        row.archived,
        row.created,
        row.updated,
        row.title,
        row.folder,
        row.parent.as_ref().map(Uuid::as_bytes),
        row.open_approvals,
        row.is_unsettled,
        row.cost,
        row.input_tokens,
        row.output_tokens,
        row.turns,
    ];
    let key: i64 = put.query_row(values, |row| row.get(0))?;
    connection
        .prepare_cached(
            "INSERT INTO heads (session, head) VALUES (?1, ?2)
             ON CONFLICT (session) DO UPDATE SET head = ?2",
        )?
        .execute(params![key, row.head])?;
    if change.changes_labels() {
        connection.prepare_cached("DELETE FROM labels WHERE session = ?1")?.execute([key])?;
        let sql = "INSERT OR IGNORE INTO labels (label, session) VALUES (?1, ?2)";
        let mut put = connection.prepare_cached(sql)?;
        for label in &change.after.labels {
            put.execute(params![storable(label), key])?;
        }
    }
    Ok(key)
}

fn put_words(connection: &Connection, key: i64, record: &Record) -> Result<(), StoreError> {
    if let Some(unsays) = &record.unsays {
        let [queued, edited] = SAYING;
        let sql = "DELETE FROM words WHERE rowid IN (
                       SELECT (?1 << ?2) | seq FROM events
                       WHERE session = ?3 AND seq < ?4 AND kind IN (?5, ?6)
                           AND substr(body, 1, length(?7)) = ?7)";
        let session = record.session.uuid();
        let (id, seq) = (session.as_bytes(), to_i64(record.seq));
        let values = params![key, SEQ_BITS, id, seq, queued, edited, unsays];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    // A session of so many events is not searched any further.
    if record.words.is_empty() || record.seq >> SEQ_BITS != 0 {
        return Ok(());
    }
    let number = (key << SEQ_BITS) | to_i64(record.seq);
    let sql = "INSERT INTO words (rowid, text) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![number, record.words.join(" ")])?;
    Ok(())
}

fn put_approval(
    connection: &Connection,
    key: i64,
    changed: &ChangedApproval,
) -> Result<(), StoreError> {
    let ChangedApproval { approval, token, is_new } = changed;
    let unreadable = |source| StoreError::Unreadable { what: "an approval to be written", source };
    let json = serde_json::to_string(approval).map_err(unreadable)?;
    let (id, stage) = (approval.id.uuid(), approval.stage.name());
    if *is_new {
        let sql = "INSERT INTO approvals (id, session, kind, stage, opened, approval, token)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (kind, opened) = (approval.kind.name(), to_number(approval.opened_at));
        let token = token.as_ref().map(RawJson::as_str);
        let values = params![id.as_bytes(), key, kind, stage, opened, json, token];
        connection.prepare_cached(sql)?.execute(values)?;
    } else {
        let sql = "UPDATE approvals SET stage = ?2, approval = ?3 WHERE id = ?1";
        connection.prepare_cached(sql)?.execute(params![id.as_bytes(), stage, json])?;
    }
    Ok(())
}

fn put_message(
    connection: &Connection,
    key: i64,
    message: &StoredMessage,
) -> Result<(), StoreError> {
    let unreadable = |source| StoreError::Unreadable { what: "a message to be written", source };
    let json = serde_json::to_string(message).map_err(unreadable)?;
    let sql = "INSERT INTO messages (id, session, message) VALUES (?1, ?2, ?3)
               ON CONFLICT (id) DO UPDATE SET message = ?3";
    connection.prepare_cached(sql)?.execute(params![message.id.uuid().as_bytes(), key, json])?;
    Ok(())
}

/// Adds an entry to the audit.
pub(super) fn put_audit(connection: &Connection, entry: &AuditEntry) -> Result<(), StoreError> {
    let unreadable =
        |source| StoreError::Unreadable { what: "an entry of the audit to be written", source };
    let by = serde_json::to_string(&entry.by).map_err(unreadable)?;
    let sql = "INSERT INTO audit (at, kind, session, approval, by, detail)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let session = entry.session.map(|session| *session.uuid().as_bytes());
    let approval = entry.approval.map(|approval| *approval.uuid().as_bytes());
    let values =
        params![to_number(entry.at), entry.kind, session, approval, by, entry.detail.as_str()];
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Deletes everything that a session had, but for the event that says so.
fn delete(connection: &Connection, change: &Change) -> Result<(), StoreError> {
    let head = &change.after;
    let id = head.id.uuid();
    for conversation in conversations(connection, head.id)? {
        transcripts::delete_session(connection, conversation)?;
    }
    let used = &head.usage;
    let sql = "UPDATE deleted SET cost = cost + ?1, input_tokens = input_tokens + ?2,
                   output_tokens = output_tokens + ?3, turns = turns + ?4";
    let (input, output) = (to_i64(used.input_tokens), to_i64(used.output_tokens));
    let values = params![used.cost_usd, input, output, to_i64(used.turns)];
    connection.prepare_cached(sql)?.execute(values)?;
    let sql = "DELETE FROM sessions WHERE id = ?1 RETURNING key";
    let mut gone = connection.prepare_cached(sql)?;
    let key: Option<i64> = gone.query_row([id.as_bytes()], |row| row.get(0)).optional()?;
    if let Some(key) = key {
        let (first, last) = (key << SEQ_BITS, ((key + 1) << SEQ_BITS) - 1);
        let sql = "DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2";
        connection.prepare_cached(sql)?.execute([first, last])?;
    }
    let sql = "DELETE FROM events WHERE session = ?1 AND seq < ?2";
    connection.prepare_cached(sql)?.execute(params![id.as_bytes(), to_i64(head.seq)])?;
    Ok(())
}

/// The conversations whose transcripts go with a session: all that it had, but for those that a copy
/// of it has not been made from yet.
fn conversations(connection: &Connection, session: SessionId) -> Result<Vec<Uuid>, StoreError> {
    let mut found = Vec::new();
    for event in read::naming_a_conversation(connection, session)? {
        found.extend(conversation_of(&event.happening));
    }
    for child in read::children(connection, session)? {
        if let Some(Parent::Fork { conversation, .. }) = &child.parent
            && !child.conversation.begun
        {
            found.retain(|found| *found != conversation.uuid());
        }
    }
    Ok(found)
}
