//! What takes long says so, also where there is no terminal.

use std::path::Path;

use crate::support::{Ran, run, script};

/// A CLI that takes its time, and is broken.
const SLOW: &str = "#!/bin/sh\nsleep 2\necho 'It is late.'\n";

fn doctor(folder: &Path, arguments: &[&str]) -> Ran {
    let claude = script(&folder.join("claude"), SLOW);
    run(folder, &[&["doctor", "--cli", claude.to_str().unwrap()], arguments].concat())
}

#[test]
fn what_takes_long_is_told_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let told = doctor(folder.path(), &[]);
    let expected = format!("asking {} for its version\n", folder.path().join("claude").display());
    assert_eq!(told.err, expected, "{}", told.out);
    for quiet in ["--quiet", "--json"] {
        assert_eq!(doctor(folder.path(), &[quiet]).err, "", "{quiet}");
    }
}

#[test]
fn what_is_done_in_a_moment_is_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let claude = script(&folder.path().join("claude"), "#!/bin/sh\necho no\n");
    let told = run(folder.path(), &["doctor", "--cli", claude.to_str().unwrap()]);
    assert_eq!(told.err, "", "{}", told.out);
}
