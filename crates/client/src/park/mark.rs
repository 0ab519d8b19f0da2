//! The mark in a transcript that makes the CLI ask again.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_protocol::RawJson;
use countersign_protocol::ask::CanUseTool;
use countersign_protocol::ids::MessageUuid;
use serde::Serialize;
use thiserror::Error;
use tokio::time::Instant;

use super::same::is_same;
use super::scan::{Look, Marked, Parent, Scan};
use super::token::ParkingToken;
use crate::transcript::append_lines;

/// How often is looked whether the CLI has written the call.
const LOOK: Duration = Duration::from_millis(10);

/// Why a transcript cannot bring a call back.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MarkError {
    /// It is not known where the transcript is.
    #[error("it is not known where the transcript of the session is")]
    NoTranscript,
    /// It cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The transcript.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The call is not in it.
    #[error("{path} does not have the call {call}", path = path.display())]
    NoCall {
        /// The transcript.
        path: PathBuf,
        /// The call.
        call: String,
    },
    /// The call has a result, or the model was told what was decided about it.
    #[error("the call {call} was answered already")]
    Done {
        /// The call.
        call: String,
    },
    /// Other calls of the same message have no result either, and would be lost.
    #[error("{count} other calls of the same message have no result and would be lost")]
    Others {
        /// How many.
        count: usize,
    },
    /// The transcript in another home folder has the call, and the one here has something else.
    #[error(
        "{there} has the call, and {here} has what that one lacks: move one of them away",
        there = there.display(),
        here = here.display()
    )]
    Diverged {
        /// The transcript in the folder that the session would go on in.
        here: PathBuf,
        /// The transcript of the token.
        there: PathBuf,
    },
    /// The token cannot be read.
    #[error("the request in the token cannot be read: {0}")]
    Token(#[from] serde_json::Error),
}

/// Where a mark goes.
pub(super) struct MarkPlace {
    transcript: PathBuf,
    call: CanUseTool,
    /// The message that tells the model what was decided, where the call does not come back.
    told: MessageUuid,
    mode: String,
}

/// What a hook that puts off a call leaves in the transcript.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Deferred<'a> {
    r#type: &'static str,
    #[serde(rename = "toolUseID")]
    tool_use_id: &'a str,
    tool_name: &'a str,
    tool_input: &'a RawJson,
    hook_name: String,
    hook_event: &'static str,
    permission_mode: &'a str,
}

impl MarkPlace {
    pub(super) fn of(token: &ParkingToken) -> Result<Self, MarkError> {
        let transcript = token.transcript.clone().ok_or(MarkError::NoTranscript)?;
        Ok(Self::at(transcript, token)?)
    }

    pub(super) fn at(transcript: PathBuf, token: &ParkingToken) -> Result<Self, serde_json::Error> {
        let mode = token.mode.clone().unwrap_or_else(|| "default".to_owned());
        Ok(Self { transcript, call: token.request()?, told: token.telling()?, mode })
    }

    /// Waits until the transcript has the call, and checks that it can be brought back.
    pub(super) async fn wait_for_call(&self, limit: Duration) -> Result<(), MarkError> {
        // A limit that no clock reaches is none.
        let deadline = Instant::now().checked_add(limit);
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut look = self.look();
        loop {
            // A transcript can be long, and the disk slow.
            let looking = tokio::task::spawn_blocking(move || {
                let found = look.again().cloned();
                (look, found)
            });
            let (again, found) = looking.await.map_err(|error| self.io(io::Error::other(error)))?;
            look = again;
            let judged = found.map_err(|source| self.io(source));
            match judged.and_then(|scan| self.judge(&scan).map(drop)) {
                Ok(()) => return Ok(()),
                Err(MarkError::NoCall { .. }) if !is_late() => {}
                Err(MarkError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && !is_late() => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub(super) fn transcript(&self) -> &Path {
        &self.transcript
    }

    /// Whether the transcript has the call, whatever became of it.
    pub(super) fn has_call(&self) -> Result<bool, MarkError> {
        match self.find() {
            Ok(scan) => Ok(scan.parent.is_some()),
            Err(MarkError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the call is among these entries.
    pub(super) fn is_in(&self, entries: &[RawJson]) -> bool {
        let mut scan = Scan::new(self.call.tool_use_id.clone(), self.told.clone());
        for entry in entries {
            scan.line(entry.as_str());
        }
        scan.parent.is_some()
    }

    /// Checks that the call can be brought back, or the model can be told of it.
    pub(super) fn check(&self) -> Result<(), MarkError> {
        let scan = self.find()?;
        self.judge(&scan).map(drop)
    }

    /// Adds the mark, unless it is there. One for something else than the call does not count: the
    /// last one does.
    pub(super) fn mark(&self) -> Result<(), MarkError> {
        let scan = self.find()?;
        let parent = self.judge(&scan)?;
        if scan.marked.as_ref().is_some_and(|marked| self.is_it(marked)) {
            return Ok(());
        }
        let mut fields = parent.same.clone();
        let uuid = uuid::Uuid::new_v4().to_string();
        fields.insert("uuid", RawJson::from_value(&uuid)?);
        fields.insert("type", RawJson::from_value("attachment")?);
        fields.insert("isSidechain", RawJson::from_value(&false)?);
        fields.insert("parentUuid", RawJson::from_value(&parent.uuid)?);
        fields.insert("attachment", RawJson::from_value(&self.deferred())?);
        let line = serde_json::to_string(&fields)?;
        self.append(&line).map_err(|source| self.io(source))
    }

    /// Whether a mark has the CLI ask for the call as it was parked.
    fn is_it(&self, marked: &Marked) -> bool {
        marked.tool.as_deref() == Some(&*self.call.tool_name)
            && marked.input.as_ref().is_some_and(|input| is_same(input, &self.call.input))
    }

    fn deferred(&self) -> Deferred<'_> {
        Deferred {
            r#type: "hook_deferred_tool",
            tool_use_id: self.call.tool_use_id.as_str(),
            tool_name: &self.call.tool_name,
            tool_input: &self.call.input,
            hook_name: format!("PreToolUse:{}", self.call.tool_name),
            hook_event: "PreToolUse",
            permission_mode: &self.mode,
        }
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().read(true).append(true).open(&self.transcript)?;
        append_lines(&mut file, line)?;
        file.sync_data()
    }

    fn look(&self) -> Look {
        let call = self.call.tool_use_id.clone();
        Look::new(self.transcript.clone(), call, self.told.clone())
    }

    fn find(&self) -> Result<Scan, MarkError> {
        self.look().again().cloned().map_err(|source| self.io(source))
    }

    /// The line that a mark follows, if the call can be brought back.
    fn judge<'a>(&self, scan: &'a Scan) -> Result<&'a Parent, MarkError> {
        let call = || self.call.tool_use_id.to_string();
        let Some(parent) = &scan.parent else {
            return Err(MarkError::NoCall { path: self.transcript.clone(), call: call() });
        };
        if scan.is_done {
            return Err(MarkError::Done { call: call() });
        }
        match scan.siblings.len() {
            0 => Ok(parent),
            count => Err(MarkError::Others { count }),
        }
    }

    fn io(&self, source: io::Error) -> MarkError {
        MarkError::Io { path: self.transcript.clone(), source }
    }
}
