//! The conversation: ask beside it, cut it back, export it, rate it.

use countersign_protocol_derive::WireObject;

use crate::ids::MessageUuid;
use crate::names::open_enum;
use crate::wire::Extra;

/// Asks the model something beside the conversation, which stays as it is. From 2.1.197 on.
/// *Unstable.*
///
/// One at a time: a second one is refused with
/// [`ErrorCode::SideQuestionBusy`](super::ErrorCode::SideQuestionBusy). Cancelling the request
/// stops it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SideQuestion {
    /// The question.
    pub question: String,
    /// Earlier questions and their answers, which the CLI does not keep.
    pub history: Option<Vec<SideExchange>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An earlier question beside the conversation, and its answer.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SideExchange {
    /// The question.
    pub question: String,
    /// The answer.
    pub response: String,
    /// What was said about another model having answered.
    pub fallback_notice: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`SideQuestion`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SideQuestionResponse {
    /// What the model says. `null` when there is no answer.
    pub response: Option<String>,
    /// Whether the text is the CLI's and not the model's.
    pub synthetic: bool,
    /// That another model answered, because the first one refused.
    pub refusal_fallback: Option<RefusalFallback>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// That another model answered, because the first one refused.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RefusalFallback {
    /// The model that refused.
    pub original_model: String,
    /// The model that answered.
    pub fallback_model: String,
    /// What to tell a person.
    pub content: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks for the plan file of the session. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetPlan {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetPlan`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetPlanResponse {
    /// Whether there is a plan.
    pub exists: bool,
    /// The plan.
    pub content: Option<String>,
    /// Where it is.
    pub path: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Cuts the conversation back to before a message. *Unstable.*
///
/// Files stay as they are; [`RewindFiles`](super::RewindFiles) is for those.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RewindConversation {
    /// The message.
    pub target_message_uuid: MessageUuid,
    /// The last message of the user that the client knows of.
    pub last_seen_user_message_uuid: Option<MessageUuid>,
    /// When the request loses its meaning, as an ISO 8601 time.
    pub expires_at: Option<String>,
    /// Whether a message may be named that a summary has replaced.
    pub allow_summarized_target: Option<bool>,
    /// Whether a message of the model may be named.
    pub allow_assistant_target: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`RewindConversation`]. A success response does not mean that it was done.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RewindConversationResponse {
    /// Whether it was done.
    pub rewound: bool,
    /// The message. Absent when it was not done.
    pub target_message_uuid: Option<MessageUuid>,
    /// The text of the message, to be edited and sent again.
    pub prefill_text: Option<String>,
    /// The last message of the model that is left, if any.
    pub preceding_assistant_uuid: Option<MessageUuid>,
    /// Why it was not done, for a person.
    pub error: Option<String>,
    /// Why it was not done, such as `target_not_found`.
    pub reason: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Branches the conversation off into a session of its own. *Unstable.*
///
/// Over local stdio it is answered with success and `forked: false`; there,
/// `--resume` with `--fork-session` does it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ForkConversation {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`ForkConversation`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ForkConversationResponse {
    /// Whether it was done.
    pub forked: bool,
    /// What went wrong, such as `unsupported`.
    pub error: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks for the conversation as the terminal would show it. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ExportConversation {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`ExportConversation`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ExportConversationResponse {
    /// The conversation.
    pub text: String,
    /// A name for a file to keep it in.
    pub default_filename: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Holds back suggested prompts, or lets them come again. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetPromptSuggestionsPaused {
    /// Whether they are held back.
    pub paused: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Reports what a person thought of a message. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageRated {
    /// The message.
    pub message_uuid: MessageUuid,
    /// What they thought.
    pub sentiment: Sentiment,
    /// What of it they rated.
    pub surface: Option<RatedSurface>,
    /// Whether they took an earlier rating back.
    pub cleared: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Sends feedback to the vendor. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SubmitFeedback {
    /// What a person has to say.
    pub description: String,
    /// Where they say it, such as `sdk`.
    pub surface: Option<String>,
    /// The draft this was made of.
    pub draft_id: Option<String>,
    /// What kind of feedback it is.
    #[wire(name = "type")]
    pub kind: Option<FeedbackKind>,
    /// A title.
    pub title: Option<String>,
    /// What it is about.
    pub area: Option<String>,
    /// Whether the conversation is sent along.
    pub attach_transcript: Option<bool>,
    /// Whether it is kept on this machine.
    pub save_locally: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`SubmitFeedback`]. A success response does not mean that it was sent.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SubmitFeedbackResponse {
    /// The id of the feedback, if it was sent.
    pub feedback_id: Option<String>,
    /// Why feedback cannot be sent from here.
    pub unavailable_reason: Option<String>,
    /// Why it could not be sent.
    pub failure_reason: Option<String>,
    /// The HTTP status with which it was refused.
    pub status_code: Option<u64>,
    /// Where it was kept on this machine.
    pub bundle_path: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What a person thought of a message.
    Sentiment {
        /// Good.
        Positive = "positive",
        /// Bad.
        Negative = "negative",
    }

    /// What of a message was rated.
    RatedSurface {
        /// A tool call.
        ToolUse = "tool_use",
        /// The text.
        AssistantText = "assistant_text",
    }

    /// A kind of feedback.
    FeedbackKind {
        /// Something is broken.
        Bug = "bug",
        /// Something could be better.
        Idea = "idea",
        /// Something cannot be done.
        MissingCapability = "missing_capability",
    }
}
