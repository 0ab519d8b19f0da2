//! The parser of the shell's language, and how much of it is used.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use super::pipes;

/// How long is tried to read a line with all that is in it. Some lines that nobody would write take
/// the parser the square of their length. All others take a fiftieth of this, so that what is said of them
/// is the same on a machine that has much to do.
const PATIENCE: Duration = Duration::from_secs(1);

/// How deep `bash -c '…'` and `eval '…'` are looked into.
const DEPTH: usize = 4;

/// What may still be spent on a line. Lines within lines are read again for each level, so there is
/// one limit for all of them.
pub(super) struct Effort {
    begun: Instant,
    bytes: usize,
    depth: usize,
    pipelines: usize,
}

impl Effort {
    pub(super) fn new(bytes: usize) -> Self {
        Self { begun: Instant::now(), bytes, depth: 0, pipelines: 0 }
    }

    /// Goes into a line within the line, if there is effort left for it.
    pub(super) fn enter(&mut self, line: &str) -> bool {
        let enters = self.depth < DEPTH && line.len() <= self.bytes && !self.is_late();
        if enters {
            self.depth += 1;
            self.bytes -= line.len();
        }
        enters
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// A number for another pipeline.
    pub(super) fn pipeline(&mut self) -> usize {
        self.pipelines += 1;
        self.pipelines
    }

    pub(super) fn tree(&self, line: &str) -> Option<Tree> {
        // No command can have that in it, and many of them take the parser very long.
        if line.contains('\0') {
            return None;
        }
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
        let mut in_time = |_: &ParseState| {
            if self.is_late() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut in_time);
        let quiet = pipes::quiet(line)?;
        let mut line = masked(line);
        for at in &quiet {
            if let Some(pipe) = line.get_mut(*at) {
                *pipe = b'x';
            }
        }
        let mut rest = |at: usize, _| line.get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut rest, None, Some(options))?;
        pipes::are_quiet(&quiet, &tree).then_some(tree)
    }

    fn is_late(&self) -> bool {
        self.begun.elapsed() >= PATIENCE
    }
}

/// The line with a letter for each byte that is not ASCII.
///
/// The parser takes characters for places in a table that has none for most of them, which can end the
/// process: `{` before the character U+10FFFF is enough. To a shell they are letters all the same, and
/// blanks among them are none.
fn masked(line: &str) -> Vec<u8> {
    line.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect()
}

/// Redirects that change nothing about which files are written.
const NEUTRAL: &[&str] = &[
    "&> /dev/null",
    "&>/dev/null",
    "2> /dev/null",
    "2>/dev/null",
    "> /dev/null",
    ">/dev/null",
    "2>&1",
    "1>&2",
    ">&2",
];

/// The same line without redirects that the parser stumbles over and that do not matter: those between
/// a text to read and a pipe, `cat <<EOF 2>&1 | tail`. All else stays where it was. None where there
/// are none.
pub(super) fn tidied(line: &str) -> Option<String> {
    let mut tidy = String::with_capacity(line.len());
    for part in line.split_inclusive('\n') {
        let begins = |at: &usize| !part.get(*at..).unwrap_or_default().starts_with("<<<");
        let at = part.find("<<").filter(begins).unwrap_or(part.len());
        let (before, after) = part.split_at_checked(at).unwrap_or((part, ""));
        tidy.push_str(before);
        let mut after = after.to_owned();
        for neutral in NEUTRAL {
            after = after.replace(&format!(" {neutral}"), &" ".repeat(neutral.len() + 1));
        }
        tidy.push_str(&after);
    }
    (tidy != line).then_some(tidy)
}
