//! Sessions on disk: list, read, rename, tag, fork, archive and delete them without a process.
//!
//! The CLI keeps a transcript of each session, one JSON object a line, below its configuration
//! folder. [`Sessions`] is a handle on such a folder.
//!
//! ```
//! use countersign::transcript::{ListOptions, MessageOptions, Sessions};
//!
//! # fn main() -> Result<(), countersign::transcript::TranscriptError> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let home = folder.path();
//! let sessions = Sessions::at(home);
//! for info in sessions.list(&ListOptions::new().limit(10))? {
//!     println!("{} {}", info.session_id, info.summary);
//!     for message in sessions.messages(&info.session_id, &MessageOptions::new())? {
//!         println!("{:?}", message?.body);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Rules that hold everywhere
//!
//! - Everything here blocks. On an async runtime, call it from `spawn_blocking`.
//! - What a transcript holds is never an error: a line that is torn, broken or new is passed over.
//!   Errors are about files and about what the caller asked for.
//! - Memory is bounded by the longest line and a few dozen bytes an entry, not by the size of a
//!   transcript. A line above [`MAX_LINE`] is passed over.
//! - A transcript is only ever appended to, so that a running session can be renamed or tagged. A
//!   fork appears under its name when it is complete.
//! - A session id that is not a UUID is refused before it becomes part of a path.

mod append;
mod chain;
mod digest;
mod edit;
mod error;
mod fields;
mod files;
mod fork;
mod index;
mod info;
mod lines;
mod list;
mod message;
mod messages;
mod project;
mod sessions;
mod subagents;
mod worktrees;

pub use self::error::TranscriptError;
pub use self::fork::ForkOptions;
pub use self::info::SessionInfo;
pub use self::lines::MAX_LINE;
pub use self::list::ListOptions;
pub use self::message::{StoredBody, StoredMessage};
pub use self::messages::{MessageOptions, Messages};
pub use self::project::ProjectKey;
pub use self::sessions::Sessions;
pub use self::subagents::Subagent;

pub(crate) use self::append::append_lines;
pub(crate) use self::chain::{Conversation, visible};
pub(crate) use self::digest::Digest;
pub(crate) use self::edit::{tag_line, title_line};
pub(crate) use self::error::io_error;
pub(crate) use self::fields::Fields;
pub(crate) use self::files::{agent_metadata_path, agent_transcripts, checked_session};
pub(crate) use self::fork::Fork;
pub(crate) use self::index::{EntryMessage, Index};
pub(crate) use self::info::digest as digest_of_file;
pub(crate) use self::lines::LineReader;
pub(crate) use self::message::Parents;
pub(crate) use self::subagents::metadata as agent_metadata;

/// The examples of the guide are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/sessions.md")]
struct Guide;
