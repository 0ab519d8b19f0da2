//! MCP servers: what their tools give back, and their resources.

use countersign_protocol_derive::WireObject;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::content::{Content, ContentBlock};
use crate::names::open_enum;
use crate::wire::{Extra, FromWire, Place, RawJson};

/// What a tool of an MCP server gave back, other than a plain string.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum McpOutput {
    /// Blocks, in the form of the Messages API.
    Blocks(Vec<ContentBlock>),
    /// Blocks or text, with a value for programs.
    Structured(McpStructuredOutput),
}

impl FromWire for McpOutput {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        let raw = RawJson::from_wire(source, place)?;
        if raw.is_object() {
            raw.read().map(Self::Structured)
        } else {
            raw.read().map(Self::Blocks)
        }
        .map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for McpOutput {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Self::from_wire(source, Place::OUTERMOST)
    }
}

impl Serialize for McpOutput {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Blocks(blocks) => blocks.serialize(sink),
            Self::Structured(output) => output.serialize(sink),
        }
    }
}

/// What a tool gave back, with a value for programs.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpStructuredOutput {
    /// What the model is shown. In 2.1.62 it is the value as text, and other blocks are lost.
    pub content: Option<Content>,
    /// The value, as the server sent it.
    pub structured_content: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A resource of a server. `ListMcpResourcesTool` gives back an array of them.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpResource {
    /// Names the resource.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// What it holds, such as `text/plain`.
    pub mime_type: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// The server that has it.
    pub server: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadMcpResourceOutput {
    /// Its parts.
    pub contents: Vec<McpResourceContents>,
    /// What went wrong.
    pub error: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A part of a resource: text, or bytes that were put into a file.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpResourceContents {
    /// Names the part.
    pub uri: String,
    /// What it holds, such as `text/plain`.
    pub mime_type: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// The file that holds the bytes.
    pub blob_saved_to: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What is directly below a resource.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadMcpResourceDirOutput {
    /// The resources there.
    pub resources: Vec<McpResourceEntry>,
    /// What went wrong.
    pub error: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A resource below another.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpResourceEntry {
    /// Names the resource.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// What it holds, such as `text/plain`.
    pub mime_type: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What came of asking a server for its tools again. `RefreshMcpTools` gives back an array of
/// them.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpRefresh {
    /// The server.
    pub server: String,
    /// What came of it.
    pub status: McpRefreshStatus,
    /// How many tools the server has now.
    pub tool_count: Option<u64>,
    /// The tools it did not have before.
    pub added: Option<Vec<String>>,
    /// The tools it has no more.
    pub removed: Option<Vec<String>>,
    /// Why it did not work.
    pub error: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What came of asking a server for its tools again.
    McpRefreshStatus {
        /// They are up to date.
        Refreshed = "refreshed",
        /// It failed, and the tools are as before.
        Error = "error",
        /// The server is not connected.
        NotConnected = "not_connected",
    }
}
