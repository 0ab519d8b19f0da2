//! What the CLI says besides: retries, limits, compaction, other models, hooks.

use countersign::Saying;
use countersign::protocol::FromCli;
use countersign::protocol::event::RateLimitStatus;
use countersign::protocol::system::{ApiRetry, HookOutcome, StatusKind, SystemMessage};

/// What a person should know of a message, if anything.
pub(crate) fn of(saying: &Saying) -> Option<String> {
    match saying {
        Saying::Frame(FromCli::System(system)) => of_system(system),
        Saying::Frame(FromCli::RateLimitEvent(event)) => {
            let info = &event.rate_limit_info;
            let kind = info.rate_limit_type.as_ref().map(|kind| format!(" ({kind})"));
            let kind = kind.unwrap_or_default();
            match &info.status {
                RateLimitStatus::Allowed => None,
                RateLimitStatus::Rejected => Some(format!("the rate limit is reached{kind}")),
                status => Some(format!("the rate limit: {status}{kind}")),
            }
        }
        Saying::Frame(FromCli::AuthStatus(status)) => {
            status.error.as_ref().map(|error| format!("the login: {error}"))
        }
        Saying::Frame(_) => None,
        Saying::Malformed(malformed) => Some(format!("a message that cannot be read: {malformed}")),
        Saying::NotAFrame(why) => Some(format!("a line that is no message: {why}")),
        Saying::TooLong { length, .. } => {
            Some(format!("a message of {length} bytes was passed over: it is too long"))
        }
        Saying::Lost { length } => Some(format!("{length} bytes of messages were lost")),
        _ => None,
    }
}

fn of_system(system: &SystemMessage) -> Option<String> {
    match system {
        SystemMessage::CompactBoundary(boundary) => {
            let before = boundary.compact_metadata.pre_tokens;
            Some(match boundary.compact_metadata.post_tokens {
                Some(after) => format!("compacted: {before} tokens are {after} now"),
                None => format!("compacted: there were {before} tokens"),
            })
        }
        SystemMessage::Status(status) => match (&status.status, &status.compact_error) {
            (_, Some(error)) => Some(format!("not compacted: {error}")),
            (Some(StatusKind::Compacting), None) => Some("compacting…".to_owned()),
            _ => None,
        },
        SystemMessage::ModelFallback(fallback) => {
            Some(format!("{} goes on for {}", fallback.fallback_model, fallback.original_model))
        }
        SystemMessage::ModelRefusalFallback(refusal) => Some(refusal.content.clone()),
        SystemMessage::ModelRefusalNoFallback(refusal) => Some(refusal.content.clone()),
        SystemMessage::LocalCommandOutput(output) => Some(output.content.clone()),
        SystemMessage::HookResponse(hook) => match &hook.outcome {
            Some(HookOutcome::Error) => {
                let said = hook.stderr.as_deref().or(hook.output.as_deref()).unwrap_or_default();
                Some(format!("the hook {} failed: {}", hook.hook_name, said.trim()))
            }
            _ => None,
        },
        SystemMessage::Notification(notification) => Some(notification.text.clone()),
        SystemMessage::Informational(information) => Some(information.content.clone()),
        SystemMessage::PermissionDenied(denied) => {
            Some(format!("{} was refused: {}", denied.tool_name, denied.message))
        }
        SystemMessage::SessionWritesLost(lost) => {
            Some(format!("the transcript is not complete: {}", lost.error_code))
        }
        SystemMessage::TaskNotification(told) => {
            Some(format!("in the background: {} ({})", told.summary, told.status))
        }
        SystemMessage::WorkerShuttingDown(_) => Some("the CLI is shutting down".to_owned()),
        _ => None,
    }
}

/// A request that is tried again.
pub(crate) fn of_retry(retry: &ApiRetry) -> String {
    let why = match (&retry.error, retry.error_status) {
        (Some(error), Some(status)) => format!("{error}, {status}"),
        (Some(error), None) => error.to_string(),
        (None, Some(status)) => status.to_string(),
        (None, None) => "no answer".to_owned(),
    };
    let delay = retry.retry_delay_ms.as_f64() / 1000.0;
    let (attempt, of) = (retry.attempt, retry.max_retries);
    format!("the API failed ({why}): attempt {attempt} of {of} in {delay:.1} s")
}

#[cfg(test)]
mod tests {
    use countersign::Message;

    use super::*;

    fn said(line: &str) -> Option<String> {
        of(Message::from_line(line.to_owned()).saying())
    }

    #[test]
    fn what_matters_is_said_and_the_rest_is_not() {
        let limit = |status: &str| {
            said(&format!(
                r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}","rateLimitType":"five_hour"}}}}"#
            ))
        };
        assert_eq!(limit("allowed"), None);
        assert_eq!(limit("rejected").as_deref(), Some("the rate limit is reached (five_hour)"));
        assert_eq!(
            said(
                r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":100,"post_tokens":7}}"#
            )
            .as_deref(),
            Some("compacted: 100 tokens are 7 now")
        );
        assert_eq!(said(r#"{"type":"keep_alive"}"#), None);
        assert!(said("no json").is_some());
    }
}
