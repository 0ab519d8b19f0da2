//! Prompts that the CLI sends to the model later.

use countersign_protocol_derive::WireObject;

use crate::names::id;
use crate::wire::{Extra, Num};

id! {
    /// Names a prompt that is sent on a schedule.
    CronJobId;
}

/// Sends a prompt on a schedule.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CronCreateInput {
    /// When, as the five fields of a cron table, in local time.
    pub cron: String,
    /// The prompt.
    pub prompt: String,
    /// Whether it is sent again and again. False means once.
    pub recurring: Option<bool>,
    /// Whether it outlives the session. A wish: the result says what was done.
    pub durable: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Ends a schedule.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CronDeleteInput {
    /// The schedule.
    pub id: CronJobId,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Lists the schedules.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CronListInput {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Sends a prompt once, after a while; or ends such a loop.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ScheduleWakeupInput {
    /// After how many seconds. The CLI keeps it within bounds.
    pub delay_seconds: Option<Num>,
    /// Why.
    pub reason: Option<String>,
    /// The prompt.
    pub prompt: Option<String>,
    /// Whether the loop ends. The other fields may be absent then.
    pub stop: Option<bool>,
    /// Whether nothing had changed this time.
    pub noop: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}
