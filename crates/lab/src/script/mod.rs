//! What the model says: answers, in sequence or chosen by what it was told.
//!
//! The same script drives the scripted model API, behind the real CLI, and the simulated CLI.

mod answer;

pub use self::answer::{Answer, ApiError, Block, Ending, Fault, ToolUse, Usage};
