//! `sessions new`.

use std::path::PathBuf;

use countersign_server::client::Client;
use countersign_server::service::NewSession;
use countersign_server::session::{SessionLimits, SessionOptions};
use serde_json::{Map, Value};

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::remote::told::told;
use crate::remote::{file, next};
use crate::run::options::Mode;
use crate::words::short;

/// Start a session
///
/// Without a prompt it waits for a message. It works in a folder of the machine of the server, which
/// has to be within one that the server was given with --root.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to do; - reads it from standard input
    prompt: Option<String>,
    /// The folder to work in [default: this one]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// The title; made of the prompt if it is not given
    #[arg(long)]
    title: Option<String>,
    /// A label; several times
    #[arg(long)]
    label: Vec<String>,
    /// The permission mode
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// The model, by its name or an alias such as sonnet
    #[arg(long)]
    model: Option<String>,
    /// The model to fall back to when the first is overloaded
    #[arg(long, value_name = "MODEL")]
    fallback_model: Option<String>,
    /// How much effort the model makes: low, medium, high
    #[arg(long)]
    effort: Option<String>,
    /// A picture that comes with the prompt; several times
    #[arg(long, value_name = "FILE", requires = "prompt")]
    image: Vec<PathBuf>,
    /// Another folder that may be worked in; several times
    #[arg(long, value_name = "FOLDER")]
    add_dir: Vec<PathBuf>,
    /// Calls that need no permission, such as Read or 'Bash(git status:*)'; several times
    #[arg(long, value_name = "RULE")]
    allowed_tools: Vec<String>,
    /// Calls that are refused without asking; several times
    #[arg(long, value_name = "RULE")]
    disallowed_tools: Vec<String>,
    /// More for the system prompt
    #[arg(long, value_name = "TEXT")]
    append_system_prompt: Option<String>,
    /// Which settings files are read: user, project, local, with commas; '' for none
    #[arg(long, value_name = "SOURCES")]
    setting_sources: Option<String>,
    /// A JSON file with MCP servers
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
    /// What it may cost in all, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_budget_usd: Option<f64>,
    /// How often the model may be called for a message
    #[arg(long, value_name = "COUNT")]
    max_turns: Option<u32>,
    /// How long a turn may take, without the time in which a person is asked
    #[arg(long, value_name = "SECONDS")]
    turn_seconds: Option<u64>,
    /// How long the CLI may say nothing in a turn
    #[arg(long, value_name = "SECONDS")]
    silence_seconds: Option<u64>,
}

impl Args {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let made = client.create_session(&self.session()?).await.map_err(told)?;
        if output.is_json() {
            return output.json(&made);
        }
        output.line(made.session)?;
        output.flush()?;
        let id = short(made.session.uuid());
        let follow = match made.message {
            Some(_) => format!("as it goes on: countersign watch {id}"),
            None => format!("it waits for you: countersign send {id} \"…\""),
        };
        next(&follow, output);
        Ok(())
    }

    fn session(&self) -> Result<NewSession, Failure> {
        let here = std::env::current_dir()?;
        let text = |path: PathBuf| match path.into_os_string().into_string() {
            Ok(text) => Ok(text),
            Err(_) => Err(Failure::new("the name of the folder is not UTF-8").code(Exit::Usage)),
        };
        let folder = match &self.folder {
            Some(folder) => tidied(&here.join(folder)),
            None => here.clone(),
        };
        let add_dirs = self.add_dir.iter().map(|folder| text(tidied(&here.join(folder))));
        let prompt = self.prompt.as_deref().map(file::words).transpose()?;
        let sources = self.setting_sources.as_deref().map(|sources| {
            let sources = sources.split(',').map(str::trim).filter(|part| !part.is_empty());
            sources.map(str::to_owned).collect()
        });
        let options = SessionOptions {
            append_system_prompt: self.append_system_prompt.clone(),
            allowed_tools: self.allowed_tools.clone(),
            disallowed_tools: self.disallowed_tools.clone(),
            add_dirs: add_dirs.collect::<Result<_, _>>()?,
            fallback_model: self.fallback_model.clone(),
            effort: self.effort.clone(),
            setting_sources: sources,
            mcp_servers: self.mcp_servers()?,
            limits: SessionLimits {
                budget_usd: self.max_budget_usd,
                turns_a_message: self.max_turns,
                turn_seconds: self.turn_seconds,
                silence_seconds: self.silence_seconds,
            },
        };
        Ok(NewSession {
            folder: text(folder)?,
            prompt,
            images: file::images(&self.image)?,
            title: self.title.clone(),
            labels: self.label.iter().cloned().collect(),
            mode: self.mode.map(Into::into),
            model: self.model.clone(),
            options,
        })
    }

    /// The servers of a configuration file, with or without the key that they stand under.
    fn mcp_servers(&self) -> Result<Option<Map<String, Value>>, Failure> {
        let Some(path) = &self.mcp_config else { return Ok(None) };
        let mut all: Map<String, Value> = file::object(path)?.decode()?;
        match all.remove("mcpServers") {
            Some(Value::Object(servers)) => Ok(Some(servers)),
            Some(_) => {
                let words = format!("`mcpServers` in {} is no object", path.display());
                Err(Failure::new(words).code(Exit::Usage))
            }
            None => Ok(Some(all)),
        }
    }
}

/// A path without `.` and `..`, which the server refuses. A folder that is here is as it is on disk.
fn tidied(path: &std::path::Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
