//! Sessions that are kept in a store.

use std::sync::Arc;

use countersign::park::{ParkError, Raised, Resumed};
use countersign::protocol::RawJson;
use countersign::store::{
    MemoryStore, MirrorOptions, SessionStore, StoreError, StoreFuture, StoreKey,
};
use libtest_mimic::Trial;

use super::{WRITE_TWICE, asks_next, kept, new_file, nobody, parked, resume};
use crate::kit::{Cli, Outcome, V197, builder, close, lab, on_all, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("parking::a_session_from_a_store", V197, from_store),
        on_all("parking::a_store_that_fails_keeps_a_session_from_being_parked", V197, broken),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Parks a session that is kept in a store, and loses its home folder. Then it is brought back from
/// the store, and parked there.
async fn from_store(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE_TWICE).await;
    let store: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    let kept_in = || builder(&lab).session_store(Arc::clone(&store), MirrorOptions::new());
    let token = parked(kept_in()).await;
    std::fs::remove_dir_all(lab.home().join(".claude/projects"))?;
    let resumed = resume(kept_in().on_permission(nobody), &token, |ask| Ok(ask.allow())).await;
    assert_eq!(resumed.raised, Raised::SameCall);
    let session = resumed.session;
    asks_next(&session, &token).await;
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    let token = soon("parking", session.park()).await.map_err(|(_, error)| error)?;
    let Resumed { mut session, raised, .. } =
        resume(kept_in(), &kept(&token), |ask| Ok(ask.allow())).await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert!(lab.work().join("second.txt").exists());
    close(session, lab).await;
    Ok(())
}

/// A store that takes nothing.
struct Broken(Arc<MemoryStore>);

impl SessionStore for Broken {
    fn append<'a>(&'a self, _: &'a StoreKey, _: &'a [RawJson]) -> StoreFuture<'a, ()> {
        Box::pin(async { Err(StoreError::backend("full")) })
    }

    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>> {
        self.0.load(key)
    }
}

/// Nothing would be left of a session from a store that does not have its last call.
async fn broken(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE_TWICE).await;
    let store = Arc::new(MemoryStore::new());
    let whole: Arc<dyn SessionStore> = Arc::<MemoryStore>::clone(&store);
    let token = parked(builder(&lab).session_store(whole, MirrorOptions::new())).await;
    std::fs::remove_dir_all(lab.home().join(".claude/projects"))?;
    let broken: Arc<dyn SessionStore> = Arc::new(Broken(store));
    let broken = builder(&lab).session_store(broken, MirrorOptions::new());
    let resumed = resume(broken.on_permission(nobody), &token, |ask| Ok(ask.allow())).await;
    let session = resumed.session;
    asks_next(&session, &token).await;
    let (session, error) = soon("parking", session.park()).await.unwrap_err();
    assert!(matches!(error, ParkError::Store(_)), "{error}");
    // It waits as before.
    assert_eq!(session.open_permissions().len(), 1);
    close(session, lab).await;
    Ok(())
}
