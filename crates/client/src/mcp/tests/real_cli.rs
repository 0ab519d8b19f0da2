//! Servers, spoken to by the real CLI.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_lab::script::{Answer, Script};
use countersign_lab::{Cli, Lab, Launch, Program, Version, Versions};
use countersign_protocol::RawJson;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

#[cfg(feature = "rmcp")]
use super::any_server::Library;
use super::idle;
use crate::mcp::{Call, Connection, Content, McpServer, Tool, ToolOutput, ToolServer};

const NEWEST: Version = Version::new(2, 1, 325);
const VERSIONS: [Version; 3] = [NEWEST, Version::new(2, 1, 197), Version::new(2, 1, 62)];

/// A client that knows nothing but one server.
struct Client {
    cli: Cli,
    connection: Connection,
    outgoing: mpsc::Receiver<RawJson>,
    name: String,
    /// What the server was asked, in order.
    methods: Vec<String>,
    /// The ids of what it said by itself.
    posted: Vec<String>,
    /// What is being served, with the frame that it came in.
    serving: JoinSet<(Value, Value)>,
}

impl Client {
    async fn start(lab: &Lab, server: &McpServer, mut fields: Value) -> Self {
        let mut cli = lab.launch(Launch::new()).await.unwrap();
        let (send, outgoing) = mpsc::channel(16);
        let connection = server.connect(move |message| send.try_send(message).unwrap());
        let name = server.name().to_owned();
        fields["subtype"] = json!("initialize");
        fields["sdkMcpServers"] = json!([name]);
        let id = cli.post(fields).await.unwrap();
        let (methods, posted, serving) = (Vec::new(), Vec::new(), JoinSet::new());
        let mut client = Self { cli, connection, outgoing, name, methods, posted, serving };
        client.until(|client| client.answer_to(&id).is_some()).await;
        client
    }

    /// Serves until something has happened.
    async fn until(&mut self, done: impl Fn(&Self) -> bool) {
        while !done(self) {
            tokio::select! {
                Some(served) = self.serving.join_next() => {
                    let (frame, answer) = served.unwrap();
                    // What was said before the answer goes before it.
                    self.pass_on().await;
                    self.cli.answer(&frame, json!({"mcp_response": answer})).await.unwrap();
                }
                frame = self.cli.wait("something to happen", |_| true) => {
                    self.take(frame.unwrap()).await;
                }
            }
        }
    }

    /// Serves until the CLI says this of the server.
    async fn until_server_is(&mut self, status: &str) {
        loop {
            let id = self.cli.post(json!({"subtype": "mcp_status"})).await.unwrap();
            self.until(|client| client.answer_to(&id).is_some()).await;
            if self.answer_to(&id).unwrap()["response"]["mcpServers"][0]["status"] == status {
                return;
            }
        }
    }

    async fn take(&mut self, frame: Value) {
        let request = &frame["request"];
        if request["subtype"] == "can_use_tool" {
            self.cli.allow(&frame).await.unwrap();
        } else if request["subtype"] == "mcp_message" {
            assert_eq!(request["server_name"], self.name.as_str());
            let message = request["message"].clone();
            self.methods.push(message["method"].as_str().unwrap().to_owned());
            let answer = self.connection.handle(message.into());
            self.serving.spawn(async move { (frame, answer.await.decode().unwrap()) });
        }
    }

    async fn pass_on(&mut self) {
        while let Ok(message) = self.outgoing.try_recv() {
            let message: Value = message.decode().unwrap();
            let request =
                json!({"subtype": "mcp_message", "server_name": self.name, "message": message});
            self.posted.push(self.cli.post(request).await.unwrap());
        }
    }

    fn frames(&self) -> impl Iterator<Item = Value> {
        let said = self.cli.log().into_iter();
        said.filter(|said| said.by == countersign_lab::Speaker::Cli).map(|said| said.frame)
    }

    fn answer_to(&self, id: &str) -> Option<Value> {
        self.frames()
            .map(|frame| frame["response"].clone())
            .find(|answer| answer["request_id"] == id)
    }

    /// How many turns have ended.
    fn results(&self) -> usize {
        self.frames().filter(|frame| frame["type"] == "result").count()
    }

    /// The results of tools that the model was shown, in order.
    fn tool_results(&self) -> Vec<Value> {
        let content = |frame: Value| frame["message"]["content"].as_array().cloned();
        let blocks = self.frames().filter_map(content).flatten();
        blocks.filter(|block| block["type"] == "tool_result").collect()
    }

    fn asked(&self, method: &str) -> usize {
        self.methods.iter().filter(|asked| *asked == method).count()
    }
}

