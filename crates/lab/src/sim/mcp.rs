//! Servers of the client: the handshake, and calls of their tools.

use std::rc::Rc;

use super::exec::Flag;
use super::json::{Json, Object, obj};
use super::profile::{Handshake, Release};
use super::requests::{About, Reply};
use super::state::Sim;
use super::turn::{Aborted, Turn};

const PROTOCOL: &str = "2025-11-25";

/// The servers of a session.
#[derive(Debug, Default)]
pub(crate) struct Servers(Vec<Rc<Server>>);

/// A server.
#[derive(Debug)]
struct Server {
    name: String,
    state: std::cell::RefCell<State>,
    /// The handshake is over, one way or the other.
    settled: Flag,
}

#[derive(Clone, Debug, Default)]
struct State {
    status: Status,
    info: Option<Json>,
    tools: Vec<Json>,
    /// The next number of a JSON-RPC request.
    next_id: u64,
    instructions: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Status {
    #[default]
    New,
    Pending,
    Connected,
    Failed,
    Disabled,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::New | Self::Pending => "pending",
            Self::Connected => "connected",
            Self::Failed => "failed",
            Self::Disabled => "disabled",
        }
    }
}

impl Server {
    fn new(name: &str) -> Rc<Self> {
        Rc::new(Self {
            name: name.to_owned(),
            state: std::cell::RefCell::default(),
            settled: Flag::default(),
        })
    }

    fn tool_name(&self, tool: &str) -> String {
        format!("mcp__{}__{}", plain(&self.name), plain(tool))
    }
}

/// A name as the model sees it.
fn plain(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' })
        .collect()
}

impl Servers {
    /// Adds servers that are not there yet.
    pub(crate) fn add<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        for name in names {
            if self.find(name).is_none() {
                self.0.push(Server::new(name));
            }
        }
    }

    /// The servers of `--mcp-config` that the client itself is.
    pub(crate) fn read_config(&mut self, configs: &[String]) {
        for config in configs {
            let text = if config.trim_start().starts_with('{') {
                config.clone()
            } else {
                std::fs::read_to_string(config).unwrap_or_default()
            };
            let servers = Json::parse(&text).and_then(|json| json.get("mcpServers").cloned());
            let servers = servers.unwrap_or_default();
            let entries = servers.as_object().into_iter().flat_map(Object::iter);
            let ours = entries
                .filter(|(_, config)| config.text("type") == Some("sdk"))
                .map(|(name, _)| name);
            self.add(ours);
        }
    }

    fn find(&self, name: &str) -> Option<Rc<Server>> {
        self.0.iter().find(|server| server.name == name).cloned()
    }

    /// Whether there is such a server.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The names.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|server| server.name.clone()).collect()
    }

    /// Takes a server out.
    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|server| server.name != name);
    }

    /// The tools, by the names that the model calls.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        let tools = |server: &Rc<Server>| -> Vec<String> {
            let state = server.state.borrow();
            let names = state.tools.iter().filter_map(|tool| tool.text("name"));
            names.map(|name| server.tool_name(name)).collect()
        };
        self.0.iter().flat_map(tools).collect()
    }

    /// The server of a tool.
    pub(crate) fn server_of(&self, tool: &str) -> Option<String> {
        self.find_tool(tool).map(|(server, _)| server.name.clone())
    }

    /// The description of a tool.
    pub(crate) fn tool(&self, tool: &str) -> Option<(String, Json)> {
        self.find_tool(tool).map(|(server, tool)| (server.name.clone(), tool))
    }

    fn find_tool(&self, name: &str) -> Option<(Rc<Server>, Json)> {
        self.0.iter().find_map(|server| {
            let state = server.state.borrow();
            let mut tools = state.tools.iter();
            let tool = tools.find(|tool| {
                tool.text("name").is_some_and(|tool| server.tool_name(tool) == name)
            })?;
            Some((Rc::clone(server), tool.clone()))
        })
    }

    /// As `system/init` lists them.
    pub(crate) fn listing(&self, with_source: bool) -> Vec<Object> {
        let entry = |server: &Rc<Server>| {
            obj! {
                "name": &server.name,
                "status": server.state.borrow().status.name(),
                "source"?: with_source.then_some("sdk"),
            }
        };
        self.0.iter().map(entry).collect()
    }

    /// As `mcp_status` lists them.
    pub(crate) fn statuses(&self, internals: bool) -> Vec<Object> {
        let entry = |server: &Rc<Server>| {
            let state = server.state.borrow();
            let tools: Vec<Object> = state.tools.iter().map(told_tool).collect();
            obj! {
                "name": &server.name,
                "status": state.status.name(),
                "serverInfo"?: state.info.as_ref().filter(|_| internals),
                "transport"?: internals.then_some("sdk"),
                "scope": "dynamic",
                "source"?: internals.then_some("sdk"),
                "tools"?: (state.status == Status::Connected).then_some(tools),
            }
        };
        self.0.iter().map(entry).collect()
    }
}

