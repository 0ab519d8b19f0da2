//! What is documented, by version.

use crate::Version;

/// The oldest version that facts are documented for.
pub const V62: Version = Version::new(2, 1, 62);
/// The version in the middle.
pub const V197: Version = Version::new(2, 1, 197);
/// The newest one.
pub const V325: Version = Version::new(2, 1, 325);

/// What is documented about a finding: always the same, or changing at some versions.
///
/// For a version between two that are documented the older one counts, and for one that is older
/// than all of them the oldest.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    finding: &'static str,
    says: Says,
    since: Version,
    of_the_model: bool,
}

#[derive(Clone, Copy, Debug)]
enum Says {
    Always(&'static str),
    ByVersion(&'static [(Version, &'static str)]),
}

impl Fact {
    /// A finding that is the same on every version.
    pub(super) const fn always(finding: &'static str, value: &'static str) -> Self {
        Self::new(finding, Says::Always(value))
    }

    /// A finding that has changed: the values, each with the version from which on it holds, the
    /// oldest first.
    pub(super) const fn by_version(
        finding: &'static str,
        values: &'static [(Version, &'static str)],
    ) -> Self {
        Self::new(finding, Says::ByVersion(values))
    }

    const fn new(finding: &'static str, says: Says) -> Self {
        Self { finding, says, since: Version::new(0, 0, 0), of_the_model: false }
    }

    /// Nothing is documented about versions before this one.
    pub(super) const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }

    /// It is found by what the model was asked. The simulated CLI asks no model, so it is no fact
    /// about it.
    pub(super) const fn of_the_model(mut self) -> Self {
        self.of_the_model = true;
        self
    }

    /// It is about a process that a tool started. The simulated CLI starts none, so it is no fact
    /// about it either.
    pub(super) const fn of_a_command(self) -> Self {
        self.of_the_model()
    }

    /// The finding that it is about, without the name of its case.
    #[must_use]
    pub const fn finding(&self) -> &'static str {
        self.finding
    }

    /// Whether it can be found only by what the model was asked.
    #[must_use]
    pub const fn is_of_the_model(&self) -> bool {
        self.of_the_model
    }

    /// What is documented for a version, if anything is.
    #[must_use]
    pub fn documented(&self, version: Version) -> Option<&'static str> {
        if version < self.since {
            return None;
        }
        match self.says {
            Says::Always(value) => Some(value),
            Says::ByVersion(values) => {
                let reached = values.iter().take_while(|(from, _)| *from <= version).last();
                reached.or_else(|| values.first()).map(|(_, value)| *value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_older_version_counts_and_else_the_oldest() {
        let fact = Fact::by_version("f", &[(V62, "old"), (V197, "new")]);
        for (patch, value) in [(61, "old"), (62, "old"), (196, "old"), (197, "new"), (400, "new")] {
            assert_eq!(fact.documented(Version::new(2, 1, patch)), Some(value), "{patch}");
        }
        assert_eq!(Fact::always("f", "same").documented(Version::new(1, 0, 0)), Some("same"));
    }
}
