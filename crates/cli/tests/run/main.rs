//! `countersign run` in a real pseudo-terminal, with the simulated CLI and with the real one.
//!
//! The real CLI needs the feature `real-cli`; everything else needs nothing but cargo. Where a CLI has
//! to do what neither does, a test starts this program again to be a puppet.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod alone;
mod conversation;
mod demo;
mod hostile;
mod kit;
mod permissions;
mod plans;
mod pty;
mod puppet;
mod questions;
mod start;
mod tour;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(code) = puppet::as_a_puppet() {
        return code;
    }
    let trials = [
        alone::trials(),
        conversation::trials(),
        demo::trials(),
        hostile::trials(),
        permissions::trials(),
        plans::trials(),
        questions::trials(),
        start::trials(),
        tour::trials(),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().collect()).exit_code()
}
