//! Slash commands: what the CLI answers by itself.

use std::rc::Rc;

use super::clock::{ms_since, new_uuid, timestamp};
use super::input::UserMessage;
use super::json::{Json, Object, obj};
use super::profile::{Release, UnknownCommand};
use super::state::Sim;
use super::turn::{End, Scope, spoken_name};

/// Commands that are prompts in disguise: the model reads them.
const FOR_THE_MODEL: &[&str] =
    &["init", "review", "security-review", "pr-comments", "insights", "debug", "simplify"];

impl Sim {
    /// Whether a message is for the CLI itself.
    pub(crate) fn is_command(&self, message: &UserMessage) -> bool {
        let Some(name) = command_name(message) else { return false };
        if FOR_THE_MODEL.contains(&name) {
            return false;
        }
        let known =
            matches!(name, "cost" | "context" | "compact" | "usage" | "clear" | "help" | "model")
                || self.catalog.slash_commands().iter().any(|command| command == name);
        known || self.profile.unknown_command != UnknownCommand::Prompt
    }

    /// Runs a command. None when it is for the model after all.
    pub(crate) async fn run_command(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        message: &UserMessage,
    ) -> Option<End> {
        let name = command_name(message)?.to_owned();
        let old = self.profile.release == Release::V62;
        match name.as_str() {
            "compact" => Some(self.compact(scope).await),
            "clear" if self.profile.clears => Some(self.clear(scope, message).await),
            "cost" => Some(self.say(scope, "cost", "usage", &self.cost_text())),
            "usage" if !old => Some(self.say(scope, "usage", "usage", &self.cost_text())),
            "context" => Some(self.say(scope, "context", "context", &self.context_text())),
            "model" if self.profile.internals => {
                let model = spoken_name(&self.model.borrow());
                let text = format!(
                    "Current model: `{model} (default)`\nUsage: /model <name>. Available: sonnet, opus, haiku, fable, best, sonnet[1m], opus[1m], fable[1m], opusplan, default, or a full model ID."
                );
                Some(self.say(scope, "model", "model", &text))
            }
            _ => self.refuse_command(scope, &name),
        }
    }

    fn refuse_command(&self, scope: &Rc<Scope>, name: &str) -> Option<End> {
        let known = self.catalog.slash_commands().iter().any(|command| command == name)
            || matches!(name, "help" | "model");
        let text = match self.profile.unknown_command {
            UnknownCommand::Prompt if !known => return None,
            UnknownCommand::Skill => {
                self.emit_init();
                self.session.borrow_mut().lengthen(2);
                return Some(End::Local(format!("Unknown skill: {name}")));
            }
            UnknownCommand::Refused if !known => format!("Unknown command: /{name}"),
            _ => format!("/{name} isn't available in this environment."),
        };
        self.emit_init();
        self.say_text(scope, &text, obj! { "local_command_outcome"?: self.profile.internals.then(|| obj! { "kind": "unavailable_headless" }) });
        Some(End::Local(text))
    }

    /// Answers a command with a text.
    fn say(&self, scope: &Rc<Scope>, typed: &str, command: &str, text: &str) -> End {
        self.emit_init();
        scope.turn.set_local_command(typed);
        if self.profile.commands_as_assistant {
            let run = obj! { "command": command, "args": "" };
            let extra = obj! { "local_command_run"?: self.profile.internals.then_some(run) };
            self.say_text(scope, text.trim_end(), extra);
        } else {
            self.say_as_user(text);
            self.session.borrow_mut().lengthen(3);
        }
        End::Local(text.to_owned())
    }

    /// What a command says.
    pub(super) fn say_text(&self, scope: &Rc<Scope>, text: &str, mut extra: Object) {
        let stop_reason = if self.profile.internals { "end_turn" } else { "stop_sequence" };
        if self.profile.internals {
            extra.set(
                "local_command_source",
                format!("<local-command-stdout>{text}</local-command-stdout>"),
            );
        }
        self.say_synthetic(scope, text, stop_reason, extra);
    }

    /// Older versions show the output as if the user had said it.
    pub(super) fn say_as_user(&self, text: &str) {
        let content = Json::from(format!("<local-command-stdout>{text}</local-command-stdout>"));
        self.emit_replay(&content, None);
    }

