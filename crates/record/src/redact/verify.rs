//! The safety net: what was written is read again, and no secret may be left in it.
//!
//! This does not ask the rules where a secret can be, only whether a value stands anywhere: in
//! the text as it is, with any number of escapes undone, and over the ends of pieces and parts.

use std::cell::LazyCell;
use std::path::Path;

use super::blocks::{Blocks, Joined, TooMuch};
use super::error::RedactError;
use super::json::leaves;
use super::known::Known;
use super::ledger::Ledger;
use super::pieces::{Joiner, RecordId, TooLong};
use super::placeholder::Placeholders;
use super::rules::Rules;
use super::secret::{Hit, Identity};
use super::stream::stream_event;
use super::survey::{open, tape_strings, unreadable};
use super::view::View;
use crate::format::Entry;
use crate::lines::DEFAULT_MAX_LINE;

/// How many layers of escapes are undone: more than the search for places does.
const MAX_LAYERS: usize = 12;

/// Looks for secrets that were left.
#[derive(Debug)]
pub(super) struct Verifier<'a> {
    pub(super) rules: &'a Rules,
    pub(super) ledger: &'a Ledger,
    pub(super) known: &'a Known,
}

impl Verifier<'_> {
    /// Reads a tape and says how many records it has.
    ///
    /// # Errors
    ///
    /// When a secret stands in it, or when it cannot be read.
    pub(super) fn tape(&self, path: &Path) -> Result<u64, RedactError> {
        let mut reader = open(path)?;
        let mut joiner = Joiner::new(DEFAULT_MAX_LINE);
        let mut blocks = Blocks::default();
        let mut record_id = RecordId { index: 0, seq: 0 };
        self.strings(reader.raw_line(), record_id)?;
        let (mut lines, mut complete) = (Vec::new(), Vec::<Joined>::new());
        loop {
            let record = reader.next().transpose().map_err(|error| unreadable(path, error))?;
            let too_long = |seq| RedactError::TooLong { path: path.to_owned(), seq };
            match &record {
                Some(record) => {
                    record_id = RecordId { index: record_id.index + 1, seq: record.seq };
                    self.strings(reader.raw_line(), record_id)?;
                    if let Entry::Line { text, .. } = &record.entry {
                        self.text(text.as_bytes(), record_id)?;
                    }
                    let taken = joiner.take(record_id, &record.entry, &mut lines);
                    taken.map_err(|TooLong(record)| too_long(record.seq))?;
                }
                None => joiner.finish(&mut lines),
            }
            for line in lines.drain(..) {
                let first = line.pieces.first().map_or(record_id, |piece| piece.record);
                if line.is_joined() {
                    self.text(&line.text, first)?;
                }
                if let Some(event) =
                    leaves(&line.text).and_then(|all| stream_event(&line.text, &all))
                {
                    let taken = blocks.take(&line, event, &mut complete);
                    taken.map_err(|TooMuch| too_long(record_id.seq))?;
                }
            }
            if record.is_none() {
                blocks.finish(&mut complete);
            }
            for block in complete.drain(..) {
                self.text(&block.text, block.first().unwrap_or(record_id))?;
            }
            if record.is_none() {
                return Ok(record_id.index);
            }
        }
    }

    /// Looks at the strings of a line of the file that are not lines of a channel.
    fn strings(&self, raw: &[u8], record: RecordId) -> Result<(), RedactError> {
        let all = leaves(raw).unwrap_or_default();
        for leaf in tape_strings(raw, &all) {
            self.text(raw.get(leaf.span.clone()).unwrap_or_default(), record)?;
        }
        Ok(())
    }

    /// Looks at a text, with all escapes, then with fewer and fewer of them.
    fn text(&self, text: &[u8], record: RecordId) -> Result<(), RedactError> {
        let mut text = std::borrow::Cow::Borrowed(text);
        for _ in 0..MAX_LAYERS {
            if self.has_secret(&text) {
                return Err(RedactError::Left { seq: record.seq });
            }
            let inner = View::unescaped(&text);
            if !inner.is_changed() {
                break;
            }
            text = std::borrow::Cow::Owned(inner.into_parts().0.into_owned());
        }
        Ok(())
    }

    fn has_secret(&self, text: &[u8]) -> bool {
        let placeholders = LazyCell::new(|| Placeholders::of(text));
        let is_placeholder = |hit: &Hit| placeholders.cover(&hit.range);
        let is_known_home = |hit: &Hit| match &hit.identity {
            Identity::Known(_) => true,
            Identity::Found(secret) => self.ledger.has_home(&secret.value),
        };
        let mut homes = self.rules.homes(text, Some(self.known)).into_iter().filter(is_known_home);
        self.known.find(text).any(|hit| !is_placeholder(&hit))
            || homes.any(|hit| !is_placeholder(&hit))
    }
}
