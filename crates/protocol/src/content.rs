//! What messages are made of: content blocks, as in the Messages API.

use countersign_protocol_derive::{WireObject, WireTagged};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::ToolUseId;
use crate::names::open_enum;
use crate::wire::{Extra, FromWire, Named, Place, RawJson, TextOrList};

/// The content of a message or of a tool result: plain text, or blocks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Plain text, which is the same as one text block.
    Text(String),
    /// Blocks, in their order.
    Blocks(Vec<ContentBlock>),
}

impl Content {
    /// The texts in it, in their order. Other blocks are passed over.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (text, blocks) = match self {
            Self::Text(text) => (Some(text.as_str()), &[][..]),
            Self::Blocks(blocks) => (None, &blocks[..]),
        };
        text.into_iter().chain(blocks.iter().filter_map(|block| match block {
            ContentBlock::Text(block) => Some(block.text.as_str()),
            _ => None,
        }))
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks)
    }
}

impl FromWire for Content {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        Ok(match TextOrList::from_wire(source, place)? {
            TextOrList::Text(text) => Self::Text(text),
            TextOrList::List(blocks) => Self::Blocks(blocks),
        })
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Self::from_wire(source, Place::OUTERMOST)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(sink),
            Self::Blocks(blocks) => blocks.serialize(sink),
        }
    }
}

