//! `countersign token`: who may do what.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use countersign_server::access::api::{CreateToken, CreatedToken, Token};
use countersign_server::access::{NewToken, Scope};
use countersign_server::client::Client;
use countersign_server::config::{Config, Flags, Source};
use countersign_server::server::access_of;
use jiff::Timestamp;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::failure::{Exit, Failure};
use crate::output::{Output, plain};
use crate::remote::told::told;
use crate::remote::{Remote, named, next, print};
use crate::run::view::line::{Line, Tone};
use crate::serve::not_started;
use crate::words::{ago, one_line, short};

/// Tokens, which say who may do what: make, list, revoke
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
    Create(Create),
    List(List),
    Revoke(Revoke),
}

/// Make a token, and show it this once
#[derive(Debug, clap::Args)]
struct Create {
    /// What it is called: whose it is, or what it is for
    name: String,
    /// What it is good for: read sees everything, decide also answers and steers, admin does all
    #[arg(long, default_value = "decide")]
    scope: Scope,
    /// How long it is good, as 30d, 12h or 90m; for ever if it is not given
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires: Option<Duration>,
    /// Write it to this file, which only you can read, in the place of showing it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Make it in the data folder of a server that does not run, because no token is left
    #[arg(long, conflicts_with_all = ["server", "token_file"])]
    offline: bool,
    /// With --offline: the data folder
    #[arg(long, value_name = "FOLDER", requires = "offline")]
    data: Option<PathBuf>,
}

/// List the tokens, also those that are good for nothing any more
#[derive(Debug, clap::Args)]
struct List {}

/// Revoke a token, and sign out every browser that was let in with it
#[derive(Debug, clap::Args)]
struct Revoke {
    /// The token: its id, the beginning or the end of it, or its name
    token: String,
}

/// Reads a time such as `30d`.
fn time(text: &str) -> Result<Duration, String> {
    const WRONG: &str = "expected a number and d, h or m, such as 30d";
    let unit = text.chars().next_back().ok_or(WRONG)?;
    let seconds = match unit {
        'd' => 86_400,
        'h' => 3_600,
        'm' => 60,
        _ => return Err(WRONG.to_owned()),
    };
    let number: u64 = text.trim_end_matches(unit).parse().map_err(|_| WRONG)?;
    match number.checked_mul(seconds) {
        Some(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err(WRONG.to_owned()),
    }
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        let Self { remote, command } = self;
        match command {
            Command::Create(create) if create.offline => create.offline(output)?,
            Command::Create(create) => {
                remote.with(async |client| create.run(client, output).await)?;
            }
            Command::List(List {}) => remote.with(async |client| list(client, output).await)?,
            Command::Revoke(revoke) => {
                remote.with(async |client| revoke.run(client, output).await)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Create {
    fn expires_at(&self) -> Result<Option<Timestamp>, Failure> {
        let Some(time) = self.expires else { return Ok(None) };
        let end = Timestamp::now().checked_add(time);
        end.map(Some).map_err(|_| Failure::new("that is too long").code(Exit::Usage))
    }

    async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let new = CreateToken {
            name: self.name.clone(),
            scope: self.scope,
            expires_at: self.expires_at()?,
        };
        // Before there is a token that nobody knows.
        let file = self.output.as_deref().map(private).transpose()?;
        let created = client.create_token(&new).await.map_err(told)?;
        self.tell(&created, file, output)
    }

    fn offline(&self, output: &mut Output) -> Result<(), Failure> {
        let flags = Flags { data: self.data.clone(), ..Flags::default() };
        let config = Config::load(&Source::of_this_process(flags)?)?.config;
        let new =
            NewToken { name: self.name.clone(), scope: self.scope, expires_at: self.expires_at()? };
        let file = self.output.as_deref().map(private).transpose()?;
        let made = Runtime::new()?.block_on(async {
            let access = access_of(&config).await.map_err(|error| not_started(&error))?;
            Ok::<_, Failure>(access.create_token(new).await?)
        });
        let (secret, token) = made?;
        let created = CreatedToken { secret: secret.expose().to_owned(), token: token.into() };
        self.tell(&created, file, output)
    }

    fn tell(
        &self,
        created: &CreatedToken,
        file: Option<std::fs::File>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if let (Some(mut file), Some(path)) = (file, &self.output) {
            writeln!(file, "{}", created.secret)?;
            file.sync_all()?;
            if output.is_json() {
                return output.json(&json!({"token": created.token, "file": path}));
            }
            let path = plain(&path.display().to_string());
            next(&format!("the token is in {path}: countersign inbox --token-file {path}"), output);
            return Ok(());
        }
        if output.is_json() {
            return output.json(created);
        }
        output.line(plain(&created.secret))?;
        output.flush()?;
        next("it is not shown again; use it as COUNTERSIGN_TOKEN, or with --token-file", output);
        Ok(())
    }
}

/// A new file that only its owner can read.
fn private(path: &Path) -> Result<std::fs::File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path).map_err(|error| {
        Failure::new(format!("cannot write {}: {error}", path.display())).code(Exit::Usage)
    })
}

async fn list(client: &Client, output: &mut Output) -> Result<(), Failure> {
    let tokens = client.tokens().await.map_err(told)?;
    let now = Timestamp::now();
    for token in &tokens {
        if output.is_json() {
            output.json(token)?;
        } else {
            print(&[line(token, now)], output)?;
        }
    }
    output.flush()?;
    if let Some(token) = tokens.iter().rev().find(|token| token.revoked_at.is_none()) {
        let id = short(token.id.uuid());
        next(&format!("one of them is not needed: countersign token revoke {id}"), output);
    }
    Ok(())
}

fn line(token: &Token, now: Timestamp) -> Line {
    const LENGTH: usize = 60;
    let over = token.revoked_at.is_some() || token.expires_at.is_some_and(|end| end <= now);
    let tone = if over { Tone::Dim } else { Tone::Plain };
    let mut about = vec![match token.last_used {
        Some(at) => format!("used {}", ago(at, now)),
        None => "never used".to_owned(),
    }];
    match (token.revoked_at, token.expires_at) {
        (Some(at), _) => about.push(format!("revoked {}", ago(at, now))),
        (None, Some(end)) if end <= now => about.push(format!("expired {}", ago(end, now))),
        (None, Some(end)) => about.push(format!("until {end}")),
        (None, None) => {}
    }
    Line::of(Tone::Accent, &short(token.id.uuid()))
        .and(tone, &format!("  {:<6}  {}", token.scope.name(), one_line(&token.name, LENGTH)))
        .and(Tone::Dim, &format!("  {}", about.join(", ")))
}

impl Revoke {
    async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let tokens = client.tokens().await.map_err(told)?;
        let id = named::token(&tokens, &self.token)?;
        client.revoke_token(id).await.map_err(told)?;
        if output.is_json() {
            return output.json(&json!({"token": id, "revoked": true}));
        }
        next(&format!("{} is good for nothing any more", short(id.uuid())), output);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(time("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(time("12h"), Ok(Duration::from_secs(12 * 3_600)));
        for wrong in
            ["", "d", "30", "0d", "-1d", "99999999999999999999d", "999999999999999999m", "5é"]
        {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
