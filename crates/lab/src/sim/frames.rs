//! The frames of a turn, field by field as the version writes them.

use super::clock::{new_uuid, timestamp};
use super::input::UserMessage;
use super::json::{Json, Object, obj};
use super::state::Sim;
use super::turn::{Agent, Scope};

/// An `assistant` frame in the making.
#[derive(Debug)]
pub(crate) struct Assistant<'a> {
    /// The message of the model, with one block.
    pub(crate) message: Object,
    /// The id of the request to the model.
    pub(crate) request_id: Option<&'a str>,
    /// What else this frame has.
    pub(crate) extra: Object,
}

impl Sim {
    /// Writes `system/init`.
    pub(crate) fn emit_init(&self) {
        let uuids = self.current_turn().map(|turn| turn.uuids()).unwrap_or_default();
        let uuids = Some(uuids).filter(|uuids| self.profile.lifecycle && !uuids.is_empty());
        let internals = self.profile.internals;
        let cwd = self.env.cwd.to_string_lossy().into_owned();
        let list = |key: &str| self.catalog.init(key);
        let commands = |key: &str| {
            list(key).map(
                |all| if self.args.no_slash_commands { Vec::<Json>::new().into() } else { all },
            )
        };
        let modern = self.profile.modern;
        let project = self.env.project_folder(&self.env.cwd);
        let memory = format!("{}/memory/", project.display());
        let dirs: Vec<String> =
            self.permissions.borrow().extra_dirs().map(|dir| dir.display().to_string()).collect();
        let frame = obj! {
            "type": "system",
            "subtype": "init",
            "cwd": &cwd,
            "session_id": self.session_id(),
            "tools": self.init_tools(),
            "mcp_servers": self.servers.borrow().listing(internals),
            "model": self.model.borrow().as_str(),
            "permissionMode": self.permissions.borrow().told_mode(),
            "slash_commands"?: commands("slash_commands"),
            "terminal_slash_commands"?: commands("terminal_slash_commands"),
            "apiKeySource": "ANTHROPIC_API_KEY",
            "claude_code_version": self.profile.version,
            "output_style": "default",
            "agents": self.agent_names(),
            "skills"?: commands("skills"),
            "plugins"?: list("plugins"),
            "capabilities"?: list("capabilities"),
            "analytics_disabled"?: modern.then_some(true),
            "product_feedback_disabled"?: modern.then_some(true),
            "uuid": new_uuid(),
            "memory_paths"?: (modern && !self.is_bare()).then(|| obj! { "auto": memory }),
            "original_cwd"?: internals.then_some(&cwd),
            "additional_directories"?: internals.then_some(dirs),
            "messaging_socket_path"?: (internals && !self.args.bare).then(|| format!("/tmp/cc-socks/{}.sock", std::process::id())),
            "fast_mode_state": "off",
            "fast_mode_disabled_reason"?: internals.then_some("sdk_opt_in_required"),
            "per_turn_effort_active"?: internals.then(|| self.model.borrow().starts_with("claude-")),
            "ultrathink_available"?: internals.then_some(false),
            "ultrathink_typed_raises"?: internals.then_some(false),
            "view_mode"?: internals.then_some("default"),
            "user_message_uuids"?: uuids,
        };
        self.emit(&frame);
    }

    /// The agents that can be started: the built-in ones, and those of the client.
    pub(crate) fn agent_names(&self) -> Vec<String> {
        let built_in = self.catalog.init("agents").unwrap_or_default();
        let built_in = built_in.as_array().unwrap_or_default().iter();
        let mut names: Vec<_> = built_in.filter_map(Json::as_str).map(str::to_owned).collect();
        if self.args.safe_mode {
            names.retain(|name| name != "statusline-setup");
        }
        names.extend(self.settings.borrow().agents.iter().map(|(name, _)| name.to_owned()));
        names
    }

