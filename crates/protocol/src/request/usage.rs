//! What was used, what it cost, and how much of a plan is left.

use std::collections::BTreeMap;

use countersign_protocol_derive::WireObject;

use crate::usage::ModelUsage;
use crate::wire::{Extra, Num};

/// Asks for the cost of the session, as text. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetSessionCost {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetSessionCost`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetSessionCostResponse {
    /// What `/cost` shows. For figures use [`GetUsage`].
    pub text: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks what was used, and how much of the plan's limits. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetUsage {
    /// Whether to leave out what usage consists of, which takes long to find out.
    pub skip_behaviors: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetUsage`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetUsageResponse {
    /// What this session used.
    pub session: SessionUsage,
    /// The plan, if there is one.
    pub subscription_type: Option<String>,
    /// Whether limits are known.
    pub rate_limits_available: bool,
    /// How much of the limits is used.
    pub rate_limits: Option<RateLimits>,
    /// What usage consists of.
    pub behaviors: Option<Behaviors>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a session used.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SessionUsage {
    /// The cost in USD.
    pub total_cost_usd: Num,
    /// How long requests to the model took, in milliseconds.
    pub total_api_duration_ms: Num,
    /// How long the session has lasted, in milliseconds.
    pub total_duration_ms: Num,
    /// Lines that were added to files.
    pub total_lines_added: u64,
    /// Lines that were removed from files.
    pub total_lines_removed: u64,
    /// What each model used.
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How much of a plan's limits is used. A limit that the plan does not have is absent.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RateLimits {
    /// In five hours.
    pub five_hour: Option<RateWindow>,
    /// In seven days.
    pub seven_day: Option<RateWindow>,
    /// In seven days, by other programs that log in with the account.
    pub seven_day_oauth_apps: Option<RateWindow>,
    /// In seven days, by Opus models.
    pub seven_day_opus: Option<RateWindow>,
    /// In seven days, by Sonnet models.
    pub seven_day_sonnet: Option<RateWindow>,
    /// By single models.
    pub model_scoped: Option<Vec<ModelRateWindow>>,
    /// Beyond the plan.
    pub extra_usage: Option<ExtraUsage>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How much of a limit is used.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RateWindow {
    /// How much, in percent.
    pub utilization: Option<Num>,
    /// When it begins anew, as an ISO 8601 time.
    pub resets_at: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How much of the limit of a model is used.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ModelRateWindow {
    /// The name of the model, for a person.
    pub display_name: String,
    /// How much, in percent.
    pub utilization: Option<Num>,
    /// When it begins anew, as an ISO 8601 time.
    pub resets_at: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What was used beyond the plan. Amounts are in the smallest unit of the currency.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ExtraUsage {
    /// Whether the plan can be exceeded.
    pub is_enabled: bool,
    /// How much may be spent in a month.
    pub monthly_limit: Option<Num>,
    /// How much was spent.
    pub used_credits: Option<Num>,
    /// How much of the limit that is, in percent.
    pub utilization: Option<Num>,
    /// The currency.
    pub currency: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What usage consists of.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Behaviors {
    /// In the last day.
    pub day: BehaviorPeriod,
    /// In the last week.
    pub week: BehaviorPeriod,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What usage in some time consists of.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct BehaviorPeriod {
    /// How many requests there were.
    pub request_count: u64,
    /// How many sessions there were.
    pub session_count: u64,
    /// What made usage grow.
    pub behaviors: Vec<Behavior>,
    /// What could be done about it.
    pub recommendations: Option<Vec<Recommendation>>,
    /// What the CLI could do about it.
    pub fix: Option<SuggestedFix>,
    /// The part of each sub-agent.
    pub agents: Vec<Share>,
    /// The part of each skill.
    pub skills: Vec<Share>,
    /// The part of each plugin.
    pub plugins: Vec<Share>,
    /// The part of each MCP server.
    pub mcp_servers: Vec<Share>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Something that makes usage grow.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Behavior {
    /// What, such as `cache_miss` or `long_context`.
    pub key: String,
    /// Its part of the usage, in percent.
    pub pct: Num,
    /// How often it happened.
    pub count: u64,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What could be done about usage.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Recommendation {
    /// What it is about.
    pub key: String,
    /// The part of the usage that it is about, in percent.
    pub pct: Num,
    /// What to do.
    pub title: String,
    /// Why.
    pub detail: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What the CLI could do about usage.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SuggestedFix {
    /// What it is about.
    pub keys: Vec<String>,
    /// Prompts that would have it done.
    pub messages: Vec<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A part of the usage.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Share {
    /// Whose.
    pub name: String,
    /// How much, in percent.
    pub pct: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What `/usage` shows, as data: the `usage_report` of an `assistant` frame.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UsageReport {
    /// What this session used.
    pub session: SessionUsage,
    /// How much of the limits is used, if it could be found out.
    pub rate_limits: Option<UsageReportLimits>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How much of a plan's limits is used, as the server words it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UsageReportLimits {
    /// The limits, in the order to show them.
    pub limits: Option<Vec<UsageLimit>>,
    /// Beyond the plan.
    pub extra_usage: Option<ExtraUsage>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How much of a limit is used, as the server words it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UsageLimit {
    /// Which limit, such as `session` or `weekly_all`.
    pub kind: String,
    /// The group to show it in.
    pub group: String,
    /// How much, in percent.
    pub percent: Num,
    /// When it begins anew, as an ISO 8601 time.
    pub resets_at: Option<String>,
    /// What it is for, if not for everything.
    pub scope: Option<UsageLimitScope>,
    /// How bad it is, such as `normal`, `warning` or `critical`.
    pub severity: String,
    /// Whether it is the one to show when only one is shown.
    pub is_active: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a limit is for.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UsageLimitScope {
    /// A model.
    pub model: Option<LimitLabel>,
    /// A program.
    pub surface: Option<LimitLabel>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What to call the scope of a limit.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct LimitLabel {
    /// The name, for a person.
    pub display_name: String,
    /// Fields this type does not name.
    pub extra: Extra,
}
