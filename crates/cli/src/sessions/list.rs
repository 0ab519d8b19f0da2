//! `sessions list`.

use countersign_server::api::view::ListSessions;
use countersign_server::client::Client;
use countersign_server::session::{Stage, State};
use countersign_server::store::SessionOrder;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::output::Output;
use crate::remote::session::in_a_list;
use crate::remote::told::told;
use crate::remote::{named, next, print};
use crate::words::{count, short};

/// List sessions, those in which something happened last first
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Words in their titles, or in what was said in them
    words: Option<String>,
    /// What they are doing: idle, queued, starting, running, waiting, parked, ready, ended, failed
    #[arg(long, value_name = "STATE")]
    state: Vec<State>,
    /// A label that they have; several times for all of them
    #[arg(long)]
    label: Vec<String>,
    /// The folder that they work in, or one above it
    #[arg(long, value_name = "FOLDER")]
    folder: Option<String>,
    /// The session that they come from
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
    /// Those in the archive
    #[arg(long)]
    archived: bool,
    /// The newest first, whatever happened in them
    #[arg(long)]
    by_age: bool,
    /// At most so many
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
}

impl Args {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let joined = |parts: Vec<String>| (!parts.is_empty()).then(|| parts.join(","));
        let parent = match &self.parent {
            Some(text) => Some(named::session(client, text).await?.head.id),
            None => None,
        };
        let mut wanted = ListSessions {
            state: joined(self.state.iter().map(ToString::to_string).collect()),
            label: joined(self.label.clone()),
            folder: self.folder.clone(),
            archived: Some(self.archived),
            parent,
            q: self.words.clone(),
            order: self.by_age.then_some(SessionOrder::Created),
            after: None,
            limit: Some(self.limit.min(500)),
        };
        let now = Timestamp::now();
        let (mut left, mut latest, mut open) = (self.limit, None, 0);
        while left > 0 {
            let page = client.sessions(&wanted).await.map_err(told)?;
            for view in page.items.iter().take(left) {
                if output.is_json() {
                    output.json(view)?;
                } else {
                    print(&in_a_list(view, now), output)?;
                }
                let asks = view.head.approvals.values();
                open += asks.filter(|pending| pending.stage == Stage::Open).count();
                latest.get_or_insert(view.head.id);
            }
            left = left.saturating_sub(page.items.len());
            wanted.after = page.next;
            if wanted.after.is_none() {
                break;
            }
        }
        output.flush()?;
        match latest {
            None => next("no session fits; `countersign sessions new \"…\"` starts one", output),
            Some(id) => {
                let id = short(id.uuid());
                next(&format!("one of them: countersign sessions show {id}"), output);
            }
        }
        if wanted.after.is_some() {
            next(&format!("there are more; -n {} shows some", self.limit * 5), output);
        }
        if open > 0 {
            let open = count(open, "thing waits", "things wait");
            next(&format!("{open} for you: countersign inbox"), output);
        }
        Ok(())
    }
}
