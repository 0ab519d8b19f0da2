//! What is asked about: a tool, its input, and where.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// What it is called with.
    pub input: &'a Value,
}

impl<'a> Call<'a> {
    /// A text of the input, by its name.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.input.get(name)?.as_str()
    }

    /// The command, of a tool that runs one.
    #[must_use]
    pub fn command(&self) -> Option<&'a str> {
        match self.tool {
            "Bash" | "Monitor" => self.text("command"),
            _ => None,
        }
    }

    /// The file or folder that it is about, as it was written.
    #[must_use]
    pub fn path(&self) -> Option<&'a str> {
        match self.tool {
            "Read" | "Write" | "Edit" | "MultiEdit" => self.text("file_path"),
            "NotebookEdit" => self.text("notebook_path"),
            "Glob" | "Grep" | "LS" => self.text("path"),
            _ => None,
        }
    }

    /// Whether it is a tool that writes the file it is about.
    #[must_use]
    pub fn writes(&self) -> bool {
        matches!(self.tool, "Write" | "Edit" | "MultiEdit" | "NotebookEdit")
    }
}

/// Where a call is made.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The folder of the session: what is not in it is outside, wherever the call is made.
    pub folder: &'a Path,
    /// The folder that it is made in, from which paths are taken. A command may have left that of the
    /// session.
    pub here: &'a Path,
    /// The home folder of whoever runs it, where it is known.
    pub home: Option<&'a Path>,
}

impl<'a> Place<'a> {
    /// In the folder of the session.
    #[must_use]
    pub const fn new(folder: &'a Path, home: Option<&'a Path>) -> Self {
        Self { folder, here: folder, home }
    }

    /// The path as it is from the root, without looking whether it is there. None where it begins in a
    /// home folder that is not known.
    #[must_use]
    pub fn absolute(&self, path: &str) -> Option<PathBuf> {
        let joined = match path.strip_prefix('~') {
            Some("") => self.home?.to_owned(),
            Some(rest) if rest.starts_with('/') => self.home?.join(rest.trim_start_matches('/')),
            _ => self.here.join(path),
        };
        Some(normal(&joined))
    }

    /// Whether a path is in the folder of the session, or is that folder.
    #[must_use]
    pub fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(normal(self.folder))
    }
}

/// A path without `.` and `..`, as far as that can be told without looking.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_from_the_folder_and_from_the_home() {
        let place = Place::new(Path::new("/project/a"), Some(Path::new("/home/me")));
        let absolute = |path| place.absolute(path).unwrap().display().to_string();
        assert_eq!(absolute("b"), "/project/a/b");
        assert_eq!(absolute("./b/../c"), "/project/a/c");
        assert_eq!(absolute("../../../x"), "/x");
        assert_eq!(absolute("~"), "/home/me");
        assert_eq!(absolute("~/x"), "/home/me/x");
        assert_eq!(absolute("~other"), "/project/a/~other");
        assert_eq!(Place { home: None, ..place }.absolute("~/x"), None);
        assert!(place.is_inside(Path::new("/project/a")));
        assert!(place.is_inside(Path::new("/project/a/b")));
        assert!(!place.is_inside(Path::new("/project/ab")));
        let elsewhere = Place { here: Path::new("/srv"), ..place };
        assert_eq!(elsewhere.absolute("b").unwrap(), Path::new("/srv/b"));
        assert!(elsewhere.is_inside(Path::new("/project/a")));
        assert!(!elsewhere.is_inside(Path::new("/srv")));
    }
}
