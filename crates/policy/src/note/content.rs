//! What is in a line without being written in it: the content of files, and what programs say.

use std::collections::HashMap;

use super::flow::Flow;
use super::{operands, shown};
use crate::shell::{Command, Input, Line, Run, Step, Word};

/// Programs that say nothing of what is in files.
const QUIET: &[&str] = &[
    ":", "[", "arch", "basename", "cd", "date", "dirname", "echo", "exit", "false", "hostname",
    "id", "mktemp", "nproc", "printf", "pwd", "seq", "shift", "sleep", "test", "true", "uname",
    "uuidgen", "whoami", "yes",
];

/// Programs that make something else of what they read.
const FILTERS: &[&str] = &[
    "awk",
    "base32",
    "base64",
    "cat",
    "column",
    "cut",
    "egrep",
    "fold",
    "gawk",
    "grep",
    "gzip",
    "head",
    "jq",
    "md5sum",
    "paste",
    "rev",
    "sed",
    "sha256sum",
    "sort",
    "tail",
    "tee",
    "tr",
    "uniq",
    "wc",
    "xxd",
    "yq",
];

/// Programs that show what is in files, or make one of them. Those that only look into one for a name or
/// a number, as `jq` does, are not among them.
const SHOWING: &[&str] = &[
    "awk", "base32", "base64", "bat", "cat", "cut", "dd", "egrep", "env", "gawk", "gpg", "grep",
    "gzip", "head", "hexdump", "od", "openssl", "printenv", "sed", "sort", "strings", "tac",
    "tail", "tar", "xxd", "zip",
];

/// What of git says nothing of what is in files.
const OF_GIT: &[&str] =
    &["branch", "config", "describe", "remote", "rev-list", "rev-parse", "symbolic-ref"];

/// What is in a line without being written in it.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// What commands write.
    written: Flow,
    /// Of that, what is in files.
    files: Flow,
    /// Variables that have such values, wherever they are set, and whether they are from files.
    variables: HashMap<String, bool>,
    /// Whether the line says by which machine others are reached.
    pub(super) sets_proxy: bool,
}

impl Contents {
    pub(super) fn of(line: &Line) -> Self {
        let sets_proxy = line.sets.iter().any(|name| is_proxy(name));
        let mut contents = Self { sets_proxy, ..Self::default() };
        for (number, command) in line.commands.iter().enumerate() {
            let runs = command.runs();
            if runs.iter().any(|run| writes(run, command)) {
                contents.written.add(number, command);
            }
            let shows = |run: &Run<'_>| SHOWING.contains(&run.program) && writes(run, command);
            if runs.iter().any(shows) {
                contents.files.add(number, command);
            }
            for run in
                runs.iter().filter(|run| matches!(run.program, "read" | "mapfile" | "readarray"))
            {
                let names = operands(run).into_iter().map(|word| (word.text.clone(), true));
                contents.variables.extend(names);
            }
        }
        for step in &line.steps {
            let Step::Set { name, values } = step else { continue };
            // What a loop goes through is not looked into.
            let is_open =
                |value: &Word| value.commands.is_empty() && value.text.contains(['`', '(']);
            let has_file = values.iter().any(|value| contents.has_file(value) || is_open(value));
            if has_file || values.iter().any(|value| contents.is_in(value)) {
                *contents.variables.entry(name.clone()).or_default() |= has_file;
            }
        }
        if !contents.variables.is_empty() {
            contents.variables_are_written(line);
        }
        contents
    }

    /// `echo "$A"` writes what is in the variable.
    fn variables_are_written(&mut self, line: &Line) {
        let mut written = Flow::default();
        for (number, command) in line.commands.iter().enumerate() {
            let says =
                || command.words.iter().skip(1).any(|word| self.is_in_variable(word, |_| true));
            if self.written.any(&(number..number + 1)) || says() {
                written.add(number, command);
            }
        }
        self.written = written;
    }

    /// Whether something that is not written in the line is put into a word.
    pub(super) fn is_in(&self, word: &Word) -> bool {
        self.written.any(&word.commands) || self.is_in_variable(word, |_| true) || reads_file(word)
    }

    /// Whether what is in a file is put into a word.
    pub(super) fn has_file(&self, word: &Word) -> bool {
        self.files.any(&word.commands)
            || self.is_in_variable(word, |is_file| is_file)
            || reads_file(word)
    }

    fn is_in_variable(&self, word: &Word, counts: impl Fn(bool) -> bool) -> bool {
        if word.hole.is_none() || self.variables.is_empty() {
            return false;
        }
        word.text.split('$').skip(1).any(|text| {
            let text = text.trim_start_matches(['{', '#', '!']);
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
            self.variables.get(name).is_some_and(|is_file| counts(*is_file))
        })
    }

    /// What a command reads, in words, if that is not written in the line.
    pub(super) fn read(&self, line: &Line, command: &Command) -> Option<String> {
        let input = |number: usize| line.inputs.get(number);
        match command.input? {
            Input::File(number) => {
                let file = input(number).filter(|file| !file.text.starts_with("/dev/null"))?;
                if file.is_process() {
                    return self.is_in(file).then(|| "what another command writes".to_owned());
                }
                Some(shown(&file.text).into_owned())
            }
            Input::Text(number) => {
                let text = input(number).filter(|text| self.is_in(text));
                text.map(|_| "what another command writes".to_owned())
            }
            Input::Pipe(_) => {
                self.written.before(command).then(|| "what is piped to it".to_owned())
            }
        }
    }
}

/// Whether a variable says by which machine others are reached.
pub(super) fn is_proxy(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("_proxy")
}

/// Whether a program writes something that is not written in the line.
fn writes(run: &Run<'_>, command: &Command) -> bool {
    // What it reads comes from a command before it, which is looked at by itself.
    let passes_on = matches!(command.input, Some(Input::Pipe(_) | Input::Text(_)));
    match run.program {
        name if QUIET.contains(&name) => false,
        "cat" | "tee" if passes_on => {
            run.program == "cat" && operands(run).iter().any(|word| word.text != "-")
        }
        name if FILTERS.contains(&name) && passes_on => false,
        "jq" => {
            let has =
                |wanted: &[&str]| run.arguments.iter().any(|word| wanted.contains(&&*word.text));
            !has(&["-n", "--null-input"]) || has(&["--rawfile", "--slurpfile"])
        }
        "git" => operands(run).first().is_none_or(|word| !OF_GIT.contains(&word.text.as_str())),
        "" => false,
        _ => true,
    }
}

/// Whether a word has `$(< file)` in it, in which there is no command.
fn reads_file(word: &Word) -> bool {
    word.hole.is_some()
        && word.text.split("$(").skip(1).any(|text| text.trim_start().starts_with('<'))
}
