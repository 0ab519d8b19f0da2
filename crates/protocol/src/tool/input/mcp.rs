//! Resources of MCP servers. The servers' own tools have no types here: each server defines them.

use countersign_protocol_derive::WireObject;

use crate::wire::Extra;

/// Lists resources. Also called `ListMcpResources`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ListMcpResourcesInput {
    /// The server. Absent means all of them.
    pub server: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Reads a resource. Also called `ReadMcpResource`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadMcpResourceInput {
    /// The server.
    pub server: String,
    /// The resource.
    pub uri: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Lists what is directly below a resource. Also called `ReadMcpResourceDir`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadMcpResourceDirInput {
    /// The server.
    pub server: String,
    /// The resource.
    pub uri: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks servers for their tools again.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RefreshMcpToolsInput {
    /// The server. Absent means all that are connected.
    pub server: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}
