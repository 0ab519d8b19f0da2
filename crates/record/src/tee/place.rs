//! Where the tape of a run goes.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memchr::memmem;

/// The name of a tape in a folder.
const IN_A_FOLDER: &str = "claude-{time}-{pid}.tape";

/// The file for a run: in a folder, one of its own; otherwise the path, with `{pid}` and `{time}`
/// filled in.
pub(super) fn tape_file(tape: &Path, start: Timestamp, pid: u32) -> PathBuf {
    let path = if tape.is_dir() { tape.join(IN_A_FOLDER) } else { tape.to_owned() };
    // Without colons, which some file systems and tools do not like in a name.
    let time = start.strftime("%Y%m%dT%H%M%S.%6fZ").to_string();
    let mut name = path.into_os_string();
    for (placeholder, value) in [("{pid}", pid.to_string()), ("{time}", time)] {
        name = fill_in(&name, placeholder, &value);
    }
    name.into()
}

fn fill_in(name: &OsString, placeholder: &str, value: &str) -> OsString {
    let bytes = name.as_bytes();
    let mut filled = Vec::with_capacity(bytes.len() + value.len());
    let mut rest = bytes;
    while let Some(at) = memmem::find(rest, placeholder.as_bytes()) {
        let (before, from) = rest.split_at(at);
        filled.extend_from_slice(before);
        filled.extend_from_slice(value.as_bytes());
        rest = from.get(placeholder.len()..).unwrap_or_default();
    }
    filled.extend_from_slice(rest);
    OsString::from_vec(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_gets_a_file_of_its_own() {
        let start = "2026-11-16T08:01:02.003Z".parse().unwrap();
        let file = |tape: &str| tape_file(Path::new(tape), start, 77).display().to_string();
        assert_eq!(file("a.tape"), "a.tape");
        assert_eq!(file("a-{pid}-{pid}-{time}.tape"), "a-77-77-20261116T080102.003000Z.tape");
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            tape_file(folder.path(), start, 77),
            folder.path().join("claude-20261116T080102.003000Z-77.tape")
        );
    }
}
