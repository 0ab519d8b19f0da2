//! A server that a session can be given, of whatever kind.

use std::fmt;
#[cfg(feature = "rmcp")]
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::request::{
    SdkMcpServerManifest, SdkMcpServerSettings, ToolPermissionPolicy, ToolPolicy,
};
use countersign_protocol::{Num, RawJson};

use super::connection::{Step, ToolConnection};
#[cfg(feature = "rmcp")]
use super::rmcp_server::{RmcpConnection, RmcpServer};
use super::{Outgoing, ToolServer};

/// An MCP server that lives in this process.
///
/// It is made of tools, see [`ToolServer`]. With the feature `rmcp` it can also be any server that rmcp
/// serves, see `McpServer::from_rmcp`.
/// Clones are the same server, and it can be given to several sessions at once.
#[derive(Clone, Debug)]
pub struct McpServer {
    kind: Kind,
    timeout: Option<Duration>,
    policies: Vec<ToolPolicy>,
}

#[derive(Clone, Debug)]
enum Kind {
    Tools(ToolServer),
    #[cfg(feature = "rmcp")]
    Rmcp(RmcpServer),
}

impl McpServer {
    /// Any server that [rmcp](https://docs.rs/rmcp/3) can serve: with resources, prompts, tools made
    /// by its macros.
    ///
    /// This is the one place where a type of rmcp is part of this library. It takes rmcp 3; a later
    /// major version may want another function.
    ///
    /// A panic of the handler is answered with an error. A call costs many times what a call of a
    /// [`ToolServer`] costs.
    #[cfg(feature = "rmcp")]
    #[must_use]
    pub fn from_rmcp(name: impl Into<String>, handler: impl rmcp::ServerHandler) -> Self {
        Self::of(Kind::Rmcp(RmcpServer::new(name.into(), handler)))
    }

    /// How long a call of a tool may take. The CLI is told, if it is a second at least; the tools of
    /// a [`ToolServer`] are ended then as well.
    #[must_use]
    pub const fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Has a person asked before each call of this tool, whatever the rules say.
    #[must_use]
    pub fn always_ask(self, tool: impl Into<String>) -> Self {
        self.policy(tool.into(), ToolPermissionPolicy::AlwaysAsk)
    }

    /// Has each call of this tool refused.
    #[must_use]
    pub fn always_deny(self, tool: impl Into<String>) -> Self {
        self.policy(tool.into(), ToolPermissionPolicy::AlwaysDeny)
    }

    /// The name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::Tools(server) => server.name(),
            #[cfg(feature = "rmcp")]
            Kind::Rmcp(server) => server.name(),
        }
    }

    /// What the CLI is told about the server in `initialize`, if there is anything to tell.
    #[must_use]
    pub fn settings(&self) -> Option<SdkMcpServerSettings> {
        if self.timeout.is_none() && self.policies.is_empty() {
            return None;
        }
        let mut settings = SdkMcpServerSettings::new();
        settings.timeout = self
            .timeout
            .map(|limit| Num::from(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)));
        settings.tools = (!self.policies.is_empty()).then(|| self.policies.clone());
        Some(settings)
    }

    /// What the server would say in the handshake, where that is known without asking: for a
    /// [`ToolServer`].
    #[must_use]
    pub fn manifest(&self) -> Option<SdkMcpServerManifest> {
        match &self.kind {
            Kind::Tools(server) => Some(server.manifest()),
            #[cfg(feature = "rmcp")]
            Kind::Rmcp(_) => None,
        }
    }

    /// Connects the server to a session. `outgoing` is called with each message that the server
    /// begins with; it must not block.
    pub(crate) fn connect(&self, outgoing: impl Fn(RawJson) + Send + Sync + 'static) -> Connection {
        let outgoing: Outgoing = Arc::new(outgoing);
        Connection(match &self.kind {
            Kind::Tools(server) => {
                Link::Tools(ToolConnection::new(server.clone(), self.timeout, outgoing))
            }
            #[cfg(feature = "rmcp")]
            Kind::Rmcp(server) => Link::Rmcp(server.connect(outgoing)),
        })
    }

    const fn of(kind: Kind) -> Self {
        Self { kind, timeout: None, policies: Vec::new() }
    }

    fn policy(mut self, tool: String, policy: ToolPermissionPolicy) -> Self {
        self.policies.retain(|known| known.name != tool);
        self.policies.push(ToolPolicy::new(tool).with_permission_policy(policy));
        self
    }
}

impl From<ToolServer> for McpServer {
    fn from(server: ToolServer) -> Self {
        Self::of(Kind::Tools(server))
    }
}

/// A server that is connected to one session. Dropping it ends what the server does there.
pub(crate) struct Connection(Link);

enum Link {
    Tools(ToolConnection),
    #[cfg(feature = "rmcp")]
    Rmcp(RmcpConnection),
}

impl Connection {
    /// Takes one JSON-RPC message of the CLI; the future is the answer to put into `mcp_response`.
    ///
    /// There is always one: for what wants no answer, for what is no message, and when the session
    /// is over. Call it in the order in which messages came, so that a cancellation finds its call;
    /// the futures can then be polled anywhere, and several at once. They need a Tokio runtime with
    /// a timer. Dropping one withdraws its request.
    pub(crate) fn handle(&self, message: RawJson) -> impl Future<Output = RawJson> + Send + use<> {
        let step = match &self.0 {
            Link::Tools(connection) => Answering::Tools(connection.take(message)),
            #[cfg(feature = "rmcp")]
            Link::Rmcp(connection) => Answering::Rmcp(Box::pin(connection.take(&message).answer())),
        };
        async move {
            match step {
                Answering::Tools(Step::Answer(answer)) => answer,
                Answering::Tools(Step::Run(call)) => call.run().await,
                #[cfg(feature = "rmcp")]
                Answering::Rmcp(answer) => answer.await,
            }
        }
    }
}

enum Answering {
    Tools(Step),
    /// In a box, so that the other kind stays small.
    #[cfg(feature = "rmcp")]
    Rmcp(Pin<Box<dyn Future<Output = RawJson> + Send>>),
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}
