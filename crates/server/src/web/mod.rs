//! How requests come in and answers go out, whatever they are about.
//!
//! - [`serve`]: connections, with or without TLS ([`tls`]), and how they end.
//! - [`Shell`]: what goes around all routes: the [`guard`] against foreign pages, who may come in, how
//!   much they may bring and how long it may take, and that every error is a [`Problem`].
//! - For handlers: [`extract`], [`idempotency`], [`page`], [`sse`].
//! - [`health`] and [`metrics`], for whoever runs the server.

pub mod extract;
pub mod guard;
pub mod health;
pub mod idempotency;
pub mod metrics;
pub(crate) mod operations;
pub mod page;
mod patience;
mod peer;
pub mod problem;
pub mod serve;
mod shell;
pub mod sse;
mod strict;
pub mod tls;

pub use peer::Peer;
pub use problem::{Kind, Problem};
pub use shell::Shell;
