//! What is to become of a plan?

use countersign::permission::PlanChoice;
use countersign::protocol::tool::AllowedPrompt;

use super::choices::{Choice, Choices};
use super::field::Field;
use super::{Decision, Reaction};
use crate::run::terminal::keys::Key;
use crate::run::view::line::{Line, Tone};
use crate::run::view::markdown::Markdown;

/// What is to become of a plan?
#[derive(Clone, Debug)]
pub(crate) struct PlanDialog {
    plan: Option<String>,
    is_edited: bool,
    /// What the plan asks to be allowed besides.
    wishes: Vec<String>,
    /// Whether that is granted.
    grant: bool,
    approvals: Vec<PlanChoice>,
    choices: Choices,
    feedback: Option<Field>,
}

impl PlanDialog {
    pub(crate) fn new(
        plan: Option<&str>,
        wishes: &[AllowedPrompt],
        approvals: &[PlanChoice],
    ) -> Self {
        let mut choices: Vec<_> = approvals.iter().map(|choice| approval(*choice)).collect();
        choices.push(Choice::new("No, keep planning", Some('n')).note("and say what to change"));
        if plan.is_some() {
            choices.push(Choice::new("Edit the plan", Some('e')).note("in your editor"));
        }
        Self {
            plan: plan.map(str::to_owned),
            is_edited: false,
            wishes: wishes.iter().map(|wish| format!("{}: {}", wish.tool, wish.prompt)).collect(),
            grant: false,
            approvals: approvals.to_vec(),
            choices: Choices::new(choices),
            feedback: None,
        }
    }

    pub(crate) fn key(&mut self, key: &Key) -> Reaction {
        if let Some(field) = &mut self.feedback {
            match key {
                Key::Escape => self.feedback = None,
                Key::Enter => return Reaction::Decided(Decision::KeepPlanning(said(field))),
                key => {
                    field.key(key);
                }
            }
            return Reaction::Stay;
        }
        match key {
            Key::Escape => {
                return Reaction::Decided(Decision::KeepPlanning(said(&Field::default())));
            }
            Key::Char('v') => return Reaction::Print(self.opening()),
            Key::Char('g') if !self.wishes.is_empty() => self.grant = !self.grant,
            key => {
                if let Some(at) = self.choices.key(key) {
                    return self.choose(at);
                }
            }
        }
        Reaction::Stay
    }

    fn choose(&mut self, at: usize) -> Reaction {
        if let Some(choice) = self.approvals.get(at).copied() {
            let edited = self.plan.clone().filter(|_| self.is_edited);
            let grant = (!self.wishes.is_empty()).then_some(self.grant);
            return Reaction::Decided(Decision::Approve { choice, edited, grant });
        }
        match &self.plan {
            Some(plan) if at > self.approvals.len() => Reaction::Edit(plan.clone(), ".md"),
            _ => {
                self.feedback = Some(Field::default());
                Reaction::Stay
            }
        }
    }

    /// The plan comes back from the editor, and is shown as it is now.
    pub(crate) fn edited(&mut self, text: &str) -> Reaction {
        self.choices.go_to(0);
        if self.plan.as_deref() == Some(text) || text.trim().is_empty() {
            return Reaction::Stay;
        }
        self.plan = Some(text.to_owned());
        self.is_edited = true;
        Reaction::Print(self.opening())
    }

    /// The plan and what it asks for, which stay above the dialog however long they are.
    pub(crate) fn opening(&self) -> Vec<Line> {
        let mut title = Line::of(Tone::Accent, "Claude's plan");
        if self.is_edited {
            title = title.and(Tone::Warn, " (edited by you)");
        }
        let mut lines = vec![Line::new(), title, Line::new()];
        match &self.plan {
            Some(plan) => {
                lines.extend(Markdown::text(plan).into_iter().map(|line| line.indented(2)));
            }
            None => lines.push(Line::of(Tone::Dim, "  There is none; Claude wants to begin.")),
        }
        lines.push(Line::new());
        if !self.wishes.is_empty() {
            lines.push(Line::of(Tone::Plain, "With it Claude would like to be allowed:"));
            lines.extend(self.wishes.iter().map(|wish| Line::of(Tone::Accent, wish).indented(2)));
            lines.push(Line::new());
        }
        lines
    }

