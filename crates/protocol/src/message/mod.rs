//! Messages: what the model and the user said, and how a turn ended.

mod assistant;
mod origin;
mod result;
mod stream_event;
mod user;

pub use self::assistant::{AssistantErrorKind, AssistantMessage, ModelMessage, Role, ToolUseMeta};
pub use self::origin::{
    ChannelOrigin, HumanOrigin, MessageOrigin, ObserverOrigin, PeerMode, PeerOrigin,
    TaskNotificationOrigin, UnattributedOrigin,
};
pub use self::result::{
    DeferredToolUse, InvalidConfigFile, PermissionDenial, ResultMessage, ResultSubtype,
    StartupFailureReason, TerminalReason,
};
pub use self::stream_event::{
    ApiErrorEvent, BlockDelta, CitationsDelta, ContentBlockDelta, ContentBlockStart,
    ContentBlockStop, InputJsonDelta, MessageDelta, MessageDeltaBody, MessageStart, MessageStop,
    Ping, SignatureDelta, StreamEvent, StreamEventMessage, TextDelta, ThinkingDelta,
};
pub use self::user::{
    NonExecutionKind, PermissionDecision, PermissionDecisionKind, Priority, ToolResultMeta,
    UserContent, UserMessage, UserRole,
};
