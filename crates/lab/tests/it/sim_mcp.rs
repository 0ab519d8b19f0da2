//! Servers of the client.

use serde_json::{Value, json};

use super::sim_client::{Client, Place, Setup};

const ADD: &str = r#"
    [[answer]]
    tool = { name = "mcp__calc__add", input = { a = 1, b = 2 } }
    times = 9
    [[answer]]
    when = { tool = "mcp__calc__add" }
    text = "${result}"
"#;

/// Answers a message for a server.
fn serve(client: &mut Client, request: &Value, result: &Value) {
    let id = &request["request"]["message"]["id"];
    let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
    client.answer(request, &json!({"mcp_response": message}));
}

/// Plays the server's part of the handshake.
fn shake_hands(client: &mut Client) {
    let hello = client.request("mcp_message");
    assert_eq!(hello["request"]["message"]["method"], "initialize");
    let server = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1"}});
    serve(client, &hello, &server);
    let ready = client.request("mcp_message");
    assert_eq!(ready["request"]["message"]["method"], "notifications/initialized");
    serve(client, &ready, &json!({}));
    let list = client.request("mcp_message");
    assert_eq!(list["request"]["message"]["method"], "tools/list");
    let tool = json!({"name": "add", "description": "adds", "inputSchema": {"type": "object"}});
    serve(client, &list, &json!({"tools": [tool]}));
}

/// A client with a server, after the handshake.
fn with_server(place: &Place, version: &str, args: &[&str]) -> Client {
    let mut client = Setup::new(version).args(args).start(place, ADD);
    client.ask("i", &json!({"subtype": "initialize", "sdkMcpServers": ["calc"]}));
    if version == "2.1.325" {
        shake_hands(&mut client);
        client.say("add");
    } else {
        client.response("i");
        client.say("add");
        shake_hands(&mut client);
    }
    client
}

#[test]
fn the_tools_of_a_server_are_on_offer_after_the_handshake() {
    for version in ["2.1.325", "2.1.197", "2.1.62"] {
        let place = Place::new();
        let mut client = with_server(&place, version, &[]);
        let init = client.until("init", |frame| frame["subtype"] == "init");
        assert!(init["tools"].as_array().unwrap().contains(&json!("mcp__calc__add")), "{version}");
        assert_eq!(init["mcp_servers"][0]["status"], "connected", "{version}");
    }
}

#[test]
fn a_tool_of_a_server_is_asked_about_and_called() {
    let place = Place::new();
    let mut client = with_server(&place, "2.1.325", &[]);
    let asked = client.request("can_use_tool");
    assert_eq!(asked["request"]["tool_name"], "mcp__calc__add");
    assert_eq!(asked["request"]["mcp_server"]["name"], "calc");
    client.allow(&asked);
    let call = client.request("mcp_message");
    let message = &call["request"]["message"];
    assert_eq!(
        (&message["method"], &message["params"]["name"]),
        (&json!("tools/call"), &json!("add"))
    );
    assert_eq!(message["params"]["arguments"], json!({"a": 1, "b": 2}));
    serve(&mut client, &call, &json!({"content": [{"type": "text", "text": "3"}]}));
    assert_eq!(client.result()["result"], "3");
}

#[test]
fn an_error_of_a_tool_is_an_error_for_the_model() {
    let place = Place::new();
    let mut client = with_server(&place, "2.1.325", &["--allowedTools", "mcp__calc__add"]);
    let call = client.request("mcp_message");
    serve(
        &mut client,
        &call,
        &json!({"content": [{"type": "text", "text": "overflow"}], "isError": true}),
    );
    let told = client.until("result of the tool", |frame| frame["type"] == "user");
    assert_eq!(told["message"]["content"][0]["is_error"], true);
    assert!(client.result()["result"].as_str().unwrap().starts_with("overflow"));
}

#[test]
fn structured_content_is_told_as_it_is() {
    let place = Place::new();
    let mut client = with_server(&place, "2.1.325", &["--allowedTools", "mcp__calc__add"]);
    let call = client.request("mcp_message");
    let result =
        json!({"content": [{"type": "text", "text": "3"}], "structuredContent": {"sum": 3}});
    serve(&mut client, &call, &result);
    let told = client.until("result of the tool", |frame| frame["type"] == "user");
    assert_eq!(told["tool_use_result"]["structuredContent"], json!({"sum": 3}));
}

#[test]
fn servers_can_be_set_while_the_session_runs() {
    let place = Place::new();
    let mut client = Setup::new("2.1.325").start(&place, ADD);
    client.ask("i", &json!({"subtype": "initialize"}));
    client.response("i");
    let servers = json!({"calc": {"type": "sdk", "name": "calc"}});
    client.ask("s", &json!({"subtype": "mcp_set_servers", "servers": servers}));
    shake_hands(&mut client);
    client.ask("q", &json!({"subtype": "mcp_status"}));
    let status = client.response("q");
    assert_eq!(status["response"]["mcpServers"][0]["name"], "calc");
}

#[test]
fn a_changed_list_of_tools_is_asked_for_again() {
    let place = Place::new();
    let mut client = with_server(&place, "2.1.325", &[]);
    let message = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    client.ask("n", &json!({"subtype": "mcp_message", "server_name": "calc", "message": message}));
    let list = client.request("mcp_message");
    assert_eq!(list["request"]["message"]["method"], "tools/list");
}

#[test]
fn a_server_of_the_configuration_is_asked_like_any_other() {
    let place = Place::new();
    let config = json!({"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}}).to_string();
    let mut client = Setup::new("2.1.325").args(&["--mcp-config", &config]).start(&place, ADD);
    client.ask("i", &json!({"subtype": "initialize"}));
    shake_hands(&mut client);
}
