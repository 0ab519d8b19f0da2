//! Limits that act: on silence, time, cost and turns.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

/// What a session may take.
///
/// When a limit of a turn is reached, the turn is interrupted; if it does not end then, the session
/// is ended. When a limit of the session is reached, the session is ended, after the running turn
/// was interrupted. There is no limit unless it is set.
///
/// Time in which a person is asked does not count as silence, and not towards the time of a turn:
/// permissions, plans, entering plan mode, questions, elicitations, dialogs, and hooks that
/// [say so](crate::hook::HookContext::asks_a_person). Other hooks and tools of this process count.
///
/// ```
/// use std::time::Duration;
/// use countersign::Limits;
///
/// let limits = Limits::new().silence(Duration::from_secs(300)).session_cost_usd(2.50);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "pass it to the builder of a session"]
pub struct Limits {
    silence: Option<Duration>,
    turn: Option<Duration>,
    session: Option<Duration>,
    cost: Option<f64>,
    turns: Option<u64>,
    grace: Option<Duration>,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LimitReached {
    /// The CLI said nothing for this long in a turn.
    Silence(Duration),
    /// A turn took this long.
    TurnTime(Duration),
    /// The session took this long.
    SessionTime(Duration),
    /// The session cost this much, in US dollars.
    SessionCostUsd(f64),
    /// The session had this many turns.
    SessionTurns(u64),
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence(time) => write!(f, "the CLI said nothing for {time:?}"),
            Self::TurnTime(time) => write!(f, "the turn took {time:?}"),
            Self::SessionTime(time) => write!(f, "the session took {time:?}"),
            Self::SessionCostUsd(cost) => write!(f, "the session cost {cost} US dollars"),
            Self::SessionTurns(turns) => write!(f, "the session had {turns} turns"),
        }
    }
}

impl LimitReached {
    /// Whether the session ends with it, and not the turn alone.
    #[must_use]
    pub const fn ends_session(self) -> bool {
        matches!(self, Self::SessionTime(_) | Self::SessionCostUsd(_) | Self::SessionTurns(_))
    }
}

impl Limits {
    /// No limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long the CLI may say nothing in a turn.
    pub const fn silence(mut self, time: Duration) -> Self {
        self.silence = Some(time);
        self
    }

    /// How long a turn may take.
    pub const fn turn_time(mut self, time: Duration) -> Self {
        self.turn = Some(time);
        self
    }

    /// How long the session may take, from its start.
    pub const fn session_time(mut self, time: Duration) -> Self {
        self.session = Some(time);
        self
    }

    /// What the session may cost, in US dollars. It is known when a turn ends; the CLI's own limit,
    /// [`SessionBuilder::max_budget_usd`](crate::SessionBuilder), is looked at within a turn.
    pub const fn session_cost_usd(mut self, cost: f64) -> Self {
        self.cost = Some(cost);
        self
    }

    /// How many turns the session may have, those that nobody asked for included.
    pub const fn session_turns(mut self, turns: u64) -> Self {
        self.turns = Some(turns);
        self
    }

    /// How long a turn may take to end after it was interrupted. 10 s unless it is set.
    pub const fn grace(mut self, time: Duration) -> Self {
        self.grace = Some(time);
        self
    }

    fn grace_time(&self) -> Duration {
        self.grace.unwrap_or(Duration::from_secs(10))
    }
}

/// How often is looked whether a person has answered.
const WHILE_ASKING: Duration = Duration::from_secs(1);

/// Watches over the limits of one session. It does nothing itself: it is told what happens, and
/// says what is to be done.
#[derive(Debug)]
pub(crate) struct Watchdog {
    limits: Limits,
    begun: Instant,
    /// When the CLI last said something.
    heard: Instant,
    /// How long the running turn has taken, up to when it was last looked at.
    turn: Option<Running>,
    /// A turn was interrupted, for this, and has to end by then; none if it may take for ever.
    interrupted: Option<(LimitReached, Option<Instant>)>,
}

#[derive(Debug)]
struct Running {
    /// How many turns had ended when it began: the next may begin before anybody looks.
    after: u64,
    taken: Duration,
    looked: Instant,
    /// Whether somebody was asked when it was last looked at.
    was_asking: bool,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Act {
    /// Interrupt the turn.
    Interrupt(LimitReached),
    /// End the session.
    Stop(LimitReached),
}

/// What a session is doing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doing {
    pub(crate) is_running: bool,
    pub(crate) is_asking: bool,
    pub(crate) cost: f64,
    pub(crate) turns: u64,
}

impl Watchdog {
    pub(crate) fn new(limits: Limits, now: Instant) -> Self {
        Self { limits, begun: now, heard: now, turn: None, interrupted: None }
    }

