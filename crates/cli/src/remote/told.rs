//! What a server refuses, and what to do about it.

use countersign_server::client::{ClientError, SetupError};
use countersign_server::outgoing::OutgoingError;

use crate::failure::{Exit, Failure};

/// Why there is no server to ask.
pub(crate) fn no_client(error: &SetupError) -> Failure {
    let failure = Failure::of(error);
    match error {
        SetupError::Address(_) | SetupError::InTheClear(_) => failure.code(Exit::Usage),
        SetupError::ReadToken(_) => failure.hint(
            "Start a server with `countersign serve`, or name one with --server and --token-file.",
        ),
        _ => failure,
    }
}

/// Why the server did not do it.
#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
pub(crate) fn told(error: ClientError) -> Failure {
    let failure = Failure::of(&error);
    if let ClientError::Connection(OutgoingError::Refused { .. }) = &error {
        return failure.hint(
            "Is the server running? `countersign serve` starts it, and --server says where it is.",
        );
    }
    let Some(problem) = error.problem() else { return failure };
    match problem.kind() {
        "no-session" => failure.hint("`countersign sessions list` shows all.").code(Exit::Usage),
        "no-approval" => failure.hint("`countersign inbox` shows what is open.").code(Exit::Usage),
        "not-an-answer" | "invalid" | "folder" => failure.code(Exit::Usage),
        "not-signed-in" => failure
            .hint("Give a token with --token-file or COUNTERSIGN_TOKEN; `countersign token create` makes one."),
        "scope-too-low" => failure.hint("`countersign token create --scope` makes another one."),
        _ => failure,
    }
}