    pub(crate) fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if !self.wishes.is_empty() {
            let things = match self.wishes.len() {
                1 => "The one thing".to_owned(),
                many => format!("The {many} things"),
            };
            let asked = Line::of(Tone::Plain, &format!("{things} above that it asks for: "));
            let (tone, granted) = if self.grant {
                (Tone::Warn, "granted, but not for a new conversation")
            } else {
                (Tone::Plain, "not granted")
            };
            lines.push(asked.and(tone, granted).and(Tone::Dim, " (g changes it)").kept());
        }
        if let Some(field) = &self.feedback {
            lines.push(Line::of(Tone::Plain, "What should Claude change?").kept());
            lines.extend(field.lines("> ", Tone::Plain));
            lines.push(Line::of(Tone::Dim, "Enter says this · Esc goes back").kept());
            return lines;
        }
        lines.push(Line::of(Tone::Plain, "What should become of the plan?").kept());
        lines.extend(self.choices.lines(|_| ""));
        let keys = "↑↓ Enter, a number or a letter · v shows it again · Esc keeps planning";
        lines.push(Line::of(Tone::Dim, keys).kept());
        lines
    }
}

fn approval(choice: PlanChoice) -> Choice {
    match choice {
        PlanChoice::ClearContextAndAcceptEdits => {
            Choice::new("Yes, clear the context and accept edits", Some('c'))
                .note("it begins anew with the plan alone")
        }
        PlanChoice::AcceptEdits => Choice::new("Yes, and accept edits", Some('a')),
        PlanChoice::ApproveManually => Choice::new("Yes, and approve each edit by hand", Some('y')),
        _ => Choice::new("Yes", None),
    }
}

fn said(field: &Field) -> String {
    match field.text().trim() {
        "" => "The user wants to keep planning.".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [PlanChoice; 3] = [
        PlanChoice::ClearContextAndAcceptEdits,
        PlanChoice::AcceptEdits,
        PlanChoice::ApproveManually,
    ];

    fn dialog() -> PlanDialog {
        let wishes = serde_json::from_str(r#"[{"tool":"Bash","prompt":"run the tests"}]"#).unwrap();
        let wishes: Vec<AllowedPrompt> = wishes;
        PlanDialog::new(Some("# Plan\n\n1. Do it.\n"), &wishes, &ALL)
    }

    fn approved(choice: PlanChoice) -> Reaction {
        Reaction::Decided(Decision::Approve { choice, edited: None, grant: Some(false) })
    }

    #[test]
    fn the_choices_of_the_terminal() {
        assert_eq!(dialog().key(&Key::Enter), approved(PlanChoice::ClearContextAndAcceptEdits));
        assert_eq!(dialog().key(&Key::Char('2')), approved(PlanChoice::AcceptEdits));
        assert_eq!(dialog().key(&Key::Char('y')), approved(PlanChoice::ApproveManually));
        let mut dialog = dialog();
        assert_eq!(dialog.key(&Key::Char('4')), Reaction::Stay);
        dialog.key(&Key::Paste("smaller".to_owned()));
        let feedback = Decision::KeepPlanning("smaller".to_owned());
        assert_eq!(dialog.key(&Key::Enter), Reaction::Decided(feedback));
    }

    #[test]
    fn a_plan_in_other_words_is_what_is_approved() {
        let mut dialog = dialog();
        let before = Reaction::Edit("# Plan\n\n1. Do it.\n".to_owned(), ".md");
        assert_eq!(dialog.key(&Key::Char('e')), before);
        assert!(matches!(dialog.edited("# Plan\n\n1. Do less.\n"), Reaction::Print(_)));
        dialog.key(&Key::Char('g'));
        let Reaction::Decided(Decision::Approve { edited, grant, .. }) = dialog.key(&Key::Enter)
        else {
            panic!("it is approved")
        };
        assert_eq!((edited.as_deref(), grant), (Some("# Plan\n\n1. Do less.\n"), Some(true)));
    }

    #[test]
    fn what_is_asked_for_stays_above_however_much_it_is() {
        let wish = r#"{"tool":"Bash","prompt":"run the tests"}"#;
        let wishes = format!("[{}]", vec![wish; 50].join(","));
        let wishes: Vec<AllowedPrompt> = serde_json::from_str(&wishes).unwrap();
        let dialog = PlanDialog::new(Some("1. Do it."), &wishes, &ALL);
        let text = |lines: Vec<Line>| lines.iter().map(Line::text).collect::<Vec<_>>().join("\n");
        assert_eq!(text(dialog.opening()).matches("Bash: run the tests").count(), 50);
        let panel = text(dialog.lines());
        assert!(panel.lines().count() < 10, "{panel}");
        assert!(panel.contains("50 things above that it asks for: not granted"), "{panel}");
    }

    #[test]
    fn without_a_plan_there_is_yes_and_no() {
        let mut dialog = PlanDialog::new(None, &[], &[PlanChoice::ApproveManually]);
        let choice = PlanChoice::ApproveManually;
        let approved = Decision::Approve { choice, edited: None, grant: None };
        assert_eq!(dialog.key(&Key::Char('1')), Reaction::Decided(approved));
        assert_eq!(dialog.key(&Key::Char('3')), Reaction::Stay);
        assert!(matches!(dialog.key(&Key::Escape), Reaction::Decided(Decision::KeepPlanning(_))));
    }
}
