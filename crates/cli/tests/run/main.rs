//! `countersign run` in a real pseudo-terminal, with the simulated CLI and with the real one.
//!
//! This program is the simulated CLI, too: a test starts it again to be one. The real CLI needs the
//! feature `real-cli`; everything else needs nothing but cargo.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod kit;
mod permissions;
mod pty;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(code) = kit::as_a_cli() {
        return code;
    }
    let trials = [permissions::trials()];
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().collect()).exit_code()
}
