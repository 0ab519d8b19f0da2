//! The laboratory without the real CLI: any program runs in it in the same way.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use countersign_lab::script::{Answer, Script};
use countersign_lab::{
    DriverError, Isolation, Lab, LabBuilder, LabError, Launch, LaunchError, Program, Refused,
    Version,
};
use serde_json::json;
use tokio::io::AsyncReadExt as _;

fn simulated(executable: impl Into<PathBuf>) -> LabBuilder {
    let program = Program::simulated(executable, Version::TESTED[0]);
    Lab::builder(program, Script::new().then(Answer::text("Hello.")))
}

fn sim() -> LabBuilder {
    simulated(env!("CARGO_BIN_EXE_countersign-sim"))
}

/// A laboratory of this kind; none where it is not permitted.
async fn with(isolation: Isolation) -> Option<Lab> {
    match (sim().isolation(isolation).start().await, isolation) {
        (Ok(lab), _) => Some(lab),
        (Err(_), Isolation::Namespaces) => None,
        (Err(error), _) => panic!("{error}"),
    }
}

/// The arguments of a shell.
fn shell(script: &str) -> [String; 2] {
    ["-c".to_owned(), script.to_owned()]
}

#[tokio::test]
async fn a_program_is_found_from_the_folder_in_which_it_was_named() {
    let here = std::env::current_dir().unwrap();
    let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
    let sim = Path::new(env!("CARGO_BIN_EXE_countersign-sim"));
    let lab = simulated(up.join(sim.strip_prefix("/").unwrap())).start().await.unwrap();
    let mut cli = lab.launch(Launch::new()).await.unwrap();
    cli.say("Hi").await.unwrap();
    assert_eq!(cli.result().await.unwrap()["result"], "Hello.");
    cli.close().await.unwrap();
    lab.close().await.unwrap();
}

#[tokio::test]
async fn a_variable_of_the_script_has_its_value_on_the_simulated_cli_too() {
    let program = Program::simulated(env!("CARGO_BIN_EXE_countersign-sim"), Version::TESTED[0]);
    let script = Script::new().needs("name").then(Answer::text("Hello, ${name}."));
    let lab = Lab::builder(program, script).variable("name", "Ada = Ada").start().await.unwrap();
    let mut cli = lab.launch(Launch::new()).await.unwrap();
    cli.say("Hi").await.unwrap();
    assert_eq!(cli.result().await.unwrap()["result"], "Hello, Ada = Ada.");
    cli.close().await.unwrap();
    lab.close().await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    for isolation in [Isolation::Namespaces, Isolation::Mark] {
        let lab = match simulated("/nonexistent/sim").isolation(isolation).start().await {
            Ok(lab) => lab,
            Err(_) if isolation == Isolation::Namespaces => continue,
            Err(error) => panic!("{error}"),
        };
        let error = lab.launch(Launch::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "/nonexistent/sim did not start");
        lab.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_environment_is_what_the_cli_needs_and_nothing_else() {
    let lab = sim().start().await.unwrap();
    let more = BTreeMap::from([("MORE".to_owned(), "1".to_owned())]);
    let output = lab.command(Path::new("/usr/bin/env"), &more, &[]).unwrap().output().await;
    let output = String::from_utf8(output.unwrap().stdout).unwrap();
    let mut names: Vec<_> = output.lines().map(|line| line.split('=').next().unwrap()).collect();
    names.sort_unstable();
    let expected = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "COUNTERSIGN_LAB",
        "DISABLE_AUTOUPDATER",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_TELEMETRY",
        "HOME",
        "IS_SANDBOX",
        "LANG",
        "MORE",
        "PATH",
        "SHELL",
        "TMPDIR",
        "TZ",
    ];
    assert_eq!(names, expected);
    lab.close().await.unwrap();
}

#[tokio::test]
async fn the_guard_sees_variables_arguments_and_settings() {
    let key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA";
    let elsewhere = r#"{"env":{"ANTHROPIC_BASE_URL":"https://example.com"}}"#;
    let lab = sim().start().await.unwrap();
    let home = std::env::temp_dir();
    for launch in [
        Launch::new().env("FOO", key),
        Launch::new().env("ANTHROPIC_BASE_URL", "https://example.com"),
        Launch::new().env("HOME", home.to_str().unwrap()),
        Launch::new().arg("--append-system-prompt").arg(key),
        Launch::new().arg("--settings").arg(elsewhere),
    ] {
        let error = lab.launch(launch.clone()).await.unwrap_err();
        assert!(matches!(error, LaunchError::Refused(_)), "{launch:?}: {error}");
    }
    for file in [
        lab.home().join(".claude/settings.json"),
        lab.work().join(".claude/settings.json"),
        lab.work().join(".claude/settings.local.json"),
        lab.work().join(".mcp.json"),
    ] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, elsewhere).unwrap();
        let error = lab.launch(Launch::new()).await.unwrap_err();
        let refused = matches!(error, LaunchError::Refused(Refused::Address { .. }));
        assert!(refused, "{}: {error}", file.display());
        fs::remove_file(file).unwrap();
    }
    lab.launch(Launch::new()).await.unwrap().close().await.unwrap();
    lab.close().await.unwrap();
}

