//! What is shown: lines made of calls, results, changes, plans and notices.
//!
//! Nothing here knows a terminal. Text from outside becomes a [`Line`](line::Line), which takes
//! nothing in that could control one.

pub(crate) mod ask;
pub(crate) mod call;
pub(crate) mod diff;
pub(crate) mod json;
pub(crate) mod line;
pub(crate) mod markdown;
pub(crate) mod notice;
pub(crate) mod place;
pub(crate) mod suggestion;
pub(crate) mod summary;
