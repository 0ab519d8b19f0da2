//! Code review findings and goals.

use countersign_protocol_derive::WireObject;

use crate::names::open_enum;
use crate::request::EffortLevel;
use crate::wire::Extra;

/// Reports what a code review found.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReportFindingsInput {
    /// What was found, the worst first. Empty when nothing was.
    pub findings: Vec<Finding>,
    /// With how much effort the review was done.
    pub level: Option<EffortLevel>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// One thing that a code review found.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Finding {
    /// The file, relative to the repository.
    pub file: String,
    /// The line, counted from one.
    pub line: Option<u64>,
    /// What is wrong, in a sentence.
    pub summary: String,
    /// What is wrong, in a few words.
    pub short_summary: Option<String>,
    /// How it goes wrong.
    pub failure_scenario: String,
    /// What kind of thing it is, such as `correctness`.
    pub category: Option<String>,
    /// What came of checking it. Absent when it was not checked.
    pub verdict: Option<FindingVerdict>,
    /// What was done about it. Absent in a first report.
    pub outcome: Option<FindingOutcome>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What came of checking a finding.
    FindingVerdict {
        /// It is so.
        Confirmed = "CONFIRMED",
        /// It may be so.
        Plausible = "PLAUSIBLE",
    }

    /// What was done about a finding.
    FindingOutcome {
        /// It was fixed.
        Fixed = "fixed",
        /// It was left.
        Skipped = "skipped",
        /// Nothing had to be done.
        NoChangeNeeded = "no_change_needed",
    }
}

/// Proposes what the model should work towards.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ProposeGoalInput {
    /// When the goal is reached.
    pub condition: String,
    /// Whether the user is asked first.
    pub ask_user: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}
