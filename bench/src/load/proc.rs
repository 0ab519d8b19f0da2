//! What the system says of processes.

use std::fs;
use std::io;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Lets this process, and all that it starts, have as many files open as it may.
pub(super) fn open_as_many_files_as_may_be() -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    Ok(())
}

/// The memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// All that it has, shared or not.
    pub(super) resident: u64,
    /// What it has for itself, and its share of the rest.
    pub(super) proportional: u64,
}

impl Memory {
    pub(super) fn of(pid: u32) -> io::Result<Self> {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
        let kilobytes = |field: &str| {
            let line = rollup.lines().find_map(|line| line.strip_prefix(field))?;
            line.split_ascii_whitespace().next()?.parse::<u64>().ok()
        };
        let bytes = |field| {
            let found = kilobytes(field).map(|number| number << 10);
            found.ok_or_else(|| io::Error::other(format!("no {field} in smaps_rollup")))
        };
        Ok(Self { resident: bytes("Rss:")?, proportional: bytes("Pss:")? })
    }
}

/// The processor time that a process has had, as exactly as the system counts: hundredths of a second.
pub(super) fn processor_time(pid: u32) -> io::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name of the program may have anything in it, but for the last bracket.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let ticks = rest.split_ascii_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|number| number.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 10))
}

/// How many files a process has open.
pub(super) fn open_files(pid: u32) -> io::Result<u64> {
    let files = fs::read_dir(format!("/proc/{pid}/fd"))?.count();
    Ok(u64::try_from(files).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::{Memory, open_files, processor_time};

    #[test]
    fn this_process_is_one() {
        let pid = std::process::id();
        let memory = Memory::of(pid).unwrap();
        assert!(memory.resident >= memory.proportional && memory.proportional > 0, "{memory:?}");
        assert!(open_files(pid).unwrap() > 2);
        processor_time(pid).unwrap();
    }
}
