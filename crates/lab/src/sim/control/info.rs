//! Requests that only want to know something.

use super::Asked;
use crate::sim::clock::ms_since;
use crate::sim::json::{Json, Object, obj};
use crate::sim::profile::Release;
use crate::sim::state::Sim;

impl Sim {
    pub(super) fn info_request(&self, asked: &Asked) {
        let payload: Json = match asked.subtype.as_str() {
            "get_context_usage" => self.context_usage().into(),
            "get_settings" => self.told_settings().into(),
            "get_usage" => self.told_usage().into(),
            "get_session_cost" => obj! { "text": self.cost_text() }.into(),
            "get_binary_version" => {
                let built = match self.profile.release {
                    Release::V325 => "2026-11-13T18:52:23Z",
                    Release::V197 | Release::V62 => "2026-06-29T19:08:42Z",
                };
                obj! { "version": self.profile.version, "buildTime": built }.into()
            }
            "list_models" => obj! { "models"?: self.catalog.initialize().get("models") }.into(),
            "list_permission_rules" => self.told_rules().into(),
            "get_hooks_listing" => self.told_hooks().into(),
            "reload_plugins" => self.reloaded().into(),
            "reload_skills" => obj! { "skills": self.skills() }.into(),
            "reload_output_styles" => {
                obj! { "available_output_styles"?: self.catalog.initialize().get("available_output_styles") }.into()
            }
            "get_plan" => self.told_plan().into(),
            "get_status" => self.told_status().into(),
            "export_conversation" => obj! { "text": "", "default_filename": "conversation.txt" }.into(),
            "get_workspace_diff" => obj! { "diff": Json::Null, "noDiffReason": "no-repository" }.into(),
            "get_memory_dialog" => obj! { "files": Vec::<Json>::new(), "folders": Vec::<Json>::new() }.into(),
            "get_skills_dialog" => obj! { "skills": Vec::<Json>::new() }.into(),
            _ => Object::default().into(),
        };
        if asked.subtype == "reload_plugins" && self.profile.reload_tells_commands {
            let commands = self.catalog.initialize().get("commands").cloned();
            self.emit_system("commands_changed", obj! { "commands"?: commands });
        }
        self.answer(asked, payload);
    }

    fn context_usage(&self) -> Object {
        let mut usage = self.catalog.section("context_usage").unwrap_or_default();
        let messages = self.thread.borrow().size() / 4;
        usage.set("model", self.model.borrow().as_str());
        let categories = usage.get("categories").and_then(Json::as_array).unwrap_or_default();
        let categories: Vec<Json> = categories
            .iter()
            .map(|category| {
                let mut category = category.as_object().cloned().unwrap_or_default();
                if category.get("name") == Some(&"Messages".into()) {
                    category.set("tokens", messages);
                }
                category.into()
            })
            .collect();
        usage.set("categories", categories);
        usage.set("gridRows", grid());
        usage
    }

    fn told_settings(&self) -> Object {
        let settings = self.settings.borrow();
        let mut applied = self.catalog.section("applied_settings").unwrap_or_default();
        applied.set("model", self.model.borrow().as_str());
        obj! { "effective": settings.effective(), "sources": settings.sources(), "applied": applied }
    }

    fn told_usage(&self) -> Object {
        let meter = self.meter.borrow();
        let session = obj! {
            "total_cost_usd": meter.cost(self.profile),
            "total_api_duration_ms": meter.api_ms,
            "total_duration_ms": ms_since(self.started),
            "total_lines_added": meter.lines_added,
            "total_lines_removed": meter.lines_removed,
            "model_usage": meter.model_usage(self.profile),
        };
        obj! {
            "session": session,
            "subscription_type": Json::Null,
            "rate_limits_available": false,
            "rate_limits": Json::Null,
            "behaviors": Json::Null,
        }
    }

    fn told_rules(&self) -> Object {
        let permissions = self.permissions.borrow();
        let rules: Vec<Object> = permissions
            .rules()
            .iter()
            .map(|rule| {
                let editability = match rule.source.as_str() {
                    "session" | "cliArg" => "session",
                    "userSettings" | "projectSettings" | "localSettings" => "persistent",
                    _ => "readonly",
                };
                obj! {
                    "behavior": rule.behavior.name(),
                    "source": &rule.source,
                    "rule": rule.text(),
                    "description"?: rule.description(),
                    "editability": editability,
                }
            })
            .collect();
        let dirs: Vec<Object> = permissions
            .dirs()
            .iter()
            .map(|(path, source)| obj! { "path": path.display().to_string(), "source": source })
            .collect();
        let state = obj! {
            "rules": rules,
            "workspaceDirectories": dirs,
            "originalCwd": self.env.cwd.display().to_string(),
            "managedOnly": false,
        };
        obj! { "state": state }
    }

    fn told_hooks(&self) -> Object {
        // Hooks of the client are not settings, so they are not in the list.
        self.catalog.section("hooks_listing").unwrap_or_default()
    }

    fn reloaded(&self) -> Object {
        let initialize = self.catalog.initialize();
        let mut payload =
            obj! { "commands"?: initialize.get("commands"), "agents"?: initialize.get("agents") };
        for (key, value) in self.catalog.section("reload_plugins_rest").unwrap_or_default().iter() {
            payload.set(key, value);
        }
        payload
    }

    fn skills(&self) -> Vec<Json> {
        let names = self.catalog.init("skills").unwrap_or_default();
        let names = names.as_array().unwrap_or_default();
        let initialize = self.catalog.initialize();
        let commands = initialize.get("commands").and_then(Json::as_array).unwrap_or_default();
        let skills = commands
            .iter()
            .filter(|command| command.get("name").is_some_and(|name| names.contains(name)));
        skills.cloned().collect()
    }

    fn told_plan(&self) -> Object {
        let path = self.plan.borrow_mut().path(self);
        match std::fs::read_to_string(&path) {
            Ok(content) => {
                obj! { "exists": true, "content": content, "path": path.display().to_string() }
            }
            Err(_) => obj! { "exists": false },
        }
    }

    fn told_status(&self) -> Object {
        let row = |label: &str, value: &str| obj! { "label": label, "value": value };
        let session = self.session_id();
        let rows = vec![
            row("Version", self.profile.version),
            row("Session name", self.session.borrow().title().unwrap_or_default()),
            row("Session ID", &session),
            row("cwd", &self.env.cwd.display().to_string()),
            row("Model", &self.model.borrow()),
        ];
        obj! { "sections": vec![obj! { "title": "Session", "rows": rows }] }
    }
}

/// The squares of the drawing that the terminal shows: all free.
fn grid() -> Vec<Json> {
    let square = obj! {
        "color": "promptBorder",
        "isFilled": true,
        "categoryName": "Free space",
        "tokens": 10_000,
        "percentage": 1,
        "squareFullness": 1,
    };
    let row = Json::from(vec![square; 20]);
    vec![row; 10]
}
