//! What can go wrong around the server, and what then happens: see `docs/faults.md`.

mod between;
mod cli;
mod readers;
mod store;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [between::trials(), cli::trials(), readers::trials(), store::trials()]
        .into_iter()
        .flatten()
        .collect()
}
