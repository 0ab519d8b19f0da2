//! Sub-agents, and what else works on the model's behalf.

use countersign_protocol_derive::WireObject;

use crate::ids::RunId;
use crate::names::open_enum;
use crate::permission::PermissionMode;
use crate::request::EffortLevel;
use crate::wire::{Extra, RawJson};

/// Starts a sub-agent. Also called `Task`, which is how the list of tools still names it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct AgentInput {
    /// What the agent is for, in a few words.
    pub description: String,
    /// What the agent is told.
    pub prompt: String,
    /// Which agent it is. Absent means the general one.
    pub subagent_type: Option<String>,
    /// The model that it uses.
    pub model: Option<AgentModel>,
    /// How much effort it makes.
    pub effort: Option<EffortLevel>,
    /// Whether it runs in the background. The result of the call then comes at once.
    pub run_in_background: Option<bool>,
    /// A name by which other agents can write to it.
    pub name: Option<String>,
    /// Where it works, when not in the working directory.
    pub isolation: Option<AgentIsolation>,
    /// The permission mode it asks for. Versions from 2.1.212 on ignore it.
    pub mode: Option<PermissionMode>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// The model of a sub-agent.
    AgentModel {
        /// The current Sonnet.
        Sonnet = "sonnet",
        /// The current Opus.
        Opus = "opus",
        /// The current Haiku.
        Haiku = "haiku",
        /// The current Fable.
        Fable = "fable",
    }

    /// Where a sub-agent works.
    AgentIsolation {
        /// In a git worktree of its own.
        Worktree = "worktree",
        /// On another machine.
        Remote = "remote",
    }
}

/// Runs a skill: instructions that are put into the conversation.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SkillInput {
    /// The skill.
    pub skill: String,
    /// What it is called with.
    pub args: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Runs a script that directs many sub-agents in the background.
///
/// The script is one of [`script_path`](Self::script_path), [`script`](Self::script) and
/// [`name`](Self::name); if several are set, the path counts.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkflowInput {
    /// The text of the script.
    pub script: Option<String>,
    /// The name of a script that is built in or saved.
    pub name: Option<String>,
    /// The file that holds the script.
    pub script_path: Option<String>,
    /// What the script is called with.
    pub args: Option<RawJson>,
    /// The run to go on with.
    pub resume_from_run_id: Option<RunId>,
    /// Ignored: the script says itself what it is called.
    pub title: Option<String>,
    /// Ignored: the script says itself what it does.
    pub description: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Lists the agents that can be written to. Also called `ListPeers`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ListAgentsInput {
    /// Only those of this channel.
    pub channel: Option<String>,
    /// Only those that match this text.
    pub q: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Shows a message to the user. Also called `Brief`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SendUserMessageInput {
    /// The message.
    pub message: String,
    /// Fields this type does not name.
    pub extra: Extra,
}
