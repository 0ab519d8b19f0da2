//! What a line brings from elsewhere: by pipes, and in files.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::flow::Flow;
use super::folder::Folders;
use super::{git, operands, write};
use crate::shell::{Command, Input, Line, Options, Run, Word};

/// Programs that bring something from elsewhere.
const FETCHING: &[&str] = &[
    "aria2c", "curl", "fetch", "ftp", "http", "https", "lynx", "nc", "ncat", "telnet", "w3m",
    "wget", "xh",
];

/// How many files are kept in mind.
const FILES: usize = 256;

/// Where in a line something is downloaded.
#[derive(Debug, Default)]
pub(super) struct Downloads {
    /// What is downloaded.
    pub(super) flow: Flow,
    /// The files that are made of it so far, as they are written, and where they could be.
    names: HashSet<String>,
    places: HashSet<PathBuf>,
    /// Their names without folders, and of which of them the place is not known.
    files: HashMap<String, bool>,
    /// The folders that are made of it: repositories, and archives that are taken apart.
    folders: HashSet<PathBuf>,
    /// Those that can be run by their names alone.
    programs: HashSet<String>,
}

impl Downloads {
    pub(super) fn of(line: &Line) -> Self {
        let mut downloads = Self::default();
        for (number, command) in line.commands.iter().enumerate() {
            if command.runs().iter().any(is_fetching) {
                downloads.flow.add(number, command);
            }
        }
        downloads
    }

    /// Whether a file was downloaded before. Where a place is not known, the name alone decides.
    pub(super) fn has(&self, file: &Word, folders: &Folders<'_>) -> bool {
        if self.names.is_empty() && self.folders.is_empty() {
            return false;
        }
        let paths = folders.paths(file);
        let is_below = |path: &PathBuf| {
            !self.folders.is_empty() && path.ancestors().any(|folder| self.folders.contains(folder))
        };
        if paths.iter().any(is_below) {
            return true;
        }
        let is_lost = self.files.get(base(&file.text));
        self.names.contains(plain(&file.text))
            || paths.iter().any(|path| self.places.contains(path))
            || is_lost.is_some_and(|is_lost| *is_lost || paths.is_empty())
    }

    /// Whether a program was. One without a folder is in one of those that programs are in.
    pub(super) fn is_program(&self, name: &Word, folders: &Folders<'_>) -> bool {
        if name.text.contains('/') {
            self.has(name, folders)
        } else {
            self.programs.contains(&name.text)
        }
    }

    /// Keeps in mind which files a command makes, and what it makes them of.
    pub(super) fn keep(
        &mut self,
        line: &Line,
        command: &Command,
        runs: &[Run<'_>],
        redirects: &[&Word],
        folders: &Folders<'_>,
    ) {
        for run in runs {
            if let Some(folder) = git::cloned(run) {
                self.add_folder(&folder, folders);
            }
        }
        if self.flow.is_empty() {
            return;
        }
        let reads = match command.input {
            Some(Input::File(number)) => {
                line.inputs.get(number).is_some_and(|file| self.has(file, folders))
            }
            _ => false,
        };
        let opens = || command.words.iter().skip(1).any(|word| self.has(word, folders));
        let puts_in = || command.words.iter().any(|word| self.flow.any(&word.commands));
        let fetches = runs.iter().any(is_fetching);
        if reads || opens() {
            self.flow.pass(command);
        } else if !fetches && !puts_in() && !self.flow.before(command) {
            return;
        }
        for file in redirects {
            self.add(file, folders);
        }
        for run in runs {
            for file in made(run) {
                self.add(&file, folders);
            }
            if matches!(run.program, "bsdtar" | "gtar" | "tar" | "unzip") {
                for folder in write::written(run).into_iter().flatten() {
                    self.add_folder(&folder, folders);
                }
            }
        }
    }

    fn add_folder(&mut self, folder: &Word, folders: &Folders<'_>) {
        if self.folders.len() < FILES {
            self.folders.extend(folders.paths(folder));
        }
    }

    fn add(&mut self, file: &Word, folders: &Folders<'_>) {
        let name = plain(&file.text);
        if name.is_empty() || name.starts_with("/dev/") || self.names.len() >= FILES {
            return;
        }
        if let Some((folder, program)) = name.rsplit_once('/')
            && folder.ends_with("bin")
        {
            self.programs.insert(program.to_owned());
        }
        let paths = folders.paths(file);
        *self.files.entry(base(name).to_owned()).or_default() |= paths.is_empty();
        self.names.insert(name.to_owned());
        self.places.extend(paths);
    }
}

fn is_fetching(run: &Run<'_>) -> bool {
    FETCHING.contains(&run.program)
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn plain(mut name: &str) -> &str {
    while let Some(rest) = name.strip_prefix("./") {
        name = rest.trim_start_matches('/');
    }
    name
}

/// The files that a program makes of what it reads or fetches.
fn made<'a>(run: &Run<'a>) -> Vec<Cow<'a, Word>> {
    match run.program {
        "curl" => {
            let parsed = write::curl_options().anywhere(run.arguments);
            let folder = parsed.values(&["output-dir"]).last();
            let mut files: Vec<Cow<'_, Word>> = parsed.values(&["o", "output"]).collect();
            if parsed.has(&["O", "remote-name", "remote-name-all"]) {
                files.extend(parsed.operands.iter().filter_map(|url| named(url)));
                files.extend(parsed.values(&["url"]).filter_map(|url| named(&url)));
            }
            files.into_iter().map(|file| within(folder.as_deref(), file)).collect()
        }
        "wget" => {
            let parsed = write::wget_options().anywhere(run.arguments);
            let folder = parsed.values(&["P", "directory-prefix"]).last();
            let documents: Vec<_> = parsed.values(&["O", "output-document"]).collect();
            if !documents.is_empty() {
                return documents;
            }
            let files = parsed.operands.iter().filter_map(|url| named(url));
            files.map(|file| within(folder.as_deref(), file)).collect()
        }
        "aria2c" | "http" | "https" | "xh" | "fetch" => {
            Options::with("do", &["dir", "output", "out"])
                .anywhere(run.arguments)
                .values(&["o", "output", "out"])
                .collect()
        }
        "tee" | "sponge" => operands(run).into_iter().map(Cow::Borrowed).collect(),
        "cp" | "mv" | "install" => {
            operands(run).last().copied().map(Cow::Borrowed).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The file that an address is kept in.
fn named<'a>(url: &Word) -> Option<Cow<'a, Word>> {
    let path = url.text.split(['?', '#']).next().unwrap_or_default();
    let (_, file) = path.rsplit_once('/')?;
    (!file.is_empty()).then(|| Cow::Owned(Word::known(file)))
}

fn within<'a>(folder: Option<&Word>, file: Cow<'a, Word>) -> Cow<'a, Word> {
    match folder {
        Some(folder) => Cow::Owned(Word::joined([folder, &*file], "/")),
        None => file,
    }
}
