//! Finding the CLI, its version, and what that version can do.