/// One block of content.
///
/// The CLI writes one `assistant` frame for each finished block; a client may send several in
/// one `user` frame.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    #[wire(name = "text")]
    Text(TextBlock),
    /// The model calls a tool.
    #[wire(name = "tool_use")]
    ToolUse(ToolUseBlock),
    /// What a tool gave back.
    #[wire(name = "tool_result")]
    ToolResult(ToolResultBlock),
    /// The model's reasoning.
    #[wire(name = "thinking")]
    Thinking(ThinkingBlock),
    /// Reasoning that is not shown.
    #[wire(name = "redacted_thinking")]
    RedactedThinking(RedactedThinkingBlock),
    /// A picture.
    #[wire(name = "image")]
    Image(ImageBlock),
    /// A document.
    #[wire(name = "document")]
    Document(DocumentBlock),
    /// A search result given to the model by the client.
    #[wire(name = "search_result")]
    SearchResult(SearchResultBlock),
    /// The model calls a tool that the API runs.
    #[wire(name = "server_tool_use")]
    ServerToolUse(ServerToolUseBlock),
    /// The result of a web search that the API ran.
    #[wire(name = "web_search_tool_result")]
    WebSearchToolResult(ServerToolResultBlock),
    /// The result of a page that the API fetched.
    #[wire(name = "web_fetch_tool_result")]
    WebFetchToolResult(ServerToolResultBlock),
    /// The answer of the advisor.
    #[wire(name = "advisor_tool_result")]
    AdvisorToolResult(ServerToolResultBlock),
    /// The result of code that the API ran.
    #[wire(name = "code_execution_tool_result")]
    CodeExecutionToolResult(ServerToolResultBlock),
    /// The result of a shell command that the API ran.
    #[wire(name = "bash_code_execution_tool_result")]
    BashCodeExecutionToolResult(ServerToolResultBlock),
    /// The result of a file edit that the API ran.
    #[wire(name = "text_editor_code_execution_tool_result")]
    TextEditorCodeExecutionToolResult(ServerToolResultBlock),
    /// The tools that a search for tools found.
    #[wire(name = "tool_search_tool_result")]
    ToolSearchToolResult(ServerToolResultBlock),
    /// The model calls a tool of an MCP server that the API is connected to.
    #[wire(name = "mcp_tool_use")]
    McpToolUse(McpToolUseBlock),
    /// The result of such a call.
    #[wire(name = "mcp_tool_result")]
    McpToolResult(McpToolResultBlock),
    /// A file that was put into the API's container.
    #[wire(name = "container_upload")]
    ContainerUpload(ContainerUploadBlock),
    /// Blocks that the API makes for itself and hands back: a compacted conversation, the mark
    /// of a fallback to another model.
    #[wire(internal("compaction", "fallback"))]
    Internal(Named),
    /// A block this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// Text.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// What the text refers to.
    pub citations: Option<Vec<RawJson>>,
    /// Where the prompt cache may end.
    pub cache_control: Option<CacheControl>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ToolUseBlock {
    /// Names the call. The result, the permission request and the hooks carry the same id.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// The input as the model wrote it. See [`ToolInput`](crate::tool::ToolInput) for types.
    pub input: RawJson,
    /// Who called: the model, or code that the model wrote.
    pub caller: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ToolResultBlock {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What the model is shown.
    pub content: Option<Content>,
    /// Whether the call failed or was refused.
    pub is_error: Option<bool>,
    /// Where the prompt cache may end.
    pub cache_control: Option<CacheControl>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The model's reasoning.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ThinkingBlock {
    /// The text, empty when the client is not shown it.
    pub thinking: String,
    /// Proves to the API that the text was not changed.
    pub signature: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Reasoning that is not shown.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RedactedThinkingBlock {
    /// The reasoning, readable by the API only.
    pub data: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ImageBlock {
    /// Where the picture is.
    pub source: Source,
    /// Where the prompt cache may end.
    pub cache_control: Option<CacheControl>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A document.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct DocumentBlock {
    /// Where the document is.
    pub source: Source,
    /// Its title.
    pub title: Option<String>,
    /// What the model should know about it.
    pub context: Option<String>,
    /// Whether the model may cite it.
    pub citations: Option<RawJson>,
    /// Where the prompt cache may end.
    pub cache_control: Option<CacheControl>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A search result given to the model by the client.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SearchResultBlock {
    /// Where it was found.
    pub source: String,
    /// Its title.
    pub title: String,
    /// What it says.
    pub content: Content,
    /// Whether the model may cite it.
    pub citations: Option<RawJson>,
    /// Where the prompt cache may end.
    pub cache_control: Option<CacheControl>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A call of a tool that the API runs.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ServerToolUseBlock {
    /// Names the call.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// The input.
    pub input: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The result of a tool that the API ran.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ServerToolResultBlock {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The result; its shape depends on the tool.
    pub content: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A call of a tool of an MCP server that the API is connected to.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpToolUseBlock {
    /// Names the call.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// The server.
    pub server_name: Option<String>,
    /// The input.
    pub input: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The result of a tool of an MCP server that the API is connected to.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpToolResultBlock {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What the model is shown.
    pub content: Option<Content>,
    /// Whether the call failed.
    pub is_error: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that was put into the API's container.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContainerUploadBlock {
    /// The file.
    pub file_id: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Where a picture or a document is.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum Source {
    /// In the message.
    #[wire(name = "base64")]
    Base64(Base64Source),
    /// At an address.
    #[wire(name = "url")]
    Url(UrlSource),
    /// Uploaded to the API before.
    #[wire(name = "file")]
    File(FileSource),
    /// In the message, as text. For documents.
    #[wire(name = "text")]
    Text(TextSource),
    /// In the message, as blocks. For documents.
    #[wire(name = "content")]
    Content(ContentSource),
    /// A source this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// Data in the message itself.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Base64Source {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The data in Base64.
    pub data: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Data at an address.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UrlSource {
    /// The address.
    pub url: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that was uploaded to the API.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct FileSource {
    /// The file.
    pub file_id: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Text as a document.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TextSource {
    /// The media type: `text/plain`.
    pub media_type: String,
    /// The text.
    pub data: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Blocks as a document.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContentSource {
    /// The blocks.
    pub content: Content,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Where the prompt cache may end.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CacheControl {
    /// The kind; the API knows `ephemeral`.
    #[wire(name = "type")]
    pub kind: String,
    /// How long it is kept.
    pub ttl: Option<CacheTtl>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// How long a part of the prompt is cached.
    CacheTtl {
        /// Five minutes.
        FiveMinutes = "5m",
        /// One hour.
        OneHour = "1h",
    }
}
