//! MCP servers of the session.

use std::collections::BTreeMap;

use countersign_protocol::RawJson;
use countersign_protocol::permission::PermissionMode;
use countersign_protocol::request::{
    McpAuthenticate, McpAuthenticateResponse, McpCall, McpCallResponse, McpClearAuth,
    McpOauthCallbackUrl, McpReadResource, McpReconnect, McpResource, McpServerConfig,
    McpServerStatus, McpSetServers, McpSetServersResponse, McpStatus, McpToggle,
    SetMcpPermissionModeOverride,
};

use crate::error::ControlError;
use crate::session::SessionHandle;

/// MCP servers.
impl SessionHandle {
    /// How the MCP servers are, with their tools.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn mcp_server_status(&self) -> Result<Vec<McpServerStatus>, ControlError> {
        Ok(self.call(McpStatus::new()).await?.mcp_servers)
    }

    /// Replaces the MCP servers that were added by this method. Servers of configuration files and
    /// of the builder stay, and so do those of this process: the CLI would drop them, so they are
    /// named along with the others.
    ///
    /// A server that cannot be reached is no error of the request: it is in
    /// [`errors`](McpSetServersResponse::errors).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn set_mcp_servers(
        &self,
        servers: impl IntoIterator<Item = (impl Into<String>, McpServerConfig)>,
    ) -> Result<McpSetServersResponse, ControlError> {
        let own = self.shared().setup.in_process_mcp.iter();
        let mut all: BTreeMap<_, _> =
            own.map(|name| (name.clone(), McpServerConfig::sdk(name))).collect();
        all.extend(servers.into_iter().map(|(name, config)| (name.into(), config)));
        self.call(McpSetServers::new(all)).await
    }

    /// Connects an MCP server again.
    ///
    /// # Errors
    /// As [`call`](Self::call); also when there is no such server, or it cannot be reached.
    pub async fn reconnect_mcp_server(&self, name: impl Into<String>) -> Result<(), ControlError> {
        self.call(McpReconnect::new(name)).await.map(drop)
    }

    /// Switches an MCP server on or off.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn toggle_mcp_server(
        &self,
        name: impl Into<String>,
        enabled: bool,
    ) -> Result<(), ControlError> {
        self.call(McpToggle::new(name, enabled)).await.map(drop)
    }

    /// Calls a tool of an MCP server by its full name, `mcp__server__tool`, without the model.
    ///
    /// **Nobody is asked for permission**: it is this program that calls. Tools of servers in this
    /// process are refused by the CLI. For a call that is decided like one of the model, see
    /// [`McpCall::check_permissions`]. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn call_mcp_tool(
        &self,
        tool: impl Into<String>,
        arguments: impl Into<RawJson>,
    ) -> Result<McpCallResponse, ControlError> {
        self.call(McpCall::new(tool).with_arguments(arguments)).await
    }

    /// Reads a resource of an MCP server; only `ui://` addresses are read. What it gives is from
    /// the server, and to be shown as such. From 2.1.325 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn read_mcp_resource(
        &self,
        server: impl Into<String>,
        uri: impl Into<String>,
    ) -> Result<Vec<McpResource>, ControlError> {
        Ok(self.call(McpReadResource::new(server, uri)).await?.contents)
    }

    /// Has the tools of one MCP server asked for in another way than the mode of the session says:
    /// [`PermissionMode::Default`] asks for each call, [`PermissionMode::Auto`] asks the classifier,
    /// and `None` goes back. It can only make things stricter. Gives a warning when the server is
    /// not known. From 2.1.197 on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn override_mcp_permission_mode(
        &self,
        server: impl Into<String>,
        mode: Option<PermissionMode>,
    ) -> Result<Option<String>, ControlError> {
        let request = match mode {
            Some(mode) => SetMcpPermissionModeOverride::new(server, mode),
            None => SetMcpPermissionModeOverride::clear(server),
        };
        Ok(self.call(request).await?.warning)
    }

    /// Begins to log in to an MCP server, and says where a person does that. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn authenticate_mcp_server(
        &self,
        name: impl Into<String>,
    ) -> Result<McpAuthenticateResponse, ControlError> {
        self.call(McpAuthenticate::new(name)).await
    }

    /// Hands over the address that the login to an MCP server led to. From 2.1.197 on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call); also when no login is under way.
    pub async fn finish_mcp_authentication(
        &self,
        name: impl Into<String>,
        callback_url: impl Into<String>,
    ) -> Result<(), ControlError> {
        self.call(McpOauthCallbackUrl::new(name, callback_url)).await.map(drop)
    }

    /// Logs out of an MCP server. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn clear_mcp_authentication(
        &self,
        name: impl Into<String>,
    ) -> Result<(), ControlError> {
        self.call(McpClearAuth::new(name)).await.map(drop)
    }
}
