//! What was decided, in words.

use countersign_server::session::{Answer, By, CallOutcome, FormAction, PlanWay, QuestionAnswer};

/// What was decided about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// In a few words, for its line; nothing if nobody was asked.
    pub short: Option<String>,
    /// With everything that was said.
    pub whole: String,
}

impl Decided {
    /// Somebody was asked, and this is what they said.
    #[must_use]
    pub fn by_answer(answer: &Answer, by: &By) -> Self {
        let short = begin_small(&format!("{} {}", given(answer), who(by)));
        Self { short: Some(short), whole: format!("{}.", decided(answer, by)) }
    }

    /// Nobody was asked, and this is why.
    #[must_use]
    pub fn by_rule(rule: &str, outcome: CallOutcome) -> Self {
        let did = match outcome {
            CallOutcome::Ran | CallOutcome::Failed => "Ran without asking",
            CallOutcome::Refused => "Refused without asking",
            CallOutcome::Unknown => "Nobody was asked",
        };
        let whole = match (rule.strip_prefix("mode "), outcome) {
            (Some(mode), _) => format!("{did}, in the mode {mode}."),
            // What the CLI says of a refusal is a sentence, and not always a rule.
            (None, CallOutcome::Refused) => format!("{did}: {rule}"),
            (None, _) => format!("{did}, by the rule {rule}."),
        };
        Self { short: None, whole }
    }
}

/// What was decided, by whom, and what was said with it.
#[must_use]
pub fn decided(answer: &Answer, by: &By) -> String {
    with_words(format!("{} {}", given(answer), who(by)), answer)
}

/// What was decided, and what was said with it.
#[must_use]
pub fn in_words(answer: &Answer) -> String {
    with_words(given(answer).to_owned(), answer)
}

fn with_words(deed: String, answer: &Answer) -> String {
    let answers;
    let said = match answer {
        Answer::Deny(deny) => deny.message.as_str(),
        Answer::KeepPlanning(more) => more.feedback.as_str(),
        Answer::Reply(reply) => reply.text.as_str(),
        Answer::Answers(given) => {
            answers = given.iter().map(chosen).collect::<Vec<_>>().join("; ");
            answers.as_str()
        }
        _ => "",
    };
    match said.trim() {
        "" => deed,
        said => format!("{deed}: “{said}”"),
    }
}

/// What was chosen and written to answer a question.
fn chosen(answer: &QuestionAnswer) -> String {
    let chosen = answer.choose.iter().chain(&answer.text).map(String::as_str);
    chosen.collect::<Vec<_>>().join(", ")
}

fn who(by: &By) -> String {
    match by {
        By::Rule { rule } => format!("by the rule {rule}"),
        By::Expiry => "because nobody answered in time".to_owned(),
        other => format!("by {}", other.name()),
    }
}

const fn given(answer: &Answer) -> &'static str {
    match answer {
        Answer::Allow(allow) if allow.input.is_some() => "Allowed with another input",
        Answer::Allow(allow) if !allow.suggestions.is_empty() || !allow.rules.is_empty() => {
            "Allowed, with a rule"
        }
        Answer::Allow(_) => "Allowed once",
        Answer::Deny(deny) if deny.stop => "Denied and stopped",
        Answer::Deny(_) => "Denied",
        Answer::Plan(plan) => match (plan.choice, plan.plan.is_some()) {
            (PlanWay::ClearContext, _) => "Plan approved, to be carried out in a new session",
            (PlanWay::AcceptEdits, false) => "Plan approved, edits need no approval",
            (PlanWay::AcceptEdits, true) => "Plan edited and approved, edits need no approval",
            (PlanWay::ApproveManually, false) => "Plan approved, each edit is asked for",
            (PlanWay::ApproveManually, true) => "Plan edited and approved, each edit is asked for",
        },
        Answer::KeepPlanning(_) => "Plan sent back",
        Answer::Answers(_) => "Answered",
        Answer::Reply(_) => "Replied",
        Answer::Skip(_) => "Skipped",
        Answer::Form(form) => match form.action {
            FormAction::Accept => "Form filled in",
            FormAction::Decline => "Form declined",
            FormAction::Cancel => "Form put away",
        },
    }
}

/// Words that go on in the middle of a line.
fn begin_small(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(characters).collect()
}
