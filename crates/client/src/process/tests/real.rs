//! The real CLI with a tool in the foreground and one in the background.

use std::collections::BTreeMap;

use countersign_lab::script::{Answer, Script};
use countersign_lab::{Lab, Program, Version, Versions};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::killed::{Victim, given, play, told};
use super::*;

const FOREGROUND: &str = "sleep 1001";
const BACKGROUND: &str = "sleep 1002";

/// A laboratory whose model has a command run in the background, and then one in the foreground.
async fn lab(version: Version) -> Lab {
    let versions = Versions::in_default_folder().unwrap();
    let cli = versions.install(version).await.unwrap_or_else(|error| panic!("{error}"));
    let background = json!({"command": BACKGROUND, "run_in_background": true});
    let script = Script::new()
        .then(Answer::tool("Bash", background))
        // Alone, a sleep in the foreground is refused by newer versions.
        .then(Answer::tool("Bash", json!({"command": format!("echo; {FOREGROUND}")})));
    Lab::builder(Program::Real(cli), script).start().await.unwrap()
}

/// What starts the CLI of a laboratory: the program, the folder, the environment.
type Start = (PathBuf, PathBuf, BTreeMap<String, String>);

fn start(lab: &Lab) -> Start {
    let (program, environment) = lab.for_a_client().unwrap();
    (program, lab.work(), environment)
}

/// A session in which both tools run.
async fn busy((program, work, environment): Start) -> Spawned {
    let arguments = "--output-format stream-json --input-format stream-json --verbose \
        --permission-mode bypassPermissions --setting-sources=";
    ensure_keeper().unwrap();
    let set = environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    let mut spawned = spawn(&SpawnSpec {
        program,
        arguments: arguments.split_ascii_whitespace().map(Into::into).collect(),
        environment: Environment { clear: true, remove: Vec::new(), set },
        cwd: Some(work),
    })
    .unwrap();
    let prompt = json!({
        "type": "user",
        "message": {"role": "user", "content": "Sleep."},
        "parent_tool_use_id": null,
        "session_id": ""
    });
    spawned.stdin.write_all(format!("{prompt}\n").as_bytes()).await.unwrap();
    let (mut said, mut line) = (String::new(), vec![0; 65536]);
    loop {
        let tree = spawned.process.tree();
        let runs = |command: &str| tree.iter().any(|process| process.command == command);
        if runs(FOREGROUND) && runs(BACKGROUND) {
            return spawned;
        }
        // Read, so that the CLI does not wait for us; and shown if it ends.
        let read = spawned.stdout.read(&mut line);
        match tokio::time::timeout(Duration::from_millis(20), read).await {
            Ok(Ok(0)) => panic!("the CLI has ended: {said}"),
            Ok(_) if said.contains("\"type\":\"result\"") => panic!("the turn is over: {said}"),
            Ok(read) => said.push_str(&String::from_utf8_lossy(&line[..read.unwrap()])),
            Err(_) => {}
        }
    }
}

fn all(process: &mut Process) -> Vec<ProcessId> {
    process.tree().into_iter().map(|process| process.id).collect()
}

async fn ended(version: Version) {
    let lab = lab(version).await;
    let Spawned { stdin, mut process, .. } = busy(start(&lab)).await;
    let (all, mark) = (all(&mut process), process.mark());
    drop(stdin);
    let ended = process.end(ShutdownTimes::default().exit(Duration::ZERO)).await;
    assert_eq!(ended.still_running, []);
    assert!(!all.into_iter().any(ProcessId::is_alive));
    assert_eq!(carrying(mark), []);
    lab.close().await.unwrap();
}

async fn dropped(version: Version) {
    let lab = lab(version).await;
    let mut spawned = busy(start(&lab)).await;
    let (all, mark) = (all(&mut spawned.process), spawned.process.mark());
    drop(spawned);
    until(|| carrying(mark).is_empty() && !all.iter().any(|process| process.is_alive())).await;
    lab.close().await.unwrap();
}

async fn owner_killed(version: Version, test: &str) {
    if let Some(given) = given() {
        // The laboratory is not in this process: it would end what it has started itself.
        play(async || {
            let mut spawned = busy(serde_json::from_str(&given).unwrap()).await;
            let all = told(all(&mut spawned.process));
            (spawned, all)
        })
        .await;
    }
    let lab = lab(version).await;
    let given = serde_json::to_string(&start(&lab)).unwrap();
    let mut victim = Victim::start(&format!("real::{test}"), &given).await;
    let all = victim.processes();
    assert!(all.len() >= 3 && all.iter().all(|process| process.is_alive()), "{all:?}");
    victim.kill();
    until(|| carrying(victim.mark).is_empty() && !all.iter().any(|each| each.is_alive())).await;
    lab.close().await.unwrap();
}

macro_rules! for_versions {
    ($($version:ident = $number:expr;)*) => {$(
        mod $version {
            use super::*;

            #[tokio::test]
            async fn an_end_leaves_nothing() {
                ended($number).await;
            }

            #[tokio::test]
            async fn a_drop_leaves_nothing() {
                dropped($number).await;
            }

            #[tokio::test]
            async fn an_owner_that_is_killed_leaves_nothing() {
                let test = "an_owner_that_is_killed_leaves_nothing";
                owner_killed($number, &format!("{}::{test}", stringify!($version))).await;
            }
        }
    )*};
}

for_versions! {
    newest = Version::TESTED[0];
    middle = Version::TESTED[1];
    oldest = Version::TESTED[2];
}
