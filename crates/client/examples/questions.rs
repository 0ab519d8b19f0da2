//! Puts the questions of the model to the terminal.
//!
//! ```sh
//! cargo run -p countersign --example questions -- "Ask me what to call the new crate"
//! ```
//!
//! Answer with a number, several with commas where that is allowed, or a text of your own; an empty
//! line skips the question.
#![expect(clippy::print_stdout, reason = "it asks in the terminal")]

use std::io;

use countersign::SessionBuilder;
use countersign::permission::{AskKind, HandlerFailure, PermissionAnswer, PermissionAsk};
use countersign::permission::{QuestionAnswers, QuestionAsk, QuestionError};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Ask me something".to_owned());
    let outcome = SessionBuilder::new().on_permission(decide).ask(prompt).await?;
    println!("\n{}", outcome.answer());
    Ok(())
}

async fn decide(ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
    match ask.into_kind() {
        AskKind::Questions(ask) => tokio::task::spawn_blocking(move || put(ask)).await?,
        // An error is a denial, with the error as the reason.
        _ => Err("this program only answers questions".into()),
    }
}

fn put(ask: QuestionAsk) -> Result<PermissionAnswer, HandlerFailure> {
    let mut answers = ask.answers();
    for (number, question) in ask.questions().iter().enumerate() {
        println!("\n{}: {}", question.header, question.question);
        let labels: Vec<_> = question.options.iter().map(|option| &*option.label).collect();
        labels.iter().enumerate().for_each(|(at, label)| println!("  {}  {label}", at + 1));
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        answers = answer(answers, number, &labels, line.trim())?;
    }
    Ok(ask.answer(answers)?)
}

/// By number, or as a text of one's own.
fn answer(
    answers: QuestionAnswers,
    number: usize,
    labels: &[&str],
    line: &str,
) -> Result<QuestionAnswers, QuestionError> {
    let index = |word: &str| word.trim().parse::<usize>().ok()?.checked_sub(1);
    let label = |word: &str| labels.get(index(word)?).copied();
    match line.split(',').map(label).collect::<Option<Vec<_>>>() {
        Some(chosen) => answers.choose(number, chosen),
        None if line.is_empty() => Ok(answers),
        None => answers.text(number, line),
    }
}
