//! What a report consists of, whatever it is written as.

/// A part of a report.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// A heading, with the name by which it can be linked to.
    Heading { level: u8, text: String, anchor: String },
    /// A paragraph.
    Text(String),
    /// A question that is asked.
    Question(String),
    /// A table.
    Table(Table),
    /// Conversations, to be drawn where that is possible.
    Tapes { title: String, tapes: Vec<String> },
    /// What a program said, as it is.
    Verbatim(String),
}

/// A table with a row of headings.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) tone: Tone,
    /// The heading that it leads to.
    pub(super) to: Option<String>,
}

/// How a cell is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Good,
    Bad,
    Faint,
}

impl Cell {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Plain, to: None }
    }

    pub(super) const fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    pub(super) fn to(mut self, anchor: impl Into<String>) -> Self {
        self.to = Some(anchor.into());
        self
    }
}
