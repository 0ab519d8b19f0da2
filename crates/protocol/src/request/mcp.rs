//! Requests about MCP servers.

use std::collections::BTreeMap;

use countersign_protocol_derive::WireObject;

use super::{McpServerConfig, McpServerStatus};
use crate::permission::PermissionMode;
use crate::wire::{Extra, Num, RawJson};

/// Asks how the MCP servers are.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpStatus {
    /// Only for hosted workers.
    pub live_reply: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`McpStatus`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpStatusResponse {
    /// The servers.
    pub mcp_servers: Vec<McpServerStatus>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Replaces the MCP servers that were added by request, and **all** in-process servers.
///
/// A server that is not in the list is removed, also an in-process one that was declared in
/// [`Initialize`](super::Initialize). Servers of configuration files and flags stay.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpSetServers {
    /// The servers, by name.
    pub servers: BTreeMap<String, McpServerConfig>,
    /// Free text. *Unstable.*
    pub hint: Option<String>,
    /// Tools that are refused. *Unstable.*
    pub denied_tools: Option<Vec<String>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`McpSetServers`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpSetServersResponse {
    /// Servers that are new. One that could not be reached is listed here and in `errors`.
    pub added: Vec<String>,
    /// Servers that are gone.
    pub removed: Vec<String>,
    /// What went wrong, by server.
    pub errors: BTreeMap<String, String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Connects an MCP server again. An error when there is no such server or it cannot be reached.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpReconnect {
    /// The server.
    pub server_name: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Switches an MCP server on or off.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpToggle {
    /// The server.
    pub server_name: String,
    /// Whether it is on.
    pub enabled: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Calls a tool of an MCP server, without the model.
///
/// Nobody is asked for permission unless `check_permissions` is set. Tools of in-process servers
/// are refused: the client can call those itself.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpCall {
    /// The tool by its full name, `mcp__server__tool`.
    pub tool: String,
    /// Its arguments: an object.
    pub arguments: Option<RawJson>,
    /// How long it may take, in milliseconds: from 1000 to 600000.
    pub timeout_ms: Option<Num>,
    /// When the call loses its meaning, as an ISO 8601 time.
    pub expires_at: Option<String>,
    /// Whether the result is for a program: the content then is what the server sent, not what a
    /// model would be shown.
    pub result_not_for_model: Option<bool>,
    /// Whether the call is decided like one of the model: by rules, mode, hooks and the client. A
    /// version that does not list `mcp_call_check_permissions_v1` in its capabilities ignores
    /// this, and runs the tool.
    pub check_permissions: Option<bool>,
    /// Files that the tool reads. Only for hosted workers.
    pub input_files: Option<Vec<McpInputFile>>,
    /// Files that the tool writes. Only for hosted workers.
    pub output_files: Option<Vec<McpOutputFile>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that an [`McpCall`] reads.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpInputFile {
    /// The name by which the arguments refer to it.
    pub name: String,
    /// Where it is.
    pub lane_path: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that an [`McpCall`] writes.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpOutputFile {
    /// The name by which the arguments refer to it.
    pub name: String,
    /// Where it goes.
    pub lane_path: String,
    /// The version that it replaces. When another one is there, it is not written.
    pub if_match: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`McpCall`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpCallResponse {
    /// The content: a text, or blocks.
    pub content: RawJson,
    /// The structured result.
    pub structured_content: Option<RawJson>,
    /// What the server said about the result.
    #[wire(name = "_meta")]
    pub meta: Option<RawJson>,
    /// What became of the files. There whenever the request named files, `timeout_ms` or
    /// `expires_at`.
    pub staging: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Reads a resource of an MCP server. Only `ui://` addresses are read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpReadResource {
    /// The server.
    pub server_name: String,
    /// The address.
    pub uri: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`McpReadResource`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpReadResourceResponse {
    /// What was read. It comes from the server: show it as untrusted.
    pub contents: Vec<McpResource>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A resource of an MCP server.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpResource {
    /// Its address.
    pub uri: String,
    /// What it is.
    pub mime_type: Option<String>,
    /// The text, if it is one.
    pub text: Option<String>,
    /// The bytes in base64, if it is not.
    pub blob: Option<String>,
    /// What the server said about it.
    #[wire(name = "_meta")]
    pub meta: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Carries one JSON-RPC message of or for an in-process MCP server.
///
/// It goes both ways. From the CLI it is for the server, and the answer carries what the server
/// replied. From the client it is from the server, and is only acknowledged: 2.1.325 then lists
/// the tools again after `notifications/tools/list_changed`, older versions do not. A *request*
/// from the server is answered by the CLI with error -32601, as an `mcp_message` of its own.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpMessage {
    /// The server.
    pub server_name: String,
    /// The JSON-RPC message.
    pub message: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Begins to log in to an MCP server. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpAuthenticate {
    /// The server.
    pub server_name: String,
    /// Where the browser is to end up, instead of at the CLI.
    pub redirect_uri: Option<String>,
    /// Whether no other address may be used.
    pub redirect_uri_only: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`McpAuthenticate`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpAuthenticateResponse {
    /// Where a person logs in.
    pub auth_url: Option<String>,
    /// Whether a person has to do something.
    pub requires_user_action: bool,
    /// Whether the client has to send [`McpOauthCallbackUrl`].
    pub callback_expected: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Hands over where the login to an MCP server led. *Unstable.*
///
/// An error unless [`McpAuthenticate`] is under way.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpOauthCallbackUrl {
    /// The server.
    pub server_name: String,
    /// The address that the browser was sent to, with everything in it.
    pub callback_url: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Logs out of an MCP server. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpClearAuth {
    /// The server.
    pub server_name: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Has the tools of one MCP server asked for in another way than the session's. *Unstable.*
///
/// It can only make things stricter. A server that is not known is no error: the override waits
/// for it, and the answer has a warning.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SetMcpPermissionModeOverride {
    /// The server.
    pub server_name: String,
    /// [`PermissionMode::Default`] asks for each call, [`PermissionMode::Auto`] asks the
    /// classifier. `null` removes the override: see [`SetMcpPermissionModeOverride::clear`].
    #[wire(new, nullable)]
    pub mode: Option<PermissionMode>,
    /// With [`PermissionMode::Default`]: the tools that are asked for. Absent: all.
    pub ask_for_tools: Option<Vec<AskForTool>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl SetMcpPermissionModeOverride {
    /// Removes the override of a server: `null` on the wire.
    #[must_use]
    pub fn clear(server_name: impl Into<String>) -> Self {
        Self::new(server_name, PermissionMode::Default).with_mode_null()
    }
}

/// A tool that is asked for.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct AskForTool {
    /// The tool, as the server names it.
    pub name: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`SetMcpPermissionModeOverride`]. Without a warning there is no payload.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetMcpPermissionModeOverrideResponse {
    /// That the server is not known.
    pub warning: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}