fn told_tool(tool: &Json) -> Object {
    let hint = |key: &str| {
        let annotations = tool.get("annotations");
        annotations.and_then(|annotations| annotations.get(key)).and_then(Json::as_bool)
    };
    let annotations = obj! {
        "readOnly"?: hint("readOnlyHint"),
        "destructive"?: hint("destructiveHint"),
        "openWorld"?: hint("openWorldHint"),
    };
    obj! { "name": tool.text("name"), "annotations": annotations }
}

impl Sim {
    /// Begins the handshakes with all servers that have none yet. False when there are none.
    pub(crate) fn connect_servers(self: &Rc<Self>) -> bool {
        let mut any = false;
        for server in &self.servers.borrow().0 {
            let status = server.state.borrow().status;
            let again = status == Status::Failed && self.profile.handshake == Handshake::Initialize;
            if status != Status::New && !again {
                continue;
            }
            any = true;
            server.state.borrow_mut().status = Status::Pending;
            server.settled.lower();
            let (sim, server) = (Rc::clone(self), Rc::clone(server));
            self.tasks.spawn(async move {
                let connected = sim.handshake(&server).await;
                let mut state = server.state.borrow_mut();
                state.status = if connected.is_some() { Status::Connected } else { Status::Failed };
                drop(state);
                server.settled.raise();
            });
        }
        any
    }

    /// Waits until all servers have answered. A turn does not begin before.
    pub(crate) async fn servers_ready(self: &Rc<Self>) {
        self.connect_servers();
        let servers = self.servers.borrow().0.clone();
        for server in servers {
            if server.state.borrow().status == Status::Pending {
                server.settled.raised().await;
            }
        }
    }

    async fn handshake(&self, server: &Server) -> Option<()> {
        server.state.borrow_mut().next_id = 0;
        let version = self.profile.version;
        let (title, description) = ("Claude Code", "Anthropic's agentic coding tool");
        let client = match self.profile.release {
            Release::V62 => obj! { "name": "claude-code", "version": version },
            _ => obj! {
                "name": "claude-code",
                "title": title,
                "version": version,
                "description": description,
                "websiteUrl": "https://claude.com/claude-code",
            },
        };
        let params = obj! { "protocolVersion": PROTOCOL, "capabilities": Object::default(), "clientInfo": client };
        let hello = self.rpc(server, "initialize", Some(params)).await.ok()?;
        {
            let mut state = server.state.borrow_mut();
            state.info = hello.get("serverInfo").cloned();
            state.instructions = hello.text("instructions").map(str::to_owned);
        }
        let message = obj! { "method": "notifications/initialized", "jsonrpc": "2.0" };
        self.send_rpc(server, message).await.ok()?;
        self.list_tools(server).await
    }

