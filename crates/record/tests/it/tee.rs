//! The stand-in for the CLI, run as a client would run it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

use countersign_record::{Channel, End, Entry, Note, Tail};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, prlimit};

use crate::support::{
    PROGRAM, Place, channel_bytes, command, is_gone, peak_memory, read_tape, run, signal, spawn,
    tee, wait_until,
};

/// Bytes without a pattern, the same in each run.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

#[test]
fn bytes_go_through_as_they_are_both_ways() {
    let place = Place::new();
    let sent = noise(3_000_000);
    let output = run(&mut place.tee("/bin/cat", &[]), &sent);
    assert!(output.status.success());
    assert!(output.stdout == sent, "what came back is not what was sent");
    assert_eq!(output.stderr, b"");

    let records = place.records();
    assert!(channel_bytes(&records, Channel::In) == sent);
    assert!(channel_bytes(&records, Channel::Out) == sent);
    assert_eq!(records.last().unwrap().entry, Entry::End(End::Code(0)));
}

#[test]
fn lines_of_all_sorts_are_exact_on_the_tape() {
    let place = Place::new();
    let sent =
        b"plain\ncrlf\r\n\n\n\xff\xfe\x00\n{\"quoted\":\"\\u00fc\"}\n\xe2\x82\xac\nno newline";
    let output = run(&mut place.tee_sh("tee /dev/stderr"), sent);
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&sent[..], &sent[..]));
    let records = place.records();
    for channel in [Channel::In, Channel::Out, Channel::Err] {
        assert_eq!(channel_bytes(&records, channel), sent);
    }
}

