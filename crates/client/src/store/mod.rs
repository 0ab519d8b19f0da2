//! Session stores: transcripts that are kept elsewhere than on the disk of the CLI.
//!
//! A [`SessionStore`] takes the entries of transcripts and gives them back. The CLI still writes its
//! own files; a [`Mirror`] sends what it writes to the store as well, and [`Materialized`] puts a
//! session from the store where a CLI on any machine can resume it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use countersign::store::{MemoryStore, SessionStore, StoreKey, StoreSessions};
//! use countersign::transcript::ProjectKey;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
//! let project = ProjectKey::of_text("/home/me/project");
//! let key = StoreKey::new(project.clone(), "11111111-2222-4333-8444-555555555555".into())?;
//! let entry = r#"{"type":"user","uuid":"a","message":{"role":"user","content":"Hi"}}"#;
//! store.append(&key, &[entry.parse()?]).await?;
//!
//! let sessions = StoreSessions::new(store, project);
//! sessions.rename(key.session_id(), "A title").await?;
//! assert_eq!(sessions.list(&Default::default()).await?[0].summary, "A title");
//! # Ok(())
//! # }
//! ```
//!
//! To test your own implementation of a store, enable the feature `conformance` and call
//! `conformance::check`.

mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod file;
mod import;
mod key;
mod materialized;
mod memory;
mod mirror;
mod sessions;
mod summary;
mod traits;

pub use self::config::ConfigSource;
pub use self::error::{KeyError, StoreError, StoreSessionError};
pub use self::file::{Durability, FileStore};
pub use self::import::{ImportOptions, Imported, import_session};
pub use self::key::{StoreKey, Subpath};
pub use self::materialized::{MaterializeOptions, Materialized};
pub use self::memory::MemoryStore;
pub(crate) use self::mirror::Flush;
pub use self::mirror::{Mirror, MirrorError, MirrorFailure, MirrorOptions};
pub use self::sessions::StoreSessions;
pub use self::summary::{SessionSummary, fold_summary};
pub use self::traits::{SessionStore, StoreFuture, StoredSession};
