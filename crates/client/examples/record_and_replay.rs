//! Records a session, and holds it again with the tape in the place of the CLI.
//!
//! ```sh
//! cargo run -p countersign --example record_and_replay -- session.tape
//! ```
//!
//! So a test can run without the CLI, and fails when the client says something else than it did.
//! Tapes have secrets on them: `countersign tape redact` takes them out.
#![expect(clippy::print_stdout, reason = "it talks to whoever runs it")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use countersign::SessionBuilder;
use countersign_record::replay::Speed;
use countersign_record::{ReplayStandIn, TapeLines, TapeReader};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // The stand-in below starts `replay --tape ...`, a command of `countersign-record`. This program is that, too, so that
    // the example needs nothing else.
    if std::env::args().nth(1).as_deref() == Some("replay") {
        return Ok(countersign_record::command::main());
    }
    let tape = std::env::args_os().nth(1).map_or_else(|| "session.tape".into(), PathBuf::from);
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(record_and_replay(&tape))?;
    Ok(ExitCode::SUCCESS)
}

async fn record_and_replay(tape: &Path) -> Result<(), Box<dyn Error>> {
    let prompt = "What is 2+2?";
    let live = SessionBuilder::new().record(tape).ask(prompt).await?;
    println!("live: {}", live.answer());
    let mut lines = TapeLines::new(TapeReader::open(tape)?);
    println!("{} items on the tape, which is {:?}", lines.by_ref().count(), lines.get_ref().tail());

    let folder = tempfile::tempdir()?;
    let (claude, report) = (folder.path().join("claude"), folder.path().join("report.json"));
    let stand_in = ReplayStandIn {
        player: &std::env::current_exe()?,
        words: &["replay"],
        tape,
        lenient: false,
        speed: Speed::Fast,
        report: Some(&report),
    };
    stand_in.write(&claude)?;
    let played = SessionBuilder::new().executable(&claude).ask(prompt).await?;
    println!("played: {}", played.answer());
    println!("{}", std::fs::read_to_string(report)?);
    Ok(())
}
