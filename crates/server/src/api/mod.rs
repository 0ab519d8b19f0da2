//! The HTTP API, under `/api/v1`.
//!
//! Handlers are thin: they read a request, call the [`Service`] or the
//! [`Store`](crate::store::Store), and say what came of it. The OpenAPI document is made of them.
//!
//! Who may do what: `read` sees everything, `decide` also starts sessions, speaks in them and answers,
//! `admin` also deletes, and manages tokens.

mod approvals;
mod audit;
mod command;
mod document;
mod error;
mod events;
mod info;
mod messages;
mod plans;
mod process;
mod sessions;
pub mod shape;
mod stream;
pub mod view;

use std::sync::Arc;

pub use self::command::Command;
#[cfg(feature = "openapi")]
pub use self::document::document;
pub use self::info::{Backup, Info, ServerInfo};
use crate::access::{Access, Streams};
use crate::service::Service;
use crate::web::operations::operations;

/// What handlers have at hand.
#[derive(Clone, Debug)]
pub struct Api {
    /// What can be done with sessions.
    pub service: Service,
    /// What is said of the server.
    pub info: Arc<Info>,
    /// Who may do what, and for how long.
    pub access: Arc<Access>,
    /// The streams that are open.
    pub streams: Arc<Streams>,
}

operations! {
    /// Returns the routes of the API, relative to `/api/v1`.
    pub routes: Api;
    "/sessions" => get sessions::list, post sessions::create;
    "/sessions/{session}" => get sessions::show, delete sessions::delete;
    "/sessions/{session}/title" => put sessions::rename;
    "/sessions/{session}/labels" => put sessions::label;
    "/sessions/{session}/archived" => put sessions::archive;
    "/sessions/{session}/mode" => put sessions::set_mode;
    "/sessions/{session}/model" => put sessions::set_model;
    "/sessions/{session}/stop" => post sessions::stop;
    "/sessions/{session}/resume" => post sessions::resume;
    "/sessions/{session}/interrupt" => post sessions::interrupt;
    "/sessions/{session}/fork" => post sessions::fork;
    "/sessions/{session}/messages" => get messages::list, post messages::send, put messages::order;
    "/sessions/{session}/messages/{message}" => put messages::edit, delete messages::remove;
    "/sessions/{session}/events" => get events::of_session;
    "/events" => get events::of_all;
    "/sessions/{session}/stream" => get stream::of_session;
    "/stream" => get stream::of_all;
    "/inbox/stream" => get stream::of_inbox;
    "/sessions/{session}/plans" => get plans::of_session;
    "/sessions/{session}/process" => get process::show;
    "/sessions/{session}/wire" => get process::wire;
    "/sessions/{session}/rules" => get process::rules;
    "/inbox" => get approvals::inbox;
    "/approvals" => get approvals::list;
    "/approvals/{approval}" => get approvals::show;
    "/approvals/{approval}/answer" => post approvals::answer;
    "/audit" => get audit::list;
    "/audit/export" => get audit::export;
    "/server" => get info::show;
    "/usage" => get info::usage;
    "/backup" => post info::backup;
    "/openapi.json" => get document::show;
}
