//! `countersign browsers`: who is signed in.

use std::process::ExitCode;

use clap::Subcommand;
use countersign_server::access::api::Browser;
use countersign_server::client::Client;
use jiff::Timestamp;
use serde_json::json;

use crate::failure::Failure;
use crate::output::Output;
use crate::remote::told::told;
use crate::remote::{Remote, named, next, print};
use crate::run::view::line::{Line, Tone};
use crate::words::{ago, short};

/// Browsers that are signed in: list, sign out
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(flatten)]
    remote: Remote,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(List),
    SignOut(SignOut),
}

/// List the browsers that are signed in
#[derive(Debug, clap::Args)]
struct List {}

/// Sign a browser out
#[derive(Debug, clap::Args)]
struct SignOut {
    /// The browser: its id, or the beginning or the end of it
    browser: String,
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        let Self { remote, command } = self;
        match command {
            Command::List(List {}) => remote.with(async |client| list(client, output).await)?,
            Command::SignOut(out) => remote.with(async |client| out.run(client, output).await)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn list(client: &Client, output: &mut Output) -> Result<(), Failure> {
    let browsers = client.browsers().await.map_err(told)?;
    let now = Timestamp::now();
    for browser in &browsers {
        if output.is_json() {
            output.json(browser)?;
        } else {
            print(&[line(browser, now)], output)?;
        }
    }
    output.flush()?;
    match browsers.last() {
        Some(browser) => {
            let id = short(browser.id.uuid());
            next(&format!("one of them is not yours: countersign browsers sign-out {id}"), output);
        }
        None => next("no browser is signed in; countersign login-link lets one in", output),
    }
    Ok(())
}

fn line(browser: &Browser, now: Timestamp) -> Line {
    let about = format!(
        "  {:<6}  signed in {}, used {}, by the token {}",
        browser.scope.name(),
        ago(browser.created_at, now),
        ago(browser.last_used, now),
        short(browser.token.uuid()),
    );
    Line::of(Tone::Accent, &short(browser.id.uuid())).and(Tone::Plain, &about)
}

impl SignOut {
    async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let browsers = client.browsers().await.map_err(told)?;
        let id = named::browser(&browsers, &self.browser)?;
        client.sign_out(id).await.map_err(told)?;
        if output.is_json() {
            return output.json(&json!({"browser": id, "signed_out": true}));
        }
        next(&format!("{} is signed out", short(id.uuid())), output);
        Ok(())
    }
}
