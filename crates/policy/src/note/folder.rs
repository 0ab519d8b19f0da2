//! In which folder a command runs, as far as that can be told, and where a path is from there.

use std::cell::Cell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::variable::Variables;
use crate::call::{Place, normal};
use crate::shell::{Begin, Line, Options, Run, Scope, Word};

/// How many folders are kept in mind that a command could run in.
const FOLDERS: usize = 8;

/// The longest path of a folder that is kept in mind, in bytes.
const PATH: usize = 4096;

/// How many bytes of paths are looked at in a line. Where any more are is only known when it runs.
const WORK: usize = 4 << 20;

/// Where a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Where {
    /// It is not a file: what is written to it is thrown away, or shown.
    Nowhere,
    /// In the folder of the session.
    Inside,
    /// In a place that is only known when it runs.
    Unknown,
    /// Outside of the folder.
    Outside,
    /// On a disk, without a file system between.
    Disk,
}

/// A folder. None where it is only known when it runs.
type Folder = Option<PathBuf>;

/// The folders that a command could run in.
#[derive(Clone, Debug, Default)]
struct State {
    /// If all went well so far. None at all after `exit`.
    now: Vec<Folder>,
    /// If something before a `&&` failed. The next `cd` assumes that nothing did.
    failed: Vec<Folder>,
    /// Those before the last `cd`.
    last: Vec<Folder>,
    /// Those that `popd` goes back to.
    pushed: Vec<Vec<Folder>>,
}

impl State {
    /// Either this or the other.
    fn or(&mut self, other: Self) {
        join(&mut self.now, other.now);
        join(&mut self.failed, other.failed);
        if self.last.is_empty() {
            self.last = other.last;
        }
    }

    fn go(&mut self, to: Vec<Folder>) {
        self.last = std::mem::replace(&mut self.now, to);
        self.failed.clear();
    }
}

fn join(folders: &mut Vec<Folder>, others: Vec<Folder>) {
    for other in others {
        if !folders.contains(&other) {
            folders.push(other);
        }
    }
    if folders.len() > FOLDERS {
        *folders = vec![None];
    }
}

/// Something that is open in the line.
#[derive(Debug)]
enum Frame {
    /// Afterwards it is as it was before.
    Own(State),
    /// How it was before, and after the parts that ended.
    Branches(State, State),
    /// The folders in which a part could have failed.
    And(Vec<Folder>),
    /// How it was before, and after the parts that ended.
    Or(State, State),
    /// How it was before a function, its name, and whether it goes somewhere.
    Function(State, String, bool),
}

/// The folders of a line, step by step.
#[derive(Debug)]
pub(super) struct Folders<'a> {
    place: &'a Place<'a>,
    home: PathBuf,
    /// Whether the variables for the home folder and for this one have other values here.
    sets_home: bool,
    sets_here: bool,
    /// Whether the line goes anywhere at all.
    moves: bool,
    /// Functions that go somewhere.
    moving: HashSet<String>,
    state: State,
    frames: Vec<Frame>,
    variables: Variables,
    /// How many bytes of paths may still be looked at.
    work: Cell<usize>,
}

impl<'a> Folders<'a> {
    pub(super) fn new(place: &'a Place<'a>, line: &Line) -> Self {
        let sets = |name: &str| line.sets.iter().any(|set| set == name);
        let moves = |name: &str| matches!(name, "cd" | "pushd" | "popd");
        let begin = Some(normal(place.here));
        Self {
            place,
            // A path that is in no folder that could be known.
            home: place.home.unwrap_or(Path::new("~")).to_owned(),
            sets_home: sets("HOME"),
            sets_here: sets("PWD"),
            moves: line.commands.iter().any(|c| c.words.iter().any(|word| moves(&word.text))),
            moving: HashSet::new(),
            state: State { now: vec![begin], ..State::default() },
            frames: Vec::new(),
            variables: Variables::of(line),
            work: Cell::new(WORK),
        }
    }

    /// A variable is set to one of the values that the line has for it.
    pub(super) fn set(&mut self, name: &str) {
        self.variables.set(name);
    }

    pub(super) fn open(&mut self, scope: &Scope) {
        self.variables.open(scope);
        let before = self.state.clone();
        self.frames.push(match scope {
            Scope::Own | Scope::Shell | Scope::Container | Scope::Remote => Frame::Own(before),
            Scope::Branches => Frame::Branches(before, State::default()),
            Scope::And => Frame::And(Vec::new()),
            Scope::Or => Frame::Or(before, State::default()),
            Scope::Function(name) => {
                // It runs where it is called, which is here if the line goes nowhere.
                if self.moves {
                    self.state.now = vec![None];
                }
                Frame::Function(before, name.clone(), false)
            }
        });
    }

    pub(super) fn next(&mut self) {
        self.variables.next();
        match self.frames.last_mut() {
            Some(Frame::Branches(before, after)) => {
                after.or(std::mem::replace(&mut self.state, before.clone()));
            }
            Some(Frame::Or(before, after)) => {
                // In `cd a && b || c` it is `b` that can have failed.
                let left = std::mem::replace(&mut self.state, before.clone());
                join(&mut self.state.failed, left.failed.clone());
                after.or(left);
            }
            Some(Frame::And(failed)) => join(failed, self.state.now.clone()),
            _ => {}
        }
    }

