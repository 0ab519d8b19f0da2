//! Sessions that are recorded, and tapes that are played to the same client.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use countersign::permission::PermissionAsk;
use countersign::protocol::permission::PermissionMode;
use countersign::{ConnectError, SessionBuilder, Stats, Way};
use countersign_record::replay::Speed;
use countersign_record::{Channel, End, Note, ReplayStandIn, TapeItem, TapeLines, TapeReader};
use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, V62, V325, builder, lab, on_all, soon, trial};

const WRITE: &str = r#"
[[answer]]
text = "I will write it."
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;

const NOISY: &str = r#"
[[answer]]
text = "Here it comes."
fault = "flood stderr 300 kB"
"#;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = on_all("recording::a_tape_plays_to_the_same_client", V62, plays);
    trials.extend(on_all("recording::each_line_is_handed_on", V62, handed_on));
    trials.extend([
        trial("recording::another_client_departs_from_the_tape", departs),
        trial("recording::standard_error_is_on_the_tape", noisy),
        trial("recording::a_tape_that_exists_is_refused_before_the_start", exists),
    ]);
    trials
}

/// Holds a session: a mode, a message, a permission. Says what the mode was after it.
async fn hold(
    builder: SessionBuilder,
    allow: bool,
) -> Result<(String, Stats), countersign::TurnError> {
    let decide = move |ask: PermissionAsk| async move {
        if allow { ask.allow() } else { ask.deny("not this time") }
    };
    let mut session = soon("the start", builder.on_permission(decide).connect()).await.unwrap();
    for mode in [PermissionMode::Plan, PermissionMode::Default] {
        soon("the mode", session.set_permission_mode(mode)).await.unwrap();
    }
    let outcome = soon("the turn", session.send("Write it.").await?.finish()).await?;
    let handle = session.handle();
    let end = session.close().await;
    assert!(end.still_running.is_empty(), "{end:?}");
    Ok((outcome.answer().to_owned(), handle.stats()))
}

/// What is on a tape.
#[derive(Debug, Default)]
pub(crate) struct OnTape {
    pub(crate) said: Vec<String>,
    heard: Vec<String>,
    errors: Vec<String>,
    closed: bool,
    end: Option<End>,
}

pub(crate) fn read(tape: &Path) -> OnTape {
    let mut found = OnTape::default();
    for item in TapeLines::new(TapeReader::open(tape).unwrap()) {
        match item.unwrap() {
            TapeItem::Line(line) => {
                let lines = match line.channel {
                    Channel::In => &mut found.said,
                    Channel::Out => &mut found.heard,
                    Channel::Err => &mut found.errors,
                };
                let mut text = String::from_utf8(line.text.as_bytes().to_vec()).unwrap();
                if line.ended {
                    text.push('\n');
                }
                lines.push(text);
            }
            TapeItem::Note { note: Note::Closed { channel: Channel::In }, .. } => {
                found.closed = true;
            }
            TapeItem::End { end, .. } => found.end = Some(end),
            other => panic!("{other:?}"),
        }
    }
    found
}

async fn plays(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let tape = lab.root().join("session.tape");
    let (answer, stats) = hold(builder(&lab).record(&tape), true).await?;
    assert_eq!(answer, "That was it.");
    // The tape is whole as soon as the session is closed.
    let OnTape { said, heard, closed, end, .. } = read(&tape);
    assert_eq!((end, closed), (Some(End::Code(0)), true));
    assert_eq!(heard.len() as u64, stats.frames);
    let kinds = ["initialize", "set_permission_mode", "set_permission_mode", "Write it.", "allow"];
    assert_eq!(said.len(), kinds.len(), "{said:?}");
    for (line, kind) in said.iter().zip(kinds) {
        assert!(line.contains(kind), "{kind} is not in {line}");
    }
    let header = TapeReader::open(&tape)?.header().clone();
    assert_eq!(Path::new(&header.cwd), lab.work());
    assert!(header.env.iter().any(|name| name == "ANTHROPIC_API_KEY"));
    assert!(
        header.argv.iter().any(|word| word == "--input-format=stream-json"),
        "{:?}",
        header.argv
    );

    std::fs::remove_file(lab.work().join("new.txt"))?;
    let report = lab.root().join("report.json");
    let played = builder(&lab).executable(stand_in(&lab.root(), &tape, &report));
    let (again, _) = hold(played, true).await?;
    assert_eq!(again, answer);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report)?)?;
    let found = |key| report.get(key).cloned().unwrap_or_default();
    assert_eq!((found("verdict"), found("matched")), ("followed".into(), 5.into()), "{report}");
    lab.close().await?;
    Ok(())
}

