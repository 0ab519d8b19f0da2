//! The web.

use countersign_protocol_derive::WireObject;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::ids::ToolUseId;
use crate::wire::{Extra, FromWire, Num, Place, RawJson};

/// A page that was fetched and read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WebFetchOutput {
    /// The size of the page in bytes.
    pub bytes: u64,
    /// The HTTP status.
    pub code: u64,
    /// The HTTP status in words.
    pub code_text: String,
    /// What the model that read the page has to say.
    pub result: String,
    /// How long it took, in milliseconds.
    pub duration_ms: Num,
    /// The page.
    pub url: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a search of the web found.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WebSearchOutput {
    /// What was searched for.
    pub query: String,
    /// What was found, and what was said about it, in turn.
    pub results: Vec<WebSearchResult>,
    /// How long it took, in seconds.
    pub duration_seconds: Num,
    /// How many searches it took.
    pub search_count: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A part of what a search of the web gave back.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WebSearchResult {
    /// Pages.
    Hits(WebSearchHits),
    /// A comment, or an error.
    Text(String),
}

impl FromWire for WebSearchResult {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        let raw = RawJson::from_wire(source, place)?;
        if raw.is_object() { raw.read().map(Self::Hits) } else { raw.read().map(Self::Text) }
            .map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for WebSearchResult {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Self::from_wire(source, Place::OUTERMOST)
    }
}

impl Serialize for WebSearchResult {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Hits(hits) => hits.serialize(sink),
            Self::Text(text) => text.serialize(sink),
        }
    }
}

/// The pages that one search found.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WebSearchHits {
    /// The search, as a call of a tool that the API runs.
    pub tool_use_id: ToolUseId,
    /// The pages.
    pub content: Vec<WebSearchHit>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WebSearchHit {
    /// Its title.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// Fields this type does not name.
    pub extra: Extra,
}
