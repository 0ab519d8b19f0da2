//! What README and the guides show is run, each command in a folder that has what it names.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_lab::Versions;

use crate::served::Served;
use crate::support::{PROGRAM, Ran, ran, script};

/// Commands that cannot be run here, and the tests that run them.
const ELSEWHERE: &[(&str, &str)] = &[
    ("countersign tour", "tests/run/tour.rs: in a terminal"),
    ("countersign model hello.toml", "lab.rs: until it is interrupted"),
    ("countersign demo", "demo.rs: until it is interrupted"),
    ("countersign serve --root ~/work", "serving.rs: until it is interrupted"),
    ("countersign lab install", "versions.rs: without a network"),
    ("countersign lab install 2.1.300 latest", "versions.rs: without a network"),
    ("countersign lab report", "report.rs: on three versions of the real CLI"),
    ("countersign lab fidelity", "crates/lab/tests/real/scenarios.rs: every scenario and version"),
    ("countersign lab drift 2.1.197 2.1.325", "report.rs: with the experiments, in a full run"),
    ("countersign lab drift 2.1.325 latest --no-experiments", "drift.rs: without a network"),
    ("countersign lab drift 2.1.197 2.1.325 --no-run", "report.rs, after a report"),
    ("countersign lab drift 2.1.197 2.1.325 --output drift.md", "drift.rs"),
    ("countersign lab drift 2.1.197 2.1.325 --json", "report.rs, and drift.rs"),
];

/// Commands that need the real CLI; with the feature they are run.
const REAL: &[&str] = &[
    "countersign doctor",
    "countersign doctor --json",
    "countersign doctor --cli ./node_modules/.bin/claude --capabilities",
    "countersign lab play tool-deny",
    "countersign lab play tool-deny --cli 2.1.62 --full",
    "countersign lab fidelity tool-deny --cli 2.1.325",
    "countersign lab run A --cli 2.1.197",
    "countersign lab run A --cli ./node_modules/.bin/claude --findings",
];

/// A conversation needs a terminal, and says so without one; `tests/run` has it in a terminal.
const CONVERSATIONS: &[&str] = &["countersign run", "countersign run -i \"Make the tests pass\""];

/// Commands that need a server. They are run in the order in which a document shows them, on one that
/// has a session.
const SERVED: &[&str] =
    &["sessions", "send", "watch", "inbox", "audit", "token", "login-link", "backup"];

/// The commands in the fences of a document.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for block in text.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap().replace("\\\n", "");
        for line in block.lines() {
            // What stands behind two spaces and a number sign is said to the reader.
            let line = line.split("  #").next().unwrap().trim();
            if line.starts_with("countersign ") || line.contains("| countersign ") {
                commands.push(line.to_owned());
            }
        }
    }
    commands
}

fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guides = fs::read_dir(root.join("docs")).unwrap().map(|file| file.unwrap().path());
    let guides = guides.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    let all = guides.chain([root.join("README.md")]);
    all.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect()
}

/// A folder with everything that the documents name, and a session that was held in it.
fn folder(tape: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let claude = format!("#!/bin/sh\nexec {PROGRAM} sim -- \"$@\"\n");
    for place in ["bin/claude", "node_modules/.bin/claude"] {
        script(&path.join(place), &claude);
    }
    std::os::unix::fs::symlink(PROGRAM, path.join("bin/countersign")).unwrap();
    fs::write(path.join("agent.py"), AGENT).unwrap();
    fs::write(path.join("hello.toml"), "[[answer]]\ntext = \"Hello.\"\n").unwrap();
    fs::create_dir(path.join("tapes")).unwrap();
    for place in ["session.tape", "monday.tape", "tuesday.tape", "tapes/1.tape", "tapes/2.tape"] {
        fs::copy(tape, path.join(place)).unwrap();
    }
    folder
}

/// What the model of a server says.
const SCRIPT: &str = "[[answer]]\ntext = \"Done.\"\ntimes = 1000\n";

