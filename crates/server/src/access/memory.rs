//! A store that forgets everything with the process.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::secret::SecretHash;
use super::store::{
    AccessStore, BrowserRecord, CarriedOut, LoginCodeRecord, StoreFuture, TokenRecord,
};
use crate::id::{BrowserId, TokenId};
use crate::store::{AuditEntry, Command};

/// A store for tests: everything in it is gone with the process.
#[derive(Debug, Default)]
pub struct MemoryAccess(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Ids sort by the time at which they were made.
    tokens: BTreeMap<TokenId, TokenRecord>,
    codes: HashMap<SecretHash, LoginCodeRecord>,
    browsers: BTreeMap<BrowserId, BrowserRecord>,
    commands: Vec<Command>,
}

impl MemoryAccess {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn done<'a, T: Send + 'a>(value: T) -> StoreFuture<'a, T> {
    Box::pin(ready(Ok(value)))
}

impl AccessStore for MemoryAccess {
    fn add_token(&self, token: TokenRecord) -> StoreFuture<'_, ()> {
        self.kept().tokens.insert(token.id, token);
        done(())
    }

    fn add_first_token(&self, token: TokenRecord) -> StoreFuture<'_, bool> {
        let mut kept = self.kept();
        let first = kept.tokens.is_empty();
        if first {
            kept.tokens.insert(token.id, token);
        }
        done(first)
    }

    fn token(&self, id: TokenId) -> StoreFuture<'_, Option<TokenRecord>> {
        done(self.kept().tokens.get(&id).cloned())
    }

    fn tokens(&self) -> StoreFuture<'_, Vec<TokenRecord>> {
        done(self.kept().tokens.values().cloned().collect())
    }

    fn revoke_token(&self, id: TokenId, at: Timestamp) -> StoreFuture<'_, bool> {
        let mut kept = self.kept();
        kept.codes.retain(|_, code| code.token != id);
        kept.browsers.retain(|_, browser| browser.token != id);
        let token = kept.tokens.get_mut(&id);
        done(token.is_some_and(|token| {
            token.revoked_at.get_or_insert(at);
            true
        }))
    }

    fn touch_token(&self, id: TokenId, at: Timestamp) -> StoreFuture<'_, ()> {
        if let Some(token) = self.kept().tokens.get_mut(&id) {
            token.last_used = Some(at);
        }
        done(())
    }

    fn add_login_code(&self, code: LoginCodeRecord) -> StoreFuture<'_, ()> {
        self.kept().codes.insert(code.hash, code);
        done(())
    }

    fn take_login_code(
        &self,
        hash: SecretHash,
        now: Timestamp,
    ) -> StoreFuture<'_, Option<LoginCodeRecord>> {
        done(self.kept().codes.remove(&hash).filter(|code| now < code.expires_at))
    }

    fn add_browser(&self, browser: BrowserRecord) -> StoreFuture<'_, ()> {
        self.kept().browsers.insert(browser.id, browser);
        done(())
    }

    fn browser(&self, hash: SecretHash) -> StoreFuture<'_, Option<BrowserRecord>> {
        done(self.kept().browsers.values().find(|browser| browser.hash == hash).cloned())
    }

    fn browsers(&self) -> StoreFuture<'_, Vec<BrowserRecord>> {
        done(self.kept().browsers.values().cloned().collect())
    }

    fn touch_browser(
        &self,
        id: BrowserId,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> StoreFuture<'_, ()> {
        if let Some(browser) = self.kept().browsers.get_mut(&id) {
            browser.last_used = at;
            browser.expires_at = expires_at;
        }
        done(())
    }

    fn remove_browser(&self, id: BrowserId) -> StoreFuture<'_, bool> {
        done(self.kept().browsers.remove(&id).is_some())
    }

    fn carried_out(&self, command: Command) -> StoreFuture<'_, CarriedOut> {
        let kept = self.kept();
        let mut same = kept
            .commands
            .iter()
            .filter(|known| known.owner == command.owner && known.key == command.key);
        done(match same.next() {
            Some(known) if known.fingerprint == command.fingerprint => {
                CarriedOut::Before(known.response.clone())
            }
            Some(_) => CarriedOut::Another,
            None => CarriedOut::No,
        })
    }

    fn remember(&self, command: Command) -> StoreFuture<'_, ()> {
        self.kept().commands.push(command);
        done(())
    }

    fn note(&self, _: AuditEntry) -> StoreFuture<'_, ()> {
        done(())
    }

    fn forget_expired(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        let mut kept = self.kept();
        let before = kept.codes.len() + kept.browsers.len();
        kept.codes.retain(|_, code| now < code.expires_at);
        kept.browsers.retain(|_, browser| now < browser.expires_at);
        let left = kept.codes.len() + kept.browsers.len();
        done(before - left)
    }
}