    pub(super) fn close(&mut self) {
        self.variables.close();
        match self.frames.pop() {
            Some(Frame::Own(before)) => self.state = before,
            Some(Frame::Branches(before, after)) => {
                self.state.or(after);
                self.state.or(before);
            }
            Some(Frame::And(failed)) => join(&mut self.state.failed, failed),
            Some(Frame::Or(_, mut after)) => {
                after.or(std::mem::take(&mut self.state));
                self.state = after;
            }
            Some(Frame::Function(before, name, true)) => {
                self.moving.insert(name);
                self.state = before;
            }
            Some(Frame::Function(before, _, false)) => self.state = before,
            None => {}
        }
    }

    /// What follows runs in another folder.
    pub(super) fn enter(&mut self, folder: &Word) {
        let mut to = Vec::new();
        for word in self.variables.words(folder) {
            let all = self.state.now.iter().map(|from| self.path(&word, from.as_deref()));
            join(&mut to, all.collect());
        }
        self.state.go(to);
    }

    /// A program has run, which can go to another folder if it is a part of the shell.
    pub(super) fn run(&mut self, run: &Run<'_>) {
        if run.by.iter().any(|by| !matches!(*by, "builtin" | "command" | "time" | "!" | "{")) {
            return;
        }
        match run.program {
            "cd" | "chdir" | "pushd" => {
                let to = Options::NONE.leading(run.arguments).rest.first();
                if run.program == "pushd" {
                    self.push();
                }
                match to {
                    None if run.program == "pushd" => self.state.go(vec![None]),
                    None => self.enter(&Word::known("~")),
                    Some(to) if to.text == "-" && to.hole.is_none() => {
                        let last = self.state.last.clone();
                        self.state.go(if last.is_empty() { vec![None] } else { last });
                    }
                    Some(to) => self.enter(to),
                }
                self.goes();
            }
            "popd" => {
                self.goes();
                let back = self.state.pushed.pop().unwrap_or_else(|| vec![None]);
                self.state.go(back);
            }
            "exit" | "return" => {
                self.state.now.clear();
                self.state.failed.clear();
            }
            name if self.moving.contains(name) => self.state.go(vec![None]),
            _ => {}
        }
    }

    /// The functions that are being looked at go somewhere.
    fn goes(&mut self) {
        for frame in &mut self.frames {
            if let Frame::Function(.., goes) = frame {
                *goes = true;
            }
        }
    }

    fn push(&mut self) {
        self.state.pushed.push(self.state.now.clone());
        if self.state.pushed.len() > FOLDERS {
            self.state.pushed.remove(0);
        }
    }

    /// Where a path is, in the worst case.
    pub(super) fn place_of(&self, path: &Word, folder: Option<&Word>) -> Where {
        let here = Some(self.place.here.to_owned());
        let mut from: Vec<&Folder> = self.state.now.iter().chain(&self.state.failed).collect();
        if from.is_empty() {
            from.push(&here);
        }
        let words = self.variables.words(path);
        let places = from.into_iter().flat_map(|from| {
            let entered = folder.map(|folder| self.path(folder, from.as_deref()));
            let from = entered.unwrap_or_else(|| from.clone());
            words.iter().map(move |word| match self.path(word, from.as_deref()) {
                Some(absolute) => self.judged(&absolute),
                None => Where::Unknown,
            })
        });
        places.max().unwrap_or(Where::Unknown)
    }

    /// Where a path can be, as far as that can be told.
    pub(super) fn paths(&self, path: &Word) -> Vec<PathBuf> {
        let words = self.variables.words(path);
        let from = self.state.now.iter().chain(&self.state.failed);
        from.flat_map(|from| words.iter().filter_map(|word| self.path(word, from.as_deref())))
            .collect()
    }

    /// A path as it is from the root. None where that is only known when it runs.
    fn path(&self, word: &Word, from: Option<&Path>) -> Folder {
        let bytes = word.text.len() + from.map_or(0, |from| from.as_os_str().len()) + 1;
        self.work.set(self.work.get().saturating_sub(bytes));
        if self.work.get() == 0 {
            return None;
        }
        let below = |folder: &Path, rest: &str| folder.join(rest.trim_start_matches('/'));
        let path = match word.begin() {
            Begin::Open => return None,
            Begin::Home(_) if self.sets_home => return None,
            Begin::Here(_) if self.sets_here => return None,
            Begin::Home(rest) => below(&self.home, rest),
            Begin::OtherHome => Path::new("~").join(&word.text),
            Begin::Here(rest) => below(from?, rest),
            Begin::Text(text) if text.starts_with('/') => PathBuf::from(text),
            Begin::Text(text) => from?.join(text),
        };
        Some(normal(&path)).filter(|path| path.as_os_str().len() <= PATH)
    }

    fn judged(&self, path: &Path) -> Where {
        let text = path.to_string_lossy();
        if let Some(device) = text.strip_prefix("/dev/") {
            let is_nowhere =
                matches!(device, "null" | "zero" | "full" | "stdin" | "stdout" | "stderr" | "tty")
                    || device.starts_with("fd/");
            let is_disk = DISKS.iter().any(|disk| device.starts_with(disk));
            return match (is_nowhere, is_disk) {
                (true, _) => Where::Nowhere,
                (_, true) => Where::Disk,
                _ => Where::Outside,
            };
        }
        if self.place.is_inside(path) { Where::Inside } else { Where::Outside }
    }
}

/// How the names of disks begin.
const DISKS: &[&str] = &[
    "disk", "dm-", "hd", "loop", "mapper/", "md", "mem", "mmcblk", "nvme", "rdisk", "sd", "vd",
    "xvd",
];