/// Whoever looks at the lines sees those that are on the tape, each way in its order.
async fn handed_on(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let tape = lab.root().join("session.tape");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let look = {
        let seen = Arc::clone(&seen);
        move |way: Way, line: &[u8]| {
            let line = String::from_utf8(line.to_vec()).unwrap();
            seen.lock().unwrap().push((way, line + "\n"));
        }
    };
    hold(builder(&lab).record(&tape).on_line(look), true).await?;
    let seen = seen.lock().unwrap().clone();
    let on_way = |wanted| {
        let lines = seen.iter().filter(|(way, _)| *way == wanted);
        lines.map(|(_, line)| line.clone()).collect::<Vec<_>>()
    };
    let OnTape { said, heard, .. } = read(&tape);
    assert_eq!((on_way(Way::ToCli), on_way(Way::FromCli)), (said, heard));
    lab.close().await?;
    Ok(())
}

async fn departs() -> Outcome {
    let lab = lab(Cli::Simulated(V325), WRITE).await;
    let tape = lab.root().join("session.tape");
    hold(builder(&lab).record(&tape), true).await?;
    let report = lab.root().join("report.json");
    let played = builder(&lab).executable(stand_in(&lab.root(), &tape, &report));
    let error = hold(played, false).await.err().unwrap();
    assert!(error.to_string().contains("departed from the tape"), "{error}");
    lab.close().await?;
    Ok(())
}

async fn noisy() -> Outcome {
    let lab = lab(Cli::Simulated(V325), NOISY).await;
    let tape = lab.root().join("session.tape");
    let (_, stats) = hold(builder(&lab).record(&tape), true).await?;
    let errors = read(&tape).errors;
    let bytes: usize = errors.iter().map(String::len).sum();
    assert_eq!(stats.stderr_bytes, bytes as u64);
    assert!(bytes >= 300_000, "{bytes}");
    lab.close().await?;
    Ok(())
}

async fn exists() -> Outcome {
    let lab = lab(Cli::Simulated(V325), WRITE).await;
    let tape = lab.root().join("session.tape");
    std::fs::write(&tape, "mine")?;
    // Were it started, it would say so.
    let never = lab.root().join("never");
    std::fs::write(&never, format!("#!/bin/sh\ntouch '{}'\n", lab.root().join("ran").display()))?;
    std::fs::set_permissions(&never, Permissions::from_mode(0o755))?;
    let error = builder(&lab).executable(never).record(&tape).connect().await.err().unwrap();
    assert!(matches!(error, ConnectError::Record(_)), "{error:?}");
    assert!(error.to_string().contains("session.tape"), "{error}");
    assert_eq!(std::fs::read_to_string(&tape)?, "mine");
    assert!(!lab.root().join("ran").exists());
    lab.close().await?;
    Ok(())
}

/// Says to this very program that it is to play tapes.
const PLAYER: &str = "COUNTERSIGN_TEST_PLAYER";

/// Plays a tape, if that is what this program was started for.
pub(crate) fn as_a_player() -> Option<ExitCode> {
    std::env::var_os(PLAYER)?;
    Some(countersign_record::command::main())
}

/// A program that plays a tape in the place of the CLI.
fn stand_in(folder: &Path, tape: &Path, report: &Path) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let (player, script) = (folder.join("player"), folder.join("stand-in"));
    let text = format!("#!/bin/sh\n{PLAYER}=1 exec '{}' \"$@\"\n", this.display());
    std::fs::write(&player, text).unwrap();
    std::fs::set_permissions(&player, Permissions::from_mode(0o755)).unwrap();
    let stand_in = ReplayStandIn {
        player: &player,
        words: &["replay"],
        tape,
        lenient: false,
        speed: Speed::Fast,
        report: Some(report),
    };
    stand_in.write(&script).unwrap();
    script
}
