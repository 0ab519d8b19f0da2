//! `AskUserQuestion`: what the model is told of the answers.

use super::{Shape, ToolResult};
use crate::sim::json::{Json, Object, obj};
use crate::sim::profile::Release;
use crate::sim::state::Sim;

impl Sim {
    /// `AskUserQuestion`.
    pub(super) fn question_tool(&self, input: &Json) -> ToolResult {
        let questions = input.get("questions").and_then(Json::as_array).unwrap_or_default();
        let empty = Object::default();
        let answers = input.get("answers").and_then(Json::as_object).unwrap_or(&empty);
        let response = input.text("response").filter(|_| self.profile.free_answers);
        let structured = obj! {
            "questions"?: input.get("questions"),
            "answers": answers,
            "response"?: response,
            "annotations"?: input.get("annotations"),
        };
        let text = match response {
            Some(response) => format!("The user responded: {response}"),
            None => self.told_answers(questions, answers, input),
        };
        ToolResult::new(text, structured).shaped(Shape::IdLast)
    }

    fn told_answers(&self, questions: &[Json], answers: &Object, input: &Json) -> String {
        let release = self.profile.release;
        let known = |question: &str| {
            questions.iter().find(|known| known.text("question") == Some(question))
        };
        let mut told = Vec::new();
        let mut picked = true;
        for (question, answer) in answers.iter() {
            let known = known(question);
            if known.is_none() && self.profile.tells_unanswered {
                continue;
            }
            picked &= known.is_none_or(|known| is_picked(known, answer));
            let mut entry = vec![format!("\"{question}\"=\"{}\"", joined(answer))];
            let annotation =
                input.get("annotations").and_then(|annotations| annotations.get(question));
            if let Some(annotation) = annotation {
                if let Some(preview) =
                    annotation.text("preview").filter(|_| self.profile.free_answers)
                {
                    entry.push(format!("selected preview:\n{preview}"));
                }
                if let Some(notes) = annotation.text("notes") {
                    let label = if release > Release::V62 { "notes" } else { "user notes" };
                    entry.push(format!("{label}: {notes}"));
                    picked = false;
                }
            }
            told.push(entry.join(" "));
        }
        let told_all = told.join(", ");
        match release {
            Release::V62 => {
                format!(
                    "User has answered your questions: {told_all}. You can now continue with the user's answers in mind."
                )
            }
            _ if told.is_empty() => "The user did not answer the questions.".to_owned(),
            Release::V325 if !picked => format!(
                "The user answered: {told_all}. Read the answers carefully — they may request clarification, changes, or that you not proceed — and follow what they actually say."
            ),
            _ => format!(
                "Your questions have been answered: {told_all}. You can now continue with these answers in mind."
            ),
        }
    }
}

/// An answer as text: several are joined the way JavaScript joins a list.
fn joined(answer: &Json) -> String {
    match answer {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(joined).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Whether an answer is made of the labels that were on offer.
fn is_picked(question: &Json, answer: &Json) -> bool {
    let options = question.get("options").and_then(Json::as_array).unwrap_or_default();
    let is_label = |text: &str| options.iter().any(|option| option.text("label") == Some(text));
    match answer {
        Json::String(text) => is_label(text) || text.split(", ").all(is_label),
        Json::Array(items) => items.iter().all(|item| item.as_str().is_some_and(is_label)),
        _ => false,
    }
}
