//! The official Python SDK, unchanged: through the recorder, on the replay of that tape, and on the
//! simulated CLI.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use countersign_lab::script::{Answer, Script};
use countersign_lab::{Lab, Program, Version, Versions};
use countersign_record::redact::Redactor;
use countersign_record::replay::Speed;
use countersign_record::{Channel, End, Entry, ReplayStandIn, StandIn, TapeReader};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::{installed, trial};

/// Something that is not for everybody.
const ADDRESS: &str = "somebody@mail.test";

/// The version of the SDK that is tested.
const SDK: &str = "0.2.182";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("python_sdk::is_recorded_and_replayed", recorded_and_replayed),
        trial("python_sdk::runs_on_the_simulated_cli", simulated),
    ]
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

async fn simulated() -> Result<(), Failed> {
    let executable = PathBuf::from(env!("CARGO_BIN_EXE_countersign-sim"));
    let program = Program::simulated(executable, Version::TESTED[0]);
    let lab = Lab::builder(program, script()).start().await?;
    assert_eq!(turn(&lab, &lab.stand_in()?).await, expected());
    assert!(lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

async fn recorded_and_replayed() -> Result<(), Failed> {
    let cli = installed(Version::TESTED[0]).await;
    let lab = Lab::builder(Program::Real(cli.clone()), script()).start().await?;
    let (tape, claude) = (lab.root().join("session.tape"), lab.root().join("recorded-claude"));
    StandIn { recorder: &tape_program(), words: &["tee"], tape: &tape, claude: cli.executable() }
        .write(&claude)?;
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

    // Again, with the tape in the place of the CLI: the model is not asked, nothing is written.
    fs::remove_file(lab.work().join("new.txt"))?;
    let asked = lab.model().requests().len();
    let player = tape_program();
    let replay = |tape| ReplayStandIn {
        player: &player,
        words: &["replay"],
        tape,
        lenient: false,
        speed: Speed::Fast,
        report: None,
    };
    let replayed = lab.root().join("replayed-claude");
    replay(&tape).write(&replayed)?;
    assert_eq!(turn(&lab, &replayed).await, expected());

    // And with the tape redacted: what stands for the address fits what the client says.
    let clean = lab.root().join("clean.tape");
    let manifest =
        Redactor::builder().literal("address", ADDRESS)?.build()?.redact_file(&tape, &clean)?;
    assert!(manifest.total > 0, "the address in the prompt is found");
    assert!(!fs::read_to_string(&clean)?.contains(ADDRESS));
    let replayed = lab.root().join("replayed-clean-claude");
    replay(&clean).write(&replayed)?;
    assert_eq!(turn(&lab, &replayed).await, expected());
    assert_eq!(lab.model().requests().len(), asked);
    assert!(!lab.work().join("new.txt").exists());
    lab.close().await?;
    Ok(())
}

/// One turn of the SDK with this program as the CLI; what the application saw.
async fn turn(lab: &Lab, claude: &Path) -> Value {
    let python = python().await;
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/permission_turn.py");
    let arguments =
        [program.to_owned(), claude.to_str().unwrap().to_owned(), format!("Write to {ADDRESS}.")];
    let mut command = lab.command(&python, &BTreeMap::new(), &arguments).unwrap();
    let output = command.output().await.unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    serde_json::from_str(&out).unwrap()
}

/// The recorder, which is built beside the programs of this crate.
fn tape_program() -> PathBuf {
    let program =
        Path::new(env!("CARGO_BIN_EXE_countersign-sim")).with_file_name("countersign-tape");
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
