//! The process table of the system, as `/proc` of Linux shows it.
//!
//! Where there is no such `/proc`, there are no processes to see, and everything here says so.

use std::fs::{self, File};
use std::io::{self, Read as _};

use super::id::ProcessId;
use super::mark::Mark;

/// A process, as the table shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) started: u64,
    /// It has ended, and its parent has not taken note yet.
    pub(super) ended: bool,
    /// It is a part of the kernel, and has no environment.
    pub(super) kernel: bool,
}

impl Entry {
    pub(super) fn id(&self) -> Option<ProcessId> {
        ProcessId::in_this_boot(self.pid, self.started)
    }

    /// Whether it carries a mark. None if it shows no environment at all, as a process does while it
    /// becomes another program, and when it ends.
    pub(super) fn carries(&self, mark: Mark, buffer: &mut Vec<u8>) -> Option<bool> {
        if self.kernel {
            return Some(false);
        }
        match read(self.pid, "environ", LONGEST_ENVIRONMENT, buffer) {
            Ok([]) => None,
            Ok(environment) => Some(mark.is_in(environment)),
            // Of somebody else; it cannot be signalled either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Some(false),
            Err(_) => None,
        }
    }

    /// From the text of `/proc/PID/stat`.
    pub(super) fn parse(stat: &[u8]) -> Option<Self> {
        // The name of the program stands in parentheses and may hold anything, parentheses included.
        let open = stat.iter().position(|&byte| byte == b'(')?;
        let close = stat.iter().rposition(|&byte| byte == b')')?;
        let pid = std::str::from_utf8(stat.get(..open)?).ok()?.trim().parse().ok()?;
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let flags: u64 = fields.nth(2)?.parse().ok()?;
        let threads: i64 = fields.nth(10)?.parse().ok()?;
        let started = fields.nth(1)?.parse().ok()?;
        // When only the first thread of a process has ended, the others go on.
        let ended = matches!(state, "Z" | "X" | "x") && threads <= 1;
        let kernel = flags & KERNEL_THREAD != 0;
        Some(Self { pid, parent, group, session, started, ended, kernel })
    }
}

/// The process that has this number now.
pub(super) fn entry(pid: i32) -> Option<Entry> {
    let mut buffer = [0; LONGEST_STAT];
    let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut buffer).ok()?;
    Entry::parse(buffer.get(..length)?)
}

/// The numbers of all processes that run now.
pub(super) fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The number that was given out last, to a process or a thread.
pub(super) fn last_pid() -> i32 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.rsplit(' ').next().and_then(|last| last.trim().parse().ok()).unwrap_or(0)
}

/// The numbers that were given out before `last`, and itself, the last one first.
pub(super) fn newest(last: i32) -> impl Iterator<Item = i32> {
    (2.max(last.saturating_sub(NEWEST - 1))..=last).rev()
}

/// Whether this number is that of a process, and not of a thread of one.
pub(super) fn is_process(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    group.is_some_and(|group| group.trim().parse() == Ok(pid))
}

/// The command line of a process.
pub(super) fn command(pid: i32) -> String {
    let mut buffer = Vec::new();
    let words = read(pid, "cmdline", LONGEST_COMMAND, &mut buffer).unwrap_or_default();
    let words = words.strip_suffix(&[0]).unwrap_or(words);
    String::from_utf8_lossy(words).replace('\0', " ")
}

/// A flag of the kernel's own threads.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// Of these many it is worth to be asked before all others.
const NEWEST: i32 = 16;
/// All of `stat` in one read: 52 numbers and a name.
const LONGEST_STAT: usize = 2048;
const LONGEST_COMMAND: u64 = 4096;
/// What is longer than the system lets an environment be by default is not looked through.
const LONGEST_ENVIRONMENT: u64 = 8 * 1024 * 1024;

fn read<'b>(pid: i32, file: &str, limit: u64, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
    buffer.clear();
    File::open(format!("/proc/{pid}/{file}"))?.take(limit).read_to_end(buffer)?;
    Ok(buffer)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn this_process_is_in_the_table() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let this = entry(pid).unwrap();
        assert_eq!(this.pid, pid);
        assert_eq!(this.parent, rustix::process::getppid().unwrap().as_raw_nonzero().get());
        assert_eq!(this.group, rustix::process::getpgrp().as_raw_nonzero().get());
        assert!(!this.ended);
        assert!(pids().any(|each| each == pid));
        assert!(command(pid).contains("this_process_is_in_the_table") || !command(pid).is_empty());
    }

    #[test]
    fn a_thread_is_told_from_a_process() {
        let pid = i32::try_from(std::process::id()).unwrap();
        assert!(is_process(pid));
        // Tests run in threads of their own.
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        assert!(thread != pid && entry(thread).is_some() && !is_process(thread));
        assert!(last_pid() > 0);
        assert_eq!(newest(20).collect::<Vec<_>>(), (5..=20).rev().collect::<Vec<_>>());
    }

    fn stat(name: &[u8], state: char, threads: u8) -> Vec<u8> {
        let mut stat = b"42 (".to_vec();
        stat.extend(name);
        stat.extend(
            format!(
                ") {state} 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 {threads} 0 123456 99 98 97\n"
            )
            .into_bytes(),
        );
        stat
    }

    #[test]
    fn a_process_that_has_ended_is_told_from_one_that_lost_its_first_thread() {
        assert!(!Entry::parse(&stat(b"sh", 'S', 1)).unwrap().ended);
        assert!(Entry::parse(&stat(b"sh", 'Z', 1)).unwrap().ended);
        assert!(!Entry::parse(&stat(b"sh", 'Z', 2)).unwrap().ended);
    }

    proptest! {
        #[test]
        fn the_name_of_a_program_changes_nothing(name in proptest::collection::vec(1_u8.., 0..20)) {
            let entry = Entry::parse(&stat(&name, 'S', 1)).unwrap();
            let (pid, parent, group, session, started) = (42, 7, 8, 9, 123_456);
            prop_assert_eq!(entry, Entry { pid, parent, group, session, started, ended: false, kernel: false });
        }

        #[test]
        fn a_cut_line_is_never_read_wrongly(cut in 0_usize..80) {
            let whole = stat(b"a b) c", 'S', 1);
            let cut = cut.min(whole.len());
            if let Some(entry) = Entry::parse(&whole[..cut]) {
                prop_assert_eq!((entry.pid, entry.parent, entry.group, entry.session), (42, 7, 8, 9));
                prop_assert!("123456".starts_with(&entry.started.to_string()));
            }
        }

        #[test]
        fn no_bytes_are_a_reason_to_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            Entry::parse(&bytes);
        }
    }
}
