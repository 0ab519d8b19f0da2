//! MCP servers: those that the CLI starts, and one of this process beside them.
#![expect(clippy::indexing_slicing, reason = "JSON without a field has null there")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use countersign::Session;
use countersign::mcp::{Tool, ToolServer};
use countersign::protocol::permission::PermissionMode;
use countersign::protocol::request::{McpConnection, McpServerConfig};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{OK, assert_refused, has, turn};
use crate::kit::{Cli, Outcome, V62, builder, close, lab, on_real, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_real("control::mcp::a_server_is_added_used_switched_and_removed", V62, added),
        on_real("control::mcp::servers_of_this_process_stay", V62, stays),
        on_real("control::mcp::what_is_not_there_is_refused", V62, missing),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Says to this very program that it is to be an MCP server.
const SERVER: &str = "COUNTERSIGN_TEST_MCP";

/// Plays an MCP server, if that is what this program was started for.
pub(crate) fn as_a_server() -> Option<ExitCode> {
    std::env::var_os(SERVER)?;
    #[expect(clippy::disallowed_methods, reason = "it is what a server speaks on")]
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = request.get("id") else { continue };
        let answer = match request["method"].as_str() {
            Some("initialize") => json!({"result": {
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": "echo", "version": "1.0.0"},
            }}),
            Some("tools/list") => json!({"result": {"tools": [
                {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}},
            ]}}),
            Some("tools/call") => json!({"result": {"content": [
                {"type": "text", "text": request["params"]["arguments"]["say"]},
            ]}}),
            Some("resources/list") => json!({"result": {"resources": [
                {"uri": "ui://page", "name": "page", "mimeType": "text/html"},
            ]}}),
            Some("resources/read") => json!({"result": {"contents": [
                {"uri": request["params"]["uri"], "mimeType": "text/html", "text": "<p>Page</p>"},
            ]}}),
            _ => json!({"error": {"code": -32601, "message": "no such method"}}),
        };
        let mut answer = answer;
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = id.clone();
        writeln!(output, "{answer}").unwrap();
    }
    Some(ExitCode::SUCCESS)
}

fn echo() -> McpServerConfig {
    let this = std::env::current_exe().unwrap();
    let env = BTreeMap::from([(SERVER.to_owned(), "1".to_owned())]);
    McpServerConfig::stdio(this.to_str().unwrap()).with_env(env)
}

/// How a server is; none if there is no such server.
async fn state(session: &Session, name: &str) -> Option<McpConnection> {
    let servers = session.mcp_server_status().await.unwrap();
    servers.into_iter().find(|server| server.name == name).map(|server| server.status)
}

/// Waits until a server is as it should be.
async fn until(session: &Session, name: &str, wanted: &McpConnection) {
    let becomes = async {
        while state(session, name).await.as_ref() != Some(wanted) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    soon("the state of the server", becomes).await;
}

async fn added(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let session = soon("the start", builder(&lab).connect()).await?;
    assert_eq!(state(&session, "echo").await, None);
    let response = session.set_mcp_servers([("echo", echo())]).await?;
    assert_eq!((response.added, response.errors.len()), (vec!["echo".to_owned()], 0));
    until(&session, "echo", &McpConnection::Connected).await;
    if has(cli, "mcp_call") {
        let called = session.call_mcp_tool("mcp__echo__echo", json!({"say": "Hi"})).await?;
        assert!(called.content.as_str().contains("Hi"), "{called:?}");
    }
    if has(cli, "mcp_read_resource") {
        let read = session.read_mcp_resource("echo", "ui://page").await?;
        assert_eq!(read.first().and_then(|read| read.text.as_deref()), Some("<p>Page</p>"));
    }
    if has(cli, "set_mcp_permission_mode_override") {
        let ask = Some(PermissionMode::Default);
        assert_eq!(session.override_mcp_permission_mode("echo", ask.clone()).await?, None);
        assert_eq!(session.override_mcp_permission_mode("echo", None).await?, None);
        assert!(session.override_mcp_permission_mode("nobody", ask).await?.is_some());
    }
    session.toggle_mcp_server("echo", false).await?;
    until(&session, "echo", &McpConnection::Disabled).await;
    session.toggle_mcp_server("echo", true).await?;
    until(&session, "echo", &McpConnection::Connected).await;
    session.reconnect_mcp_server("echo").await?;
    until(&session, "echo", &McpConnection::Connected).await;
    let none: [(String, McpServerConfig); 0] = [];
    assert_eq!(session.set_mcp_servers(none).await?.removed, ["echo"]);
    assert_eq!(state(&session, "echo").await, None);
    close(session, lab).await;
    Ok(())
}

const CALLS: &str = r#"
[[answer]]
tool = { name = "mcp__own__own", as = "own" }

[[answer]]
text = "Mine: ${result.own}"
"#;

/// The CLI drops in-process servers that a change of servers does not name.
async fn stays(cli: Cli) -> Outcome {
    let lab = lab(cli, CALLS).await;
    let own = Tool::new("own", "Says whose it is.", async |_: Value| Ok::<_, String>("my own"));
    let builder = builder(&lab)
        .in_process_mcp(ToolServer::new("own").tool(own))
        .on_permission(countersign::permission::AllowAll);
    let mut session = soon("the start", builder.connect()).await?;
    let response = session.set_mcp_servers([("echo", echo())]).await?;
    assert!(response.removed.is_empty(), "{response:?}");
    until(&session, "echo", &McpConnection::Connected).await;
    let (.., outcome) = turn(&mut session, "Call it.").await;
    assert_eq!(outcome.answer(), "Mine: my own");
    close(session, lab).await;
    Ok(())
}

async fn missing(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let session = soon("the start", builder(&lab).connect()).await?;
    assert_refused(cli, session.reconnect_mcp_server("nobody").await, None);
    assert_refused(cli, session.toggle_mcp_server("nobody", true).await, None);
    assert_refused(cli, session.authenticate_mcp_server("nobody").await, None);
    assert_refused(cli, session.clear_mcp_authentication("nobody").await, None);
    if has(cli, "mcp_call") {
        assert!(session.call_mcp_tool("mcp__nobody__echo", json!({})).await.is_err());
        let url = "http://localhost/callback";
        assert_refused(cli, session.finish_mcp_authentication("nobody", url).await, None);
    }
    if has(cli, "mcp_read_resource") {
        assert_refused(cli, session.read_mcp_resource("nobody", "ui://page").await, None);
    }
    let absent = McpServerConfig::stdio("/nonexistent/server");
    let response = session.set_mcp_servers([("absent", absent)]).await?;
    until(&session, "absent", &McpConnection::Failed).await;
    assert_eq!(response.added, ["absent"]);
    close(session, lab).await;
    Ok(())
}
