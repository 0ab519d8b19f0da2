//! Code review findings.

use countersign_protocol_derive::WireObject;

use crate::request::EffortLevel;
use crate::tool::input::Finding;
use crate::wire::Extra;

/// What a code review found.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReportFindingsOutput {
    /// How many findings there are.
    pub count: u64,
    /// With how much effort the review was done.
    pub level: Option<EffortLevel>,
    /// The findings, as they were reported.
    pub findings: Vec<Finding>,
    /// Fields this type does not name.
    pub extra: Extra,
}
