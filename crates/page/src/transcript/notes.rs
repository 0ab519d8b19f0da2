//! What happens beside what is said: small lines.

use countersign_protocol::permission::PermissionUpdate;
use countersign_server::session::{
    Answer, ApprovalEnd, ApprovalKind, By, CallOutcome, Event, Happening, Parent, TurnEnd,
    TurnEnded, rule_text,
};

use super::Transcript;
use super::item::What;
use crate::call::Stage;
use crate::decision::{Decided, decided};
use crate::render::words::{cost, duration};

/// How a line sounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// It is good to know.
    Quiet,
    /// Somebody did something.
    Deed,
    /// Something went wrong.
    Bad,
}

impl Tone {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Deed => "deed",
            Self::Bad => "bad",
        }
    }
}

impl Transcript {
    /// What happens, if it is worth a line.
    pub(super) fn note(&mut self, happening: &Happening, event: &Event) {
        let is_said = self.is_on_a_call(happening) || self.is_said_of_the_process(happening);
        if let Some((tone, text)) = words(happening).filter(|_| !is_said) {
            self.add_note(tone, &text, event);
        }
        self.about_calls(happening);
    }

    /// What happens to calls.
    pub(super) fn about_calls(&mut self, happening: &Happening) {
        match happening {
            Happening::ApprovalOpened(opened) => {
                let call = opened.tool_use_id.clone();
                self.update(call.as_deref(), |call| call.stage = Stage::Asked);
                self.approvals.insert(opened.approval, (opened.kind, call));
            }
            Happening::ApprovalAnswered(answered) => {
                let decided = Decided::by_answer(&answered.answer, &answered.by);
                let is_refused = matches!(
                    answered.answer,
                    Answer::Deny(_) | Answer::KeepPlanning(_) | Answer::Skip(_)
                );
                let stage = if is_refused { Stage::Refused } else { Stage::Running };
                let call =
                    self.approvals.get(&answered.approval).and_then(|(_, call)| call.clone());
                self.update(call.as_deref(), |call| {
                    call.decided = Some(decided);
                    call.stage = stage;
                });
            }
            Happening::ToolDecided(tool) => {
                let by = match &tool.by {
                    By::Rule { rule } => Some(Decided::by_rule(rule, tool.outcome)),
                    _ => None,
                };
                let stage = match tool.outcome {
                    CallOutcome::Ran => Stage::Ran,
                    CallOutcome::Failed => Stage::Failed,
                    CallOutcome::Refused => Stage::Refused,
                    CallOutcome::Unknown => Stage::Unknown,
                };
                self.update(Some(&tool.tool_use_id), |call| {
                    call.stage = stage;
                    call.decided = by;
                });
                self.calls.remove(&tool.tool_use_id);
            }
            Happening::ApprovalClosed(closed) => drop(self.approvals.remove(&closed.approval)),
            _ => {}
        }
    }

    /// Whether the line before it says of the process what this says of the session.
    fn is_said_of_the_process(&self, happening: &Happening) -> bool {
        let Happening::Failed(failed) = happening else { return false };
        let last = self.top.last().and_then(|last| self.item(*last));
        matches!(last.map(|last| &last.what), Some(What::Note(Tone::Bad, text)) if text.ends_with(&failed.why))
    }

    /// Whether it stands on the line of a call already.
    fn is_on_a_call(&self, happening: &Happening) -> bool {
        let Happening::ApprovalAnswered(answered) = happening else { return false };
        let asked = self.approvals.get(&answered.approval);
        asked.is_some_and(|(kind, call)| {
            let is_known = call.as_ref().is_some_and(|call| self.calls.contains_key(call));
            *kind == ApprovalKind::Tool && is_known
        })
    }
}

