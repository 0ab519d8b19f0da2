//! MCP servers: how they are configured, and how they are.

use std::collections::BTreeMap;

use countersign_protocol_derive::WireObject;

use crate::names::open_enum;
use crate::wire::{Extra, Num, RawJson};

/// How an MCP server is reached.
///
/// Which fields make sense depends on the transport, so begin with [`McpServerConfig::stdio`],
/// [`McpServerConfig::http`], [`McpServerConfig::sse`] or [`McpServerConfig::sdk`] rather than
/// with `new`.
///
/// ```
/// use countersign_protocol::request::McpServerConfig;
///
/// let config = McpServerConfig::stdio("npx").with_args(["-y".to_owned(), "server".to_owned()]);
/// assert_eq!(
///     serde_json::to_string(&config)?,
///     r#"{"type":"stdio","command":"npx","args":["-y","server"]}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpServerConfig {
    /// The transport. Absent it is [`McpTransport::Stdio`]; see [`McpServerConfig::transport`].
    #[wire(name = "type")]
    pub kind: Option<McpTransport>,
    /// stdio: the program to start.
    pub command: Option<String>,
    /// stdio: its arguments. 2.1.325 does not start a server that
    /// [`McpSetServers`](super::McpSetServers) adds without them, so send an empty list.
    pub args: Option<Vec<String>>,
    /// stdio: environment variables.
    pub env: Option<BTreeMap<String, String>>,
    /// http, sse: the address.
    pub url: Option<String>,
    /// http, sse: headers of every request.
    pub headers: Option<BTreeMap<String, String>>,
    /// sdk: the name under which the client knows the server.
    pub name: Option<String>,
    /// claudeai-proxy: the id of the connector.
    pub id: Option<String>,
    /// http, sse, sdk: what is asked for single tools.
    pub tools: Option<Vec<ToolPolicy>>,
    /// How long a tool may take, in milliseconds. Below 1000 it is ignored.
    pub timeout: Option<Num>,
    /// stdio, http, sse: whether the model sees all tools from the start, and the first turn waits
    /// for the server.
    pub always_load: Option<bool>,
    /// http, sse: how long a request may take, in milliseconds. *Unstable.*
    #[wire(name = "request_timeout_ms")]
    pub request_timeout_ms: Option<Num>,
    /// http, sse: the name to show. *Unstable.*
    pub display_name: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl McpServerConfig {
    /// A program that the CLI starts and talks to over its standard streams, with no arguments so
    /// far.
    #[must_use]
    pub fn stdio(command: impl Into<String>) -> Self {
        Self::of(McpTransport::Stdio).with_command(command).with_args([])
    }

    /// A server that speaks HTTP.
    #[must_use]
    pub fn http(url: impl Into<String>) -> Self {
        Self::of(McpTransport::Http).with_url(url)
    }

    /// A server that speaks HTTP and answers with server-sent events.
    #[must_use]
    pub fn sse(url: impl Into<String>) -> Self {
        Self::of(McpTransport::Sse).with_url(url)
    }

    /// A server that runs in the client's process, reached by `mcp_message`.
    #[must_use]
    pub fn sdk(name: impl Into<String>) -> Self {
        Self::of(McpTransport::Sdk).with_name(name)
    }

    /// The transport, whether or not it is written out.
    #[must_use]
    pub fn transport(&self) -> McpTransport {
        self.kind.clone().unwrap_or(McpTransport::Stdio)
    }

    fn of(transport: McpTransport) -> Self {
        Self::new().with_kind(transport)
    }
}

/// What is asked for one tool of an MCP server.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ToolPolicy {
    /// The tool, as the server names it.
    pub name: String,
    /// What is asked. For in-process servers `always_allow` has no effect.
    pub permission_policy: Option<ToolPermissionPolicy>,
    /// The most that the organisation lets anybody allow. Not for in-process servers.
    pub org_max_permission: Option<OrgMaxPermission>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How an MCP server is.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpServerStatus {
    /// Its name.
    pub name: String,
    /// Whether it is connected.
    pub status: McpConnection,
    /// What it says it is. From 2.1.325 on.
    pub server_info: Option<McpServerInfo>,
    /// What went wrong.
    pub error: Option<String>,
    /// How it is reached.
    pub config: Option<McpServerConfig>,
    /// The scope of its configuration, such as `project`, or `dynamic` for what came by flag or
    /// request.
    pub scope: Option<String>,
    /// Who defined it: `sdk`, `plugin`, or a scope. Go by this where trust matters, not by the
    /// name. From 2.1.325 on.
    pub source: Option<String>,
    /// Its tools, once it is connected.
    pub tools: Option<Vec<McpServerTool>>,
    /// Its transport. *Unstable.*
    pub transport: Option<McpTransport>,
    /// What went wrong, for a program. *Unstable.*
    #[wire(name = "error_code")]
    pub error_code: Option<String>,
    /// The host it is on. *Unstable.*
    pub url_host: Option<String>,
    /// How many tools it has. *Unstable.*
    pub tool_count: Option<u64>,
    /// What it can do besides. *Unstable.*
    pub capabilities: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What an MCP server says it is.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpServerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct McpServerTool {
    /// Its name, as the server spells it.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// What the server says about it.
    pub annotations: Option<McpToolAnnotations>,
    /// How to show its results, for clients that can.
    #[wire(name = "_meta")]
    pub meta: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What an MCP server says about a tool. Only what is true is sent.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpToolAnnotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// It reaches the outside world.
    pub open_world: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// How an MCP server is reached.
    McpTransport {
        /// The CLI starts it and talks to it over its standard streams.
        Stdio = "stdio",
        /// Server-sent events.
        Sse = "sse",
        /// HTTP.
        Http = "http",
        /// It runs in the client's process.
        Sdk = "sdk",
        /// A connector of claude.ai. Never configured, only reported.
        ClaudeAiProxy = "claudeai-proxy",
    }

    /// Whether an MCP server is connected.
    McpConnection {
        /// It is.
        Connected = "connected",
        /// It could not be reached, or broke off.
        Failed = "failed",
        /// Somebody has to log in first.
        NeedsAuth = "needs-auth",
        /// It is being connected.
        Pending = "pending",
        /// It is switched off.
        Disabled = "disabled",
    }

    /// What is asked for a tool.
    ToolPermissionPolicy {
        /// Nothing.
        AlwaysAllow = "always_allow",
        /// A person, each time, whatever the rules say.
        AlwaysAsk = "always_ask",
        /// Nothing: it is refused.
        AlwaysDeny = "always_deny",
    }

    /// The most that an organisation lets anybody allow for a tool.
    OrgMaxPermission {
        /// It may be allowed.
        Allow = "allow",
        /// It may be asked for.
        Ask = "ask",
        /// It may not run.
        Blocked = "blocked",
    }
}
