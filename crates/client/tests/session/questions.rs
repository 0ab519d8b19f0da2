//! Questions of the model, and what it reads of the answers.

use countersign::permission::{
    AnswerError, AskKind, PermissionAnswer, PermissionAsk, QuestionAsk, QuestionError,
};
use countersign::protocol::permission::PermissionMode;
use countersign::turn::Decision;
use libtest_mimic::Trial;

use crate::asking::{Asked, calls, say, start};
use crate::kit::{Cli, Outcome, V62, V197, builder, close, lab, on_all};

const QUESTIONS: &str = r#"{"questions": [
    {"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Red", "description": "Warm"}, {"label": "Green", "description": "Calm"}]},
    {"question": "Which fruits?", "header": "Fruits", "multiSelect": true, "options": [
        {"label": "Apple", "description": "Round"}, {"label": "Plum", "description": "Small"}]}
]}"#;

const PREVIEW: &str = r#"{"questions": [
    {"question": "Which layout?", "header": "Layout", "multiSelect": false, "options": [
        {"label": "Wide", "description": "Two columns", "preview": "[a][b]"},
        {"label": "Tall", "description": "One column", "preview": "[a]\n[b]"}]}
]}"#;

pub(crate) fn trials() -> Vec<Trial> {
    [
        on_all("questions::one_and_several_are_chosen", V62, chosen),
        on_all("questions::words_of_ones_own_and_notes", V62, words),
        on_all("questions::the_preview_of_what_was_chosen", V197, preview),
        on_all("questions::one_is_left_out", V62, left_out),
        on_all("questions::all_are_skipped", V62, skipped),
        on_all("questions::a_reply_instead", V197, reply),
        on_all("questions::they_are_refused", V62, refused),
        on_all("questions::answers_have_to_fit", V62, fitting),
        on_all("questions::nobody_is_asked_in_dont_ask_mode", V62, dont_ask),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What the model reads when questions are answered like this.
async fn told(
    cli: Cli,
    questions: &str,
    answer: fn(QuestionAsk) -> Result<PermissionAnswer, AnswerError>,
) -> Result<String, libtest_mimic::Failed> {
    let lab = lab(cli, &calls(&[("AskUserQuestion", questions)], "I read: ${result}")).await;
    let handler = move |ask: PermissionAsk| async move {
        match ask.into_kind() {
            AskKind::Questions(ask) => answer(ask),
            other => panic!("{other:?}"),
        }
    };
    let mut session = start(builder(&lab).on_permission(handler)).await?;
    let outcome = say(&mut session, "Ask me.").await?;
    close(session, lab).await;
    Ok(outcome.answer().to_owned())
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

async fn chosen(cli: Cli) -> Outcome {
    let told = told(cli, QUESTIONS, |ask| {
        let answers = ask.answers().choose(0, ["Green"])?.choose(1, ["Apple", "Plum"])?;
        assert_eq!(answers.count(), 2);
        ask.answer(answers)
    });
    let told = told.await?;
    has(&told, &[r#""Which colour?"="Green""#, r#""Which fruits?"="Apple, Plum""#]);
    // Labels are not taken for words of one's own, of which the model is warned.
    assert!(!told.contains("Read the answers carefully"), "{told}");
    Ok(())
}

async fn words(cli: Cli) -> Outcome {
    let told = told(cli, QUESTIONS, |ask| {
        let answers = ask.answers().text(0, "As blue as the sea")?.choose(1, ["Plum"])?;
        let answers = answers.note(1, "only ripe ones")?;
        ask.answer(answers)
    });
    has(&told.await?, &[r#""Which colour?"="As blue as the sea""#, "Plum", "only ripe ones"]);
    Ok(())
}

async fn preview(cli: Cli) -> Outcome {
    let told = told(cli, PREVIEW, |ask| {
        // The last choice counts, with its preview.
        let answers = ask.answers().choose(0, ["Wide"])?.choose(0, ["Tall"])?;
        ask.answer(answers)
    });
    let told = told.await?;
    has(&told, &[r#""Which layout?"="Tall""#, "[a]\n[b]"]);
    assert!(!told.contains("[a][b]"), "{told}");
    Ok(())
}

async fn left_out(cli: Cli) -> Outcome {
    let told = told(cli, QUESTIONS, |ask| {
        let answers = ask.answers().choose(1, ["Apple"])?;
        ask.answer(answers)
    });
    let told = told.await?;
    has(&told, &[r#""Which fruits?"="Apple""#]);
    assert!(!told.contains("Green") && !told.contains("Red"), "{told}");
    Ok(())
}

async fn skipped(cli: Cli) -> Outcome {
    let told = told(cli, QUESTIONS, QuestionAsk::skip).await?;
    assert!(!told.contains("Green") && !told.contains("Apple"), "{told}");
    if cli.version() >= V197 {
        has(&told, &["The user did not answer the questions."]);
    }
    Ok(())
}

async fn reply(cli: Cli) -> Outcome {
    let told = told(cli, QUESTIONS, |ask| ask.reply("Why do you ask?"));
    has(&told.await?, &["Why do you ask?"]);
    Ok(())
}

async fn refused(cli: Cli) -> Outcome {
    let told = told(cli, QUESTIONS, |ask| Ok(ask.into_ask().deny("no questions, please")));
    has(&told.await?, &["no questions, please"]);
    Ok(())
}

/// Answers that do not fit are an error here, and the model is told that nobody answered.
async fn fitting(cli: Cli) -> Outcome {
    let told = told(cli, QUESTIONS, |ask| {
        let answers = || ask.answers();
        let no = |result: Result<_, QuestionError>| result.map(drop).unwrap_err();
        assert!(matches!(no(answers().choose(2, ["Red"])), QuestionError::NoSuchQuestion { .. }));
        assert!(matches!(no(answers().choose(0, ["Blue"])), QuestionError::NoSuchLabel { .. }));
        let both = answers().choose(0, ["Red", "Green"]);
        assert!(matches!(no(both), QuestionError::NotSeveral { count: 2, .. }));
        assert!(matches!(no(answers().choose(1, [])), QuestionError::Empty { .. }));
        assert!(matches!(no(answers().text(0, " ")), QuestionError::Empty { .. }));
        let answers = ask.answers().choose(0, ["Blue"])?;
        ask.answer(answers)
    });
    has(&told.await?, &["is not among the answers"]);
    Ok(())
}

async fn dont_ask(cli: Cli) -> Outcome {
    let lab = lab(cli, &calls(&[("AskUserQuestion", QUESTIONS)], "I read: ${result}")).await;
    let asked = Asked::default();
    let builder = builder(&lab)
        .permission_mode(PermissionMode::DontAsk)
        .on_permission(asked.answering(PermissionAsk::allow));
    let mut session = start(builder).await?;
    let outcome = say(&mut session, "Ask me.").await?;
    assert!(asked.tools().is_empty());
    let [call] = &outcome.tool_calls[..] else { panic!("{outcome:?}") };
    assert_eq!(call.decision, Decision::NotAsked);
    assert!(call.result.as_ref().is_some_and(|result| result.is_error), "{call:?}");
    close(session, lab).await;
    Ok(())
}
