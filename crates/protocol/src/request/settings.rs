//! Settings, and what is loaded because of them.

use countersign_protocol_derive::WireObject;

use super::{AgentInfo, EffortLevel, McpServerStatus, PluginConfig, SlashCommand};
use crate::names::open_enum;
use crate::wire::{Extra, RawJson};

/// Changes settings for this session, as if they had been given by `--settings`.
///
/// The top-level keys are merged: each replaces the whole value that was there, and `null` removes
/// it. One invalid value refuses them all; a key that the CLI does not know is accepted.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ApplyFlagSettings {
    /// The settings: an object. Never leave them out: 2.1.197 then answers nothing any more,
    /// neither this nor later requests. It is an `Option` because recordings have such a request.
    #[wire(new)]
    pub settings: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks for the settings and where they come from. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetSettings {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetSettings`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetSettingsResponse {
    /// The settings that hold: all sources merged.
    pub effective: RawJson,
    /// The sources that have any, those of lower rank first.
    pub sources: Vec<SettingsLayer>,
    /// What the session really uses, which a request may have changed.
    pub applied: Option<AppliedSettings>,
    /// What is wrong in settings files.
    pub errors: Option<Vec<SettingsError>>,
    /// Why remote control cannot be switched on.
    pub remote_control_policy_lock_reason: Option<String>,
    /// Whether something was left out.
    pub withheld: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The settings of one source.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SettingsLayer {
    /// The source.
    pub source: SettingsSource,
    /// Its settings.
    pub settings: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a session really uses.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AppliedSettings {
    /// The model.
    pub model: String,
    /// How hard it thinks, if it has levels.
    pub effort: Option<EffortLevel>,
    /// The model that advises it.
    pub advisor: Option<String>,
    /// Whether ultracode is on.
    pub ultracode: Option<bool>,
    /// Whether ultracode was asked for. *Unstable.*
    pub ultracode_requested: Option<bool>,
    /// Whether ultracode can be used. *Unstable.*
    pub ultracode_available: Option<bool>,
    /// Whether ultrathink can be used. *Unstable.*
    pub ultrathink_available: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Something that is wrong in a settings file.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SettingsError {
    /// The file.
    pub file: Option<String>,
    /// The field, with dots between names. Empty when it is about the whole file.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Writes to a settings file.
///
/// Only `outputStyle` in the local and `effortLevel` in the user's settings can be written, and
/// only with strings. The local settings take effect at once; the effort level is for later
/// sessions.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UpdateSettings {
    /// Which file: [`SettingsSource::Local`] or [`SettingsSource::User`].
    pub source: SettingsSource,
    /// The settings to write: an object.
    pub settings: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Loads the plugins again. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReloadPlugins {
    /// Whether nothing is done when it would change the list of tools, which the cached prompt
    /// depends on.
    pub hold_on_cache_impact: Option<bool>,
    /// Plugins to load as well. None is removed.
    pub add_plugins: Option<Vec<PluginConfig>>,
    /// Whether to refuse while the session is at work, with
    /// [`ErrorCode::ReloadPluginsBusy`](super::ErrorCode::ReloadPluginsBusy).
    pub refuse_if_busy: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What there is after [`ReloadPlugins`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReloadPluginsResponse {
    /// Slash commands and skills.
    pub commands: Vec<SlashCommand>,
    /// Sub-agents.
    pub agents: Vec<AgentInfo>,
    /// Plugins.
    pub plugins: Vec<PluginInfo>,
    /// MCP servers.
    #[wire(name = "mcpServers")]
    pub mcp_servers: Vec<McpServerStatus>,
    /// How many errors there were.
    pub error_count: u64,
    /// Whether nothing was done because of the cached prompt. Absent when the request did not ask
    /// for that, or the version cannot tell.
    pub held: Option<bool>,
    /// What would have changed.
    pub cache_impact: Option<CacheImpact>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A plugin that is loaded.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PluginInfo {
    /// Its name.
    pub name: String,
    /// Its folder, or `builtin`.
    pub path: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Its version, as it says itself.
    pub version: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a reload would change in the list of tools.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CacheImpact {
    /// MCP servers that would come.
    pub mcp_servers_added: Vec<String>,
    /// MCP servers that would go.
    pub mcp_servers_removed: Vec<String>,
    /// What would happen to the LSP tool.
    pub lsp_tool_change: Option<LspToolChange>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Loads the skills again. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReloadSkills {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`ReloadSkills`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReloadSkillsResponse {
    /// The skills.
    pub skills: Vec<SlashCommand>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Loads the output styles again.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReloadOutputStyles {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`ReloadOutputStyles`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReloadOutputStylesResponse {
    /// The output styles that can be chosen.
    pub available_output_styles: Vec<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Where settings come from.
    SettingsSource {
        /// The user's settings file.
        User = "userSettings",
        /// The settings file of the project that is shared with others.
        Project = "projectSettings",
        /// The settings file of the project that is not shared.
        Local = "localSettings",
        /// Flags, and [`ApplyFlagSettings`].
        Flag = "flagSettings",
        /// The organisation.
        Policy = "policySettings",
    }

    /// What a reload would do to the LSP tool.
    LspToolChange {
        /// Add it.
        Adds = "adds",
        /// Perhaps add it.
        MayAdd = "may-add",
        /// Remove it.
        Removes = "removes",
        /// Perhaps remove it.
        MayRemove = "may-remove",
    }
}
