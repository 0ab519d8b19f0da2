//! Makes tokens, links and browser sessions, and knows whom a request comes from.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::RawJson;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use serde_json::json;
use thiserror::Error;
use tokio::sync::watch;

use super::clock::Clock;
use super::cookie::Cookies;
use super::failures::Failures;
use super::identity::{Identity, Who};
use super::scope::Scope;
use super::secret::{self, NoRandomness, SecretHash};
use super::store::{AccessStore, AccessStoreError, BrowserRecord, LoginCodeRecord, TokenRecord};
use crate::config::Secret;
use crate::id::{BrowserId, TokenId};
use crate::session::By;
use crate::store::AuditEntry;
use crate::web::problem::{self, Problem};

/// How long a link can be used.
pub const LOGIN_CODE_VALID: Duration = Duration::from_secs(10 * 60);
/// How long a browser stays signed in when it is not used.
pub const BROWSER_IDLE: Duration = Duration::from_secs(30 * 24 * 3600);
/// How exactly it is known when a token was used last.
const TOKEN_TOUCH: Duration = Duration::from_secs(60);
/// How exactly it is known when a browser was used last.
const BROWSER_TOUCH: Duration = Duration::from_secs(3600);
/// How often it is looked whether somebody may stay, though nothing was said.
const LOOK: Duration = Duration::from_secs(60);
/// After which time it is looked again, when it could not be.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// The longest name of a token, in characters.
const LONGEST_NAME: usize = 100;

/// Makes tokens, links and browser sessions, and knows whom a request comes from.
#[derive(Debug)]
pub struct Access {
    store: Arc<dyn AccessStore>,
    clock: Arc<dyn Clock>,
    cookies: Cookies,
    url: String,
    failures: Failures,
    /// Counts up whenever somebody is not let in any more.
    shut_out: watch::Sender<u64>,
    /// Held while a command is carried out that may come again.
    commands: Arc<tokio::sync::Mutex<()>>,
}

/// A token to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What it is called.
    pub name: String,
    /// What it is good for.
    pub scope: Scope,
    /// From when on it is good for nothing.
    pub expires_at: Option<Timestamp>,
}

/// Why something was not made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AccessError {
    /// The name of a token cannot be used.
    #[error("the name of a token has 1 to {LONGEST_NAME} characters, and none that cannot be seen")]
    Name,
    /// The time of a token would be over at once.
    #[error("the token would be expired already; give it a time that is to come")]
    Expired,
    /// There is nothing to make a secret of.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// It could not be kept.
    #[error(transparent)]
    Store(#[from] AccessStoreError),
}

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Name | AccessError::Expired => {
                Self::new(problem::BAD_BODY).detail(error.to_string())
            }
            AccessError::NoRandomness(error) => Self::internal(&error),
            AccessError::Store(error) => Self::unavailable(&error),
        }
    }
}

/// What somebody says who they are with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A token.
    Token,
    /// The cookie of a browser.
    Cookie,
}

/// Whom a request comes from.
#[derive(Clone, Debug)]
pub enum Seen {
    /// Nobody has said who they are.
    Nobody,
    /// Somebody who may do something.
    Somebody {
        /// Who.
        identity: Identity,
        /// The cookie, to be sent again because it would be forgotten otherwise.
        renewed: Option<HeaderValue>,
    },
    /// Somebody with something that is not valid.
    Refused {
        /// Which.
        credential: Credential,
        /// Why.
        refusal: Refusal,
    },
}

/// Why somebody was not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not read like anything that we give out.
    Malformed,
    /// We have not given it out, or it is gone.
    Unknown,
    /// It was revoked.
    Revoked,
    /// Its time is over.
    Expired,
    /// There were too many failures from the same address.
    TooMany {
        /// How long to wait.
        wait: Duration,
    },
    /// It could not be looked up.
    Unavailable,
}

impl Refusal {
    /// The answer to somebody who was not let in.
    pub fn problem(&self, credential: Credential) -> Problem {
        let again = match credential {
            Credential::Token => "use another one",
            Credential::Cookie => "sign in again with `countersign login-link`",
        };
        let what = match credential {
            Credential::Token => "the token",
            Credential::Cookie => "the session of this browser",
        };
        let detail = match self {
            Self::Malformed => {
                return Problem::new(problem::NOT_SIGNED_IN)
                    .detail("a token is sent as `Authorization: Bearer cst_…`, once and whole");
            }
            Self::TooMany { wait } => {
                return Problem::new(problem::TOO_MANY_FAILURES)
                    .detail(format!("{what} is not valid, and others before it were not; wait"))
                    .retry_after(*wait);
            }
            Self::Unavailable => {
                return Problem::new(problem::UNAVAILABLE)
                    .detail("tokens cannot be looked up now; try again");
            }
            Self::Unknown => format!("{what} is not known here; {again}"),
            Self::Revoked => format!("{what} was revoked; {again}"),
            Self::Expired => format!("{what} has expired; {again}"),
        };
        Problem::new(problem::NOT_SIGNED_IN).detail(detail)
    }

