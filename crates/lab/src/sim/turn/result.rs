//! How a turn ends, and the frame that says so.

use std::rc::Rc;

use super::Turn;
use crate::sim::clock::{epoch_ms, ms_since, new_uuid};
use crate::sim::json::{Json, Object, obj};
use crate::sim::profile::Interrupted;
use crate::sim::queue::Deferred;
use crate::sim::state::Sim;

/// How a turn ends.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// The model has said what it had to say.
    Done,
    /// The API refused.
    ApiError(ApiFailure),
    /// The model was asked as often as it may be.
    MaxTurns(u64),
    /// The money is spent.
    Budget(f64),
    /// Interrupted, while the model spoke or while tools ran.
    Aborted {
        /// Tools ran.
        in_tools: bool,
    },
    /// A hook ended the turn.
    HookStopped,
    /// A hook put a call off.
    Deferred(Deferred),
    /// The CLI answered by itself.
    Local(String),
    /// A hook did not let the prompt through.
    Blocked(String),
    /// The model has answered in the form that the client wants.
    Structured,
}

/// The API's refusal, in the words of the CLI.
#[derive(Clone, Debug)]
pub(crate) struct ApiFailure {
    pub(crate) text: String,
    pub(crate) status: Option<u16>,
    pub(crate) kind: Option<String>,
    pub(crate) terminal_reason: &'static str,
    pub(crate) stop_reason: &'static str,
}

impl End {
    fn subtype(&self) -> &'static str {
        match self {
            Self::MaxTurns(_) => "error_max_turns",
            Self::Budget(_) => "error_max_budget_usd",
            Self::Aborted { .. } => "error_during_execution",
            Self::Done
            | Self::ApiError(_)
            | Self::HookStopped
            | Self::Deferred(_)
            | Self::Local(_)
            | Self::Blocked(_)
            | Self::Structured => "success",
        }
    }

    fn terminal_reason(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::Structured => Some("completed"),
            Self::ApiError(failure) => Some(failure.terminal_reason),
            Self::MaxTurns(_) => Some("max_turns"),
            Self::Budget(_) => Some("budget_exhausted"),
            Self::Aborted { in_tools: true } => Some("aborted_tools"),
            Self::Aborted { in_tools: false } => Some("aborted_streaming"),
            Self::HookStopped => Some("hook_stopped"),
            Self::Deferred(_) => Some("tool_deferred"),
            Self::Local(_) | Self::Blocked(_) => None,
        }
    }
}

impl Sim {
    /// Writes the result of a turn.
    pub(super) fn emit_result(&self, turn: &Rc<Turn>, end: &End) {
        self.emit_replays();
        let profile = self.profile;
        let modern = profile.terminal_reasons;
        let subtype = end.subtype();
        let is_error = match end {
            End::ApiError(_) => true,
            End::MaxTurns(_) | End::Budget(_) => modern,
            End::Aborted { .. } => profile.interrupted != Interrupted::Quiet,
            End::Done
            | End::HookStopped
            | End::Deferred(_)
            | End::Local(_)
            | End::Blocked(_)
            | End::Structured => false,
        };
        self.life.failed.set(is_error);
        let local = matches!(end, End::Local(_) | End::Blocked(_));
        let num_turns = match end {
            End::Local(_) if !profile.commands_as_assistant => {
                self.session.borrow().length().saturating_sub(1)
            }
            End::Local(_) | End::Blocked(_) => 0,
            _ => turn.user_frames.get() + 1,
        };
        let stop_reason = self.told_stop_reason(turn, end);
        let mut fields = Object::default();
        let mut set = |key: &str, value: Json| fields.set(key, value);
        set("type", "result".into());
        set("subtype", subtype.into());
        set("is_error", is_error.into());
        if let (true, "success", false) =
            (modern, subtype, local || matches!(end, End::Deferred(_)))
        {
            set("api_error_status", api_status(end));
        }
        if let End::ApiError(failure) = end
            && profile.internals
        {
            set("api_error_type", failure.kind.as_deref().into());
        }
        set("duration_ms", ms_since(turn.started).into());
        set("duration_api_ms", turn.api_ms.get().into());
        set("num_turns", num_turns.into());
        if subtype == "success" {
            set("result", self.result_text(turn, end).into());
        }
        let structured = turn.structured.borrow().clone();
        set("stop_reason", stop_reason.into());
        set("session_id", self.session_id().into());
        set("total_cost_usd", self.meter.borrow().cost(profile).into());
        set("usage", turn.tokens.borrow().of_result(profile).into());
        set("modelUsage", self.meter.borrow().model_usage(profile).into());
        set("permission_denials", turn.denials.borrow().clone().into());
        if let Some(structured) = structured {
            set("structured_output", structured);
        }
        if let End::Deferred(call) = end {
            set(
                "deferred_tool_use",
                obj! { "id": &call.id, "name": &call.name, "input": &call.input }.into(),
            );
        }
        if let Some(errors) = self.told_errors(turn, end) {
            set("errors", errors.into());
        }
        // An older version has no word for a budget that is spent.
        let unnamed = matches!(end, End::Budget(_)) && !self.profile.internals;
        let reason = end.terminal_reason().filter(|_| modern && !unnamed);
        if let Some(reason) = reason {
            set("terminal_reason", reason.into());
        }
        if modern {
            set("fast_mode_state", "off".into());
        }
        if let Some(origin) = &turn.origin
            && modern
        {
            set("origin", origin.into());
        }
        // A turn that was cut short is not timed.
        if modern && matches!(end, End::Done | End::HookStopped | End::Structured) {
            let first = turn.first_word_ms.get().unwrap_or_else(|| ms_since(turn.started));
            let content = profile.internals.then_some("first_content_frame_ms");
            for key in
                ["ttft_ms", "ttft_stream_ms", "time_to_request_ms"].into_iter().chain(content)
            {
                fields.set(key, first);
            }
        }
        if profile.internals {
            self.add_internals(turn, end, &mut fields);
        }
        fields.set("uuid", new_uuid());
        let fields = if profile.internals { result_first_keys_last(&fields) } else { fields };
        self.last_meter.replace(self.meter.borrow().clone());
        self.life.results.set(self.life.results.get() + 1);
        self.emit(&fields);
    }

