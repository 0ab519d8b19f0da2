//! Errors of the model API: which are tried again, and how the others are told.

use std::rc::Rc;
use std::time::Duration;

use super::Scope;
use super::result::{ApiFailure, End};
use crate::script::ApiError;
use crate::sim::clock::{new_id, new_uuid};
use crate::sim::frames::Assistant;
use crate::sim::json::{Json, Object, obj};
use crate::sim::meter::Tokens;
use crate::sim::profile::Release;
use crate::sim::state::Sim;

/// Errors in a row.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    attempts: u32,
    overloads: u32,
    /// Requests that the API did not understand.
    refusals: u32,
}

/// So many overloads in a row make the CLI use another model.
const OVERLOADS_BEFORE_FALLBACK: u32 = 3;
const FIRST_DELAY_MS: u64 = 500;
const LONGEST_DELAY_MS: u64 = 32_000;

impl Sim {
    /// Waits and returns when the request is to be made again; otherwise the turn ends.
    pub(super) async fn retry(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        trouble: &mut Trouble,
        model: &mut String,
        error: Option<ApiError>,
    ) -> Result<(), End> {
        let most = self
            .env
            .var("CLAUDE_CODE_MAX_RETRIES")
            .and_then(|text| text.parse().ok())
            .unwrap_or(10);
        let status = error.as_ref().map(|error| error.status);
        if status == Some(529) {
            trouble.overloads += 1;
            if trouble.overloads >= OVERLOADS_BEFORE_FALLBACK && self.fall_back(model) {
                *trouble = Trouble::default();
                return Ok(());
            }
        }
        if status == Some(400)
            && trouble.refusals < self.profile.silent_tries
            && !is_plain(error.as_ref())
        {
            // The newest version makes the request again with less in it.
            trouble.refusals += 1;
            return Ok(());
        }
        if !is_worth_retrying(status) || trouble.attempts >= most {
            return Err(self.give_up(scope, model, error.as_ref()));
        }
        trouble.attempts += 1;
        let delay = delay_ms(trouble.attempts, error.as_ref().and_then(|error| error.retry_after));
        if self.profile.tells_retries {
            // The older of the two does not round.
            let told: Json =
                if self.profile.internals { delay.round().into() } else { delay.into() };
            self.emit_system(
                "api_retry",
                obj! {
                    "attempt": trouble.attempts,
                    "max_retries": most,
                    "retry_delay_ms": told,
                    "error_status": status,
                    "error": retry_name(status),
                },
            );
        }
        let wait = self.tasks.sleep(Duration::from_secs_f64(delay / 1000.0));
        if scope.turn.wait(wait).await.is_err() {
            return Err(self.stopped_before_a_word(scope));
        }
        Ok(())
    }

    /// Goes over to the other model, when there is one.
    fn fall_back(&self, model: &mut String) -> bool {
        let Some(fallback) =
            self.args.fallback_model.as_deref().filter(|_| self.profile.tells_retries)
        else {
            return false;
        };
        let fallback = fallback.split(',').next().unwrap_or(fallback);
        let fallback = self.catalog.resolve_model(fallback);
        if fallback == *model {
            return false;
        }
        let content = format!(
            "Switched to {} due to high demand for {}",
            spoken_name(&fallback),
            spoken_name(model)
        );
        self.emit_system(
            "model_fallback",
            obj! {
                "trigger": "overloaded",
                "original_model": model.as_str(),
                "fallback_model": &fallback,
                "content": content,
            },
        );
        *model = fallback;
        true
    }

    fn give_up(self: &Rc<Self>, scope: &Rc<Scope>, model: &str, error: Option<&ApiError>) -> End {
        let failure = self.describe(scope, model, error);
        let (text, name) = failure;
        let status = error.map(|error| error.status);
        let kind = error.map(|error| error.kind.clone());
        let mut extra = obj! { "error": name };
        if self.profile.modern && error.is_some() {
            extra.set("request_id", new_id("req_", 16));
        }
        if self.profile.internals {
            extra.set("is_api_error_message", true);
            extra.set("api_error_status", status);
            extra.set("api_error_type", kind.as_deref());
        }
        self.say_synthetic(scope, &text, "stop_sequence", extra);
        self.failure_hooks(scope, name, &text);
        let too_long = text.starts_with("Prompt is too long");
        let terminal_reason = match status {
            Some(413) => "image_error",
            Some(400) if too_long => "prompt_too_long",
            _ if self.profile.internals => "api_error",
            _ => "completed",
        };
        End::ApiError(ApiFailure {
            text,
            status,
            kind,
            terminal_reason,
            stop_reason: "stop_sequence",
        })
    }

    /// A message in the name of the model that it did not say.
    pub(crate) fn say_synthetic(
        &self,
        scope: &Scope,
        text: &str,
        stop_reason: &str,
        extra: Object,
    ) -> String {
        let block = Json::from(obj! { "type": "text", "text": text });
        let modern = self.profile.modern;
        let sequence = if stop_reason == "end_turn" { Json::Null } else { "".into() };
        let message = obj! {
            "diagnostics"?: self.profile.internals.then_some(Json::Null),
            "id": new_uuid(),
            "container": Json::Null,
            "model": "<synthetic>",
            "role": "assistant",
            "stop_details"?: modern.then_some(Json::Null),
            "stop_reason": stop_reason,
            "stop_sequence": sequence,
            "type": "message",
            "usage": Tokens::default().of_result(self.profile),
            "content": vec![block],
            "context_management": Json::Null,
        };
        let assistant = Assistant { message: message.clone(), request_id: None, extra };
        let uuid = self.emit_assistant(scope, assistant);
        self.store(
            scope,
            "assistant",
            &uuid,
            obj! { "message": message, "isApiErrorMessage": true },
        );
        uuid
    }

