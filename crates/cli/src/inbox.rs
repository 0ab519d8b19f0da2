//! `countersign inbox`: what waits for a person.

use std::collections::HashMap;
use std::process::ExitCode;

use countersign_server::client::Client;
use countersign_server::id::SessionId;
use countersign_server::session::{Approval, Stage};
use jiff::Timestamp;

use crate::failure::Failure;
use crate::output::Output;
use crate::remote::asked::Asked;
use crate::remote::happening::said;
use crate::remote::session::title;
use crate::remote::{Remote, named, next, print};
use crate::run::view::line::{Line, Tone};
use crate::words::{ago, short};

/// Show what waits for a person, over all sessions, oldest first
///
/// With an id, all of that one, also when it is over.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An approval: its id, or the beginning or the end of it
    id: Option<String>,
    /// What this session asks only
    #[arg(long, value_name = "SESSION", conflicts_with = "id")]
    session: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

/// How many lines of a plan or a file are shown in the list.
const FOLDED: usize = 12;

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        self.remote.with(async |client| match &self.id {
            Some(id) => show(client, id, output).await,
            None => self.list(client, output).await,
        })?;
        Ok(ExitCode::SUCCESS)
    }

    async fn list(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let only = match &self.session {
            Some(text) => Some(named::session(client, text).await?.head.id),
            None => None,
        };
        let mut open = named::inbox(client).await?;
        open.retain(|asked| only.is_none_or(|only| asked.session == only));
        let mut sessions = Sessions::default();
        let now = Timestamp::now();
        for (number, asked) in open.iter().enumerate() {
            if output.is_json() {
                output.json(asked)?;
                continue;
            }
            if number > 0 {
                output.line("")?;
            }
            let session = sessions.get(client, asked.session).await?;
            print(&[heading(asked, session, now)], output)?;
            let shown = Asked::of(asked, &session.folder);
            let cut = !shown.is_whole && shown.body.len() > FOLDED + 1;
            print(&shown.lines(Some(FOLDED)), output)?;
            if cut {
                let all = format!("all of it: countersign inbox {}", short(asked.id.uuid()));
                print(&[Line::of(Tone::Code, &all).indented(2)], output)?;
            }
        }
        output.flush()?;
        if open.is_empty() {
            next("nothing waits for you; `countersign watch` tells when something does", output);
        }
        Ok(())
    }
}

/// Shows one, whole.
async fn show(client: &Client, id: &str, output: &mut Output) -> Result<(), Failure> {
    let asked = named::approval(client, id).await?;
    if output.is_json() {
        return output.json(&asked);
    }
    let mut sessions = Sessions::default();
    let session = sessions.get(client, asked.session).await?;
    print(&[heading(&asked, session, Timestamp::now())], output)?;
    let mut shown = Asked::of(&asked, &session.folder);
    if asked.stage != Stage::Open {
        shown.commands.clear();
    }
    print(&shown.lines(None), output)?;
    if let Some(given) = &asked.given {
        let words = format!("⇒ {}, {}: {}", given.by.name(), given.at, said(&given.answer));
        print(&[Line::of(Tone::Plain, &words)], output)?;
    }
    if asked.stage != Stage::Open {
        let why = asked.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        print(&[Line::of(Tone::Dim, &format!("{}{why}", asked.stage.name()))], output)?;
    }
    Ok(())
}

/// Which one it is, whose, and since when.
pub(crate) fn heading(asked: &Approval, session: &About, now: Timestamp) -> Line {
    let id = short(asked.session.uuid());
    Line::of(Tone::Accent, &short(asked.id.uuid()))
        .and(Tone::Dim, &format!("  {}  {id} ", ago(asked.opened_at, now)))
        .and(Tone::Plain, &session.title)
}

/// What of a session is said with what it asks.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) title: String,
    pub(crate) folder: String,
}

/// Sessions that were asked for already.
#[derive(Debug, Default)]
pub(crate) struct Sessions(HashMap<SessionId, About>);

impl Sessions {
    pub(crate) async fn get(&mut self, client: &Client, id: SessionId) -> Result<&About, Failure> {
        let about = match self.0.remove(&id) {
            Some(about) => about,
            None => match client.session(id).await {
                Ok(view) => About { title: title(&view), folder: view.head.folder },
                // It was deleted a moment ago.
                Err(error) if error.is_not_found() => {
                    About { title: "(it is gone)".to_owned(), folder: String::new() }
                }
                Err(error) => return Err(crate::remote::told::told(error)),
            },
        };
        Ok(self.0.entry(id).or_insert(about))
    }
}
