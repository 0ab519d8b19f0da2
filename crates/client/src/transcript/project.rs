//! The name under which the CLI keeps the sessions of a folder.

use std::fmt;
use std::path::Path;

/// How long a name may be before it is cut.
const LONGEST: usize = 200;

/// The name under which the CLI keeps the sessions of a folder, and session stores too.
///
/// ```
/// use countersign::transcript::ProjectKey;
///
/// assert_eq!(ProjectKey::of_text("/home/me/my_project").as_str(), "-home-me-my-project");
/// ```
///
/// Each character that is no letter or digit of ASCII becomes a hyphen; one beyond the basic plane
/// becomes two, as for the CLI. A name above 200 characters is cut there and gets a hash of the
/// path. The CLI may have another hash, so a folder that exists is found by the 200 characters.
/// A path is not normalised: it counts as the system spells it, which on Linux is how it was
/// typed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectKey(Box<str>);

impl ProjectKey {
    /// The key of a folder. Symbolic links are resolved; a folder that is not there counts as it
    /// is written.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        let absolute = || std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        let resolved = directory.canonicalize().unwrap_or_else(|_| absolute());
        Self::of_text(&resolved.to_string_lossy())
    }

    /// The key of a path that is resolved already.
    #[must_use]
    pub fn of_text(path: &str) -> Self {
        let mut name = String::with_capacity(path.len());
        for unit in path.encode_utf16() {
            let ascii = u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
            name.push(ascii.map_or('-', char::from));
        }
        if name.len() > LONGEST {
            name.truncate(LONGEST);
            name.push('-');
            name.push_str(&hash(path));
        }
        Self(name.into())
    }

    /// A key that is known: the name of a folder below `projects`. Nothing if it is no name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = !name.is_empty()
            && !name.starts_with('.')
            && !name.contains(['/', '\\', '\0'])
            && name.len() <= 255;
        plain.then(|| Self(name.into()))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a folder of this name has sessions of this project.
    pub(super) fn matches(&self, folder: &str) -> bool {
        if folder == &*self.0 {
            return true;
        }
        // Only a name that was cut has something after the 200 characters.
        let cut = self.0.get(..=LONGEST).filter(|prefix| prefix.ends_with('-'));
        self.0.len() > LONGEST && cut.is_some_and(|prefix| folder.starts_with(prefix))
    }
}

impl fmt::Display for ProjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ProjectKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The hash of the official SDKs: 32 bits, in base 36.
fn hash(path: &str) -> String {
    let hash = path
        .encode_utf16()
        .fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    let mut rest = hash.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(rest % 36, 36).unwrap_or('0'));
        rest /= 36;
        if rest == 0 {
            break;
        }
    }
    digits.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_name() {
        let key = |path: &str| ProjectKey::of_text(path).to_string();
        assert_eq!(key("/srv/a.b_c d"), "-srv-a-b-c-d");
        assert_eq!(key("/ä"), "--");
        assert_eq!(key("/😀"), "---");
    }

    #[test]
    fn a_long_path_is_cut_and_found_by_its_beginning() {
        let path = format!("/{}", "a".repeat(300));
        let key = ProjectKey::of_text(&path);
        assert_eq!(key.as_str(), format!("-{}-{}", "a".repeat(199), hash(&path)));
        assert!(key.matches(&format!("-{}-another", "a".repeat(199))));
        assert!(!key.matches(&format!("-{}", "a".repeat(199))));
        assert!(!ProjectKey::of_text("/a").matches("-a-b"));
        assert!(!ProjectKey::of_text("/a").matches("-ab"));
    }

    #[test]
    fn the_hash_is_that_of_the_official_sdks() {
        assert_eq!(hash(""), "0");
        assert_eq!(hash("a"), "2p");
        assert_eq!(hash("/srv/project"), "u3sz1u");
        assert_eq!(hash("/ä😀"), "20pfc");
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_no_key() {
        for name in ["", "..", ".", "a/b", "a\\b", "a\0"] {
            assert_eq!(ProjectKey::from_name(name), None, "{name:?}");
        }
        assert!(ProjectKey::from_name("-srv").is_some());
    }
}
