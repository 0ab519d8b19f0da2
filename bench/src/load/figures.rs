//! Times, and what is said of them.

use std::time::Duration;

/// How long something took, each time.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    all: Vec<Duration>,
    /// The processor time that the server had for all of it together.
    pub(super) processor: Duration,
}

impl Times {
    pub(super) fn add(&mut self, time: Duration) {
        self.all.push(time);
    }

    pub(super) fn count(&self) -> u64 {
        u64::try_from(self.all.len()).unwrap_or(u64::MAX)
    }

    /// The time below which so many of a thousand are.
    pub(super) fn below(&self, of_thousand: usize) -> Duration {
        let mut sorted = self.all.clone();
        sorted.sort_unstable();
        let place = (sorted.len() * of_thousand).div_ceil(1000).saturating_sub(1);
        sorted.get(place).copied().unwrap_or_default()
    }

    pub(super) fn p50(&self) -> Duration {
        self.below(500)
    }

    pub(super) fn p95(&self) -> Duration {
        self.below(950)
    }

    pub(super) fn p99(&self) -> Duration {
        self.below(990)
    }

    /// The processor time that the server had for one of them.
    pub(super) fn processor_each(&self) -> Duration {
        let count = u32::try_from(self.count()).unwrap_or(u32::MAX);
        self.processor.checked_div(count).unwrap_or_default()
    }

    pub(super) fn most(&self) -> Duration {
        self.below(1000)
    }
}

impl FromIterator<Duration> for Times {
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        Self { all: times.into_iter().collect(), processor: Duration::ZERO }
    }
}

/// How many times the second the first is.
pub(super) fn ratio(of: Duration, to: Duration) -> f64 {
    if to.is_zero() { 0.0 } else { of.as_secs_f64() / to.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Times, ratio};

    #[test]
    fn of_a_hundred_times_the_last_but_one_is_the_99th() {
        let times: Times = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(times.p50(), Duration::from_millis(50));
        assert_eq!(times.p95(), Duration::from_millis(95));
        assert_eq!(times.p99(), Duration::from_millis(99));
        assert_eq!(times.most(), Duration::from_millis(100));
        assert_eq!(Times::default().p99(), Duration::ZERO);
        assert_eq!(ratio(Duration::from_secs(3), Duration::from_secs(2)), 1.5);
    }
}
