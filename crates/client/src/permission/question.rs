//! Questions that the model asks.

use std::collections::BTreeMap;

use countersign_protocol::RawJson;
use countersign_protocol::tool::{Annotation, Answer, AskUserQuestionInput, Question};
use thiserror::Error;

use super::answer::PermissionAnswer;
use super::ask::PermissionAsk;
use super::handler::AnswerError;

/// The model has one to four questions.
///
/// ```
/// # use countersign::permission::{AnswerError, PermissionAnswer, QuestionAsk};
/// fn answer(ask: QuestionAsk) -> Result<PermissionAnswer, AnswerError> {
///     let mut answers = ask.answers();
///     for (number, question) in ask.questions().iter().enumerate() {
///         answers = answers.choose(number, [&*question.options[0].label])?;
///     }
///     ask.answer(answers)
/// }
/// ```
#[derive(Debug)]
pub struct QuestionAsk {
    ask: PermissionAsk,
    input: AskUserQuestionInput,
}

/// Answers to the questions of one [`QuestionAsk`], checked as they are given.
#[derive(Debug, Clone)]
#[must_use = "give them to the question that they answer"]
pub struct QuestionAnswers {
    questions: Vec<Question>,
    answers: BTreeMap<String, Answer>,
    annotations: BTreeMap<String, Annotation>,
}

/// Why an answer does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// There is no such question.
    #[error("there is no question {number}, but {count}, counted from 0")]
    NoSuchQuestion {
        /// What was asked for.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// There is no such answer to choose.
    #[error(
        "{label:?} is not among the answers to {question:?}: choose one of {labels:?}, or give a text of your own"
    )]
    NoSuchLabel {
        /// The question.
        question: String,
        /// What was chosen.
        label: String,
        /// What can be chosen.
        labels: Vec<String>,
    },
    /// Only one answer can be chosen.
    #[error("{question:?} takes one answer, and {count} were chosen")]
    NotSeveral {
        /// The question.
        question: String,
        /// How many were chosen.
        count: usize,
    },
    /// The answers were made for other questions.
    #[error("the answers are those to other questions than were asked")]
    OtherQuestions,
    /// Nothing was chosen.
    #[error("nothing was chosen for {question:?}: leave the question out to skip it")]
    Empty {
        /// The question.
        question: String,
    },
}

impl QuestionAsk {
    pub(super) fn new(ask: PermissionAsk, input: AskUserQuestionInput) -> Self {
        Self { ask, input }
    }

    /// The questions.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.input.questions
    }

    /// The ask behind it.
    #[must_use]
    pub fn ask(&self) -> &PermissionAsk {
        &self.ask
    }

    /// The ask behind it, to be answered like any other.
    #[must_use]
    pub fn into_ask(self) -> PermissionAsk {
        self.ask
    }

    /// No answers yet.
    pub fn answers(&self) -> QuestionAnswers {
        QuestionAnswers {
            questions: self.input.questions.clone(),
            answers: BTreeMap::new(),
            annotations: BTreeMap::new(),
        }
    }

    /// Answers. A question without an answer is skipped, and the model is told that it was.
    ///
    /// # Errors
    /// When the answers were made for other questions.
    pub fn answer(self, answers: QuestionAnswers) -> Result<PermissionAnswer, AnswerError> {
        let QuestionAnswers { questions, answers, annotations } = answers;
        if questions != self.input.questions {
            return Err(QuestionError::OtherQuestions.into());
        }
        let mut added = vec![("answers", serde_json::value::to_raw_value(&answers)?)];
        if !annotations.is_empty() {
            added.push(("annotations", serde_json::value::to_raw_value(&annotations)?));
        }
        self.allow_with(added)
    }

    /// Says something instead of answering. 2.1.62 tells the model only that nobody answered.
    ///
    /// # Errors
    /// When the input of the ask is not an object, which it always was.
    pub fn reply(self, text: impl Into<String>) -> Result<PermissionAnswer, AnswerError> {
        let empty: BTreeMap<String, Answer> = BTreeMap::new();
        let added = vec![
            ("answers", serde_json::value::to_raw_value(&empty)?),
            ("response", serde_json::value::to_raw_value(&text.into())?),
        ];
        self.allow_with(added)
    }

    /// Answers nothing; the model is told so and goes on.
    ///
    /// # Errors
    /// When the input of the ask is not an object, which it always was.
    pub fn skip(self) -> Result<PermissionAnswer, AnswerError> {
        let none = self.answers();
        self.answer(none)
    }

    /// Allows with the whole input and these fields: newer versions refuse answers without the
    /// questions.
    fn allow_with(
        self,
        added: Vec<(&str, Box<serde_json::value::RawValue>)>,
    ) -> Result<PermissionAnswer, AnswerError> {
        let mut fields: BTreeMap<String, Box<serde_json::value::RawValue>> =
            serde_json::from_str(self.ask.input().as_str())?;
        fields.extend(added.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let input = RawJson::from_value(&fields)?;
        self.ask.allow_with_input(input)
    }
}

