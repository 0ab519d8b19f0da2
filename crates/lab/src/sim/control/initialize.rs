//! `initialize`.

use std::rc::Rc;

use super::Asked;
use crate::sim::exec::yield_now;
use crate::sim::hooks::Hooks;
use crate::sim::json::{Json, Object, obj};
use crate::sim::profile::Handshake;
use crate::sim::requests::{About, Reply};
use crate::sim::state::Sim;

impl Sim {
    /// Answers `initialize`, the first one or another one.
    pub(super) fn initialize(self: &Rc<Self>, asked: &Asked, request: &Object) {
        let times = self.life.initialized.get();
        self.life.initialized.set(times + 1);
        if times > 0 && self.profile.initialize_once {
            let response = obj! {
                "subtype": "error",
                "error": "Already initialized",
                "request_id"?: asked.id.as_ref(),
                "pending_permission_requests": self.requests.pending_permissions(),
            };
            self.respond(&asked.subtype, response);
            return;
        }
        let given = request.get("hooks").filter(|hooks| !hooks.is_null());
        let applied = given.is_some() && (times == 0 || self.profile.rehooks);
        if let Some(hooks) = given.filter(|_| applied) {
            if times > 0 {
                // Nobody will answer what the old hooks were asked.
                self.requests.answer_all(Some(About::Hook), &Reply::Success(None));
            }
            self.hooks.replace(Hooks::read(hooks));
        }
        if times == 0 {
            self.first_initialize(request);
        }
        if self.profile.handshake == Handshake::Initialize && self.connect_servers() {
            // The answer comes when the servers have been asked, not when they have answered.
            let (sim, asked) = (Rc::clone(self), asked.clone());
            self.tasks.spawn(async move {
                yield_now().await;
                sim.answer_initialize(&asked, times, applied);
            });
        } else {
            self.answer_initialize(asked, times, applied);
        }
    }

    fn first_initialize(&self, request: &Object) {
        let servers = request.get("sdkMcpServers").and_then(Json::as_array).unwrap_or_default();
        self.servers.borrow_mut().add(servers.iter().filter_map(Json::as_str));
        if let Some(Json::Object(agents)) = request.get("agents") {
            self.settings.borrow_mut().agents = agents.clone();
        }
        if request.get("jsonSchema").is_some_and(|schema| !schema.is_null()) {
            self.settings.borrow_mut().structured_output = true;
        }
        if let Some(title) = request.get("title").and_then(Json::as_str) {
            self.session.borrow_mut().set_title(title);
            if self.profile.internals {
                self.emit_system("session_title_changed", obj! { "title": title });
            }
        }
    }

    fn answer_initialize(&self, asked: &Asked, times: u32, hooks_applied: bool) {
        let mut payload = Object::default();
        for (key, value) in self.catalog.initialize().iter() {
            match key {
                "current_permission_mode" => {
                    payload.set(key, self.permissions.borrow().told_mode());
                }
                "session_state" => payload.set(key, self.state()),
                "claude_code_version" => {
                    payload.set("pid", std::process::id());
                    payload.set(key, value);
                }
                "hook_on_failure_supported" if hooks_applied => {
                    payload.set("hooks_applied", true);
                    payload.set(key, value);
                }
                "agents" => payload.set(key, self.told_agents(value)),
                _ => payload.set(key, value),
            }
        }
        payload.set("pid", std::process::id());
        let mut response = self.success(asked.id.as_ref());
        response.set("response", payload);
        if times > 0 || self.profile.pending_lists_at_first {
            response.set("pending_permission_requests", self.requests.pending_permissions());
            response.set("pending_user_dialog_requests", Vec::<Json>::new());
        }
        self.respond(&asked.subtype, response);
        if times > 0 {
            self.emit_background_tasks();
        }
        self.life.greeted.raise();
    }

    fn told_agents(&self, built_in: &Json) -> Vec<Json> {
        let mut agents = built_in.as_array().unwrap_or_default().to_vec();
        for (name, agent) in self.settings.borrow().agents.iter() {
            let entry = obj! {
                "name": name,
                "description": agent.text("description"),
                "model"?: agent.text("model"),
            };
            agents.push(entry.into());
        }
        agents
    }
}
