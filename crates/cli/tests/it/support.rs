//! The command, as a person runs it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program that is tested.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");

/// The command, in this folder, with nothing in its environment but a search path and a home there.
pub(crate) fn command(folder: &Path) -> Command {
    program(PROGRAM, folder)
}

/// A shell with these words, as the command would be started.
pub(crate) fn shell(folder: &Path, words: &str) -> Command {
    let mut shell = program("/bin/sh", folder);
    shell.args(["-c", words]);
    shell
}

#[expect(clippy::disallowed_methods, reason = "the command under test is a process")]
fn program(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder);
    for passed_on in ["COUNTERSIGN_CLI_CACHE", "LLVM_PROFILE_FILE"] {
        command.envs(std::env::var_os(passed_on).map(|value| (passed_on, value)));
    }
    command
}

/// How the command ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn ran(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: status.code(), out: text(stdout), err: text(stderr) }
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    ran(command(folder).args(arguments))
}

/// Writes a program that is a script.
pub(crate) fn script(path: &Path, text: &str) -> PathBuf {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}