    /// In a word, for the log.
    const fn name(&self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Unknown => "unknown",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
            Self::TooMany { .. } => "too many failures",
            Self::Unavailable => "unavailable",
        }
    }
}

/// A browser that was let in.
#[derive(Clone, Debug)]
pub struct Login {
    /// The header that gives it its cookie.
    pub cookie: HeaderValue,
    /// What is kept of it.
    pub browser: BrowserRecord,
}

impl Access {
    /// Access by what is in this store, for people who find the server at this URL.
    #[must_use]
    pub fn new(
        store: Arc<dyn AccessStore>,
        clock: Arc<dyn Clock>,
        cookies: Cookies,
        url: impl Into<String>,
    ) -> Self {
        let (failures, shut_out) = (Failures::default(), watch::Sender::new(0));
        let commands = Arc::default();
        Self { store, clock, cookies, url: url.into(), failures, shut_out, commands }
    }

    /// Where all of it is kept.
    #[must_use]
    pub fn store(&self) -> &dyn AccessStore {
        &*self.store
    }

    /// Held while a command is carried out that may come again.
    pub(super) const fn commands(&self) -> &Arc<tokio::sync::Mutex<()>> {
        &self.commands
    }

    /// How the cookie of this server is called and marked.
    #[must_use]
    pub const fn cookies(&self) -> &Cookies {
        &self.cookies
    }

    /// What time it is.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Makes a token. Its text is not kept, and cannot be had again.
    ///
    /// # Errors
    ///
    /// The name or the time cannot be used, or the token could not be kept.
    pub async fn create_token(&self, new: NewToken) -> Result<(Secret, TokenRecord), AccessError> {
        self.create_token_by(By::Server, new).await
    }

    /// Makes a token for somebody.
    ///
    /// # Errors
    ///
    /// As [`create_token`](Self::create_token).
    pub async fn create_token_by(
        &self,
        by: By,
        new: NewToken,
    ) -> Result<(Secret, TokenRecord), AccessError> {
        let (text, token) = self.make_token(new)?;
        self.store.add_token(token.clone()).await?;
        self.made_token(by, &token).await;
        Ok((text, token))
    }

    /// Takes note of a token that was made.
    pub(super) async fn made_token(&self, by: By, token: &TokenRecord) {
        tracing::info!(token = %token.id, scope = %token.scope, "made a token");
        let TokenRecord { id, name, scope, expires_at, .. } = token;
        let what = json!({"token": id, "name": name, "scope": scope, "expires_at": expires_at});
        self.note("token.created", by, what).await;
    }

    /// Adds to the audit what has happened. That it cannot be done does not undo it.
    async fn note(&self, kind: &str, by: By, what: serde_json::Value) {
        let detail = RawJson::from(json!({"what": what}));
        let (at, kind) = (self.now(), kind.to_owned());
        let entry = AuditEntry { at, kind, session: None, approval: None, by, detail };
        if let Err(error) = self.store.note(entry).await {
            tracing::error!(%error, "something is missing in the audit");
        }
    }

    /// A token that is not kept yet.
    pub(super) fn make_token(&self, new: NewToken) -> Result<(Secret, TokenRecord), AccessError> {
        let NewToken { name, scope, expires_at } = new;
        let name = name.trim().to_owned();
        let unseen = name.chars().any(char::is_control);
        if name.is_empty() || name.chars().count() > LONGEST_NAME || unseen {
            return Err(AccessError::Name);
        }
        let now = self.now();
        if expires_at.is_some_and(|end| end <= now) {
            return Err(AccessError::Expired);
        }
        let id = TokenId::new();
        let text = secret::new_token(id)?;
        let hash = SecretHash::of(text.expose());
        let created_at = now;
        let token = TokenRecord {
            id,
            name,
            scope,
            hash,
            created_at,
            expires_at,
            last_used: None,
            revoked_at: None,
        };
        Ok((text, token))
    }

    /// Revokes a token, and with it every browser and every link that was made with it. Says whether
    /// there is such a token.
    ///
    /// # Errors
    ///
    /// The store could not do it; the token may still be valid then.
    pub async fn revoke_token(&self, by: By, id: TokenId) -> Result<bool, AccessStoreError> {
        let found = self.store.revoke_token(id, self.now()).await?;
        if found {
            self.shut_out.send_modify(|count| *count += 1);
            tracing::info!(token = %id, "revoked a token");
            self.note("token.revoked", by, json!({"token": id})).await;
        }
        Ok(found)
    }

