//! The mark in a transcript that makes the CLI ask again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_protocol::RawJson;
use countersign_protocol::ask::CanUseTool;
use countersign_protocol::ids::MessageUuid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;
use tokio::time::Instant;

use super::token::ParkingToken;

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

/// What an entry of a transcript has in common with the one before.
const SAME: [&str; 7] =
    ["timestamp", "sessionId", "cwd", "version", "userType", "entrypoint", "gitBranch"];

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

/// What a transcript says of a call.
struct Found {
    /// The last line of the model, to which the mark is attached.
    parent: Value,
    is_marked: bool,
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
        let deadline = Instant::now() + limit;
        loop {
            match self.find() {
                Ok(_) => return Ok(()),
                Err(MarkError::NoCall { .. }) if Instant::now() < deadline => {}
                Err(MarkError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && Instant::now() < deadline => {}
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
            Err(MarkError::NoCall { .. }) => Ok(false),
            Err(MarkError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(false)
            }
            Ok(_) | Err(MarkError::Done { .. } | MarkError::Others { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Whether the call is among these entries.
    pub(super) fn is_in(&self, entries: &[RawJson]) -> bool {
        let mut state = Scan::new(self.call.tool_use_id.as_str(), &self.told);
        for entry in entries {
            state.line(entry.as_str().as_bytes());
        }
        state.parent.is_some()
    }

    /// Checks that the call can be brought back, or the model can be told of it.
    pub(super) fn check(&self) -> Result<(), MarkError> {
        self.find().map(drop)
    }

    /// Adds the mark, unless it is there.
    pub(super) fn mark(&self) -> Result<(), MarkError> {
        let found = self.find()?;
        if found.is_marked {
            return Ok(());
        }
        let mut fields: BTreeMap<&str, RawJson> = BTreeMap::new();
        for name in SAME {
            if let Some(value) = found.parent.get(name) {
                fields.insert(name, RawJson::from_value(value)?);
            }
        }
        let uuid = uuid::Uuid::new_v4().to_string();
        fields.insert("uuid", RawJson::from_value(&uuid)?);
        fields.insert("type", RawJson::from_value("attachment")?);
        fields.insert("isSidechain", RawJson::from_value(&false)?);
        fields.insert("parentUuid", RawJson::from_value(&found.parent.get("uuid"))?);
        fields.insert("attachment", RawJson::from_value(&self.deferred())?);
        let line = serde_json::to_string(&fields)?;
        self.append(&line).map_err(|source| self.io(source))
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
        // The last line of a CLI that was killed may be torn.
        let mut last = [b'\n'];
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        let torn = if last == *b"\n" { "" } else { "\n" };
        // In one write: another reader sees all of it or nothing.
        file.write_all(format!("{torn}{line}\n").as_bytes())?;
        file.sync_data()
    }

    fn find(&self) -> Result<Found, MarkError> {
        let file = File::open(&self.transcript).map_err(|source| self.io(source))?;
        let mut state = Scan::new(self.call.tool_use_id.as_str(), &self.told);
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(|source| self.io(source))?;
            if read == 0 {
                break;
            }
            state.line(&line);
        }
        let call = || self.call.tool_use_id.to_string();
        let Some(parent) = state.parent else {
            return Err(MarkError::NoCall { path: self.transcript.clone(), call: call() });
        };
        if state.is_done {
            return Err(MarkError::Done { call: call() });
        }
        match state.siblings.len() {
            0 => Ok(Found { parent, is_marked: state.is_marked }),
            count => Err(MarkError::Others { count }),
        }
    }

    fn io(&self, source: io::Error) -> MarkError {
        MarkError::Io { path: self.transcript.clone(), source }
    }
}

/// Looks through a transcript for one call.
struct Scan<'a> {
    call: &'a str,
    /// The message that would tell the model what was decided.
    told: &'a MessageUuid,
    /// The message of the model that makes the call.
    message: Option<String>,
    /// The last line of it.
    parent: Option<Value>,
    /// Other calls of it without a result.
    siblings: Vec<String>,
    is_done: bool,
    is_marked: bool,
}

/// What counts of a line of a transcript.
#[derive(Deserialize)]
struct Entry<'a> {
    r#type: Option<&'a str>,
    uuid: Option<&'a str>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Said<'a> {
    id: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block {
    r#type: Option<String>,
    id: Option<String>,
    tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct Attachment {
    r#type: Option<String>,
    #[serde(rename = "toolUseID")]
    tool_use_id: Option<String>,
}

impl<'a> Scan<'a> {
    fn new(call: &'a str, told: &'a MessageUuid) -> Self {
        Self {
            call,
            told,
            message: None,
            parent: None,
            siblings: Vec::new(),
            is_done: false,
            is_marked: false,
        }
    }

    /// What cannot be read is not what is looked for.
    fn line(&mut self, line: &[u8]) {
        let Ok(entry) = serde_json::from_slice::<Entry<'_>>(line) else { return };
        match entry.r#type {
            Some("assistant") => self.assistant(&entry, line),
            Some("user") => {
                self.is_done |= entry.uuid == Some(self.told.as_str());
                for block in blocks(&entry) {
                    if let Some(done) = block.tool_use_id {
                        self.is_done |= done == self.call;
                        self.siblings.retain(|call| *call != done);
                    }
                }
            }
            Some("attachment") => {
                let read = entry.attachment.and_then(|raw| serde_json::from_str(raw.get()).ok());
                if let Some(Attachment { r#type: Some(kind), tool_use_id: Some(call) }) = read
                    && kind == "hook_deferred_tool"
                {
                    self.is_marked = call == self.call;
                }
            }
            _ => {}
        }
    }

    fn assistant(&mut self, entry: &Entry<'_>, line: &[u8]) {
        let id = entry.message.and_then(|raw| serde_json::from_str::<Said<'_>>(raw.get()).ok()?.id);
        let calls: Vec<_> = blocks(entry)
            .into_iter()
            .filter(|block| block.r#type.as_deref() == Some("tool_use"))
            .filter_map(|block| block.id)
            .collect();
        let has_call = calls.iter().any(|call| call == self.call);
        if self.message != id || self.message.is_none() {
            if self.parent.is_some() && !has_call {
                // A later message: the call is in the past.
                return;
            }
            self.message = id;
            self.siblings.clear();
        }
        self.siblings.extend(calls.into_iter().filter(|call| call != self.call));
        if has_call || self.parent.is_some() {
            self.parent = serde_json::from_slice(line).ok();
        }
    }
}

fn blocks(entry: &Entry<'_>) -> Vec<Block> {
    let read = || {
        let said: Said<'_> = serde_json::from_str(entry.message?.get()).ok()?;
        serde_json::from_str(said.content?.get()).ok()
    };
    read().unwrap_or_default()
}
