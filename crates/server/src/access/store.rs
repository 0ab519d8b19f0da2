//! Where tokens, codes and browser sessions are kept.

use std::fmt;
use std::pin::Pin;

use jiff::Timestamp;
use thiserror::Error;

use super::scope::Scope;
use super::secret::SecretHash;
use crate::id::{BrowserId, TokenId};
use crate::store::{AuditEntry, Command, WriteError};

/// What a store gives back, later.
pub type StoreFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, AccessStoreError>> + Send + 'a>>;

/// The store could not do it. Nobody is let in then.
#[derive(Debug, Error)]
#[error("tokens could not be looked up or kept: {0}")]
pub struct AccessStoreError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// An API token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    /// Its id, which is in its text as well.
    pub id: TokenId,
    /// What it is called by whoever made it.
    pub name: String,
    /// What it is good for.
    pub scope: Scope,
    /// The hash of its whole text.
    pub hash: SecretHash,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is good for nothing.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute or so.
    pub last_used: Option<Timestamp>,
    /// Since when it is good for nothing.
    pub revoked_at: Option<Timestamp>,
}

impl TokenRecord {
    /// Whether it was revoked.
    #[must_use]
    pub const fn is_revoked(&self) -> bool {
        self.revoked_at.is_some()
    }

    /// Whether its time is over.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether it lets anybody in.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        !self.is_revoked() && !self.is_expired(now)
    }
}

/// The code of a link that works once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginCodeRecord {
    /// The hash of its text.
    pub hash: SecretHash,
    /// The token that it was made with.
    pub token: TokenId,
    /// What the browser will be good for.
    pub scope: Scope,
    /// From when on it is good for nothing.
    pub expires_at: Timestamp,
}

/// A browser that was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserRecord {
    /// Its id, which is not in the cookie.
    pub id: BrowserId,
    /// The hash of the value of its cookie.
    pub hash: SecretHash,
    /// The token that its link was made with. When that one ends, so does this.
    pub token: TokenId,
    /// What it is good for, if the token still is.
    pub scope: Scope,
    /// When it was let in.
    pub created_at: Timestamp,
    /// When it was last used, to the hour or so.
    pub last_used: Timestamp,
    /// From when on it is good for nothing, unless it is used before.
    pub expires_at: Timestamp,
}

/// Whether a command was carried out before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarriedOut {
    /// It was not.
    No,
    /// It was, and was answered with this.
    Before(String),
    /// The key was used for another command.
    Another,
}

impl CarriedOut {
    /// What a store says of a command.
    pub(crate) fn of(found: Result<Option<String>, WriteError>) -> Result<Self, AccessStoreError> {
        match found {
            Ok(Some(response)) => Ok(Self::Before(response)),
            Ok(None) => Ok(Self::No),
            Err(WriteError::KeyReused(_)) => Ok(Self::Another),
            Err(error) => Err(AccessStoreError(Box::new(error))),
        }
    }
}

/// Where tokens, codes and browser sessions are kept.
///
/// An operation has happened when its future is ready, and survives the end of the process then.
/// Each is atomic, also between several servers that share a store.
pub trait AccessStore: fmt::Debug + Send + Sync {
    /// Keeps a token.
    fn add_token(&self, token: TokenRecord) -> StoreFuture<'_, ()>;

    /// Keeps a token if there is none, not even one that was revoked; says whether it did.
    fn add_first_token(&self, token: TokenRecord) -> StoreFuture<'_, bool>;

    /// The token with this id, whether it is valid or not.
    fn token(&self, id: TokenId) -> StoreFuture<'_, Option<TokenRecord>>;

    /// All tokens, in the order in which they were made.
    fn tokens(&self) -> StoreFuture<'_, Vec<TokenRecord>>;

    /// Revokes a token, and removes its codes and browser sessions. Says whether there is such a
    /// token. The time of the first revocation stays.
    fn revoke_token(&self, id: TokenId, at: Timestamp) -> StoreFuture<'_, bool>;

    /// Notes that a token was used.
    fn touch_token(&self, id: TokenId, at: Timestamp) -> StoreFuture<'_, ()>;

    /// Keeps a code.
    fn add_login_code(&self, code: LoginCodeRecord) -> StoreFuture<'_, ()>;

    /// Removes a code and gives it back, if it is still valid. However many ask at once, one gets it.
    fn take_login_code(
        &self,
        hash: SecretHash,
        now: Timestamp,
    ) -> StoreFuture<'_, Option<LoginCodeRecord>>;

    /// Keeps a browser session.
    fn add_browser(&self, browser: BrowserRecord) -> StoreFuture<'_, ()>;

    /// The browser session with this hash, whether it is valid or not.
    fn browser(&self, hash: SecretHash) -> StoreFuture<'_, Option<BrowserRecord>>;

    /// All browser sessions, in the order in which they were let in.
    fn browsers(&self) -> StoreFuture<'_, Vec<BrowserRecord>>;

    /// Notes that a browser session was used, and how long it is good now.
    fn touch_browser(
        &self,
        id: BrowserId,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> StoreFuture<'_, ()>;

    /// Removes a browser session. Says whether there was one.
    fn remove_browser(&self, id: BrowserId) -> StoreFuture<'_, bool>;

    /// What a command was answered with that was carried out before, if it was.
    fn carried_out(&self, command: Command) -> StoreFuture<'_, CarriedOut>;

    /// Takes note of a command that was carried out.
    fn remember(&self, command: Command) -> StoreFuture<'_, ()>;

    /// Adds to the audit, which outlives all of it.
    fn note(&self, entry: AuditEntry) -> StoreFuture<'_, ()>;

    /// Removes codes and browser sessions whose time is over, and says how many. Tokens stay: it is
    /// of interest later who had one.
    fn forget_expired(&self, now: Timestamp) -> StoreFuture<'_, usize>;
}
