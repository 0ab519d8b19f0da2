//! The server itself, and who may do what with it.

use jiff::Timestamp;
use serde::Deserialize;

use super::call::Call;
use super::{Client, ClientError};
use crate::access::Identity;
use crate::access::api::{Browser, Browsers, CreateToken, CreatedToken, Token, Tokens};
use crate::api::{Backup, ServerInfo};
use crate::config::Secret;
use crate::id::{BrowserId, TokenId};
use crate::store::Totals;

/// A link that lets in one browser, once.
#[derive(Clone, Debug, Deserialize)]
pub struct LoginLink {
    /// The link. Whoever has it first is let in.
    pub url: Secret,
    /// From when on it is good for nothing.
    pub expires_at: Timestamp,
}

impl Client {
    /// The server: its version, its folders, its limits.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn server(&self) -> Result<ServerInfo, ClientError> {
        self.call(Call::get("/server")).await
    }

    /// Who we are to the server, and what we may do.
    ///
    /// # Errors
    /// When the token is not valid.
    pub async fn me(&self) -> Result<Identity, ClientError> {
        self.call(Call::get("/me")).await
    }

    /// What all sessions have used, and how many there are.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn usage(&self) -> Result<Totals, ClientError> {
        self.call(Call::get("/usage")).await
    }

    /// Copies everything that the server keeps to a file on its machine. It is not tried again: there
    /// would be two copies.
    ///
    /// # Errors
    /// When the token is not good for it, or the copy cannot be made.
    pub async fn backup(&self) -> Result<Backup, ClientError> {
        self.call(Call::only_once("/backup")).await
    }

    /// All tokens, also those that are good for nothing any more.
    ///
    /// # Errors
    /// When our own is not good for it.
    pub async fn tokens(&self) -> Result<Vec<Token>, ClientError> {
        self.call(Call::get("/tokens")).await.map(|all: Tokens| all.tokens)
    }

    /// Makes a token. It is not tried again: there would be one that nobody knows.
    ///
    /// # Errors
    /// When our own is not good for it, or something about the new one is not right.
    pub async fn create_token(&self, new: &CreateToken) -> Result<CreatedToken, ClientError> {
        self.call(Call::only_once("/tokens").body(new)?).await
    }

    /// Revokes a token, and signs out every browser that was let in with it.
    ///
    /// # Errors
    /// When there is none, or our own is not good for it.
    pub async fn revoke_token(&self, token: TokenId) -> Result<(), ClientError> {
        self.done(Call::delete(format!("/tokens/{token}"))).await
    }

    /// All browsers that are signed in.
    ///
    /// # Errors
    /// When our token is not good for it.
    pub async fn browsers(&self) -> Result<Vec<Browser>, ClientError> {
        self.call(Call::get("/browsers")).await.map(|all: Browsers| all.browsers)
    }

    /// Signs a browser out.
    ///
    /// # Errors
    /// When there is none, or our token is not good for it.
    pub async fn sign_out(&self, browser: BrowserId) -> Result<(), ClientError> {
        self.done(Call::delete(format!("/browsers/{browser}"))).await
    }

    /// Makes a link that lets in one browser, once, with our own rights. It is not tried again: a link
    /// whose answer was lost cannot be had.
    ///
    /// # Errors
    /// When our token is not valid.
    pub async fn create_login_link(&self) -> Result<LoginLink, ClientError> {
        self.call(Call::only_once("/login-links")).await
    }
}
