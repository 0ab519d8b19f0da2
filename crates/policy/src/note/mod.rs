//! What a person should know before a call is allowed.

mod code;
mod container;
mod content;
mod delete;
mod download;
mod elsewhere;
mod execute;
mod flow;
mod folder;
mod git;
mod guard;
mod later;
mod secret;
mod send;
mod stop;
mod variable;
mod write;

use std::borrow::Cow;

use self::content::Contents;
use self::download::Downloads;
use self::folder::{Folders, Where};
use self::stop::Jobs;
use crate::call::{Call, Place};
use crate::shell::{self, Begin, Line, Options, Run, Scope, Step, Word};

/// What kind of danger a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Danger {
    /// What is there is gone after it.
    Deletes,
    /// Something from elsewhere is run unread.
    RunsDownload,
    /// A shell or an interpreter runs what it reads: from a pipe, or a text in the line.
    RunsInput,
    /// A file is changed from which something runs later, without being asked for.
    RunsLater,
    /// The history that others have is replaced.
    ForcePush,
    /// Programs, services or the machine are ended.
    Stops,
    /// Something that protects is switched off: the check of a certificate, a sandbox.
    Unguarded,
    /// Something is sent to another machine, or published.
    Sends,
    /// A file outside the folder of the session is changed.
    Outside,
    /// It is about a place where secrets are kept.
    Secret,
    /// It runs with the rights of somebody else.
    Privilege,
    /// What it does cannot be told by looking at it.
    Opaque,
}

impl Danger {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deletes => "deletes",
            Self::RunsDownload => "runs_download",
            Self::RunsInput => "runs_input",
            Self::RunsLater => "runs_later",
            Self::ForcePush => "force_push",
            Self::Stops => "stops",
            Self::Unguarded => "unguarded",
            Self::Sends => "sends",
            Self::Outside => "outside",
            Self::Secret => "secret",
            Self::Privilege => "privilege",
            Self::Opaque => "opaque",
        }
    }
}

/// Something that a person should know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// What it is about.
    pub danger: Danger,
    /// It, in words that go on from "It".
    pub text: String,
}

/// Programs that run others with the rights of another user.
const RAISING: &[&str] = &["doas", "gosu", "pkexec", "run0", "runuser", "su", "su-exec", "sudo"];

/// Where a program runs that is run in a container.
const IN_CONTAINER: &str = "in a container";

/// How many notes there are about the same danger. Nobody reads more of them.
const SAME: usize = 6;

/// How many files or the like are named in a note.
const NAMED: usize = 6;

/// How many characters of a name are shown.
const SHOWN: usize = 80;

/// What a person should know before this call is allowed: the worst first, each once.
///
/// No notes does not mean that a call is harmless. It means that nothing was seen.
#[must_use]
pub fn notes(call: &Call<'_>, place: &Place<'_>) -> Vec<Note> {
    let mut found = Found { notes: Vec::new(), away: None };
    found.unguarded_call(call);
    if let Some(command) = call.command() {
        match shell::parse(command) {
            Some(line) => found.line(&line, place),
            None => found.add(Danger::Opaque, "is too long to be looked at"),
        }
    } else if call.tool == "PowerShell" {
        found.add(Danger::Opaque, "is a command for PowerShell, which is not looked at");
    } else {
        if let Some(path) = call.path() {
            if call.writes() {
                if !place.absolute(path).is_some_and(|path| place.is_inside(&path)) {
                    found.outside(path);
                }
                found.later_tool(call, path);
            }
            found.secret_path(path);
        }
        if call.tool == "Grep"
            && let Some(names) = call.text("glob")
        {
            found.secret_path(names);
        }
    }
    found.sorted()
}

struct Found {
    notes: Vec<Note>,
    /// Where what is looked at runs, in words, if it is not on this machine.
    away: Option<&'static str>,
}

impl Found {
    fn add(&mut self, danger: Danger, text: impl Into<String>) {
        let mut text = text.into();
        let is_there = danger <= Danger::RunsLater || danger == Danger::Stops;
        if let Some(away) = self.away.filter(|_| is_there) {
            text = format!("{text}, {away}");
        }
        self.notes.push(Note { danger, text });
    }

    /// All that was found, the worst first, each once, and not too much of the same.
    fn sorted(mut self) -> Vec<Note> {
        self.notes.sort();
        self.notes.dedup();
        let mut notes = Vec::new();
        for same in self.notes.chunk_by(|note, next| note.danger == next.danger) {
            let (shown, more) = same.split_at_checked(SAME).unwrap_or((same, &[]));
            notes.extend(shown.iter().cloned());
            if let Some(Note { danger, .. }) = more.first() {
                let text = format!("does so in {} more places", more.len());
                notes.push(Note { danger: *danger, text });
            }
        }
        notes
    }