    /// Whether there is anything to watch.
    pub(crate) fn is_needed(&self) -> bool {
        self.limits != Limits { grace: self.limits.grace, ..Limits::default() }
    }

    /// The CLI said something.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard = now;
    }

    /// Looks at the limits, and says what is to be done, and when to look again.
    pub(crate) fn look(&mut self, doing: Doing, now: Instant) -> (Option<Act>, Option<Instant>) {
        let goes_on = self.account(doing, now);
        if let Some((limit, until)) = self.interrupted {
            if goes_on && until.is_none_or(|until| now < until) {
                return (None, until);
            }
            self.interrupted = None;
            if goes_on || limit.ends_session() {
                return (Some(Act::Stop(limit)), None);
            }
        }
        if let Some(limit) = self.reached(doing, now) {
            if !doing.is_running {
                return (Some(Act::Stop(limit)), None);
            }
            let until = now.checked_add(self.limits.grace_time());
            self.interrupted = Some((limit, until));
            return (Some(Act::Interrupt(limit)), until);
        }
        (None, self.next_look(doing, now))
    }

    /// Accounts for the time since the last look, and says whether the turn of then goes on.
    fn account(&mut self, doing: Doing, now: Instant) -> bool {
        self.turn.take_if(|turn| !doing.is_running || turn.after != doing.turns);
        let goes_on = self.turn.is_some();
        if !doing.is_running {
            return goes_on;
        }
        if doing.is_asking {
            self.heard = now;
        }
        let running = self.turn.get_or_insert_with(|| {
            self.heard = now;
            Running {
                after: doing.turns,
                taken: Duration::ZERO,
                looked: now,
                was_asking: doing.is_asking,
            }
        });
        if !running.was_asking {
            running.taken += now - running.looked;
        }
        running.looked = now;
        running.was_asking = doing.is_asking;
        goes_on
    }

    fn reached(&self, doing: Doing, now: Instant) -> Option<LimitReached> {
        let Limits { silence, turn, session, cost, turns, .. } = self.limits;
        if let Some(limit) = session.filter(|limit| now - self.begun >= *limit) {
            return Some(LimitReached::SessionTime(limit));
        }
        if let Some(limit) = cost.filter(|limit| doing.cost >= *limit) {
            return Some(LimitReached::SessionCostUsd(limit));
        }
        if let Some(limit) = turns.filter(|limit| doing.turns >= *limit) {
            return Some(LimitReached::SessionTurns(limit));
        }
        let running = self.turn.as_ref()?;
        if let Some(limit) = turn.filter(|limit| running.taken >= *limit) {
            return Some(LimitReached::TurnTime(limit));
        }
        let limit = silence.filter(|limit| now - self.heard >= *limit)?;
        Some(LimitReached::Silence(limit))
    }

    /// When to look again. A time that no clock will show never comes.
    fn next_look(&self, doing: Doing, now: Instant) -> Option<Instant> {
        let session = self.limits.session.and_then(|limit| self.begun.checked_add(limit));
        let (turn, silence) = match &self.turn {
            Some(running) if !doing.is_asking => (
                self.limits
                    .turn
                    .and_then(|limit| now.checked_add(limit.saturating_sub(running.taken))),
                self.limits.silence.and_then(|limit| self.heard.checked_add(limit)),
            ),
            // Nobody tells when a person has answered.
            Some(_) => {
                let looks = self.limits.turn.or(self.limits.silence).map(|_| now + WHILE_ASKING);
                (looks, None)
            }
            None => (None, None),
        };
        [session, turn, silence].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const IDLE: Doing = Doing { is_running: false, is_asking: false, cost: 0.0, turns: 0 };
    const BUSY: Doing = Doing { is_running: true, ..IDLE };
    const ASKING: Doing = Doing { is_asking: true, ..BUSY };

    #[test]
    fn silence_interrupts_and_then_stops() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Limits::new().silence(5 * SECOND).grace(2 * SECOND), start);
        assert_eq!(dog.look(BUSY, start), (None, Some(start + 5 * SECOND)));
        dog.heard(start + 3 * SECOND);
        assert_eq!(dog.look(BUSY, start + 5 * SECOND), (None, Some(start + 8 * SECOND)));
        let limit = LimitReached::Silence(5 * SECOND);
        let (act, next) = dog.look(BUSY, start + 8 * SECOND);
        assert_eq!((act, next), (Some(Act::Interrupt(limit)), Some(start + 10 * SECOND)));
        assert_eq!(dog.look(BUSY, start + 9 * SECOND), (None, Some(start + 10 * SECOND)));
        assert_eq!(dog.look(BUSY, start + 10 * SECOND), (Some(Act::Stop(limit)), None));
    }

    #[test]
    fn a_turn_that_ends_when_it_is_interrupted_is_all_there_is() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Limits::new().turn_time(5 * SECOND), start);
        dog.look(BUSY, start);
        let (act, _) = dog.look(BUSY, start + 5 * SECOND);
        assert_eq!(act, Some(Act::Interrupt(LimitReached::TurnTime(5 * SECOND))));
        assert_eq!(dog.look(IDLE, start + 6 * SECOND), (None, None));
        // The next turn has its own time.
        assert_eq!(dog.look(BUSY, start + 7 * SECOND), (None, Some(start + 12 * SECOND)));
    }

    #[test]
    fn turns_without_a_pause_between_have_each_their_own_time() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Limits::new().turn_time(5 * SECOND), start);
        dog.look(BUSY, start);
        for turns in 1..4 {
            let now = start + 3 * SECOND * turns;
            let next = Doing { turns: turns.into(), ..BUSY };
            assert_eq!(dog.look(next, now), (None, Some(now + 5 * SECOND)));
        }
    }

    #[test]
    fn a_turn_that_follows_an_interrupted_one_at_once_is_left_alone() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Limits::new().turn_time(5 * SECOND), start);
        dog.look(BUSY, start);
        let limit = LimitReached::TurnTime(5 * SECOND);
        assert_eq!(dog.look(BUSY, start + 5 * SECOND).0, Some(Act::Interrupt(limit)));
        let next = Doing { turns: 1, ..BUSY };
        let begun = start + 6 * SECOND;
        assert_eq!(dog.look(next, begun), (None, Some(begun + 5 * SECOND)));
        // It is interrupted for what it takes itself, and has its own grace.
        let late = begun + 5 * SECOND;
        assert_eq!(dog.look(next, late), (Some(Act::Interrupt(limit)), Some(late + 10 * SECOND)));
    }

    #[test]
    fn a_session_whose_limit_is_reached_does_not_wait_for_the_turns_that_follow() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Limits::new().session_time(5 * SECOND), start);
        dog.look(BUSY, start);
        let limit = LimitReached::SessionTime(5 * SECOND);
        assert_eq!(dog.look(BUSY, start + 5 * SECOND).0, Some(Act::Interrupt(limit)));
        let next = Doing { turns: 1, ..BUSY };
        assert_eq!(dog.look(next, start + 6 * SECOND), (Some(Act::Stop(limit)), None));
    }

    #[test]
    fn a_person_may_take_any_time() {
        let start = Instant::now();
        let limits = Limits::new().silence(5 * SECOND).turn_time(9 * SECOND);
        let mut dog = Watchdog::new(limits, start);
        dog.look(BUSY, start);
        dog.look(ASKING, start + 2 * SECOND);
        let asked = start + 3600 * SECOND;
        assert_eq!(dog.look(ASKING, asked), (None, Some(asked + WHILE_ASKING)));
        // Two seconds of the turn are over, and the silence begins anew.
        assert_eq!(dog.look(BUSY, asked), (None, Some(asked + 5 * SECOND)));
        dog.heard(asked + 4 * SECOND);
        assert_eq!(dog.look(BUSY, asked + 5 * SECOND), (None, Some(asked + 7 * SECOND)));
    }

    #[test]
    fn a_limit_may_be_as_long_as_it_likes() {
        let start = Instant::now();
        let max = Duration::MAX;
        let limits = Limits::new().silence(max).turn_time(max).session_time(max).grace(max);
        let mut dog = Watchdog::new(limits.clone(), start);
        assert_eq!(dog.look(BUSY, start), (None, None));
        assert_eq!(dog.look(ASKING, start), (None, Some(start + WHILE_ASKING)));
        let mut dog = Watchdog::new(limits.session_turns(1), start);
        let doing = Doing { turns: 1, ..BUSY };
        let limit = LimitReached::SessionTurns(1);
        assert_eq!(dog.look(doing, start), (Some(Act::Interrupt(limit)), None));
        assert_eq!(dog.look(doing, start + SECOND), (None, None));
    }

    #[test]
    fn what_the_session_may_cost_ends_it() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Limits::new().session_cost_usd(1.0), start);
        let doing = Doing { cost: 1.5, ..IDLE };
        assert_eq!(dog.look(doing, start).0, Some(Act::Stop(LimitReached::SessionCostUsd(1.0))));
        let mut dog = Watchdog::new(Limits::new().session_turns(2), start);
        assert_eq!(dog.look(Doing { turns: 1, ..BUSY }, start).0, None);
        let doing = Doing { turns: 2, ..BUSY };
        let limit = LimitReached::SessionTurns(2);
        assert_eq!(dog.look(doing, start).0, Some(Act::Interrupt(limit)));
        let doing = Doing { turns: 3, ..IDLE };
        assert_eq!(dog.look(doing, start).0, Some(Act::Stop(limit)));
    }
}
