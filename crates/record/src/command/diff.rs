//! `countersign tape diff`: two tapes, compared by what they say.

use std::path::PathBuf;
use std::process::ExitCode;

use super::output::Output;
use super::{Failure, Working};
use crate::diff::{DiffOptions, diff_tapes};
use crate::meaning::{Rules, Treat};

/// What `diff` exits with when it cannot compare.
const FAILED: u8 = 2;

/// Compare two tapes by what they say, apart from ids and times
///
/// What the client wrote and what the CLI wrote are compared each for itself; standard error is
/// not. Exits with 0 when they say the same, with 1 when they differ, with 2 when one of them
/// cannot be read.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first tape
    left: PathBuf,
    /// The second tape
    right: PathBuf,
    /// The differences as one JSON object
    #[arg(long)]
    json: bool,
    /// Compare the deltas of a stream one by one, not joined to blocks
    #[arg(long)]
    deltas: bool,
    /// Compare also what is sent by the clock: keep_alive, tool_progress, pings
    #[arg(long)]
    beats: bool,
    /// Take no notice of these fields, such as result:total_cost_usd or **.usage.*
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,
    /// Take these fields for ids
    #[arg(long, value_name = "PATTERN")]
    id: Vec<String>,
    /// A path on the left and the one that it stands for on the right
    #[arg(long, value_name = "LEFT=RIGHT", value_parser = path_pair)]
    path: Vec<(String, String)>,
    /// How many frames that differ are shown
    #[arg(long, value_name = "NUMBER", default_value_t = DiffOptions::default().limit)]
    limit: usize,
}

fn path_pair(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((left, right)) if left.len() > 1 && right.len() > 1 => {
            Ok((left.to_owned(), right.to_owned()))
        }
        _ => Err("give two paths with = between them, such as /home/a=/home/b"),
    }
}

impl Args {
    pub(super) fn run(self, out: &mut Output, working: Working<'_>) -> Result<ExitCode, Failure> {
        let failed = |error| Failure::with_code(error, FAILED);
        let mut rules = Rules::new();
        for (patterns, treat) in [(&self.ignore, Treat::Ignore), (&self.id, Treat::Id)] {
            for pattern in patterns {
                rules = rules.with(pattern, treat).map_err(failed)?;
            }
        }
        let options = DiffOptions {
            rules,
            paths: self.path,
            deltas: self.deltas,
            beats: self.beats,
            limit: self.limit,
        };
        let (left, right) = (self.left.display(), self.right.display());
        let comparing = working(format!("comparing {left} and {right}"));
        let diff = diff_tapes(&self.left, &self.right, &options)
            .map_err(|error| Failure::with_code(error, FAILED))?;
        drop(comparing);
        if self.json {
            let mut json =
                serde_json::to_vec(&diff).map_err(|error| Failure::with_code(error, FAILED))?;
            json.push(b'\n');
            out.bytes(&json)?;
        } else {
            out.text(&diff.to_string())?;
        }
        Ok(ExitCode::from(u8::from(!diff.same)))
    }
}