    fn line(&mut self, line: &Line, place: &Place<'_>) {
        let mut folders = Folders::new(place, line);
        let mut downloads = Downloads::of(line);
        let contents = Contents::of(line);
        let jobs = Jobs::of(line);
        // Files that are written by the command that comes next.
        let mut redirects: Vec<&Word> = Vec::new();
        let mut frames = Vec::new();
        for step in &line.steps {
            match step {
                Step::Command(number) => {
                    let Some(command) = line.commands.get(*number) else { continue };
                    let runs = command.runs();
                    for run in &runs {
                        self.container(run, &folders);
                        let away = self.away;
                        if run.container.is_some() {
                            self.away = Some(IN_CONTAINER);
                        }
                        self.execution(line, command, run, &downloads, &folders);
                        self.run(run, &folders);
                        self.elsewhere(line, command, run);
                        self.sends(line, command, run, &contents);
                        self.serves(run, &redirects);
                        self.stops(&jobs, run);
                        self.unguarded(command, run, &contents);
                        self.away = away;
                    }
                    downloads.keep(line, command, &runs, &redirects, &folders);
                    redirects.clear();
                    for run in &runs {
                        folders.run(run);
                    }
                    self.secrets(command, &runs);
                }
                Step::Redirect(number) => {
                    let Some(redirect) = line.redirects.get(*number) else { continue };
                    if redirect.writes && self.connection(&redirect.target) {
                        redirects.push(&redirect.target);
                        continue;
                    }
                    if redirect.empties && !redirect.target.text.starts_with("/dev/") {
                        let text = format!("empties {}", shown(&redirect.target.text));
                        self.add(Danger::Deletes, text);
                    }
                    if redirect.writes {
                        self.change(&redirect.target, None, &folders);
                        self.later(&redirect.target, &folders);
                        redirects.push(&redirect.target);
                    }
                    self.secret_path(&redirect.target.text);
                }
                Step::Set { name, values } => {
                    self.unguarded_variable(name, values);
                    folders.set(name);
                }
                Step::Enter(word) => folders.enter(word),
                Step::Open(scope) => {
                    frames.push(self.away);
                    match scope {
                        Scope::Container => self.away = Some(IN_CONTAINER),
                        Scope::Remote => self.away = Some("on another machine"),
                        _ => {}
                    }
                    folders.open(scope);
                }
                Step::Next => folders.next(),
                Step::Close => {
                    self.away = frames.pop().flatten();
                    folders.close();
                }
            }
        }
        self.variables(&line.variables);
        if line.is_broken {
            self.add(Danger::Opaque, "cannot be read as commands, or not all of it");
        }
    }

    /// What one program does.
    fn run(&mut self, run: &Run<'_>, folders: &Folders<'_>) {
        let raises = |name: &&&str| RAISING.contains(*name);
        for by in run.by.iter().chain([&run.program]).filter(raises) {
            self.add(Danger::Privilege, format!("runs with the rights of another user ({by})"));
        }
        if let Some(wrapper) = run.unclear {
            let text = format!(
                "runs a program with {wrapper}, and which one cannot be told from its options"
            );
            self.add(Danger::Opaque, text);
        }
        if let Some(name) = run.name.filter(|name| is_unknown_program(name)) {
            let text = format!("runs {}, which is only known when it runs", shown(&name.text));
            self.add(Danger::Opaque, text);
        }
        if matches!(run.program, "cmd.exe" | "powershell" | "powershell.exe" | "pwsh")
            && !run.arguments.is_empty()
            && !run
                .arguments
                .iter()
                .all(|word| matches!(&*word.text, "--version" | "-v" | "-Version"))
        {
            let text = format!("runs a command that is not looked at (with {})", run.program);
            self.add(Danger::Opaque, text);
        }
        self.deletes(run);
        self.raises(run);
        self.plans(run);
        if run.program == "git" {
            self.git(run, folders);
        }
        self.writes(run, folders);
        self.shows(run);
        self.tells(run);
    }

    /// A path is changed, in the folder that a command is run in, or another one.
    fn change(&mut self, word: &Word, folder: Option<&Word>, folders: &Folders<'_>) {
        if word.text.is_empty() || word.is_process() || self.away.is_some() {
            return;
        }
        match folders.place_of(word, folder) {
            Where::Nowhere | Where::Inside => {}
            Where::Disk => {
                self.add(Danger::Deletes, format!("overwrites {}", shown(&word.text)));
                self.outside(&word.text);
            }
            Where::Outside => self.outside(&word.text),
            Where::Unknown => {
                let text = format!(
                    "changes {}, in a place that is only known when it runs",
                    shown(&word.text)
                );
                self.add(Danger::Opaque, text);
            }
        }
    }

    fn outside(&mut self, path: &str) {
        let text = format!("changes {}, outside the folder of the session", shown(path));
        self.add(Danger::Outside, text);
    }
}

/// Whether it is only known when it runs which program a word names. Where the home folder is does not
/// matter for that.
fn is_unknown_program(name: &Word) -> bool {
    match name.begin() {
        Begin::Home(rest) | Begin::Here(rest) => rest.contains(['$', '`', '*', '?']),
        _ => name.is_open,
    }
}

/// What is not an option.
fn operands<'a>(run: &Run<'a>) -> Vec<&'a Word> {
    Options::NONE.anywhere(run.arguments).operands
}

/// What a program does, and to what: its operands, without the values of options that can stand
/// before them.
fn subcommands<'a>(run: &Run<'a>) -> Vec<&'a Word> {
    let options = match run.program {
        "aws" => Options::with("", &["color", "endpoint-url", "output", "profile", "region"]),
        "docker" | "podman" => Options::with("H", &["config", "context", "host"]),
        "gh" => Options::with("R", &["repo"]),
        "helm" => Options::with("n", &["kube-context", "kubeconfig", "namespace"]),
        "kubectl" | "oc" => Options::with("n", &["context", "kubeconfig", "namespace"]),
        _ => Options::NONE,
    };
    options.anywhere(run.arguments).operands
}

/// A text as it is shown in a note.
fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// Some words as they are shown in a note.
fn all_shown(words: &[&Word]) -> String {
    let names: Vec<_> = words.iter().take(NAMED).map(|word| shown(&word.text)).collect();
    let names = names.join(", ");
    match words.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!("{names} and {more} more"),
        _ => names,
    }
}

#[cfg(test)]
mod tests;
