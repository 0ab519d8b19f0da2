//! `lab` and `model`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};

use countersign_lab::scenario::Scenario;
use countersign_lab::script::Script;
use rustix::process::{Pid, Signal, kill_process};

use crate::http::{Client, says_without_stream};
use crate::support::{Ran, command, ran};

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Ran { code, out, err } = crate::support::run(folder, arguments);
    (code, out, err)
}

#[test]
fn scripts_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("good.toml"), "[[answer]]\ntext = \"a\"\n").unwrap();
    fs::write(path.join("bad.toml"), "[[answer]]\ntxt = \"a\"\n").unwrap();
    assert_eq!(
        run(path, &["lab", "script", "check", "good.toml"]),
        (Some(0), "good.toml: 1 answer, fine\n".to_owned(), String::new())
    );
    let (code, out, err) =
        run(path, &["lab", "script", "check", "bad.toml", "good.toml", "none.toml"]);
    assert_eq!((code, out.as_str()), (Some(1), "good.toml: 1 answer, fine\n"));
    assert_eq!(
        err,
        "bad.toml:2:1: unknown key `txt` in an answer; did you mean `text`?
  |
2 | txt = \"a\"
  | ^^^
cannot read the script none.toml: No such file or directory (os error 2)
countersign: 2 scripts are broken
"
    );
    assert_eq!(run(path, &["lab", "script", "check"]).0, Some(2));
    assert_eq!(run(path, &["nonsense"]).0, Some(2));
}

#[test]
fn variables_are_asked_for_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("a.toml"), "needs = [\"name\"]\n").unwrap();
    let (code, _, err) = run(path, &["model", "a.toml"]);
    assert_eq!(code, Some(1));
    assert_eq!(err, "countersign: a.toml needs a value for name\nGive it with --set name=VALUE.\n");
    let (code, _, err) = run(path, &["model", "a.toml", "--set", "name=a", "--set", "nmae=b"]);
    assert_eq!((code, err.as_str()), (Some(1), "countersign: a.toml has no variable nmae\n"));
    assert_eq!(run(path, &["model", "a.toml", "--set", "name"]).0, Some(2));
}

#[test]
fn scenarios_are_listed_and_played() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (code, listed, _) = run(path, &["lab", "scenarios"]);
    assert_eq!(code, Some(0));
    let names: Vec<_> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    let all: Vec<_> = Scenario::all().iter().map(Scenario::name).collect();
    assert_eq!(names, all);

    let quiet = ["lab", "play", "tool-deny", "--simulated", "--quiet"];
    let (code, played, err) = run(path, &quiet);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let frames: Vec<_> =
        played.lines().filter_map(|line| line.split_whitespace().skip(1).nth(1)).collect();
    let shown = ["control_request/initialize", "control_request/can_use_tool/Write", "result"];
    for kind in shown {
        assert!(frames.contains(&kind), "{kind} is not shown in\n{played}");
    }
    assert!(played.ends_with("exit status: 0\n"));
    let is_cut = |line: &str| line.ends_with('…');
    assert!(played.lines().any(is_cut), "long frames are cut");
    let (_, full, _) = run(path, &["lab", "play", "tool-deny", "--simulated", "--full"]);
    assert!(!full.lines().any(is_cut));

    let (code, script, _) = run(path, &["lab", "play", "tool-deny", "--script"]);
    assert_eq!(code, Some(0));
    Script::parse(&script, "shown").unwrap();
}

#[test]
fn a_scenario_that_cannot_be_played_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (code, _, err) = run(path, &["lab", "play", "tool-dney", "--simulated"]);
    assert_eq!(code, Some(1));
    assert!(
        err.starts_with("countersign: there is no scenario tool-dney; there are: plain-turn, "),
        "{err}"
    );
    let old = ["lab", "play", "park-and-resume", "--simulated", "--cli", "2.1.62"];
    let (code, _, err) = run(path, &old);
    assert_eq!((code, err.as_str()), (Some(1), "countersign: 2.1.62 cannot do park-and-resume\n"));
}

