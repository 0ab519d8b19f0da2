//! The real CLI, several versions of it, and the simulated CLI beside it.
//!
//! Each scenario is one test: it is played on the real CLI, where it must show what it says, and on
//! the simulated CLI, and what both said is compared. With `COUNTERSIGN_TEST_FULL`, as `./test --full`
//! sets it, it is one for each version. Versions that are not there yet are installed. The experiments
//! are tested by the command that reports on them: `crates/cli/tests/it/report.rs`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod killed;
mod python_sdk;
mod scenarios;

use std::process::ExitCode;

use countersign_lab::{Installed, Version, Versions};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    if let Some(code) = killed::as_the_one_to_be_killed() {
        return code;
    }
    let trials = [scenarios::trials(), killed::trials(), python_sdk::trials()];
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().collect()).exit_code()
}

/// A test that is a future.
fn trial<F: Future<Output = Result<(), Failed>>>(
    name: impl Into<String>,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || runtime().block_on(test()))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

async fn installed(version: Version) -> Installed {
    let versions = Versions::in_default_folder().unwrap();
    versions.install(version).await.unwrap_or_else(|error| panic!("{error}"))
}
