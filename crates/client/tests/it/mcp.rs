//! In-process MCP servers, as a program sees them.

use std::time::Duration;

use countersign::mcp::{Call, Content, McpServer, Tool, ToolOutput, ToolServer};
use countersign::protocol::RawJson;
use serde_json::{Value, json};

/// Servers are shared between tasks, and calls are handed on to others.
#[test]
fn handles_can_be_sent_and_shared() {
    const fn check<T: Send + Sync + Clone + 'static>() {}
    check::<McpServer>();
    check::<ToolServer>();
    check::<Call>();
    check::<ToolOutput>();
}

/// All shapes that a handler can have.
fn server() -> ToolServer {
    async fn named(_: Value) -> Result<&'static str, std::io::Error> {
        Ok("named")
    }
    async fn with_its_call(_: Value, call: Call) -> Result<String, Box<dyn std::error::Error>> {
        Ok(call.tool_use_id().ok_or("nobody")?.to_owned())
    }
    let word = String::from("captured");
    ToolServer::new("s")
        .version("2")
        .instructions("Mind the gap.")
        .tool(Tool::new("named", "N", named))
        .tool(Tool::new("with_its_call", "W", with_its_call))
        .tool(Tool::new("closure", "C", async |_: RawJson| ToolOutput::structured(&json!({}))))
        .tool(
            Tool::new("capturing", "C", move |_: Value| {
                let word = word.clone();
                async move { Ok::<_, String>(Content::text(word)) }
            })
            .input_schema(json!({"type": "object"}))
            .unwrap(),
        )
}

#[test]
fn a_manifest_says_what_the_server_has() {
    let server = McpServer::from(server());
    let manifest = server.manifest().unwrap();
    let greeting: Value = manifest.initialize_result.decode().unwrap();
    assert_eq!(greeting["protocolVersion"], "2025-11-25");
    assert_eq!(greeting["serverInfo"], json!({"name": "s", "version": "2"}));
    assert_eq!(greeting["instructions"], "Mind the gap.");
    let listing: Value = manifest.tools_list_result.unwrap().decode().unwrap();
    let names: Vec<_> =
        listing["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["named", "with_its_call", "closure", "capturing"]);
}

#[test]
fn a_manifest_follows_the_tools() {
    let tools = server();
    let server = McpServer::from(tools.clone());
    for name in ["named", "with_its_call", "closure"] {
        assert!(tools.remove(name));
    }
    let listing = server.manifest().unwrap().tools_list_result.unwrap();
    let expected =
        r#"{"tools":[{"name":"capturing","description":"C","inputSchema":{"type":"object"}}]}"#;
    assert_eq!(listing.as_str(), expected);
}

#[test]
fn settings_are_what_the_cli_is_told() {
    let server = McpServer::from(server());
    assert_eq!(server.name(), "s");
    assert!(server.settings().is_none());
    let server = server
        .timeout(Duration::from_millis(1500))
        .always_ask("named")
        .always_deny("closure")
        // The last word on a tool counts.
        .always_deny("named");
    let settings = serde_json::to_value(server.settings().unwrap()).unwrap();
    let policy = |name: &str| json!({"name": name, "permission_policy": "always_deny"});
    let expected = json!({"timeout": 1500, "tools": [policy("closure"), policy("named")]});
    assert_eq!(settings, expected);
}
