//! Which fields hold ids, which hold times, and what an id looks like.
//!
//! What is here was read off recordings of the CLI from 2.0.76 to 2.1.325, where every id is a
//! string, and off the list of fields of its protocol.

/// What an id is the id of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Sort {
    /// A message of the transcript, or anything else that has a uuid.
    Uuid,
    /// A session.
    Session,
    /// A control request, or a request to the model.
    Request,
    /// A tool call.
    Tool,
    /// A message of the model.
    Message,
    /// An agent or a task that runs in the background.
    Agent,
    /// A hook, or the callback for one.
    Hook,
    /// A plan, which the CLI names with some words.
    Plan,
    /// Something that was redacted.
    Redacted,
}

impl Sort {
    /// The name in the canonical form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uuid => "uuid",
            Self::Session => "session",
            Self::Request => "request",
            Self::Tool => "tool",
            Self::Message => "message",
            Self::Agent => "agent",
            Self::Hook => "hook",
            Self::Plan => "plan",
            Self::Redacted => "redacted",
        }
    }
}

/// What a field holds an id of, by its key.
pub(crate) fn id_key(key: &str) -> Option<Sort> {
    Some(match key {
        "session_id"
        | "sessionId"
        | "new_conversation_id"
        | "transcript_session_ids"
        | "fromSession" => Sort::Session,
        "request_id" | "requestId" | "requestID" | "request-id" | "requestRef" => Sort::Request,
        "tool_use_id"
        | "toolUseID"
        | "toolUseId"
        | "parent_tool_use_id"
        | "parentToolUseID"
        | "source_tool_use_id"
        | "sourceToolUseID"
        | "preceding_tool_use_ids"
        | "claudecode/toolUseId" => Sort::Tool,
        "message_id" | "messageId" | "api_message_id" | "refused_message_id"
        | "user_message_id" | "snapshotMessageId" => Sort::Message,
        "agent_id" | "agentId" | "parentAgentId" | "parent_agent_id" | "task_id" | "taskId"
        | "backgroundTaskId" | "parent_task_id" | "senderTaskId" | "shell_id" | "run_id"
        | "runId" => Sort::Agent,
        "callback_id" | "hookCallbackIds" | "hook_id" => Sort::Hook,
        "slug" => Sort::Plan,
        "uuid" | "uuids" | "prompt_id" | "promptId" | "turn_id" | "delivery_id" | "deliveryId"
        | "elicitation_id" | "feedback_id" | "supersedes" | "still_queued"
        | "turnAttributionKey" => Sort::Uuid,
        _ if ["_uuid", "_uuids", "Uuid", "Uuids", "UUID"].iter().any(|end| key.ends_with(end)) => {
            Sort::Uuid
        }
        _ => return None,
    })
}

/// What may be anything as long as it is of the same type, by the key: a time, or how long
/// something took. How long something *may* take is what somebody said, and is not among them.
pub(crate) fn free_key(key: &str) -> Option<&'static str> {
    // The path has the number of the process in it.
    if matches!(key, "pid" | "verifiedPeerPid" | "messaging_socket_path") {
        return Some("process");
    }
    let lower = key.to_ascii_lowercase();
    if ["timeout", "timedout", "within"].iter().any(|limit| lower.contains(limit)) {
        return None;
    }
    let time = lower.contains("duration")
        || lower.starts_with("ttft")
        || ["_ms", "Ms", "_at", "At", "_time", "Time"].iter().any(|end| key.ends_with(end))
        || matches!(
            key,
            "timestamp"
                | "mtime"
                | "scheduledFor"
                | "scheduled_for"
                | "lastModified"
                | "elapsed_time_seconds"
                | "seconds_since_last_response"
                | "first_stream_post_queued_behind"
                | "first_text_post_queued_behind"
        );
    time.then_some("time")
}

/// Objects that belong to a tool and its caller: what stands there was said by somebody. Keys
/// tell nothing in them, and a time is not the time at which the frame was written.
pub(crate) fn is_payload_key(key: &str) -> bool {
    matches!(
        key,
        "input"
            | "tool_input"
            | "toolInput"
            | "updatedInput"
            | "arguments"
            | "partial_json"
            | "structured_output"
            | "structuredContent"
            | "inputSchema"
            | "jsonSchema"
            | "requested_schema"
    )
}

/// What a text that is an id by its looks is the id of.
pub(crate) fn id_form(text: &str) -> Option<Sort> {
    if is_uuid(text) {
        return Some(Sort::Uuid);
    }
    let bytes = text.as_bytes();
    if let [b'a', hex @ ..] = bytes
        && hex.len() == 16
        && hex.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    {
        return Some(Sort::Agent);
    }
    let (prefix, rest) = text.split_once('_')?;
    let sort = match prefix {
        "toolu" | "srvtoolu" | "mcptoolu" => Sort::Tool,
        "msg" => Sort::Message,
        "req" => Sort::Request,
        _ => return None,
    };
    let random = rest.len() >= 10
        && rest.bytes().all(|b| b.is_ascii_alphanumeric())
        && rest.bytes().any(|b| b.is_ascii_digit());
    random.then_some(sort)
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Whether a word that is not an id by its looks is so unlike others that it can be told inside
/// a text once a field has named it: the id of a background task, for one.
pub(crate) fn is_telling(word: &str) -> bool {
    word.len() >= 8
        && word.bytes().all(is_word_byte)
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

pub(crate) const fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_ids_times_and_neither() {
        for (key, sort) in [
            ("request_id", Some(Sort::Request)),
            ("sourceToolAssistantUUID", Some(Sort::Uuid)),
            ("user_message_uuids", Some(Sort::Uuid)),
            ("parentUuid", Some(Sort::Uuid)),
            ("backgroundTaskId", Some(Sort::Agent)),
            ("hookCallbackIds", Some(Sort::Hook)),
            ("id", None),
            ("name", None),
        ] {
            assert_eq!(id_key(key), sort, "{key}");
        }
        for key in [
            "duration_ms",
            "durationMs",
            "ttft_ms",
            "totalAPIDurationWithoutRetries",
            "retryInMs",
            "request_sent_wall_ms",
            "end_time",
            "startTime",
            "resets_at",
            "timestamp",
            "durationSeconds",
        ] {
            assert_eq!(free_key(key), Some("time"), "{key}");
        }
        assert_eq!(free_key("pid"), Some("process"));
        assert_eq!(free_key("messaging_socket_path"), Some("process"));
        for key in ["timeout_ms", "timeoutMs", "timedOutAfterMs", "cat", "format", "num_turns"] {
            assert_eq!(free_key(key), None, "{key}");
        }
    }

    #[test]
    fn looks_tell_ids() {
        for (text, sort) in [
            ("55555555-5555-4555-8555-55555555555a", Some(Sort::Uuid)),
            ("55555555-5555-4555-8555-55555555555g", None),
            ("toolu_01AbCdEfGhIj", Some(Sort::Tool)),
            ("toolu_wrong", None),
            ("msg_2607091d08b643a18730", Some(Sort::Message)),
            ("msg_lifecycle_v1", None),
            ("req_011CabcdEFGH", Some(Sort::Request)),
            ("request_too_large", None),
            ("a0ab66072a84b93f9", Some(Sort::Agent)),
            ("b0ab66072a84b93f9", None),
        ] {
            assert_eq!(id_form(text), sort, "{text}");
        }
    }
}
