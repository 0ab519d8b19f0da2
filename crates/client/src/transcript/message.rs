//! A message of a transcript.

use countersign_protocol::RawJson;
use countersign_protocol::ids::{AgentId, MessageUuid, SessionId, ToolUseId};
use countersign_protocol::message::{ModelMessage, UserContent};

use super::fields::Fields;

/// A message of a conversation, as it stands in its transcript.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StoredMessage {
    /// What was said.
    pub body: StoredBody,
    /// Names the message.
    pub uuid: MessageUuid,
    /// The entry before it, which need not be a message.
    pub parent_uuid: Option<MessageUuid>,
    /// The session it was written in.
    pub session_id: Option<SessionId>,
    /// When it was written, as the CLI wrote it.
    pub timestamp: Option<String>,
    /// The tool call that started the sub-agent; nothing in a main conversation.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// The sub-agent that started this one; nothing in a main conversation.
    pub parent_agent_id: Option<AgentId>,
    /// Whether it stands for a conversation that was compacted.
    pub is_compact_summary: bool,
    /// The whole line.
    pub raw: RawJson,
}

/// What was said in a message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StoredBody {
    /// By the user, or by a tool.
    User(UserContent),
    /// By the model. A response is one message for each of its blocks.
    Assistant(Box<ModelMessage>),
    /// By the CLI. Only on request.
    System {
        /// What it is about, such as `compact_boundary`.
        subtype: Option<String>,
        /// The text of it.
        content: Option<String>,
    },
    /// Something that has another shape than it should. It is in
    /// [`raw`](StoredMessage::raw) all the same.
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
}

/// What a sub-agent was started by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parents {
    pub(crate) tool_use: Option<ToolUseId>,
    pub(crate) agent: Option<AgentId>,
}

impl Parents {
    /// Those that the metadata of a sub-agent name.
    pub(crate) fn from_metadata(metadata: &str) -> Self {
        let fields = Fields::parse(metadata).unwrap_or_default();
        Self {
            tool_use: fields.id("toolUseId").map(|id| ToolUseId::from(&*id)),
            agent: fields.id("parentAgentId").map(|id| AgentId::from(&*id)),
        }
    }
}

impl StoredMessage {
    /// Reads a line that the index has. Nothing if it is nested too deeply to be carried.
    pub(crate) fn read(line: &str, parents: &Parents) -> Option<Self> {
        let raw: RawJson = line.trim().parse().ok()?;
        let fields = Fields::parse(raw.as_str())?;
        let message = fields.raw("message").unwrap_or("null");
        let malformed =
            |error: serde_json::Error| StoredBody::Malformed { reason: error.to_string() };
        let body = match &*fields.text("type")? {
            "user" => serde_json::from_str(message).map_or_else(malformed, StoredBody::User),
            "assistant" => {
                serde_json::from_str(message).map_or_else(malformed, StoredBody::Assistant)
            }
            _ => StoredBody::System {
                subtype: fields.text("subtype").map(String::from),
                content: fields.text("content").map(String::from),
            },
        };
        Some(Self {
            body,
            uuid: MessageUuid::from(&*fields.id("uuid")?),
            parent_uuid: fields.id("parentUuid").map(|id| MessageUuid::from(&*id)),
            session_id: fields.id("sessionId").map(|id| SessionId::from(&*id)),
            timestamp: fields.text("timestamp").map(String::from),
            parent_tool_use_id: parents.tool_use.clone(),
            parent_agent_id: parents.agent.clone(),
            is_compact_summary: fields.is_true("isCompactSummary"),
            raw,
        })
    }
}
