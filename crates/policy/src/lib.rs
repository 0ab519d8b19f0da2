//! What a call of a tool would do, and which rule is about it.
//!
//! - [`Rule`]: a permission rule in the grammar of Claude Code, `Bash(npm test:*)`, and whether it is
//!   about a call.
//! - [`notes`]: what a person should know before a call is allowed, taken from the call: that it
//!   deletes, that it writes outside the folder, that it sends a file away, that a shell runs what is
//!   piped to it. [`Danger`] has all kinds of them.
//! - [`shell`]: commands, parsed: which programs a line runs, in which order, and what they read.
//!
//! It is pure: nothing here looks at a file, at the clock or at the environment. It decides nothing
//! either. What may run is decided by people and by the CLI; this says what they are deciding about.
//!
//! ```
//! use std::path::Path;
//!
//! use countersign_policy::{Call, Place, Rule, notes};
//! use serde_json::json;
//!
//! let place = Place::new(Path::new("/project"), None);
//! let input = json!({"command": "npm test && rm -rf /srv/data"});
//! let call = Call { tool: "Bash", input: &input };
//!
//! // Every command of the line has to fit.
//! assert!(!Rule::parse("Bash(npm test:*)").covers(&call, &place));
//!
//! let said: Vec<String> = notes(&call, &place).into_iter().map(|note| note.text).collect();
//! assert_eq!(said, ["deletes /srv/data", "changes /srv/data, outside the folder of the session"]);
//! ```

#![warn(missing_docs)]

mod call;
mod note;
mod pattern;
mod rule;
pub mod shell;

pub use self::call::{Call, Place};
pub use self::note::{Danger, Note, notes};
pub use self::pattern::{command_fits, glob, path_fits};
pub use self::rule::Rule;

/// The example of the crate's README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
