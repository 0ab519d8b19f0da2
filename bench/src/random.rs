//! Numbers that look random and are the same for the same seed.

use std::time::Duration;

/// A generator of numbers, `SplitMix64`: small, and good enough to choose what happens next.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that begins with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Another one, whose numbers have nothing to do with those of this one.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.number())
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one; 0 if there is none.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number().checked_rem(end).unwrap_or_default()
    }

    /// Whether something happens that happens so often in a hundred times.
    pub fn percent(&mut self, of_hundred: u64) -> bool {
        self.below(100) < of_hundred
    }

    /// A time from nothing to this one, each equally likely.
    pub fn up_to(&mut self, time: Duration) -> Duration {
        let most = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.below(most.saturating_add(1)))
    }

    /// One of these.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let count = u64::try_from(of.len()).unwrap_or(u64::MAX);
        of.get(usize::try_from(self.below(count)).unwrap_or_default())
    }

    /// One of these, each as often as its number says.
    ///
    /// With nothing to choose from it is the first, so there has to be one.
    pub fn weighted<T: Copy>(&mut self, of: &[(u64, T)], otherwise: T) -> T {
        let mut left = self.below(of.iter().map(|(weight, _)| weight).sum());
        for (weight, choice) in of {
            if left < *weight {
                return *choice;
            }
            left -= weight;
        }
        otherwise
    }
}