impl QuestionAnswers {
    /// Chooses from the answers that are offered, by their labels. Questions are counted from 0.
    ///
    /// Where one answer is chosen that has a preview, the model is shown the preview again (not by
    /// 2.1.62).
    ///
    /// # Errors
    /// When there is no such question or label, or several are chosen where one is wanted.
    pub fn choose<'a>(
        self,
        question: usize,
        labels: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, QuestionError> {
        let labels: Vec<_> = labels.into_iter().collect();
        let asked = self.question(question)?;
        let name = || asked.question.clone();
        if labels.is_empty() {
            return Err(QuestionError::Empty { question: name() });
        }
        if labels.len() > 1 && asked.multi_select != Some(true) {
            return Err(QuestionError::NotSeveral { question: name(), count: labels.len() });
        }
        let offered = || asked.options.iter().map(|option| option.label.as_str());
        if let Some(label) = labels.iter().find(|label| !offered().any(|offer| offer == **label)) {
            return Err(QuestionError::NoSuchLabel {
                question: name(),
                label: (*label).to_owned(),
                labels: offered().map(str::to_owned).collect(),
            });
        }
        let preview = match labels.as_slice() {
            [one] => asked.options.iter().find(|option| option.label == *one),
            _ => None,
        };
        let preview = preview.and_then(|option| option.preview.clone());
        // With the space: without it 2.1.325 takes several labels for a text of its own.
        self.put(question, labels.join(", "), preview)
    }

    /// Gives a text of one's own as the answer.
    ///
    /// # Errors
    /// When there is no such question, or the text is empty.
    pub fn text(self, question: usize, text: impl Into<String>) -> Result<Self, QuestionError> {
        let text = text.into();
        if text.trim().is_empty() {
            let question = self.question(question)?.question.clone();
            return Err(QuestionError::Empty { question });
        }
        self.put(question, text, None)
    }

    /// Adds a note to the answer, which the model reads with it.
    ///
    /// # Errors
    /// When there is no such question.
    pub fn note(mut self, question: usize, note: impl Into<String>) -> Result<Self, QuestionError> {
        let key = self.question(question)?.question.clone();
        let annotation = self.annotations.entry(key).or_default();
        annotation.notes = Some(note.into());
        Ok(self)
    }

    /// How many questions have an answer.
    #[must_use]
    pub fn count(&self) -> usize {
        self.answers.len()
    }

    fn question(&self, number: usize) -> Result<&Question, QuestionError> {
        let count = self.questions.len();
        self.questions.get(number).ok_or(QuestionError::NoSuchQuestion { number, count })
    }

    fn put(
        mut self,
        question: usize,
        answer: String,
        preview: Option<String>,
    ) -> Result<Self, QuestionError> {
        let key = self.question(question)?.question.clone();
        if preview.is_some() || self.annotations.contains_key(&key) {
            self.annotations.entry(key.clone()).or_default().preview = preview;
        }
        self.answers.insert(key, Answer::Text(answer));
        Ok(self)
    }
}
