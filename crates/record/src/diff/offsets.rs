//! Where in the file the lines of a tape stand.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use crate::format::{Channel, Entry, Header, Note, Record};
use crate::reader::{DEFAULT_MAX_RECORD, Tail, TapeError, TapeReader};

/// Where the line that is being read began, for each channel.
#[derive(Debug, Default)]
pub(super) struct Starts {
    slots: [Cell<(u64, bool)>; 3],
}

impl Starts {
    fn slot(&self, channel: Channel) -> &Cell<(u64, bool)> {
        let [input, output, error] = &self.slots;
        match channel {
            Channel::In => input,
            Channel::Out => output,
            Channel::Err => error,
        }
    }

    pub(super) fn of(&self, channel: Channel) -> u64 {
        self.slot(channel).get().0
    }

    /// Takes note of a record of a line at an offset.
    fn see(&self, channel: Channel, offset: u64, more: bool) {
        let slot = self.slot(channel);
        let (start, open) = slot.get();
        slot.set((if open { start } else { offset }, more));
    }

    /// No line goes on after this.
    fn cut(&self) {
        for slot in &self.slots {
            slot.set((slot.get().0, false));
        }
    }
}

/// Passes on the records of a reader and takes note of where lines begin.
pub(super) struct Located {
    reader: TapeReader<Counted<BufReader<File>>>,
    offset: Rc<Cell<u64>>,
    starts: Rc<Starts>,
}

impl Located {
    /// Reads the header of a tape.
    pub(super) fn new(file: File) -> Result<Self, TapeError> {
        let offset = Rc::new(Cell::new(0));
        let counted = Counted { source: BufReader::new(file), offset: Rc::clone(&offset) };
        Ok(Self { reader: TapeReader::new(counted)?, offset, starts: Rc::default() })
    }

    pub(super) const fn header(&self) -> &Header {
        self.reader.header()
    }

    pub(super) const fn tail(&self) -> Tail {
        self.reader.tail()
    }

    /// Where the lines begin that were read last.
    pub(super) fn starts(&self) -> Rc<Starts> {
        Rc::clone(&self.starts)
    }
}

impl Iterator for Located {
    type Item = Result<Record, TapeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offset.get();
        let record = self.reader.next()?;
        match &record {
            Ok(Record { entry: Entry::Line { channel, more, .. }, .. }) => {
                self.starts.see(*channel, offset, *more);
            }
            Ok(Record { entry: Entry::Note(Note::Closed { channel }), .. }) => {
                let slot = self.starts.slot(*channel);
                slot.set((slot.get().0, false));
            }
            Ok(Record { entry: Entry::Note(Note::Gap { .. }), .. }) | Err(_) => self.starts.cut(),
            Ok(_) => {}
        }
        Some(record)
    }
}

/// Counts the bytes that are read.
struct Counted<R> {
    source: R,
    offset: Rc<Cell<u64>>,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        self.offset.set(self.offset.get() + length as u64);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.offset.set(self.offset.get() + amount as u64);
        self.source.consume(amount);
    }
}

/// The records from somewhere in a tape on. Lines that are not records are passed over, as they
/// were the first time.
pub(super) struct Records<'f> {
    pub(super) source: &'f mut BufReader<File>,
}

impl Iterator for Records<'_> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let limit = DEFAULT_MAX_RECORD as u64 + 1;
            match self.source.by_ref().take(limit).read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
            if let Ok(record) = Record::parse(&line) {
                return Some(Ok(record));
            }
        }
    }
}
