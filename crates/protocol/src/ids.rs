//! Identifiers, each a type of its own.

use crate::names::id;

id! {
    /// Names a session, and with it a transcript on disk. Changes in a running process when the
    /// conversation is cleared.
    SessionId;
    /// Names a control request. Chosen by whoever sends it, unique among those in flight.
    RequestId;
    /// Names one tool call of the model.
    ToolUseId;
    /// Names a frame or a message: the `uuid` of nearly everything.
    MessageUuid;
    /// Names one response of the model. Frames of the same response share it.
    ApiMessageId;
    /// Names one request to the model API.
    ApiRequestId;
    /// Names a sub-agent.
    AgentId;
    /// Names a background task.
    TaskId;
    /// Names one run of a background task.
    RunId;
    /// Names a hook callback. Chosen by the client in `initialize`.
    HookCallbackId;
    /// Names an elicitation of an MCP server.
    ElicitationId;
}
