//! `record` and `shim`: tapes of any client.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_record::TapeReader;

use crate::support::{PROGRAM, command, ran, run, script};

/// A CLI that says what it was told.
const CLAUDE: &str = "#!/bin/sh\necho \"args: $*\"\ncat\nexit 3\n";

fn tapes(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|kind| kind == "tape")).collect()
}

#[test]
fn a_client_that_finds_claude_by_itself_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let bin = path.join("bin");
    script(&bin.join("claude"), CLAUDE);
    let search = format!("{}:/usr/bin:/bin", bin.display());
    // By its name, by the variable, by its path, and as the command itself.
    let client = script(&path.join("client"), "#!/bin/sh\necho hello | claude --one\n");
    let other =
        script(&path.join("other"), "#!/bin/sh\necho hello | \"$CLAUDE_CODE_PATH\" --one\n");
    let real = bin.join("claude");
    let [client, other, real] = [&client, &other, &real].map(|path| path.to_str().unwrap());
    let clients: [&[&str]; 4] = [&[client], &[other], &[real, "--one"], &["claude", "--one"]];
    for (number, words) in clients.into_iter().enumerate() {
        let tapes_folder = format!("tapes-{number}");
        let mut record = command(path);
        record.env("PATH", &search).args(["record", "-o", &tapes_folder, "--"]).args(words);
        let recorded = ran(&mut record);
        assert_eq!(recorded.code, Some(3), "{recorded:?}");
        assert!(recorded.out.starts_with("args: --one\n"), "{recorded:?}");
        assert!(recorded.err.contains("recorded: "), "{recorded:?}");
        let tapes = tapes(&path.join(tapes_folder));
        assert_eq!(tapes.len(), 1, "{words:?}");
        let reader = TapeReader::open(&tapes[0]).unwrap();
        assert_eq!(reader.header().argv[1..], ["--one"]);
    }
}

#[test]
fn a_command_that_starts_no_claude_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let claude = script(&path.join("claude"), CLAUDE);
    let claude = claude.to_str().unwrap();
    let recorded = run(path, &["record", "--claude", claude, "--", "sh", "-c", "exit 7"]);
    assert_eq!(recorded.code, Some(7));
    assert!(recorded.err.contains("nothing was recorded"), "{recorded:?}");
    let missing = run(path, &["record", "--claude", claude, "--", "no-such-command"]);
    assert_eq!(missing.code, Some(127));
    assert!(missing.err.contains("cannot start no-such-command"), "{missing:?}");
    let none = run(path, &["record", "--", "true"]);
    assert_eq!(none.code, Some(5));
    assert!(none.err.contains("--claude PATH"), "{none:?}");
}

#[test]
fn a_shim_records_and_a_shim_plays_what_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let claude = script(&path.join("claude"), CLAUDE);
    let made = run(path, &["shim", "recorder", "--claude", claude.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let words = "./recorder --one; echo $?";
    let recorded = sh(path, words);
    assert_eq!(recorded, "args: --one\n{\"type\":\"keep_alive\"}\n3\n");
    let tape = tapes(&path.join("tapes")).pop().unwrap();

    let again = run(path, &["shim", "recorder", "--claude", claude.to_str().unwrap()]);
    assert_eq!(again.code, Some(1), "nothing is overwritten: {again:?}");
    let made = run(path, &["shim", "player", "--replay", tape.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert_eq!(sh(path, &words.replace("recorder", "player")), recorded);

    let both = ["shim", "x", "--replay", "y", "--claude", "z"];
    assert_eq!(run(path, &both).code, Some(2));
}

/// What a shell says that runs these words, with a frame on its standard input.
fn sh(folder: &Path, words: &str) -> String {
    let client = script(
        &folder.join("client"),
        &format!("#!/bin/sh\necho '{{\"type\":\"keep_alive\"}}' | {{ {words}; }}\n"),
    );
    // Through the command, which starts processes; it records nothing here.
    let claude = folder.join("claude");
    let mut record = command(folder);
    record.args(["record", "-o", "unused", "--claude"]).arg(claude).arg("--").arg(client);
    let ran = ran(&mut record);
    assert_eq!(ran.code, Some(0), "{ran:?} {PROGRAM}");
    ran.out
}