#[test]
fn a_version_that_cannot_be_simulated_is_refused_before_anything_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = "countersign: version 9.9.9 cannot be simulated\n\
                   The simulated CLI can be 2.1.325, 2.1.197, 2.1.62.\n";
    for arguments in [
        &["lab", "run", "A", "--simulated", "--cli", "2.1.325", "--cli", "9.9.9"][..],
        &["lab", "report", "A", "--simulated", "--versions", "9.9.9"],
        &["lab", "play", "tool-deny", "--simulated", "--cli", "9.9.9"],
        &["lab", "fidelity", "tool-deny", "--cli", "9.9.9"],
    ] {
        let (code, out, err) = run(folder.path(), arguments);
        assert_eq!((code, out.as_str(), err.as_str()), (Some(2), "", refusal), "{arguments:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was played");
}

/// Ends the command if the test does not come that far.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Already ended, where all went well.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn the_model_runs_until_it_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let script = "needs = [\"name\"]\n[[answer]]\ntext = \"Hi, ${name}.\"\n[[answer]]\nerror = { status = 500 }\n[[answer]]\ntext = \"never\"\n";
    fs::write(path.join("a.toml"), script).unwrap();
    let arguments = ["model", "a.toml", "--set", "name=Ada", "--log", "log.jsonl"];
    let child = command(path).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut child = Running(child);
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.next().unwrap();
    let port = url.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
    let environment: Vec<_> =
        lines.by_ref().filter(|line| line.starts_with("export ")).take(6).collect();
    assert_eq!(environment[0], format!("export ANTHROPIC_BASE_URL={url}"));
    assert!(environment[1].starts_with("export ANTHROPIC_API_KEY=sk-ant-mock-"));
    let mut client = Client::connect(port);
    let body = says_without_stream("hi");
    client.ask(&body);
    assert_eq!(client.json().1["content"][0]["text"], "Hi, Ada.");
    client.ask(&body);
    assert_eq!(client.json().0.status, 500);
    let length = body.to_string().len();
    let printed: Vec<_> = lines.by_ref().filter(|line| !line.is_empty()).take(3).collect();
    assert_eq!(
        printed,
        [
            format!("#1 POST /v1/messages, {length} bytes, main: answer 1 (line 2)"),
            format!("#2 POST /v1/messages, {length} bytes, main: answer 2 (line 4)"),
            "#2 error 500".to_owned(),
        ]
    );
    let pid = Pid::from_child(&child.0);
    kill_process(pid, Signal::INT).unwrap();
    let rest: Vec<_> = lines.collect();
    assert_eq!(rest, ["not played: answer 3 (line 6) was served 0 of 1 times"]);
    assert_eq!(child.0.wait().unwrap().code(), Some(0));
    assert_eq!(fs::read_to_string(path.join("log.jsonl")).unwrap().lines().count(), 4);
}

#[test]
fn a_cli_that_cannot_play_is_broken_and_not_different() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let package = cache.join("2.1.325/node_modules/@anthropic-ai/claude-code");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("package.json"), r#"{"version":"2.1.325"}"#).unwrap();
    let script = package.join("cli.js");
    fs::write(&script, "#!/bin/sh\necho no >&2\nexit 3\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let fidelity = |arguments: &[&str]| {
        // The cache is found from the folder in which the command runs.
        let mut command = command(folder.path());
        command.args(["lab", "fidelity"]).args(arguments).env("COUNTERSIGN_CLI_CACHE", "cache");
        let Ran { code, out, err } = ran(&mut command);
        (code, out, err)
    };
    let (code, out, err) = fidelity(&["tool-deny", "--cli", "2.1.325"]);
    assert_eq!((code, err.as_str()), (Some(1), "countersign: not everything could be played\n"));
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[1], "tool-deny  BROKEN");
    assert!(out.contains("the real CLI did not play it"), "{out}");
    assert!(lines.iter().any(|line| line.ends_with("! no")), "{out}");
    let counts = "0 the same, 0 with known differences, 0 different, 1 broken";
    assert_eq!(lines.last(), Some(&counts));

    let (code, _, err) = fidelity(&["tol-deny"]);
    assert_eq!(code, Some(1));
    assert!(err.starts_with("countersign: there is no scenario tol-deny; there are: "), "{err}");
}

