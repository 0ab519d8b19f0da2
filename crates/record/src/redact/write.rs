//! Writes a tape without its secrets. What is not touched stays byte for byte as it is.

use std::io::{self, Write};
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::edit::{Change, changed, escaped};
use super::find::Finder;
use super::json::leaves;
use super::ledger::Ledger;
use super::plan::{Plan, edits};
use super::survey::find_in_tape;
use super::view::View;
use crate::format::{Entry, Record, Text};

/// Writes the lines of a tape.
#[derive(Debug)]
pub(super) struct Writer<'a, W> {
    pub(super) finder: Finder<'a>,
    pub(super) ledger: &'a mut Ledger,
    pub(super) plan: &'a Plan,
    pub(super) out: W,
}

impl<W: Write> Writer<'_, W> {
    /// Writes the header.
    pub(super) fn header(&mut self, raw: &[u8]) -> io::Result<()> {
        let changes = self.tape_changes(raw);
        self.line(raw, changes)
    }

    /// Writes a record, which is the `index`th after the header.
    pub(super) fn record(&mut self, index: u64, raw: &[u8], record: &Record) -> io::Result<()> {
        let mut changes = self.tape_changes(raw);
        if let Entry::Line { text, .. } = &record.entry {
            let inner = self.text_changes(index, text.as_bytes());
            if !inner.is_empty() {
                changes.extend(text_to_raw(raw, text, inner));
            }
        }
        self.line(raw, changes)
    }

    /// What changes in the strings of a line of the file that are not lines of a channel.
    fn tape_changes(&mut self, raw: &[u8]) -> Vec<Change> {
        let edits = edits(self.finder.rules, self.ledger, find_in_tape(&self.finder, raw));
        edits.iter().map(|edit| self.ledger.change(self.finder.rules, edit)).collect()
    }

    /// What changes in the line, or piece of one, that a record holds.
    fn text_changes(&mut self, index: u64, text: &[u8]) -> Vec<Change> {
        let mut places = Vec::new();
        if !self.plan.is_joined(index) {
            // The part of a stream that the line may carry was looked at before.
            self.finder.line(text, &mut places);
        }
        let mut edits = edits(self.finder.rules, self.ledger, places);
        edits.extend(self.plan.edits(index).cloned());
        edits.iter().map(|edit| self.ledger.change(self.finder.rules, edit)).collect()
    }

    fn line(&mut self, raw: &[u8], changes: Vec<Change>) -> io::Result<()> {
        if changes.is_empty() {
            self.out.write_all(raw)?;
        } else {
            self.out.write_all(&changed(raw, changes))?;
        }
        self.out.write_all(b"\n")
    }
}

/// Brings changes of the line of a record to the line of the file.
fn text_to_raw(raw: &[u8], text: &Text, changes: Vec<Change>) -> Vec<Change> {
    match text {
        Text::Utf8(_) => {
            let Some(span) = value_of(raw, b"text") else { return Vec::new() };
            let view = View::unescaped(raw.get(span.clone()).unwrap_or_default());
            let to_raw = |change: Change| {
                let source = view.source(&change.range);
                let range = source.start + span.start..source.end + span.start;
                Change { range, with: escaped(&change.with) }
            };
            changes.into_iter().map(to_raw).collect()
        }
        Text::Bytes(bytes) => {
            let Some(range) = value_of(raw, b"base64") else { return Vec::new() };
            let with = BASE64.encode(changed(bytes, changes)).into_bytes();
            vec![Change { range, with }]
        }
    }
}

/// Where the string stands that is the value of a key of a record.
fn value_of(raw: &[u8], name: &[u8]) -> Option<Range<usize>> {
    let all = leaves(raw)?;
    let is_value = |key: usize| {
        all.get(key).is_some_and(|key| {
            key.holder.is_none()
                && View::unescaped(raw.get(key.span.clone()).unwrap_or_default()).text() == name
        })
    };
    let found = all.iter().find(|leaf| !leaf.is_key() && leaf.holder.is_some_and(is_value))?;
    Some(found.span.clone())
}
