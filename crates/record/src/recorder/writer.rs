//! The thread that writes the tape.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use super::cut::{Cutter, MAX_PIECE};
use super::queue::{Item, Queue, What, Work};
use super::{Alarm, Trouble};
use crate::format::{Channel, Entry, Header, Note, Record, write_line};

/// How long the beginning of a line may wait for the rest before it is written as a piece.
///
/// A line that was written at once has long been read by then, so ordinary lines are not cut.
const PARTIAL_WAIT: Duration = Duration::from_millis(250);

/// How long to wait before writing is tried again.
const RETRY_WAIT: Duration = Duration::from_millis(200);

/// A batch of this size is written although there is more to come.
const BATCH_SIZE: usize = MAX_PIECE;

/// Owns the file, and writes what comes out of the queue.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Arc<Queue>,
    alarm: Arc<Alarm>,
    file: File,
    /// What was taken out of the queue and is not in the batch yet.
    items: VecDeque<Item>,
    channels: [(Channel, Cutter); 3],
    batch: Batch,
    seq: u64,
    /// The time of the last record; it never goes back, also not for what waited.
    us: u64,
}

/// Records that are encoded and not yet written.
#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    /// How many of the bytes are in the file already.
    written: usize,
    /// For each record, where it ends in `bytes`, and how many bytes of the streams it holds.
    records: Vec<(usize, usize)>,
    /// What the items in it count in the queue.
    cost: usize,
}

/// Nothing can be written, and the recording is over.
struct GaveUp;

impl Writer {
    pub(super) fn new(queue: Arc<Queue>, alarm: Arc<Alarm>, file: File, header: &Header) -> Self {
        let channels =
            [Channel::In, Channel::Out, Channel::Err].map(|channel| (channel, Cutter::default()));
        let mut batch = Batch::default();
        // A header can always be written as JSON: it has strings and numbers only.
        drop(header.write(&mut batch.bytes));
        Self { queue, alarm, file, items: VecDeque::new(), channels, batch, seq: 0, us: 0 }
    }

    /// Writes until the queue is closed and empty.
    pub(super) fn run(mut self) {
        let finished = match self.write_all() {
            Ok(ended) => {
                let synced = self.sync();
                if let Err(trouble) = &synced {
                    self.queue.failed(trouble);
                    self.alarm.ring(trouble);
                }
                ended && synced.is_ok()
            }
            Err(GaveUp) => false,
        };
        // Nothing of this is left unless the writer gave up.
        let (whole, lost) = self.batch.account();
        let waiting: usize = self.items.iter().map(Item::bytes).sum();
        let partial: usize = self.channels.iter().map(|(_, cutter)| cutter.held()).sum();
        self.queue.ended(lost + (waiting + partial) as u64, whole, finished);
    }

    /// Says whether the tape has its end.
    fn write_all(&mut self) -> Result<bool, GaveUp> {
        let mut ended = false;
        self.write()?;
        loop {
            let partial = self.channels.iter().any(|(_, cutter)| cutter.holds_text());
            match self.queue.take(partial.then_some(PARTIAL_WAIT)) {
                Work::Items(items) => {
                    self.items = items;
                    while let Some(item) = self.items.pop_front() {
                        ended |= matches!(item.what, What::End(_));
                        self.encode(item);
                        if self.batch.bytes.len() >= BATCH_SIZE {
                            self.write()?;
                        }
                    }
                }
                Work::Nothing => {
                    let Self { channels, batch, seq, us, .. } = self;
                    for (channel, cutter) in channels {
                        cutter.hand_out(|bytes, more| {
                            batch.line(seq, *us, *channel, bytes, more);
                        });
                    }
                }
                Work::Closed => {
                    // Without an end the streams were not closed either.
                    self.end_lines(|_| true);
                    self.write()?;
                    return Ok(ended);
                }
            }
            self.write()?;
        }
    }

