//! When to write what was recorded.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How fast a tape is played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Speed {
    /// As it was recorded.
    Original,
    /// Without any pause.
    #[default]
    Fast,
    /// So many times as fast as it was recorded.
    Times(f64),
}

/// Why a text is not a speed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a speed: give \"original\", \"fast\" or a number above 0")]
pub struct SpeedError(String);

impl FromStr for Speed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, SpeedError> {
        match text {
            "original" => Ok(Self::Original),
            "fast" => Ok(Self::Fast),
            number => match number.parse::<f64>() {
                Ok(times) if times.is_finite() && times > 0.0 => Ok(Self::Times(times)),
                _ => Err(SpeedError(text.to_owned())),
            },
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Original => f.write_str("original"),
            Self::Fast => f.write_str("fast"),
            Self::Times(times) => times.fmt(f),
        }
    }
}

/// Keeps the pauses between what the client did and what the CLI wrote then.
///
/// The pauses are counted from the moment at which the client did it this time, so a slow client
/// does not make the CLI seem fast.
#[derive(Debug)]
pub(crate) struct Pace {
    speed: Speed,
    /// A moment, and the microsecond of the tape that it stands for.
    base: (Instant, u64),
}

impl Pace {
    pub(crate) fn new(speed: Speed, now: Instant) -> Self {
        Self { speed, base: (now, 0) }
    }

    /// The client has just done what it did at this microsecond of the tape.
    pub(crate) fn sync(&mut self, us: u64, now: Instant) {
        self.base = (now, us);
    }

    /// When something is due that was written at this microsecond; nothing when at once.
    pub(crate) fn due(&self, us: u64) -> Option<Instant> {
        let (moment, base) = self.base;
        let pause = Duration::from_micros(us.saturating_sub(base));
        match self.speed {
            Speed::Fast => None,
            Speed::Original => moment.checked_add(pause),
            // A pause of more than some hundred billion years is as good as none that ends.
            Speed::Times(times) => Duration::try_from_secs_f64(pause.as_secs_f64() / times)
                .ok()
                .and_then(|pause| moment.checked_add(pause)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_counted_from_what_the_client_did() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut pace = Pace::new(Speed::Original, start);
        assert_eq!(pace.due(1_000_000), Some(start + second));
        pace.sync(5_000_000, start + 60 * second);
        assert_eq!(pace.due(6_000_000), Some(start + 61 * second));
        assert_eq!(pace.due(4_000_000), Some(start + 60 * second));
        assert_eq!(Pace::new(Speed::Times(4.0), start).due(2_000_000), Some(start + second / 2));
        assert_eq!(Pace::new(Speed::Fast, start).due(2_000_000), None);
    }

    #[test]
    fn a_speed_is_a_word_or_a_number() {
        for (text, speed) in
            [("original", Speed::Original), ("fast", Speed::Fast), ("2.5", Speed::Times(2.5))]
        {
            assert_eq!(text.parse(), Ok(speed));
            assert_eq!(speed.to_string(), text);
        }
        for text in ["", "slow", "0", "-1", "NaN", "inf"] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
