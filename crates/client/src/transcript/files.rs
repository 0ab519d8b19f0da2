//! Where the files of a session are.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_protocol::ids::{AgentId, SessionId};

use super::error::TranscriptError;

/// How deep sub-agents of workflows may be nested, and how many files are looked at.
const DEEPEST: usize = 8;
const MOST_FILES: usize = 100_000;

/// The files of one session.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    /// The transcript.
    pub(crate) transcript: PathBuf,
    /// The folder beside it, which need not be there.
    pub(crate) folder: PathBuf,
    /// The folder of the project.
    pub(crate) project: PathBuf,
}

impl Located {
    pub(super) fn new(project: &Path, session: &SessionId) -> Self {
        Self {
            transcript: project.join(format!("{session}.jsonl")),
            folder: project.join(session.as_str()),
            project: project.to_owned(),
        }
    }
}

/// Refuses an id that is not a UUID in its usual form: it becomes part of a path.
pub(crate) fn checked_session(session: &SessionId) -> Result<(), TranscriptError> {
    if is_uuid(session.as_str()) {
        return Ok(());
    }
    Err(TranscriptError::NotASessionId { id: session.as_str().chars().take(100).collect() })
}

/// Whether a text is a UUID in its usual form.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// The transcripts of sub-agents in a folder, with the id of each, in the order of their names.
///
/// Links are not followed: they could lead anywhere, or in a circle.
pub(crate) fn agent_transcripts(subagents: &Path) -> Vec<(AgentId, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![(subagents.to_owned(), 0)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            looked_at += 1;
            if looked_at > MOST_FILES {
                break;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEEPEST {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() {
                let name = entry.file_name();
                let id = name.to_str().and_then(|name| {
                    name.strip_prefix("agent-")?.strip_suffix(".jsonl").map(AgentId::from)
                });
                found.extend(id.map(|id| (id, entry.path())));
            }
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    found
}

/// The file with what is known about a sub-agent, beside its transcript.
pub(crate) fn agent_metadata_path(transcript: &Path) -> PathBuf {
    transcript.with_extension("meta.json")
}
