//! `system/init`: what a turn begins with.

use countersign_protocol_derive::WireObject;

use crate::ids::{MessageUuid, SessionId};
use crate::names::open_enum;
use crate::permission::PermissionMode;
use crate::request::{
    EffortLevel, FastModeDisabledReason, FastModeState, McpConnection, PluginInfo,
};
use crate::wire::{Extra, RawJson};

/// A turn begins: what there is, and which mode and model hold for it.
///
/// Sent at the start of every turn, after the user message and not at the start of the process.
/// Mode, model and session are the current ones.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SystemInit {
    /// The working directory.
    pub cwd: String,
    /// The tools. The `Agent` tool is listed under its old name `Task`.
    pub tools: Vec<String>,
    /// The MCP servers.
    pub mcp_servers: Vec<InitMcpServer>,
    /// The model.
    pub model: String,
    /// The permission mode.
    #[wire(name = "permissionMode")]
    pub permission_mode: PermissionMode,
    /// The slash commands.
    pub slash_commands: Vec<String>,
    /// Where the credential came from: `ANTHROPIC_API_KEY`, `apiKeyHelper`, `/login managed key`,
    /// `none` and others.
    #[wire(name = "apiKeySource")]
    pub api_key_source: String,
    /// The version of the CLI.
    pub claude_code_version: String,
    /// The output style.
    pub output_style: String,
    /// The session. Another one after the conversation was cleared.
    pub session_id: SessionId,
    /// Slash commands that work in the terminal only.
    pub terminal_slash_commands: Option<Vec<String>>,
    /// API betas in use.
    pub betas: Option<Vec<String>>,
    /// The kinds of sub-agents.
    pub agents: Option<Vec<String>>,
    /// The skills.
    pub skills: Option<Vec<String>>,
    /// The plugins.
    pub plugins: Option<Vec<PluginInfo>>,
    /// Plugins that could not be loaded.
    pub plugin_errors: Option<Vec<PluginError>>,
    /// Whether fast mode is on.
    pub fast_mode_state: Option<FastModeState>,
    /// Why fast mode is not available.
    pub fast_mode_disabled_reason: Option<FastModeDisabledReason>,
    /// How much effort the model is asked for.
    pub effort: Option<EffortLevel>,
    /// How much the terminal shows.
    pub view_mode: Option<ViewMode>,
    /// What this version can do beyond the basics, such as `interrupt_receipt_v1`.
    pub capabilities: Option<Vec<String>>,
    /// Where memories are kept. Not part of the public types.
    pub memory_paths: Option<RawJson>,
    /// The directory the session began in. Not part of the public types.
    pub original_cwd: Option<String>,
    /// Further directories that tools may use. Not part of the public types.
    pub additional_directories: Option<RawJson>,
    /// The user messages the turn answers. Not part of the public types.
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An MCP server, as a turn finds it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct InitMcpServer {
    /// Its name.
    pub name: String,
    /// Whether it is connected.
    pub status: McpConnection,
    /// Where it was configured.
    pub source: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A plugin that could not be loaded.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PluginError {
    /// The plugin.
    pub plugin: String,
    /// What kind of error.
    #[wire(name = "type")]
    pub kind: String,
    /// What went wrong.
    pub message: String,
    /// The file.
    pub path: Option<String>,
    /// The managed setting that stands in the way.
    pub managed_lock: Option<ManagedLock>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A managed setting that keeps a plugin as it is.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ManagedLock {
    /// Whether the setting switches the plugin on.
    pub plugin_enabled: Option<bool>,
    /// The plugin.
    pub name: Option<String>,
    /// Where it came from.
    pub marketplace: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// How much the terminal shows.
    ViewMode {
        /// The essentials.
        Focus = "focus",
        /// The usual.
        Default = "default",
    }
}
