//! MCP servers that the CLI runs or reaches, and plugins.

use std::collections::BTreeMap;
use std::path::PathBuf;

use countersign_protocol::request::{McpServerConfig, McpTransport};
use serde::Serialize;

use super::OptionsError;
use super::draft::{Draft, reject_empty};
use crate::SessionBuilder;

/// The options of this topic.
#[derive(Clone, Default)]
pub(super) struct Mcp {
    servers: BTreeMap<String, McpServerConfig>,
    files: Vec<PathBuf>,
    strict: bool,
    plugins: Vec<PathBuf>,
    plugins_without_mcp: Vec<PathBuf>,
}

impl SessionBuilder {
    /// An MCP server that the CLI starts, or reaches over the network. One of the same name is
    /// replaced.
    ///
    /// The configuration is passed on the command line, where other users of the machine may see
    /// it. Put secrets in a file: see [`mcp_config_file`](Self::mcp_config_file).
    pub fn mcp_server(mut self, name: impl Into<String>, config: McpServerConfig) -> Self {
        self.options.mcp.servers.insert(name.into(), config);
        self
    }

    /// A file with MCP servers, such as `.mcp.json`. Can be given several times. A relative path
    /// begins in the working folder of the session.
    pub fn mcp_config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.mcp.files.push(path.into());
        self
    }

    /// Only the MCP servers that were given here, not those of the settings.
    pub fn strict_mcp_config(mut self) -> Self {
        self.options.mcp.strict = true;
        self
    }

    /// A plugin in a folder. Can be given several times.
    pub fn plugin(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.mcp.plugins.push(folder.into());
        self
    }

    /// A plugin in a folder, without the MCP servers that it brings. Needs 2.1.197.
    pub fn plugin_without_mcp(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.mcp.plugins_without_mcp.push(folder.into());
        self
    }
}

/// The form of `.mcp.json`.
#[derive(Serialize)]
struct Servers<'a> {
    #[serde(rename = "mcpServers")]
    servers: &'a BTreeMap<String, McpServerConfig>,
}

impl Mcp {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        for (name, config) in &self.servers {
            reject_empty("mcp_server", name)?;
            if config.transport() == McpTransport::Sdk {
                let problem = "a server of this program is registered as such, not configured";
                return Err(OptionsError::value("mcp_server", name, problem));
            }
        }
        if !self.servers.is_empty() {
            draft.json("--mcp-config", "mcp_server", &Servers { servers: &self.servers })?;
        }
        for file in &self.files {
            draft.value("--mcp-config", file)?;
        }
        draft.flag_if("--strict-mcp-config", self.strict);
        for folder in &self.plugins {
            draft.value("--plugin-dir", folder)?;
        }
        for folder in &self.plugins_without_mcp {
            draft.value("--plugin-dir-no-mcp", folder)?;
        }
        Ok(())
    }
}
