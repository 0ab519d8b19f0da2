//! Files as they were when a message came, so that they can be brought back.

use std::fs;
use std::path::{Path, PathBuf};

use super::json::{Object, obj};

/// A message of the user, and the files that were changed after it.
#[derive(Clone, Debug)]
struct Mark {
    uuid: String,
    /// Each file with its text before the change; none for a file that was not there.
    files: Vec<(PathBuf, Option<String>)>,
}

/// The marks, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints(Vec<Mark>);

impl Checkpoints {
    /// A message has come.
    pub(crate) fn mark(&mut self, uuid: &str) {
        self.0.push(Mark { uuid: uuid.to_owned(), files: Vec::new() });
    }

    /// A file is about to be changed.
    pub(crate) fn before_change(&mut self, path: &Path, text: Option<&str>) {
        if let Some(mark) = self.0.last_mut()
            && !mark.files.iter().any(|(known, _)| known == path)
        {
            mark.files.push((path.to_path_buf(), text.map(str::to_owned)));
        }
    }

    fn since(&self, uuid: &str) -> Option<Vec<(PathBuf, Option<String>)>> {
        let at = self.0.iter().position(|mark| mark.uuid == uuid)?;
        let mut files: Vec<(PathBuf, Option<String>)> = Vec::new();
        for mark in self.0.iter().skip(at) {
            for (path, text) in &mark.files {
                if !files.iter().any(|(known, _)| known == path) {
                    files.push((path.clone(), text.clone()));
                }
            }
        }
        Some(files)
    }

    /// What bringing the files back would change.
    pub(crate) fn preview(&self, uuid: &str) -> Option<Object> {
        let files = self.since(uuid)?;
        let (mut changed, mut insertions, mut deletions) = (Vec::new(), 0_usize, 0_usize);
        for (path, before) in files {
            let now = fs::read_to_string(&path).unwrap_or_default();
            let before = before.unwrap_or_default();
            if now != before {
                changed.push(path.display().to_string());
                insertions += before.lines().count();
                deletions += now.lines().count();
            }
        }
        Some(obj! {
            "canRewind": true,
            "filesChanged": changed,
            "insertions": insertions,
            "deletions": deletions,
        })
    }

    /// Brings the files back. False when the message is not known.
    pub(crate) fn restore(&self, uuid: &str) -> bool {
        let Some(files) = self.since(uuid) else { return false };
        for (path, before) in files {
            // A file that cannot be brought back stays as it is.
            let restored = match before {
                Some(text) => fs::write(&path, text),
                None => fs::remove_file(&path),
            };
            drop(restored);
        }
        true
    }
}
