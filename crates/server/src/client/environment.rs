//! Where the server is and what lets us in, when nobody says it: so that commands on the machine of the
//! server just work.
//!
//! 1. `COUNTERSIGN_SERVER`, `COUNTERSIGN_TOKEN` and `COUNTERSIGN_CA_FILE`.
//! 2. The file `countersign/client.toml` in `$XDG_CONFIG_HOME` (`~/.config`), with `server`, `token` or
//!    `token_file`, and `ca_file`.
//! 3. The server on this machine: its configuration says where it listens, and its data folder has the
//!    token of its first start.
//!
//! A token only goes to the server that it stands beside. That of the data folder never leaves this
//! machine: it goes to where the server listens, also when the server is known to others by another name.
//! That of the file is for the server in the file.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::SetupError;
use super::{Builder, Client, address, is_here};
use crate::access::first::read_token;
use crate::config::{Config, Flags, Secret, Source};

/// The file with server and token.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Profile {
    server: Option<String>,
    token: Option<Secret>,
    token_file: Option<PathBuf>,
    ca_file: Option<PathBuf>,
}

impl Client {
    /// A client of the server that the environment names, or the file `client.toml`, or else of the
    /// one on this machine.
    ///
    /// # Errors
    ///
    /// It is not known where the server is, or there is no token for it.
    pub fn from_environment() -> Result<Self, SetupError> {
        let source = Source::of_this_process(Flags::default()).map_err(SetupError::Folder)?;
        Self::builder_from(&source)?.build()
    }

    /// The same with an environment and flags of one's own, to be set up further. Of the flags those
    /// count that say where the configuration and the data of the server are.
    ///
    /// # Errors
    ///
    /// It is not known where the server is, or there is no token for it.
    pub fn builder_from(source: &Source) -> Result<Builder, SetupError> {
        let token = variable(source, "COUNTERSIGN_TOKEN").map(Secret::new);
        let found = match variable(source, "COUNTERSIGN_SERVER") {
            Some(server) => named(source, server, token.is_some())?,
            None => match profile(source)? {
                Some(found) => found,
                None => on_this_machine(source, token.is_some())?,
            },
        };
        let Found { server, token: beside, connect_to, ca_file } = found;
        let token = token.or(beside).ok_or_else(|| SetupError::NoToken(server.clone()))?;
        let mut builder = Self::builder(&server, token.expose());
        if let Some(address) = connect_to {
            builder = builder.connect_to(address);
        }
        let ca_file = variable(source, "COUNTERSIGN_CA_FILE").map(PathBuf::from).or(ca_file);
        if let Some(file) = ca_file {
            builder = builder.ca_file(source.folder.join(file));
        }
        Ok(builder)
    }
}

/// A server.
#[derive(Debug)]
struct Found {
    server: String,
    /// What lets us in.
    token: Option<Secret>,
    /// Where it is, whatever its name is looked up as.
    connect_to: Option<SocketAddr>,
    /// Whose certificates are trusted besides.
    ca_file: Option<PathBuf>,
}

fn variable(source: &Source, name: &str) -> Option<String> {
    let value = source.environment.get(&OsString::from(name))?.to_str()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// The server that the environment names. On this machine the token of the data folder may be for it.
fn named(source: &Source, server: String, has_token: bool) -> Result<Found, SetupError> {
    let mut token = None;
    if !has_token && is_here(&address(&server)?) {
        token = Some(read_token(&Config::load(source)?.config.data)?);
    }
    Ok(Found { server, token, connect_to: None, ca_file: None })
}

/// The server on this machine.
fn on_this_machine(source: &Source, has_token: bool) -> Result<Found, SetupError> {
    let config = Config::load(source)?.config;
    if config.listen.port() == 0 {
        return Err(SetupError::AnyPort);
    }
    let token = if has_token { None } else { Some(read_token(&config.data)?) };
    // Whoever can read the certificate that the server has need not ask others about it.
    let certificate = config.tls.files().map(|files| files.certificate.to_owned());
    let ca_file = certificate.filter(|file| fs::File::open(file).is_ok());
    let (server, address) = config.local_url(config.listen);
    Ok(Found { server, token, connect_to: Some(address), ca_file })
}

/// The server that the file names.
fn profile(source: &Source) -> Result<Option<Found>, SetupError> {
    let home = variable(source, "HOME").map(PathBuf::from);
    let folder = variable(source, "XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| home.as_ref().map(|home| home.join(".config")));
    let Some(folder) = folder.map(|folder| folder.join("countersign")) else { return Ok(None) };
    let file = folder.join("client.toml");
    let failed = |message: String| SetupError::Profile { file: file.clone(), message };
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    // What is wrong is said without repeating the line: it may be the one with the token.
    let profile: Profile = toml::from_str(&text).map_err(|error| failed(error.message().into()))?;
    let Some(server) = profile.server else {
        return Err(failed("it has no `server`".to_owned()));
    };
    let within = |path: &Path| match (path.strip_prefix("~"), &home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => folder.join(path),
    };
    let token = match (profile.token, profile.token_file) {
        (Some(_), Some(_)) => {
            return Err(failed("it has both a `token` and a `token_file`; leave one out".into()));
        }
        (Some(token), None) => {
            only_ours(&file).map_err(failed)?;
            Some(token)
        }
        (None, Some(path)) => {
            let path = within(&path);
            only_ours(&path).map_err(failed)?;
            let text = fs::read_to_string(&path)
                .map_err(|error| failed(format!("{}: {error}", path.display())))?;
            Some(Secret::new(text.trim()))
        }
        (None, None) => None,
    };
    let ca_file = profile.ca_file.as_deref().map(within);
    Ok(Some(Found { server, token, connect_to: None, ca_file }))
}

/// Whether nobody else can read a file; what to do if somebody can.
fn only_ours(file: &Path) -> Result<(), String> {
    let about = fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if about.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(format!("others can read the token in {}; run chmod 600 on it", file.display()))
}
