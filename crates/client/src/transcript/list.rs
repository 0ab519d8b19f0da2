//! Which sessions there are.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use countersign_protocol::ids::SessionId;
use jiff::Timestamp;

use super::error::TranscriptError;
use super::files::{Located, is_uuid};
use super::info::{self, SessionInfo};

/// Which sessions of a list are wanted. By default all of them.
#[derive(Clone, Debug)]
#[must_use = "pass it to `Sessions::list`"]
#[non_exhaustive]
pub struct ListOptions {
    pub(crate) limit: Option<usize>,
    pub(crate) offset: usize,
    pub(crate) programmatic: bool,
}

impl Default for ListOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ListOptions {
    /// All sessions.
    pub const fn new() -> Self {
        Self { limit: None, offset: 0, programmatic: true }
    }

    /// At most this many.
    pub const fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Without the first ones.
    pub const fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// Without those that a program started: only what people did at a terminal.
    pub const fn without_programmatic(mut self) -> Self {
        self.programmatic = false;
        self
    }

    /// The infos that are wanted, of all in their order.
    pub(crate) fn page<E>(
        &self,
        infos: impl Iterator<Item = Result<SessionInfo, E>>,
    ) -> Result<Vec<SessionInfo>, E> {
        let shown = |info: &Result<SessionInfo, E>| match info {
            Ok(info) => self.programmatic || !info.is_programmatic(),
            Err(_) => true,
        };
        let limit = self.limit.unwrap_or(usize::MAX);
        infos.filter(shown).skip(self.offset).take(limit).collect()
    }
}

/// Lists the sessions in these folders, the latest first. A session that is in several counts
/// where it was last written.
pub(super) fn list(
    projects: &[PathBuf],
    options: &ListOptions,
) -> Result<Vec<SessionInfo>, TranscriptError> {
    let mut newest: HashMap<SessionId, (Timestamp, &PathBuf)> = HashMap::new();
    for project in projects {
        // A folder that cannot be read has no sessions; the others have.
        for entry in fs::read_dir(project).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
            let Some(session) = stem.filter(|stem| is_uuid(stem)).map(SessionId::from) else {
                continue;
            };
            let Ok(metadata) = fs::metadata(entry.path()) else { continue };
            let found = (info::modified(&metadata), project);
            if metadata.is_file() && metadata.len() > 0 {
                let known = newest.entry(session).or_insert(found);
                if known.0 < found.0 {
                    *known = found;
                }
            }
        }
    }
    let mut sessions: Vec<_> = newest.into_iter().collect();
    sessions.sort_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| a.0.cmp(&b.0)));
    // Files are opened only until the page is full; one that is gone by then is not listed.
    let infos = sessions.into_iter().filter_map(|(session, (_, project))| {
        info::read(&session, &Located::new(project, &session)).ok().flatten().map(Ok)
    });
    options.page(infos)
}
