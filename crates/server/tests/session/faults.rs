//! What can go wrong around the server, and what then happens: see `docs/faults.md`.

mod cli;
mod readers;
mod store;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [cli::trials(), readers::trials(), store::trials()].into_iter().flatten().collect()
}
