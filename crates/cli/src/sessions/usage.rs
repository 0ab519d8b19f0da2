//! `sessions usage`.

use countersign_server::client::Client;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Output, plain};
use crate::remote::named;
use crate::remote::session::used;
use crate::remote::told::told;
use crate::words::{count, dollars};

/// Show what a session has used, or all of them
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session: its id, the beginning or the end of it, or `latest`; all if it is not given
    session: Option<String>,
}

impl Args {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        if let Some(text) = &self.session {
            let view = named::session(client, text).await?;
            if output.is_json() {
                return output.json(&json!({"session": view.head.id, "usage": view.head.usage}));
            }
            output.line(used(&view))?;
            if let Some(notice) = &view.head.usage.limit_notice {
                output.line(format_args!("limit: {}", plain(&notice.to_string())))?;
            }
            return Ok(());
        }
        let totals = client.usage().await.map_err(told)?;
        if output.is_json() {
            return output.json(&totals);
        }
        let turns = usize::try_from(totals.turns).unwrap_or(usize::MAX);
        output.line(format_args!(
            "{}, {}, {} tokens read, {} written",
            dollars(totals.cost_usd),
            count(turns, "turn", "turns"),
            totals.input_tokens,
            totals.output_tokens
        ))?;
        for (state, number) in totals.sessions.iter().filter(|(_, number)| **number > 0) {
            output.line(format_args!("{number:>6} {}", plain(state)))?;
        }
        output.line(format_args!("{:>6} open approvals", totals.open_approvals))
    }
}