#[test]
fn experiments_are_run_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (code, listed, _) = run(path, &["lab", "experiments"]);
    assert_eq!(code, Some(0));
    assert!(listed.starts_with("A     plan-after-a-turn"), "{listed}");

    let arguments = ["lab", "run", "a", "prompts-denied", "--simulated", "--findings"];
    let (code, out, err) = run(path, &arguments);
    assert_eq!(code, Some(0), "{out}{err}");
    let verdicts: Vec<_> = out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(verdicts.len(), 2, "{out}");
    assert!(verdicts.iter().all(|line| line.contains("2.1.325   as documented (")), "{out}");
    assert!(out.contains("      after: mode in the next init: plan\n"), "{out}");
    assert!(err.contains("A plan-after-a-turn on 2.1.325 (0 of 2 done)\n"), "{err}");
    let tapes = path.join("experiments/2.1.325-simulated/A-plan-after-a-turn");
    assert!(fs::read_dir(&tapes).unwrap().count() >= 2, "every conversation is on a tape");

    let arguments = ["lab", "report", "A", "--simulated", "--versions", "2.1.62,2.1.325", "--json"];
    let (code, out, err) = run(path, &arguments);
    assert_eq!(code, Some(0), "{out}{err}");
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&told["as_documented"], &told["surprises"]), (&2.into(), &0.into()));
    let text = fs::read_to_string(path.join("report/report.md")).unwrap();
    let title = "# Experiments on Claude Code 2.1.62 (simulated), 2.1.325 (simulated)\n";
    assert!(text.contains(title), "{text}");
    assert!(text.contains("## What changed from 2.1.62 (simulated) to 2.1.325 (simulated)"));
    assert!(text.contains("| after: then says | nothing | status plan |"), "{text}");
    let page = fs::read_to_string(path.join("report/report.html")).unwrap();
    assert!(page.contains("<section class=\"cs-tape\"") && page.contains("2.1.62 (simulated) · "));

    // Again from what is there.
    fs::remove_file(path.join("report/report.md")).unwrap();
    let (code, _, err) = run(path, &["lab", "report", "--no-run"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(fs::read_to_string(path.join("report/report.md")).unwrap(), text);
}

#[test]
fn experiments_that_cannot_be_run_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (code, _, err) = run(path, &["lab", "run", "Z", "--simulated"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("there is no experiment \"Z\"\n`countersign lab experiments`"), "{err}");
    let (code, _, err) = run(path, &["lab", "run", "A", "--cli", "./nothing"]);
    assert_eq!(code, Some(5));
    assert!(err.contains("countersign doctor --cli ./nothing"), "{err}");
    let (code, _, err) = run(path, &["lab", "run", "A", "--simulated", "--cli", "two"]);
    assert_eq!((code, err.contains("\"two\" is not a version")), (Some(2), true), "{err}");
    let (code, _, err) = run(path, &["lab", "report", "--no-run", "-o", "."]);
    assert_eq!(code, Some(1));
    assert!(err.contains("there are no results in ."), "{err}");
}

#[test]
fn an_experiment_on_a_program_of_one_s_own_that_breaks_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let program = "#!/bin/sh\n[ \"$1\" = --version ] && exec echo '2.1.325 (Claude Code)'\n\
                   echo 'no \u{1b}[2Jway' >&2\nexit 3\n";
    crate::support::script(&path.join("claude"), program);
    let (code, out, err) = run(path, &["lab", "run", "B", "--cli", "./claude", "-q"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("BROKEN") && out.contains("no \\u{1b}[2Jway"), "{out}");
}
