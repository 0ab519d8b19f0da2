//! What the commands have in common that ask a server.
//!
//! | | |
//! |---|---|
//! | `told` | what the server refuses, and what to do about it |
//! | `named` | ids by their beginning or end |
//! | `asked` | what a person is asked, as lines, and what to type about it |
//! | `session` | a session, in a line and in full |
//! | `happening` | what happens in a session, as lines |
//! | `file` | what is read from files |

pub(crate) mod asked;
pub(crate) mod file;
pub(crate) mod happening;
pub(crate) mod named;
pub(crate) mod session;
pub(crate) mod told;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use countersign_server::client::Client;
use countersign_server::config::{Flags, Source};

use crate::failure::{Exit, Failure};
use crate::output::{Output, plain};
use crate::run::view::line::Line;

/// Which server is asked, and with which token.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct Remote {
    /// The server [default: COUNTERSIGN_SERVER, or client.toml, or the one on this machine]
    #[arg(long, global = true, value_name = "URL")]
    server: Option<String>,
    /// A file with the token [default: COUNTERSIGN_TOKEN, or that of the server's data folder]
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A PEM file with certificates to trust besides those that the system trusts
    #[arg(long, global = true, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

const SERVER: &str = "COUNTERSIGN_SERVER";
const TOKEN: &str = "COUNTERSIGN_TOKEN";

impl Remote {
    /// Does something with the server.
    pub(crate) fn with<T>(
        &self,
        work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let client = self.client()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(work(&client))
    }

    fn client(&self) -> Result<Client, Failure> {
        let mut source = Source::of_this_process(Flags::default())?;
        let environment = &mut source.environment;
        if let Some(server) = &self.server {
            let named = environment.insert(SERVER.into(), server.into());
            // A token that stands beside another server is for that one.
            if named.is_some_and(|named| !named.is_empty() && named != OsString::from(server)) {
                environment.remove(&OsString::from(TOKEN));
            }
        }
        if let Some(file) = &self.token_file {
            environment.insert(TOKEN.into(), token(file)?.into());
        }
        let mut builder = Client::builder_from(&source).map_err(|error| told::no_client(&error))?;
        if let Some(file) = &self.ca_file {
            builder = builder.ca_file(source.folder.join(file));
        }
        builder.build().map_err(|error| told::no_client(&error))
    }
}

/// The token in a file that nobody else can read.
fn token(file: &Path) -> Result<String, Failure> {
    let failed = |error| {
        let words = format!("the token cannot be read from {}: {error}", file.display());
        Failure::new(words).code(Exit::Usage)
    };
    let mode = fs::metadata(file).map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        let words = format!("others can read the token in {}", file.display());
        return Err(Failure::new(words).hint("Run chmod 600 on it, or revoke the token."));
    }
    Ok(fs::read_to_string(file).map_err(failed)?.trim().to_owned())
}

/// Writes lines to standard output, with colours where there are any.
pub(crate) fn print(lines: &[Line], output: &mut Output) -> Result<(), Failure> {
    let colours = output.has_colours();
    lines.iter().try_for_each(|line| output.line(line.rendered(colours)))
}

/// Says what to type next, beside the result.
pub(crate) fn next(hint: &str, output: &mut Output) {
    if !output.is_json() && !output.is_quiet() {
        output.note(plain(hint));
    }
}
