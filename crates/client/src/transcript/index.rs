//! What a transcript holds, and where, without holding it.

use std::collections::HashMap;
use std::io::{self, BufRead};

use super::fields::{Fields, each_item};
use super::lines::LineReader;

/// What kind of entry a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    User,
    Assistant,
    System,
    Attachment,
    Progress,
}

impl EntryKind {
    /// The kinds that have a place in the conversation. What is new has none.
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            "attachment" => Self::Attachment,
            "progress" => Self::Progress,
            _ => return None,
        })
    }

    /// Whether somebody speaks in it.
    pub(crate) const fn is_spoken(self) -> bool {
        matches!(self, Self::User | Self::Assistant)
    }
}

/// An identifier, held once however often it stands in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(u32);

/// An entry that has a place in the conversation.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where its line begins.
    pub(crate) offset: u64,
    /// How many bytes its line has.
    pub(crate) length: usize,
    pub(crate) kind: EntryKind,
    pub(crate) sidechain: bool,
    pub(crate) team: bool,
    pub(crate) meta: bool,
    pub(crate) uuid: Id,
    pub(crate) parent: Option<Id>,
    /// The response of the model that it is a part of.
    pub(crate) response: Option<Id>,
    /// The entry with the call that it answers, as far as the entry says so.
    pub(crate) source: Option<Id>,
    /// Who wrote it, if not the main conversation.
    pub(crate) agent: Option<Id>,
    /// The calls it makes, or those that it answers.
    pub(crate) calls: Box<[Id]>,
    /// Whether it is a user entry with the result of a call.
    pub(crate) is_result: bool,
    /// Milliseconds since 1970, or the least if it does not say.
    pub(crate) time: i64,
}

/// The entries of a transcript in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    ids: HashMap<Box<str>, Id>,
}

impl Index {
    /// Reads a transcript once.
    pub(crate) fn read(source: impl BufRead) -> io::Result<Self> {
        let mut index = Self::default();
        let mut lines = LineReader::new(source);
        while let Some(line) = lines.next()? {
            index.add(&line.text, line.offset, line.length);
        }
        Ok(index)
    }

    /// Takes a line in, if it is an entry with a place in the conversation. `offset` and `length`
    /// say where it is found again.
    pub(crate) fn add(&mut self, line: &str, offset: u64, length: usize) {
        let Some(fields) = Fields::parse(line) else { return };
        let Some(kind) = fields.text("type").and_then(|name| EntryKind::of(&name)) else { return };
        let Some(uuid) = fields.id("uuid") else { return };
        let message = match kind {
            EntryKind::User | EntryKind::Assistant => EntryMessage::read(&fields),
            _ => EntryMessage::default(),
        };
        let wanted = match kind {
            EntryKind::Assistant => "tool_use",
            _ => "tool_result",
        };
        let blocks = message.blocks.iter().filter(|block| block.kind == wanted);
        let calls = blocks.clone().filter_map(|block| block.call()).map(|id| self.id(id)).collect();
        let entry = Entry {
            offset,
            length,
            kind,
            sidechain: fields.is_truthy("isSidechain"),
            team: fields.is_truthy("teamName"),
            meta: fields.is_truthy("isMeta"),
            uuid: self.id(&uuid),
            parent: fields.id("parentUuid").map(|id| self.id(&id)),
            response: match kind {
                EntryKind::Assistant => message.id.as_deref().map(|id| self.id(id)),
                _ => None,
            },
            source: fields.id("sourceToolAssistantUUID").map(|id| self.id(&id)),
            agent: fields.id("agentId").map(|id| self.id(&id)),
            calls,
            is_result: kind == EntryKind::User && blocks.count() > 0,
            time: fields
                .text("timestamp")
                .and_then(|time| time.parse::<jiff::Timestamp>().ok())
                .map_or(i64::MIN, jiff::Timestamp::as_millisecond),
        };
        self.entries.push(entry);
    }

    /// The entries, in the order of the file.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The id with this text, if it stands in the transcript.
    pub(crate) fn find(&self, text: &str) -> Option<Id> {
        self.ids.get(text).copied()
    }

    /// Values of ids, by the text of the id.
    pub(crate) fn with_texts<T: Copy>(&self, values: &HashMap<Id, T>) -> HashMap<Box<str>, T> {
        let texts = self.ids.iter();
        texts.filter_map(|(text, id)| Some((text.clone(), *values.get(id)?))).collect()
    }

    fn id(&mut self, text: &str) -> Id {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        // Four thousand million ids do not fit into a file that anybody can read.
        let id = Id(u32::try_from(self.ids.len()).unwrap_or(u32::MAX));
        self.ids.insert(text.into(), id);
        id
    }
}

/// What counts of the message in an entry: its id, and the calls in it.
#[derive(Default)]
pub(crate) struct EntryMessage {
    pub(crate) id: Option<String>,
    blocks: Vec<Block>,
}

/// What counts of a block.
struct Block {
    kind: String,
    id: Option<String>,
    tool_use_id: Option<String>,
}

impl EntryMessage {
    pub(crate) fn read(fields: &Fields<'_>) -> Self {
        let Some(message) = fields.raw("message").and_then(Fields::parse) else {
            return Self::default();
        };
        let id = message.id("id").map(String::from);
        let blocks = message.raw("content").map(Block::list).unwrap_or_default();
        Self { id, blocks }
    }

    /// The calls that it makes.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &str> + Clone {
        self.of_kind("tool_use")
    }

    /// The calls whose results it has.
    pub(crate) fn results(&self) -> impl Iterator<Item = &str> + Clone {
        self.of_kind("tool_result")
    }

    fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &str> + Clone {
        self.blocks.iter().filter(move |block| block.kind == kind).filter_map(Block::call)
    }
}

impl Block {
    fn list(content: &str) -> Vec<Self> {
        // A response has some dozens of blocks; what has more calls than this is no conversation.
        const MOST: usize = 4096;
        let mut blocks = Vec::new();
        // Content that is a text has no blocks, and neither has what is broken.
        let complete = each_item(content, |block| {
            if blocks.len() < MOST {
                blocks.extend(Self::read(block));
            }
        });
        if complete { blocks } else { Vec::new() }
    }

    fn read(block: &str) -> Option<Self> {
        let fields = Fields::parse(block)?;
        Some(Self {
            kind: fields.id("type")?.into_owned(),
            id: fields.id("id").map(String::from),
            tool_use_id: fields.id("tool_use_id").map(String::from),
        })
    }

    fn call(&self) -> Option<&str> {
        if self.kind == "tool_use" { self.id.as_deref() } else { self.tool_use_id.as_deref() }
    }
}