    fn result_text(&self, turn: &Turn, end: &End) -> String {
        match end {
            End::ApiError(failure) => failure.text.clone(),
            End::Local(text) | End::Blocked(text) => text.clone(),
            End::HookStopped | End::Deferred(_) => String::new(),
            End::Structured => {
                turn.structured.borrow().as_ref().map(Json::to_string).unwrap_or_default()
            }
            _ => turn.text.borrow().clone(),
        }
    }

    fn told_stop_reason(&self, turn: &Turn, end: &End) -> Option<String> {
        match end {
            End::ApiError(failure) => Some(failure.stop_reason.to_owned()),
            End::Deferred(_) => Some("tool_deferred".to_owned()),
            End::Local(_) | End::Blocked(_) => None,
            _ => turn.stop_reason.borrow().clone(),
        }
    }

    fn told_errors(&self, turn: &Turn, end: &End) -> Option<Vec<String>> {
        match end {
            End::MaxTurns(_) | End::Budget(_) if !self.profile.terminal_reasons => Some(Vec::new()),
            End::MaxTurns(most) => Some(vec![format!("Reached maximum number of turns ({most})")]),
            End::Budget(most) => Some(vec![format!("Reached maximum budget (${most})")]),
            End::Aborted { .. } if self.profile.interrupted == Interrupted::Quiet => {
                Some(Vec::new())
            }
            End::Aborted { .. } => {
                let stop = turn.stop_reason.borrow().clone();
                let stop = stop.as_deref().unwrap_or("null");
                let text = format!(
                    "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop}"
                );
                Some(vec![text])
            }
            _ => None,
        }
    }

    fn add_internals(&self, turn: &Turn, end: &End, fields: &mut Object) {
        fields.set("fast_mode_disabled_reason", "sdk_opt_in_required");
        fields.set("subagent_stats", self.background.borrow().stats());
        fields.set("safety_stops", self.safety_stops.get());
        let uuids = turn.uuids.borrow();
        let last = uuids.last().cloned();
        let all: Vec<String> = uuids.iter().chain(turn.folded.borrow().iter()).cloned().collect();
        if !all.is_empty() {
            fields.set_some("user_message_uuid", last);
            fields.set("user_message_uuids", all);
            if matches!(end, End::Done)
                && let Some(tokens) = turn.first_tokens.get()
            {
                fields.set("first_request_input_tokens", tokens.input);
                fields.set("first_request_cache_read_input_tokens", tokens.cache_read);
                fields.set("request_sent_wall_ms", epoch_ms());
            }
        }
        fields.set_some("resume_reason", turn.resume_reason);
        fields.set_some("local_command", turn.local_command.borrow().clone());
        fields.set("queued_turn_count", 0);
        fields.set("result_index", self.life.results.get());
        let since = self.meter.borrow().since(&self.last_meter.borrow());
        fields.set("model_usage_since_last_result", since.model_usage(self.profile));
    }
}

fn api_status(end: &End) -> Json {
    match end {
        End::ApiError(failure) => failure.status.into(),
        _ => Json::Null,
    }
}

/// In newer versions a result does not begin with its type.
fn result_first_keys_last(fields: &Object) -> Object {
    const LATE: [&str; 8] = [
        "is_error",
        "num_turns",
        "subtype",
        "api_error_status",
        "result",
        "structured_output",
        "type",
        "duration_ms",
    ];
    let mut ordered = Object::default();
    for (key, value) in fields.iter().filter(|(key, _)| !LATE.contains(key)) {
        ordered.set(key, value);
    }
    for key in LATE {
        ordered.set_some(key, fields.get(key));
    }
    ordered
}
