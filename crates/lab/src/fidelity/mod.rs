//! How faithful the simulated CLI is: the same scenarios on the real CLI and on the simulated one,
//! and what both said, compared.
//!
//! Compared is every frame, in its order, by what it says: ids, times and folders are variables
//! (see [`countersign_record::meaning`]), and a list of fields that do not matter, each for a
//! reason, is passed over. What is left is the same, is a known difference with its reason, or is
//! a defect of the simulator.
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value is read by key, and ranges of a comparison are within what was compared"
)]

mod known;
mod matters;

use std::fmt;

use countersign_record::Channel;
use countersign_record::meaning::{Comparer, Difference};
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::Version;
use crate::driver::{Ended, Speaker};
use crate::lab::Program;
use crate::scenario::{Played, Scenario, ScenarioError};

/// What came of one scenario on one version.
#[derive(Debug)]
pub enum Verdict {
    /// The real CLI of this version cannot do it.
    DoesNotApply,
    /// Both said the same.
    Same,
    /// They differ in ways that are known and have a reason.
    Known(Vec<Departure>),
    /// They differ.
    Differs(Vec<Departure>),
    /// The scenario did not get to its end on one of them.
    Broken {
        /// Which one.
        program: &'static str,
        /// Why.
        error: ScenarioError,
    },
}

impl Verdict {
    /// Whether this is as it should be.
    #[must_use]
    pub const fn holds(&self) -> bool {
        matches!(self, Self::DoesNotApply | Self::Same | Self::Known(_))
    }
}

/// One way in which the simulated CLI departs from the real one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Departure {
    /// The process of the scenario, counted from 1.
    pub process: usize,
    /// The kind of frame, such as `system/init`.
    pub kind: String,
    /// In what way.
    pub how: How,
    /// Why it is so, where that is known.
    pub reason: Option<&'static str>,
}

/// In what way a frame departs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum How {
    /// The simulated CLI does not send it.
    Missing,
    /// Only the simulated CLI sends it.
    Extra,
    /// It says something else; the real CLI is on the left.
    Says(Difference),
    /// The process ended in another way.
    Ends {
        /// How the real CLI ended.
        real: String,
        /// How the simulated one ended.
        simulated: String,
    },
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { process, kind, how, reason } = self;
        match how {
            How::Missing => write!(f, "process {process}: {kind} is missing")?,
            How::Extra => write!(f, "process {process}: {kind} is not sent by the real CLI")?,
            How::Says(difference) => write!(f, "process {process}: {kind} {difference}")?,
            How::Ends { real, simulated } => {
                write!(f, "process {process}: ends with {simulated} instead of {real}")?;
            }
        }
        reason.map_or(Ok(()), |reason| write!(f, "\n  known: {reason}"))
    }
}

/// Plays a scenario on a real CLI and on the simulated one, and compares.
pub async fn measure(scenario: Scenario, real: Program, simulated: Program) -> Verdict {
    let version = real.version();
    if !scenario.applies_to(version) {
        return Verdict::DoesNotApply;
    }
    let real = match scenario.play(real).await {
        Ok(played) => played,
        Err(error) => return Verdict::Broken { program: "the real CLI", error },
    };
    let simulated = match scenario.play(simulated).await {
        Ok(played) => played,
        Err(error) => return Verdict::Broken { program: "the simulated CLI", error },
    };
    judge(scenario.name(), version, departures(&real, &simulated))
}

fn judge(scenario: &str, version: Version, mut departures: Vec<Departure>) -> Verdict {
    for departure in &mut departures {
        departure.reason = known::reason(scenario, version, departure);
    }
    let unknown: Vec<_> =
        departures.iter().filter(|departure| departure.reason.is_none()).cloned().collect();
    match (unknown.is_empty(), departures.is_empty()) {
        (true, true) => Verdict::Same,
        (true, false) => Verdict::Known(departures),
        (false, _) => Verdict::Differs(unknown),
    }
}

