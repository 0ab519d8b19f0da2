//! Servers, spoken to in literal JSON as the CLI would.

#[cfg(feature = "rmcp")]
mod any_server;
mod calls;
mod ends;
mod handshake;
mod properties;
#[cfg(feature = "real-cli")]
mod real_cli;

use std::sync::{Arc, Mutex};

use countersign_protocol::RawJson;
use serde_json::{Value, json};

use super::{Connection, McpServer, Tool, ToolServer};

/// A connection, and what the server said by itself.
struct Wire {
    connection: Connection,
    said: Arc<Mutex<Vec<Value>>>,
}

impl Wire {
    fn to(server: impl Into<McpServer>) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&said);
        let connection = server.into().connect(move |message| {
            log.lock().unwrap().push(message.decode().unwrap());
        });
        Self { connection, said }
    }

    /// To a server with one tool, `t`.
    fn to_tool<Shape>(handler: impl super::ToolHandler<Shape>) -> Self {
        Self::to(ToolServer::new("s").tool(Tool::new("t", "T", handler)))
    }

    fn post(&self, message: &str) -> impl Future<Output = Value> + Send + 'static + use<> {
        let answer = self.connection.handle(message.parse().unwrap());
        async move { answer.await.decode().unwrap() }
    }

    /// Calls `t`; the answer is the result.
    async fn call(&self, arguments: Value) -> Value {
        let mut answer = self.post(&call(1, &arguments)).await;
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)), "{answer}");
        answer["result"].take()
    }

    /// What the server has said by itself since the last time.
    fn said(&self) -> Vec<Value> {
        std::mem::take(&mut *self.said.lock().unwrap())
    }
}

/// A call of `t`, as the CLI makes it.
fn call(id: usize, arguments: &Value) -> String {
    let meta = json!({"claudecode/toolUseId": format!("toolu_{id}"), "progressToken": id});
    let params = json!({"name": "t", "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

fn cancelled(id: usize) -> String {
    let params = json!({"requestId": id, "reason": "the user said so"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
}

/// Begins with something that does not end by itself.
#[expect(clippy::disallowed_methods, reason = "each test waits for what it started")]
fn started<F>(work: F) -> tokio::task::JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    tokio::spawn(work)
}

/// A tool that does nothing.
fn idle(name: &str) -> Tool {
    Tool::new(name, "Does nothing.", async |_: RawJson| Ok::<_, String>("done"))
}
