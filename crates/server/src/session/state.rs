//! What a session is doing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a session is doing. It is never set: it follows from what happened, see
/// [`Head::state`](super::Head::state).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has no process, and waits for a message.
    Idle,
    /// It has work, and waits until it may have a process.
    Queued,
    /// Its process is being started.
    Starting,
    /// A turn is running.
    Running,
    /// A person is asked, and the process is alive.
    Waiting,
    /// A person is asked, and there is no process.
    Parked,
    /// The process is alive, and no turn is running.
    Ready,
    /// It was stopped. A message, or `resume`, brings it back.
    Ended,
    /// It does not go on by itself. A message, an answer, or `resume` tries again.
    Failed,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Idle,
        Self::Queued,
        Self::Starting,
        Self::Running,
        Self::Waiting,
        Self::Parked,
        Self::Ready,
        Self::Ended,
        Self::Failed,
    ];

    /// The name, as it is in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Parked => "parked",
            Self::Ready => "ready",
            Self::Ended => "ended",
            Self::Failed => "failed",
        }
    }

    /// Whether there is a process, or there will be in a moment.
    #[must_use]
    pub const fn has_process(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Waiting | Self::Ready)
    }

    /// Whether one event may lead from this state to that one.
    ///
    /// A process comes by being started and by nothing else; whatever has a process may lose it.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match (self, next) {
            (_, Self::Idle | Self::Ended | Self::Failed) => true,
            (before, Self::Parked) => !matches!(before, Self::Ready),
            (before, Self::Queued) => !before.has_process(),
            (before, Self::Starting) => !before.has_process() || matches!(before, Self::Starting),
            (before, Self::Running | Self::Waiting | Self::Ready) => before.has_process(),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text is not the name of a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no state {0:?}: idle, queued, starting, running, waiting, parked, ready, ended and failed are states"
)]
pub struct NotAState(pub String);

impl FromStr for State {
    type Err = NotAState;

    fn from_str(text: &str) -> Result<Self, NotAState> {
        let found = Self::ALL.into_iter().find(|state| state.name() == text);
        found.ok_or_else(|| NotAState(text.to_owned()))
    }
}
