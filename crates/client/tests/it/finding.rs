//! Finding the CLI, and telling its version without starting it.

use std::cell::Cell;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use countersign::cli::{Cli, Fault, FindOptions, Version, VersionError};
use tempfile::TempDir;

/// A folder to install into.
struct Machine {
    root: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn program(&self, name: &str) -> PathBuf {
        let path = self.file(name, "#!/bin/sh\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn package(&self, folder: &str, name: &str, version: &str) {
        let text = format!(r#"{{"name":"{name}","version":"{version}"}}"#);
        self.file(&format!("{folder}/package.json"), &text);
    }

    fn options(&self) -> FindOptions {
        let mut options = FindOptions::default();
        options.path = Some(self.path("bin").into());
        options.home = Some(self.path("home"));
        options.for_all = vec![self.path("usr/bin/claude")];
        options.cwd = Some(self.path("project/below"));
        options
    }
}

#[test]
fn the_first_place_in_the_order_decides() {
    let machine = Machine::new();
    let in_project = machine.program("project/node_modules/.bin/claude");
    let mut options = machine.options();
    assert_eq!(options.find().unwrap(), in_project);
    let for_all = machine.program("usr/bin/claude");
    assert_eq!(options.find().unwrap(), for_all);
    let in_home = machine.program("home/.local/bin/claude");
    assert_eq!(options.find().unwrap(), in_home);
    let on_path = machine.program("bin/claude");
    assert_eq!(options.find().unwrap(), on_path);
    let by_variable = machine.program("elsewhere/cli");
    options.variable = Some(by_variable.clone());
    assert_eq!(options.find().unwrap(), by_variable);
    let given = machine.program("given/cli");
    options.explicit = Some(given.clone());
    assert_eq!(options.find().unwrap(), given);
}

#[test]
fn a_path_that_was_given_is_not_replaced_by_another() {
    let machine = Machine::new();
    machine.program("bin/claude");
    let mut options = machine.options();
    options.variable = Some(machine.path("gone"));
    let error = options.find().unwrap_err();
    assert_eq!(error.looked().len(), 1);
    assert!(error.to_string().starts_with("CLAUDE_CODE_PATH"), "{error}");
    // Empty is the same as not set.
    options.variable = Some(PathBuf::new());
    options.find().unwrap();
}

#[test]
fn a_relative_path_becomes_absolute() {
    let machine = Machine::new();
    let program = machine.program("project/below/tools/claude");
    let mut options = machine.options();
    options.explicit = Some("tools/claude".into());
    assert_eq!(options.find().unwrap(), program);
    options.cwd = None;
    assert!(options.find().is_err());
}

#[test]
fn what_is_no_program_is_told_apart() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("folder")).unwrap();
    machine.file("text", "not a program");
    for (name, fault) in [
        ("folder", Fault::Directory),
        ("text", Fault::NotExecutable),
        ("gone", Fault::Missing),
        ("text/below", Fault::Missing),
    ] {
        let error = Cli::at(machine.path(name)).unwrap_err();
        let looked = error.looked().first().unwrap();
        assert_eq!((&looked.path, looked.fault), (&machine.path(name), fault), "{name}");
        assert!(error.to_string().contains(&fault.to_string()));
    }
    // The search goes on behind what is none.
    machine.file("bin/claude", "not a program");
    let in_home = machine.program("home/.claude/local/claude");
    assert_eq!(machine.options().find().unwrap(), in_home);
}

