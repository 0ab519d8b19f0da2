//! Lists, a page at a time.

use std::sync::Arc;

use deadpool_postgres::ClientWrapper;
use sha2::{Digest as _, Sha256};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::connect::{Value, query};
use super::read::json;
use crate::session::{Approval, Head};
use crate::store::clock::{from_number, to_number};
use crate::store::cursor::{Cursor, List, page, page_size};
use crate::store::plan::to_i64;
use crate::store::words::{Search, storable};
use crate::store::{
    ApprovalFilter, AuditEntry, AuditFilter, Page, SessionFilter, SessionOrder, StoreError,
};

/// What has to be true of what is listed.
#[derive(Default)]
struct Conditions {
    all: Vec<String>,
    values: Vec<Box<dyn ToSql + Send + Sync>>,
}

impl Conditions {
    /// Where a value will be in the statement.
    fn value(&mut self, value: impl ToSql + Send + Sync + 'static) -> String {
        self.values.push(Box::new(value));
        format!("${}", self.values.len())
    }

    fn add(&mut self, condition: String) {
        self.all.push(condition);
    }

    fn one_of(&mut self, column: &str, names: impl IntoIterator<Item = &'static str>) {
        let names: Vec<&'static str> = names.into_iter().collect();
        if !names.is_empty() {
            let names = self.value(names);
            self.add(format!("{column} = ANY({names})"));
        }
    }

    fn is(&mut self, column: &str, value: impl ToSql + Send + Sync + 'static) {
        let value = self.value(value);
        self.add(format!("{column} = {value}"));
    }

    fn sql(&self) -> String {
        if self.all.is_empty() { "TRUE".to_owned() } else { self.all.join(" AND ") }
    }

    fn values(&self) -> Vec<Value<'_>> {
        self.values.iter().map(|value| &**value as Value<'_>).collect()
    }
}

pub(super) async fn sessions(
    client: &ClientWrapper,
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
        conditions.is("archived", archived);
    }
    if let Some(since) = filter.untouched_since {
        let since = conditions.value(to_number(since));
        conditions.add(format!("updated < {since}"));
    }
    if let Some(parent) = filter.parent {
        conditions.is("parent", parent.uuid());
    }
    if let Some(folder) = &filter.folder {
        in_folder(&mut conditions, folder);
    }
    for label in &filter.labels {
        let digest = conditions.value(digest(label));
        conditions.add(format!("id IN (SELECT session FROM labels WHERE digest = {digest})"));
    }
    if let Some(search) = filter.words.as_deref().and_then(Search::of) {
        has_words(&mut conditions, search);
    }
    if let Some(Cursor { number, id }) = after {
        let (number, id) = (conditions.value(number), conditions.value(id));
        conditions.add(format!("({by}, id) < ({number}, {id})"));
    }
    let size = page_size(filter.limit);
    let (conditions_sql, limit) = (conditions.sql(), conditions.value(to_i64(size + 1)));
    let sql = format!(
        "SELECT head, {by}, id FROM sessions WHERE {conditions_sql}
         ORDER BY {by} DESC, id DESC LIMIT {limit}"
    );
    let mut heads = Vec::new();
    for row in query(client, &sql, &conditions.values()).await? {
        let head = Arc::new(json("a session", &row, 0)?);
        heads.push((head, Cursor::new(row.try_get(1)?, row.try_get(2)?)));
    }
    Ok(page(heads, size, list))
}

/// The name of a label in the table of labels.
pub(super) fn digest(label: &str) -> Vec<u8> {
    Sha256::digest(label).to_vec()
}

/// In a folder or below it: what follows its name has to be the end or a `/`.
fn in_folder(conditions: &mut Conditions, folder: &str) {
    let folder = storable(folder.trim_end_matches('/'));
    let below = conditions.value(format!("{folder}/"));
    let folder = conditions.value(folder);
    conditions.add(format!("(folder = {folder} OR starts_with(folder, {below}))"));
}