/// A client that is not ours.
const AGENT: &str = r#"
import json, subprocess
message = {"type": "user", "message": {"role": "user", "content": "a failing test"}}
stream = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
subprocess.run(["claude", "-p", *stream], input=json.dumps(message) + "\n", text=True, check=True)
"#;

/// Runs a line as a shell does, in a folder of its own.
fn shell(folder: &Path, line: &str) -> Ran {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.join("bin").display());
    let mut shell = crate::support::shell(folder, line);
    shell.env("PATH", path);
    if let Ok(versions) = Versions::in_default_folder() {
        shell.env("COUNTERSIGN_CLI_CACHE", versions.folder());
    }
    ran(&mut shell)
}

/// A tape of one turn.
fn tape(folder: &Path) -> PathBuf {
    let claude = format!("#!/bin/sh\nexec {PROGRAM} sim -- \"$@\"\n");
    script(&folder.join("bin/claude"), &claude);
    fs::write(folder.join("agent.py"), AGENT).unwrap();
    let recorded = shell(folder, &format!("{PROGRAM} record -- python3 agent.py"));
    assert_eq!(recorded.code, Some(0), "{recorded:?}");
    let tapes = fs::read_dir(folder.join("tapes")).unwrap().map(|file| file.unwrap().path());
    tapes.last().unwrap()
}

#[test]
fn every_command_in_the_documents_works() {
    let place = tempfile::tempdir().unwrap();
    let tape = tape(place.path());
    let mut elsewhere: Vec<&str> = ELSEWHERE.iter().map(|(line, _)| *line).collect();
    let mut count = 0;
    for (document, text) in documents() {
        let mut server = None;
        for line in commands(&text) {
            if ELSEWHERE.iter().any(|(known, _)| *known == line) {
                elsewhere.retain(|known| *known != line);
                continue;
            }
            if REAL.contains(&line.as_str()) {
                continue;
            }
            if SERVED.iter().any(|word| line.split(' ').nth(1) == Some(*word)) {
                let server = server.get_or_insert_with(|| Served::new(SCRIPT));
                let line = line.replace("~/work", &server.work().display().to_string());
                let ended = server.shell(&line);
                assert_eq!(ended.code, Some(0), "{document}: {line}\n{}{}", ended.out, ended.err);
                count += 1;
                continue;
            }
            let folder = folder(&tape);
            let before = "python3 agent.py > /dev/null; git init -q . && git add hello.toml && \
                          echo >> hello.toml;";
            let ended = shell(folder.path(), &format!("{before} {line}"));
            let expected = if CONVERSATIONS.contains(&line.as_str()) { 2 } else { 0 };
            assert_eq!(
                ended.code,
                Some(expected),
                "{document}: {line}\n{}{}",
                ended.out,
                ended.err
            );
            count += 1;
        }
    }
    assert!(count > 25, "only {count} commands were run");
    assert_eq!(elsewhere, [""; 0], "no document shows these any more");
}

#[cfg(feature = "real-cli")]
#[test]
fn commands_that_need_the_real_cli_work_with_it() {
    use countersign_lab::Version;
    let place = tempfile::tempdir().unwrap();
    let tape = tape(place.path());
    let cli = Versions::in_default_folder().unwrap().get(Version::TESTED[0]).unwrap();
    for line in REAL {
        let folder = folder(&tape);
        for name in ["bin/claude", "node_modules/.bin/claude"] {
            let path = folder.path().join(name);
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(cli.executable(), &path).unwrap();
        }
        let ended = shell(folder.path(), line);
        assert_eq!(ended.code, Some(0), "{line}\n{}{}", ended.out, ended.err);
    }
    let all: Vec<_> = documents().iter().flat_map(|(_, text)| commands(text)).collect();
    for line in REAL {
        assert!(all.iter().any(|known| known == line), "no document shows {line} any more");
    }
}
