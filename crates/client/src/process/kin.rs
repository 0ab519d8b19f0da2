//! Who belongs because of whom.

use std::collections::{BTreeMap, BTreeSet};

use super::table::Entry;

/// The processes that belong, by number: those that are `certain` to, what descends from them, and
/// what is in a group or session that one of them leads or that has been `begun` by one of ours.
pub(super) fn members(
    table: &[Entry],
    certain: BTreeSet<i32>,
    begun: &BTreeSet<i32>,
) -> BTreeSet<i32> {
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
            by_pid.get(&entry.parent).is_some_and(child_of)
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
            Entry { pid, parent, group, session, started, ended: false, kernel: false }
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
