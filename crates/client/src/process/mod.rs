//! The processes of sessions: what runs, how it ended, and what was left behind.
//!
//! The CLI is a process, and so are its tools; they run in sessions of their own, and outlive a CLI
//! that is killed. A session of Countersign ends all of it, in whatever way it ends itself. How, and
//! what cannot be done, is described in `docs/processes.md`.
//!
//! Sessions are started and ended by their own methods. Here are the types that tell about it, and
//! [`Leftovers`] for those who clean up after a crash.

mod child;
mod id;
mod keeper;
mod kin;
mod leftovers;
mod mark;
mod scope;
mod signal;
mod spawn;
mod sweep;
mod table;
mod times;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

pub use self::child::{Ended, HowEnded};
pub use self::id::{ProcessId, ProcessIdError, ProcessInfo};
pub use self::leftovers::Leftovers;
pub use self::mark::{Mark, MarkError};
pub use self::spawn::SpawnError;
pub use self::sweep::Swept;
pub use self::times::ShutdownTimes;

pub(crate) use self::child::Process;
pub(crate) use self::keeper::call_keeper;
pub(crate) use self::spawn::{Environment, SpawnSpec, Spawned, spawn};
