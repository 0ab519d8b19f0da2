//! A laboratory for the Claude Code protocol.
//!
//! The real CLI, run offline and isolated against a scripted model, and a simulated CLI that is
//! driven by the same scripts.

#![warn(missing_docs)]

mod driver;
mod guard;
mod lab;
mod process;
mod sandbox;
mod version;
mod versions;

pub mod command;
pub mod fidelity;
pub mod model;
pub mod scenario;
pub mod script;

pub use self::driver::{Cli, DriverError, Ended, Said, Speaker, Transcript};
pub use self::guard::Refused;
pub use self::lab::{Lab, LabBuilder, LabError, Launch, LaunchError, Program};
pub use self::sandbox::Isolation;
pub use self::version::{NotAVersion, Version};
pub use self::versions::{InstallError, Installed, Versions};

/// The example of the guide to scripts is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/scripts.md")]
struct Guide;