    /// The words for the user, and the name of the error.
    fn describe(
        &self,
        scope: &Scope,
        model: &str,
        error: Option<&ApiError>,
    ) -> (String, &'static str) {
        let old = self.profile.release == Release::V62;
        let Some(error) = error else {
            return ("API Error: Connection error.".to_owned(), "unknown");
        };
        let message = &error.message;
        let told = if old {
            let body = obj! {
                "type": "error",
                "error": obj! { "type": &error.kind, "message": message },
                "request_id": new_id("req_", 16),
            };
            format!("{} {body}", error.status)
        } else {
            format!("{} {message}", error.status)
        };
        if message.starts_with("Your credit balance is too low") {
            return ("Credit balance is too low".to_owned(), "billing_error");
        }
        if message.starts_with("prompt is too long") {
            return (self.too_long(scope, message), "invalid_request");
        }
        match error.status {
            401 | 403 => {
                (format!("Failed to authenticate. API Error: {told}"), "authentication_failed")
            }
            404 => {
                let hint = if old { " Run --model to pick a different model." } else { "" };
                let text = format!(
                    "There's an issue with the selected model ({model}). It may not exist or you may not have access to it.{hint}"
                );
                (text, if old { "invalid_request" } else { "model_not_found" })
            }
            413 => (self.too_large().to_owned(), "invalid_request"),
            429 if !old => (format!("API Error: Request rejected (429) · {message}"), "rate_limit"),
            500.. if !old => {
                let text = format!(
                    "API Error: {told}. This is a server-side issue, usually temporary — try again in a moment. If it persists, check {}.",
                    self.who_to_blame()
                );
                (text, "server_error")
            }
            _ => (format!("API Error: {told}"), "unknown"),
        }
    }

    fn too_large(&self) -> &'static str {
        match self.profile.release {
            Release::V62 => "Request too large (max 20MB). Try with a smaller file.",
            Release::V197 => "Request too large (max 32MB). Try with a smaller file.",
            Release::V325 => {
                "Request too large (max 32MB). Accumulated images and attachments in the conversation pushed the request over the limit. Remove older images or compact the conversation."
            }
        }
    }

    fn too_long(&self, scope: &Scope, message: &str) -> String {
        let numbers: Vec<&str> =
            message.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
        let (Some(request), Some(limit)) = (numbers.first(), numbers.get(1)) else {
            return "Prompt is too long".to_owned();
        };
        if self.profile.release == Release::V62 {
            return "Prompt is too long".to_owned();
        }
        let conversation = scope.with_thread(self, |thread| thread.size()) / 4;
        format!(
            "Prompt is too long · the request is ~{request} tokens (limit {limit}) but this conversation is only ~{conversation} tokens — the rest is system prompt, tool definitions, and attachment content. A single-exchange conversation cannot be compacted; reduce attached files/tools or start with less context."
        )
    }

    fn who_to_blame(&self) -> String {
        match self.env.var("ANTHROPIC_BASE_URL") {
            Some(url) => {
                let host = url.split("//").nth(1).unwrap_or(url).trim_end_matches('/');
                format!("your inference gateway ({host})")
            }
            None => "https://status.claude.com".to_owned(),
        }
    }
}

/// Whether an error says what is wrong, so that trying again is no use.
fn is_plain(error: Option<&ApiError>) -> bool {
    error.is_some_and(|error| {
        error.message.starts_with("Your credit balance")
            || error.message.starts_with("prompt is too long")
    })
}

fn is_worth_retrying(status: Option<u16>) -> bool {
    matches!(status, None | Some(401 | 408 | 409 | 429 | 500..))
}

fn retry_name(status: Option<u16>) -> &'static str {
    match status {
        Some(401) => "authentication_failed",
        Some(429) => "rate_limit",
        Some(529) => "overloaded",
        Some(500..) => "server_error",
        _ => "unknown",
    }
}

/// Half a second, doubled each time, and up to a quarter more at random.
fn delay_ms(attempt: u32, retry_after: Option<u64>) -> f64 {
    if let Some(seconds) = retry_after {
        return to_f64(seconds.saturating_mul(1000));
    }
    let doubled = FIRST_DELAY_MS.saturating_mul(1 << attempt.saturating_sub(1).min(16));
    let base = to_f64(doubled.min(LONGEST_DELAY_MS));
    let random =
        f64::from(uuid::Uuid::new_v4().as_u128().to_le_bytes().first().copied().unwrap_or(0));
    base + base * 0.25 * random / 255.0
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a delay are far below 2^53")]
fn to_f64(ms: u64) -> f64 {
    ms as f64
}

/// `claude-haiku-5-5` is spoken "Haiku 5.5".
pub(crate) fn spoken_name(model: &str) -> String {
    let (plain, long) = match model.strip_suffix("[1m]") {
        Some(plain) => (plain, " (1M context)"),
        None => (model, ""),
    };
    let Some(rest) = plain.strip_prefix("claude-") else { return model.to_owned() };
    let mut parts = rest.split('-');
    let family = parts.next().unwrap_or_default();
    let numbers: Vec<&str> = parts.filter(|part| part.len() < 3).collect();
    let mut letters = family.chars();
    let Some(first) = letters.next() else { return model.to_owned() };
    format!("{}{} {}{long}", first.to_ascii_uppercase(), letters.as_str(), numbers.join("."))
}
