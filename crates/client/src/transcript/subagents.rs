//! The sub-agents of a session.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_protocol::RawJson;
use countersign_protocol::ids::{AgentId, ToolUseId};

use super::fields::Fields;
use super::files::{agent_metadata_path, agent_transcripts};
use super::message::Parents;

/// A sub-agent that has a transcript.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Subagent {
    /// Names it.
    pub agent_id: AgentId,
    /// What kind of agent it is.
    pub agent_type: Option<String>,
    /// What it was to do.
    pub description: Option<String>,
    /// The tool call that started it.
    pub tool_use_id: Option<ToolUseId>,
    /// The sub-agent that started it, if it was one.
    pub parent_agent_id: Option<AgentId>,
    /// All that is known about it.
    pub metadata: Option<RawJson>,
}

impl Subagent {
    /// What its metadata say, which need not be there.
    pub(crate) fn new(agent_id: AgentId, metadata: Option<&str>) -> Self {
        let metadata: Option<RawJson> = metadata.and_then(|text| text.trim().parse().ok());
        let metadata = metadata.filter(RawJson::is_object);
        let text = metadata.as_ref().map_or("", RawJson::as_str);
        let fields = Fields::parse(text).unwrap_or_default();
        let parents = Parents::from_metadata(text);
        Self {
            agent_id,
            agent_type: fields.text("agentType").map(String::from),
            description: fields.text("description").map(String::from),
            tool_use_id: parents.tool_use,
            parent_agent_id: parents.agent,
            metadata,
        }
    }
}

/// The sub-agents of a session whose folder this is.
pub(super) fn list(session: &Path) -> Vec<Subagent> {
    let found = agent_transcripts(&session.join("subagents")).into_iter();
    found.map(|(id, transcript)| Subagent::new(id, metadata(&transcript).as_deref())).collect()
}

/// The transcript of a sub-agent, and what it was started by.
pub(super) fn find(session: &Path, agent: &AgentId) -> Option<(PathBuf, Parents)> {
    let mut found = agent_transcripts(&session.join("subagents")).into_iter();
    let (_, transcript) = found.find(|(id, _)| id == agent)?;
    let parents = Parents::from_metadata(metadata(&transcript).as_deref().unwrap_or_default());
    Some((transcript, parents))
}

/// What is written beside the transcript of a sub-agent.
pub(crate) fn metadata(transcript: &Path) -> Option<String> {
    const LARGEST: u64 = 1 << 20;
    let file = agent_metadata_path(transcript);
    let known = fs::metadata(&file).ok()?;
    let small = known.is_file() && known.len() <= LARGEST;
    small.then(|| fs::read_to_string(file).ok()).flatten()
}
