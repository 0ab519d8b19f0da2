//! Experiments: questions about the protocol, put to any version of the CLI, offline and the same
//! way every time.
//!
//! An [`Experiment`] has a question and one or more cases. A [`Case`] is played in a laboratory of
//! its own: a script for the model, steps of a client, and the [`Fact`]s that are documented about
//! what is found. [`run()`] plays experiments on a [`Program`](crate::Program), keeps every
//! conversation on a tape, and says of each whether the program does what is documented.
//!
//! ```no_run
//! # async fn example(cli: countersign_lab::Installed) -> Result<(), Box<dyn std::error::Error>> {
//! use countersign_lab::Program;
//! use countersign_lab::experiment::{Experiment, Options, run};
//!
//! let results =
//!     run(&Experiment::all(), &Program::Real(cli), &Options::new("out"), |_| ()).await?;
//! for observed in &results.experiments {
//!     println!("{} {}: {}", observed.experiment, observed.name, observed.verdict);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What came of every experiment on the versions that everything is tested with is kept in the
//! repository: see [`Expected`]. `docs/protocol.md` tells it in words.
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value is read by key, which gives null where there is nothing"
)]

mod expected;
mod fact;
mod judge;
mod look;
mod observed;
mod puppet;
mod results;
mod run;
mod summary;
mod trial;
mod turn;

mod answers;
mod asking;
mod control;
mod cost_of_a_process;
mod course;
mod hooks;
mod leaving_plan_mode;
mod limits_and_ends;
mod parking;
mod plan_after_a_turn;
mod plan_before_the_first_message;
mod plan_from_the_start;
mod questions;
mod sessions;
mod stream;
mod tools_of_the_client;
mod updates;

use std::pin::Pin;

pub use self::expected::{Expectation, Expected, ExpectedError};
pub use self::fact::{Fact, V62, V197, V325};
pub use self::observed::{Difference, Finding, Observed, Verdict};
pub use self::results::{Results, ResultsError};
pub use self::run::{Options, Progress, run};
pub use self::summary::Summary;
pub use self::trial::{Trial, TrialError};
use crate::Version;

/// A question about the protocol, and how it is put to a CLI.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    id: &'static str,
    name: &'static str,
    question: &'static str,
    cases: &'static [Case],
}

impl Experiment {
    /// An experiment; the id is a letter, or a word for what has none.
    const fn new(
        id: &'static str,
        name: &'static str,
        question: &'static str,
        cases: &'static [Case],
    ) -> Self {
        Self { id, name, question, cases }
    }

    /// All experiments, by their letters.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let plan = [
            plan_after_a_turn::EXPERIMENT,
            plan_from_the_start::EXPERIMENT,
            plan_before_the_first_message::EXPERIMENT,
        ];
        let answers = [
            answers::EXPERIMENT,
            updates::EXPERIMENT,
            leaving_plan_mode::EXPERIMENT,
            questions::EXPERIMENT,
            course::EXPERIMENT,
            control::EXPERIMENT,
        ];
        let processes = [
            hooks::EXPERIMENT,
            tools_of_the_client::EXPERIMENT,
            sessions::EXPERIMENT,
            limits_and_ends::EXPERIMENT,
            stream::EXPERIMENT,
            cost_of_a_process::EXPERIMENT,
            parking::EXPERIMENT,
        ];
        [&plan[..], asking::EXPERIMENTS, &answers, &processes].concat()
    }

    /// The experiment of this letter or name, whatever the case of its characters.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        Self::all().into_iter().find(|experiment| is(experiment.id) || is(experiment.name))
    }

    /// Its letter, or a word.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// A short name, such as `plan-after-a-turn`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it asks, in one or two sentences.
    #[must_use]
    pub const fn question(&self) -> &'static str {
        self.question
    }

    /// Its cases; most have one.
    #[must_use]
    pub const fn cases(&self) -> &'static [Case] {
        self.cases
    }

    /// Whether this version can do any of it.
    #[must_use]
    pub fn applies_to(&self, version: Version) -> bool {
        self.cases.iter().any(|case| case.applies_to(version))
    }

    /// The name of its folder, which sorts by letter.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("{}-{}", self.id, self.name)
    }
}

/// One part of an experiment, played in a laboratory of its own.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    name: &'static str,
    script: &'static str,
    since: Version,
    facts: &'static [Fact],
    steps: Steps,
}

type Steps = for<'trial> fn(&'trial mut Trial) -> Playing<'trial>;
type Playing<'trial> = Pin<Box<dyn Future<Output = Outcome> + Send + 'trial>>;

/// What the steps of a case give back: nothing, because what they find is told to the trial.
type Outcome = Result<(), TrialError>;

impl Case {
    /// The case of an experiment that has no other.
    const fn only(script: &'static str, facts: &'static [Fact], steps: Steps) -> Self {
        Self::new("", script, facts, steps)
    }

    /// One of several cases. Its name stands before the names of its findings.
    const fn new(
        name: &'static str,
        script: &'static str,
        facts: &'static [Fact],
        steps: Steps,
    ) -> Self {
        Self { name, script, since: Version::new(0, 0, 0), facts, steps }
    }

    /// Versions before this one cannot do it.
    const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }

    /// A short name; empty where it is the only case.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The script of the model.
    #[must_use]
    pub const fn script(&self) -> &'static str {
        self.script
    }

    /// What is documented about its findings.
    #[must_use]
    pub const fn facts(&self) -> &'static [Fact] {
        self.facts
    }

    /// Whether this version can do it at all.
    #[must_use]
    pub fn applies_to(&self, version: Version) -> bool {
        version >= self.since
    }

    /// The full name of a finding of this case.
    #[must_use]
    pub fn full_name(&self, finding: &str) -> String {
        match self.name {
            "" => finding.to_owned(),
            name => format!("{name}: {finding}"),
        }
    }
}
