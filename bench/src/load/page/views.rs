//! How long the server takes for the page of a session, and for an older part of its transcript.

use std::time::Duration;

use serde_json::Value;

use super::long::Long;
use super::script::LAST_WORDS;
use super::visitor::Visitor;
use crate::load::figures::{Times, ratio};
use crate::load::report::{Cell, Report, Table};
use crate::load::{Failure, Options};

pub(super) async fn measure(
    options: &Options,
    visitor: &Visitor,
    sessions: &[Long],
    report: &mut Report,
) -> Result<(), Failure> {
    let mut first = vec![Times::default(); sessions.len()];
    let mut older = first.clone();
    let (mut shown, mut sizes) = (0, vec![[0; 2]; sessions.len()]);
    // In turn, so that a busy machine is equally unfair to all of them.
    for _ in 0..options.reads {
        let times = first.iter_mut().zip(&mut older);
        for ((long, (first, older)), sizes) in sessions.iter().zip(times).zip(&mut sizes) {
            let page = visitor.get(&format!("/sessions/{}", long.session)).await?;
            first.add(page.took);
            let (session, middle) = (long.session, long.events / 2);
            let path = format!("/page/sessions/{session}/transcript?before={middle}");
            let part = visitor.get(&path).await?;
            older.add(part.took);
            *sizes = [page.text.len(), part.text.len()].map(|bytes| bytes as u64);
            shown += u64::from(page.text.contains(LAST_WORDS));
            shown += u64::from(html_of(&part.text)?.contains(LAST_WORDS));
        }
    }
    let expected = 2 * options.reads * sessions.len() as u64;
    report.expect("parts of transcripts that were shown", expected, shown);
    let about = "the server's time for it, until all of it was there";
    let mut table = table("page, a session", about, sessions);
    let events: Vec<_> = sessions.iter().map(|long| long.events).collect();
    count_row(&mut table, "events in its log", &events);
    time_row(&mut table, "its page", &first);
    time_row(&mut table, "an older part of its transcript", &older);
    for (place, what) in ["bytes of its page", "bytes of an older part"].iter().enumerate() {
        let bytes: Vec<_> = sizes.iter().filter_map(|sizes| sizes.get(place).copied()).collect();
        count_row(&mut table, what, &bytes);
    }
    report.add(table);
    Ok(())
}

/// The HTML of an older part.
fn html_of(part: &str) -> Result<String, Failure> {
    let part: Value = serde_json::from_str(part)?;
    let html = part.get("html").and_then(Value::as_str).ok_or("an older part without HTML")?;
    Ok(html.to_owned())
}

/// A table with columns for each session, and for how the last compares with the first.
pub(super) fn table(name: &'static str, about: &str, sessions: &[Long]) -> Table {
    let mut table = Table::new(name, about, &[]);
    for Long { messages, .. } in sessions {
        for part in ["p50", "p95"] {
            table.column(format!("{messages} messages, {part}"));
        }
    }
    table.column("ratio, p50");
    table.column("ratio, p95");
    table
}

/// How long something took in each session.
pub(super) fn time_row(table: &mut Table, what: &str, all: &[Times]) {
    let mut cells: Vec<_> =
        all.iter().flat_map(|times| [times.p50(), times.p95()]).map(Cell::Time).collect();
    let by = |of: fn(&Times) -> Duration| match (all.first(), all.last()) {
        (Some(first), Some(last)) => Cell::Ratio(ratio(of(last), of(first))),
        _ => Cell::None,
    };
    cells.extend([by(Times::p50), by(Times::p95)]);
    table.row(what, &cells);
}

/// How much of something there is in each session.
fn count_row(table: &mut Table, what: &str, all: &[u64]) {
    let mut cells: Vec<_> =
        all.iter().flat_map(|count| [Cell::Count(*count), Cell::None]).collect();
    cells.extend([Cell::None, Cell::None]);
    table.row(what, &cells);
}
