//! Kills a server while sessions run, ask and are answered, and counts what was lost or done twice.
//!
//! It prints the counts, and exits with 1 when one of those is not 0 that have to be.
#![expect(clippy::print_stderr, reason = "this is a program with a report")]

use std::process::ExitCode;

use clap::Parser as _;
use countersign_bench::crash::{Options, run};
use countersign_bench::host::as_a_child;

fn main() -> ExitCode {
    if let Some(code) = as_a_child() {
        return code;
    }
    let options = Options::parse();
    let made = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(Box::pin(run(&options))));
    match made {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("crash: {error}");
            ExitCode::from(2)
        }
    }
}
