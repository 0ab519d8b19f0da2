//! Commands that change one session.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, IsTerminal as _};

use countersign_server::client::Client;
use countersign_server::service::{ForkSession, Noted};
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::remote::session::title;
use crate::remote::told::told;
use crate::remote::{named, next};
use crate::run::options;
use crate::words::short;

/// Says that it is noted.
fn done(noted: &Noted, words: &str, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return output.json(noted);
    }
    next(&format!("{} {words}", short(noted.session.uuid())), output);
    Ok(())
}

/// Stop a session: its process ends, and what it asks is not asked any more
#[derive(Debug, clap::Args)]
pub(super) struct Stop {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
}

impl Stop {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let id = named::session(client, &self.session).await?.head.id;
        let noted = client.stop(id).await.map_err(told)?;
        done(&noted, "stops; a message, or `sessions resume`, brings it back", output)
    }
}

/// Have a session go on that was stopped or has failed
#[derive(Debug, clap::Args)]
pub(super) struct Resume {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
}

impl Resume {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let id = named::session(client, &self.session).await?.head.id;
        let noted = client.resume(id).await.map_err(told)?;
        done(&noted, "goes on", output)
    }
}

/// End the turn that is running
#[derive(Debug, clap::Args)]
pub(super) struct Interrupt {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
}

impl Interrupt {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let head = named::session(client, &self.session).await?.head;
        let Some(turn) = head.turn else {
            return Err(Failure::new("no turn is running, so there is nothing to interrupt"));
        };
        let noted = client.interrupt(head.id, turn.id).await.map_err(told)?;
        done(&noted, "is interrupted", output)
    }
}

/// Make a copy of a session, of all that was said or up to a message
#[derive(Debug, clap::Args)]
pub(super) struct Fork {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// What the copy begins with; without it, it waits for a message
    prompt: Option<String>,
    /// The last message of the copy, by its uuid; `sessions show --json` has those
    #[arg(long, value_name = "MESSAGE")]
    at: Option<String>,
    /// The title of the copy
    #[arg(long)]
    title: Option<String>,
}

impl Fork {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let id = named::session(client, &self.session).await?.head.id;
        let fork = ForkSession {
            at: self.at.clone(),
            title: self.title.clone(),
            prompt: self.prompt.clone(),
        };
        let made = client.fork(id, &fork).await.map_err(told)?;
        if output.is_json() {
            return output.json(&made);
        }
        output.line(made.session)?;
        output.flush()?;
        let copy = short(made.session.uuid());
        next(&format!("say something in it: countersign send {copy} \"…\""), output);
        Ok(())
    }
}

/// Give a session another title
#[derive(Debug, clap::Args)]
pub(super) struct Rename {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// The title
    title: String,
}

impl Rename {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let id = named::session(client, &self.session).await?.head.id;
        let noted = client.rename(id, &self.title).await.map_err(told)?;
        done(&noted, "has another title", output)
    }
}

/// Give a session other labels
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("change").args(["labels", "add", "remove"]).multiple(true).required(true)))]
pub(super) struct Label {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// All labels that it is to have
    labels: Vec<String>,
    /// Add one, and keep the others; several times
    #[arg(long, value_name = "LABEL", conflicts_with = "labels")]
    add: Vec<String>,
    /// Take one away, and keep the others; several times
    #[arg(long, value_name = "LABEL", conflicts_with = "labels")]
    remove: Vec<String>,
}

impl Label {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let head = named::session(client, &self.session).await?.head;
        let labels: BTreeSet<_> = if self.labels.is_empty() {
            let kept = head.labels.iter().filter(|label| !self.remove.contains(label));
            kept.chain(&self.add).cloned().collect()
        } else {
            self.labels.iter().cloned().collect()
        };
        let words = match labels.is_empty() {
            true => "has no labels".to_owned(),
            false => format!("is {}", labels.iter().cloned().collect::<Vec<_>>().join(", ")),
        };
        let noted = client.label(head.id, labels).await.map_err(told)?;
        done(&noted, &words, output)
    }
}

/// Put a session into the archive
#[derive(Debug, clap::Args)]
pub(super) struct Archive {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// Take it out again
    #[arg(long)]
    undo: bool,
}

impl Archive {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let id = named::session(client, &self.session).await?.head.id;
        let noted = client.archive(id, !self.undo).await.map_err(told)?;
        let words = match self.undo {
            true => "is out of the archive",
            false => "is in the archive; `sessions list --archived` shows it",
        };
        done(&noted, words, output)
    }
}

/// Remove a session with everything that it had; what was decided in it stays in the audit
#[derive(Debug, clap::Args)]
pub(super) struct Delete {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Delete {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let view = named::session(client, &self.session).await?;
        let (id, summary) = (view.head.id, title(&view));
        if !self.yes {
            if !io::stdin().is_terminal() {
                let words = format!("{id} ({summary}) is not deleted: nobody can be asked");
                return Err(Failure::new(words)
                    .hint("With --yes it is deleted without asking.")
                    .code(Exit::NobodyToAsk));
            }
            output.note(format_args!("Delete {id} ({summary}) for good? Type yes:"));
            let mut answer = String::new();
            io::stdin().lock().read_line(&mut answer)?;
            if answer.trim() != "yes" {
                return Err(Failure::new("it is kept"));
            }
        }
        client.delete_session(id).await.map_err(told)?;
        if output.is_json() {
            return output.json(&json!({"session": id, "deleted": true}));
        }
        next(&format!("{} is deleted", short(id.uuid())), output);
        Ok(())
    }
}

/// Bring a session into another permission mode
#[derive(Debug, clap::Args)]
pub(super) struct Mode {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// The mode
    #[arg(value_enum)]
    mode: options::Mode,
}

impl Mode {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let id = named::session(client, &self.session).await?.head.id;
        let noted = client.set_mode(id, self.mode.into()).await.map_err(told)?;
        done(&noted, "is told; `countersign watch` shows when the mode is in force", output)
    }
}

/// Give a session another model
#[derive(Debug, clap::Args)]
pub(super) struct Model {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// The model; `default` for the CLI's own choice
    model: String,
}

impl Model {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let id = named::session(client, &self.session).await?.head.id;
        let model = Some(&*self.model).filter(|model| *model != "default");
        let noted = client.set_model(id, model).await.map_err(told)?;
        done(&noted, "is told; `countersign watch` shows when the model is in use", output)
    }
}
