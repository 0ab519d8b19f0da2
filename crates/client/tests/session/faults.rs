//! The table of faults: whatever the CLI or a handler does, there is a stated outcome, nothing
//! hangs, nothing is left running and no answer is lost. `docs/faults.md` is the same table in
//! words.

mod answers;
mod backlog;
mod death;
mod ending;
mod frozen;
mod handlers;
mod lines;
mod parking;
mod real;
mod results;
mod simulated;

use libtest_mimic::Trial;

use crate::puppet::Fault;

/// Faults of puppets.
pub(crate) fn faults() -> Vec<Fault> {
    [
        answers::faults(),
        backlog::faults(),
        death::faults(),
        ending::faults(),
        frozen::faults(),
        handlers::faults(),
        lines::faults(),
        results::faults(),
        parking::faults(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn trials() -> Vec<Trial> {
    faults()
        .into_iter()
        .map(Fault::trial)
        .chain(real::trials())
        .chain(simulated::trials())
        .collect()
}