    /// Makes a link that lets in one browser, once, with the rights of whoever asks. Gives the link
    /// and when it ends.
    ///
    /// The code is behind the `#`, which browsers send to nobody: it is in no log, in no `Referer`,
    /// and nothing that looks at links for people, such as a chat, can use it up.
    ///
    /// # Errors
    ///
    /// The link could not be kept.
    pub async fn create_login_link(
        &self,
        identity: &Identity,
    ) -> Result<(Secret, Timestamp), AccessError> {
        let code = secret::new_code()?;
        let expires_at = after(self.now(), LOGIN_CODE_VALID);
        let record = LoginCodeRecord {
            hash: SecretHash::of(code.expose()),
            token: identity.token(),
            scope: identity.scope,
            expires_at,
        };
        self.store.add_login_code(record).await?;
        let what = json!({"scope": identity.scope, "expires_at": expires_at});
        self.note("login_link.created", identity.by(), what).await;
        Ok((Secret::new(format!("{}/login#{}", self.url, code.expose())), expires_at))
    }

    /// Lets a browser in with the code of a link, which is used up by that.
    ///
    /// # Errors
    ///
    /// The code is not valid, or not any more.
    pub async fn login(&self, code: &str, from: IpAddr) -> Result<Login, Refusal> {
        let refused = match self.try_login(code).await {
            Ok((login, name)) => {
                let (token, scope) = (login.browser.token, login.browser.scope);
                let by = By::Person { name, token, from: Some(from.to_string()) };
                let what = json!({"browser": login.browser.id, "scope": scope});
                self.note("browser.signed_in", by, what).await;
                tracing::info!(browser = %login.browser.id, token = %login.browser.token, %from, "signed in");
                return Ok(login);
            }
            Err(refused) => refused,
        };
        Err(self.refuse(refused, from, "link"))
    }

    /// Lets a browser in, and says what the token is called.
    async fn try_login(&self, code: &str) -> Result<(Login, String), Refusal> {
        if !secret::is_code(code) {
            return Err(Refusal::Malformed);
        }
        let now = self.now();
        let taken = self.store.take_login_code(SecretHash::of(code), now).await;
        let code = taken.map_err(unavailable)?.ok_or(Refusal::Unknown)?;
        let token = self.valid_token(code.token, now).await?;
        let value = secret::new_cookie().map_err(unavailable)?;
        let browser = BrowserRecord {
            id: BrowserId::new(),
            hash: SecretHash::of(value.expose()),
            token: token.id,
            scope: code.scope.min(token.scope),
            created_at: now,
            last_used: now,
            expires_at: after(now, BROWSER_IDLE),
        };
        self.store.add_browser(browser.clone()).await.map_err(unavailable)?;
        Ok((Login { cookie: self.cookies.set(&value, BROWSER_IDLE), browser }, token.name))
    }

    /// Whom a request with these headers comes from. A token counts before a cookie, and a token that
    /// is not valid is not made up for by a cookie that is.
    pub async fn see(&self, headers: &HeaderMap, from: IpAddr) -> Seen {
        let (credential, seen) = if headers.contains_key(AUTHORIZATION) {
            let seen = self.by_token(headers, from).await.map(|identity| (identity, None));
            (Credential::Token, seen)
        } else if let Some(value) = self.cookies.find(headers) {
            (Credential::Cookie, self.by_cookie(value, from).await)
        } else {
            return Seen::Nobody;
        };
        match seen {
            Ok((identity, renewed)) => Seen::Somebody { identity, renewed },
            Err(refusal) => {
                let what = match credential {
                    Credential::Token => "token",
                    Credential::Cookie => "cookie",
                };
                Seen::Refused { credential, refusal: self.refuse(refusal, from, what) }
            }
        }
    }

    async fn by_token(&self, headers: &HeaderMap, from: IpAddr) -> Result<Identity, Refusal> {
        let text = bearer(headers).ok_or(Refusal::Malformed)?;
        let id = secret::token_id(text).ok_or(Refusal::Malformed)?;
        let now = self.now();
        let token = self.store.token(id).await.map_err(unavailable)?.ok_or(Refusal::Unknown)?;
        // Only who has the secret learns what became of the token.
        if token.hash != SecretHash::of(text) {
            return Err(Refusal::Unknown);
        }
        let token = validated(token, now)?;
        if token.last_used.is_none_or(|at| is_over(at, TOKEN_TOUCH, now)) {
            note_failure(self.store.touch_token(id, now).await);
        }
        Ok(Identity { who: Who::Token { id, name: token.name }, scope: token.scope, from })
    }

