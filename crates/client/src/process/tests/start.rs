//! Starting, and what a child gets.

use std::os::unix::fs::PermissionsExt as _;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

async fn output(spec: &SpawnSpec) -> String {
    let mut spawned = spawn(spec).unwrap();
    drop(spawned.stdin);
    let mut output = String::new();
    spawned.stdout.read_to_string(&mut output).await.unwrap();
    output
}

#[tokio::test]
async fn the_three_pipes_are_connected() {
    let mut spawned = spawn(&shell_spec("read line; echo \"out $line\"; echo err >&2")).unwrap();
    spawned.stdin.write_all(b"in\n").await.unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    spawned.stdout.read_to_string(&mut out).await.unwrap();
    spawned.stderr.read_to_string(&mut err).await.unwrap();
    assert_eq!((out.as_str(), err.as_str()), ("out in\n", "err\n"));
    assert!(spawned.process.exited().await.unwrap().success());
}

#[tokio::test]
async fn a_child_leads_its_group_and_carries_both_marks() {
    let spawned = shell("echo ready; exec sleep 1000").await;
    let id = spawned.process.id().unwrap();
    let entry = id.entry().unwrap();
    assert_eq!(entry.group, entry.pid);
    for mark in [spawned.process.mark(), Mark::of_this_process()] {
        assert!(carrying(mark).iter().any(|process| process.id == id));
    }
}

#[tokio::test]
async fn variables_are_cleared_removed_and_set_and_the_marks_stay() {
    let mut spec = shell_spec("env");
    spec.environment.set.push(("COUNTERSIGN_SESSION".into(), "mine".into()));
    let listed = output(&spec).await;
    let name = |line: &str| line.split_once('=').unwrap().0.to_owned();
    let mut names: Vec<_> = listed.lines().map(name).collect();
    names.retain(|name| !["PWD", "_", "SHLVL", "OLDPWD"].contains(&name.as_str()));
    names.sort_unstable();
    assert_eq!(names, ["COUNTERSIGN_OWNER", "COUNTERSIGN_SESSION", "PATH"]);
    assert!(!listed.contains("mine"));

    spec.environment = Environment {
        clear: false,
        remove: vec!["HOME".into(), "LANG".into()],
        set: vec![("HOME".into(), "/set".into())],
    };
    let listed = output(&spec).await;
    let value = |name: &str| listed.lines().find_map(|line| line.strip_prefix(name));
    assert_eq!((value("HOME="), value("LANG=")), (Some("/set"), None));
    assert_eq!(value("PATH=").unwrap(), std::env::var("PATH").unwrap(), "the rest is inherited");
}

#[tokio::test]
async fn the_working_folder_is_entered_and_the_program_is_meant_from_ours() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = shell_spec("pwd -P");
    spec.cwd = Some(folder.path().to_owned());
    let expected = folder.path().canonicalize().unwrap();
    assert_eq!(output(&spec).await.trim_end(), expected.to_str().unwrap());
    // A path that begins in our folder still names our program there.
    let up = "../".repeat(std::env::current_dir().unwrap().components().count());
    spec.program = format!("{up}bin/sh").into();
    assert_eq!(output(&spec).await.trim_end(), expected.to_str().unwrap());
}

#[tokio::test]
async fn no_child_has_an_open_file_of_ours() {
    ensure_keeper().unwrap();
    let first = shell("echo ready; exec sleep 1000").await;
    let second = shell("echo ready; exec sleep 1000").await;
    let pid = second.process.id().unwrap().pid();
    let files = |process: &str| -> Vec<(String, PathBuf)> {
        let open = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
        open.filter_map(|entry| {
            let entry = entry.unwrap();
            let number = entry.file_name().into_string().unwrap();
            Some((number, std::fs::read_link(entry.path()).ok()?))
        })
        .collect()
    };
    // What was open before us is not ours: whoever started the tests may have left something.
    let (theirs, ours): (Vec<_>, Vec<_>) = files("self").into_iter().partition(|(number, _)| {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}"));
        let info = info.unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or("0");
        u32::from_str_radix(flags.trim(), 8).unwrap() & 0o2_000_000 == 0
    });
    let theirs: Vec<_> = theirs.into_iter().map(|(_, file)| file).collect();
    let pipes = ours.iter().filter(|(_, file)| file.to_string_lossy().starts_with("pipe:"));
    assert!(pipes.count() >= 7, "two sessions and the keeper");
    for (number, file) in files(&pid.to_string()) {
        if !["0", "1", "2"].contains(&number.as_str()) {
            assert!(theirs.contains(&file), "{number}: {}", file.display());
        }
    }
    drop((first, second));
}

#[tokio::test]
async fn the_output_pipe_is_large() {
    let spawned = shell("echo ready; exec sleep 1000").await;
    // The kernel rounds up, and may permit less: then nothing is lost but speed.
    let size = rustix::pipe::fcntl_getpipe_size(&spawned.stdout).unwrap();
    assert!(size == 1024 * 1024 || size == 64 * 1024 || size == 4096 * 2, "{size}");
}

#[track_caller]
fn refused(spec: &SpawnSpec) -> SpawnError {
    spawn(spec).map(|_| ()).unwrap_err()
}

#[tokio::test]
async fn a_reason_is_given_for_what_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let program = |program: PathBuf| SpawnSpec { program, ..SpawnSpec::default() };

    let missing = refused(&program(folder.path().join("missing")));
    assert!(matches!(missing, SpawnError::NotFound { .. }), "{missing:?}");
    let missing = refused(&program("countersign-no-such-program".into()));
    assert!(matches!(missing, SpawnError::NotFound { .. }), "{missing:?}");

    let forbidden = refused(&program(file("forbidden", "#!/bin/sh\n", 0o644)));
    assert!(matches!(forbidden, SpawnError::NotExecutable { .. }), "{forbidden:?}");
    let a_folder = refused(&program(folder.path().to_owned()));
    assert!(matches!(a_folder, SpawnError::NotExecutable { .. }), "{a_folder:?}");
    let garbage = refused(&program(file("garbage", "\u{1}\u{2}\u{3}\u{4}", 0o755)));
    assert!(matches!(garbage, SpawnError::NotExecutable { .. }), "{garbage:?}");

    let script = refused(&program(file("script", "#!/nonexistent/node\n", 0o755)));
    assert!(matches!(script, SpawnError::NoInterpreter { .. }), "{script:?}");

    let path = file("written", "#!/bin/sh\n", 0o755);
    let open = std::fs::File::options().append(true).open(&path).unwrap();
    let written = refused(&program(path.clone()));
    assert!(matches!(written, SpawnError::BeingWritten { .. }), "{written:?}");
    drop(open);
    assert!(spawn(&program(path)).is_ok());

    for cwd in [folder.path().join("gone"), folder.path().join("script")] {
        let spec = SpawnSpec { cwd: Some(cwd.clone()), ..shell_spec("true") };
        let nowhere = refused(&spec);
        assert!(
            matches!(&nowhere, SpawnError::WorkingFolder { folder, .. } if *folder == cwd),
            "{nowhere:?}"
        );
    }

    let long = refused(&shell_spec(&"x".repeat(4 * 1024 * 1024)));
    assert!(matches!(long, SpawnError::TooLong { .. }), "{long:?}");
    let zero = refused(&shell_spec("a\0b"));
    assert!(matches!(zero, SpawnError::ZeroByte { .. }), "{zero:?}");
}

#[test]
fn without_a_runtime_nothing_starts_and_nothing_panics() {
    assert!(matches!(refused(&shell_spec("true")), SpawnError::NoRuntime));
}
