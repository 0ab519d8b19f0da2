//! What a frame says, apart from the ids and times that are new in every run.
//!
//! Two runs of one conversation never have the same bytes: every frame has an id of its own, the
//! session has another id, everything takes another time, and the working directory may be
//! another. What they say can still be the same. This module knows which values are such
//! variables:
//!
//! - **Ids**, by their key (`request_id`, `uuid`, `tool_use_id`, `callback_id`, …) or by their looks
//!   (uuids, `toolu_…`, `msg_…`, `req_…`), also within texts. They are bound: an id of one
//!   conversation stands for one id of the other and the other way round, from the first frame to
//!   the last.
//! - **Times**, by their key (`…_ms`, `duration…`, `timestamp`, …) or by their looks (ISO 8601). Any
//!   other value of the same type will do. A limit, such as `timeout_ms`, is not a time; nor is
//!   what stands in the input of a tool, because somebody has said it.
//! - **Paths** that the caller names, also within texts and in the form with dashes that the CLI
//!   uses for folders.
//! - **Placeholders** of a redactor. One stands for any text, the same one everywhere.
//!
//! Everything else means what it says. The order of keys means nothing, the order of a list does.
//! A missing field is not the same as `null`. Numbers count by their value.
//!
//! [`Comparer`] compares two conversations, [`Canonical`] brings one into a form that can be kept
//! and compared as text, and [`Rules`] say what else is, or is not, a variable.

mod canonical;
mod compare;
mod compare_text;
mod difference;
mod filled;
mod identity;
mod json;
mod path;
mod placeholder;
mod rules;
mod sort;
mod text;

pub use self::canonical::Canonical;
pub(crate) use self::canonical::View;
pub use self::compare::Comparer;
pub use self::difference::{Difference, Why};
pub(crate) use self::identity::Bound;
pub use self::json::parse_line;
pub(crate) use self::path::Step;
pub use self::path::{JsonPath, Pattern, PatternError};
pub(crate) use self::rules::{Class, Frame, Place, Space};
pub use self::rules::{Rules, Treat};
pub use self::sort::Sort;
pub(crate) use self::sort::{id_form, is_telling};
pub(crate) use self::text::Segment;
