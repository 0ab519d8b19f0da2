//! A session: what happens in it, and what it is because of that.
//!
//! Everything here is pure. [`Head::apply`] has all the rules: which event may follow, who answers
//! first, what an interrupt may be about. The store runs it inside the transaction that writes the
//! event, so that what is against the rules is not written.

mod answer;
mod approval;
mod by;
mod event;
mod head;
mod message;
mod options;
mod rules;
mod state;

pub use self::answer::*;
pub use self::approval::*;
pub use self::by::By;
pub use self::event::*;
pub use self::head::*;
pub use self::message::{ContentError, Image, MessageContent, image_blocks};
pub use self::options::{Parent, SessionLimits, SessionOptions, is_known_mode};
pub use self::rules::{Rule, Rules, mode_set_by, rule_text, sets_mode};
pub use self::state::{NotAState, State};
