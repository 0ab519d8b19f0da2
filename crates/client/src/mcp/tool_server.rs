//! A server that is made of tools.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use countersign_protocol::RawJson;
use countersign_protocol::request::SdkMcpServerManifest;
use serde::Serialize;

use super::Tool;
use super::connection::Shared;

/// The version of MCP that the CLI speaks.
const PROTOCOL_VERSION: &str = "2025-11-25";

/// Earlier versions, whose handshake, list and call are the same.
const EARLIER_VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

/// A server that is made of [tools](Tool).
///
/// Clones are the same server: it can be connected to several sessions at once, and tools that are
/// added or removed later are so for all of them.
///
/// ```
/// use countersign::mcp::{McpServer, Tool, ToolServer};
/// use countersign::protocol::RawJson;
///
/// let server = ToolServer::new("clock")
///     .version("1.2.0")
///     .instructions("Ask before you guess what time it is.")
///     .tool(Tool::new("now", "Says what time it is.", async |_: RawJson| Ok::<_, String>("noon")));
/// let for_a_session = McpServer::from(server.clone());
///
/// // Later on, sessions are told:
/// server.add(Tool::new("today", "Says what day it is.", async |_: RawJson| Ok::<_, String>("Friday")));
/// assert!(server.remove("now"));
/// ```
#[derive(Clone)]
pub struct ToolServer {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    /// Replaced as a whole, so that nobody waits for somebody who writes a list.
    definition: RwLock<Arc<Definition>>,
    connections: Mutex<Vec<Weak<Shared>>>,
}

#[derive(Clone)]
struct Definition {
    version: String,
    instructions: Option<String>,
    always_load: bool,
    tools: Vec<Arc<Tool>>,
    /// The result of `tools/list`, written when it is asked for.
    listing: OnceLock<RawJson>,
}

impl ToolServer {
    /// A server without tools. The name is part of what the model calls its tools, see
    /// [`Tool::new`].
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let definition = Definition {
            version: "1.0.0".to_owned(),
            instructions: None,
            always_load: false,
            tools: Vec::new(),
            listing: OnceLock::new(),
        };
        let definition = RwLock::new(Arc::new(definition));
        let inner = Inner { name: name.into(), definition, connections: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    /// The version of the server, for people. The default is `1.0.0`.
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> Self {
        let version = version.into();
        self.change(|definition| definition.version = version);
        self
    }

    /// What the model is told about the server as a whole.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        let instructions = instructions.into();
        self.change(|definition| definition.instructions = Some(instructions));
        self
    }

    /// Whether the model sees all tools from the start. A tool that says
    /// [something else](Tool::always_load) goes first.
    #[must_use]
    pub fn always_load(self, always: bool) -> Self {
        self.change(|definition| definition.always_load = always);
        self
    }

    /// With one more tool. One of the same name is replaced.
    #[must_use]
    pub fn tool(self, tool: Tool) -> Self {
        self.change(|definition| definition.put(tool));
        self
    }

    /// Adds a tool and tells the sessions. One of the same name is replaced; calls of it that are
    /// being served go on.
    ///
    /// CLI versions before 2.1.325 do not ask for the list again and do not see the tool.
    pub fn add(&self, tool: Tool) {
        self.change(|definition| definition.put(tool));
        self.tools_changed();
    }

    /// Removes a tool and tells the sessions. Calls of it that are being served go on. Whether it
    /// was there.
    #[must_use = "whether there was such a tool"]
    pub fn remove(&self, name: &str) -> bool {
        let removed = self.change(|definition| {
            let before = definition.tools.len();
            definition.tools.retain(|tool| tool.name() != name);
            definition.tools.len() < before
        });
        if removed {
            self.tools_changed();
        }
        removed
    }

    /// The name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// What the server would say in the handshake and about its tools as they are now.
    ///
    /// A CLI that gets it with `initialize` need not ask.
    #[must_use]
    pub fn manifest(&self) -> SdkMcpServerManifest {
        SdkMcpServerManifest::new(self.greeting(PROTOCOL_VERSION))
            .with_tools_list_result(self.listing())
    }

    /// The result of `initialize`, for a client that speaks this version.
    pub(super) fn greeting(&self, requested: &str) -> RawJson {
        let definition = self.definition();
        let spoken = EARLIER_VERSIONS.into_iter().find(|version| *version == requested);
        RawJson::from_value(&Greeting {
            protocol_version: spoken.unwrap_or(PROTOCOL_VERSION),
            capabilities: Capabilities { tools: ToolCapability { list_changed: true } },
            server_info: ServerInfo { name: &self.inner.name, version: &definition.version },
            instructions: definition.instructions.as_deref(),
        })
        .unwrap_or_else(|_| RawJson::empty_object())
    }

    /// The result of `tools/list`.
    pub(super) fn listing(&self) -> RawJson {
        self.definition().listing().clone()
    }

    pub(super) fn find(&self, name: &str) -> Option<Arc<Tool>> {
        let definition = self.inner.definition.read().unwrap_or_else(PoisonError::into_inner);
        definition.tools.iter().find(|tool| tool.name() == name).cloned()
    }

    /// Remembers a connection, to tell it when tools change.
    pub(super) fn join(&self, connection: &Arc<Shared>) {
        let mut connections = self.connections();
        connections.retain(|connection| connection.strong_count() > 0);
        connections.push(Arc::downgrade(connection));
    }

    fn tools_changed(&self) {
        let connections = self.connections().clone();
        for connection in connections.iter().filter_map(Weak::upgrade) {
            connection.tools_changed();
        }
    }

    fn connections(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Shared>>> {
        self.inner.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn definition(&self) -> Arc<Definition> {
        Arc::clone(&self.inner.definition.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Definition) -> T) -> T {
        let mut current = self.inner.definition.write().unwrap_or_else(PoisonError::into_inner);
        let definition = Arc::make_mut(&mut current);
        definition.listing = OnceLock::new();
        change(definition)
    }
}

impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServer")
            .field("name", &self.inner.name)
            .field("tools", &self.definition().tools)
            .finish_non_exhaustive()
    }
}

impl Definition {
    fn put(&mut self, tool: Tool) {
        let tool = Arc::new(tool);
        match self.tools.iter_mut().find(|known| known.name() == tool.name()) {
            Some(known) => *known = tool,
            None => self.tools.push(tool),
        }
    }

    fn listing(&self) -> &RawJson {
        #[derive(Serialize)]
        struct Listing<T> {
            tools: Vec<T>,
        }
        self.listing.get_or_init(|| {
            let tools = self.tools.iter().map(|tool| tool.listed(self.always_load)).collect();
            RawJson::from_value(&Listing { tools }).unwrap_or_else(|_| RawJson::empty_object())
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Greeting<'a> {
    protocol_version: &'a str,
    capabilities: Capabilities,
    server_info: ServerInfo<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

#[derive(Serialize)]
struct Capabilities {
    tools: ToolCapability,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolCapability {
    list_changed: bool,
}

#[derive(Serialize)]
struct ServerInfo<'a> {
    name: &'a str,
    version: &'a str,
}
