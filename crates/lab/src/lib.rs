//! A laboratory for the Claude Code protocol.
//!
//! The real CLI, run offline and isolated against a scripted model, and a simulated CLI that is
//! driven by the same scripts.

#![warn(missing_docs)]

pub mod command;
pub mod model;
pub mod script;
