//! Sessions, held with the simulated CLI, with three versions of the real one, and with programs
//! that do not behave.
//!
//! This program is all of them: a test starts it again to be the CLI of a session. The real CLI
//! needs the feature `real-cli`; everything else needs nothing but cargo.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod asker;
mod asking;
#[cfg(feature = "blocking")]
mod blocking;
mod control;
mod elicitation;
mod ends;
mod examples;
mod faults;
mod hooks;
mod kit;
mod limits;
#[cfg(feature = "mcp")]
mod mcp;
mod observing;
mod one_shot;
mod parking;
mod permissions;
mod plans;
mod puppet;
mod questions;
mod recording;
mod sessions;
mod stores;
mod turns;
mod updates;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let another = kit::as_a_cli().or_else(asker::as_an_asker);
    #[cfg(feature = "blocking")]
    let another = another.or_else(blocking::as_a_program);
    let another = another
        .or_else(control::as_an_mcp_server)
        .or_else(elicitation::as_a_server)
        .or_else(|| puppet::as_a_puppet(faults::faults()))
        .or_else(recording::as_a_player);
    if let Some(code) = another {
        return code;
    }
    let trials = [
        #[cfg(feature = "blocking")]
        blocking::trials(),
        control::trials(),
        elicitation::trials(),
        ends::trials(),
        examples::trials(),
        faults::trials(),
        hooks::trials(),
        limits::trials(),
        #[cfg(feature = "mcp")]
        mcp::trials(),
        observing::trials(),
        one_shot::trials(),
        parking::trials(),
        permissions::trials(),
        plans::trials(),
        questions::trials(),
        recording::trials(),
        sessions::trials(),
        stores::trials(),
        turns::trials(),
        updates::trials(),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().collect()).exit_code()
}
