//! Sessions of Claude Code on one machine, watched and answered by people and programs, over days,
//! through crashes.
//!
//! A session is a log of [events](session::Event); everything else is made of it. What somebody wants is
//! written down first and done then, so that whatever happens to a process or to the server, it is done
//! when there is one again. An approval is a row before anybody sees it, and its answer reaches exactly
//! the call it is for.
//!
//! # Where things are
//!
//! | to | see |
//! |---|---|
//! | start a server | [`server::Server`], and [`config`] for what it is told |
//! | speak to one | [`client::Client`] |
//! | know what a session is | [`session`]: events, the [head](session::Head), approvals, answers |
//! | do something with sessions | [`service`] |
//! | see how sessions are run | [`hub`] |
//! | keep it | [`store`]: SQLite, PostgreSQL, and the suite that both pass |
//! | be told what happens | [`bus`] in this process, [`api`] over HTTP, [`webhook`] elsewhere |
//! | know who may do what | [`access`] |
//!
//! # Rules that hold everywhere
//!
//! - **On disk first.** An event is shown, and acted on, when it is on disk.
//! - **The first answer wins**, and goes out once.
//! - **It fails closed.** A question that nobody can answer any more is refused; what cannot be written
//!   down does not run.
//! - **Nothing runs twice because of us.** What may have run is not asked for again.
//! - **Nothing is left running**, however the server ends.

#![warn(missing_docs, clippy::missing_errors_doc)]

pub mod access;
mod actor;
pub mod api;
pub mod bus;
pub mod client;
pub mod config;
mod home;
pub mod hub;
pub mod id;
mod keeping;
pub mod outgoing;
pub mod server;
pub mod service;
pub mod session;
pub mod store;
pub mod web;
pub mod webhook;

/// The examples of the guide are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/server-client.md")]
struct Guide;

/// The example of the crate's README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