/// The line for something that happens, if it has one.
fn words(happening: &Happening) -> Option<(Tone, String)> {
    let (tone, text) = match happening {
        Happening::Created(created) => {
            let from = match &created.parent {
                Some(Parent::Plan { .. }) => " to carry out a plan, with a clear context",
                Some(Parent::Fork { .. }) => " as a copy of another session",
                None => "",
            };
            (Tone::Quiet, format!("Started by {} in {}{from}.", created.by.name(), created.folder))
        }
        Happening::TurnEnded(ended) => return turn(ended),
        Happening::InterruptAsked(asked) => {
            (Tone::Deed, format!("Interrupted by {}.", asked.by.name()))
        }
        Happening::StopAsked(asked) => (Tone::Deed, format!("Stopped by {}.", asked.by.name())),
        Happening::ResumeAsked(asked) => (Tone::Deed, format!("Resumed by {}.", asked.by.name())),
        Happening::Failed(failed) => (Tone::Bad, failed.why.clone()),
        Happening::Noted(noted) => (Tone::Quiet, noted.text.clone()),
        Happening::Parked(_) => {
            (Tone::Quiet, "Parked: it waits for your answer without a process.".to_owned())
        }
        Happening::GoesOn(_) => (Tone::Quiet, "The turn was cut off, and goes on.".to_owned()),
        Happening::ModeChanged(changed) => (Tone::Quiet, format!("Mode: {}.", changed.mode)),
        Happening::ModelChanged(changed) => {
            let model = changed.model.as_deref().unwrap_or("the CLI's own choice");
            (Tone::Quiet, format!("Model: {model}."))
        }
        Happening::WishRefused(refused) => (Tone::Bad, refused.why.clone()),
        Happening::RulesChanged(changed) => {
            let rules: Vec<String> = changed.updates.iter().filter_map(update).collect();
            if rules.is_empty() {
                return None;
            }
            (Tone::Deed, format!("In force from now on: {}.", rules.join(", ")))
        }
        Happening::ProcessEnded(ended) if ended.failed => {
            (Tone::Bad, format!("The process failed: {}", ended.why))
        }
        Happening::ApprovalAnswered(answered) => {
            (Tone::Deed, format!("{}.", decided(&answered.answer, &answered.by)))
        }
        Happening::ApprovalClosed(closed) => match closed.end {
            ApprovalEnd::Done => return None,
            ApprovalEnd::Cancelled => (Tone::Quiet, "It is not asked any more.".to_owned()),
            ApprovalEnd::Expired => {
                (Tone::Bad, "Nobody answered in time; it was refused.".to_owned())
            }
            ApprovalEnd::Unknown => {
                let text =
                    "The answer went out, and the process ended before it said what became of it.";
                (Tone::Bad, text.to_owned())
            }
        },
        _ => return None,
    };
    Some((tone, text))
}

/// How a turn ended.
fn turn(ended: &TurnEnded) -> Option<(Tone, String)> {
    let mut words = match ended.end {
        TurnEnd::Done => "Done".to_owned(),
        TurnEnd::Failed => "The turn failed".to_owned(),
        TurnEnd::Interrupted => "The turn was interrupted".to_owned(),
        TurnEnd::CutOff => "The turn was cut off".to_owned(),
    };
    if let Some(used) = &ended.used {
        words = format!("{words} · {} · {}", duration(used.duration_ms), cost(used.cost_usd));
    }
    if let Some(why) = &ended.why {
        words = format!("{words}: {why}");
    }
    let tone = if matches!(ended.end, TurnEnd::Done) { Tone::Quiet } else { Tone::Bad };
    Some((tone, words))
}

/// What a change of the permissions is, in words.
fn update(update: &PermissionUpdate) -> Option<String> {
    match update {
        PermissionUpdate::AddRules(change) | PermissionUpdate::ReplaceRules(change) => {
            let rules = change.rules.iter().map(rule_text).collect::<Vec<_>>().join(", ");
            Some(format!("{} {rules}", change.behavior))
        }
        PermissionUpdate::AddDirectories(change) => {
            Some(format!("folder {}", change.directories.join(", ")))
        }
        PermissionUpdate::SetMode(change) => Some(format!("mode {}", change.mode)),
        _ => None,
    }
}
