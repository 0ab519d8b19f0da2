//! A process, told from a later one with the same number.

use std::fmt;
use std::num::NonZeroI32;
use std::str::FromStr;
use std::sync::OnceLock;

use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use super::table::{self, Entry};

/// A process: its number, when it was started, and in which run of the machine.
///
/// The system gives the numbers of ended processes to new ones. Together with the start time, which
/// the kernel counts in ticks since the machine was started, a number means one process only. Written
/// as text it can be kept in a file or a database and asked about after a crash.
///
/// ```
/// use countersign::process::ProcessId;
///
/// # if cfg!(target_os = "linux") {
/// let this = ProcessId::of_this_process().expect("Linux tells when a process was started");
/// let kept = this.to_string();
/// assert_eq!(kept.parse::<ProcessId>()?, this);
/// assert!(this.is_alive());
/// # }
/// # Ok::<(), countersign::process::ProcessIdError>(())
/// ```
///
/// There are none where there is no `/proc` of Linux: a number alone would not be safe to signal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProcessId {
    pid: NonZeroI32,
    started: u64,
    boot: Uuid,
}

impl ProcessId {
    /// The process that runs this code.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        Self::of(i32::try_from(std::process::id()).ok()?)
    }

    /// The process that has this number now.
    pub(super) fn of(pid: i32) -> Option<Self> {
        table::entry(pid)?.id()
    }

    pub(super) fn in_this_boot(pid: i32, started: u64) -> Option<Self> {
        Some(Self {
            pid: NonZeroI32::new(pid).filter(|pid| pid.is_positive())?,
            started,
            boot: boot(),
        })
    }

    /// The number of the process.
    #[must_use]
    pub const fn pid(self) -> i32 {
        self.pid.get()
    }

    /// When the process was started, in ticks of the clock since the machine was.
    #[must_use]
    pub const fn start_time(self) -> u64 {
        self.started
    }

    /// Whether this very process still runs.
    ///
    /// One that has ended does not, though its parent has not taken note yet.
    #[must_use]
    pub fn is_alive(self) -> bool {
        self.entry().is_some_and(|entry| !entry.ended)
    }

    /// What the system says of this very process, also when it has ended but is not gone.
    pub(super) fn entry(self) -> Option<Entry> {
        table::entry(self.pid()).filter(|entry| entry.id() == Some(self))
    }

    pub(super) fn raw(self) -> Option<Pid> {
        Pid::from_raw(self.pid())
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}@{}", self.pid, self.started, self.boot)
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProcessId({self})")
    }
}

/// A text that is not a [`ProcessId`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a process id: {text:?} (expected what ProcessId prints, pid@start@boot)")]
#[non_exhaustive]
pub struct ProcessIdError {
    /// The text.
    pub text: String,
}

impl FromStr for ProcessId {
    type Err = ProcessIdError;

    fn from_str(text: &str) -> Result<Self, ProcessIdError> {
        let parse = || {
            let mut parts = text.split('@');
            let id = Self {
                pid: parts.next()?.parse().ok()?,
                started: parts.next()?.parse().ok()?,
                boot: Uuid::parse_str(parts.next()?).ok()?,
            };
            // One process has one spelling, so that texts can be compared.
            (id.pid.is_positive() && parts.next().is_none() && id.to_string() == text).then_some(id)
        };
        parse().ok_or_else(|| ProcessIdError { text: text.to_owned() })
    }
}

impl TryFrom<String> for ProcessId {
    type Error = ProcessIdError;

    fn try_from(text: String) -> Result<Self, ProcessIdError> {
        text.parse()
    }
}

impl From<ProcessId> for String {
    fn from(id: ProcessId) -> Self {
        id.to_string()
    }
}

/// A process and what it was started as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// Which process it is.
    pub id: ProcessId,
    /// Its command line, words separated by spaces, cut after 4 KiB. It may hold what its user
    /// thinks secret. Empty when the process ended before it could be read.
    pub command: String,
}

impl ProcessInfo {
    pub(super) fn of(entry: &Entry) -> Option<Self> {
        Some(Self { id: entry.id()?, command: table::command(entry.pid) })
    }
}

/// The run of the machine: start times begin again with each.
fn boot() -> Uuid {
    static BOOT: OnceLock<Uuid> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Uuid::parse_str(text.trim()).unwrap_or_default()
    })
}
