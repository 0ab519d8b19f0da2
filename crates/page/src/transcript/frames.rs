//! What the CLI says.

use countersign_protocol::content::{Content, ContentBlock, ImageBlock, Source, ToolResultBlock};
use countersign_protocol::ids::ToolUseId;
use countersign_protocol::message::{AssistantMessage, UserMessage};
use countersign_protocol::system::SystemMessage;
use countersign_protocol::{Decoded, FromCli, Line, RawJson};
use countersign_server::session::{Event, Happening, Usage};
use jiff::Timestamp;
use serde_json::Value;

use super::item::What;
use super::notes::Tone;
use super::{Transcript, id};
use crate::call::{Call, Outcome, Stage};
use crate::render::json;
use crate::render::words::tokens;

impl Transcript {
    pub(super) fn frame(&mut self, line: &RawJson, event: &Event) {
        let decoded = Line::parse(line.as_str().as_bytes()).map(|line| line.decode::<FromCli>());
        match decoded {
            Ok(Decoded::Known(frame)) => self.known(&frame, event),
            Ok(Decoded::Unknown(_)) => {
                let text =
                    "The CLI said something that this version does not know; it is under Wire.";
                self.add_note(Tone::Quiet, text, event);
            }
            Ok(Decoded::Malformed(_)) | Err(_) => {
                let text = "The CLI said something that cannot be read; it is under Wire.";
                self.add_note(Tone::Bad, text, event);
            }
        }
    }

    fn known(&mut self, frame: &FromCli, event: &Event) {
        match frame {
            FromCli::Assistant(said) => self.assistant(said, event),
            FromCli::User(user) => self.user(user, event),
            FromCli::System(system) => self.system(system, event),
            // What the model said was said before, and what went wrong comes with the end of the turn.
            FromCli::Result(_) => self.live.end(),
            _ => {}
        }
    }

    /// The model says something, or calls a tool.
    fn assistant(&mut self, said: &AssistantMessage, event: &Event) {
        let thread = said.parent_tool_use_id.as_ref().map(ToolUseId::as_str);
        if thread.is_none() {
            self.context = said.message.usage.as_ref().map(Usage::in_context).or(self.context);
            // The whole has come, so the pieces go, at the same moment.
            self.live.settle(&said.message.content);
        }
        let blocks = match &said.message.content {
            Content::Blocks(blocks) => blocks.as_slice(),
            Content::Text(text) => {
                self.prose(thread, text, format!("m{}", event.seq), event.at);
                return;
            }
            _ => return,
        };
        for (number, block) in blocks.iter().enumerate() {
            let name = format!("m{}-{number}", event.seq);
            match block {
                ContentBlock::Text(block) => self.prose(thread, &block.text, name, event.at),
                ContentBlock::Thinking(block) if !block.thinking.trim().is_empty() => {
                    let text = block.thinking.clone();
                    self.add(thread, name, event.at, What::Thought(text));
                }
                ContentBlock::ToolUse(block) => {
                    let call =
                        Call::new(block.id.to_string(), block.name.clone(), block.input.clone());
                    self.call(call, thread, event.at);
                }
                ContentBlock::ServerToolUse(block) => {
                    let call =
                        Call::new(block.id.to_string(), block.name.clone(), block.input.clone());
                    self.call(call, thread, event.at);
                }
                ContentBlock::WebSearchToolResult(result)
                | ContentBlock::WebFetchToolResult(result)
                | ContentBlock::AdvisorToolResult(result)
                | ContentBlock::CodeExecutionToolResult(result)
                | ContentBlock::BashCodeExecutionToolResult(result)
                | ContentBlock::TextEditorCodeExecutionToolResult(result)
                | ContentBlock::ToolSearchToolResult(result) => {
                    let outcome = Outcome::of_api(&result.content, event.seq);
                    self.update(Some(result.tool_use_id.as_str()), |call| {
                        call.stage = if outcome.is_error { Stage::Failed } else { Stage::Ran };
                        call.outcome = Some(outcome);
                    });
                }
                _ => {}
            }
        }
    }

    fn prose(&mut self, thread: Option<&str>, text: &str, name: String, at: Timestamp) {
        if !text.trim().is_empty() {
            self.add(thread, name, at, What::Prose(text.to_owned()));
        }
    }

