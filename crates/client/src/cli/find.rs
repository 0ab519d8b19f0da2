//! Where the CLI may be, and the order in which it is looked for.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write as _};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The variable that says where the CLI is.
const VARIABLE: &str = "CLAUDE_CODE_PATH";

/// The name of the program.
const PROGRAM: &str = "claude";

/// Where installers put the CLI, below the home folder.
const IN_HOME: [&str; 9] = [
    ".local/bin/claude",
    ".claude/local/claude",
    ".claude/local/node_modules/.bin/claude",
    ".npm-global/bin/claude",
    ".yarn/bin/claude",
    ".volta/bin/claude",
    ".bun/bin/claude",
    "node_modules/.bin/claude",
    ".nix-profile/bin/claude",
];

/// Where installers put the CLI for everybody.
const FOR_ALL: [&str; 3] =
    ["/usr/local/bin/claude", "/opt/homebrew/bin/claude", "/home/linuxbrew/.linuxbrew/bin/claude"];

/// Where to look for the CLI.
///
/// The first of these that is there decides, and later ones are not looked at:
///
/// 1. [`explicit`](Self::explicit), the path that the program was given;
/// 2. [`variable`](Self::variable), the value of `CLAUDE_CODE_PATH`;
/// 3. the folders of [`path`](Self::path);
/// 4. the places in [`home`](Self::home) that installers use, then those
///    [`for_all`](Self::for_all);
/// 5. `node_modules/.bin` in [`cwd`](Self::cwd) and the folders above it.
///
/// A path that was given, the first or the second, must lead to a program: when it does not, the
/// search ends there. Anything else would start a CLI that nobody asked for.
///
/// The search depends on nothing but these fields and the files they lead to.
///
/// ```
/// use countersign::cli::FindOptions;
///
/// let mut options = FindOptions::default();
/// options.path = Some("/nowhere".into());
/// let error = options.find().unwrap_err();
/// assert!(error.to_string().contains("/nowhere/claude"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindOptions {
    /// A path that was given. Relative, it begins in [`cwd`](Self::cwd).
    pub explicit: Option<PathBuf>,
    /// The value of `CLAUDE_CODE_PATH`. Empty is the same as not set.
    pub variable: Option<PathBuf>,
    /// The value of `PATH`.
    pub path: Option<OsString>,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Where installers put the CLI for everybody.
    pub for_all: Vec<PathBuf>,
    /// The working folder, an absolute path.
    pub cwd: Option<PathBuf>,
}

impl FindOptions {
    /// What the environment of this process says.
    #[must_use]
    pub fn from_env() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            explicit: None,
            variable: variable(VARIABLE).map(PathBuf::from),
            path: variable("PATH"),
            home: variable("HOME").map(PathBuf::from),
            for_all: FOR_ALL.map(PathBuf::from).to_vec(),
            cwd: std::env::current_dir().ok(),
        }
    }

    /// Looks for the program, and returns its absolute path. Links are not followed, so that an
    /// update that moves the link is seen by the next session.
    ///
    /// # Errors
    ///
    /// When there is none. The error lists every place that was looked at.
    pub fn find(&self) -> Result<PathBuf, FindError> {
        let mut search = Search { cwd: self.cwd.as_deref(), looked: Vec::new() };
        let variable = self.variable.as_deref().filter(|path| !path.as_os_str().is_empty());
        for (given, origin) in
            [(self.explicit.as_deref(), Origin::Explicit), (variable, Origin::Variable)]
        {
            if let Some(path) = given {
                return search.at(path).ok_or(FindError { origin, looked: search.looked });
            }
        }
        let found = self.usual_places().iter().find_map(|path| search.at(path));
        found.ok_or(FindError { origin: Origin::Usual, looked: search.looked })
    }

    /// The places to look at when no path was given, in their order.
    fn usual_places(&self) -> Vec<PathBuf> {
        let path = self.path.as_deref().unwrap_or(OsStr::new(""));
        // An empty entry of PATH means the working folder. What lies there is not what a person
        // installed, so it is not run.
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        let mut places: Vec<_> = folders.map(|folder| folder.join(PROGRAM)).collect();
        let home = self.home.as_deref().filter(|home| home.is_absolute());
        places.extend(IN_HOME.iter().filter_map(|place| Some(home?.join(place))));
        places.extend(self.for_all.iter().cloned());
        let above = self.cwd.iter().flat_map(|cwd| cwd.ancestors());
        places.extend(above.map(|folder| folder.join("node_modules/.bin").join(PROGRAM)));
        let mut seen = std::collections::HashSet::new();
        places.retain(|place| seen.insert(place.clone()));
        places
    }
}

