//! Prompts that the CLI sends to the model later.

use countersign_protocol_derive::WireObject;

use crate::tool::input::CronJobId;
use crate::wire::{Extra, Num, RawJson};

/// A schedule that was begun.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CronCreateOutput {
    /// Names the schedule.
    pub id: CronJobId,
    /// When, in words.
    pub human_schedule: String,
    /// Whether it is sent again and again.
    pub recurring: bool,
    /// Whether it outlives the session. May be false although it was asked for.
    pub durable: Option<bool>,
    /// When it is sent next. Never seen in a recording, so it is kept as it comes.
    pub next_fire_at: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A schedule that was ended.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CronDeleteOutput {
    /// The schedule.
    pub id: CronJobId,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The schedules.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CronListOutput {
    /// The schedules.
    pub jobs: Vec<CronJob>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A prompt that is sent on a schedule.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CronJob {
    /// Names the schedule.
    pub id: CronJobId,
    /// When, as the five fields of a cron table.
    pub cron: String,
    /// When, in words.
    pub human_schedule: String,
    /// The prompt.
    pub prompt: String,
    /// Whether it is sent again and again.
    pub recurring: Option<bool>,
    /// False when it ends with the session. Absent when it does not.
    pub durable: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A prompt that will be sent once, or a loop that was ended.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ScheduleWakeupOutput {
    /// When, in milliseconds since 1970.
    pub scheduled_for: Num,
    /// After how many seconds that is.
    pub clamped_delay_seconds: Num,
    /// Whether another delay was asked for.
    pub was_clamped: bool,
    /// Whether the loop was ended.
    pub stopped: Option<bool>,
    /// How many prompts will not be sent because of that.
    pub cancelled_wakeups: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}
