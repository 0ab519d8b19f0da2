//! Sub-agents: what a client defines, and what the CLI lists.

use countersign_protocol_derive::WireObject;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::EffortLevel;
use crate::names::open_enum;
use crate::permission::PermissionMode;
use crate::wire::{Extra, FromWire, Num, Place, RawJson};

/// A sub-agent that a client defines in [`Initialize`](super::Initialize).
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentDefinition {
    /// When to use it, for the model that chooses.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// The tools it has. Absent: those of its parent.
    pub tools: Option<Vec<String>>,
    /// Tools it does not have. `mcp__server` takes away every tool of a server, `mcp__*` those of
    /// all.
    pub disallowed_tools: Option<Vec<String>>,
    /// An alias, an id, or `inherit` for the model of the main conversation.
    pub model: Option<String>,
    /// MCP servers: the name of a configured one, or an object of a name and a
    /// [`McpServerConfig`](super::McpServerConfig).
    pub mcp_servers: Option<Vec<RawJson>>,
    /// Skills that are in its context from the start.
    pub skills: Option<Vec<String>>,
    /// Its first prompt when it is the agent of the main conversation.
    pub initial_prompt: Option<String>,
    /// After how many requests to the model it is stopped.
    pub max_turns: Option<u64>,
    /// At how many tokens it compacts its own conversation. It can only lower what it would
    /// inherit.
    pub auto_compact_window: Option<u64>,
    /// Whether it runs in the background.
    pub background: Option<bool>,
    /// Whether the `CLAUDE.md` files of the user and the project are kept from it.
    pub omit_claude_md: Option<bool>,
    /// Which memory it reads.
    pub memory: Option<AgentMemory>,
    /// How hard it thinks.
    pub effort: Option<AgentEffort>,
    /// Its permission mode.
    pub permission_mode: Option<PermissionMode>,
    /// Agents that watch it, separated by commas, at most four.
    pub observer: Option<String>,
    /// What is added to each digest that the observers get.
    pub observer_message: Option<String>,
    /// A reminder that is added to its system prompt.
    #[wire(name = "criticalSystemReminder_EXPERIMENTAL")]
    pub critical_system_reminder: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A sub-agent that can be used, as the CLI lists it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct AgentInfo {
    /// Its name, which is the type in the input of the Agent tool.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// An alias, an id, or `inherit`. Absent: the default for sub-agents, or else the model of
    /// the parent.
    pub model: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Where the memory of an agent is kept.
    AgentMemory {
        /// With the user.
        User = "user",
        /// In the project, shared with others.
        Project = "project",
        /// In the project, not shared.
        Local = "local",
    }
}

/// How hard an agent thinks: a level or a number.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentEffort {
    /// A level.
    Level(EffortLevel),
    /// A number. What it stands for depends on the model.
    Number(Num),
}

impl From<EffortLevel> for AgentEffort {
    fn from(level: EffortLevel) -> Self {
        Self::Level(level)
    }
}

impl From<u64> for AgentEffort {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl FromWire for AgentEffort {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        let raw = RawJson::from_wire(source, place)?;
        let effort = if raw.as_str().starts_with('"') {
            raw.read().map(Self::Level)
        } else {
            raw.read().map(Self::Number)
        };
        effort.map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for AgentEffort {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Self::from_wire(source, Place::OUTERMOST)
    }
}

impl Serialize for AgentEffort {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Level(level) => level.serialize(sink),
            Self::Number(number) => number.serialize(sink),
        }
    }
}
