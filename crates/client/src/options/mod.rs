//! What the CLI is told: flags, environment, and the fields of `initialize`.

/// What the CLI is told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {}
