//! How a session is set up.

use countersign_protocol::permission::PermissionMode;
use serde::{Deserialize, Serialize};

/// What the CLI of a session is told, beside the folder, the mode and the model. It does not change
/// while the session lives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SessionOptions {
    /// Text that is added to the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// Rules by which tools run without asking, such as `Bash(npm test:*)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Rules by which tools are refused without asking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disallowed_tools: Vec<String>,
    /// Further folders that tools may use. They have to be within the configured roots, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub add_dirs: Vec<String>,
    /// The model to fall back to when the first is overloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_model: Option<String>,
    /// How much effort the model makes: `low`, `medium`, `high` and what the CLI knows besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Which settings files are read: `user`, `project`, `local`. All of them by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<crate::api::shape::SettingSource>>))]
    pub setting_sources: Option<Vec<String>>,
    /// MCP servers, as in the `mcpServers` of a configuration file. They are programs that run without
    /// anybody being asked, so a session with them needs the scope `admin`. What is in `env` and
    /// `headers` is never shown again: `(hidden)` stands in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub mcp_servers: Option<serde_json::Map<String, serde_json::Value>>,
    /// What the session may take.
    #[serde(skip_serializing_if = "SessionLimits::is_empty")]
    pub limits: SessionLimits,
}

/// What stands where something is not shown.
const HIDDEN: &str = "(hidden)";

impl SessionOptions {
    /// The options as they may be shown: without the secrets of MCP servers.
    #[must_use]
    pub fn shown(&self) -> Self {
        let mut shown = self.clone();
        let servers = shown.mcp_servers.iter_mut().flat_map(serde_json::Map::values_mut);
        for server in servers {
            for name in ["env", "headers"] {
                match server.get_mut(name) {
                    Some(serde_json::Value::Object(values)) => {
                        values.values_mut().for_each(|value| *value = HIDDEN.into());
                    }
                    Some(other) => *other = HIDDEN.into(),
                    None => {}
                }
            }
        }
        shown
    }
}

/// What a session may take. Whatever is absent has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SessionLimits {
    /// What it may cost in all, in US dollars. When it is reached, the turn is interrupted and
    /// messages are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// How often the model may be called in one turn. One that needs it more often fails, and says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_a_message: Option<u32>,
    /// How long a turn may take, in seconds. Time in which a person is asked does not count. A turn
    /// that takes longer is interrupted, and says why; if it does not end then, its process is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_seconds: Option<u64>,
    /// How long the CLI may say nothing in a turn, in seconds; as `turn_seconds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u64>,
}

impl SessionLimits {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Where a session comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Parent {
    /// Its plan was approved there, to be carried out with a cleared context.
    Plan {
        /// The session that made the plan.
        session: crate::id::SessionId,
        /// The approval of the plan.
        approval: crate::id::ApprovalId,
    },
    /// It is a copy of that session.
    Fork {
        /// The session that it is a copy of.
        session: crate::id::SessionId,
        /// The conversation that it is a copy of.
        conversation: crate::id::ConversationId,
        /// The last message that it has of it, as the CLI names it; all of them if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    },
}

impl Parent {
    /// The session that it comes from.
    #[must_use]
    pub const fn session(&self) -> crate::id::SessionId {
        match self {
            Self::Plan { session, .. } | Self::Fork { session, .. } => *session,
        }
    }
}

/// Whether the CLI can be in this mode here. A name that is not known is refused: what it would
/// allow is not known either.
#[must_use]
pub fn is_known_mode(mode: &PermissionMode) -> bool {
    mode.is_known()
}
