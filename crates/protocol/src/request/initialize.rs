//! `initialize`: what a client says first, and what it learns from the answer.

use std::collections::BTreeMap;

use countersign_protocol_derive::WireObject;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    AgentDefinition, AgentInfo, FastModeDisabledReason, FastModeState, ModelInfo, ToolPolicy,
};
use crate::hook::{HookEvent, HookMatcher};
use crate::names::open_enum;
use crate::permission::PermissionMode;
use crate::system::SessionState;
use crate::wire::{Extra, FromWire, Num, Place, RawJson, TextOrList};

/// Opens the conversation: hooks, in-process MCP servers, prompts, agents.
///
/// It is not required before the first message, only for what it carries. It can be repeated: the
/// response then lists the permission requests that are still open. 2.1.325 puts the new hooks in
/// place of the old ones, 2.1.197 ignores them, and 2.1.62 answers the error `Already initialized`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Initialize {
    /// Hooks by the name of their event, such as `PreToolUse`.
    pub hooks: Option<BTreeMap<HookEvent, Vec<HookMatcher>>>,
    /// The names of MCP servers that run in this process.
    pub sdk_mcp_servers: Option<Vec<String>>,
    /// Settings of such servers, by name.
    pub sdk_mcp_server_configs: Option<BTreeMap<String, SdkMcpServerSettings>>,
    /// Answers that such servers would give to the handshake, by name. Saves the round trips.
    pub sdk_mcp_server_manifests: Option<BTreeMap<String, SdkMcpServerManifest>>,
    /// Where the manifests come from. Only for remote sessions.
    pub sdk_mcp_server_manifests_origin: Option<ManifestsOrigin>,
    /// The JSON schema that the result has to follow.
    pub json_schema: Option<RawJson>,
    /// The system prompt, in place of the whole of the CLI's own. The empty string replaces it
    /// with nothing.
    pub system_prompt: Option<SystemPrompt>,
    /// What is added to the system prompt.
    pub append_system_prompt: Option<String>,
    /// Whether the system prompt is recorded once and then reused. Default: true.
    pub system_prompt_snapshot: Option<bool>,
    /// What the model is told to do in plan mode, in place of the CLI's own text.
    pub plan_mode_instructions: Option<String>,
    /// Tools to run for names the model calls. An alias of an alias is not followed.
    pub tool_aliases: Option<BTreeMap<String, String>>,
    /// Whether folder, memory and git status are kept out of the system prompt, which then is the
    /// same for every session.
    pub exclude_dynamic_sections: Option<bool>,
    /// Sub-agents, by name.
    pub agents: Option<BTreeMap<String, AgentDefinition>>,
    /// The title of the session, if it is a new one.
    pub title: Option<String>,
    /// The skills that the main conversation may use. Absent: all.
    pub skills: Option<Vec<String>>,
    /// Whether to suggest the next prompt after a turn.
    pub prompt_suggestions: Option<bool>,
    /// Whether to say what sub-agents are doing.
    pub agent_progress_summaries: Option<bool>,
    /// Whether to send the text and the thinking of sub-agents, and not their tool calls alone.
    pub forward_subagent_text: Option<bool>,
    /// Kinds of dialog that the client can show. Absent: it is asked for none.
    pub supported_dialog_kinds: Option<Vec<String>>,
    /// Whether the client can stop single tasks. An interrupt then spares background agents.
    pub per_task_stop_affordance: Option<bool>,
    /// Plugins. Only read by a process that was started with `--await-initialize`.
    pub plugins: Option<Vec<PluginConfig>>,
    /// Settings of the highest rank. *Unstable.*
    pub managed_settings: Option<RawJson>,
    /// That a person trusts the folder. *Unstable.*
    pub workspace_trust: Option<WorkspaceTrust>,
    /// What is added to the system prompt of sub-agents. *Unstable.*
    pub append_subagent_system_prompt: Option<String>,
    /// Whether to send the tool calls of sub-agents of sub-agents. *Unstable.*
    pub forward_nested_subagent_tool_calls: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The system prompt: one text, or blocks.
///
/// Blocks need 2.1.197 or later; a text is understood by all versions. Among blocks, the one that
/// equals [`SystemPrompt::DYNAMIC_BOUNDARY`] ends the part that is worth caching.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemPrompt {
    /// One text.
    Text(String),
    /// Blocks, in their order.
    Blocks(Vec<String>),
}

impl SystemPrompt {
    /// The block that stands between what is cached and what is not.
    pub const DYNAMIC_BOUNDARY: &'static str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for SystemPrompt {
    fn from(blocks: Vec<String>) -> Self {
        Self::Blocks(blocks)
    }
}

impl FromWire for SystemPrompt {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        Ok(match TextOrList::from_wire(source, place)? {
            TextOrList::Text(text) => Self::Text(text),
            TextOrList::List(blocks) => Self::Blocks(blocks),
        })
    }
}

impl<'de> Deserialize<'de> for SystemPrompt {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Self::from_wire(source, Place::OUTERMOST)
    }
}

impl Serialize for SystemPrompt {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(sink),
            Self::Blocks(blocks) => blocks.serialize(sink),
        }
    }
}

