//! `sessions show`.

use countersign_server::api::view::ListEvents;
use countersign_server::client::Client;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::output::Output;
use crate::remote::happening::Story;
use crate::remote::session::in_full;
use crate::remote::told::told;
use crate::remote::{named, next, print};
use crate::words::short;

/// Show a session: what it is doing, and what was said last
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// How many of the last events are shown
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 50)]
    events: usize,
}

impl Args {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let view = named::session(client, &self.session).await?;
        let id = view.head.id;
        if output.is_json() {
            output.json(&view)?;
        } else {
            print(&in_full(&view, Timestamp::now()), output)?;
            output.line("")?;
        }
        let mut story = Story::new(&view.head.folder, view.head.approvals.keys().copied());
        let mut before = view.head.seq + 1;
        let mut pages = Vec::new();
        let mut left = self.events;
        while left > 0 {
            let limit = Some(left.min(500));
            let wanted = ListEvents { before: Some(before), limit, ..ListEvents::default() };
            let page = client.events(id, &wanted).await.map_err(told)?;
            let Some(first) = page.items.first() else { break };
            before = first.seq;
            left = left.saturating_sub(page.items.len());
            pages.push(page.items);
        }
        for event in pages.iter().rev().flatten() {
            if output.is_json() {
                output.json(event)?;
            } else {
                story.event(event, output)?;
            }
        }
        story.over(output)?;
        let id = short(id.uuid());
        next(&format!("as it goes on: countersign watch {id}"), output);
        next(&format!("say something: countersign send {id} \"…\""), output);
        Ok(())
    }
}
