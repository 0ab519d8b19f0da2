//! Signals that reach the process they are meant for, or none.

use rustix::process::{Signal, kill_process, kill_process_group};

use super::id::ProcessId;

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
