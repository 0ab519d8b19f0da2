//! Ending what is left: ask, then kill, and look again until nothing is found.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::id::{ProcessId, ProcessInfo};
use super::scope::Scope;
use super::signal::{kill, send};
use super::table::Entry;

/// What was found running when it should have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// Every process that was found, and ended; the first thousand of them.
    pub ended: Vec<ProcessInfo>,
    /// Those that were killed and still run: they are in the hands of the kernel (a broken disk), or
    /// belong to somebody whom this process may not signal.
    pub still_running: Vec<ProcessInfo>,
}

/// How long a process may take to become another program before it is taken for one that has no
/// environment.
const UNSURE: Duration = Duration::from_millis(100);

/// Ends all of `scope`: asks it to, kills what runs after `grace`, or as soon as there is a `hurry`,
/// and gives up `bound` after that.
pub(super) async fn sweep(
    scope: &mut Scope,
    grace: Duration,
    bound: Duration,
    hurry: &CancellationToken,
) -> Swept {
    let mut seen = Seen::default();
    let begin = Instant::now();
    // Looked at before anything ends: children are known by their parents, and a parent may end
    // because its child does.
    let mut found = scope.look();
    let mut pause = Pause::default();
    while found.is_empty() && scope.is_unsure() && begin.elapsed() < UNSURE {
        sleep(pause.next()).await;
        found = scope.look();
    }
    if found.is_empty() {
        return Swept::default();
    }
    found.iter().for_each(|entry| seen.note(entry));
    scope.look_and(|sight| {
        seen.note(&sight.entry);
        sight.entry.id().map(|id| send(id, Signal::TERM));
    });
    let mut pause = Pause::default();
    while seen.any_runs() && begin.elapsed() < grace && !hurry.is_cancelled() {
        sleep(pause.next()).await;
    }
    let (killing, mut pause) = (Instant::now(), Pause::default());
    loop {
        // What forks between look and signal is found by the next look.
        let found = scope.look_and(|sight| {
            seen.note(&sight.entry);
            kill(sight);
        });
        if found.is_empty() || killing.elapsed() >= bound {
            return seen.told(&found);
        }
        sleep(pause.next()).await;
    }
}

/// The processes that were found.
#[derive(Default)]
struct Seen(BTreeMap<ProcessId, ProcessInfo>);

impl Seen {
    /// Longer lists help nobody.
    const MOST: usize = 1000;

    /// To be called before a signal is sent: what has ended has no command line.
    fn note(&mut self, entry: &Entry) {
        if let Some(id) = entry.id()
            && self.0.len() < Self::MOST
            && !self.0.contains_key(&id)
        {
            self.0.extend(ProcessInfo::of(entry).map(|info| (id, info)));
        }
    }

    fn any_runs(&self) -> bool {
        self.0.keys().any(|id| id.is_alive())
    }

    fn told(mut self, left: &[Entry]) -> Swept {
        let alive = left.iter().filter(|entry| entry.id().is_some_and(ProcessId::is_alive));
        let told = |entry: &Entry| self.0.remove(&entry.id()?).or_else(|| ProcessInfo::of(entry));
        let still_running = alive.filter_map(told).collect();
        Swept { ended: self.0.into_values().collect(), still_running }
    }
}

/// Longer and longer pauses between looks.
pub(super) struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(Duration::from_millis(1))
    }
}

impl Pause {
    const LONGEST: Duration = Duration::from_millis(50);

    pub(super) fn next(&mut self) -> Duration {
        let now = self.0;
        self.0 = (now * 2).min(Self::LONGEST);
        now
    }
}
