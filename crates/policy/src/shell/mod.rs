//! Shell commands, parsed.
//!
//! The text of a command is what decides about what happens, so it is read by a parser of the shell's
//! language and not by looking for words in it. What it cannot see through, it says.
//!
//! - [`parse`] makes a [`Line`] of a text: its commands, in the order in which they run.
//! - [`Command::runs`] finds the programs that a command runs, behind those that only run others.

mod brace;
mod command;
mod continued;
mod hidden;
mod join;
mod nested;
mod option;
mod pipes;
mod program;
mod read;
mod redirect;
mod run;
mod tree;
mod word;
mod wrapper;

use std::sync::Arc;

pub(crate) use self::command::is_here;
pub(crate) use self::nested::GIT;
pub(crate) use self::option::{Options, Parsed};
pub(crate) use self::program::{Program, Source};
pub use self::run::{Container, Given, Run};
pub(crate) use self::word::Begin;
pub use self::word::Word;
pub(crate) use self::wrapper::CONTAINER;

/// The longest line that is parsed, in bytes. Nobody reads more than that before they allow it.
const LONGEST: usize = 256 << 10;

/// A line of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// All commands in it, in the order in which they stand, those in substitutions, in functions, in
    /// the arguments of `bash -c` and in the texts that are given to a shell included.
    pub commands: Vec<Command>,
    /// Where output goes to, and input comes from.
    pub redirects: Vec<Redirect>,
    /// What is given to commands to read: texts in the line, and files.
    pub inputs: Vec<Word>,
    /// All of it in the order in which it happens, and what belongs together.
    pub steps: Vec<Step>,
    /// Variables whose values are used.
    pub variables: Vec<String>,
    /// Variables that are set.
    pub sets: Vec<String>,
    /// Whether it runs, or uses, what another command says.
    pub substitutes: bool,
    /// Whether there is more in it than commands that are joined by `&&`, `||`, `|`, `;` and `&`:
    /// variables that are set, loops, tests, groups, functions, texts to read.
    pub has_more: bool,
    /// Whether it cannot be read as commands, or not all of it.
    pub is_broken: bool,
}

impl Line {
    /// Whether what is written is what runs: commands and nothing else, no variables, no
    /// substitutions, no files that are written or read, nothing that cannot be read.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.is_broken
            && !self.has_more
            && !self.substitutes
            && self.variables.is_empty()
            && self.redirects.iter().all(Redirect::is_nothing)
    }
}

/// Something that happens in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The command with this number runs.
    Command(usize),
    /// The redirect with this number is made. It comes before the command that it is for.
    Redirect(usize),
    /// A variable is set to one of these values.
    Set {
        /// Its name.
        name: String,
        /// The values.
        values: Vec<Word>,
    },
    /// What follows runs in this folder.
    Enter(Word),
    /// Something begins that belongs together.
    Open(Scope),
    /// Its next part begins.
    Next,
    /// It ends.
    Close,
}

/// What belongs together in a line, which says what of it holds afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// It runs in a process of its own: nothing of it holds afterwards.
    Own,
    /// It runs in another shell, which does not have the variables of this one.
    Shell,
    /// The same, in a container, whose files are not those of the machine.
    Container,
    /// The same, on another machine.
    Remote,
    /// Of its parts one runs, or none.
    Branches,
    /// Each part runs if those before it went well: `a && b`.
    And,
    /// Each part runs if those before it did not go well: `a || b`.
    Or,
    /// The body of a function of this name, which runs when it is called.
    Function(String),
}

/// One command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// As it is written.
    pub text: String,
    /// Its name and its arguments.
    pub words: Vec<Word>,
    /// What it reads, where the line says that.
    pub input: Option<Input>,
    /// The pipelines that it is in, the outermost first.
    pub stages: Arc<[Stage]>,
}

impl Command {
    /// The programs that run in the end, with their arguments: of `sudo -u x rm y` it is `rm`, of
    /// `find -exec rm {} +` it is `find`, and `rm`.
    #[must_use]
    pub fn runs(&self) -> Vec<Run<'_>> {
        run::runs(&self.words)
    }
}

/// A place in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Which pipeline of the line.
    pub pipeline: usize,
    /// The how manieth place: what is in a later one reads what those before it write.
    pub place: usize,
}

/// What a command reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// What the command before it in a pipeline writes, and the number of that text among the inputs
    /// of the line where it can be told.
    Pipe(Option<usize>),
    /// A text that stands in the line, by its number among the inputs.
    Text(usize),
    /// A file, by the number of its name among the inputs.
    File(usize),
}

/// A file that is written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The file.
    pub target: Word,
    /// Whether it is written.
    pub writes: bool,
    /// Whether nothing is written to it, so that it is empty afterwards: `> x`, `: > x`.
    pub empties: bool,
}

impl Redirect {
    /// Whether what is written is thrown away.
    fn is_nothing(&self) -> bool {
        self.writes && self.target.text == "/dev/null"
    }
}

/// Reads a line of commands. None where it is too long to be read by anybody.
#[must_use]
pub fn parse(line: &str) -> Option<Line> {
    if line.len() > LONGEST {
        return None;
    }
    let mut parsed = Line::default();
    read::read(line, &mut parsed, &mut tree::Effort::new(LONGEST), &read::At::default());
    Some(parsed)
}

#[cfg(test)]
mod tests;
