//! The permission mode, the model, settings, and the end of a turn.

use std::rc::Rc;

use super::Asked;
use crate::sim::json::{Json, Object, obj};
use crate::sim::permission::{Entry, MODES};
use crate::sim::profile::MissingSettings;
use crate::sim::state::Sim;
use crate::sim::turn::Scope;

const NOT_LAUNCHED: &str = "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions";

impl Sim {
    /// `interrupt`.
    pub(super) fn interrupt(&self, asked: &Asked, cancel_queued: bool) {
        let mut payload = Object::default();
        let turn = self.current_turn();
        for id in self.requests.permissions_of_turn() {
            self.withdraw(&id);
        }
        if self.profile.interrupt_receipt {
            let mut cancelled = Vec::new();
            if cancel_queued {
                for message in self.queue.borrow_mut().drain_prompts() {
                    cancelled.extend(message.uuid);
                }
                for uuid in &cancelled {
                    self.emit_lifecycle(uuid, "cancelled");
                }
            }
            payload.set("still_queued", self.queue.borrow().uuids());
            if cancel_queued {
                payload.set("cancelled", cancelled);
            }
            self.answer(asked, payload);
        } else {
            self.acknowledge(asked);
        }
        if let Some(turn) = turn {
            turn.abort.raise();
        }
    }

    /// `set_permission_mode`.
    pub(super) fn set_permission_mode(&self, asked: &Asked, mode: Option<&Json>) {
        let text = mode.and_then(Json::as_str);
        let text = if text == Some("manual") && self.profile.checks_modes {
            Some("default")
        } else {
            text
        };
        if self.profile.checks_modes && !text.is_some_and(|mode| MODES.contains(&mode)) {
            let error = format!("Cannot set permission mode: must be one of {}", MODES.join(", "));
            self.refuse(asked, &error, Some("invalid_mode"));
            return;
        }
        let bypass = text == Some("bypassPermissions");
        if bypass && self.profile.guards_bypass && !self.permissions.borrow().bypass_available {
            self.refuse(asked, NOT_LAUNCHED, Some("bypass_not_launched"));
            return;
        }
        let known = text.is_some_and(|mode| MODES.contains(&mode));
        let changed = self.permissions.borrow_mut().set_mode(text, Entry::Request);
        self.answer(asked, obj! { "mode": text });
        // What is no mode is taken, and not told.
        if changed && known && self.profile.tells_requested_mode {
            self.emit_mode();
        }
    }

    /// `set_model`.
    pub(super) fn set_model(self: &Rc<Self>, asked: &Asked, name: Option<&str>) {
        let name = name.unwrap_or("default").to_owned();
        let (sim, asked) = (Rc::clone(self), asked.clone());
        self.tasks.spawn(async move {
            let model = sim.catalog.resolve_model(&name);
            sim.switch_model(&name, &model).await;
            if sim.profile.internals {
                sim.answer(&asked, obj! { "model": model });
            } else {
                sim.acknowledge(&asked);
            }
        });
    }

    async fn switch_model(self: &Rc<Self>, name: &str, model: &str) {
        let from = self.model.borrow().clone();
        if from == model {
            return;
        }
        let fields = obj! {
            "from_model": &from,
            "to_model": model,
            "requested_model": name,
            "source": "sdk",
            "context_tokens": self.thread.borrow().size() / 4,
            "prompt_cache_warm": true,
            "cache_ttl": "5m",
            "estimated_cache_write_usd": 0,
            "pricing": "catalog",
        };
        let turn = self.current_turn().unwrap_or_else(crate::sim::turn::Turn::idle);
        let scope = Scope::main(turn);
        self.tell_hooks(&scope, "PreModelSwitch", None, fields.clone()).await;
        self.model.replace(model.to_owned());
        let told = self.profile.tells_model_at_once || !self.thread.borrow().is_empty();
        if self.profile.modern && told {
            self.emit_model(name, model);
        }
        let sim = Rc::clone(self);
        self.tasks.spawn(async move {
            sim.tell_hooks(&scope, "PostModelSwitch", None, fields).await;
        });
    }

    fn emit_model(&self, name: &str, model: &str) {
        let shown = if name == model || name == "default" {
            model.to_owned()
        } else {
            format!("{name} ({model})")
        };
        let quoted = if self.profile.internals { format!("`{shown}`") } else { shown };
        let text = format!("<local-command-stdout>Set model to {quoted}</local-command-stdout>");
        self.emit_replay(&text.into(), None);
    }

    /// `apply_flag_settings`.
    pub(super) fn apply_flag_settings(&self, asked: &Asked, settings: Option<&Json>) {
        let Some(Json::Object(changes)) = settings else {
            match self.profile.missing_settings {
                MissingSettings::Ignored => return self.acknowledge(asked),
                MissingSettings::Wedges => return self.life.frozen.set(true),
                MissingSettings::Refused => {}
            }
            let got = match settings {
                None => "undefined".to_owned(),
                Some(other) => other.to_string(),
            };
            let error =
                format!("apply_flag_settings requires `settings` to be an object, got {got}");
            self.refuse(asked, &error, None);
            return;
        };
        self.settings.borrow_mut().change_flag(changes);
        let rules = self.settings.borrow().flag_rules();
        self.permissions.borrow_mut().replace_source("flagSettings", rules);
        if let Some(name) = changes.get("model").and_then(Json::as_str)
            && self.profile.flag_sets_model
        {
            let model = self.catalog.resolve_model(name);
            if *self.model.borrow() != model {
                self.model.replace(model.clone());
                self.emit_model(&model, &model);
            }
        }
        self.acknowledge(asked);
    }
}