#[test]
fn a_byte_is_passed_on_at_once() {
    let place = Place::new();
    let mut child = spawn(&mut place.tee("/bin/cat", &[]));
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for byte in *b"no newline anywhere" {
        stdin.write_all(&[byte]).unwrap();
        let mut back = [0];
        stdout.read_exact(&mut back).unwrap();
        assert_eq!(back, [byte]);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(channel_bytes(&place.records(), Channel::Out), b"no newline anywhere");
}

#[test]
fn what_caused_something_has_the_lower_number() {
    let place = Place::new();
    let mut child = spawn(&mut place.tee("/bin/cat", &[]));
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for number in 0..50 {
        writeln!(stdin, "{number}").unwrap();
        let mut back = String::new();
        stdout.read_line(&mut back).unwrap();
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let order: Vec<String> = place
        .records()
        .iter()
        .filter_map(|record| match &record.entry {
            Entry::Line { channel, text, .. } => {
                Some(format!("{channel} {}", text.as_str().unwrap()))
            }
            _ => None,
        })
        .collect();
    let expected: Vec<String> =
        (0..50).flat_map(|number| [format!("in {number}"), format!("out {number}")]).collect();
    assert_eq!(order, expected);
}

#[test]
fn the_exit_code_is_kept() {
    for code in [0, 3, 143, 255] {
        let place = Place::new();
        let output = run(&mut place.tee_sh(&format!("exit {code}")), b"");
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(place.records().last().unwrap().entry, Entry::End(End::Code(code)));
    }
}

#[test]
fn death_by_a_signal_is_kept() {
    for (name, number) in [("TERM", 15), ("KILL", 9), ("ABRT", 6), ("SEGV", 11), ("PIPE", 13)] {
        let place = Place::new();
        let output = run(&mut place.tee_sh(&format!("kill -{name} $$")), b"");
        assert_eq!(output.status.signal(), Some(number), "{name}");
        assert_eq!(place.records().last().unwrap().entry, Entry::End(End::Signal(number)));
    }
}

/// A child that says which signals it gets, and ends with 5 at TERM.
const LISTENER: &str = "
    for name in INT HUP QUIT USR1 USR2 CONT; do trap \"echo $name\" $name; done
    sleep 1000 </dev/null >/dev/null 2>&1 &
    trap 'echo TERM; kill $!; exit 5' TERM
    echo ready
    while :; do wait; done";

#[test]
fn signals_are_passed_on_and_noted() {
    let place = Place::new();
    let mut child = spawn(&mut place.tee_sh(LISTENER));
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || stdout.next().unwrap().unwrap();
    assert_eq!(next(), "ready");
    let signals = [
        (Signal::INT, "INT"),
        (Signal::HUP, "HUP"),
        (Signal::QUIT, "QUIT"),
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
        (Signal::CONT, "CONT"),
        (Signal::TERM, "TERM"),
    ];
    for (number, name) in signals {
        signal(child.id(), number);
        assert_eq!(next(), name);
    }
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let noted: Vec<i32> = place
        .records()
        .iter()
        .filter_map(|record| match record.entry {
            Entry::Note(Note::Signal { number }) => Some(number),
            _ => None,
        })
        .collect();
    assert_eq!(noted, signals.map(|(signal, _)| signal.as_raw()));
}

#[test]
fn a_signal_to_the_whole_group_arrives_once() {
    let place = Place::new();
    let mut child = spawn(place.tee_sh(LISTENER).process_group(0));
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(stdout.next().unwrap().unwrap(), "ready");
    let group = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process_group(group, Signal::INT).unwrap();
    assert_eq!(stdout.next().unwrap().unwrap(), "INT");
    kill_process_group(group, Signal::TERM).unwrap();
    let rest: Vec<String> = stdout.map(Result::unwrap).collect();
    assert_eq!(rest, ["TERM"]);
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn a_signal_that_the_client_ignores_is_ignored_by_the_cli() {
    let place = Place::new();
    let tape = place.tape();
    let output = run(
        command("/bin/sh")
            .args(["-c", "trap '' HUP; exec \"$@\"", "sh", PROGRAM, "tee", "--tape"])
            .arg(tape)
            .args(["--claude", "/bin/sh", "--", "-c", "kill -HUP $$; echo alive"]),
        b"",
    );
    assert_eq!(output.stdout, b"alive\n");
}

#[test]
fn killed_outright_it_leaves_a_readable_tape_and_no_child() {
    let place = Place::new();
    let mut child = spawn(&mut place.tee_sh("echo $$; echo hello; printf world; exec sleep 1000"));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut pid = String::new();
    stdout.read_line(&mut pid).unwrap();
    let pid = pid.trim().parse().unwrap();
    let expected = format!("{pid}\nhello\nworld").into_bytes();
    // The client still has what it had; the tape follows within moments.
    wait_until("the tape has it", || {
        place.tape().exists()
            && std::fs::read(place.tape()).unwrap().contains(&b'\n')
            && channel_bytes(&read_tape(&place.tape()).0, Channel::Out) == expected
    });
    assert!(!is_gone(pid));

    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the child is gone", || is_gone(pid));
    let (records, tail) = read_tape(&place.tape());
    assert_eq!(tail, Tail::Unfinished);
    assert_eq!(channel_bytes(&records, Channel::Out), expected);
}

#[test]
fn a_line_of_64_megabytes_passes_in_bounded_memory() {
    let place = Place::new();
    let mut child = spawn(&mut place.tee("/bin/cat", &[]));
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let piece = br#"{"a":"some \"text\" with \\ escapes, as JSON in JSON has them"},"#;
    let line = piece.repeat((64 << 20) / piece.len());
    let sent = line.clone();
    let writer = std::thread::spawn(move || {
        stdin.write_all(&sent).unwrap();
        stdin
    });
    let mut back = vec![0; line.len()];
    stdout.read_exact(&mut back).unwrap();
    assert!(back == line);

    // The queue may hold 64 MiB; the rest is buffers, and what the allocator keeps.
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = peak_memory(&status);
    assert!(peak < 128 * 1024, "the stand-in took {peak} kB");

    drop(writer.join().unwrap());
    assert!(child.wait().unwrap().success());
    let records = place.records();
    assert!(channel_bytes(&records, Channel::In) == line);
    assert!(channel_bytes(&records, Channel::Out) == line);
}

#[test]
fn a_full_disk_does_not_harm_the_session() {
    let sent = noise(300_000);
    let output = run(
        &mut tee("/dev/full".as_ref(), "/bin/sh", &["-c", "cat; echo mine >&2; exit 3"]),
        &sent,
    );
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout == sent);
    let mut stderr: Vec<&str> = std::str::from_utf8(&output.stderr).unwrap().lines().collect();
    stderr.sort_unstable();
    assert_eq!(stderr.len(), 2, "{stderr:?}");
    assert!(stderr[0].starts_with("countersign: ") && stderr[0].contains("No space left"));
    assert_eq!(stderr[1], "mine");
}

#[test]
fn a_disk_that_has_room_again_has_everything() {
    let place = Place::new();
    let tape = place.tape();
    // A file of this process may have 8 KiB, for now.
    let mut child = spawn(
        command("/bin/sh")
            .args(["-c", "ulimit -S -f 16; exec \"$@\"", "sh", PROGRAM, "tee", "--tape"])
            .arg(&tape)
            .args(["--claude", "/bin/cat", "--"]),
    );
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let sent: String = (0..2000).map(|number| format!("line {number}\n")).collect();
    stdin.write_all(sent.as_bytes()).unwrap();
    let mut back = vec![0; sent.len()];
    stdout.read_exact(&mut back).unwrap();
    assert!(back == sent.as_bytes());
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    stderr.read_line(&mut told).unwrap();
    assert!(told.contains("File too large"), "{told}");
    assert_eq!(tape.metadata().unwrap().len(), 8192);
    assert_ne!(read_tape(&tape).1, Tail::Whole);

    let pid = Pid::from_raw(child.id().cast_signed());
    prlimit(pid, Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let records = place.records();
    assert_eq!(channel_bytes(&records, Channel::In), sent.as_bytes());
    assert_eq!(channel_bytes(&records, Channel::Out), sent.as_bytes());
    assert!(!records.iter().any(|record| matches!(record.entry, Entry::Note(Note::Gap { .. }))));
}

#[test]
fn without_a_tape_the_session_goes_on() {
    let place = Place::new();
    std::fs::write(place.tape(), "precious").unwrap();
    for tape in [place.tape(), place.path("no/such/folder/a.tape")] {
        let output = run(&mut tee(&tape, "/bin/sh", &["-c", "cat; exit 3"]), b"hello");
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(output.stdout, b"hello");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with("countersign: not recording: "), "{stderr}");
        assert_eq!(stderr.lines().count(), 1);
    }
    assert_eq!(std::fs::read(place.tape()).unwrap(), b"precious");
}

#[test]
fn a_client_that_stops_reading_is_noticed_by_the_cli() {
    // `yes` writes for ever, and dies of SIGPIPE.
    let place = Place::new();
    let mut child = spawn(&mut place.tee("yes", &[]));
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(13));
    let comments = comments(&place);
    assert_eq!(comments, ["out: its reader closed it"]);
    assert!(channel_bytes(&place.records(), Channel::Out).starts_with(&some));

    // `tail -f` ends when its output is closed, without writing to it.
    let place = Place::new();
    let mut child = spawn(&mut place.tee("tail", &["-f", "/dev/null"]));
    drop(child.stdout.take());
    child.wait().unwrap();
}

/// What was noted in words.
fn comments(place: &Place) -> Vec<String> {
    place
        .records()
        .into_iter()
        .filter_map(|record| match record.entry {
            Entry::Note(Note::Comment { text }) => Some(text),
            _ => None,
        })
        .collect()
}

#[test]
fn streams_that_the_cli_closes_are_closed_to_the_client() {
    let place = Place::new();
    let mut child = spawn(&mut place.tee_sh("echo bye; exec <&- >&-; exec sleep 1000"));
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "bye\n");
    let mut stdin = child.stdin.take().unwrap();
    wait_until("standard input is closed", || {
        stdin.write_all(b"x").is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    });
    assert!(child.try_wait().unwrap().is_none());
    signal(child.id(), Signal::TERM);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}