#[test]
fn the_error_lists_every_place_and_says_what_to_do() {
    let machine = Machine::new();
    let error = machine.options().find().unwrap_err();
    let text = error.to_string();
    for part in [
        "npm install -g @anthropic-ai/claude-code",
        "CLAUDE_CODE_PATH",
        &machine.path("bin/claude").to_string_lossy(),
        &machine.path("home/.volta/bin/claude").to_string_lossy(),
        &machine.path("project/node_modules/.bin/claude").to_string_lossy(),
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn the_working_folder_is_not_on_the_path() {
    let machine = Machine::new();
    machine.program("project/below/claude");
    let mut options = machine.options();
    options.path = Some(":.".into());
    assert!(options.find().is_err());
}

#[test]
fn the_version_is_read_from_the_package() {
    let machine = Machine::new();
    let package = "lib/node_modules/@anthropic-ai/claude-code";
    machine.program(&format!("{package}/bin/claude.exe"));
    machine.package(package, "@anthropic-ai/claude-code", "2.1.325");
    fs::create_dir_all(machine.path("bin")).unwrap();
    symlink(machine.path(&format!("{package}/bin/claude.exe")), machine.path("bin/claude"))
        .unwrap();
    let cli = Cli::find_with(&machine.options()).unwrap();
    assert_eq!(cli.version_if_cheap(), Some(Version::new(2, 1, 325)));
    // The link is not followed in the path that is started.
    assert_eq!(cli.path(), machine.path("bin/claude"));
}

#[test]
fn the_version_is_read_beside_a_script_that_stands_for_a_link() {
    let machine = Machine::new();
    let script = machine.program("node_modules/.bin/claude");
    machine.package(
        "node_modules/@anthropic-ai/claude-code",
        "@anthropic-ai/claude-code",
        "2.1.62",
    );
    assert_eq!(Cli::at(script).unwrap().version_if_cheap(), Some(Version::new(2, 1, 62)));
}

#[test]
fn the_version_is_read_from_the_name_of_a_native_install() {
    let machine = Machine::new();
    let program = machine.program("home/.local/share/claude/versions/2.1.197");
    fs::create_dir_all(machine.path("home/.local/bin")).unwrap();
    symlink(program, machine.path("home/.local/bin/claude")).unwrap();
    let cli = Cli::find_with(&machine.options()).unwrap();
    assert_eq!(cli.version_if_cheap(), Some(Version::new(2, 1, 197)));
}

#[test]
fn the_package_of_somebody_else_says_nothing() {
    let machine = Machine::new();
    let program = machine.program("wrapper/bin/claude");
    for name in ["wrapper", "@anthropic-ai/claude-codex", "@anthropic-ai/sdk"] {
        machine.package("wrapper", name, "2.1.325");
        assert_eq!(Cli::at(&program).unwrap().version_if_cheap(), None, "{name}");
    }
    machine.file("wrapper/package.json", "{");
    assert_eq!(Cli::at(&program).unwrap().version_if_cheap(), None);
}

#[tokio::test]
async fn a_program_is_asked_once_for_each_state_it_is_in() {
    let machine = Machine::new();
    let cli = Cli::at(machine.program("wrapper")).unwrap();
    let runs = Cell::new(0);
    let run = |program: PathBuf, argument| {
        assert_eq!((program.as_path(), argument), (cli.path(), "--version"));
        runs.set(runs.get() + 1);
        async { Ok(b"2.1.325 (Claude Code)\n".to_vec()) }
    };
    for _ in 0..2 {
        assert_eq!(cli.version_by(run).await.unwrap(), Version::new(2, 1, 325));
    }
    assert_eq!(runs.get(), 1);
    assert_eq!(cli.version_if_cheap(), Some(Version::new(2, 1, 325)));
    // An update.
    fs::write(cli.path(), "#!/bin/sh\n# new\n").unwrap();
    assert_eq!(cli.version_if_cheap(), None);
    cli.version_by(run).await.unwrap();
    assert_eq!(runs.get(), 2);
}

#[tokio::test]
async fn an_answer_that_is_no_version_is_not_guessed_at() {
    let machine = Machine::new();
    let cli = Cli::at(machine.program("other")).unwrap();
    let error = cli.version_by(|_, _| async { Ok(b"Python 3.12\n".to_vec()) }).await.unwrap_err();
    assert!(
        matches!(&error, VersionError::Answer { said, .. } if said == "Python 3.12"),
        "{error}"
    );
    let failing = |_, _| async { Err(io::Error::from(io::ErrorKind::TimedOut)) };
    assert!(matches!(cli.version_by(failing).await, Err(VersionError::Run { .. })));
    assert_eq!(cli.version_if_cheap(), None);
}

#[tokio::test]
async fn a_program_may_warn_before_it_tells_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("claude");
    // More than a pipe holds, and a word after the version.
    let text = "#!/bin/sh\nhead -c 200000 /dev/zero | tr '\\0' w >&2\n\
                echo '2.1.325 (Claude Code)'\necho more >&2\n";
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let version = countersign::SessionBuilder::new().executable(program).version().await;
    assert_eq!(version.unwrap(), Version::new(2, 1, 325));
}
