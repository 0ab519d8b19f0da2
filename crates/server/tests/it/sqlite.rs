//! The store in a file, as a server uses it.

use std::sync::Arc;

use countersign_server::access::Clock;
use countersign_server::bus::Bus;
use countersign_server::store::conformance::{self, Place};
use countersign_server::store::{SqliteSettings, SqliteStore, Store, StoreFuture};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::random;

/// A folder with a store in it.
struct Folder(TempDir);

impl Place for Folder {
    fn open(&self, bus: Arc<Bus>, clock: Arc<dyn Clock>) -> StoreFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            let settings = SqliteSettings { clock, ..SqliteSettings::default() };
            let store = SqliteStore::open_with(self.0.path().join("store"), bus, settings).await?;
            Ok(Arc::new(store) as _)
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_a_file_keeps_all_rules() {
    let fresh = async || Arc::new(Folder(tempfile::tempdir().unwrap())) as _;
    let report = conformance::check(fresh).await;
    let broken: Vec<_> = report.broken.iter().map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(report.passed.len() > 50, "{:?}", report.passed);
}

#[test]
fn whatever_is_tried_the_log_and_what_is_made_of_it_agree() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let written = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() };
    proptest!(config, |(steps in random::steps())| {
        let place = Arc::new(Folder(tempfile::tempdir().unwrap()));
        written.set(written.get() + runtime.block_on(random::live(place, &steps)));
    });
    // Most is refused, but not everything: otherwise nothing was shown.
    assert!(written.get() > 300, "{written:?}");
}
