//! Tools that the user answers: questions, and plans to approve.

use std::collections::BTreeMap;

use countersign_protocol_derive::WireObject;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::names::open_enum;
use crate::wire::{Extra, FromWire, Place, TextOrList};

/// Asks the user one to four questions.
///
/// The CLI puts the call to the host in every mode but `dontAsk`, which refuses it; from 2.1.197
/// on a hook can answer first. The answer is an allow whose `updatedInput` is the whole input with
/// [`answers`](Self::answers) added. Without the [`questions`](Self::questions) newer versions
/// refuse it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct AskUserQuestionInput {
    /// The questions.
    pub questions: Vec<Question>,
    /// The answers, each under the text of its question. A key that is no question's text is no
    /// answer. With an empty map the model is told that the user did not answer.
    ///
    /// Absent when the model asks; versions up to 2.1.62 ask the host even if a hook has filled
    /// it in.
    pub answers: Option<BTreeMap<String, Answer>>,
    /// What is said about answers, under the text of the question.
    pub annotations: Option<BTreeMap<String, Annotation>>,
    /// Where the questions come from.
    pub metadata: Option<QuestionMetadata>,
    /// What the user says instead of answering. Ignored up to 2.1.62.
    pub response: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A question with two to four answers to choose from. Another text is an answer too.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Question {
    /// The question. It is the key of its answer.
    pub question: String,
    /// A label of a word or two.
    pub header: String,
    /// Whether several may be chosen. Absent means one only.
    pub multi_select: Option<bool>,
    /// What to choose from.
    pub options: Vec<QuestionOption>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// One of the answers to choose from.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
    /// What it would look like, to be shown beside it.
    pub preview: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// A label or another text. Several labels are joined by a comma and a space; without the
    /// space 2.1.325 takes them for another text.
    Text(String),
    /// Several labels. The CLI takes it and hands it back, but shows it to the model joined by a
    /// comma alone, so send [`Answer::Text`].
    List(Vec<String>),
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl FromWire for Answer {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        Ok(match TextOrList::from_wire(source, place)? {
            TextOrList::Text(text) => Self::Text(text),
            TextOrList::List(labels) => Self::List(labels),
        })
    }
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Self::from_wire(source, Place::OUTERMOST)
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(sink),
            Self::List(labels) => labels.serialize(sink),
        }
    }
}

/// What is said about the answer to a question.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Annotation {
    /// What the user adds. The model is shown it.
    pub notes: Option<String>,
    /// The preview of the answer that was chosen. The model is shown it from 2.1.197 on.
    pub preview: Option<String>,
    /// Why there is no answer.
    pub unanswered: Option<Unanswered>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Why a question has no answer.
    Unanswered {
        /// The user passed over it.
        Skipped = "skipped",
        /// The user wrote a message instead.
        RepliedInChat = "replied_in_chat",
        /// The user closed it.
        Dismissed = "dismissed",
    }
}

/// Where questions come from.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct QuestionMetadata {
    /// The part of the CLI that asks.
    pub source: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Switches to plan mode. No version asks the host about it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct EnterPlanModeInput {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Puts a plan to the user and, when it is allowed, leaves plan mode.
///
/// The CLI fills in the plan from the file that the model wrote it to; what the model itself put
/// there is overwritten. Without such a file the input is empty. To deny is to ask for another
/// plan: the model reads the message and plan mode stays.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExitPlanModeInput {
    /// The plan. Sent back changed, it replaces the text and the file from 2.1.197 on; 2.1.62
    /// ignores the change.
    pub plan: Option<String>,
    /// The file that holds the plan. Not sent by 2.1.62.
    pub plan_file_path: Option<String>,
    /// What the model would like to be allowed with the plan. It grants nothing by itself, and
    /// newer versions no longer ask the model for it.
    pub allowed_prompts: Option<Vec<AllowedPrompt>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Something that the model would like to be allowed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct AllowedPrompt {
    /// The tool, such as `Bash`.
    pub tool: String,
    /// What it would do, in words, such as "run the tests".
    pub prompt: String,
    /// Fields this type does not name.
    pub extra: Extra,
}