#[tokio::test]
async fn files_stay_in_the_working_folder() {
    for path in ["../a", "/a", "a/../../b"] {
        let error = sim().file(path, "x").start().await.unwrap_err();
        assert!(matches!(error, LabError::Outside { .. }), "{path}: {error}");
    }
    let lab = sim().file("./a/b", "x").start().await.unwrap();
    assert_eq!(fs::read_to_string(lab.work().join("a/b")).unwrap(), "x");
    lab.close().await.unwrap();
}

/// A shell that writes files as fast as it can, and that has begun.
const WRITES: &str = "echo; n=0; while :; do mkdir -p $n; : >$n/a; n=$((n+1)); done";

#[tokio::test]
async fn nothing_is_left_when_it_is_dropped_or_closed_in_the_middle_of_writing() {
    for isolation in [Isolation::Namespaces, Isolation::Mark] {
        for close in [true, false] {
            let Some(lab) = with(isolation).await else { continue };
            let root = lab.root();
            let mut writers = Vec::new();
            for _ in 0..4 {
                let arguments = shell(WRITES);
                let command = lab.command(Path::new("/bin/sh"), &BTreeMap::new(), &arguments);
                let mut writer = command.unwrap().stdout(Stdio::piped()).spawn().unwrap();
                let mut begun = [0];
                writer.stdout.take().unwrap().read_exact(&mut begun).await.unwrap();
                writers.push(writer);
            }
            if close {
                lab.close().await.unwrap();
            } else {
                drop(lab);
            }
            assert!(!root.exists(), "{isolation:?}, closed: {close}");
        }
    }
}

#[tokio::test]
async fn a_process_that_does_not_read_is_not_waited_for_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let deaf = folder.path().join("deaf");
    fs::write(&deaf, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    fs::set_permissions(&deaf, fs::Permissions::from_mode(0o755)).unwrap();
    let lab = simulated(&deaf).start().await.unwrap();
    let mut cli = lab.launch(Launch::new()).await.unwrap();
    cli.set_patience(Duration::from_millis(50));
    let error = cli.send(&json!({"text": "x".repeat(10_000_000)})).await.unwrap_err();
    assert!(matches!(error, DriverError::Write { .. }), "{error}");
    lab.close().await.unwrap();
}

#[tokio::test]
async fn what_comes_before_an_answer_can_still_be_waited_for() {
    let lab = sim().start().await.unwrap();
    let mut cli = lab.launch(Launch::new()).await.unwrap();
    cli.say("Hi").await.unwrap();
    while !cli.log().iter().any(|said| said.frame["type"] == "result") {
        tokio::task::yield_now().await;
    }
    let answer = cli.request(json!({"subtype": "set_permission_mode", "mode": "plan"})).await;
    assert_eq!(answer.unwrap()["response"]["mode"], "plan");
    assert_eq!(cli.result().await.unwrap()["result"], "Hello.");
    cli.set_patience(Duration::from_millis(50));
    let error = cli.result().await.unwrap_err();
    assert!(error.to_string().starts_with("waited for a result, but"), "{error}");
    lab.close().await.unwrap();
}
