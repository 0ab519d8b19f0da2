//! What a user says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_protocol::content::{
    Base64Source, Content, ContentBlock, ImageBlock, Source, TextBlock,
};
use countersign_protocol::ids::MessageUuid;
use countersign_protocol::message::{Priority, UserMessage};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::id::MessageId;

/// What a user says: words and pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MessageContent {
    /// The words.
    #[serde(default)]
    pub text: String,
    /// The pictures, which come before the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::api::shape::MediaType))]
    pub media_type: String,
    /// The picture, in Base64.
    pub data: String,
}

/// What a picture may be.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Why something cannot be said.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ContentError {
    /// There is nothing in it.
    #[error("a message needs words or a picture")]
    Empty,
    /// A picture of a kind that the model cannot see.
    #[error("{media_type:?} is no picture that the model can see: use one of {PICTURES:?}")]
    NotAPicture {
        /// What it was said to be.
        media_type: String,
    },
    /// A picture that is not Base64.
    #[error("picture {number} is not Base64: {reason}")]
    NotBase64 {
        /// Which, counted from 0.
        number: usize,
        /// Why.
        reason: String,
    },
}

impl MessageContent {
    /// Words alone.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), images: Vec::new() }
    }

    /// Looks whether it can be said.
    ///
    /// # Errors
    /// When there is nothing in it, or a picture is none. The CLI checks neither, and the API would
    /// refuse the whole conversation from then on.
    pub fn check(&self) -> Result<(), ContentError> {
        if self.text.trim().is_empty() && self.images.is_empty() {
            return Err(ContentError::Empty);
        }
        self.images.iter().enumerate().try_for_each(|(number, image)| image.check(number))
    }

    /// What the CLI is given.
    #[must_use]
    pub fn to_content(&self) -> Content {
        if self.images.is_empty() {
            return Content::Text(self.text.clone());
        }
        let mut blocks = image_blocks(&self.images);
        if !self.text.is_empty() {
            blocks.push(TextBlock::new(&*self.text).into());
        }
        Content::Blocks(blocks)
    }

    /// The message that the CLI is given under this name.
    #[must_use]
    pub fn to_message(&self, name: MessageId, priority: Option<Priority>) -> UserMessage {
        let mut message = UserMessage::prompt(self.to_content());
        message.uuid = Some(MessageUuid::from(name.to_string()));
        message.priority = priority;
        message
    }
}

impl Image {
    pub(super) fn check(&self, number: usize) -> Result<(), ContentError> {
        if !PICTURES.contains(&&*self.media_type) {
            return Err(ContentError::NotAPicture { media_type: self.media_type.clone() });
        }
        match STANDARD.decode(&self.data) {
            Ok(_) => Ok(()),
            Err(reason) => Err(ContentError::NotBase64 { number, reason: reason.to_string() }),
        }
    }
}

/// Pictures, as the CLI is given them.
#[must_use]
pub fn image_blocks(images: &[Image]) -> Vec<ContentBlock> {
    let block = |image: &Image| {
        ImageBlock::new(Source::Base64(Base64Source::new(&*image.media_type, &*image.data))).into()
    };
    images.iter().map(block).collect()
}
