//! Versions of the CLI, by number.

use std::fmt;
use std::str::FromStr;

/// A version of the CLI.
///
/// Versions are ordered by their numbers. A text with anything but three numbers in it, such as a
/// `v` in front or a mark of a pre-release behind, is refused: what is not understood is not taken
/// for something newer or older.
///
/// ```
/// use countersign_protocol::Version;
///
/// let version: Version = "2.1.325".parse()?;
/// assert!(version > Version::new(2, 1, 197));
/// assert_eq!(version.to_string(), "2.1.325");
/// # Ok::<(), countersign_protocol::NotAVersion>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Version {
    /// The versions that everything in this project is tested with, the newest first.
    pub const TESTED: [Self; 3] = [Self::new(2, 1, 325), Self::new(2, 1, 197), Self::new(2, 1, 62)];

    /// The version of these three numbers.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let mut numbers = text.trim().split('.').map(|part| {
            // `parse` alone would take a sign.
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| part.parse().ok()).flatten()
        });
        let mut next = || numbers.next().flatten();
        let version = (|| Some(Self::new(next()?, next()?, next()?)))();
        version
            .filter(|_| numbers.next().is_none())
            .ok_or_else(|| NotAVersion { text: text.to_owned() })
    }
}

/// A text that is not a version of the CLI.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{text:?} is not a version: three numbers are expected, such as 2.1.325")]
pub struct NotAVersion {
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_a_version_and_nothing_else_is() {
        assert_eq!("2.1.62\n".parse(), Ok(Version::new(2, 1, 62)));
        for text in ["", "2", "2.1", "2.1.62.3", "2.1.x", "2.1.-1", "2.1.+1", "v2.1.62", "2..1"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }

    #[test]
    fn versions_are_ordered_by_number_and_not_by_text() {
        assert!(Version::new(2, 1, 62) < Version::new(2, 1, 197));
        assert!(Version::TESTED.is_sorted_by(|a, b| a > b));
    }
}
