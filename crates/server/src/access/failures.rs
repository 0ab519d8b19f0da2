//! How many requests without a valid token come from an address.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use lru::LruCache;

/// How many failures an address has before it is told to wait.
const BUDGET: u32 = 20;
/// How long it takes until it may fail once more.
const REFILL: Duration = Duration::from_secs(3);
/// How many addresses are remembered; beyond it the one that failed longest ago is forgotten.
const ADDRESSES: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Counts failures by address, in memory and within bounds.
///
/// It is there to keep the log and the store quiet, not to keep anybody from guessing 256 bits; so
/// whoever has a valid token is let in, whatever others at the same address do.
#[derive(Debug)]
pub(super) struct Failures(Mutex<LruCache<IpAddr, Spent>>);

#[derive(Clone, Copy, Debug)]
struct Spent {
    count: u32,
    since: Timestamp,
}

impl Default for Failures {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(ADDRESSES)))
    }
}

impl Failures {
    /// Notes a failure. If there were too many, says how long to wait.
    pub(super) fn note(&self, from: IpAddr, now: Timestamp) -> Option<Duration> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = all.get_or_insert_mut(network(from), || Spent { count: 0, since: now });
        // A clock that went back gives nothing and takes nothing.
        let passed = Duration::try_from(now.duration_since(spent.since)).unwrap_or_default();
        let refilled = u32::try_from(passed.as_secs() / REFILL.as_secs()).unwrap_or(u32::MAX);
        if refilled > 0 || now < spent.since {
            *spent = Spent { count: spent.count.saturating_sub(refilled), since: now };
        }
        if spent.count >= BUDGET {
            return Some(REFILL);
        }
        spent.count += 1;
        None
    }
}

/// Whoever has an IPv6 address has all that share its first half.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use jiff::{SignedDuration, Timestamp};

    use super::{BUDGET, Failures};

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn who_fails_too_often_is_told_to_wait_and_may_try_again_then() {
        let failures = Failures::default();
        let from = address("192.0.2.1");
        let mut now = Timestamp::UNIX_EPOCH;
        for _ in 0..BUDGET {
            assert_eq!(failures.note(from, now), None);
        }
        let wait = failures.note(from, now).unwrap();
        assert!(failures.note(from, now).is_some());
        assert_eq!(failures.note(address("192.0.2.2"), now), None);
        now += SignedDuration::try_from(wait).unwrap();
        assert_eq!(failures.note(from, now), None);
        assert!(failures.note(from, now).is_some());
    }

    #[test]
    fn a_clock_that_goes_back_locks_nobody_out_for_long() {
        let failures = Failures::default();
        let from = address("192.0.2.1");
        let later = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(10_000);
        for _ in 0..=BUDGET {
            failures.note(from, later);
        }
        let now = Timestamp::UNIX_EPOCH;
        let wait = failures.note(from, now).unwrap();
        assert_eq!(failures.note(from, now + SignedDuration::try_from(wait).unwrap()), None);
    }

    #[test]
    fn the_addresses_of_one_network_count_as_one() {
        let failures = Failures::default();
        let now = Timestamp::UNIX_EPOCH;
        for last in 0..BUDGET {
            assert_eq!(failures.note(address(&format!("2001:db8::{last:x}")), now), None);
        }
        assert!(failures.note(address("2001:db8::ffff:1"), now).is_some());
        assert_eq!(failures.note(address("2001:db8:0:1::1"), now), None);
        // An IPv4 address is the same one however it is written.
        for _ in 0..BUDGET {
            failures.note(address("::ffff:192.0.2.1"), now);
        }
        assert!(failures.note(address("192.0.2.1"), now).is_some());
    }
}
