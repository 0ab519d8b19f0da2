//! `countersign answer`: plans, questions and forms.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, ValueEnum};
use countersign_server::session::{
    Answer, Approval, ApprovalKind, ApprovePlan, Form, FormAction, KeepPlanning, PlanWay, Reply,
    Skip,
};

use super::questions::{Numbered, answers};
use super::{elsewhere, give};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::remote::{Remote, file, named};

/// Answer a question, decide about a plan, fill in a form
///
/// Questions and their answers are numbered as `countersign inbox` shows them. Where there is one
/// question only, its number can be left out: --choose Green.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("questions").args(["choose", "text", "note"]).multiple(true)))]
#[command(group(ArgGroup::new("instead").args(["skip", "reply", "plan", "form", "decline"])))]
pub(crate) struct Args {
    /// The approval: its id, or the beginning or the end of it; `countersign inbox` shows them
    id: String,
    /// With --plan keep: what to change
    #[arg(requires = "plan")]
    feedback: Option<String>,
    /// Choose an answer by its label or number, as 1=Green; several times
    #[arg(
        long,
        value_name = "QUESTION=LABEL",
        help_heading = "Questions",
        conflicts_with = "instead"
    )]
    choose: Vec<Numbered>,
    /// Answer in your own words, as 2="neither"
    #[arg(
        long,
        value_name = "QUESTION=TEXT",
        help_heading = "Questions",
        conflicts_with = "instead"
    )]
    text: Vec<Numbered>,
    /// Add a note to an answer, as 1="but not too dark"
    #[arg(
        long,
        value_name = "QUESTION=TEXT",
        help_heading = "Questions",
        conflicts_with = "instead"
    )]
    note: Vec<Numbered>,
    /// Answer none of the questions
    #[arg(long, help_heading = "Questions")]
    skip: bool,
    /// Say something instead of answering
    #[arg(long, value_name = "TEXT", help_heading = "Questions")]
    reply: Option<String>,
    /// What becomes of the plan
    #[arg(long, value_enum, value_name = "WAY", help_heading = "Plans")]
    plan: Option<Way>,
    /// Approve the plan as it is in this file; - reads it from standard input
    #[arg(long, value_name = "FILE", requires = "plan", help_heading = "Plans")]
    edited: Option<PathBuf>,
    /// Compact the conversation after the turn
    #[arg(long, requires = "plan", help_heading = "Plans")]
    compact: bool,
    /// Allow what the model asks for with the plan, too
    #[arg(long, requires = "plan", help_heading = "Plans")]
    grant: bool,
    /// A picture that shows what to change; several times
    #[arg(long, value_name = "FILE", requires = "plan", help_heading = "Plans")]
    image: Vec<PathBuf>,
    /// Fill in the form with this JSON object; - reads it from standard input
    #[arg(long, value_name = "FILE", help_heading = "Forms")]
    form: Option<PathBuf>,
    /// Do not fill in the form
    #[arg(long, help_heading = "Forms")]
    decline: bool,
    #[command(flatten)]
    remote: Remote,
}

/// What becomes of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// It is carried out here, and edits are accepted
    AcceptEdits,
    /// It is carried out here, and each edit is asked for
    Manual,
    /// It is carried out in a new session that knows nothing else, and edits are accepted
    ClearContext,
    /// It is not good yet: say what to change
    Keep,
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        self.remote.with(async |client| {
            let asked = named::approval(client, &self.id).await?;
            let answer = self.answer(&asked)?;
            give(client, &asked, answer, output).await
        })
    }

    fn answer(&self, asked: &Approval) -> Result<Answer, Failure> {
        let fits = |kind| if asked.kind == kind { Ok(()) } else { Err(elsewhere(asked)) };
        if let Some(way) = self.plan {
            fits(ApprovalKind::Plan)?;
            return self.of_plan(way);
        }
        if let Some(path) = &self.form {
            fits(ApprovalKind::Elicitation)?;
            let content = Some(file::object(path)?);
            return Ok(Answer::Form(Form { action: FormAction::Accept, content }));
        }
        if self.decline {
            fits(ApprovalKind::Elicitation)?;
            return Ok(Answer::Form(Form { action: FormAction::Decline, content: None }));
        }
        if matches!(asked.kind, ApprovalKind::Plan | ApprovalKind::Elicitation) {
            return Err(elsewhere(asked));
        }
        fits(ApprovalKind::Question)?;
        if self.skip {
            return Ok(Answer::Skip(Skip {}));
        }
        if let Some(text) = &self.reply {
            return Ok(Answer::Reply(Reply { text: file::words(text)? }));
        }
        if self.choose.is_empty() && self.text.is_empty() {
            return Err(Failure::new("there is no answer")
                .hint("Answer with --choose 1=LABEL, --text 1=WORDS, --reply WORDS or --skip.")
                .code(Exit::Usage));
        }
        answers(asked, &self.choose, &self.text, &self.note)
    }

    fn of_plan(&self, way: Way) -> Result<Answer, Failure> {
        let choice = match way {
            Way::AcceptEdits => PlanWay::AcceptEdits,
            Way::Manual => PlanWay::ApproveManually,
            Way::ClearContext => PlanWay::ClearContext,
            Way::Keep => return self.keep_planning(),
        };
        if self.feedback.is_some() || !self.image.is_empty() {
            return Err(Failure::new("a plan that is approved is not to be changed")
                .hint("--plan keep sends it back with what you say, --edited approves your own.")
                .code(Exit::Usage));
        }
        let plan = self.edited.as_deref().map(file::text).transpose()?;
        let (grant_prompts, compact) = (self.grant, self.compact);
        Ok(Answer::Plan(ApprovePlan { choice, plan, grant_prompts, compact }))
    }

    fn keep_planning(&self) -> Result<Answer, Failure> {
        if self.edited.is_some() || self.compact || self.grant {
            return Err(Failure::new(
                "--edited, --compact and --grant are for a plan that is approved",
            )
            .code(Exit::Usage));
        }
        let Some(feedback) = &self.feedback else {
            return Err(Failure::new("what is to change is not said")
                .hint("Say it: --plan keep \"shorter, please\"")
                .code(Exit::Usage));
        };
        let feedback = file::words(feedback)?;
        Ok(Answer::KeepPlanning(KeepPlanning { feedback, images: file::images(&self.image)? }))
    }
}