async fn lab(version: Version, script: Script) -> Lab {
    let cli = Versions::in_default_folder().unwrap().install(version).await.unwrap();
    Lab::builder(Program::Real(cli), script).start().await.unwrap()
}

/// One call of each tool, one after the other.
fn calls(server: &str, calls: &[(&str, Value)]) -> Script {
    let call = |script: Script, (tool, input): &(&str, Value)| {
        script.then(Answer::tool(format!("mcp__{server}__{tool}"), input.clone()))
    };
    calls.iter().fold(Script::new(), call).then(Answer::text("Done."))
}

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

fn workshop() -> ToolServer {
    let add = Tool::new("add", "Adds.", async |Add { a, b }| Ok::<_, String>((a + b).to_string()))
        .input_schema(json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        }))
        .unwrap();
    let fail = Tool::new("fail", "Fails.", async |_: Value| Err::<String, _>("out of fingers"));
    let data = Tool::new("data", "Gives data.", async |_: Value| {
        ToolOutput::structured(&json!({"sum": 5}))
    });
    let draw = Tool::new("draw", "Draws.", async |_: Value| {
        Ok::<_, String>(Content::image(PIXEL, "image/png"))
    });
    let work = Tool::new("work", "Works.", async |_: Value, call: Call| {
        call.progress(1.0, Some(2.0), Some("half"));
        call.progress(2.0, Some(2.0), None);
        Ok::<_, String>(call.tool_use_id().unwrap_or("nobody").to_owned())
    });
    let learn = Tool::new("learn", "Learns.", async |_: Value, call: Call| {
        call.server().add(idle("extra"));
        Ok::<_, String>("learnt")
    });
    [add, fail, data, draw, work, learn]
        .into_iter()
        .fold(ToolServer::new("shop"), |server, tool| server.tool(tool.read_only(true)))
}

