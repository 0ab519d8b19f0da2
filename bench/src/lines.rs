//! Lines like those that the CLI writes, of chosen sizes.
//!
//! Fields, their order and their spelling are those of CLI 2.1.325.

use serde_json::{Value, json};

/// A kind of line to measure with.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sample {
    /// What it is, and how long.
    pub name: &'static str,
    /// The line, without its line feed.
    pub line: String,
}

/// The samples: one for each size, and a `result`, whose `type` stands late.
#[must_use]
pub fn samples() -> Vec<Sample> {
    vec![
        Sample { name: "text delta, 250 B", line: delta() },
        Sample { name: "assistant, 2 KB", line: assistant(1_100) },
        Sample { name: "result, 2 KB, type last", line: result() },
        Sample { name: "tool result, 200 KB", line: tool_result(100_000) },
        Sample { name: "tool result, 1 MB", line: tool_result(500_000) },
    ]
}

const SESSION: &str = "0b1c472f-25bf-48ec-82d5-530d7e50acad";
const UUID: &str = "9ef9268f-d818-46fc-943c-18a406d8e50a";

fn delta() -> String {
    format!(
        r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":" and then the"}}}},"session_id":"{SESSION}","parent_tool_use_id":null,"uuid":"{UUID}"}}"#
    )
}

fn assistant(length: usize) -> String {
    let text = Value::from(prose(length));
    format!(
        r#"{{"type":"assistant","message":{{"model":"claude-opus-5-5","id":"msg_0123456789abcdef","type":"message","role":"assistant","content":[{{"type":"text","text":{text}}}],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{{"input_tokens":10,"cache_creation_input_tokens":3000,"cache_read_input_tokens":12000,"cache_creation":{{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":3000}},"output_tokens":20,"service_tier":"standard","inference_geo":"not_available"}},"context_management":null}},"parent_tool_use_id":null,"session_id":"{SESSION}","uuid":"{UUID}","request_id":"req_0123456789abcdef","timestamp":"2026-11-15T19:26:55.240Z"}}"#
    )
}

fn tool_result(length: usize) -> String {
    let text = Value::from(prose(length));
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_0123456789abcdef","type":"tool_result","content":{text},"is_error":false}}]}},"parent_tool_use_id":null,"session_id":"{SESSION}","uuid":"{UUID}","timestamp":"2026-11-15T19:27:37.001Z","tool_use_result":{{"stdout":{text},"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}}}"#
    )
}

fn result() -> String {
    let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 12000, "output_tokens": 20, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": "standard", "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0}, "inference_geo": "", "iterations": [], "speed": "standard"});
    let model = json!({"inputTokens": 10, "outputTokens": 20, "thinkingTokens": 0, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "webSearchRequests": 0, "costUSD": 0.00044, "contextWindow": 1_000_000, "maxOutputTokens": 128_000, "canonicalModel": "claude-opus-5-5", "provider": "firstParty", "costBasis": "list"});
    let text = Value::from(prose(400));
    format!(
        r#"{{"subtype":"success","is_error":false,"api_error_status":null,"duration_ms":146,"duration_api_ms":67,"num_turns":1,"result":{text},"stop_reason":"end_turn","session_id":"{SESSION}","total_cost_usd":0.00044,"usage":{usage},"modelUsage":{{"claude-opus-5-5":{model}}},"permission_denials":[],"terminal_reason":"completed","fast_mode_state":"off","ttft_ms":93,"ttft_stream_ms":92,"time_to_request_ms":78,"queued_turn_count":0,"result_index":0,"model_usage_since_last_result":{{"claude-opus-5-5":{model}}},"type":"result","uuid":"{UUID}"}}"#
    )
}

/// Text with what makes JSON strings slow: line breaks, quotes, and characters beyond ASCII.
fn prose(length: usize) -> String {
    const LINE: &str = "    let answer = ask(\"what is it?\"); // 42 – perhaps\n\tfn next(&mut self) -> Option<Item> {\n";
    LINE.chars().cycle().take(length).collect()
}
