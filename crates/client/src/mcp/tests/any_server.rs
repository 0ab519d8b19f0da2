//! Servers of rmcp: resources, prompts, and whatever else they do.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{Wire, call, cancelled, started};
use crate::mcp::McpServer;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.325"}}}"#;

/// A book, a prompt, and a tool `t` that does what its argument `do` says.
#[derive(Default)]
pub(super) struct Library {
    began: Arc<Notify>,
    dropped: Arc<Notify>,
}

struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_resources()
            .enable_prompts()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities).with_instructions("Read.")
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new("book:1", "A book")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != "book:1" {
            return Err(ErrorData::resource_not_found("no such book", None));
        }
        let text = ResourceContents::text("Once upon a time.", request.uri);
        Ok(ReadResourceResult::new(vec![text]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("sum", Some("Sums up."), None)]))
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let message = PromptMessage::new_text(Role::User, "Sum it up.");
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(serde_json::from_value(json!({"type": "object"})).unwrap());
        Ok(ListToolsResult::with_all_items(vec![Tool::new("t", "Does it.", schema)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        match arguments["do"].as_str() {
            Some("panic") => panic!("the shelf fell"),
            Some("wait") => {
                let _dropped = Dropped(Arc::clone(&self.dropped));
                self.began.notify_one();
                std::future::pending::<()>().await;
            }
            Some("progress") => {
                let token = context.meta.get_progress_token().unwrap();
                let report = ProgressNotificationParam::new(token, 0.5);
                context.peer.notify_progress(report).await.unwrap();
                context.peer.notify_tool_list_changed().await.unwrap();
            }
            _ => {}
        }
        Ok(CallToolResult::success(vec![ContentBlock::text(arguments.to_string())]).into())
    }
}

pub(super) fn library() -> Wire {
    Wire::to(McpServer::from_rmcp("library", Library::default()))
}

fn waiting() -> (Wire, Arc<Notify>, Arc<Notify>) {
    let library = Library::default();
    let (began, dropped) = (Arc::clone(&library.began), Arc::clone(&library.dropped));
    (Wire::to(McpServer::from_rmcp("library", library)), began, dropped)
}

#[tokio::test]
async fn resources_and_prompts_are_served() {
    let wire = library();
    let hello = wire.post(HELLO).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["result"]["instructions"], "Read.");
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(wire.post(initialized).await, json!({"jsonrpc": "2.0", "result": {}, "id": 0}));
    for (id, (method, params, pointer, expected)) in [
        ("resources/list", json!({}), "/result/resources/0/uri", json!("book:1")),
        (
            "resources/read",
            json!({"uri": "book:1"}),
            "/result/contents/0/text",
            json!("Once upon a time."),
        ),
        ("resources/read", json!({"uri": "book:2"}), "/error/message", json!("no such book")),
        ("resources/read", json!({}), "/error/code", json!(-32601)),
        ("prompts/list", json!({}), "/result/prompts/0/name", json!("sum")),
        (
            "prompts/get",
            json!({"name": "sum"}),
            "/result/messages/0/content/text",
            json!("Sum it up."),
        ),
        ("tools/list", json!({}), "/result/tools/0/name", json!("t")),
        ("tools/call", json!({"name": "t"}), "/result/content/0/text", json!("{}")),
        ("ping", json!({}), "/result", json!({})),
        ("books/burn", json!({}), "/error/code", json!(-32601)),
    ]
    .into_iter()
    .enumerate()
    {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let answer = wire.post(&message.to_string()).await;
        assert_eq!(answer.pointer(pointer), Some(&expected), "{message}: {answer}");
        assert_eq!(answer["id"], id);
    }
}

#[tokio::test]
async fn a_client_that_has_a_manifest_need_not_shake_hands() {
    assert_eq!(library().call(json!({"a": 1})).await["content"][0]["text"], r#"{"a":1}"#);
}

#[tokio::test]
async fn a_panic_is_an_error_and_the_server_goes_on() {
    let wire = library();
    let answer = wire.post(&call(1, &json!({"do": "panic"}))).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert_eq!(answer["error"]["message"], "the handler panicked: the shelf fell");
    assert_eq!(wire.call(json!({})).await["content"][0]["text"], "{}");
}

#[tokio::test]
async fn what_the_server_says_by_itself_goes_out() {
    let wire = library();
    wire.call(json!({"do": "progress"})).await;
    let params = json!({"progressToken": 1, "progress": 0.5});
    assert_eq!(
        wire.said(),
        [
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_is_answered_and_its_handler_given_up() {
    let (wire, began, dropped) = waiting();
    let waits = started(wire.post(&call(1, &json!({"do": "wait"}))));
    began.notified().await;
    // An id that is in use cannot be told from the first.
    let twice = wire.post(&call(1, &json!({}))).await;
    assert_eq!(twice["error"]["code"], -32600);
    wire.post(&cancelled(1)).await;
    let answer = waits.await.unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32800)), "{answer}");
    dropped.notified().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_waits_for_is_given_up() {
    let (wire, began, dropped) = waiting();
    let waits = started(wire.post(&call(1, &json!({"do": "wait"}))));
    began.notified().await;
    waits.abort();
    dropped.notified().await;
    assert_eq!(wire.call(json!({})).await["content"][0]["text"], "{}");
}

#[tokio::test]
async fn a_second_handshake_begins_anew() {
    let (wire, began, dropped) = waiting();
    wire.post(HELLO).await;
    let waits = started(wire.post(&call(1, &json!({"do": "wait"}))));
    began.notified().await;
    assert_eq!(wire.post(HELLO).await["result"]["instructions"], "Read.");
    assert_eq!(waits.await.unwrap()["error"]["code"], -32800);
    dropped.notified().await;
    assert_eq!(wire.call(json!({})).await["content"][0]["text"], "{}");
}

#[tokio::test]
async fn the_end_of_the_session_ends_the_server() {
    let (wire, began, dropped) = waiting();
    let waits = started(wire.post(&call(1, &json!({"do": "wait"}))));
    began.notified().await;
    let not_begun = wire.post(&call(2, &json!({"do": "wait"})));
    drop(wire);
    for (id, answer) in [(1, waits.await.unwrap()), (2, not_begun.await)] {
        assert!(answer["error"]["code"].is_i64() && answer["id"] == id, "{answer}");
    }
    dropped.notified().await;
}

#[tokio::test]
async fn more_requests_than_the_queue_holds_are_all_served() {
    let wire = library();
    let calls: Vec<_> = (0..500).map(|id| wire.post(&call(id, &json!({"n": id})))).collect();
    for (id, call) in calls.into_iter().enumerate() {
        let text = format!(r#"{{"n":{id}}}"#);
        assert_eq!(call.await["result"]["content"][0]["text"], text);
    }
}

#[test]
fn without_a_runtime_a_request_is_refused() {
    let answer = library().connection.handle(HELLO.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer: Value = runtime.block_on(answer).decode().unwrap();
    assert_eq!(answer["error"]["code"], -32000);
}