#[tokio::test]
async fn the_cli_uses_tools_of_this_process() {
    for version in VERSIONS {
        let calls = calls(
            "shop",
            &[
                ("add", json!({"a": 2, "b": 3})),
                ("add", json!({"a": "two"})),
                ("fail", json!({})),
                ("data", json!({})),
                ("draw", json!({})),
                ("work", json!({})),
                ("learn", json!({})),
            ],
        );
        let lab = lab(version, calls).await;
        let mut client = Client::start(&lab, &workshop().into(), json!({})).await;
        client.cli.say("Go.").await.unwrap();
        // The newest asks for the list again.
        let lists = if version == NEWEST { 2 } else { 1 };
        client.until(|client| client.results() == 1 && client.asked("tools/list") == lists).await;
        let handshake = ["initialize", "notifications/initialized", "tools/list"];
        assert_eq!(client.methods[..3], handshake, "{version}");

        let results = client.tool_results();
        let [sum, wrong, failed, data, image, worked, learnt] = &results[..] else {
            panic!("{version}: {results:?}")
        };
        for (result, error, text) in [
            (sum, false, "5"),
            (wrong, true, "wrong arguments: invalid type: string"),
            (failed, true, "out of fingers"),
            (data, false, r#"\"sum\":5"#),
            (image, false, r#""type":"image""#),
            (worked, false, "toolu_"),
            (learnt, false, "learnt"),
        ] {
            assert_eq!(result["is_error"] == true, error, "{version}: {result}");
            assert!(result["content"].to_string().contains(text), "{version}: {result}");
        }
        // Two reports, and that there is a new tool: none was refused.
        assert_eq!(client.posted.len(), 3);
        let posted = client.posted.clone();
        client.until(|client| posted.iter().all(|id| client.answer_to(id).is_some())).await;
        for id in &posted {
            assert_eq!(client.answer_to(id).unwrap()["subtype"], "success", "{version}");
        }
        client.cli.close().await.unwrap();
        lab.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_cli_reads_a_manifest_and_asks_no_more() {
    let server = McpServer::from(workshop());
    let lab = lab(NEWEST, calls("shop", &[("add", json!({"a": 2, "b": 3}))])).await;
    let manifest = serde_json::to_value(server.manifest().unwrap()).unwrap();
    let fields = json!({"sdkMcpServerManifests": {"shop": manifest}});
    let mut client = Client::start(&lab, &server, fields).await;
    client.cli.say("Go.").await.unwrap();
    client.until(|client| client.results() == 1).await;
    assert_eq!(client.methods, ["tools/call"]);
    assert!(client.tool_results()[0]["content"].to_string().contains('5'));
    client.cli.close().await.unwrap();
    lab.close().await.unwrap();
}

#[tokio::test]
async fn the_cli_withdraws_a_call_when_it_is_interrupted() {
    for version in VERSIONS {
        let stopped = Arc::new(Mutex::new(false));
        let flag = Arc::clone(&stopped);
        let wait = Tool::new("wait", "Waits.", move |_: Value, call: Call| {
            let flag = Arc::clone(&flag);
            async move {
                call.cancelled().await;
                *flag.lock().unwrap() = true;
                Ok::<_, String>("stopped")
            }
        });
        let lab = lab(version, calls("shop", &[("wait", json!({}))])).await;
        let server = McpServer::from(ToolServer::new("shop").tool(wait));
        let mut client = Client::start(&lab, &server, json!({})).await;
        client.cli.say("Go.").await.unwrap();
        client.until(|client| client.asked("tools/call") == 1).await;
        client.cli.post(json!({"subtype": "interrupt"})).await.unwrap();
        client.until(|client| client.results() == 1 && *stopped.lock().unwrap()).await;
        assert_eq!(client.asked("notifications/cancelled"), 1, "{version}");
        client.cli.close().await.unwrap();
        lab.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_cli_switches_a_server_off_and_on_and_greets_it_again() {
    let lab = lab(NEWEST, calls("shop", &[("add", json!({"a": 2, "b": 3}))])).await;
    let mut client = Client::start(&lab, &workshop().into(), json!({})).await;
    for (before, enabled) in [("connected", false), ("disabled", true)] {
        // A server that is switched off while it is being greeted is not greeted again.
        client.until_server_is(before).await;
        let toggle = json!({"subtype": "mcp_toggle", "serverName": "shop", "enabled": enabled});
        let id = client.cli.post(toggle).await.unwrap();
        client.until(|client| client.answer_to(&id).is_some()).await;
        assert_eq!(client.answer_to(&id).unwrap()["subtype"], "success");
    }
    client.cli.say("Go.").await.unwrap();
    client.until(|client| client.results() == 1).await;
    assert_eq!(client.asked("initialize"), 2);
    assert!(client.tool_results()[0]["content"].to_string().contains('5'));
    client.cli.close().await.unwrap();
    lab.close().await.unwrap();
}

#[tokio::test]
async fn the_cli_keeps_to_the_settings_of_a_server() {
    let script = calls("shop", &[("add", json!({"a": 2, "b": 3})), ("data", json!({}))]);
    let lab = lab(NEWEST, script).await;
    let server = McpServer::from(workshop()).timeout(Duration::from_secs(60)).always_deny("add");
    let settings = serde_json::to_value(server.settings().unwrap()).unwrap();
    let policy = json!({"name": "add", "permission_policy": "always_deny"});
    assert_eq!(settings, json!({"timeout": 60000, "tools": [policy]}));
    let fields = json!({"sdkMcpServerConfigs": {"shop": settings}});
    let mut client = Client::start(&lab, &server, fields).await;
    client.cli.say("Go.").await.unwrap();
    client.until(|client| client.results() == 1).await;
    let errors: Vec<_> =
        client.tool_results().iter().map(|result| result["is_error"] == true).collect();
    assert_eq!(errors, [true, false], "{:?}", client.tool_results());
    assert_eq!(client.asked("tools/call"), 1);
    client.cli.close().await.unwrap();
    lab.close().await.unwrap();
}

#[cfg(feature = "rmcp")]
#[tokio::test]
async fn the_cli_uses_a_server_of_rmcp() {
    for version in VERSIONS {
        let script = Script::new()
            .then(Answer::tool("mcp__library__t", json!({"a": 1})))
            .then(Answer::tool("mcp__library__t", json!({"do": "panic"})))
            .then(Answer::tool("ListMcpResourcesTool", json!({"server": "library"})))
            .then(Answer::tool(
                "ReadMcpResourceTool",
                json!({"server": "library", "uri": "book:1"}),
            ))
            .then(Answer::text("Done."));
        let lab = lab(version, script).await;
        let server = McpServer::from_rmcp("library", Library::default());
        let mut client = Client::start(&lab, &server, json!({})).await;
        client.cli.say("Go.").await.unwrap();
        client.until(|client| client.results() == 1).await;
        let results = client.tool_results();
        let [called, panicked, listed, read] = &results[..] else {
            panic!("{version}: {results:?}")
        };
        let resources = version != Version::new(2, 1, 62);
        for (result, error, text) in [
            (called, false, r#"\"a\":1"#),
            (panicked, true, "the shelf fell"),
            // 2.1.62 has no tools for the resources of such servers.
            (listed, !resources, if resources { "A book" } else { "No such tool" }),
            (read, !resources, if resources { "Once upon a time." } else { "No such tool" }),
        ] {
            assert_eq!(result["is_error"] == true, error, "{version}: {result}");
            assert!(result["content"].to_string().contains(text), "{version}: {result}");
        }
        client.cli.close().await.unwrap();
        lab.close().await.unwrap();
    }
}
