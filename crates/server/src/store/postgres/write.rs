//! Writes down what happens.

use countersign_protocol::RawJson;
use deadpool_postgres::ClientWrapper;
use futures_util::future::BoxFuture;
use tokio_postgres::Row as DbRow;
use uuid::Uuid;

use super::connect::{Value, execute, query, query_opt};
use super::list::digest;
use super::writer::Scratch;
use super::{read, transcripts};
use crate::id::{ApprovalId, SessionId};
use crate::session::Parent;
use crate::store::clock::to_number;
use crate::store::plan::{
    Change, ChangedApproval, CommandKey, Known, Needs, Plan, Record, Row, SAYING, conversation_of,
    to_i64, to_u64,
};
use crate::store::words::storable;
use crate::store::{AuditEntry, Command, StoreError, StoredMessage, Write, WriteError, Written};

/// Judges a write and writes it down.
pub(super) fn write<'a>(
    write: &'a Write,
    scratch: &'a mut Scratch<'_>,
) -> BoxFuture<'a, Result<Written, WriteError>> {
    Box::pin(async move {
        let client = scratch.client;
        let command = write.command.as_ref().map(|command| (CommandKey::of(command), command));
        if let Some((key, command)) = &command
            && let Some(row) = carried_out(client, key).await?
        {
            let response: Vec<u8> = row.try_get(1).map_err(StoreError::from)?;
            let response = String::from_utf8_lossy(&response).into_owned();
            return key.again(command, row.try_get(0).map_err(StoreError::from)?, response);
        }
        let at = scratch.now();
        let known = look_up(scratch, &Needs::of(write)).await?;
        let plan = Plan::new(write, at, &known)?;
        let positions = carry_out(client, &plan, to_number(at)).await?;
        if let Some((key, command)) = command {
            keep_command(client, &key, command, to_number(at)).await?;
        }
        for change in &plan.sessions {
            let head = (!change.is_deleted).then(|| change.after.clone());
            scratch.memory.change(change.after.id, head);
        }
        let (written, news) = plan.written(write, at, &positions);
        scratch.memory.publish(news);
        Ok(written)
    })
}

pub(super) async fn carried_out(
    client: &ClientWrapper,
    key: &CommandKey,
) -> Result<Option<DbRow>, StoreError> {
    let sql = "SELECT fingerprint, response FROM commands WHERE name = $1";
    query_opt(client, sql, &[&key.name.as_slice()]).await
}

async fn keep_command(
    client: &ClientWrapper,
    key: &CommandKey,
    command: &Command,
    at: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO commands (name, fingerprint, response, at) VALUES ($1, $2, $3, $4)";
    let (name, fingerprint) = (key.name.as_slice(), key.fingerprint.as_slice());
    execute(client, sql, &[&name, &fingerprint, &command.response.as_bytes(), &at]).await?;
    Ok(())
}

async fn look_up(scratch: &mut Scratch<'_>, needs: &Needs) -> Result<Known, StoreError> {
    let client = scratch.client;
    let mut known = Known::default();
    for session in &needs.sessions {
        match scratch.head(*session).await? {
            Some(head) => drop(known.heads.insert(*session, head)),
            None => {
                let sql = "SELECT 1 FROM events WHERE session = $1 LIMIT 1";
                if query_opt(client, sql, &[&session.uuid()]).await?.is_some() {
                    known.deleted.insert(*session);
                }
            }
        }
    }
    for id in &needs.approvals {
        if let Some(approval) = read::approval(client, *id).await? {
            known.approvals.insert(*id, approval);
        }
    }
    if !needs.messages.is_empty() {
        let ids: Vec<Uuid> = needs.messages.iter().map(|id| id.uuid()).collect();
        for row in query(client, "SELECT id FROM messages WHERE id = ANY($1)", &[&ids]).await? {
            known.messages.insert(row.try_get::<_, Uuid>(0)?.into());
        }
    }
    Ok(known)
}

