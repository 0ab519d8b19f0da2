//! The web page of the session server.
//!
//! Everything that is shown is made here, in Rust, and is safe by how it is made: the browser is given
//! HTML, and a small module that puts it in its place. [`routes`] is all that a server needs of it.
//!
//! - [`render`]: texts as HTML: Markdown, code, diffs.
//! - [`call`]: calls of tools, each shown for what it is.
//! - [`card`]: what a person is asked.
//! - [`decision`]: what was decided, in words.
//! - [`transcript`]: what happened in a session, whole or as patches of a page that has the rest.

#![warn(missing_docs)]

mod assets;
pub mod call;
pub mod card;
mod chart;
pub mod decision;
mod past;
pub mod render;
mod rows;
mod stream;
pub mod transcript;
mod views;
mod window;

use countersign_server::api::Api;
use countersign_server::server::Pages;

/// The pages, for a server: [`Server::start_with`](countersign_server::server::Server::start_with).
#[must_use]
pub fn routes(api: &Api) -> Pages {
    render::code::warm_up();
    Pages { open: assets::routes().merge(views::missing()), closed: views::routes(api.clone()) }
}

/// The example of the crate's README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
