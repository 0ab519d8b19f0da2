//! Lists, a page at a time.

use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use uuid::Uuid;

use super::read::json;
use super::to_i64;
use super::write::SEQ_BITS;
use crate::session::{Approval, Head};
use crate::store::clock::{from_number, to_number};
use crate::store::cursor::{Cursor, List, page, page_size};
use crate::store::words::{Search, storable};
use crate::store::{
    ApprovalFilter, AuditEntry, AuditFilter, Page, SessionFilter, SessionOrder, StoreError,
};

/// What has to be true of what is listed.
#[derive(Default)]
struct Conditions {
    all: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn add(&mut self, condition: impl Into<String>, values: impl IntoIterator<Item = Value>) {
        self.all.push(condition.into());
        self.values.extend(values);
    }

    fn one_of(&mut self, column: &str, names: impl IntoIterator<Item = &'static str>) {
        let names: Vec<Value> = names.into_iter().map(|name| name.to_owned().into()).collect();
        if !names.is_empty() {
            let marks = vec!["?"; names.len()].join(", ");
            self.add(format!("{column} IN ({marks})"), names);
        }
    }

    fn sql(&self) -> String {
        if self.all.is_empty() { "TRUE".to_owned() } else { self.all.join(" AND ") }
    }
}

fn blob(id: Uuid) -> Value {
    Value::Blob(id.as_bytes().to_vec())
}

pub(super) fn sessions(
    connection: &Connection,
    filter: &SessionFilter,
) -> Result<Page<Arc<Head>>, StoreError> {
    let list = List::sessions(filter.order);
    let after = Cursor::read_some(filter.after.as_deref(), list)?;
    let by = match filter.order {
        SessionOrder::Updated => "updated",
        SessionOrder::Created => "created",
    };
    let mut conditions = Conditions::default();
    conditions.one_of("state", filter.states.iter().map(|state| state.name()));
    if let Some(archived) = filter.archived {
        conditions.add("archived = ?", [archived.into()]);
    }
    if let Some(since) = filter.untouched_since {
        conditions.add("updated < ?", [to_number(since).into()]);
    }
    if let Some(parent) = filter.parent {
        conditions.add("parent = ?", [blob(parent.uuid())]);
    }
    if let Some(folder) = &filter.folder {
        in_folder(&mut conditions, folder);
    }
    for label in &filter.labels {
        let labelled = "key IN (SELECT session FROM labels WHERE label = ?)";
        conditions.add(labelled, [storable(label).into()]);
    }
    if let Some(search) = filter.words.as_deref().and_then(Search::of) {
        has_words(&mut conditions, search);
    }
    if let Some(Cursor { number, id }) = after {
        conditions.add(format!("({by}, id) < (?, ?)"), [number.into(), blob(id)]);
    }
    let size = page_size(filter.limit);
    conditions.values.push(to_i64(size + 1).into());
    // Heads are large, so they are looked up for what is on the page only.
    let mut found = connection.prepare_cached(&format!(
        "SELECT head, {by}, id FROM (
             SELECT key, {by}, id FROM sessions
             WHERE {} ORDER BY {by} DESC, id DESC LIMIT ?
         ) JOIN heads ON session = key ORDER BY {by} DESC, id DESC",
        conditions.sql()
    ))?;
    let mut rows = found.query(params_from_iter(conditions.values))?;
    let mut heads = Vec::new();
    while let Some(row) = rows.next()? {
        let head = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let head = Arc::new(json("a session", head)?);
        heads.push((head, Cursor::new(row.get(1)?, Uuid::from_bytes(row.get(2)?))));
    }
    Ok(page(heads, size, list))
}

/// In a folder or below it: what follows its name has to be the end or a `/`.
fn in_folder(conditions: &mut Conditions, folder: &str) {
    let folder = storable(folder.trim_end_matches('/'));
    let below = format!("{folder}/");
    let length = to_i64(below.chars().count());
    let condition = "(folder = ? OR substr(folder, 1, ?) = ?)";
    conditions.add(condition, [folder.into(), length.into(), below.into()]);
}

