//! Files from which something runs later, without being asked for.

use super::folder::Folders;
use super::secret::has_part;
use super::{Danger, Found, shown};
use crate::shell::Word;

/// They, and folders of them.
const PLACES: &[&str] = &[
    ".claude/hooks",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".envrc",
    ".git/config",
    ".git/hooks",
    ".husky",
    ".mcp.json",
];

impl Found {
    /// A file is changed from which something can run later.
    pub(super) fn later(&mut self, word: &Word, folders: &Folders<'_>) {
        let is_later = |path: &str| PLACES.iter().any(|place| has_part(path, place));
        let is_there = || folders.paths(word).iter().any(|path| is_later(&path.to_string_lossy()));
        if is_later(&word.text) || is_there() {
            self.later_path(&word.text);
        }
    }

    /// The same of a tool that writes a file.
    pub(super) fn later_tool(&mut self, path: &str) {
        if PLACES.iter().any(|place| has_part(path, place)) {
            self.later_path(path);
        }
    }

    fn later_path(&mut self, path: &str) {
        let text = format!("changes {}, and what is in it can run later", shown(path));
        self.add(Danger::RunsLater, text);
    }
}