    /// Tools have given something back.
    fn user(&mut self, user: &UserMessage, event: &Event) {
        let Content::Blocks(blocks) = &user.message.content else { return };
        for block in blocks {
            let ContentBlock::ToolResult(result) = block else { continue };
            let details = user.tool_use_result.as_ref().and_then(json::value);
            let outcome = Outcome::of(result, details, event.seq);
            let id = result.tool_use_id.as_str();
            let was_refused = user
                .tool_result_meta
                .iter()
                .flatten()
                .any(|meta| meta.id.as_str() == id && meta.non_execution_kind.is_some());
            self.update(Some(id), |call| {
                call.stage = match (call.stage, outcome.is_error) {
                    (Stage::Refused, _) => Stage::Refused,
                    _ if was_refused => Stage::Refused,
                    (_, true) => Stage::Failed,
                    (_, false) => Stage::Ran,
                };
                call.outcome = Some(outcome);
            });
        }
    }

    /// What tools have given back, and nothing else.
    pub(super) fn frame_of_results(&mut self, line: &RawJson, event: &Event) {
        let decoded = Line::parse(line.as_str().as_bytes()).map(|line| line.decode::<FromCli>());
        if let Ok(Decoded::Known(FromCli::User(user))) = decoded {
            self.user(&user, event);
        }
    }

    fn system(&mut self, system: &SystemMessage, event: &Event) {
        let (tone, text) = match system {
            SystemMessage::CompactBoundary(boundary) => {
                let before = tokens(boundary.compact_metadata.pre_tokens);
                (Tone::Quiet, format!("The conversation was compacted; it had {before} tokens."))
            }
            SystemMessage::ApiRetry(retry) => {
                let why = retry.error_status.map_or(String::new(), |status| format!(" ({status})"));
                let text = format!(
                    "The model could not be reached{why}; it is tried again, {} of {}.",
                    retry.attempt, retry.max_retries
                );
                (Tone::Bad, text)
            }
            SystemMessage::ModelFallback(fallback) => {
                let text = format!(
                    "{} answers instead of {}.",
                    fallback.fallback_model, fallback.original_model
                );
                (Tone::Quiet, text)
            }
            SystemMessage::LocalCommandOutput(output) => (Tone::Quiet, output.content.clone()),
            SystemMessage::TaskNotification(task) => {
                (Tone::Quiet, format!("In the background: {}", task.summary))
            }
            SystemMessage::Notification(notification) => (Tone::Quiet, notification.text.clone()),
            _ => return,
        };
        self.add_note(tone, &text, event);
    }
}

/// What came of a call, if this event has it.
pub(crate) fn outcome(event: &Event, call: &str) -> Option<Outcome> {
    let (result, details) = result(event, call)?;
    Some(Outcome::of(&result, details, event.seq))
}

/// The pictures that came of a call, if this event has them: their kinds, and they.
pub(crate) fn pictures(event: &Event, call: &str) -> Option<Vec<(String, String)>> {
    let (result, _) = result(event, call)?;
    let Some(Content::Blocks(blocks)) = result.content else { return None };
    let picture = |block: ContentBlock| match block {
        ContentBlock::Image(ImageBlock { source: Source::Base64(source), .. }) => {
            is_picture(&source.media_type).then_some((source.media_type, source.data))
        }
        _ => None,
    };
    Some(blocks.into_iter().filter_map(picture).collect())
}

/// Whether a browser is to draw it.
fn is_picture(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

fn result(event: &Event, call: &str) -> Option<(ToolResultBlock, Option<Value>)> {
    let Happening::Frame(frame) = &event.happening else { return None };
    let line = Line::parse(frame.line.as_str().as_bytes()).ok()?;
    let Decoded::Known(FromCli::User(user)) = line.decode::<FromCli>() else { return None };
    let details = user.tool_use_result.as_ref().and_then(json::value);
    let Content::Blocks(blocks) = user.message.content else { return None };
    let found = blocks.into_iter().find_map(|block| match block {
        ContentBlock::ToolResult(result) if result.tool_use_id.as_str() == call => Some(result),
        _ => None,
    });
    Some((found?, details))
}

impl Transcript {
    /// A line that is neither from a person nor from the model.
    pub(super) fn add_note(&mut self, tone: Tone, text: &str, event: &Event) {
        let name = id("n", &event.seq.to_string());
        self.add(None, name, event.at, What::Note(tone, text.to_owned()));
    }
}
