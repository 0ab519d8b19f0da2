//! How a session is set up.

use crate::options::Options;

/// How a session is set up: what the CLI is told, and who answers what it asks.
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until `connect`"]
pub struct SessionBuilder {
    /// What the CLI is told.
    pub(crate) options: Options,
}
