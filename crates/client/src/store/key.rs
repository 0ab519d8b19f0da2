//! What names a transcript in a store.

use std::fmt;
use std::path::{Component, Path};

use countersign_protocol::ids::SessionId;

use super::error::KeyError;
use crate::transcript::{ProjectKey, checked_session};

/// Names a transcript in a store: that of a session, or of one of its sub-agents.
///
/// None of its parts can lead out of a folder, so a store may make paths of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreKey {
    project: ProjectKey,
    session: SessionId,
    subpath: Option<Subpath>,
}

impl StoreKey {
    /// The transcript of a session.
    ///
    /// # Errors
    ///
    /// When the session id is not a UUID.
    pub fn new(project: ProjectKey, session: SessionId) -> Result<Self, KeyError> {
        match checked_session(&session) {
            Ok(()) => Ok(Self { project, session, subpath: None }),
            Err(_) => Err(KeyError::Session(session.as_str().chars().take(100).collect())),
        }
    }

    /// Something else of the same session.
    #[must_use]
    pub fn with_subpath(&self, subpath: Subpath) -> Self {
        Self { subpath: Some(subpath), ..self.clone() }
    }

    /// The transcript of the session itself.
    #[must_use]
    pub fn main(&self) -> Self {
        Self { subpath: None, ..self.clone() }
    }

    /// The project.
    #[must_use]
    pub const fn project_key(&self) -> &ProjectKey {
        &self.project
    }

    /// The session.
    #[must_use]
    pub const fn session_id(&self) -> &SessionId {
        &self.session
    }

    /// What it is of the session, if not its own transcript.
    #[must_use]
    pub const fn subpath(&self) -> Option<&Subpath> {
        self.subpath.as_ref()
    }

    /// The key of a file of the CLI, given as its path below `projects`.
    pub(crate) fn from_path(path: &Path) -> Option<Self> {
        let mut parts = Vec::new();
        for part in path.components() {
            let Component::Normal(part) = part else { return None };
            parts.push(part.to_str()?);
        }
        let (project, rest) = parts.split_first()?;
        let project = ProjectKey::from_name(project)?;
        match rest {
            [file] => {
                let session = file.strip_suffix(".jsonl")?;
                Self::new(project, SessionId::from(session)).ok()
            }
            [session, inside @ ..] => {
                let inside = inside.join("/");
                let name = inside.strip_suffix(".jsonl").or(inside.strip_suffix(".meta.json"))?;
                let subpath = Subpath::new(name).ok()?;
                let key = Self::new(project, SessionId::from(*session)).ok()?;
                Some(key.with_subpath(subpath))
            }
            [] => None,
        }
    }
}

impl fmt::Display for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.session)?;
        match &self.subpath {
            Some(subpath) => write!(f, "/{subpath}"),
            None => Ok(()),
        }
    }
}

/// What a transcript is of a session, such as `subagents/agent-1`: names with `/` between them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subpath(Box<str>);

impl Subpath {
    /// Checks a subpath. It may come from a store that others write to, and becomes a path.
    ///
    /// # Errors
    ///
    /// When it is empty, begins with `/`, has a part that is empty or begins with `.`, or has a
    /// backslash, a colon or a control character in it.
    ///
    /// ```
    /// use countersign::store::Subpath;
    ///
    /// assert!(Subpath::new("subagents/agent-1").is_ok());
    /// assert!(Subpath::new("../../other").is_err());
    /// ```
    pub fn new(subpath: &str) -> Result<Self, KeyError> {
        let part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.len() <= 200;
        let odd = |c: char| matches!(c, '\\' | ':') || c.is_control();
        if subpath.len() <= 1024 && subpath.split('/').all(part) && !subpath.contains(odd) {
            return Ok(Self(subpath.into()));
        }
        Err(KeyError::Subpath(subpath.chars().take(100).collect()))
    }

    /// The subpath as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the sub-agent, if it is the transcript of one.
    pub(crate) fn agent(&self) -> Option<&str> {
        let (folders, name) = self.0.rsplit_once('/')?;
        let inside = folders == "subagents" || folders.starts_with("subagents/");
        name.strip_prefix("agent-").filter(|_| inside)
    }
}

impl fmt::Display for Subpath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "11111111-2222-4333-8444-555555555555";

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        let key = StoreKey::from_path(Path::new(path)).map(|key| key.to_string());
        assert_eq!(key.as_deref(), expected, "{path}");
    }

    #[test]
    fn a_file_of_the_cli_has_a_key() {
        check(&format!("-p/{SESSION}.jsonl"), Some(&format!("-p/{SESSION}")));
        for ending in ["jsonl", "meta.json"] {
            check(
                &format!("-p/{SESSION}/subagents/agent-1.{ending}"),
                Some(&format!("-p/{SESSION}/subagents/agent-1")),
            );
        }
        check(
            &format!("-p/{SESSION}/subagents/workflows/w/agent-1.jsonl"),
            Some(&format!("-p/{SESSION}/subagents/workflows/w/agent-1")),
        );
        check(&format!("-p/../{SESSION}.jsonl"), None);
        check(&format!("-p/{SESSION}/../{SESSION}.jsonl"), None);
        check(&format!("-p/{SESSION}.txt"), None);
        check(&format!("{SESSION}.jsonl"), None);
        check("-p/notes.jsonl", None);
        check("", None);
    }

    #[test]
    fn a_subpath_leads_nowhere_else() {
        for bad in
            ["", "/", "/a", "a/", "a//b", ".", "..", "a/..", "a/../b", ".a", "a\\b", "C:a", "a\0"]
        {
            assert!(Subpath::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Subpath::new("subagents/agent-1").unwrap().agent(), Some("1"));
        assert_eq!(Subpath::new("other/agent-1").unwrap().agent(), None);
    }
}