/// Writes a plan down, and gives the positions of its events.
async fn carry_out(client: &ClientWrapper, plan: &Plan, at: i64) -> Result<Vec<u64>, StoreError> {
    let positions = append(client, &plan.records, at).await?;
    let is_deleted = |session: SessionId| {
        plan.sessions.iter().any(|change| change.is_deleted && change.after.id == session)
    };
    for change in &plan.sessions {
        if change.is_deleted {
            delete(client, change).await?;
        } else {
            put_session(client, change).await?;
        }
    }
    for record in &plan.records {
        if let Some(unsays) = &record.unsays {
            let sql = "DELETE FROM words WHERE session = $1 AND seq IN (
                           SELECT seq FROM events WHERE session = $1 AND seq < $2
                               AND kind = ANY($3) AND starts_with(body, $4))";
            let (session, seq, kinds) =
                (record.session.uuid(), to_i64(record.seq), SAYING.to_vec());
            execute(client, sql, &[&session, &seq, &kinds, unsays]).await?;
        }
        if !record.words.is_empty() && !is_deleted(record.session) {
            let sql =
                "INSERT INTO words (session, seq, words) VALUES ($1, $2, array_to_tsvector($3))";
            let (session, seq) = (record.session.uuid(), to_i64(record.seq));
            execute(client, sql, &[&session, &seq, &record.words]).await?;
        }
    }
    for changed in plan.approvals.values() {
        put_approval(client, changed).await?;
    }
    for message in plan.messages.values() {
        put_message(client, message).await?;
    }
    for entry in &plan.audit {
        put_audit(client, entry).await?;
    }
    Ok(positions)
}

async fn append(
    client: &ClientWrapper,
    records: &[Record],
    at: i64,
) -> Result<Vec<u64>, StoreError> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "INSERT INTO events (session, seq, at, kind, body)
               SELECT session, seq, $1, kind, body
               FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[])
                   WITH ORDINALITY AS record (session, seq, kind, body, number)
               ORDER BY number
               RETURNING position";
    let sessions: Vec<Uuid> = records.iter().map(|record| record.session.uuid()).collect();
    let seqs: Vec<i64> = records.iter().map(|record| to_i64(record.seq)).collect();
    let kinds: Vec<&str> = records.iter().map(|record| record.kind).collect();
    let bodies: Vec<&str> = records.iter().map(|record| &*record.body).collect();
    let values: [Value<'_>; 5] = [&at, &sessions, &seqs, &kinds, &bodies];
    let rows = query(client, sql, &values).await?;
    let position = |row: &DbRow| Ok(to_u64(row.try_get(0)?));
    let positions = rows.iter().map(position).collect::<Result<Vec<_>, StoreError>>()?;
    // Everybody who reads the log relies on it.
    if positions.len() != records.len() || !positions.is_sorted_by(|a, b| a < b) {
        return Err(super::connect::unavailable(
            "the database did not number events in their order",
        ));
    }
    Ok(positions)
}

async fn put_session(client: &ClientWrapper, change: &Change) -> Result<(), StoreError> {
    let row = Row::of(&change.after)?;
    let sql = "INSERT INTO sessions (id, state, archived, created, updated, title, folder, parent,
                   open_approvals, is_unsettled, cost, input_tokens, output_tokens,
                   turns, head)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
               ON CONFLICT (id) DO UPDATE SET state = $2, archived = $3, updated = $5, title = $6,
                   open_approvals = $9, is_unsettled = $10, cost = $11, input_tokens = $12,
                   output_tokens = $13, turns = $14, head = $15";
    let values: [Value<'_>; 15] = [
        &row.id,
        &row.state,
        &row.archived,
        &row.created,
        &row.updated,
        &row.title,
        &row.folder,
        &row.parent,
        &row.open_approvals,
        &row.is_unsettled,
        &row.cost,
        &row.input_tokens,
        &row.output_tokens,
        &row.turns,
        &row.head,
    ];
    execute(client, sql, &values).await?;
    if change.changes_labels() {
        execute(client, "DELETE FROM labels WHERE session = $1", &[&row.id]).await?;
        let sql = "INSERT INTO labels (digest, session, label) VALUES ($1, $2, $3)";
        for label in &change.after.labels {
            execute(client, sql, &[&digest(label), &row.id, &storable(label)]).await?;
        }
    }
    Ok(())
}

