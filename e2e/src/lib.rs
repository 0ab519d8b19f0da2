//! A real browser for tests: Chromium without a window, steered over WebDriver.
//!
//! [`test()`] starts a browser of its own for a test, ends it in whatever way the test ends, and keeps
//! a screenshot and what the page said when it failed. Debian has what is needed in the packages
//! `chromium` and `chromium-driver`.
//!
//! ```no_run
//! # async fn of_a_page() {
//! countersign_e2e::test("a_page_has_a_title", async |browser| {
//!     browser.open("file:///tmp/page.html").await;
//!     assert_eq!(browser.text("h1").await, "Hello");
//! })
//! .await;
//! # }
//! ```
//!
//! Everything here panics when it cannot be done: it is for tests, and a test that cannot go on has
//! failed.

#![warn(missing_docs)]
#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "this is a part of tests: what cannot be done has failed"
)]

mod axe;
mod browser;
mod driver;
mod key;
mod webdriver;

pub use self::axe::axe;
pub use self::browser::{Browser, Scheme, Tab, test};
pub use self::key::Key;
