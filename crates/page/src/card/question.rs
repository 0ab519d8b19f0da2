//! The card of questions.

use askama::Template;
use countersign_protocol::tool::AskUserQuestionInput;

use super::Card;
use crate::render::{Html, markdown, visible};

pub(super) fn html(card: &Card<'_>) -> Html {
    let request = card.approval.permission().ok();
    let input = request.and_then(|request| request.input.decode::<AskUserQuestionInput>().ok());
    let Some(input) = input else {
        return Html::of_template(&super::Unreadable { request: card.approval.request.as_str() });
    };
    let questions = input.questions.iter().enumerate().map(|(number, question)| Question {
        name: format!("q-{}-{number}", card.approval.id),
        text: question.question.clone(),
        shown: visible::text_of(&question.question),
        header: visible::text_of(&question.header),
        is_several: question.multi_select == Some(true),
        has_previews: question.options.iter().any(|option| option.preview.is_some()),
        options: question
            .options
            .iter()
            .map(|option| Choice {
                label: option.label.clone(),
                shown: visible::text_of(&option.label),
                description: visible::text_of(option.description.as_deref().unwrap_or_default()),
                preview: option.preview.as_deref().map(markdown::html),
            })
            .collect(),
    });
    Html::of_template(&Questions { questions: questions.collect() })
}

struct Question {
    name: String,
    text: String,
    shown: Html,
    header: Html,
    is_several: bool,
    has_previews: bool,
    options: Vec<Choice>,
}

struct Choice {
    label: String,
    shown: Html,
    description: Html,
    preview: Option<Html>,
}

#[derive(Template)]
#[template(path = "card/questions.html")]
struct Questions {
    questions: Vec<Question>,
}
