//! The handshake and the list, compared as text.

use serde_json::{Value, json};

use super::{Wire, idle};
use crate::mcp::{McpServer, Tool, ToolServer};

/// The answer to a message, as text.
async fn check(server: ToolServer, message: &str, expected: &str) {
    let connection = McpServer::from(server).connect(|_| {});
    let answer = connection.handle(message.parse().unwrap()).await;
    assert_eq!(answer.as_str(), expected, "{message}");
}

#[tokio::test]
async fn each_message_has_its_answer() {
    let server = || ToolServer::new("calc").tool(idle("t"));
    for (message, expected) in [
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.325"}}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calc","version":"1.0.0"}}}"#,
        ),
        // An older client gets its own version, a newer one gets ours.
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calc","version":"1.0.0"}}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2031-01-01"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calc","version":"1.0.0"}}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","result":{},"id":0}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","result":{},"id":0}"#,
        ),
        (r#"{"jsonrpc":"2.0","id":7,"result":null}"#, r#"{"jsonrpc":"2.0","result":{},"id":0}"#),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","description":"Does nothing.","inputSchema":{"type":"object"}}]}}"#,
        ),
        // Ids come back as they are spelled.
        (
            r#"{"jsonrpc":"2.0","id":"\u0061-1","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"\u0061-1","result":{}}"#,
        ),
        (
            r#"{"method":"ping","id":1.50,"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":1.50,"result":{}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no method `resources/list`"}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"u"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"there is no tool `u`"}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":[1]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the arguments are not an object"}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"a call names its tool"}}"#,
        ),
    ] {
        check(server(), message, expected).await;
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused() {
    for (message, id) in [
        ("null", Value::Null),
        ("[]", Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
        (r#"["2.0",1,null,null,{},null]"#, Value::Null),
        ("{}", Value::Null),
        (r#"{"jsonrpc":"2.0","id":3}"#, json!(3)),
        (r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, json!(3)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":3,"id":4,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#, json!(3)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"\ud800"}"#, json!(3)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":["t",{},{},"",0]}"#, json!(3)),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":5}"#, json!("a")),
    ] {
        let answer = Wire::to(ToolServer::new("s")).post(message).await;
        assert_eq!(answer["error"]["code"], -32600, "{message}: {answer}");
        assert_eq!(answer["id"], id, "{message}: {answer}");
    }
}

#[tokio::test]
async fn everything_that_is_said_about_a_tool_is_listed() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tool = idle("t")
        .input_schema(schema.clone())
        .and_then(|tool| tool.output_schema(schema.clone()))
        .unwrap()
        .title("A tool")
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false)
        .always_load(false)
        .search_hint("nothing")
        .max_result_size_chars(500)
        .meta("claude/endTurn", json!(true));
    // The tool's own word goes before the server's.
    let server = ToolServer::new("s").always_load(true).tool(tool).tool(idle("u"));
    let answer = Wire::to(server).post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let annotations = json!({
        "title": "A tool", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
        "openWorldHint": false,
    });
    let meta = json!({
        "anthropic/alwaysLoad": false, "anthropic/searchHint": "nothing",
        "anthropic/maxResultSizeChars": 500, "claude/endTurn": true,
    });
    let expected = json!({"tools": [
        {
            "name": "t", "description": "Does nothing.", "inputSchema": schema,
            "outputSchema": schema, "annotations": annotations, "_meta": meta,
        },
        {
            "name": "u", "description": "Does nothing.", "inputSchema": {"type": "object"},
            "_meta": {"anthropic/alwaysLoad": true},
        },
    ]});
    assert_eq!(answer["result"], expected);
}

#[test]
fn a_schema_that_would_lose_all_tools_is_refused() {
    for schema in [json!({}), json!({"type": "string"}), json!({"type": ["object"]}), json!(true)] {
        assert!(idle("t").input_schema(schema.clone()).is_err(), "{schema}");
        assert!(idle("t").output_schema(schema.clone()).is_err(), "{schema}");
    }
}

#[cfg(feature = "schema")]
#[test]
fn a_type_says_what_a_tool_takes() {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Add {
        /// The first.
        a: i64,
    }
    let server = ToolServer::new("s").tool(idle("t").input_schema_of::<Add>().unwrap());
    let manifest = server.manifest().tools_list_result.unwrap().decode::<Value>().unwrap();
    let schema = &manifest["tools"][0]["inputSchema"];
    assert_eq!(schema["properties"]["a"]["description"], "The first.");
    assert_eq!(schema["required"], json!(["a"]));
    assert!(idle("t").input_schema_of::<Vec<Add>>().is_err());
    assert!(idle("t").output_schema_of::<String>().is_err());
}

#[tokio::test]
async fn a_manifest_is_what_the_server_would_have_answered() {
    let server = ToolServer::new("s").version("3").instructions("Be kind.").tool(idle("t"));
    let wire = Wire::to(server.clone());
    let manifest = server.manifest();
    let greeting = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    let greeting = wire.post(greeting).await["result"].take();
    assert_eq!(greeting["instructions"], "Be kind.");
    assert_eq!(greeting["serverInfo"], json!({"name": "s", "version": "3"}));
    assert_eq!(manifest.initialize_result.decode::<Value>().unwrap(), greeting);
    let listing =
        wire.post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await["result"].take();
    assert_eq!(manifest.tools_list_result.unwrap().decode::<Value>().unwrap(), listing);
}

#[tokio::test]
async fn tools_come_and_go_and_every_session_is_told() {
    let server = ToolServer::new("s").tool(idle("t")).tool(idle("u"));
    let wires = [Wire::to(server.clone()), Wire::to(server.clone())];
    let gone = Wire::to(server.clone());
    let said = std::sync::Arc::clone(&gone.said);
    drop(gone);
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let check = async |names: Value, told: bool| {
        for wire in &wires {
            let expected = if told { vec![changed.clone()] } else { Vec::new() };
            assert_eq!(wire.said(), expected);
            let list = wire.post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
            let tools = list["result"]["tools"].as_array().unwrap();
            assert_eq!(tools.iter().map(|tool| tool["name"].clone()).collect::<Value>(), names);
        }
    };
    check(json!(["t", "u"]), false).await;
    server.add(idle("v"));
    check(json!(["t", "u", "v"]), true).await;
    assert!(server.remove("u"));
    check(json!(["t", "v"]), true).await;
    assert!(!server.remove("u"));
    check(json!(["t", "v"]), false).await;
    // One of the same name takes the place of the other.
    server.add(Tool::new("t", "Fails.", async |_: Value| Err::<String, _>("no")));
    check(json!(["t", "v"]), true).await;
    assert_eq!(wires[0].call(json!({})).await["content"][0]["text"], "no");
    assert!(said.lock().unwrap().is_empty(), "a session that is over is not told");
}