    /// Adds an item to the batch.
    fn encode(&mut self, item: Item) {
        self.batch.cost += item.cost();
        self.us = self.us.max(item.us);
        match item.what {
            What::Chunk { channel, bytes } => {
                let Self { channels, batch, seq, us, .. } = self;
                let cutter = channels.iter_mut().find(|(name, _)| *name == channel);
                if let Some((_, cutter)) = cutter {
                    cutter.feed(&bytes, |bytes, more| batch.line(seq, *us, channel, bytes, more));
                }
            }
            What::Note(note) => {
                match note {
                    Note::Closed { channel: closed } => self.end_lines(|channel| channel == closed),
                    Note::Gap { .. } => self.end_lines(|_| true),
                    _ => {}
                }
                self.batch.entry(&mut self.seq, self.us, Entry::Note(note));
            }
            What::End(end) => {
                self.end_lines(|_| true);
                self.batch.entry(&mut self.seq, self.us, Entry::End(end));
            }
        }
    }

    /// Adds what is there of incomplete lines.
    fn end_lines(&mut self, which: impl Fn(Channel) -> bool) {
        let Self { channels, batch, seq, us, .. } = self;
        for (channel, cutter) in channels {
            if which(*channel) {
                cutter.end(|bytes, more| batch.line(seq, *us, *channel, bytes, more));
            }
        }
    }

    /// Writes the batch; where that fails, tries again until it works or the queue is closed.
    ///
    /// A write that failed halfway goes on where it stopped, so the tape is never torn in the
    /// middle. Meanwhile the queue fills, and what has no room in it is noted as a gap there.
    fn write(&mut self) -> Result<(), GaveUp> {
        let mut last_attempt = false;
        while let Some(rest) =
            self.batch.bytes.get(self.batch.written..).filter(|rest| !rest.is_empty())
        {
            match self.file.write(rest) {
                Ok(0) => {
                    last_attempt = self.failed(&io::ErrorKind::WriteZero.into(), last_attempt)?;
                }
                Ok(written) => self.batch.written += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => last_attempt = self.failed(&error, last_attempt)?,
            }
        }
        let Batch { bytes, records, cost, .. } = &self.batch;
        self.queue.wrote(*cost, records.len() as u64, bytes.len() as u64);
        self.batch.clear();
        Ok(())
    }

    /// Says that writing failed, and waits. The answer is whether the next attempt is the last.
    fn failed(&self, error: &io::Error, last_attempt: bool) -> Result<bool, GaveUp> {
        let trouble = Trouble::Write { message: error.to_string() };
        self.queue.failed(&trouble);
        self.alarm.ring(&trouble);
        if last_attempt { Err(GaveUp) } else { Ok(self.queue.wait_to_retry(RETRY_WAIT)) }
    }

    /// Makes sure that the tape survives a crash of the machine.
    fn sync(&self) -> Result<(), Trouble> {
        match self.file.sync_all() {
            // A pipe or a device has nothing to sync.
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
                Err(Trouble::Write { message: error.to_string() })
            }
            _ => Ok(()),
        }
    }
}

impl Batch {
    /// Adds a line, or a piece of one.
    fn line(&mut self, seq: &mut u64, us: u64, channel: Channel, bytes: &[u8], more: bool) {
        *seq += 1;
        // Text and base64 can always be written as JSON.
        drop(write_line(&mut self.bytes, *seq, us, channel, bytes, more));
        self.records.push((self.bytes.len(), bytes.len() + usize::from(!more)));
    }

    /// Adds a note, or the end.
    fn entry(&mut self, seq: &mut u64, us: u64, entry: Entry) {
        *seq += 1;
        drop(Record { seq: *seq, us, entry }.write(&mut self.bytes));
        self.records.push((self.bytes.len(), 0));
    }

    /// Makes room for the next records.
    fn clear(&mut self) {
        let Self { bytes, written, records, cost } = self;
        bytes.clear();
        bytes.shrink_to(2 * BATCH_SIZE);
        records.clear();
        (*written, *cost) = (0, 0);
    }

    /// How many records are in the file, and how many bytes of the streams are not.
    fn account(&self) -> (u64, u64) {
        // A record that only lacks its newline can be read.
        let whole = self.records.partition_point(|(end, _)| *end <= self.written + 1);
        let lost = self.records.iter().skip(whole).map(|(_, bytes)| *bytes as u64).sum();
        (whole as u64, lost)
    }
}
