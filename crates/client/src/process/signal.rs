//! Signals that reach the process they are meant for, or none.

use rustix::process::{Pid, Signal, getpgrp, kill_process, kill_process_group};

use super::id::ProcessId;
use super::scope::Sight;

/// Sends a signal to this very process, and to no other that has its number now. Whether it was
/// sent: one that has ended is none to complain about.
pub(super) fn send(id: ProcessId, signal: Signal) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::io::Errno;
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let Some(pid) = id.raw() else { return false };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // Looked at after the handle was had: if it is the right process now, it was then.
            Ok(handle) => return id.is_alive() && pidfd_send_signal(handle, signal).is_ok(),
            Err(Errno::SRCH) => return false,
            // An old kernel, or not permitted.
            Err(_) => {}
        }
    }
    // Between look and signal there are microseconds, in which the number would have to come round.
    id.is_alive() && id.raw().is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Kills a process, and all that is in its group if that is all ours.
///
/// A group is killed as a whole, also what is being forked in it meanwhile. So what forks and ends
/// all the time is ended by it, whichever of them was seen.
pub(super) fn kill(sight: &Sight) {
    let Some(id) = sight.entry.id() else { return };
    let group = Pid::from_raw(sight.entry.group).filter(|group| *group != getpgrp());
    // Asked last of all: as long as somebody is in it, the number of a group is nobody else's.
    if let Some(group) = group.filter(|_| sight.owns_group)
        && id.entry().is_some_and(|now| now.group == sight.entry.group)
    {
        _ = kill_process_group(group, Signal::KILL);
    }
    send(id, Signal::KILL);
}

/// Sends a signal to the process group that this very process leads.
///
/// The caller has not taken note of its end yet, so that its number is not given to another.
pub(super) fn send_to_group(leader: ProcessId, signal: Signal) {
    let group = leader.entry().filter(|entry| entry.group == entry.pid).and(leader.raw());
    if let Some(group) = group {
        // An error means that nobody is there, or that it is not ours to signal.
        _ = kill_process_group(group, signal);
    }
}
