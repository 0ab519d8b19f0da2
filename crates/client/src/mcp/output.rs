//! What a tool gives back.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use countersign_protocol::RawJson;
use serde::Serialize;
use thiserror::Error;

/// What a tool gives back: blocks of content, or data, or both; and whether it failed.
///
/// Text becomes an output by itself:
///
/// ```
/// use countersign::mcp::{Content, ToolOutput};
///
/// let output = ToolOutput::from("It is done.");
/// let picture = ToolOutput::new().with(Content::text("A dot:")).with(Content::image(b"GIF89a", "image/gif"));
/// let failure = ToolOutput::error("there is no such file");
/// let data = ToolOutput::structured(&serde_json::json!({"sum": 5}))?;
/// # Ok::<(), countersign::mcp::StructuredError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use = "an output says nothing until the handler returns it"]
pub struct ToolOutput {
    content: Vec<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<RawJson>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

impl ToolOutput {
    /// An output that is empty so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// A failure. The model reads the text and can try something else.
    pub fn error(message: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::from(message.into()) }
    }

    /// Data, for a program as well as for the model.
    ///
    /// The same is there as text, for readers that know no data. The CLI shows the model the data in
    /// place of text blocks.
    ///
    /// # Errors
    /// When the value cannot be written as JSON, or is not an object there: MCP has no other data.
    pub fn structured<T: Serialize + ?Sized>(value: &T) -> Result<Self, StructuredError> {
        let data = RawJson::from_value(value).map_err(StructuredError::NotJson)?;
        if !data.is_object() {
            return Err(StructuredError::NotAnObject);
        }
        let text = Content::text(data.as_str());
        Ok(Self { structured_content: Some(data), ..Self::new().with(text) })
    }

    /// With one more block.
    pub fn with(mut self, block: impl Into<Content>) -> Self {
        self.content.push(block.into());
        self
    }

    /// The same, as a failure.
    pub fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// Whether it is a failure.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        self.is_error
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::new().with(Content::text(text))
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<Content> for ToolOutput {
    fn from(block: Content) -> Self {
        Self::new().with(block)
    }
}

impl FromIterator<Content> for ToolOutput {
    fn from_iter<I: IntoIterator<Item = Content>>(blocks: I) -> Self {
        Self { content: blocks.into_iter().collect(), ..Self::default() }
    }
}

/// Why a value is no [structured](ToolOutput::structured) output.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StructuredError {
    /// It cannot be written as JSON.
    #[error("the value cannot be written as JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// It is a list, a number, a text.
    #[error("the value is not a JSON object; put it into a struct")]
    NotAnObject,
}

/// A block of what a tool gives back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    #[non_exhaustive]
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[non_exhaustive]
    Image {
        /// Its bytes, in base64.
        data: String,
        /// Its media type, such as `image/png`.
        mime_type: String,
    },
    /// A sound.
    #[non_exhaustive]
    Audio {
        /// Its bytes, in base64.
        data: String,
        /// Its media type, such as `audio/wav`.
        mime_type: String,
    },
    /// Where something is that can be read.
    ResourceLink(ResourceLink),
    /// Something that can be read, with what is in it.
    #[non_exhaustive]
    Resource {
        /// What is in it.
        resource: Resource,
    },
}

impl Content {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture, from its bytes.
    #[must_use]
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Image { data: BASE64_STANDARD.encode(bytes), mime_type: mime_type.into() }
    }

    /// A sound, from its bytes.
    #[must_use]
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Audio { data: BASE64_STANDARD.encode(bytes), mime_type: mime_type.into() }
    }
}

impl From<ResourceLink> for Content {
    fn from(link: ResourceLink) -> Self {
        Self::ResourceLink(link)
    }
}

impl From<Resource> for Content {
    fn from(resource: Resource) -> Self {
        Self::Resource { resource }
    }
}

/// Where something is that can be read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceLink {
    uri: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
}

impl ResourceLink {
    /// The address of something, and what it is called.
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), description: None, mime_type: None }
    }

    /// With what it is.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// With its media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

/// Something that can be read, with what is in it: text, or bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(flatten)]
    body: Body,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Body {
    Text(String),
    Blob(String),
}

impl Resource {
    /// A text.
    #[must_use]
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: Body::Text(text.into()) }
    }

    /// Bytes.
    #[must_use]
    pub fn bytes(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        let body = Body::Blob(BASE64_STANDARD.encode(bytes));
        Self { uri: uri.into(), mime_type: None, body }
    }

    /// With its media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}
