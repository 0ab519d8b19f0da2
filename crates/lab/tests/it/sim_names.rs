//! What is compared of a frame: not what is different in every run.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::Regex;
use serde_json::{Value, json};

use super::sim_recorded::RECORDED_HOME;

/// Gives the same names to what has another one in every run.
#[derive(Default)]
pub(crate) struct Names {
    root: String,
    /// The names under each key, in the order in which they came.
    known: HashMap<String, HashMap<String, usize>>,
}

/// Fields that no two runs have in common, and those that are about time and money.
const VOLATILE: &[&str] = &[
    "uuid",
    "timestamp",
    "request_id",
    "usage",
    "modelUsage",
    "model_usage_since_last_result",
    "total_cost_usd",
    "duration_ms",
    "duration_api_ms",
    "ttft_ms",
    "ttft_stream_ms",
    "time_to_request_ms",
    "first_content_frame_ms",
    "request_sent_wall_ms",
    "retry_delay_ms",
    "pid",
    "messaging_socket_path",
    "end_time",
    "pre_tokens",
    "post_tokens",
    "signature",
    "thinking_duration_ms",
    "subagent_stats",
    "agent_id",
    "run_id",
    "runId",
    "task_id",
    "output_file",
    "agentId",
    "outputFile",
    "prompt_id",
    "transcript_path",
    "agent_transcript_path",
    "id_",
    "durationMs",
    "totalDurationMs",
    "totalTokens",
    "new_conversation_id",
    "logical_parent_uuid",
    "user_message_uuid_",
    "hook_id",
    "backgroundTaskId",
    "first_request_input_tokens",
    "first_request_cache_read_input_tokens",
    "slash_commands",
    "skills",
    "agents_",
    "capabilities",
    "terminal_slash_commands",
    "plugins",
    "cumulative_dropped_tokens",
    "context_usage",
    "usage_report",
    "partial_json",
    "refused_message_id",
    "refused_user_message_uuid",
    "api_message_id",
    "tools",
    "commands",
    "context_tokens",
    "message_id",
    "turn_id",
    "abandoned_blocks",
    "owed_rows",
    "thinking_display",
    "local_command_source",
    "per_turn_effort_active",
    "harnessSectionHash",
    "buildTime",
    "stats",
    "toolStats",
    "resolvedModel",
    "modelsUsed",
    "toolsUsed",
];

impl Names {
    /// For frames of a run with this home, or of a recording.
    pub(crate) fn of(root: &str) -> Self {
        Self { root: root.to_owned(), ..Self::default() }
    }

    /// What is compared of a frame.
    pub(crate) fn digest(&mut self, frame: &Value) -> Value {
        let mut digest = self.clean(frame, "");
        let init = frame["response"]["response"]["commands"].is_array();
        if init && let Some(response) = digest.get_mut("response").and_then(Value::as_object_mut) {
            let mode = frame["response"]["response"]["current_permission_mode"].clone();
            response.insert("response".to_owned(), json!({"mode": mode}));
        }
        if let Some(payload) =
            digest.pointer_mut("/response/response").and_then(Value::as_object_mut)
        {
            for large in [
                "categories",
                "gridRows",
                "models",
                "session",
                "effective",
                "eventCatalog",
                "text",
                "sections",
                "hooks",
                "messageBreakdown",
                "totalTokens",
                "maxTokens",
                "apiUsage",
                "mcpTools",
                "autoCompactThreshold",
                "applied",
                "percentage",
                "slashCommands",
            ] {
                payload.remove(large);
            }
        }
        digest
    }

    fn clean(&mut self, value: &Value, key: &str) -> Value {
        match value {
            Value::Object(map) => {
                let kept = map.iter().filter(|(key, _)| !VOLATILE.contains(&key.as_str()));
                Value::Object(
                    kept.map(|(key, value)| (key.clone(), self.clean(value, key))).collect(),
                )
            }
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.clean(item, key)).collect())
            }
            Value::String(text) => Value::String(self.name(text, key)),
            other => other.clone(),
        }
    }

    fn name(&mut self, text: &str, key: &str) -> String {
        if matches!(
            key,
            "session_id"
                | "tool_use_id"
                | "parent_tool_use_id"
                | "id"
                | "user_message_uuid"
                | "command_uuid"
                | "user_message_uuids"
        ) && (uuid::Uuid::parse_str(text).is_ok() || text.starts_with("msg_"))
        {
            let known = self.known.entry(key.to_owned()).or_default();
            let next = known.len();
            let number = *known.entry(text.to_owned()).or_insert(next);
            return format!("{key}-{number}");
        }
        let text = if self.root.is_empty() {
            text.to_owned()
        } else {
            text.replace(&self.root, RECORDED_HOME)
        };
        let mut text = text;
        for (pattern, name) in patterns() {
            text = pattern.replace_all(&text, *name).into_owned();
        }
        text
    }
}

/// What has another name in every run, and the name that it gets here.
fn patterns() -> &'static [(Regex, &'static str)] {
    static PATTERNS: OnceLock<Vec<(Regex, &'static str)>> = OnceLock::new();
    PATTERNS.get_or_init(|| {
        let patterns = [
            (r"/plans/[a-z0-9-]+\.md", "/plans/PLAN.md"),
            (r"/projects/[^/]*-home-dev-proj", "/projects/-home-dev-proj"),
            (r"127\.0\.0\.1:\d+", "127.0.0.1:1"),
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
            (r"req_[0-9a-z]+", "REQ"),
            (r"(with ID: |agentId: |to: ')[ab][0-9a-z]{8,16}", "${1}TASK"),
            (r"/[^ ]*/tasks/\w+\.output", "/tasks/TASK.output"),
            (r"duration_ms: \d+", "duration_ms: N"),
            (r"mcp-calc-blob-[0-9a-z-]+", "blob"),
            (r"only ~\d+ tokens", "only ~N tokens"),
            (r"(?s)(Total cost|## Context Usage).*", "$1"),
        ];
        patterns.into_iter().map(|(pattern, name)| (Regex::new(pattern).unwrap(), name)).collect()
    })
}
