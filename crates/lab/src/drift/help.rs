//! The flags and commands that `--help` tells of.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::lab::{Lab, LabError, LaunchError, Program};
use crate::script::Script;

/// A help text, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Help {
    /// The flags, in the order of the text.
    pub flags: Vec<Entry>,
    /// The commands, in the order of the text.
    pub commands: Vec<Entry>,
}

/// A flag or a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// Its names, such as `-p` and `--print`.
    pub names: Vec<String>,
    /// What follows the name, such as `<path>`; empty, if nothing does.
    pub argument: String,
    /// What is said about it, on one line.
    pub words: String,
}

impl Entry {
    /// The name to speak of it: the first one that is written out.
    #[must_use]
    pub fn name(&self) -> &str {
        let long = self.names.iter().find(|name| name.starts_with("--"));
        long.or_else(|| self.names.first()).map_or("", String::as_str)
    }

    /// The values that may be given, if they are listed.
    fn choices(&self) -> Option<&str> {
        let (_, list) = self.words.split_once("(choices: ")?;
        list.split_once(')').map(|(list, _)| list)
    }

    fn shares_a_name_with(&self, other: &Self) -> bool {
        self.names.iter().any(|name| other.names.contains(name))
    }
}

/// What changed in one list of a help text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EntryChanges {
    /// What only the new version has.
    pub added: Vec<Entry>,
    /// What only the old version has.
    pub removed: Vec<Entry>,
    /// What takes another argument, other values, or has other names.
    pub changed: Vec<(Entry, Entry)>,
    /// What is only described in other words.
    pub reworded: Vec<(Entry, Entry)>,
}

/// What changed in a help text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HelpChanges {
    /// The flags.
    pub flags: EntryChanges,
    /// The commands.
    pub commands: EntryChanges,
}

impl Help {
    /// Asks a program, in the laboratory.
    ///
    /// # Errors
    ///
    /// When the laboratory cannot be set up, or the program has no help in a form that is known.
    pub async fn of(program: &Program) -> Result<Self, HelpError> {
        let lab = Lab::builder(program.clone(), Script::new()).start().await?;
        let said = ask(&lab).await;
        lab.close().await?;
        let help = Self::parse(&said?);
        if help.flags.is_empty() { Err(HelpError::NoFlags) } else { Ok(help) }
    }

    /// Takes a help text apart. What is not understood is left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut help = Self::default();
        let mut section = Section::Other;
        for line in text.lines() {
            let indent = line.len() - line.trim_start_matches(' ').len();
            let words = line.trim();
            if indent == 0 && !words.is_empty() {
                section = match words {
                    "Options:" => Section::Options,
                    "Commands:" => Section::Commands,
                    _ => Section::Other,
                };
                continue;
            }
            let entries = match section {
                Section::Options => &mut help.flags,
                Section::Commands => &mut help.commands,
                Section::Other => continue,
            };
            // Names are indented by two; what is said about them goes on further to the right.
            if indent == 2 {
                entries.extend(Some(entry(words)).filter(|entry| !entry.names.is_empty()));
            } else if let Some(last) = entries.last_mut()
                && !words.is_empty()
            {
                append(&mut last.words, words);
            }
        }
        help
    }

    /// What changed from this text to a newer one.
    #[must_use]
    pub fn changes(&self, new: &Self) -> HelpChanges {
        HelpChanges {
            flags: compare(&self.flags, &new.flags),
            commands: compare(&self.commands, &new.commands),
        }
    }
}

enum Section {
    Options,
    Commands,
    Other,
}

/// A line such as `-d, --debug [filter]   Enable debug mode`.
fn entry(line: &str) -> Entry {
    let (term, words) = line.split_once("  ").unwrap_or((line, ""));
    let mut entry = Entry::default();
    let mut rest = term.trim();
    while !rest.is_empty() {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        let (names, goes_on) = match word.strip_suffix(',') {
            Some(name) => (name, true),
            None => (word, false),
        };
        // The other name of a command stands behind a bar.
        let several = names.split('|').filter(|name| !name.is_empty());
        entry.names.extend(several.map(ToOwned::to_owned));
        rest = after.trim_start();
        if !goes_on {
            break;
        }
    }
    entry.argument = rest.to_owned();
    append(&mut entry.words, words);
    entry
}

/// Appends words, which may be broken elsewhere in another version, with single spaces.
fn append(text: &mut String, words: &str) {
    for word in words.split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
}

