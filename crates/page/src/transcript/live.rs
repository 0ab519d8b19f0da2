//! What the model is saying, before it has said it.
//!
//! Pieces of a message are joined here and shown as they come. All blocks of the text but the last are
//! settled: they are sent once. The last one is sent again when there is more of it. When the whole
//! message comes it takes the place of all that, and looks the same.

use countersign_protocol::content::{Content, ContentBlock};
use countersign_protocol::message::{BlockDelta, StreamEvent};
use countersign_protocol::{Decoded, FromCli, Line};

use super::{Patch, TRANSCRIPT};
use crate::render::{Html, markdown};

/// The element that it is in.
pub const LIVE: &str = "live";

/// From how many bytes on the last block of a text is long: it is not sent anew for every word.
const LONG: usize = 8_000;

/// What the model is saying.
#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    /// What is being written, if anything.
    writing: Option<Writing>,
    /// The text of it.
    text: String,
    /// How much of the text is settled and was sent, in bytes, and in how many parts.
    settled: usize,
    parts: usize,
    /// Whether there is something that was not sent, and how much of the last block was.
    is_new: bool,
    sent: usize,
    /// Whether it is on the page, and whether what is there is of something else.
    is_shown: bool,
    is_stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    Text,
    Thinking,
    Call,
}

impl Live {
    /// Takes up a piece.
    pub(super) fn delta(&mut self, frame: &str) {
        let Ok(line) = Line::parse(frame.as_bytes()) else { return };
        let Decoded::Known(FromCli::StreamEvent(event)) = line.decode::<FromCli>() else { return };
        // What agents say is shown when it is whole.
        if event.parent_tool_use_id.is_some() {
            return;
        }
        match &event.event {
            StreamEvent::ContentBlockStart(start) => match &start.content_block {
                ContentBlock::Text(block) => {
                    self.begin(Some(Writing::Text));
                    self.text.push_str(&block.text);
                }
                ContentBlock::Thinking(_) => self.begin(Some(Writing::Thinking)),
                ContentBlock::ToolUse(_) => self.begin(Some(Writing::Call)),
                _ => {}
            },
            StreamEvent::ContentBlockDelta(delta) => {
                if let BlockDelta::Text(piece) = &delta.delta {
                    if self.writing != Some(Writing::Text) {
                        self.begin(Some(Writing::Text));
                    }
                    self.text.push_str(&piece.text);
                    self.is_new = true;
                }
            }
            _ => {}
        }
    }

    /// Something else is being written, or nothing.
    fn begin(&mut self, writing: Option<Writing>) {
        let is_stale = self.is_shown;
        let (is_shown, is_new) = (self.is_shown, writing.is_some());
        *self = Self { writing, is_new, is_shown, is_stale, ..Self::default() };
    }

    /// A whole message has come.
    pub(super) fn settle(&mut self, content: &Content) {
        let is_it = match (content, self.writing) {
            (_, None) => false,
            (Content::Blocks(blocks), Some(writing)) => blocks.iter().any(|block| match block {
                ContentBlock::Text(_) => writing == Writing::Text,
                ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_) => {
                    writing == Writing::Thinking
                }
                ContentBlock::ToolUse(_) => writing == Writing::Call,
                _ => true,
            }),
            _ => true,
        };
        if is_it {
            self.end();
        }
    }

    /// Nothing is being said any more.
    pub(super) fn end(&mut self) {
        self.begin(None);
    }

    /// What goes from the page before anything else comes.
    pub(super) fn gone(&mut self) -> Option<Patch> {
        if !self.is_stale {
            return None;
        }
        (self.is_stale, self.is_shown) = (false, false);
        Some(Patch::Remove { id: LIVE.to_owned() })
    }

    /// What comes to the page after everything else.
    pub(super) fn patches(&mut self) -> Vec<Patch> {
        // The last block is sent whole: the longer it is, the more has to be new for that.
        let tail = self.text.len() - self.settled;
        if tail > LONG && tail < self.sent + tail / 32 {
            return Vec::new();
        }
        let Some(writing) = self.writing.filter(|_| std::mem::take(&mut self.is_new)) else {
            return Vec::new();
        };
        let mut patches = Vec::new();
        if !std::mem::replace(&mut self.is_shown, true) {
            let (to, id) = (TRANSCRIPT.to_owned(), LIVE.to_owned());
            patches.push(Patch::Add { to, id, html: frame(writing) });
        }
        if writing != Writing::Text {
            return patches;
        }
        let open = self.text.get(self.settled..).unwrap_or_default();
        let at = markdown::settled(open);
        let (done, tail) = open.split_at_checked(at).unwrap_or(("", open));
        if !done.trim().is_empty() {
            let id = format!("live-{}", self.parts);
            let mut html = Html::new();
            html.tag("<div id=\"").text(&id).tag("\">").html(&markdown::html(done)).tag("</div>");
            patches.push(Patch::Add { to: "live-settled".to_owned(), id, html });
            self.parts += 1;
        }
        patches.push(Patch::Fill { id: "live-tail".to_owned(), html: markdown::html(tail) });
        self.settled += at;
        self.sent = tail.len();
        patches
    }
}

/// The element for what is being written.
fn frame(writing: Writing) -> Html {
    let mut html = Html::new();
    html.tag("<div id=\"live\" class=\"prose live\" aria-busy=\"true\">");
    html.tag(match writing {
        Writing::Text => "<div id=\"live-settled\"></div><div id=\"live-tail\"></div>",
        Writing::Thinking => "<p class=\"soft\">Thinking…</p>",
        Writing::Call => "<p class=\"soft\">Preparing a call…</p>",
    });
    html.tag("</div>");
    html
}