/// Settings of an MCP server that runs in the client's process.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SdkMcpServerSettings {
    /// How long a tool may take, in milliseconds. Below 1000 it is ignored.
    pub timeout: Option<Num>,
    /// What is asked for single tools. Of the policies only
    /// [`AlwaysAsk`](super::ToolPermissionPolicy::AlwaysAsk) and
    /// [`AlwaysDeny`](super::ToolPermissionPolicy::AlwaysDeny) count here.
    pub tools: Option<Vec<ToolPolicy>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What an in-process MCP server would answer to the handshake.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SdkMcpServerManifest {
    /// The result of `initialize`. Its `protocolVersion` must be the one that the CLI asks for.
    pub initialize_result: RawJson,
    /// The result of `tools/list`.
    pub tools_list_result: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A plugin to load.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PluginConfig {
    /// Where plugins of this kind come from.
    #[wire(name = "type")]
    pub kind: PluginKind,
    /// Its folder.
    pub path: String,
    /// Whether its MCP servers are left out.
    pub skip_mcp_discovery: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl PluginConfig {
    /// A plugin in a folder of this machine.
    #[must_use]
    pub fn local(path: impl Into<String>) -> Self {
        Self::new(PluginKind::Local, path)
    }
}

/// That a person accepted to work in a folder.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WorkspaceTrust {
    /// Whether they did.
    pub accepted: bool,
    /// The folder.
    pub directory: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What the CLI can do, and in which state it is: the answer to [`Initialize`].
///
/// No field has to be there. A session does not depend on any of them, so a version that leaves one
/// out can be talked to all the same.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct InitializeResponse {
    /// Slash commands and skills.
    pub commands: Option<Vec<SlashCommand>>,
    /// Sub-agents. From 2.1.197 on.
    pub agents: Option<Vec<AgentInfo>>,
    /// The output style in use.
    pub output_style: Option<String>,
    /// The output styles that can be chosen.
    pub available_output_styles: Option<Vec<String>>,
    /// The models that can be chosen.
    pub models: Option<Vec<ModelInfo>>,
    /// Who pays.
    pub account: Option<AccountInfo>,
    /// Whether the hooks of this request are in place. Absent without hooks, and before 2.1.325.
    pub hooks_applied: Option<bool>,
    /// Whether `onFailure` of hooks is honoured. When absent it is not: a hook that fails lets the
    /// tool run.
    pub hook_on_failure_supported: Option<bool>,
    /// Whether all plugins of this request are loaded.
    pub plugins_applied: Option<bool>,
    /// What became of the manifests of this request, by server.
    pub sdk_mcp_manifests_parked: Option<BTreeMap<String, ManifestOutcome>>,
    /// The version of the CLI. From 2.1.325 on; before that only `system/init` says it.
    pub claude_code_version: Option<String>,
    /// Whether fast mode is on.
    pub fast_mode_state: Option<FastModeState>,
    /// Why fast mode cannot be used.
    pub fast_mode_disabled_reason: Option<FastModeDisabledReason>,
    /// The process id of the CLI. *Unstable.*
    pub pid: Option<u64>,
    /// The model in use. *Unstable*: no recorded version sends it.
    pub current_model: Option<String>,
    /// The permission mode. *Unstable*; from 2.1.325 on.
    pub current_permission_mode: Option<PermissionMode>,
    /// Whether a turn is running. *Unstable*; from 2.1.325 on.
    pub session_state: Option<SessionState>,
    /// Features that a client may rely on, such as `mcp_call_check_permissions_v1`. *Unstable*;
    /// from 2.1.325 on.
    pub capabilities: Option<Vec<String>>,
    /// Models that exist but cannot be chosen. *Unstable.*
    pub unavailable_models: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A slash command or skill.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it, such as `<file>`. May be empty.
    pub argument_hint: String,
    /// Other names.
    pub aliases: Option<Vec<String>>,
    /// Whether it is the CLI's own. Among commands of the same name such a one runs.
    pub builtin: Option<bool>,
    /// The plugin it belongs to. *Unstable.*
    pub plugin: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Who pays, and how the CLI is logged in.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AccountInfo {
    /// The address of the account.
    pub email: Option<String>,
    /// The organisation.
    pub organization: Option<String>,
    /// The plan.
    pub subscription_type: Option<String>,
    /// Where a login token comes from; `none` without one.
    pub token_source: Option<String>,
    /// Where an API key comes from, such as `ANTHROPIC_API_KEY`.
    pub api_key_source: Option<String>,
    /// Who runs the models.
    pub api_provider: Option<ApiProvider>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Where manifests of in-process servers come from.
    ManifestsOrigin {
        /// The host makes them anew each time it sends them.
        HostPerSend = "host_per_send",
    }

    /// What became of the manifest of an in-process server.
    ManifestOutcome {
        /// It is kept, and answers the handshake.
        Parked = "parked",
        /// The server was connected already.
        AlreadyConnected = "already_connected",
        /// It is for another version of MCP than the CLI speaks.
        ProtocolVersionMismatch = "protocol_version_mismatch",
        /// It has another shape.
        Malformed = "malformed",
        /// The CLI did not use it.
        NotHonoured = "not_honoured",
    }

    /// Where a plugin comes from.
    PluginKind {
        /// A folder of this machine.
        Local = "local",
    }

    /// Who runs the models.
    ApiProvider {
        /// Anthropic.
        FirstParty = "firstParty",
        /// Amazon Bedrock.
        Bedrock = "bedrock",
        /// Google Vertex AI.
        Vertex = "vertex",
        /// Microsoft Foundry.
        Foundry = "foundry",
        /// Anthropic, by way of Amazon.
        AnthropicAws = "anthropicAws",
        /// Anthropic, by way of Google Cloud.
        AnthropicGoogleCloud = "anthropicGoogleCloud",
        /// Amazon Bedrock, through Mantle.
        Mantle = "mantle",
        /// A gateway of the organisation.
        Gateway = "gateway",
    }
}
