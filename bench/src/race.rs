//! Timing several contenders against each other.

use std::time::{Duration, Instant};

/// One way to do the work.
pub struct Contender<'a> {
    name: &'static str,
    work: Box<dyn FnMut() + 'a>,
    best: Duration,
}

impl std::fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contender").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Contenders that take turns at the same work.
#[derive(Debug, Default)]
pub struct Race<'a> {
    contenders: Vec<Contender<'a>>,
}

impl<'a> Race<'a> {
    /// A race without contenders.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a contender. The work is one whole pass.
    pub fn enter(&mut self, name: &'static str, work: impl FnMut() + 'a) {
        self.contenders.push(Contender { name, work: Box::new(work), best: Duration::MAX });
    }

    /// Lets all contenders do a pass in turn, so many times, and gives each one's best.
    pub fn run(&mut self, rounds: usize) -> Vec<(&'static str, Duration)> {
        for _ in 0..rounds {
            for contender in &mut self.contenders {
                let start = Instant::now();
                (contender.work)();
                contender.best = contender.best.min(start.elapsed());
            }
        }
        self.contenders.iter().map(|contender| (contender.name, contender.best)).collect()
    }
}
