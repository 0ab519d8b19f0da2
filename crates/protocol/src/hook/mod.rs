//! Hooks: what the CLI calls back for, and what it can be told.
//!
//! A client registers callbacks with `initialize`, a list of [`HookMatcher`] for each
//! [`HookEvent`]. The CLI then sends a `hook_callback` request with a [`HookInput`] whenever one
//! of them matches, and waits for a [`HookOutput`]. All callbacks that match an event are called
//! at the same time.
//!
//! A `PreToolUse` callback without a matcher is the one gate that sees every tool call, in every
//! mode and in sub-agents too. Three things are easy to get wrong:
//!
//! - It fails open. An answer that is an error, or that the CLI cannot read, counts as no
//!   opinion, unless the callback was registered with [`OnFailure::Block`] (2.1.325).
//! - `PermissionRequest` and the permission request itself are sent together, and the first
//!   answer wins.
//! - The process's own `SessionStart` comes before the callbacks are known, and the `SessionEnd`
//!   at the end of standard input after they can be reached. Those that `/clear` and `/compact`
//!   cause do arrive.

mod event;
mod input;
mod output;

#[cfg(test)]
mod tests;

pub use self::event::{HookEvent, HookMatcher, OnFailure};
pub use self::input::*;
pub use self::output::*;
