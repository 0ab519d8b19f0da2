//! Control requests of the client.

mod files;
mod info;
mod initialize;
mod mcp;
mod mode;
mod session;

use std::rc::Rc;

use super::json::{Json, Object, obj};
use super::profile::Release;
use super::state::Sim;

/// The requests that there are, and since when.
const KNOWN: &[(&str, Release)] = &[
    ("apply_flag_settings", Release::V62),
    ("background_tasks", Release::V197),
    ("cancel_async_message", Release::V197),
    ("end_session", Release::V197),
    ("export_conversation", Release::V325),
    ("file_suggestions", Release::V197),
    ("generate_session_title", Release::V197),
    ("get_binary_version", Release::V197),
    ("get_context_usage", Release::V197),
    ("get_hooks_listing", Release::V325),
    ("get_memory_dialog", Release::V325),
    ("get_plan", Release::V325),
    ("get_session_cost", Release::V197),
    ("get_settings", Release::V197),
    ("get_skills_dialog", Release::V325),
    ("get_status", Release::V325),
    ("get_task_output", Release::V325),
    ("get_usage", Release::V197),
    ("get_workspace_diff", Release::V325),
    ("initialize", Release::V62),
    ("interrupt", Release::V62),
    ("list_models", Release::V325),
    ("list_permission_rules", Release::V325),
    ("mcp_message", Release::V62),
    ("mcp_reconnect", Release::V62),
    ("mcp_set_servers", Release::V62),
    ("mcp_status", Release::V62),
    ("mcp_toggle", Release::V62),
    ("message_rated", Release::V325),
    ("read_file", Release::V197),
    ("reload_output_styles", Release::V325),
    ("reload_plugins", Release::V197),
    ("reload_skills", Release::V197),
    ("rename_session", Release::V197),
    ("rewind_files", Release::V62),
    ("seed_read_state", Release::V197),
    ("set_has_subscribers", Release::V325),
    ("set_max_thinking_tokens", Release::V62),
    ("set_model", Release::V62),
    ("set_permission_mode", Release::V62),
    ("side_question", Release::V197),
    ("stop_task", Release::V62),
];

/// A request of the client, while it is being answered.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    id: Option<Json>,
    subtype: String,
}

impl Sim {
    /// Answers a control request, now or later.
    pub(crate) fn handle_request(self: &Rc<Self>, id: Option<Json>, request: &Object) {
        let subtype = request.get("subtype").and_then(Json::as_str);
        let asked = Asked { id, subtype: subtype.unwrap_or("undefined").to_owned() };
        let known = KNOWN
            .iter()
            .any(|(name, since)| *name == asked.subtype && *since <= self.profile.release);
        if !known {
            let text = format!("Unsupported control request subtype: {}", asked.subtype);
            self.refuse(&asked, &text, Some("unsupported_request"));
            return;
        }
        let body = Json::from(request);
        match asked.subtype.as_str() {
            "initialize" => self.initialize(&asked, request),
            "interrupt" => self.interrupt(&asked, body.is_true("cancel_queued")),
            "set_permission_mode" => self.set_permission_mode(&asked, request.get("mode")),
            "set_model" => self.set_model(&asked, request.get("model").and_then(Json::as_str)),
            "mcp_status" | "mcp_set_servers" | "mcp_message" | "mcp_reconnect" | "mcp_toggle" => {
                self.mcp_request(&asked, &body);
            }
            "rewind_files" | "read_file" | "file_suggestions" => self.file_request(&asked, &body),
            "apply_flag_settings" => self.apply_flag_settings(&asked, request.get("settings")),
            "cancel_async_message"
            | "end_session"
            | "rename_session"
            | "stop_task"
            | "side_question"
            | "generate_session_title"
            | "background_tasks"
            | "get_task_output" => {
                self.session_request(&asked, &body);
            }
            "seed_read_state" => {
                if let Some(path) = body.text("path") {
                    self.read_files.borrow_mut().insert(self.env.absolute(path));
                }
                self.acknowledge(&asked);
            }
            "set_max_thinking_tokens" | "set_has_subscribers" => self.acknowledge(&asked),
            "message_rated" => self.answer(&asked, Object::default()),
            _ => self.info_request(&asked),
        }
    }

    /// Answers with nothing but success.
    pub(super) fn acknowledge(&self, asked: &Asked) {
        self.respond(&asked.subtype, self.success(asked.id.as_ref()));
    }

    /// Answers with a payload.
    pub(super) fn answer(&self, asked: &Asked, payload: impl Into<Json>) {
        let mut response = self.success(asked.id.as_ref());
        response.set("response", payload);
        self.respond(&asked.subtype, response);
    }

    /// Answers with an error.
    pub(super) fn refuse(&self, asked: &Asked, error: &str, code: Option<&str>) {
        let response = obj! {
            "subtype": "error",
            "request_id"?: asked.id.as_ref(),
            "error": error,
            "error_code"?: code.filter(|_| self.profile.error_codes),
        };
        self.respond(&asked.subtype, response);
    }
}
