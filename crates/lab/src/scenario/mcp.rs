//! Tools of the client itself, served over the protocol.

use serde_json::{Value, json};

use super::{Outcome, Reply, Scenario, ensure, is_result, serve};
use crate::lab::{Lab, Launch};

const ADD: &str = r#"
[[answer]]
tool = { name = "mcp__calc__add", input = { a = 2, b = 3 } }

[[answer]]
text = "Five."
"#;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "mcp-call",
        "A tool of the client is listed, asked for, called, and its result read.",
        ADD,
        |lab| Box::pin(call(lab, Answers::Text)),
    ),
    Scenario::new("mcp-error", "A tool of the client that fails is an error.", ADD, |lab| {
        Box::pin(call(lab, Answers::Failure))
    }),
    Scenario::new(
        "mcp-broken",
        "A server of the client that answers with an error of the protocol is an error of the tool.",
        ADD,
        |lab| Box::pin(call(lab, Answers::Error)),
    ),
    Scenario::new(
        "mcp-structured",
        "A tool of the client may give back data besides text.",
        ADD,
        |lab| Box::pin(call(lab, Answers::Data)),
    ),
];

/// What the tool gives back.
#[derive(Clone, Copy)]
enum Answers {
    Text,
    Data,
    Failure,
    Error,
}

async fn call(lab: &Lab, answers: Answers) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    let mut methods = Vec::new();
    let mut reply = |ask: &Value| {
        let request = &ask["request"];
        if request["subtype"] == "can_use_tool" {
            methods.push("can_use_tool".to_owned());
            return Reply::Success(json!({"behavior": "allow", "updatedInput": request["input"]}));
        }
        methods.push(request["message"]["method"].as_str().unwrap_or_default().to_owned());
        Reply::Success(json!({"mcp_response": answer(&request["message"], answers)}))
    };
    let id = {
        let fields = json!({"subtype": "initialize", "hooks": null, "sdkMcpServers": ["calc"]});
        cli.post(fields).await?
    };
    // The handshake may come before the answer to `initialize`, or after it.
    let answered = |frame: &Value| {
        frame["type"] == "control_response" && frame["response"]["request_id"] == id.as_str()
    };
    serve(&mut cli, "the answer to initialize", answered, &mut reply).await?;
    cli.say("Add them.").await?;
    let result = serve(&mut cli, "a result", is_result, &mut reply).await?;
    let expected =
        ["initialize", "notifications/initialized", "tools/list", "can_use_tool", "tools/call"];
    ensure(methods == expected, "the server is asked in order", &json!(methods))?;
    ensure(result["result"] == "Five.", "the turn goes on", &result)?;
    let ended = cli.close().await?;
    let results: Vec<_> = super::frames(&ended).flat_map(super::tool_results).collect();
    let expected = match answers {
        Answers::Text | Answers::Data => "5",
        Answers::Failure | Answers::Error => "out of fingers",
    };
    ensure(results.concat().contains(expected), "the result is read", &json!(results))?;
    Ok(vec![ended])
}

/// The server: one tool, `add`.
fn answer(message: &Value, answers: Answers) -> Value {
    if message["method"] == "tools/call" && matches!(answers, Answers::Error) {
        let error = json!({"code": -32000, "message": "out of fingers"});
        return json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
    }
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "calc", "version": "1.0.0"},
        }),
        "tools/list" => json!({"tools": [{
            "name": "add",
            "description": "Adds two numbers",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"],
            },
        }]}),
        "tools/call" => {
            let arguments = &message["params"]["arguments"];
            let sum = arguments["a"].as_i64().zip(arguments["b"].as_i64()).map(|(a, b)| a + b);
            let sum = sum.unwrap_or_default();
            match answers {
                Answers::Text => json!({"content": text(&sum.to_string())}),
                Answers::Data => {
                    let data = json!({"sum": sum, "carried": false});
                    json!({"content": text("It is there."), "structuredContent": data})
                }
                Answers::Failure | Answers::Error => {
                    json!({"content": text("out of fingers"), "isError": true})
                }
            }
        }
        _ => json!({}),
    };
    match &message["id"] {
        Value::Null => json!({"jsonrpc": "2.0", "result": {}}),
        id => json!({"jsonrpc": "2.0", "id": id, "result": result}),
    }
}
