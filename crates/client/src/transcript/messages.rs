//! Reading a conversation, message by message.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::vec;

use super::chain::{Conversation, visible};
use super::error::{TranscriptError, io_error};
use super::index::Index;
use super::message::{Parents, StoredMessage};

/// Which messages of a conversation are wanted. By default all that the user and the model said.
#[derive(Clone, Debug, Default)]
#[must_use = "pass it to `Sessions::messages`"]
#[non_exhaustive]
pub struct MessageOptions {
    limit: Option<usize>,
    offset: usize,
    pub(crate) system: bool,
}

impl MessageOptions {
    /// All that the user and the model said.
    pub const fn new() -> Self {
        Self { limit: None, offset: 0, system: false }
    }

    /// At most this many.
    pub const fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Without the first ones.
    pub const fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// Also what the CLI noted in between, such as where the conversation was compacted.
    pub const fn with_system_messages(mut self) -> Self {
        self.system = true;
        self
    }

    /// The part of a list that is wanted.
    pub(crate) fn page<T>(&self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.offset).take(self.limit.unwrap_or(usize::MAX)).collect()
    }
}

/// The messages of a conversation, read from the file one by one.
///
/// What is appended to the transcript after this was made is not among them. An error of the file
/// ends it.
#[derive(Debug)]
pub struct Messages {
    file: File,
    path: PathBuf,
    /// Where the lines are.
    places: vec::IntoIter<(u64, usize)>,
    parents: Parents,
    line: Vec<u8>,
}

impl Messages {
    /// Reads the transcript once, to see what is where.
    pub(super) fn open(
        path: &Path,
        conversation: Conversation,
        parents: Parents,
        options: &MessageOptions,
    ) -> Result<Self, TranscriptError> {
        let file = File::open(path).map_err(io_error("open", path))?;
        let index = Index::read(BufReader::new(&file)).map_err(io_error("read", path))?;
        let shown = options.page(visible(&index, conversation, options.system));
        let entries = shown.into_iter().filter_map(|at| index.entries().get(at));
        let places: Vec<_> = entries.map(|entry| (entry.offset, entry.length)).collect();
        Ok(Self {
            file,
            path: path.to_owned(),
            places: places.into_iter(),
            parents,
            line: Vec::new(),
        })
    }

    fn read_line(&mut self, offset: u64, length: usize) -> io::Result<()> {
        self.line.clear();
        self.file.seek(SeekFrom::Start(offset))?;
        (&self.file).take(length as u64).read_to_end(&mut self.line)?;
        if self.line.len() < length {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the transcript became shorter while it was read",
            ));
        }
        Ok(())
    }
}

impl Iterator for Messages {
    type Item = Result<StoredMessage, TranscriptError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (offset, length) = self.places.next()?;
            if let Err(source) = self.read_line(offset, length) {
                self.places = Vec::new().into_iter();
                return Some(Err(io_error("read", &self.path)(source)));
            }
            let line = String::from_utf8_lossy(&self.line);
            if let Some(message) = StoredMessage::read(&line, &self.parents) {
                return Some(Ok(message));
            }
        }
    }
}
