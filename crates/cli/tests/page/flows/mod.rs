//! What people do on the page. Each is written for any CLI.

mod deciding;
mod lasting;
mod planning;
mod questions;
mod talking;
mod ways;

/// What the model says in all of them: which one it is shows in what was said first.
pub(crate) const SCRIPT: &str = include_str!("../script.toml");

pub(crate) use self::deciding::*;
pub(crate) use self::lasting::*;
pub(crate) use self::planning::*;
pub(crate) use self::questions::*;
pub(crate) use self::talking::*;
pub(crate) use self::ways::*;
