//! Finding the real CLI, and telling its version without running it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use memchr::memmem;
use serde::Deserialize;

use crate::stand_in::MARKS;

/// The variable that names the CLI, for clients as for us.
const PATH_VARIABLE: &str = "CLAUDE_CODE_PATH";

/// What the CLI is called.
const NAME: &str = "claude";

/// The package that the CLI comes in. Native builds add their platform to the name.
const PACKAGE: &str = "@anthropic-ai/claude-code";

/// How much of a file is looked at to tell whether it is a stand-in.
const SCRIPT_HEAD: u64 = 4096;

/// How much of a `package.json` is read.
const MAX_PACKAGE: u64 = 1024 * 1024;

/// Why there is no CLI to run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// Nothing of that name is on the search path.
    #[error("{name} is not on PATH; name the CLI with --claude or with {PATH_VARIABLE}")]
    NotOnPath {
        /// What was looked for.
        name: PathBuf,
    },
    /// The file cannot be run.
    #[error("{path} is not a program that can be run", path = path.display())]
    NotAProgram {
        /// The file.
        path: PathBuf,
    },
    /// The file would start the recorder again, and that one the file again.
    #[error(
        "{path} is itself a stand-in that records; name the real CLI with --claude",
        path = path.display()
    )]
    StandIn {
        /// The file.
        path: PathBuf,
    },
}

/// Finds the CLI: the one that was named, or else the one in `CLAUDE_CODE_PATH`, or else the
/// first `claude` on the search path that is not a stand-in of ours.
///
/// # Errors
///
/// When there is none, or when the one that was named is a stand-in or no program.
pub fn find_cli(named: Option<&Path>) -> Result<PathBuf, FindError> {
    let variable = std::env::var_os(PATH_VARIABLE).filter(|path| !path.is_empty());
    let Some(named) = named.or(variable.as_deref().map(Path::new)) else {
        return search(NAME.as_ref(), |path| !is_stand_in(path))
            .ok_or_else(|| FindError::NotOnPath { name: NAME.into() });
    };
    let path = if named.components().nth(1).is_some() {
        named.to_owned()
    } else {
        search(named.as_os_str(), |_| true)
            .ok_or_else(|| FindError::NotOnPath { name: named.to_owned() })?
    };
    if !is_program(&path) {
        return Err(FindError::NotAProgram { path });
    }
    if is_stand_in(&path) {
        return Err(FindError::StandIn { path });
    }
    Ok(path)
}

/// The first program of that name on the search path that will do.
pub(super) fn search(name: &OsStr, will_do: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| is_program(path) && will_do(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Whether running this file would run the recorder: it is this program under another name, or
/// a script that starts it.
fn is_stand_in(path: &Path) -> bool {
    let this = std::env::current_exe().and_then(|this| this.canonicalize());
    if let (Ok(this), Ok(path)) = (this, path.canonicalize())
        && this == path
    {
        return true;
    }
    let head = read_head(path, SCRIPT_HEAD).unwrap_or_default();
    head.starts_with(b"#!")
        && MARKS.iter().any(|mark| memmem::find(&head, mark.as_bytes()).is_some())
}

/// The version of the CLI, where the place of its file tells it.
pub(super) fn version_of(program: &Path) -> Option<String> {
    let program = program.canonicalize().ok()?;
    program.ancestors().skip(1).find_map(packaged_version).or_else(|| version_in_path(&program))
}

/// The version in the `package.json` of this folder, if it is the package of the CLI.
fn packaged_version(folder: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    let text = read_head(&folder.join("package.json"), MAX_PACKAGE)?;
    let package: Package = serde_json::from_slice(&text).ok()?;
    package.name.starts_with(PACKAGE).then_some(package.version)
}

/// The version in a path such as `…/claude/versions/2.1.325`. In a path that has nothing of
/// Claude before it, a version is that of something else.
fn version_in_path(program: &Path) -> Option<String> {
    let mut ours = false;
    let mut version = None;
    for component in program.components() {
        let Component::Normal(name) = component else { continue };
        let Some(name) = name.to_str() else { continue };
        ours |= name.contains(NAME);
        if ours && is_version(name) {
            version = Some(name.to_owned());
        }
    }
    version
}

/// Whether this is something like `2.1.325` or `2.1.0-beta.1`.
fn is_version(text: &str) -> bool {
    let (numbers, _) = text.split_once(['-', '+']).unwrap_or((text, ""));
    let mut parts = 0;
    for part in numbers.split('.') {
        parts += 1;
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
    }
    parts == 3
}

/// The beginning of a file.
fn read_head(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(limit).read_to_end(&mut head).ok()?;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_a_path_that_is_the_cli_s() {
        for (path, version) in [
            ("/home/user-1/.local/share/claude/versions/2.1.325", Some("2.1.325")),
            ("/opt/claude-code/2.1.0-beta.1/bin/claude", Some("2.1.0-beta.1")),
            ("/home/user-1/.asdf/installs/nodejs/20.1.0/bin/claude", None),
            ("/usr/bin/claude", None),
            ("/opt/claude/2.1/claude", None),
        ] {
            assert_eq!(version_in_path(Path::new(path)).as_deref(), version, "{path}");
        }
    }

    #[test]
    fn a_version_is_found_in_the_package_of_the_cli() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("node_modules/@anthropic-ai/claude-code");
        std::fs::create_dir_all(package.join("bin/deep")).unwrap();
        std::fs::write(package.join("bin/deep/cli.js"), "").unwrap();
        // The package of something else, nearer to the program.
        std::fs::write(package.join("bin/package.json"), r#"{"type":"module"}"#).unwrap();
        assert_eq!(version_of(&package.join("bin/deep/cli.js")), None);
        let text = r#"{"name":"@anthropic-ai/claude-code","version":"2.1.62"}"#;
        std::fs::write(package.join("package.json"), text).unwrap();
        let link = folder.path().join("claude");
        std::os::unix::fs::symlink(package.join("bin/deep/cli.js"), &link).unwrap();
        assert_eq!(version_of(&link).as_deref(), Some("2.1.62"));
    }
}