/// Each word is somewhere: in the title, or in something that was said.
fn has_words(conditions: &mut Conditions, search: Search) {
    let Search { words, beginning, title } = search;
    let exact = words.into_iter().map(|word| (format!("\"{word}\""), word));
    let begins = beginning.into_iter().map(|word| (format!("\"{word}\" *"), word));
    for (said, word) in exact.chain(begins) {
        let condition = format!(
            "(instr(title, ?) > 0 OR
              key IN (SELECT rowid >> {SEQ_BITS} FROM words WHERE words MATCH ?))"
        );
        conditions.add(condition, [word.into(), said.into()]);
    }
    if let Some(title) = title {
        conditions.add("instr(title, ?) > 0", [title.into()]);
    }
}

pub(super) fn approvals(
    connection: &Connection,
    filter: &ApprovalFilter,
) -> Result<Page<Approval>, StoreError> {
    let list = List::approvals(filter.newest_first);
    let after = Cursor::read_some(filter.after.as_deref(), list)?;
    let (comes_after, order) = if filter.newest_first { ("<", "DESC") } else { (">", "ASC") };
    let mut conditions = Conditions::default();
    if let Some(session) = filter.session {
        let of_session = "session = (SELECT key FROM sessions WHERE id = ?)";
        conditions.add(of_session, [blob(session.uuid())]);
    }
    conditions.one_of("stage", filter.stages.iter().map(|stage| stage.name()));
    conditions.one_of("kind", filter.kinds.iter().map(|kind| kind.name()));
    if let Some(Cursor { number, id }) = after {
        let condition = format!("(opened, id) {comes_after} (?, ?)");
        conditions.add(condition, [number.into(), blob(id)]);
    }
    let size = page_size(filter.limit);
    conditions.values.push(to_i64(size + 1).into());
    let mut found = connection.prepare_cached(&format!(
        "SELECT approval, opened, id FROM approvals
         WHERE {} ORDER BY opened {order}, id {order} LIMIT ?",
        conditions.sql()
    ))?;
    let mut rows = found.query(params_from_iter(conditions.values))?;
    let mut approvals = Vec::new();
    while let Some(row) = rows.next()? {
        let approval = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let approval = json("an approval", approval)?;
        approvals.push((approval, Cursor::new(row.get(1)?, Uuid::from_bytes(row.get(2)?))));
    }
    Ok(page(approvals, size, list))
}

pub(super) fn audit(
    connection: &Connection,
    filter: &AuditFilter,
) -> Result<Page<AuditEntry>, StoreError> {
    let after = Cursor::read_some(filter.after.as_deref(), List::Audit)?;
    let mut conditions = Conditions::default();
    if let Some(session) = filter.session {
        conditions.add("session = ?", [blob(session.uuid())]);
    }
    if let Some(approval) = filter.approval {
        conditions.add("approval = ?", [blob(approval.uuid())]);
    }
    if let Some(kind) = &filter.kind {
        conditions.add("kind = ?", [kind.clone().into()]);
    }
    if let Some(since) = filter.since {
        conditions.add("at >= ?", [to_number(since).into()]);
    }
    if let Some(until) = filter.until {
        conditions.add("at < ?", [to_number(until).into()]);
    }
    if let Some(Cursor { number, .. }) = after {
        conditions.add("number < ?", [number.into()]);
    }
    let size = page_size(filter.limit);
    conditions.values.push(to_i64(size + 1).into());
    let mut found = connection.prepare_cached(&format!(
        "SELECT at, kind, session, approval, by, detail, number FROM audit
         WHERE {} ORDER BY number DESC LIMIT ?",
        conditions.sql()
    ))?;
    let mut rows = found.query(params_from_iter(conditions.values))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
        let session: Option<[u8; 16]> = row.get(2)?;
        let approval: Option<[u8; 16]> = row.get(3)?;
        let entry = AuditEntry {
            at: from_number(row.get(0)?),
            kind: row.get(1)?,
            session: session.map(|id| Uuid::from_bytes(id).into()),
            approval: approval.map(|id| Uuid::from_bytes(id).into()),
            by: json("an entry of the audit", text(4)?)?,
            detail: json("an entry of the audit", text(5)?)?,
        };
        entries.push((entry, Cursor::new(row.get(6)?, Uuid::nil())));
    }
    Ok(page(entries, size, List::Audit))
}