async fn put_approval(client: &ClientWrapper, changed: &ChangedApproval) -> Result<(), StoreError> {
    let ChangedApproval { approval, token, is_new } = changed;
    let unreadable = |source| StoreError::Unreadable { what: "an approval to be written", source };
    let json = serde_json::to_string(approval).map_err(unreadable)?;
    let (id, stage) = (approval.id.uuid(), approval.stage.name());
    if *is_new {
        let sql = "INSERT INTO approvals (id, session, kind, stage, opened, approval, token)
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let (session, kind) = (approval.session.uuid(), approval.kind.name());
        let (opened, token) = (to_number(approval.opened_at), token.as_ref().map(RawJson::as_str));
        let values: [Value<'_>; 7] = [&id, &session, &kind, &stage, &opened, &json, &token];
        execute(client, sql, &values).await?;
    } else {
        let sql = "UPDATE approvals SET stage = $2, approval = $3 WHERE id = $1";
        execute(client, sql, &[&id, &stage, &json]).await?;
    }
    Ok(())
}

async fn put_message(client: &ClientWrapper, message: &StoredMessage) -> Result<(), StoreError> {
    let unreadable = |source| StoreError::Unreadable { what: "a message to be written", source };
    let json = serde_json::to_string(message).map_err(unreadable)?;
    let sql = "INSERT INTO messages (id, session, message) VALUES ($1, $2, $3)
               ON CONFLICT (id) DO UPDATE SET message = $3";
    execute(client, sql, &[&message.id.uuid(), &message.session.uuid(), &json]).await?;
    Ok(())
}

/// Adds an entry to the audit.
pub(super) async fn put_audit(
    client: &ClientWrapper,
    entry: &AuditEntry,
) -> Result<(), StoreError> {
    let unreadable =
        |source| StoreError::Unreadable { what: "an entry of the audit to be written", source };
    let by = serde_json::to_string(&entry.by).map_err(unreadable)?;
    let sql = "INSERT INTO audit (at, kind, session, approval, by, detail)
               VALUES ($1, $2, $3, $4, $5, $6)";
    let session = entry.session.map(SessionId::uuid);
    let approval = entry.approval.map(ApprovalId::uuid);
    let (at, kind, detail) = (to_number(entry.at), storable(&entry.kind), entry.detail.as_str());
    execute(client, sql, &[&at, &kind, &session, &approval, &by, &detail]).await?;
    Ok(())
}

/// Deletes everything that a session had, but for the event that says so.
async fn delete(client: &ClientWrapper, change: &Change) -> Result<(), StoreError> {
    let head = &change.after;
    let id = head.id.uuid();
    for conversation in conversations(client, head.id).await? {
        transcripts::delete_session(client, conversation).await?;
    }
    let used = &head.usage;
    let sql = "UPDATE deleted SET cost = cost + $1, input_tokens = input_tokens + $2,
                   output_tokens = output_tokens + $3, turns = turns + $4";
    let (input, output) = (to_i64(used.input_tokens), to_i64(used.output_tokens));
    execute(client, sql, &[&used.cost_usd, &input, &output, &to_i64(used.turns)]).await?;
    execute(client, "DELETE FROM sessions WHERE id = $1", &[&id]).await?;
    let sql = "DELETE FROM events WHERE session = $1 AND seq < $2";
    execute(client, sql, &[&id, &to_i64(head.seq)]).await?;
    Ok(())
}

/// The conversations whose transcripts go with a session: all that it had, but for those that a copy
/// of it has not been made from yet.
async fn conversations(
    client: &ClientWrapper,
    session: SessionId,
) -> Result<Vec<Uuid>, StoreError> {
    let mut found = Vec::new();
    for event in read::naming_a_conversation(client, session).await? {
        found.extend(conversation_of(&event.happening));
    }
    for child in read::children(client, session).await? {
        if let Some(Parent::Fork { conversation, .. }) = &child.parent
            && !child.conversation.begun
        {
            found.retain(|found| *found != conversation.uuid());
        }
    }
    Ok(found)
}