    async fn by_cookie(
        &self,
        value: &str,
        from: IpAddr,
    ) -> Result<(Identity, Option<HeaderValue>), Refusal> {
        let now = self.now();
        let found = self.store.browser(SecretHash::of(value)).await.map_err(unavailable)?;
        let browser = found.ok_or(Refusal::Unknown)?;
        if browser.expires_at <= now {
            return Err(Refusal::Expired);
        }
        let token = self.valid_token(browser.token, now).await?;
        let mut renewed = None;
        if is_over(browser.last_used, BROWSER_TOUCH, now) {
            let expires_at = after(now, BROWSER_IDLE);
            note_failure(self.store.touch_browser(browser.id, now, expires_at).await);
            renewed = Some(self.cookies.set(&Secret::new(value), BROWSER_IDLE));
        }
        let scope = browser.scope.min(token.scope);
        let who = Who::Browser { id: browser.id, token: token.id, name: token.name };
        Ok((Identity { who, scope, from }, renewed))
    }

    async fn valid_token(&self, id: TokenId, now: Timestamp) -> Result<TokenRecord, Refusal> {
        let token = self.store.token(id).await.map_err(unavailable)?.ok_or(Refusal::Unknown)?;
        validated(token, now)
    }

    /// Counts a refusal and writes it down, unless there are too many to do so.
    fn refuse(&self, refusal: Refusal, from: IpAddr, what: &'static str) -> Refusal {
        if refusal == Refusal::Unavailable {
            return refusal;
        }
        if let Some(wait) = self.failures.note(from, self.now()) {
            return Refusal::TooMany { wait };
        }
        tracing::warn!(%from, what, why = refusal.name(), "let nobody in");
        refusal
    }

    /// Waits until somebody is not let in any more: their token was revoked or has expired, or their
    /// browser was signed out. While nobody can say, they stay.
    pub async fn shut_out(self: Arc<Self>, identity: Identity) {
        let mut changes = self.shut_out.subscribe();
        loop {
            let wait = match self.good_for(&identity).await {
                Ok(Some(time)) => time.min(LOOK),
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "it cannot be looked up who may stay");
                    LOOK_AGAIN
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                // It ends with the server.
                changed = changes.changed() => if changed.is_err() { return },
            }
        }
    }

    /// How long somebody is let in from now on; nothing if they are not.
    async fn good_for(&self, identity: &Identity) -> Result<Option<Duration>, AccessStoreError> {
        let now = self.now();
        let token = self.store.token(identity.token()).await?;
        let Some(token) = token.filter(|token| token.is_valid(now)) else { return Ok(None) };
        let mut end = token.expires_at.unwrap_or(Timestamp::MAX);
        if let Who::Browser { id, .. } = &identity.who {
            let mut browsers = self.store.browsers().await?.into_iter();
            let Some(browser) = browsers.find(|browser| browser.id == *id) else {
                return Ok(None);
            };
            end = end.min(browser.expires_at);
        }
        let left = end.duration_since(now);
        Ok(left.is_positive().then(|| Duration::try_from(left).unwrap_or(LOOK)))
    }

    /// Removes links and browser sessions whose time is over, and says how many. They are good for
    /// nothing anyway; call it now and then, so that they do not pile up.
    ///
    /// # Errors
    ///
    /// The store could not do it.
    pub async fn forget_expired(&self) -> Result<usize, AccessStoreError> {
        self.store.forget_expired(self.now()).await
    }

    /// Signs a browser out.
    ///
    /// # Errors
    ///
    /// The store could not do it; the browser may still be signed in then.
    pub async fn logout(&self, by: By, browser: BrowserId) -> Result<bool, AccessStoreError> {
        let found = self.store.remove_browser(browser).await?;
        if found {
            self.shut_out.send_modify(|count| *count += 1);
            tracing::info!(%browser, "signed out");
            self.note("browser.signed_out", by, json!({"browser": browser})).await;
        }
        Ok(found)
    }
}

fn validated(token: TokenRecord, now: Timestamp) -> Result<TokenRecord, Refusal> {
    if token.is_revoked() {
        Err(Refusal::Revoked)
    } else if token.is_expired(now) {
        Err(Refusal::Expired)
    } else {
        Ok(token)
    }
}

/// The text after `Bearer`, if there is exactly one such header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (scheme, text) = all.next()?.to_str().ok()?.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && all.next().is_none()).then(|| text.trim())
}

fn unavailable(error: impl std::error::Error) -> Refusal {
    tracing::error!(%error, "nobody can be let in");
    Refusal::Unavailable
}

/// That a time could not be noted is no reason to refuse anybody.
fn note_failure(result: Result<(), AccessStoreError>) {
    if let Err(error) = result {
        tracing::warn!(%error, "the time of use is not noted");
    }
}

fn after(now: Timestamp, time: Duration) -> Timestamp {
    now.checked_add(time).unwrap_or(Timestamp::MAX)
}

fn is_over(since: Timestamp, time: Duration, now: Timestamp) -> bool {
    after(since, time) <= now
}
