//! The forms of an answer.

use serde_json::{Value, json};

use super::super::puppet::{deny, turn};
use super::super::{Fact, Outcome, Trial, V62, V197, V325};
use super::answered;
use crate::lab::Launch;

const UNANSWERED: &str = "The user did not answer the questions.";

pub(super) const FACTS: &[Fact] = &[
    Fact::always("strings", r#""Which color?"="Green", "Which fruits?"="Apple, Plum""#),
    Fact::always("strings are taken as", "labels").since(V325),
    Fact::always("an array", r#""Which color?"="Green", "Which fruits?"="Apple,Plum""#),
    Fact::always(
        "labels with a bare comma",
        r#""Which color?"="Green", "Which fruits?"="Apple,Plum""#,
    ),
    Fact::always("labels with a bare comma are taken as", "free text").since(V325),
    Fact::always("free text", r#""Which color?"="A dark one", "Which fruits?"="Apple""#),
    Fact::always("notes are read", "true"),
    Fact::by_version("a preview is read", &[(V62, "false"), (V197, "true")]),
    Fact::by_version("a response", &[(V62, ""), (V197, "The user responded: Let us talk.")]),
    Fact::by_version("no answers", &[(V62, ""), (V197, UNANSWERED)]),
    Fact::by_version("answers by header", &[(V62, ""), (V197, UNANSWERED)]),
    Fact::by_version("answers without the questions", &[(V62, "read"), (V197, "tool error")]),
    Fact::always("deny", "Not today."),
    Fact::always("EnterPlanMode asks", "false"),
    Fact::always("EnterPlanMode tells", "plan"),
];

/// An answer: its name, and the fields that are added to the input.
type Form = (&'static str, fn() -> Value);

const FORMS: &[Form] = &[
    ("strings", || json!({"answers": {"Which color?": "Green", "Which fruits?": "Apple, Plum"}})),
    (
        "an array",
        || json!({"answers": {"Which color?": "Green", "Which fruits?": ["Apple", "Plum"]}}),
    ),
    (
        "labels with a bare comma",
        || json!({"answers": {"Which color?": "Green", "Which fruits?": "Apple,Plum"}}),
    ),
    ("free text", || json!({"answers": {"Which color?": "A dark one", "Which fruits?": "Apple"}})),
    ("a response", || json!({"answers": {}, "response": "Let us talk."})),
    ("no answers", || json!({})),
    ("answers by header", || json!({"answers": {"Color": "Green", "Fruits": "Apple"}})),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    for (name, fields) in FORMS {
        let turn = turn(&mut cli, "Ask me.", |request| answered(request, &fields())).await?;
        let read = turn.read();
        let (words, taken_as) = told(&read);
        trial.found(name, words);
        trial.found(&format!("{name} are taken as"), taken_as);
    }
    let notes = json!({
        "answers": {"Which color?": "Green", "Which fruits?": "Apple"},
        "annotations": {"Which color?": {"notes": "a dark one", "preview": "like this"}},
    });
    let annotated = turn(&mut cli, "Ask me.", |request| answered(request, &notes)).await?;
    trial.found("notes are read", annotated.read().contains("a dark one"));
    trial.found("a preview is read", annotated.read().contains("like this"));
    let alone = turn(
        &mut cli,
        "Ask me.",
        |_| json!({"behavior": "allow", "updatedInput": super::green_and_apple()}),
    );
    let alone = alone.await?;
    let says = if alone.failed() { "tool error" } else { "read" };
    trial.found("answers without the questions", says);
    let denied = turn(&mut cli, "Ask me.", deny).await?;
    trial.found("deny", denied.read());

    let entered = turn(&mut cli, "Think first.", deny).await?;
    trial.found("EnterPlanMode asks", entered.asked());
    trial.found("EnterPlanMode tells", entered.told_modes().join(", "));
    cli.close().await?;
    Ok(())
}

/// What the model reads of the answers, without the words around them, and what they are taken as.
fn told(read: &str) -> (&str, &'static str) {
    let of = |before: &str, after: &str| {
        let rest = read.strip_prefix(before)?;
        rest.split_once(after).map(|(words, _)| words)
    };
    let picked = of("Your questions have been answered: ", ". You can now continue")
        .or_else(|| of("User has answered your questions: ", ". You can now continue"));
    let free = of("The user answered: ", ". Read the answers carefully");
    match (picked, free) {
        (Some(words), _) => (words, "labels"),
        (None, Some(words)) => (words, "free text"),
        (None, None) => (read, "something else"),
    }
}