    /// Dollars and minutes.
    pub(crate) fn cost_text(&self) -> String {
        let meter = self.meter.borrow();
        let seconds = |ms: u64| format!("{}s", ms / 1000);
        let mut lines = vec![format!(
            "Total cost:            ${:.4}\nTotal duration (API):  {}\nTotal duration (wall): {}\nTotal code changes:    {} lines added, {} lines removed\nUsage by model:",
            meter.cost(self.profile),
            seconds(meter.api_ms),
            seconds(ms_since(self.started)),
            meter.lines_added,
            meter.lines_removed,
        )];
        for (model, tokens, cost) in meter.models(self.profile) {
            let model = if self.profile.internals { model } else { model.trim_end_matches("[1m]") };
            let label = format!("{model}:");
            lines.push(format!(
                "{label:>21}  {} input, {} output, {} cache read, {} cache write (${cost:.4})",
                tokens.input, tokens.output, tokens.cache_read, tokens.cache_creation
            ));
        }
        if self.profile.internals {
            let requests = meter.requests;
            let noun = if requests == 1 { "request" } else { "requests" };
            lines.push(format!(
                "Prompt cache (main):   {requests} {noun} · 0% of input tokens from cache · no misses · no prompt caching reported by the API"
            ));
        }
        lines.join("\n")
    }

    fn context_text(&self) -> String {
        let used = self.thread.borrow().size() / 4;
        let window = self.profile.window.0;
        let (window_text, model) = (short(window), self.model.borrow().clone());
        let messages = u64::try_from(used).unwrap_or(0);
        let free = window.saturating_sub(messages + 90);
        format!(
            "## Context Usage\n\n**Model:** {model}  \n**Tokens:** {} / {window_text} (0%)\n\n### Estimated usage by category\n\n| Category | Tokens | Percentage |\n|----------|--------|------------|\n| System prompt | 90 | 0.0% |\n| Messages | {} | 0.0% |\n| Free space | {} | 99.9% |\n\n",
            short(messages + 90),
            short(messages),
            short(free),
        )
    }

    /// `/clear`.
    async fn clear(self: &Rc<Self>, scope: &Rc<Scope>, message: &UserMessage) -> End {
        scope.turn.set_local_command("clear");
        self.tell_hooks(scope, "SessionEnd", Some("clear"), obj! { "reason": "clear" }).await;
        if self.profile.internals {
            let id = new_uuid();
            let frame = obj! {
                "type": "conversation_reset",
                "new_conversation_id": &id,
                "uuid": &id,
                "trigger": "clear",
                "user_message_uuid": message.uuid.clone().unwrap_or_else(new_uuid),
                "timestamp": timestamp(),
                "session_id": self.session_id(),
            };
            self.emit(&frame);
            self.emit_background_tasks();
        }
        self.session.borrow_mut().restart();
        self.thread.borrow_mut().clear();
        self.plan.borrow_mut().forget();
        self.read_files.borrow_mut().clear();
        self.meter.replace(super::meter::Meter::default());
        self.last_meter.replace(super::meter::Meter::default());
        let fields = obj! {
            "source": "clear",
            "session_title"?: self.session.borrow().title(),
        };
        self.tell_hooks(scope, "SessionStart", Some("clear"), fields).await;
        self.emit_init();
        if !self.profile.internals {
            self.say_synthetic(scope, "(no content)", "stop_sequence", Object::default());
        }
        End::Local(String::new())
    }
}

/// The name of the command, when a message is one.
fn command_name(message: &UserMessage) -> Option<&str> {
    let text = message.text().filter(|_| !message.verbatim)?;
    let name = text.trim_start().strip_prefix('/')?.split_whitespace().next()?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_name.then_some(name)
}

/// `1200` is `1.2k`.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => {
            let tenths = number / 100;
            if tenths.is_multiple_of(10) {
                format!("{}k", tenths / 10)
            } else {
                format!("{}.{}k", tenths / 10, tenths % 10)
            }
        }
        _ => format!("{}m", number / 1_000_000),
    }
}