fn compare(old: &[Entry], new: &[Entry]) -> EntryChanges {
    let mut changes = EntryChanges::default();
    let missing_in =
        |list: &[Entry], entry: &Entry| !list.iter().any(|other| other.shares_a_name_with(entry));
    changes.removed = old.iter().filter(|entry| missing_in(new, entry)).cloned().collect();
    for now in new {
        // A name may stand for two things; then the one that is the same has not changed.
        let same = old.iter().find(|then| *then == now);
        let Some(then) = same.or_else(|| old.iter().find(|then| then.shares_a_name_with(now)))
        else {
            changes.added.push(now.clone());
            continue;
        };
        let pair = || (then.clone(), now.clone());
        let use_of = |entry: &Entry| (entry.names.clone(), entry.argument.clone());
        if use_of(then) != use_of(now) || then.choices() != now.choices() {
            changes.changed.push(pair());
        } else if then.words != now.words {
            changes.reworded.push(pair());
        }
    }
    changes
}

/// The longest help text that is read.
const LONGEST: u64 = 1 << 20;

/// How long a program may take to print its help.
const PATIENCE: Duration = Duration::from_secs(60);

async fn ask(lab: &Lab) -> Result<String, HelpError> {
    let (program, mut arguments) = lab.command_line();
    arguments.push("--help".to_owned());
    let mut command = lab.command(&program, &BTreeMap::new(), &arguments)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(LabError::Io)?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let said = tokio::time::timeout(PATIENCE, async {
        let (out, err) = tokio::join!(text(out), text(err));
        Ok::<_, std::io::Error>((out?, err?, child.wait().await?))
    });
    match said.await {
        Ok(Ok((out, _, status))) if status.success() => Ok(out),
        Ok(Ok((_, said, _))) => Err(HelpError::Failed { said: said.trim().to_owned() }),
        Ok(Err(error)) => Err(LabError::Io(error).into()),
        Err(_) => Err(HelpError::TooLate),
    }
}

async fn text(from: Option<impl AsyncRead + Unpin>) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(LONGEST).read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Why a program could not be asked for its flags.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HelpError {
    /// The laboratory could not be set up or taken down.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The program could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The program failed.
    #[error("`--help` failed: {said}")]
    Failed {
        /// What it said.
        said: String,
    },
    /// The program did not end.
    #[error("`--help` did not end within a minute")]
    TooLate,
    /// There is nothing in the text that looks like a flag.
    #[error("no flags were found in what `--help` says")]
    NoFlags,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OLD: &str = "\
Usage: claude [options]

Options:
  -d, --debug [filter]        Enable debug mode
                              (e.g., --debug=hooks)
  --allowedTools, --allowed-tools <tools...>
      List of tools
  --mode <mode>               Mode (choices: \"a\", \"b\")
  --old                       Goes away
  -v, --version               Output the version

Commands:
  mcp                         Configure servers
  update                      Check for updates
";

    const NEW: &str = "\
Options:
  -d, --debug [filter]  Enable debug mode (e.g.,
                        --debug=hooks)
  --allowed-tools <tools...>  List of tools
  --mode <mode>  Mode (choices: \"a\", \"b\", \"c\")
  --new <thing>  Comes
  -v, --version  Tell the version

Commands:
  mcp  Configure servers
  update|upgrade  Check for updates
";

    #[test]
    fn a_help_text_is_taken_apart() {
        let help = Help::parse(OLD);
        let names: Vec<_> = help.flags.iter().map(Entry::name).collect();
        assert_eq!(names, ["--debug", "--allowedTools", "--mode", "--old", "--version"]);
        let debug = &help.flags[0];
        assert_eq!(debug.names, ["-d", "--debug"]);
        assert_eq!(debug.argument, "[filter]");
        assert_eq!(debug.words, "Enable debug mode (e.g., --debug=hooks)");
        assert_eq!(help.flags[1].argument, "<tools...>");
        assert_eq!(help.flags[1].words, "List of tools");
        assert_eq!(help.commands.len(), 2);
    }

    #[test]
    fn only_what_changed_is_told() {
        let HelpChanges { flags, commands } = Help::parse(OLD).changes(&Help::parse(NEW));
        let names = |list: &[Entry]| -> Vec<String> {
            list.iter().map(|entry| entry.name().to_owned()).collect()
        };
        let pairs = |list: &[(Entry, Entry)]| -> Vec<String> {
            list.iter().map(|(_, new)| new.name().to_owned()).collect()
        };
        assert_eq!(names(&flags.added), ["--new"]);
        assert_eq!(names(&flags.removed), ["--old"]);
        assert_eq!(pairs(&flags.changed), ["--allowed-tools", "--mode"]);
        assert_eq!(pairs(&flags.reworded), ["--version"]);
        assert_eq!(pairs(&commands.changed), ["update"]);
        assert_eq!(Help::parse(OLD).changes(&Help::parse(OLD)), HelpChanges::default());
    }

    proptest! {
        #[test]
        fn any_text_can_be_a_help_text(text in "(Options:\n|Commands:\n|  |[-,|a<é] ?|\n|\\PC{0,3}){0,40}") {
            let help = Help::parse(&text);
            prop_assert_eq!(help.changes(&help), HelpChanges::default());
        }
    }
}
