//! Measures a server that has much to do: sessions that are alive, sessions that are parked, what an
//! approval takes, how many subscribers are told how fast, and how all of it grows; and its web page.
//!
//! It prints what it measured, and exits with 1 when something was lost on the way.
#![expect(clippy::print_stderr, reason = "this is a program with a report")]

use std::process::ExitCode;

use clap::Parser as _;
use countersign_bench::host::as_a_child;
use countersign_bench::load::{Options, run};

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
            eprintln!("load: {error}");
            ExitCode::from(2)
        }
    }
}