    async fn list_tools(&self, server: &Server) -> Option<()> {
        let list = self.rpc(server, "tools/list", None).await.ok()?;
        let tools = list.get("tools").and_then(Json::as_array).unwrap_or_default().to_vec();
        server.state.borrow_mut().tools = tools;
        Some(())
    }

    /// Sends a message to a server, and gives the payload of the answer.
    async fn send_rpc(&self, server: &Server, message: Object) -> Result<Json, String> {
        let request =
            obj! { "subtype": "mcp_message", "server_name": &server.name, "message": message };
        let (_, reply) = self.ask_client(About::Mcp, false, request);
        match reply.take().await {
            Reply::Success(payload) => {
                let response = payload.as_ref().and_then(|payload| payload.get("mcp_response"));
                Ok(response.cloned().unwrap_or_default())
            }
            Reply::Error(error) => Err(error),
            Reply::Closed => Err(self.stream_closed()),
        }
    }

    fn stream_closed(&self) -> String {
        if self.profile.internals {
            return "The tool call was interrupted before a result was received. It may or may not have completed on the server — verify before assuming it succeeded, and retry if needed.".to_owned();
        }
        "Tool permission stream closed before response received".to_owned()
    }

    /// Makes a request of a server.
    async fn rpc(
        &self,
        server: &Server,
        method: &str,
        params: Option<Object>,
    ) -> Result<Json, String> {
        let id = {
            let mut state = server.state.borrow_mut();
            let id = state.next_id;
            state.next_id += 1;
            id
        };
        let mut message = obj! { "method": method, "params"?: params };
        message.set("jsonrpc", "2.0");
        message.set("id", id);
        let response = self.send_rpc(server, message).await?;
        if let Some(error) = response.get("error") {
            let text = error.text("message").unwrap_or("unknown error");
            let code = error.get("code").map(Json::to_string).unwrap_or_default();
            let old = !self.profile.internals;
            return Err(if old { format!("MCP error {code}: {text}") } else { text.to_owned() });
        }
        Ok(response.get("result").cloned().unwrap_or_default())
    }

    /// Calls a tool of a server.
    pub(crate) async fn call_server(
        &self,
        turn: &Turn,
        tool: &str,
        input: &Json,
        tool_use_id: &str,
    ) -> Result<Result<Json, String>, Aborted> {
        let Some((server, description)) = self.servers.borrow().find_tool(tool) else {
            return Ok(Err(format!("No such tool available: {tool}")));
        };
        let next = server.state.borrow().next_id;
        let params = obj! {
            "name": description.text("name"),
            "arguments": input,
            "_meta": obj! { "claudecode/toolUseId": tool_use_id, "progressToken": next },
        };
        turn.wait(self.rpc(&server, "tools/call", Some(params))).await
    }

    /// A message of a server, on its own account.
    pub(crate) fn hear_server(self: &Rc<Self>, name: &str, message: &Json) {
        let Some(server) = self.servers.borrow().find(name) else { return };
        let method = message.text("method").unwrap_or_default();
        if method == "notifications/tools/list_changed" && self.profile.relists_tools {
            let sim = Rc::clone(self);
            self.tasks.spawn(async move {
                sim.list_tools(&server).await;
            });
        } else if let Some(id) = message.get("id").filter(|_| !method.is_empty()) {
            // A server may not ask anything: the client has declared no capabilities.
            let answer = obj! {
                "jsonrpc": "2.0",
                "id": id,
                "error": obj! { "code": -32601, "message": "Method not found" },
            };
            let sim = Rc::clone(self);
            self.tasks.spawn(async move {
                drop(sim.send_rpc(&server, answer).await);
            });
        }
    }

    /// Switches a server on or off.
    pub(crate) fn toggle_server(self: &Rc<Self>, name: &str, enabled: bool) -> bool {
        let Some(server) = self.servers.borrow().find(name) else { return false };
        let status = if enabled { Status::New } else { Status::Disabled };
        *server.state.borrow_mut() = State { status, ..State::default() };
        self.connect_servers();
        true
    }
}
