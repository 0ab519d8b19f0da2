//! The web page in a real browser, against `countersign serve` as a person starts it, with the simulated
//! CLI and once with the real one.
//!
//! What people do on the page is in [`flows`], where each of them is written once. A screenshot of what
//! failed is in `target/e2e`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod flows;
mod forms;
mod inert;
mod kit;
mod lasting;
mod panel;
mod reading;
#[cfg(feature = "real-cli")]
mod real;
#[path = "../it/served.rs"]
#[expect(dead_code, reason = "the tests of the command use all of it")]
mod served;
mod settings;
mod simulated;
#[path = "../it/support.rs"]
#[expect(dead_code, reason = "the tests of the command use all of it")]
mod support;
mod views;
mod ways;
