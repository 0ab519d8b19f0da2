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

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::command::Command;
pub use self::document::document;
pub use self::info::{Backup, Info, ServerInfo};
use crate::access::{Access, Streams};
use crate::service::Service;

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

/// The routes about sessions.
#[must_use]
pub fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(sessions::list, sessions::create))
        .routes(routes!(sessions::show, sessions::delete))
        .routes(routes!(sessions::rename))
        .routes(routes!(sessions::label))
        .routes(routes!(sessions::archive))
        .routes(routes!(sessions::set_mode))
        .routes(routes!(sessions::set_model))
        .routes(routes!(sessions::stop))
        .routes(routes!(sessions::resume))
        .routes(routes!(sessions::interrupt))
        .routes(routes!(sessions::fork))
        .routes(routes!(messages::list, messages::send, messages::order))
        .routes(routes!(messages::edit, messages::remove))
        .routes(routes!(events::of_session))
        .routes(routes!(events::of_all))
        .routes(routes!(stream::of_session))
        .routes(routes!(stream::of_all))
        .routes(routes!(stream::of_inbox))
        .routes(routes!(plans::of_session))
        .routes(routes!(process::show))
        .routes(routes!(process::wire))
        .routes(routes!(process::rules))
        .routes(routes!(approvals::inbox))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::show))
        .routes(routes!(approvals::answer))
        .routes(routes!(audit::list))
        .routes(routes!(audit::export))
        .routes(routes!(info::show))
        .routes(routes!(info::usage))
        .routes(routes!(info::backup))
        .routes(routes!(document::show))
}
