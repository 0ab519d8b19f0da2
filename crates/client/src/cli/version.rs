//! Which version a CLI is, without starting it if that can be avoided.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use countersign_protocol::Version;
use serde::Deserialize;

/// The package that the CLI is published as. Programs for single platforms are in packages whose
/// names begin like this.
const PACKAGE: &str = "@anthropic-ai/claude-code";

/// More than this is not the description of a package, nor the answer to `--version`.
const LONGEST: u64 = 64 * 1024;

/// How many versions are kept. A process that meets more programs asks some of them again.
const KEPT: usize = 64;

/// The versions that programs said they are.
static SAID: Mutex<BTreeMap<Identity, Version>> = Mutex::new(BTreeMap::new());

/// What tells one state of a program from another: where it really is, and what changes with an
/// update.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    path: PathBuf,
    modified: Option<SystemTime>,
    size: u64,
}

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let metadata = fs::metadata(&path)?;
        Ok(Self { path, modified: metadata.modified().ok(), size: metadata.len() })
    }
}

/// The version of a program, as far as it is known without starting it.
pub(super) fn known(path: &Path) -> Option<Version> {
    let identity = Identity::of(path).ok()?;
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner).get(&identity).copied();
    said.or_else(|| by_name(&identity.path)).or_else(|| by_package(&identity.path))
}

/// The version that a program says it is. `run` gets the program and its one argument.
pub(super) async fn ask<R, F>(path: &Path, run: R) -> Result<Version, VersionError>
where
    R: FnOnce(PathBuf, &'static str) -> F,
    F: Future<Output = io::Result<Vec<u8>>>,
{
    let failed = |source| VersionError::Run { path: path.to_owned(), source };
    // Taken before the program runs: when it is replaced meanwhile, the answer is kept for a state
    // that is gone.
    let identity = Identity::of(path).map_err(failed)?;
    let output = run(path.to_owned(), "--version").await.map_err(failed)?;
    let version = parse_answer(&output).ok_or_else(|| VersionError::Answer {
        path: path.to_owned(),
        said: String::from_utf8_lossy(output.get(..200).unwrap_or(&output)).trim().to_owned(),
    })?;
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() >= KEPT {
        said.pop_first();
    }
    said.insert(identity, version);
    Ok(version)
}

/// Reads the answer to `--version`: `2.1.325 (Claude Code)`, and nothing else.
fn parse_answer(output: &[u8]) -> Option<Version> {
    let text = std::str::from_utf8(output).ok()?;
    text.trim_end().strip_suffix(" (Claude Code)")?.parse().ok()
}

/// Native installs are files named by their version, in a folder `versions`.
fn by_name(path: &Path) -> Option<Version> {
    let folder = path.parent()?.file_name()?;
    if folder != "versions" {
        return None;
    }
    path.file_name()?.to_str()?.parse().ok()
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

/// npm installs are a package, or, where links cannot be made, a script beside one.
fn by_package(path: &Path) -> Option<Version> {
    let beside = path.parent().filter(|folder| folder.file_name() == Some(OsStr::new(".bin")));
    let linked = beside.and_then(Path::parent).map(|modules| modules.join(PACKAGE));
    // The program is in the folder of the package or, at most, in `bin` below it.
    let around = path.ancestors().skip(1).take(2).map(Path::to_owned);
    around.chain(linked).find_map(|folder| package_version(&folder))
}

fn package_version(folder: &Path) -> Option<Version> {
    let file = folder.join("package.json");
    if fs::metadata(&file).ok()?.len() > LONGEST {
        return None;
    }
    let package: Package = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let ours = package.name.strip_prefix(PACKAGE)?;
    (ours.is_empty() || ours.starts_with('-')).then(|| package.version.parse().ok())?
}

/// Why the version of a CLI could not be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VersionError {
    /// The program could not be run, or did not end in time.
    #[error("`{} --version` could not be run: check that it is the Claude Code CLI", path.display())]
    Run {
        /// The program.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program said something else than a version.
    #[error(
        "`{} --version` said {said:?}, where `2.1.325 (Claude Code)` or the like is expected: \
         check that it is the Claude Code CLI",
        path.display()
    )]
    Answer {
        /// The program.
        path: PathBuf,
        /// What it said, cut to 200 bytes.
        said: String,
    },
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_answer_is_a_version_and_a_name() {
        let version = Some(Version::new(2, 1, 325));
        assert_eq!(parse_answer(b"2.1.325 (Claude Code)\n"), version);
        assert_eq!(parse_answer(b"2.1.325 (Claude Code)\r\n"), version);
        for text in [
            "",
            "2.1.325",
            "v2.1.325 (Claude Code)",
            "2.1.325 (Claude Codes)",
            "warning\n2.1.325 (Claude Code)\n",
            "2.1.325 (Claude Code)\nmore",
            "2.1 (Claude Code)",
            "Python 3.12.1",
        ] {
            assert_eq!(parse_answer(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_taken_for_a_version(output in prop::collection::vec(any::<u8>(), 0..60)) {
            prop_assert_eq!(parse_answer(&output), None);
        }
    }
}
