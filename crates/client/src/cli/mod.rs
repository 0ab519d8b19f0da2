//! Finding the CLI, its version, and what that version can do.
//!
//! ```no_run
//! use countersign::cli::{Capability, Cli};
//!
//! let cli = Cli::find()?;
//! if let Some(version) = cli.version_if_cheap() {
//!     println!("{} is {version}", cli.path().display());
//!     if !Capability::DEFER.in_version(version) {
//!         println!("a session cannot be parked with it");
//!     }
//! }
//! # Ok::<(), countersign::cli::FindError>(())
//! ```

mod capability;
mod find;
mod program;
mod table;
mod version;

pub use self::capability::{Capability, CapabilityKind, Unsupported};
pub use self::find::{Fault, FindError, FindOptions, Looked};
pub use self::program::Cli;
pub use self::version::VersionError;
pub use countersign_protocol::{NotAVersion, Version};
