//! Permissions: what the CLI asks before a tool runs, and who answers.
//!
//! A [`PermissionHandler`] gets a [`PermissionAsk`] and gives a [`PermissionAnswer`], which it can
//! only make from the ask. Whatever else happens, the tool does not run: a handler that fails,
//! panics, takes longer than it may, or is dropped has denied, and the reason is said.
//!
//! Several calls can wait at the same time; each has a handler of its own running for it.

mod answer;
mod ask;
mod enter_plan;
mod handler;
mod plan;
mod question;
mod ready;

pub use self::answer::{Allowing, FreshStart, PermissionAnswer};
pub use self::ask::{AskKind, PermissionAsk};
pub(crate) use self::enter_plan::enter_plan_hook;
pub use self::enter_plan::{EnterPlanAnswer, EnterPlanAsk};
pub use self::handler::{AnswerError, HandlerFailure, IntoAnswer, PermissionHandler};
pub(crate) use self::handler::{AnyPermissionHandler, erased};
pub use self::plan::{PlanAsk, PlanChoice};
pub use self::question::{QuestionAnswers, QuestionAsk, QuestionError};
pub use self::ready::{AllowAll, Chain, DenyAll, ReadOnly, Verdict};

/// The examples of the guide are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/permissions.md")]
struct Guide;