    /// Tells the permission mode.
    pub(crate) fn emit_mode(&self) {
        let mode = self.permissions.borrow().told_mode();
        self.emit_system("status", obj! { "status": Json::Null, "permissionMode": mode });
    }

    /// Writes an event of the stream.
    pub(crate) fn emit_stream(&self, event: Object, extra: Object) {
        let mut frame = obj! {
            "type": "stream_event",
            "event": event,
            "session_id": self.session_id(),
            "parent_tool_use_id": Json::Null,
            "uuid": new_uuid(),
        };
        frame.extend(extra);
        self.emit(&frame);
    }

    /// Shows the client the messages of this turn again: the model has begun to answer them.
    pub(crate) fn emit_replays(&self) {
        let messages = self.current_turn().map(|turn| turn.replays.take());
        for message in messages.into_iter().flatten() {
            self.emit_replay(&message.content, message.uuid.as_deref());
        }
    }

    /// Writes an `assistant` frame, and gives its id.
    pub(crate) fn emit_assistant(&self, scope: &Scope, assistant: Assistant<'_>) -> String {
        self.emit_replays();
        let uuid = new_uuid();
        let mut frame = obj! {
            "type": "assistant",
            "message": assistant.message,
            "parent_tool_use_id": scope.parent_tool_use_id(),
            "session_id": self.session_id(),
            "uuid": &uuid,
            "timestamp"?: self.profile.internals.then(timestamp),
            "request_id"?: assistant.request_id.filter(|_| self.profile.modern),
        };
        frame.extend(assistant.extra);
        self.add_agent(&mut frame, scope.agent());
        self.emit(&frame);
        uuid
    }

    /// Writes a `user` frame, and gives its id.
    pub(crate) fn emit_user(&self, scope: &Scope, content: Json, extra: Object) -> String {
        self.emit_replays();
        let uuid = new_uuid();
        let mut frame = obj! {
            "type": "user",
            "message": obj! { "role": "user", "content": content },
            "parent_tool_use_id": scope.parent_tool_use_id(),
            "session_id": self.session_id(),
            "uuid": &uuid,
            "timestamp"?: self.profile.modern.then(timestamp),
        };
        frame.extend(extra);
        self.emit(&frame);
        uuid
    }

    /// Says which agent a frame is of.
    pub(crate) fn add_agent(&self, frame: &mut Object, agent: Option<&Agent>) {
        if let Some(agent) = agent.filter(|_| self.profile.modern) {
            if self.profile.internals {
                frame.set("agent_id", &agent.id);
            }
            frame.set("subagent_type", &agent.kind);
            frame.set("task_description", &agent.description);
        }
    }

    /// Shows the client a message of its own again.
    pub(crate) fn emit_replay(&self, content: &Json, uuid: Option<&str>) {
        let frame = obj! {
            "type": "user",
            "message": obj! { "role": "user", "content": content },
            "session_id": self.session_id(),
            "parent_tool_use_id": Json::Null,
            "uuid": uuid.map_or_else(new_uuid, str::to_owned),
            "timestamp"?: self.profile.modern.then(timestamp),
            "isReplay": true,
        };
        self.emit(&frame);
    }

    /// Shows the client that a message was known already.
    pub(crate) fn emit_replay_of_known(&self, message: &UserMessage) {
        let frame = obj! {
            "type": "user",
            "message": obj! { "role": "user", "content": &message.content },
            "session_id": self.session_id(),
            "parent_tool_use_id": Json::Null,
            "uuid": message.uuid.as_deref(),
            "isReplay": true,
        };
        self.emit(&frame);
    }

    /// Tells how far a message with an id has come.
    pub(crate) fn emit_lifecycle(&self, uuid: &str, state: &str) {
        if self.profile.lifecycle {
            let frame = obj! { "type": "command_lifecycle", "command_uuid": uuid, "state": state };
            let frame = self.signed(frame);
            self.emit(&frame);
        }
    }
}
