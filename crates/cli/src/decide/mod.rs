//! `countersign approve`, `deny` and `answer`: what a person decides.

mod answer;
mod questions;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use countersign::protocol::permission::UpdateDestination;
use countersign_server::client::{Client, ClientError};
use countersign_server::session::{
    Allow, Answer, Approval, ApprovalKind, ChosenSuggestion, Deny, Form, FormAction,
};

pub(crate) use self::answer::Args as AnswerArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::remote::asked::in_a_line;
use crate::remote::happening::said;
use crate::remote::told::told;
use crate::remote::{Remote, file, named, next};
use crate::run::options::Mode;
use crate::words::{one_line, short};

/// Allow what is asked: a tool, or to make a plan first
#[derive(Debug, clap::Args)]
pub(crate) struct Approve {
    /// The approval: its id, or the beginning or the end of it; `countersign inbox` shows them
    id: String,
    /// Do not ask again, as this suggestion says; `countersign inbox` numbers them. Several times
    #[arg(long, value_name = "NUMBER")]
    rule: Vec<usize>,
    /// Where the rules are kept, in the place of where the CLI suggests
    #[arg(long = "in", value_enum, value_name = "PLACE", requires = "rule")]
    place: Option<Place>,
    /// Run the tool with this input instead, a JSON object; - reads it from standard input
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Set this mode with it, for the session
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    #[command(flatten)]
    remote: Remote,
}

/// Where rules are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Place {
    /// For as long as the session lives
    Session,
    /// In the folder, for its user
    Local,
    /// In the folder, for everybody
    Project,
    /// Everywhere, for the user
    User,
}

impl From<Place> for UpdateDestination {
    fn from(place: Place) -> Self {
        match place {
            Place::Session => Self::Session,
            Place::Local => Self::LocalSettings,
            Place::Project => Self::ProjectSettings,
            Place::User => Self::UserSettings,
        }
    }
}

impl Approve {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        self.remote.with(async |client| {
            let asked = named::approval(client, &self.id).await?;
            let answer = self.answer(&asked)?;
            give(client, &asked, answer, output).await
        })
    }

    fn answer(&self, asked: &Approval) -> Result<Answer, Failure> {
        let input = self.input.as_deref().map(file::object).transpose()?;
        match asked.kind {
            ApprovalKind::Tool | ApprovalKind::EnterPlan => {}
            ApprovalKind::Elicitation => {
                return Ok(Answer::Form(Form { action: FormAction::Accept, content: input }));
            }
            ApprovalKind::Plan | ApprovalKind::Question => return Err(elsewhere(asked)),
        }
        let suggestion = |number: &usize| {
            // They are counted from 1 where people read them.
            let number = number
                .checked_sub(1)
                .ok_or_else(|| Failure::new("suggestions are counted from 1").code(Exit::Usage))?;
            Ok(ChosenSuggestion { number, destination: self.place.map(Into::into) })
        };
        let suggestions: Result<Vec<_>, Failure> = self.rule.iter().map(suggestion).collect();
        Ok(Answer::Allow(Allow {
            input,
            suggestions: suggestions?,
            rules: Vec::new(),
            mode: self.mode.map(Into::into),
        }))
    }
}

/// What is asked is answered with another command.
fn elsewhere(asked: &Approval) -> Failure {
    let id = short(asked.id.uuid());
    let (what, hint) = match asked.kind {
        ApprovalKind::Plan => ("a plan", format!("countersign answer {id} --plan accept-edits")),
        ApprovalKind::Question => {
            ("a question", format!("countersign answer {id} --choose 1=LABEL"))
        }
        ApprovalKind::Elicitation => ("a form", format!("countersign answer {id} --form FILE")),
        ApprovalKind::Tool | ApprovalKind::EnterPlan => {
            ("a tool", format!("countersign approve {id}"))
        }
    };
    Failure::new(format!("this is {what}")).hint(format!("Answer it with {hint}")).code(Exit::Usage)
}

/// Refuse what is asked, and say why
#[derive(Debug, clap::Args)]
pub(crate) struct DenyArgs {
    /// The approval: its id, or the beginning or the end of it; `countersign inbox` shows them
    id: String,
    /// What the model is told
    message: Option<String>,
    /// End the turn as well
    #[arg(long)]
    stop: bool,
    #[command(flatten)]
    remote: Remote,
}

impl DenyArgs {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        self.remote.with(async |client| {
            let asked = named::approval(client, &self.id).await?;
            let message = self.message.clone().unwrap_or_default();
            give(client, &asked, Answer::Deny(Deny { message, stop: self.stop }), output).await
        })
    }
}

/// Gives an answer, and says what became of it.
async fn give(
    client: &Client,
    asked: &Approval,
    answer: Answer,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let words = said(&answer);
    let taken = client.answer(asked.id, answer).await.map_err(not_taken)?;
    if output.is_json() {
        output.json(&taken)?;
        return Ok(ExitCode::SUCCESS);
    }
    let session = short(taken.session.uuid());
    output.line(format_args!("{}: {}", in_a_line(asked), one_line(&words, 200)))?;
    output.flush()?;
    match taken.child {
        Some(child) => {
            let child = short(child.uuid());
            next(&format!("it goes on in another session: countersign watch {child}"), output);
        }
        None => next(&format!("what comes of it: countersign watch {session}"), output),
    }
    Ok(ExitCode::SUCCESS)
}

/// Somebody was first, or it is no answer.
fn not_taken(error: ClientError) -> Failure {
    match error.already_answered().and_then(|now| now.given) {
        Some(given) => {
            let (by, what) = (given.by.name(), said(&given.answer));
            Failure::new(format!("{by} was first, at {}: {what}", given.at))
        }
        None => told(error),
    }
}
