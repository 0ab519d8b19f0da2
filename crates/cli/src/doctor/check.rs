//! One thing that was looked at, and how it is told.

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::output::{Output, plain};
use crate::progress::Progress;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// As it should be.
    Fine,
    /// Something to know, which need not be mended.
    Mind,
    /// Something to mend.
    Wrong,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    #[serde(rename = "check")]
    name: &'static str,
    status: Status,
    says: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<String>,
}

impl Check {
    /// Something that is as it should be.
    pub(super) fn fine(name: &'static str, says: impl Into<String>) -> Self {
        Self { name, status: Status::Fine, says: says.into(), mend: None }
    }

    /// Something to know, and what can be done about it.
    pub(super) fn mind(
        name: &'static str,
        says: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self { name, status: Status::Mind, says: says.into(), mend: Some(mend.into()) }
    }

    /// Something that is wrong, and how to mend it.
    pub(super) fn wrong(
        name: &'static str,
        says: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self { name, status: Status::Wrong, says: says.into(), mend: Some(mend.into()) }
    }

    pub(super) fn is_wrong(&self) -> bool {
        self.status == Status::Wrong
    }
}

/// Everything that was looked at, said as it is found.
#[derive(Debug)]
pub(super) struct Checks<'a> {
    output: &'a mut Output,
    wrong: usize,
    minded: usize,
}

impl<'a> Checks<'a> {
    pub(super) const fn new(output: &'a mut Output) -> Self {
        Self { output, wrong: 0, minded: 0 }
    }

    pub(super) fn progress(&self, what: impl Into<String>) -> Progress {
        self.output.progress(what)
    }

    /// How many things are wrong.
    pub(super) const fn wrong(&self) -> usize {
        self.wrong
    }

    pub(super) fn say(&mut self, check: &Check) -> Result<(), Failure> {
        match check.status {
            Status::Fine => {}
            Status::Mind => self.minded += 1,
            Status::Wrong => self.wrong += 1,
        }
        if self.output.is_json() {
            self.output.json(check)?;
            return self.output.flush();
        }
        let (mark, style) = match check.status {
            Status::Fine => ('✓', AnsiColor::Green.on_default()),
            Status::Mind => ('!', AnsiColor::Yellow.on_default()),
            Status::Wrong => ('✗', AnsiColor::Red.on_default().bold()),
        };
        let mut lines = check.says.lines();
        let (name, first) = (check.name, plain(lines.next().unwrap_or_default()));
        self.output.line(format_args!("{style}{mark}{style:#} {name:<12} {first}"))?;
        for line in lines {
            self.output.line(format_args!("{:15}{}", "", plain(line)))?;
        }
        for line in check.mend.iter().flat_map(|mend| mend.lines()) {
            let bold = Style::new().bold();
            self.output.line(format_args!("{:13}{bold}→ {}{bold:#}", "", plain(line)))?;
        }
        self.output.flush()
    }

    /// Says more about the last check.
    pub(super) fn detail(&mut self, json: &Value, line: &str) -> Result<(), Failure> {
        if self.output.is_json() {
            return self.output.json(json);
        }
        self.output.line(format_args!("{:15}{line}", ""))
    }

    /// Says how it is, all in all.
    pub(super) fn conclude(self) -> Result<(), Failure> {
        if self.output.is_json() {
            return Ok(());
        }
        let plural = |number: usize| if number == 1 { "thing" } else { "things" };
        let words = match (self.wrong, self.minded) {
            (0, 0) => "All is well.".to_owned(),
            (0, minded) => format!("All is well; {minded} {} to know.", plural(minded)),
            (wrong, _) => format!("{wrong} {} to mend.", plural(wrong)),
        };
        self.output.line(format_args!("\n{words}"))
    }
}
