//! What every store of tokens has to do. A new store gets a test here, and passes the same.

use std::cell::Cell;
use std::sync::Arc;

use countersign_server::access::{
    AccessStore, BrowserRecord, LoginCodeRecord, MemoryAccess, Scope, SecretHash, TokenRecord,
};
use countersign_server::id::{BrowserId, TokenId};
use countersign_server::store::SqliteStore;
use jiff::{SignedDuration, Timestamp};

#[tokio::test]
async fn the_store_in_memory() {
    conforms(async || Arc::new(MemoryAccess::default())).await;
}

#[tokio::test]
async fn the_store_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let number = Cell::new(0);
    conforms(async || {
        number.set(number.get() + 1);
        let path = folder.path().join(number.get().to_string());
        Arc::new(SqliteStore::open(path, Arc::default()).await.unwrap())
    })
    .await;
}

fn at(seconds: i64) -> Timestamp {
    // To the microsecond, which is what databases keep.
    Timestamp::from_microsecond(1_794_988_800_123_456).unwrap() + SignedDuration::from_secs(seconds)
}

fn token(name: &str) -> TokenRecord {
    TokenRecord {
        id: TokenId::new(),
        name: name.into(),
        scope: Scope::Decide,
        hash: SecretHash::of(name),
        created_at: at(0),
        expires_at: Some(at(1000)),
        last_used: None,
        revoked_at: None,
    }
}

fn code(name: &str, token: &TokenRecord, expires_at: Timestamp) -> LoginCodeRecord {
    LoginCodeRecord { hash: SecretHash::of(name), token: token.id, scope: Scope::Read, expires_at }
}

fn browser(name: &str, token: &TokenRecord, expires_at: Timestamp) -> BrowserRecord {
    BrowserRecord {
        id: BrowserId::new(),
        hash: SecretHash::of(name),
        token: token.id,
        scope: Scope::Read,
        created_at: at(1),
        last_used: at(2),
        expires_at,
    }
}

/// Fails if an empty store of this kind does not do what it has to.
pub(crate) async fn conforms<S: AccessStore + 'static>(empty: impl AsyncFn() -> Arc<S>) {
    tokens_are_kept_and_listed(&*empty().await).await;
    the_first_token_is_the_only_one(empty().await).await;
    a_revoked_token_takes_all_with_it(&*empty().await).await;
    codes_are_taken_once(empty().await).await;
    browsers_are_kept_until_they_are_removed(&*empty().await).await;
    what_is_over_is_forgotten(&*empty().await).await;
}

async fn tokens_are_kept_and_listed(store: &dyn AccessStore) {
    let [mut one, two] = [token("one"), token("two")];
    for token in [&one, &two] {
        store.add_token(token.clone()).await.unwrap();
    }
    assert_eq!(store.token(one.id).await.unwrap(), Some(one.clone()));
    assert_eq!(store.token(TokenId::new()).await.unwrap(), None);
    store.touch_token(one.id, at(5)).await.unwrap();
    store.touch_token(TokenId::new(), at(5)).await.unwrap();
    one.last_used = Some(at(5));
    assert_eq!(store.tokens().await.unwrap(), [one, two]);
}

async fn the_first_token_is_the_only_one(store: Arc<impl AccessStore + 'static>) {
    let tries = (0..8).map(|index| store.add_first_token(token(&format!("{index}"))));
    let made = futures_util::future::join_all(tries).await;
    assert_eq!(made.into_iter().filter(|made| *made.as_ref().unwrap()).count(), 1);
    let tokens = store.tokens().await.unwrap();
    assert_eq!(tokens.len(), 1);
    store.revoke_token(tokens.first().unwrap().id, at(1)).await.unwrap();
    assert!(!store.add_first_token(token("late")).await.unwrap());
}