/// A search, with a record of where it looked.
struct Search<'a> {
    cwd: Option<&'a Path>,
    looked: Vec<Looked>,
}

impl Search<'_> {
    /// The program at this path, as an absolute path.
    fn at(&mut self, path: &Path) -> Option<PathBuf> {
        let path = match self.cwd {
            Some(cwd) if path.is_relative() => cwd.join(path),
            _ => path.to_owned(),
        };
        let fault = match fault_of(&path) {
            // A relative path would be looked up again in the working folder of the session.
            None if path.is_absolute() => return Some(path),
            None => Fault::Relative,
            Some(fault) => fault,
        };
        self.looked.push(Looked { path, fault });
        None
    }
}

/// Why there is no program at this path.
fn fault_of(path: &Path) -> Option<Fault> {
    match std::fs::metadata(path) {
        Err(error) => Some(match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Fault::Missing,
            kind => Fault::Unreadable(kind),
        }),
        Ok(metadata) if metadata.is_dir() => Some(Fault::Directory),
        Ok(metadata) if !metadata.is_file() => Some(Fault::NotAFile),
        Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 => Some(Fault::NotExecutable),
        Ok(_) => None,
    }
}

/// A place where the CLI was looked for, and is not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Looked {
    /// The path.
    pub path: PathBuf,
    /// Why it is not the CLI.
    pub fault: Fault,
}

/// Why a path does not lead to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// There is nothing.
    Missing,
    /// It is a folder.
    Directory,
    /// It is a pipe, a socket or a device.
    NotAFile,
    /// It is a file that nobody may execute.
    NotExecutable,
    /// It is a relative path, and the working folder is not known.
    Relative,
    /// It cannot be looked at.
    Unreadable(io::ErrorKind),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("not there"),
            Self::Directory => f.write_str("a folder, not a program"),
            Self::NotAFile => f.write_str("not a file"),
            Self::NotExecutable => f.write_str("not executable; `chmod +x` makes it so"),
            Self::Relative => f.write_str("a relative path, and the working folder is not known"),
            Self::Unreadable(kind) => write!(f, "cannot be looked at: {kind}"),
        }
    }
}

/// Who said where the CLI is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Explicit,
    Variable,
    Usual,
}

/// The CLI was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{}", self.text())]
pub struct FindError {
    origin: Origin,
    looked: Vec<Looked>,
}

impl FindError {
    /// The places that were looked at, in their order.
    #[must_use]
    pub fn looked(&self) -> &[Looked] {
        &self.looked
    }

    fn text(&self) -> String {
        let mut text = String::from(match self.origin {
            Origin::Explicit => "the path that was given is not that of the Claude Code CLI:",
            Origin::Variable => "CLAUDE_CODE_PATH does not lead to the Claude Code CLI:",
            Origin::Usual => {
                "the Claude Code CLI was not found: install it with \
                 `npm install -g @anthropic-ai/claude-code`, or set CLAUDE_CODE_PATH to where it \
                 is; looked at:"
            }
        });
        for Looked { path, fault } in &self.looked {
            // Writing to a string does not fail.
            write!(text, "\n  {} ({fault})", path.display()).ok();
        }
        text
    }
}
