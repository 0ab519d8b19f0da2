//! The token of the first start, in a file that only its owner can read.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use thiserror::Error;

use super::gate::{Access, AccessError, NewToken, Seen};
use super::scope::Scope;
use super::secret;
use crate::config::Secret;
use crate::session::By;

/// The file with the token, in the data folder.
pub const TOKEN_FILE: &str = "token";

/// Why there is no first token.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FirstTokenError {
    /// The file could not be written.
    #[error("the first token cannot be written to {file}: {source}")]
    Write {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The token could not be made or kept.
    #[error(transparent)]
    Access(#[from] AccessError),
}

/// Why the file gives no token.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadTokenError {
    /// The file cannot be read.
    #[error(
        "the token cannot be read from {file}: {source}; is this the data folder of the server?"
    )]
    Read {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Others can read the file, so the token may be known to them.
    #[error("others can read the token in {file}; revoke it, or run chmod 600 on the file")]
    Open {
        /// The file.
        file: PathBuf,
    },
    /// There is something else in the file.
    #[error("there is no token in {file}")]
    NotAToken {
        /// The file.
        file: PathBuf,
    },
}

/// Why there is no link for the owner of the data folder.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FirstLinkError {
    /// There is no token to make it with.
    #[error(transparent)]
    Read(#[from] ReadTokenError),
    /// The token is not valid any more.
    #[error("the token in {file} is not valid any more; put another one there")]
    NotValid {
        /// The file.
        file: PathBuf,
    },
    /// The link could not be made or kept.
    #[error(transparent)]
    Access(#[from] AccessError),
}

/// Makes a token for the owner of the data folder if there is no token yet, and says where it is.
///
/// The file is written before the token is kept: if the process ends in between, the next start makes
/// a new one, and never is there a token that nobody knows.
///
/// # Errors
///
/// The file could not be written or the token not be kept; there is no token then.
pub async fn first_token(access: &Access, data: &Path) -> Result<Option<PathBuf>, FirstTokenError> {
    let tokens = access.store().tokens().await.map_err(AccessError::from)?;
    if !tokens.is_empty() {
        return Ok(None);
    }
    let new = NewToken { name: "first start".to_owned(), scope: Scope::Admin, expires_at: None };
    let (text, token) = access.make_token(new)?;
    let file = data.join(TOKEN_FILE);
    let failed = |source| FirstTokenError::Write { file: file.clone(), source };
    write(data, &file, &text).map_err(failed)?;
    if access.store().add_first_token(token.clone()).await.map_err(AccessError::from)? {
        access.made_token(By::Server, &token).await;
        return Ok(Some(file));
    }
    // Another server that shares the store was faster, and its owner has the token.
    fs::remove_file(&file).map_err(failed)?;
    Ok(None)
}

/// Writes the token, so that there is either the whole file or the one before it.
fn write(folder: &Path, file: &Path, text: &Secret) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // A temporary file can be read by its owner only.
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(text.expose().as_bytes())?;
    draft.write_all(b"\n")?;
    draft.as_file().sync_all()?;
    draft.persist(file)?;
    Ok(())
}

/// The token in the data folder, for the commands of its owner.
///
/// # Errors
///
/// There is none that could be trusted.
pub fn read_token(data: &Path) -> Result<Secret, ReadTokenError> {
    let file = data.join(TOKEN_FILE);
    let failed = |source| ReadTokenError::Read { file: file.clone(), source };
    let mode = fs::metadata(&file).map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(ReadTokenError::Open { file });
    }
    let text = fs::read_to_string(&file).map_err(failed)?;
    let text = text.trim();
    if secret::token_id(text).is_none() {
        return Err(ReadTokenError::NotAToken { file });
    }
    Ok(Secret::new(text))
}

/// A link that lets in one browser, once, with the rights of the token in the data folder. Gives the
/// link and when it ends.
///
/// # Errors
///
/// There is no such token, it is not valid any more, or the link could not be kept.
pub async fn first_link(
    access: &Access,
    data: &Path,
) -> Result<(Secret, Timestamp), FirstLinkError> {
    let token = read_token(data)?;
    let not_valid = || FirstLinkError::NotValid { file: data.join(TOKEN_FILE) };
    let bearer = HeaderValue::try_from(format!("Bearer {}", token.expose()));
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, bearer.map_err(|_| not_valid())?);
    match access.see(&headers, Ipv4Addr::LOCALHOST.into()).await {
        Seen::Somebody { identity, .. } => Ok(access.create_login_link(&identity).await?),
        Seen::Nobody | Seen::Refused { .. } => Err(not_valid()),
    }
}