async fn a_revoked_token_takes_all_with_it(store: &dyn AccessStore) {
    let [one, two] = [token("one"), token("two")];
    for token in [&one, &two] {
        store.add_token(token.clone()).await.unwrap();
        store.add_login_code(code(&format!("{} code", token.name), token, at(10))).await.unwrap();
        store
            .add_browser(browser(&format!("{} browser", token.name), token, at(10)))
            .await
            .unwrap();
    }
    assert!(store.revoke_token(one.id, at(3)).await.unwrap());
    assert!(store.revoke_token(one.id, at(4)).await.unwrap());
    assert!(!store.revoke_token(TokenId::new(), at(3)).await.unwrap());
    let revoked = store.token(one.id).await.unwrap().unwrap().revoked_at;
    assert_eq!(revoked, Some(at(3)), "the first time stays");
    assert_eq!(store.take_login_code(SecretHash::of("one code"), at(5)).await.unwrap(), None);
    assert_eq!(store.browser(SecretHash::of("one browser")).await.unwrap(), None);
    assert_eq!(store.token(two.id).await.unwrap().unwrap().revoked_at, None);
    assert!(store.take_login_code(SecretHash::of("two code"), at(5)).await.unwrap().is_some());
    assert!(store.browser(SecretHash::of("two browser")).await.unwrap().is_some());
}

async fn codes_are_taken_once(store: Arc<impl AccessStore + 'static>) {
    let token = token("one");
    store.add_token(token.clone()).await.unwrap();
    for name in ["a", "b"] {
        store.add_login_code(code(name, &token, at(10))).await.unwrap();
    }
    let hash = SecretHash::of("a");
    let taken =
        futures_util::future::join_all((0..8).map(|_| store.take_login_code(hash, at(9)))).await;
    let taken: Vec<_> = taken.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(taken, [code("a", &token, at(10))]);
    assert_eq!(
        store.take_login_code(SecretHash::of("b"), at(10)).await.unwrap(),
        None,
        "it is over"
    );
    assert_eq!(
        store.take_login_code(SecretHash::of("b"), at(9)).await.unwrap(),
        None,
        "and is gone"
    );
    assert_eq!(store.take_login_code(SecretHash::of("c"), at(9)).await.unwrap(), None);
}

async fn browsers_are_kept_until_they_are_removed(store: &dyn AccessStore) {
    let token = token("one");
    store.add_token(token.clone()).await.unwrap();
    let [mut one, two] = [browser("one", &token, at(10)), browser("two", &token, at(10))];
    for browser in [&one, &two] {
        store.add_browser(browser.clone()).await.unwrap();
    }
    assert_eq!(store.browser(one.hash).await.unwrap(), Some(one.clone()));
    store.touch_browser(one.id, at(7), at(17)).await.unwrap();
    (one.last_used, one.expires_at) = (at(7), at(17));
    assert_eq!(store.browsers().await.unwrap(), [one.clone(), two]);
    assert!(store.remove_browser(one.id).await.unwrap());
    assert!(!store.remove_browser(one.id).await.unwrap());
    assert_eq!(store.browser(one.hash).await.unwrap(), None);
}

async fn what_is_over_is_forgotten(store: &dyn AccessStore) {
    let token = token("one");
    store.add_token(token.clone()).await.unwrap();
    for (name, end) in [("early", at(10)), ("late", at(11))] {
        store.add_login_code(code(&format!("{name} code"), &token, end)).await.unwrap();
        store.add_browser(browser(name, &token, end)).await.unwrap();
    }
    assert_eq!(store.forget_expired(at(10)).await.unwrap(), 2);
    assert_eq!(store.browsers().await.unwrap().len(), 1);
    assert!(store.take_login_code(SecretHash::of("late code"), at(10)).await.unwrap().is_some());
    assert_eq!(store.forget_expired(at(2000)).await.unwrap(), 1);
    assert_eq!(store.tokens().await.unwrap().len(), 1, "tokens stay, also when they are over");
}