/// What the second run says other than the first.
#[must_use]
pub fn departures(real: &Played, simulated: &Played) -> Vec<Departure> {
    let mut comparer = Comparer::new(matters::rules());
    for (left, right) in real.plans.iter().zip(&simulated.plans) {
        comparer = comparer.with_path("$plan", left, right);
    }
    comparer = comparer.with_path("$root", &real.root, &simulated.root).with_path(
        "$model",
        &real.model,
        &simulated.model,
    );
    let pairs = real.processes.iter().zip(&simulated.processes);
    pairs
        .zip(1..)
        .flat_map(|((left, right), process)| {
            let frames = (frames(left, &real.tasks), frames(right, &simulated.tasks));
            compare(&mut comparer, process, (left, right), frames)
        })
        .collect()
}

fn compare(
    comparer: &mut Comparer,
    process: usize,
    (left, right): (&Ended, &Ended),
    (left_frames, right_frames): (Vec<Value>, Vec<Value>),
) -> Vec<Departure> {
    let kinds = |frames: &[Value]| frames.iter().map(kind).collect::<Vec<_>>();
    let (left_kinds, right_kinds) = (kinds(&left_frames), kinds(&right_frames));
    let mut found = Vec::new();
    let mut note = |kind: &str, how| {
        found.push(Departure { process, kind: kind.to_owned(), how, reason: None });
    };
    for operation in capture_diff_slices(Algorithm::Patience, &left_kinds, &right_kinds) {
        let (left_range, right_range) = (operation.old_range(), operation.new_range());
        if let DiffOp::Equal { .. } = operation {
            let pairs =
                left_frames.iter().skip(left_range.start).zip(&left_kinds[left_range.clone()]);
            for ((left, kind), right) in pairs.zip(right_frames.iter().skip(right_range.start)) {
                for difference in comparer.compare(Channel::Out, left, right) {
                    note(kind, How::Says(difference));
                }
            }
            continue;
        }
        left_kinds[left_range].iter().for_each(|kind| note(kind, How::Missing));
        right_kinds[right_range].iter().for_each(|kind| note(kind, How::Extra));
    }
    if left.status != right.status {
        let (real, simulated) = (left.status.to_string(), right.status.to_string());
        note("end", How::Ends { real, simulated });
    }
    found
}

/// What a CLI said, with tasks by their number: their ids may be letters alone, which inside of a
/// text pass for a word.
fn frames(ended: &Ended, tasks: &[String]) -> Vec<Value> {
    let said = ended.log.iter().filter(|said| said.by == Speaker::Cli);
    said.map(|said| numbered(said.frame.clone(), tasks)).collect()
}

fn numbered(mut value: Value, tasks: &[String]) -> Value {
    match &mut value {
        Value::String(text) => {
            for (task, number) in tasks.iter().zip(1..) {
                if text.contains(task.as_str()) {
                    *text = text.replace(task.as_str(), &format!("task-{number}"));
                }
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| *item = numbered(item.take(), tasks));
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| *field = numbered(field.take(), tasks));
        }
        _ => {}
    }
    value
}

/// What a frame is, as far as frames of two runs are put side by side.
#[must_use]
pub fn kind(frame: &Value) -> String {
    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parts = match frame["type"].as_str() {
        Some("system") => vec![name(&frame["subtype"])],
        Some("control_request") => {
            let request = &frame["request"];
            let what = ["tool_name", "callback_id"].map(|key| name(&request[key]));
            let method = name(&request["message"]["method"]);
            let mut parts = vec![name(&request["subtype"])];
            parts.extend(what.into_iter().chain([method]).filter(|part| !part.is_empty()));
            parts
        }
        Some("stream_event") => {
            vec![name(&frame["event"]["type"]), name(&frame["event"]["delta"]["type"])]
        }
        Some("assistant" | "user") => {
            let blocks = frame["message"]["content"].as_array();
            blocks.into_iter().flatten().map(|block| name(&block["type"])).collect()
        }
        _ => Vec::new(),
    };
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    [name(&frame["type"])].into_iter().chain(parts).collect::<Vec<_>>().join("/")
}
