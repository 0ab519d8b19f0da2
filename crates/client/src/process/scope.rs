//! What belongs together: a process, all that descends from it, and all that carries its mark.

use std::collections::{BTreeMap, BTreeSet};

use super::id::ProcessId;
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
}

impl Scope {
    pub(super) fn new(mark: Option<Mark>, root: Option<ProcessId>) -> Self {
        let begun = root.map(ProcessId::pid);
        Self {
            mark,
            known: root.into_iter().collect(),
            begun: begun.into_iter().collect(),
            since: 0,
        }
    }

    /// Asks only processes that were started after this one, or with it, for the mark.
    pub(super) fn since(mut self, start_time: u64) -> Self {
        self.since = start_time;
        self
    }

    /// All that belongs and still runs.
    pub(super) fn look(&mut self) -> Vec<Entry> {
        self.look_and(|_| ())
    }

    /// The same, calling `on_sight` once for each in every look at the table.
    ///
    /// It is called as early as can be, while the table is still read: what forks and ends all the
    /// time is gone when the table has been read. For the same reason, nothing is said to be there
    /// only when the table stood still meanwhile, or after some looks.
    pub(super) fn look_and(&mut self, mut on_sight: impl FnMut(&Entry)) -> Vec<Entry> {
        let mut looks = 1;
        loop {
            let (found, stood_still) = self.look_once(&mut on_sight);
            if !found.is_empty() || stood_still || looks == MOST_LOOKS {
                return found;
            }
            looks += 1;
        }
    }

    fn look_once(&mut self, mut on_sight: impl FnMut(&Entry)) -> (Vec<Entry>, bool) {
        let (mut table, mut certain) = (Vec::new(), BTreeSet::new());
        let mut buffer = Vec::new();
        let mut see = |entry: &Entry, is_process: &dyn Fn() -> bool| {
            let known = entry.id().is_some_and(|id| self.known.contains(&id));
            let asked = !entry.ended && entry.started >= self.since;
            let mut marked = || self.mark.is_some_and(|mark| entry.carries(mark, &mut buffer));
            let belongs = (known || asked && marked()) && is_process();
            if belongs && !entry.ended {
                on_sight(entry);
            }
            belongs
        };
        // The newest at once, before all others are listed: they may be gone by then.
        for entry in table::newest().filter_map(table::entry) {
            if see(&entry, &|| table::is_process(entry.pid)) {
                certain.insert(entry.pid);
                table.push(entry);
            }
        }
        let this = i32::try_from(std::process::id()).unwrap_or_default();
        let mut stood_still = true;
        for pid in table::pids().filter(|pid| ![this, FIRST_PROCESS].contains(pid)) {
            if certain.contains(&pid) {
                continue;
            }
            let Some(entry) = table::entry(pid) else {
                stood_still = false;
                continue;
            };
            if see(&entry, &|| true) {
                certain.insert(pid);
            }
            table.push(entry);
        }
        let members = members(&table, certain.clone(), &self.begun);
        table.retain(|entry| members.contains(&entry.pid));
        self.known = table.iter().filter_map(Entry::id).collect();
        self.begun.retain(|&begun| {
            table.iter().any(|entry| entry.group == begun || entry.session == begun)
        });
        let leads = |entry: &&Entry| entry.group == entry.pid || entry.session == entry.pid;
        self.begun.extend(table.iter().filter(leads).map(|entry| entry.pid));
        table.retain(|entry| !entry.ended);
        table.iter().filter(|entry| !certain.contains(&entry.pid)).for_each(on_sight);
        (table, stood_still)
    }
}

/// How often the table is looked at when processes come and go, before nothing is said to be there.
const MOST_LOOKS: u32 = 5;

/// The first process inherits orphans; nothing belongs to us because of that.
const FIRST_PROCESS: i32 = 1;

/// The processes that belong, by number: those that are `certain` to, what descends from them, and
/// what is in a group or session that one of them leads or that has been `begun` by one of ours.
fn members(table: &[Entry], certain: BTreeSet<i32>, begun: &BTreeSet<i32>) -> BTreeSet<i32> {
    let by_pid: BTreeMap<i32, &Entry> = table.iter().map(|entry| (entry.pid, entry)).collect();
    let mut members = certain;
    loop {
        // A group that was begun is ours as long as one of ours is in it.
        let mut held = BTreeSet::new();
        for entry in members.iter().filter_map(|pid| by_pid.get(pid)) {
            held.extend([entry.group, entry.session].into_iter().filter(|id| begun.contains(id)));
        }
        let belongs = |entry: &&Entry| {
            let child_of =
                |parent: &&Entry| members.contains(&parent.pid) && entry.started >= parent.started;
            let led = |id: i32, of: fn(&Entry) -> i32| {
                held.contains(&id)
                    || members.contains(&id)
                        && by_pid.get(&id).is_some_and(|leader| of(leader) == leader.pid)
            };
            by_pid.get(&entry.parent).is_some_and(|parent| child_of(parent))
                || led(entry.group, |leader| leader.group)
                || led(entry.session, |leader| leader.session)
        };
        let more: Vec<_> = table
            .iter()
            .filter(|entry| !members.contains(&entry.pid))
            .filter(belongs)
            .map(|entry| entry.pid)
            .collect();
        if more.is_empty() {
            return members;
        }
        members.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pid parent group session started`, one a line.
    fn table(text: &str) -> Vec<Entry> {
        let line = |line: &str| {
            let fields: Vec<i32> =
                line.split_ascii_whitespace().map(|field| field.parse().unwrap()).collect();
            let [pid, parent, group, session, started] = fields[..] else { panic!("{line}") };
            let started = u64::try_from(started).unwrap();
            Entry { pid, parent, group, session, started, ended: false }
        };
        text.lines().map(line).collect()
    }

    #[track_caller]
    fn check(text: &str, certain: &[i32], begun: &[i32], expected: &[i32]) {
        let found = members(
            &table(text),
            certain.iter().copied().collect(),
            &begun.iter().copied().collect(),
        );
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn children_belong_at_any_depth_and_in_any_order() {
        check("30 20 5 5 3\n20 10 5 5 2\n10 5 5 5 1\n40 5 5 5 1", &[10], &[], &[10, 20, 30]);
    }

    #[test]
    fn a_group_or_session_that_one_of_ours_leads_belongs() {
        check("10 1 10 5 1\n11 1 10 5 2", &[10], &[], &[10, 11]);
        check("10 1 10 10 1\n11 1 11 10 2", &[10], &[], &[10, 11]);
    }

    #[test]
    fn a_group_or_session_of_somebody_else_does_not_belong() {
        // A leftover in the session of a terminal, whose shell is nobody's business.
        check("10 1 10 5 1\n5 4 5 5 0\n6 5 6 5 0", &[10], &[], &[10]);
        check("10 1 5 5 1\n5 4 5 5 0", &[10], &[], &[10]);
    }

    #[test]
    fn a_group_whose_leader_has_ended_is_ours_while_one_of_ours_is_in_it() {
        let left = "11 1 10 5 2\n12 1 10 5 2";
        check(left, &[11], &[10], &[11, 12]);
        // Else its number may have been given to others.
        check(left, &[], &[10], &[]);
    }

    #[test]
    fn a_number_that_was_given_to_a_later_process_does_not_lead_to_its_children() {
        // The parent was read as the later process, the child before: it cannot be its child.
        check("10 1 10 5 9\n11 10 11 5 2", &[10], &[], &[10]);
    }
}
