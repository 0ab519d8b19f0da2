//! Whatever comes gets one answer.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Wire, idle};
use crate::mcp::ToolServer;

/// Any JSON, often with the keys and values of JSON-RPC.
fn message() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("jsonrpc".to_owned()),
        Just("id".to_owned()),
        Just("method".to_owned()),
        Just("params".to_owned()),
        Just("result".to_owned()),
        Just("error".to_owned()),
        Just("name".to_owned()),
        Just("arguments".to_owned()),
        Just("_meta".to_owned()),
        Just("requestId".to_owned()),
        Just("progressToken".to_owned()),
        Just("protocolVersion".to_owned()),
        ".*",
    ];
    let leaf = prop_oneof![
        Just(json!("2.0")),
        Just(json!("t")),
        Just(json!("initialize")),
        Just(json!("tools/call")),
        Just(json!("tools/list")),
        Just(json!("resources/read")),
        Just(json!("notifications/cancelled")),
        Just(json!("notifications/progress")),
        Just(json!({})),
        Just(Value::Null),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        ".*".prop_map(|text| json!(text)),
    ];
    let json = leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    });
    // Without these most are refused at the door.
    (json, any::<bool>()).prop_map(|(mut json, spoken)| {
        if let (Value::Object(fields), true) = (&mut json, spoken) {
            fields.insert("jsonrpc".to_owned(), json!("2.0"));
        }
        json
    })
}

fn check(answer: &Value, message: &Value) {
    let fields = answer.as_object().unwrap();
    assert_eq!(fields.len(), 3, "{answer}");
    assert_eq!(fields["jsonrpc"], "2.0");
    assert!(fields.contains_key("result") != fields.contains_key("error"), "{answer}");
    let id = message.get("id").filter(|id| id.is_number() || id.is_string());
    // Acknowledgements have the id 0, refusals may have none.
    let fits = Some(&fields["id"]) == id || fields["id"] == 0 || fields["id"].is_null();
    assert!(fits, "{answer}");
    if let Some(error) = fields.get("error") {
        assert!(error["code"].is_i64() && error["message"].is_string(), "{answer}");
    }
}

proptest! {
    #[test]
    fn any_json_gets_one_answer(messages in prop::collection::vec(message(), 1..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let servers = [
                Wire::to(ToolServer::new("s").tool(idle("t"))),
                #[cfg(feature = "rmcp")]
                super::any_server::library(),
            ];
            for message in messages {
                for wire in &servers {
                    check(&wire.post(&message.to_string()).await, &message);
                }
            }
        });
    }
}
