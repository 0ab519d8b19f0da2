//! The official Python SDK, unchanged: through the recorder, on the replay of that tape, and on the
//! simulated CLI.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use countersign_lab::script::{Answer, Script};
use countersign_lab::{Lab, Program, Version, Versions};
use countersign_record::{Channel, End, Entry, StandIn, TapeReader};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::{installed, trial};

/// The version of the SDK that is tested.
const SDK: &str = "0.2.182";

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("python_sdk::is_recorded_unchanged", recorded)]
}

fn script() -> Script {
    Script::new()
        .then(Answer::text("I will write it.").and_tool(countersign_lab::script::ToolUse::new(
            "Write",
            json!({"file_path": "${cwd}/new.txt", "content": "new\n"}),
        )))
        .then(Answer::text("Done."))
}

fn expected() -> Value {
    json!({
        "asked": ["Write"],
        "texts": ["I will write it.", "Done."],
        "result": {"text": "Done.", "is_error": false},
    })
}

async fn recorded() -> Result<(), Failed> {
    let cli = installed(Version::TESTED[0]).await;
    let lab = Lab::builder(Program::Real(cli.clone()), script()).start().await?;
    let (tape, claude) = (lab.root().join("session.tape"), lab.root().join("recorded-claude"));
    StandIn { recorder: &tape_program(), tape: &tape, claude: cli.executable() }.write(&claude)?;
    assert_eq!(turn(&lab, &claude).await, expected());
    assert!(lab.work().join("new.txt").exists());

    let mut reader = TapeReader::open(&tape)?;
    assert_eq!(reader.header().cli.as_deref(), Some("2.1.325"));
    let records: Vec<_> = reader.by_ref().collect::<Result<_, _>>()?;
    assert_eq!(records.last().unwrap().entry, Entry::End(End::Code(0)));
    let said = |wanted: Channel, text: &str| {
        records.iter().any(|record| match &record.entry {
            Entry::Line { channel, text: line, .. } if *channel == wanted => {
                String::from_utf8_lossy(line.as_bytes()).contains(text)
            }
            _ => false,
        })
    };
    assert!(said(Channel::Out, "can_use_tool") && said(Channel::In, r#""behavior": "allow""#));
    lab.close().await?;
    Ok(())
}

/// One turn of the SDK with this program as the CLI; what the application saw.
async fn turn(lab: &Lab, claude: &Path) -> Value {
    let python = python().await;
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/permission_turn.py");
    let arguments = [program, claude.to_str().unwrap(), "Write it."].map(str::to_owned);
    let mut command = lab.command(&python, &BTreeMap::new(), &arguments).unwrap();
    let output = command.args(&arguments).output().await.unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    serde_json::from_str(&out).unwrap()
}

/// The recorder, which is built beside the programs of this crate.
fn tape_program() -> PathBuf {
    let program =
        Path::new(env!("CARGO_BIN_EXE_countersign-lab")).with_file_name("countersign-tape");
    assert!(program.is_file(), "run `cargo build -p countersign-record` first");
    program
}

/// A Python that has the SDK, made once.
async fn python() -> PathBuf {
    let folder = Versions::in_default_folder().unwrap().folder().join(format!("python-sdk-{SDK}"));
    let python = folder.join("bin/python");
    let made = tokio::task::spawn_blocking(move || make(&folder)).await;
    made.unwrap();
    python
}

fn make(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let done = folder.join("done");
    if done.exists() {
        return;
    }
    let folder = folder.to_str().unwrap();
    run("python3", &["-m", "venv", folder]);
    let package = format!("claude-agent-sdk=={SDK}");
    let python = format!("{folder}/bin/python");
    run(&python, &["-m", "pip", "install", "--quiet", "--no-cache-dir", &package]);
    File::create(done).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the SDK is installed with Python's own tools")]
fn run(program: &str, arguments: &[&str]) {
    let status = std::process::Command::new(program).args(arguments).status().unwrap();
    assert!(status.success(), "{program} {arguments:?}: {status}");
}
