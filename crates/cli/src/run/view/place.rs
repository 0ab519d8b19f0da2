//! The folder that a session works in, and what its files hold.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Files above this are not read to be compared: nobody would look at it.
const READABLE: u64 = 4 * 1024 * 1024;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A text.
    Text(String),
    /// Nothing.
    Nothing,
    /// Something that cannot be compared, and why.
    Unreadable(&'static str),
    /// It is on another machine, or may be.
    Elsewhere,
}

/// The folder that a session works in.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    cwd: PathBuf,
    is_elsewhere: bool,
}

impl Place {
    pub(crate) fn new(cwd: PathBuf) -> Self {
        Self { cwd, is_elsewhere: false }
    }

    /// A folder that may be on another machine. Files here that have the same names are not read.
    pub(crate) fn elsewhere(cwd: impl Into<PathBuf>) -> Self {
        Self { cwd: cwd.into(), is_elsewhere: true }
    }

    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// A path as it is said here: from the working folder, if it is in it.
    pub(crate) fn short(&self, path: &str) -> String {
        match Path::new(path).strip_prefix(&self.cwd) {
            Ok(inside) if !inside.as_os_str().is_empty() => inside.display().to_string(),
            _ => path.to_owned(),
        }
    }

    /// What is at a path.
    pub(crate) fn read(&self, path: &str) -> Found {
        if self.is_elsewhere {
            return Found::Elsewhere;
        }
        let path = self.cwd.join(path);
        // Looked at first, because opening a pipe could wait for ever.
        let Ok(about) = std::fs::metadata(&path) else { return Found::Nothing };
        if !about.is_file() {
            return Found::Unreadable("it is not a file");
        }
        if about.len() > READABLE {
            return Found::Unreadable("it is too large to be compared");
        }
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(READABLE).read_to_end(&mut bytes));
        match (read, String::from_utf8(bytes)) {
            (Err(_), _) => Found::Unreadable("it cannot be read"),
            (Ok(_), Err(_)) => Found::Unreadable("it is not text"),
            (Ok(_), Ok(text)) => Found::Text(text),
        }
    }
}
