//! Drive Claude Code from Rust, and countersign what it does.

#![warn(missing_docs, clippy::missing_errors_doc)]

mod builder;
mod counters;
mod dialog;
mod error;
mod limits;
mod link;
mod message;
mod options;
mod query;
mod recording;
mod session;
mod times;

#[cfg(feature = "blocking")]
pub mod blocking;
pub mod cli;
pub mod hook;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod park;
pub mod permission;
pub mod process;
pub mod store;
pub mod transcript;
pub mod turn;

pub use self::builder::SessionBuilder;
pub use self::counters::Stats;
pub use self::error::{ConnectError, ControlError, FreshError, SendError, TurnError};
pub use self::limits::{LimitReached, Limits};
pub use self::message::{Message, Saying};
pub use self::options::{
    ChildEnvironment, Environment, Launch, OptionsError, PermissionPrompts, PreviewFormat,
    SettingSource, Skills, Thinking, ToolSet,
};
pub use self::query::{QueryError, query};
pub use self::session::{Session, SessionEnd, SessionHandle, Snapshot};
pub use countersign_protocol as protocol;
