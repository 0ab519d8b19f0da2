//! A laboratory for the Claude Code protocol.
//!
//! The real CLI, run offline and isolated against a scripted model, and a simulated CLI that is
//! driven by the same scripts. `docs/laboratory.md` in the repository is the guide.
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`Lab`] | a scripted model, a sandbox and a working folder, in one call |
//! | [`Cli`] | a client without opinions, to talk to what runs in the laboratory |
//! | [`Versions`] | the real CLI, installed from the npm registry |
//! | [`script`] | what the model says: files for people, or a builder |
//! | [`model`] | a stand-in for the Messages API that follows a script |
//! | [`scenario`] | conversations that show what a CLI does |
//! | [`experiment`] | questions about the protocol, put to any version, and what is documented |
//! | [`report`] | the results of experiments, side by side |
//! | [`drift`] | what changed between two versions of the real CLI |
//! | [`fidelity`] | the simulated CLI, compared with the real one |
//! | [`postgres`] | a PostgreSQL server of one's own, for tests |

#![warn(missing_docs)]

mod driver;
mod guard;
mod lab;
mod npm;
mod process;
mod sandbox;
mod sdk;
mod talk;
mod transcript;
mod versions;

pub mod drift;
pub mod experiment;
pub mod fidelity;
pub mod model;
pub mod postgres;
pub mod report;
pub mod scenario;
pub mod script;
pub mod sim;

pub use self::driver::{Cli, DriverError, Ended, Said, Speaker, Transcript};
pub use self::guard::Refused;
pub use self::lab::{Lab, LabBuilder, LabError, Launch, LaunchError, Program};
pub use self::sandbox::Isolation;
pub use self::sdk::Sdk;
pub use self::versions::{InstallError, Installed, Versions};
pub use countersign_protocol::{NotAVersion, Version};

/// The examples of the guides are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/scripts.md")]
#[doc = include_str!("../../../docs/laboratory.md")]
struct Guides;

/// The example of the crate's README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
