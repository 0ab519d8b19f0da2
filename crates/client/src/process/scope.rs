//! What belongs together: a process, all that descends from it, and all that carries its mark.

use std::collections::{BTreeMap, BTreeSet};

use super::id::ProcessId;
use super::kin::members;
use super::mark::Mark;
use super::table::{self, Entry};

/// The processes that belong to one session, or to what an earlier process left.
///
/// It remembers what it has seen. So a process that was once seen to belong still does when its
/// parents have ended, even if it carries no mark.
#[derive(Debug)]
pub(super) struct Scope {
    mark: Option<Mark>,
    /// Processes that belong, those that have ended left out.
    known: BTreeSet<ProcessId>,
    /// Groups and sessions that one of ours began. The number of a group is not given to another
    /// as long as somebody is in it; so such a number means something while one of ours is.
    begun: BTreeSet<i32>,
    /// Nothing that was started before can carry the mark, and need not be asked.
    since: u64,
    /// At the last look, a process was about to become another program, and showed no mark or other.
    is_unsure: bool,
}

impl Scope {
    pub(super) fn new(mark: Option<Mark>, root: Option<ProcessId>) -> Self {
        let begun = root.map(ProcessId::pid);
        Self {
            mark,
            known: root.into_iter().collect(),
            begun: begun.into_iter().collect(),
            since: 0,
            is_unsure: false,
        }
    }

    /// Asks only processes that were started after this one, or with it, for the mark.
    pub(super) fn since(mut self, start_time: u64) -> Self {
        self.since = start_time;
        self
    }

    /// Whether something may belong that did not show it when it was last looked at.
    pub(super) const fn is_unsure(&self) -> bool {
        self.is_unsure
    }

    /// All that belongs and still runs.
    pub(super) fn look(&mut self) -> Vec<Entry> {
        self.look_and(|_| ())
    }

    /// The same, calling `on_sight` for each.
    ///
    /// It is called as early as can be, while the table is still read: what forks and ends all the
    /// time is gone when the table has been read. For the same reason, nothing is said to be there
    /// only when no process was started meanwhile, or after many looks.
    pub(super) fn look_and(&mut self, mut on_sight: impl FnMut(&Sight)) -> Vec<Entry> {
        let mut last = table::last_pid();
        let mut look = Look::new(self, &mut on_sight);
        // The newest at once, before all others are listed.
        look.at_each(table::newest(last), table::is_process);
        look.at_each(table::pids(), |_| true);
        for _ in 0..MOST_LOOKS {
            let now = table::last_pid();
            let mut again = std::mem::take(&mut look.undecided);
            again.extend(last.saturating_add(1)..=now);
            if again.is_empty() && now == last || look.sighted {
                break;
            }
            if now < last {
                // The numbers have come round.
                again.extend(table::pids());
            }
            last = now;
            look.at_each(again.into_iter(), table::is_process);
        }
        let Look { table, certain, undecided, .. } = look;
        self.is_unsure = !undecided.is_empty();
        let mut table: Vec<_> = table.into_values().collect();
        let members = members(&table, certain.clone(), &self.begun);
        table.retain(|entry| members.contains(&entry.pid));
        self.known = table.iter().filter_map(Entry::id).collect();
        self.begun.retain(|&begun| {
            table.iter().any(|entry| entry.group == begun || entry.session == begun)
        });
        let leads = |entry: &&Entry| entry.group == entry.pid || entry.session == entry.pid;
        self.begun.extend(table.iter().filter(leads).map(|entry| entry.pid));
        table.retain(|entry| !entry.ended);
        for entry in table.iter().filter(|entry| !certain.contains(&entry.pid)) {
            on_sight(&Sight { entry: *entry, owns_group: self.begun.contains(&entry.group) });
        }
        table
    }
}

/// How often new processes are looked at before nothing is said to be there. It takes about as long
/// as looking at the whole table does.
const MOST_LOOKS: u32 = 30;

/// The first process inherits orphans; nothing belongs to us because of that.
const FIRST_PROCESS: i32 = 1;

/// A process that belongs, and runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) entry: Entry,
    /// All that is in its process group belongs too.
    pub(super) owns_group: bool,
}

/// One look at the table.
struct Look<'s, F> {
    scope: &'s Scope,
    on_sight: F,
    this: i32,
    buffer: Vec<u8>,
    table: BTreeMap<i32, Entry>,
    certain: BTreeSet<i32>,
    /// A running process belongs.
    sighted: bool,
    /// Processes that show no environment: they may be about to become another program.
    undecided: Vec<i32>,
}

impl<'s, F: FnMut(&Sight)> Look<'s, F> {
    fn new(scope: &'s Scope, on_sight: F) -> Self {
        Self {
            scope,
            on_sight,
            this: i32::try_from(std::process::id()).unwrap_or_default(),
            buffer: Vec::new(),
            table: BTreeMap::new(),
            certain: BTreeSet::new(),
            sighted: false,
            undecided: Vec::new(),
        }
    }

    /// `is_process` tells the numbers of processes from those of threads.
    fn at_each(&mut self, pids: impl Iterator<Item = i32>, is_process: fn(i32) -> bool) {
        for pid in pids.filter(|&pid| pid != FIRST_PROCESS) {
            if pid != self.this
                && !self.certain.contains(&pid)
                && let Some(entry) = table::entry(pid)
                && is_process(pid)
            {
                self.table.insert(pid, entry);
                self.at(entry);
            }
        }
    }

    fn at(&mut self, entry: Entry) {
        let known = entry.id().is_some_and(|id| self.scope.known.contains(&id));
        let asked = !known && !entry.ended && entry.started >= self.scope.since;
        let marked = match self.scope.mark.filter(|_| asked) {
            Some(mark) => entry.carries(mark, &mut self.buffer),
            None => Some(false),
        };
        if marked.is_none() {
            self.undecided.push(entry.pid);
        }
        let marked = marked.unwrap_or(false);
        if known || marked {
            self.certain.insert(entry.pid);
            if !entry.ended {
                self.sighted = true;
                let owns_group = marked || self.scope.begun.contains(&entry.group);
                (self.on_sight)(&Sight { entry, owns_group });
            }
        }
    }
}
