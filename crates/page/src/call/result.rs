//! What came of a call.

use countersign_protocol::RawJson;
use countersign_protocol::content::{Content, ContentBlock, ToolResultBlock};
use serde_json::{Value, json};

use crate::render::diff::Diff;

/// What came of a call: what the model was told, and what the CLI says besides.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The event in which it stands, so that all of it can be asked for.
    pub seq: u64,
    /// Whether it failed or was refused.
    pub is_error: bool,
    /// What the model was told.
    pub text: String,
    /// Pictures that the model was shown: how many.
    pub pictures: usize,
    /// What the CLI says of it; null if nothing.
    pub details: Value,
}

impl Outcome {
    /// Reads it.
    #[must_use]
    pub fn of(block: &ToolResultBlock, details: Option<Value>, seq: u64) -> Self {
        let (mut text, mut pictures) = (String::new(), 0);
        match &block.content {
            Some(Content::Text(all)) => text.push_str(all),
            Some(Content::Blocks(blocks)) => {
                for block in blocks {
                    match block {
                        ContentBlock::Text(block) => {
                            if !text.is_empty() {
                                text.push('\n');
                            }
                            text.push_str(&block.text);
                        }
                        ContentBlock::Image(_) => pictures += 1,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        let is_error = block.is_error == Some(true);
        Self { seq, is_error, text, pictures, details: details.unwrap_or(Value::Null) }
    }

    /// What came of a call that the API carried out.
    #[must_use]
    pub fn of_api(content: &RawJson, seq: u64) -> Self {
        let value = crate::render::json::value(content).unwrap_or_default();
        let is_error = value.get("error_code").is_some();
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        // A search has pages, in the same shape as those of the CLI's own.
        let details = json!({ "results": [{ "content": value }] });
        Self { seq, is_error, text, pictures: 0, details }
    }

    /// A text among the details.
    #[must_use]
    pub fn detail(&self, name: &str) -> Option<&str> {
        self.details.get(name)?.as_str()
    }

    /// Whether it is an agent that goes on by itself.
    #[must_use]
    pub fn is_in_background(&self) -> bool {
        self.detail("status") == Some("async_launched")
    }

    /// All that it says: what a command wrote, what a file has, or what the model was told.
    #[must_use]
    pub fn whole(&self) -> String {
        let file = self.details.get("file").and_then(|file| file.get("content")?.as_str());
        match (self.detail("stdout"), self.detail("stderr"), file) {
            (None, None, None) => self.text.clone(),
            (None, None, Some(file)) => file.to_owned(),
            (stdout, stderr, _) => {
                let both = [stdout, stderr].into_iter().flatten().filter(|text| !text.is_empty());
                both.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// What changed in a file.
    #[must_use]
    pub fn diff(&self) -> Option<Diff> {
        let diff = Diff::of_patch(self.details.get("structuredPatch")?)?;
        if !diff.is_empty() {
            return Some(diff);
        }
        // A file that is new has no patch.
        let is_new = self.detail("type") == Some("create");
        is_new.then(|| Diff::between("", self.detail("content").unwrap_or_default(), true))
    }
}
