//! Why a session did not begin, and how a turn ended, in words and exit codes.

use countersign::turn::Outcome;
use countersign::{ConnectError, FreshError, OptionsError, TurnError};

use crate::failure::{Exit, Failure};
use crate::output::plain;

/// What the CLI says, among other things, where there is no such session: no such id, and neither an
/// id nor a title.
const NOTHING_TO_RESUME: [&str; 2] =
    ["No conversation found", "--resume requires a valid session ID"];

/// Why there is no session, and what to do about it.
pub(crate) fn not_begun(error: &ConnectError) -> Failure {
    let failure = plain_failure(error);
    match error {
        ConnectError::NotFound(_) | ConnectError::Options(OptionsError::Find(_)) => failure
            .hint(
                "Install it with `npm install -g @anthropic-ai/claude-code`, or name it with --cli; \
                 `countersign doctor` looks closer.",
            )
            .code(Exit::NoCli),
        ConnectError::Version(_) | ConnectError::Spawn(_) => failure
            .hint("See whether the path leads to Claude Code; `countersign doctor` looks closer.")
            .code(Exit::NoCli),
        ConnectError::Unsupported(_) => {
            failure.hint("Update Claude Code (`claude update`), or leave that option out.")
        }
        ConnectError::Options(_) => failure.code(Exit::Usage),
        ConnectError::Ended(end) => {
            let said = end.to_string();
            if NOTHING_TO_RESUME.iter().any(|words| said.contains(words)) {
                failure.hint("`countersign transcripts list` lists the sessions of this folder.")
            } else {
                failure.hint("`countersign doctor` looks closer.")
            }
        }
        _ => failure,
    }
}

/// Why a turn has no outcome.
pub(crate) fn not_finished(error: &TurnError) -> Failure {
    plain_failure(error)
}

/// Why a plan is not carried out.
pub(crate) fn not_fresh(error: &FreshError) -> Failure {
    plain_failure(error)
}

/// What a turn that failed says, and what to do about it.
pub(crate) fn failed(outcome: &Outcome) -> Option<Failure> {
    let error = plain(&outcome.error()?);
    let is_login =
        ["/login", "API key", "authenticat", "OAuth"].iter().any(|word| error.contains(word));
    let failure = Failure::new(format!("the turn failed: {error}"));
    Some(if is_login {
        failure.hint("Log in: run `claude` and say /login, or set ANTHROPIC_API_KEY.")
    } else {
        failure
    })
}

/// An error with its causes, in which words of the CLI may stand.
fn plain_failure(error: &dyn std::error::Error) -> Failure {
    match Failure::of(error) {
        Failure::Problem(problem) => Failure::new(plain(&problem.to_string())),
        nobody @ Failure::NobodyListens => nobody,
    }
}
