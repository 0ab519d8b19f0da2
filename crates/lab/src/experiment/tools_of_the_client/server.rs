//! The server of the client: some tools, each with its own way to answer.

use serde_json::{Value, json};

use crate::talk::Reply;

/// Answers what the CLI asks: a server that works, and a person who allows everything.
pub(super) fn reply(ask: &Value) -> Reply {
    let request = &ask["request"];
    if request["subtype"] == "can_use_tool" {
        return Reply::allow(ask);
    }
    let message = &request["message"];
    let call = message["method"] == "tools/call";
    if call && message["params"]["name"] == "refused" {
        return Reply::Error("the client is out of fingers");
    }
    Reply::Success(json!({"mcp_response": response(message)}))
}

fn response(message: &Value) -> Value {
    let Some(id) = message.get("id") else { return json!({"jsonrpc": "2.0", "result": {}}) };
    let params = &message["params"];
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "calc", "version": "1.0.0"},
        }),
        "tools/list" => {
            let names = ["add", "hinted", "data", "fails", "breaks", "refused"];
            json!({"tools": names.map(description)})
        }
        "tools/call" if params["name"] == "breaks" => {
            let error = json!({"code": -32000, "message": "the server is out of fingers"});
            return json!({"jsonrpc": "2.0", "id": id, "error": error});
        }
        "tools/call" => called(params["name"].as_str().unwrap_or_default()),
        _ => json!({}),
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn description(name: &str) -> Value {
    let number = json!({"type": "number"});
    let properties = json!({"a": number, "b": number});
    json!({
        "name": name,
        "description": "Adds two numbers",
        "inputSchema": {"type": "object", "properties": properties, "required": ["a", "b"]},
        "annotations": {"readOnlyHint": name == "hinted"},
    })
}

/// An image of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn called(name: &str) -> Value {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "mimeType": "image/png", "data": PIXEL});
    match name {
        "data" => json!({"content": [text("as a text"), image], "structuredContent": {"sum": 5}}),
        "fails" => json!({"content": [text("the tool is out of fingers")], "isError": true}),
        _ => json!({"content": [text("5")]}),
    }
}