#[test]
fn the_end_of_the_input_reaches_the_cli_and_is_noted_before_its_effect() {
    let place = Place::new();
    let output = run(&mut place.tee_sh("cat >/dev/null; echo seen"), b"x\n");
    assert_eq!(output.stdout, b"seen\n");
    let entries: Vec<Entry> = place.records().into_iter().map(|record| record.entry).collect();
    let place_of = |wanted: fn(&Entry) -> bool| entries.iter().position(wanted).unwrap();
    let closed = place_of(|entry| *entry == Entry::Note(Note::Closed { channel: Channel::In }));
    let seen = place_of(|entry| matches!(entry, Entry::Line { channel: Channel::Out, .. }));
    assert!(closed < seen, "{entries:?}");
}

#[test]
fn a_process_that_the_cli_leaves_behind_does_not_keep_us() {
    let place = Place::new();
    let output = run(&mut place.tee_sh("sleep 1000 & echo $!; exit 4"), b"");
    assert_eq!(output.status.code(), Some(4));
    let left: u32 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    assert!(!is_gone(left), "what the CLI leaves behind is not ours to end");
    signal(left, Signal::KILL);
    let mut comments = comments(&place);
    comments.sort_unstable();
    assert_eq!(
        comments,
        ["err: open after the CLI had ended", "out: open after the CLI had ended"]
    );
}

#[test]
fn the_cli_sees_the_environment_and_the_folder_of_the_client() {
    let place = Place::new();
    let probe = "env | sort | grep -v '^_='; pwd; printf '%s|' \"$0\" \"$@\"";
    let args = ["-c", probe, "zero", "two words", "", "'quo\"ted'", "new\nline", "ü"];
    let at = place.path("work");
    std::fs::create_dir(&at).unwrap();
    let set = |command: &mut std::process::Command| {
        let path = std::env::var_os("PATH").unwrap();
        command.env_clear().env("PATH", path).env("SECRET", "swordfish").current_dir(&at);
    };
    let mut plain = command("/bin/sh");
    set(plain.args(args));
    let mut recorded = place.tee("/bin/sh", &args);
    set(&mut recorded);
    let plain = run(&mut plain, b"");
    assert_eq!(run(&mut recorded, b"").stdout, plain.stdout);

    let text = std::fs::read_to_string(place.tape()).unwrap();
    let header =
        countersign_record::Header::parse(text.lines().next().unwrap().as_bytes()).unwrap();
    assert_eq!(header.argv, [&["/bin/sh"], &args[..]].concat());
    assert_eq!(header.env, ["PATH", "SECRET"]);
    assert_eq!(header.cwd, at.canonicalize().unwrap().to_str().unwrap());
    assert!(!text.lines().next().unwrap().contains("swordfish"));
}
