//! Drive Claude Code from Rust, and countersign what it does.

#![warn(missing_docs, clippy::missing_errors_doc)]

mod builder;
mod options;
pub mod process;

pub mod cli;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod store;
pub mod transcript;

pub use self::builder::SessionBuilder;
pub use self::options::{
    ChildEnvironment, Environment, Launch, OptionsError, PermissionPrompts, PreviewFormat,
    SettingSource, Skills, Thinking, ToolSet,
};
pub use countersign_protocol as protocol;