/// Each word is somewhere: in the title, or in something that was said.
fn has_words(conditions: &mut Conditions, search: Search) {
    let Search { words, beginning, title } = search;
    let exact = words.into_iter().map(|word| (format!("'{word}'"), word));
    let begins = beginning.into_iter().map(|word| (format!("'{word}':*"), word));
    for (said, word) in exact.chain(begins) {
        let (word, said) = (conditions.value(word), conditions.value(said));
        conditions.add(format!(
            "(strpos(title, {word}) > 0 OR
              id IN (SELECT session FROM words WHERE words @@ {said}::text::tsquery))"
        ));
    }
    if let Some(title) = title {
        let title = conditions.value(title);
        conditions.add(format!("strpos(title, {title}) > 0"));
    }
}

pub(super) async fn approvals(
    client: &ClientWrapper,
    filter: &ApprovalFilter,
) -> Result<Page<Approval>, StoreError> {
    let list = List::approvals(filter.newest_first);
    let after = Cursor::read_some(filter.after.as_deref(), list)?;
    let (comes_after, order) = if filter.newest_first { ("<", "DESC") } else { (">", "ASC") };
    let mut conditions = Conditions::default();
    if let Some(session) = filter.session {
        conditions.is("session", session.uuid());
    }
    conditions.one_of("stage", filter.stages.iter().map(|stage| stage.name()));
    conditions.one_of("kind", filter.kinds.iter().map(|kind| kind.name()));
    if let Some(Cursor { number, id }) = after {
        let (number, id) = (conditions.value(number), conditions.value(id));
        conditions.add(format!("(opened, id) {comes_after} ({number}, {id})"));
    }
    let size = page_size(filter.limit);
    let (conditions_sql, limit) = (conditions.sql(), conditions.value(to_i64(size + 1)));
    let sql = format!(
        "SELECT approval, opened, id FROM approvals WHERE {conditions_sql}
         ORDER BY opened {order}, id {order} LIMIT {limit}"
    );
    let mut approvals = Vec::new();
    for row in query(client, &sql, &conditions.values()).await? {
        let approval = json("an approval", &row, 0)?;
        approvals.push((approval, Cursor::new(row.try_get(1)?, row.try_get(2)?)));
    }
    Ok(page(approvals, size, list))
}

pub(super) async fn audit(
    client: &ClientWrapper,
    filter: &AuditFilter,
) -> Result<Page<AuditEntry>, StoreError> {
    let after = Cursor::read_some(filter.after.as_deref(), List::Audit)?;
    let mut conditions = Conditions::default();
    if let Some(session) = filter.session {
        conditions.is("session", session.uuid());
    }
    if let Some(approval) = filter.approval {
        conditions.is("approval", approval.uuid());
    }
    if let Some(kind) = &filter.kind {
        conditions.is("kind", storable(kind));
    }
    if let Some(since) = filter.since {
        let since = conditions.value(to_number(since));
        conditions.add(format!("at >= {since}"));
    }
    if let Some(until) = filter.until {
        let until = conditions.value(to_number(until));
        conditions.add(format!("at < {until}"));
    }
    if let Some(Cursor { number, .. }) = after {
        let number = conditions.value(number);
        conditions.add(format!("number < {number}"));
    }
    let size = page_size(filter.limit);
    let (conditions_sql, limit) = (conditions.sql(), conditions.value(to_i64(size + 1)));
    let sql = format!(
        "SELECT at, kind, session, approval, by, detail, number FROM audit
         WHERE {conditions_sql} ORDER BY number DESC LIMIT {limit}"
    );
    let mut entries = Vec::new();
    for row in query(client, &sql, &conditions.values()).await? {
        let session: Option<Uuid> = row.try_get(2)?;
        let approval: Option<Uuid> = row.try_get(3)?;
        let entry = AuditEntry {
            at: from_number(row.try_get(0)?),
            kind: row.try_get(1)?,
            session: session.map(Into::into),
            approval: approval.map(Into::into),
            by: json("an entry of the audit", &row, 4)?,
            detail: json("an entry of the audit", &row, 5)?,
        };
        entries.push((entry, Cursor::new(row.try_get(6)?, Uuid::nil())));
    }
    Ok(page(entries, size, List::Audit))
}
