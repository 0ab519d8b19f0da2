//! Stand-ins: scripts that a client takes for the CLI.

use std::path::Path;

use countersign_record::{Channel, StandIn, StandInError, TapeReader};

use crate::support::{PROGRAM, Place, channel_bytes, command, read_tape, run};

/// The tapes in a folder.
fn tapes(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|kind| kind == "tape")).collect()
}

fn stand_in<'a>(tape: &'a Path, claude: &'a Path) -> StandIn<'a> {
    StandIn { recorder: PROGRAM.as_ref(), words: &["tee"], tape, claude }
}

const FAKE: &str = "#!/bin/sh\nprintf '%s|' \"$@\"\ncat\nexit 3\n";

#[test]
fn a_stand_in_records_each_run_in_a_file_of_its_own() {
    let place = Place::new();
    let claude = place.script("it's real/claude", FAKE);
    let tapes_folder = place.path("the 'tapes' $HOME");
    std::fs::create_dir(&tapes_folder).unwrap();
    let out = place.path("stand \"in\"");
    stand_in(&tapes_folder, &claude).write(&out).unwrap();
    for _ in 0..2 {
        let output = run(command(&out).args(["--flag", "two words", "", "--", "$x"]), b"hello\n");
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert_eq!(output.stdout, b"--flag|two words||--|$x|hello\n");
    }
    let tapes = tapes(&tapes_folder);
    assert_eq!(tapes.len(), 2, "{tapes:?}");
    for tape in tapes {
        assert_eq!(channel_bytes(&read_tape(&tape).0, Channel::In), b"hello\n");
        let reader = TapeReader::open(&tape).unwrap();
        let claude = claude.to_str().unwrap();
        assert_eq!(reader.header().argv, [claude, "--flag", "two words", "", "--", "$x"]);
    }
}

#[test]
fn nothing_is_replaced_by_a_stand_in() {
    let place = Place::new();
    let claude = place.script("claude", FAKE);
    let tapes = place.path("tapes");
    let stand_in = stand_in(&tapes, &claude);
    let error = stand_in.write(&claude).unwrap_err();
    assert!(matches!(error, StandInError::IsTheCli { .. }), "{error}");
    let other = place.script("other", "precious");
    let error = stand_in.write(&other).unwrap_err();
    assert!(matches!(error, StandInError::Write { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(other).unwrap(), "precious");
    assert_eq!(std::fs::read_to_string(claude).unwrap(), FAKE);
}

#[test]
fn a_stand_in_on_the_search_path_is_not_taken_for_the_cli() {
    let place = Place::new();
    let real = place.script("real/claude", FAKE);
    let tapes = place.path("tapes");
    std::fs::create_dir(&tapes).unwrap();
    std::fs::create_dir(place.path("first")).unwrap();
    let stand_in = place.path("first/claude");
    self::stand_in(&tapes, &real).write(&stand_in).unwrap();
    // Another kind of stand-in: this very program, under the name of the CLI.
    std::fs::create_dir(place.path("second")).unwrap();
    std::os::unix::fs::symlink(PROGRAM, place.path("second/claude")).unwrap();
    // And one that somebody wrote by hand, which would start itself for ever.
    place.script(
        "third/claude",
        &format!("#!/bin/sh\nexec {PROGRAM} tee --tape {} -- \"$@\"\n", tapes.display()),
    );
    let path = |folders: &[&str]| {
        let system = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .filter(|folder| !folder.join("claude").exists())
            .collect::<Vec<_>>();
        let folders = folders.iter().map(|folder| place.path(folder));
        std::env::join_paths(folders.chain(system)).unwrap()
    };
    let tee = |folders: &[&str]| {
        let mut command = command(PROGRAM);
        command.args(["tee", "--tape"]).arg(&tapes).args(["--", "a"]);
        command.env_remove("CLAUDE_CODE_PATH").env("PATH", path(folders));
        command
    };
    let all = ["first", "second", "third", "real"];
    let output = run(&mut tee(&all), b"");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(3), &b"a|"[..]), "{output:?}");

    let without = &["first", "second", "third"];
    let output = run(&mut tee(without), b"");
    assert_eq!(output.status.code(), Some(127));
    assert!(String::from_utf8(output.stderr).unwrap().contains("claude is not on PATH"));

    // Named by hand it is refused.
    let output = run(tee(without).env("CLAUDE_CODE_PATH", &stand_in), b"");
    assert_eq!(output.status.code(), Some(127));
    assert!(String::from_utf8(output.stderr).unwrap().contains("is itself a stand-in"));

    // And the variable goes before the search path.
    let output = run(tee(without).env("CLAUDE_CODE_PATH", &real), b"");
    assert_eq!(output.stdout, b"a|");
}
