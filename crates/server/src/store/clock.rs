//! Times, as they are kept.

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};

use crate::access::Clock;

/// What time it is, in whole microseconds: as exact as anybody reads it, and the same after it was
/// on disk.
pub(super) fn now(clock: &dyn Clock) -> Timestamp {
    let now = clock.now();
    let whole = TimestampRound::new().smallest(Unit::Microsecond).mode(RoundMode::Trunc);
    now.round(whole).unwrap_or(now)
}

/// A time as a number that sorts: nanoseconds since 1970. What is further away than such a number
/// reaches, in the years 1677 and 2262, counts as the end of it.
pub(super) fn to_number(time: Timestamp) -> i64 {
    let nanoseconds = time.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// The time that a number stands for.
pub(super) fn from_number(number: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(number)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::ManualClock;

    #[test]
    fn a_time_is_the_same_after_it_was_a_number() {
        let time: Timestamp = "2026-03-04T05:06:07.123456789Z".parse().unwrap();
        assert_eq!(from_number(to_number(time)), time);
        for time in [Timestamp::MIN, Timestamp::MAX] {
            assert!(from_number(to_number(time)).as_second().abs() > 9_000_000_000, "{time}");
        }
    }

    #[test]
    fn a_time_is_in_whole_microseconds_and_not_in_the_future() {
        let clock = ManualClock::new("2026-03-04T05:06:07.123456789Z".parse().unwrap());
        assert_eq!(now(&clock).to_string(), "2026-03-04T05:06:07.123456Z");
    }
}
