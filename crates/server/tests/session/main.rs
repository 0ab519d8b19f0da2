//! Sessions of the server, held with the simulated CLI and with versions of the real one.
//!
//! This program is all of them: a test starts it again to be the CLI of a session. The real CLI
//! needs the feature `real-cli`; everything else needs nothing but cargo.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod asking;
mod conversations;
mod cut_off;
mod elicitation;
mod faults;
#[cfg(feature = "api-fuzz")]
mod fuzzed;
mod inert;
mod kit;
mod limits;
mod looking;
mod plans;
#[cfg(feature = "postgres-tests")]
mod postgres;
mod turns;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(code) = elicitation::as_a_server().or_else(kit::as_a_cli) {
        return code;
    }
    let trials = [
        asking::trials(),
        conversations::trials(),
        cut_off::trials(),
        elicitation::trials(),
        faults::trials(),
        limits::trials(),
        looking::trials(),
        #[cfg(feature = "api-fuzz")]
        fuzzed::trials(),
        inert::trials(),
        plans::trials(),
        #[cfg(feature = "postgres-tests")]
        postgres::trials(),
        turns::trials(),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().collect()).exit_code()
}
