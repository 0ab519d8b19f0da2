//! The commands `replay` and `diff`, as any client or person uses them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command};

use countersign_record::replay::Speed;
use countersign_record::{Channel, End, Entry, Header, Note, Record, ReplayStandIn, Text};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::conversations::{line, tape};
use crate::support::{PROGRAM, Place, command, run, signal, spawn};

/// A program that answers each line that it reads, and ends as it is told.
const FAKE: &str = r#"#!/bin/sh
echo "starting" >&2
while read -r line; do
  case $line in
    *bye*) printf '{"type":"result","subtype":"success"}\n'; exit 4 ;;
    *) printf '{"type":"assistant","echo":%s,"uuid":"%s"}\n' "$line" "11111111-1111-4111-8111-111111111111" ;;
  esac
done
exit 3
"#;

impl Place {
    fn tape_of(&self, name: &str, entries: &[Entry]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, tape("2.1.325", entries)).unwrap();
        path
    }
}

fn replay(tape: &Path) -> Command {
    let mut command = command(PROGRAM);
    command.args(["replay", "--tape"]).arg(tape);
    command
}

struct Session {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Session {
    fn start(command: &mut Command) -> Self {
        let mut child = spawn(command);
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    fn ask(&mut self, line: &str) -> String {
        writeln!(self.stdin, "{line}").unwrap();
        self.read()
    }

    fn read(&mut self) -> String {
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }
}

#[test]
fn what_tee_records_replay_plays() {
    let place = Place::new();
    let fake = place.script("claude", FAKE);
    let fake = fake.to_str().unwrap();
    let talk = |mut session: Session| {
        let answers =
            [session.ask(r#"{"n":1}"#), session.ask(r#"{"n":2}"#), session.ask(r#""bye""#)];
        (answers, session.child.wait_with_output().unwrap())
    };
    let (real, first) = talk(Session::start(&mut place.tee(fake, &["--verbose"])));
    assert_eq!(first.status.code(), Some(4), "{first:?}");
    let report = place.path("report.json");
    let mut second = replay(&place.tape());
    second.arg("--report").arg(&report).args(["--", "--verbose"]);
    let (played, second) = talk(Session::start(&mut second));
    assert_eq!((played, second.status.code()), (real, Some(4)), "{second:?}");
    assert_eq!(second.stderr, b"starting\n");
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["verdict"], "followed");
    assert_eq!((&report["matched"], &report["written"]), (&json!(3), &json!(3)));
    assert_eq!(report["notes"], json!([]));
}

#[test]
fn a_departure_is_told_on_standard_error_and_in_the_report() {
    let place = Place::new();
    let entries = [line(Channel::In, r#"{"type":"user","text":"a"}"#), Entry::End(End::Code(0))];
    let tape = place.tape_of("tape", &entries);
    let report = place.path("report.json");
    let ended =
        run(replay(&tape).arg("--report").arg(&report), b"{\"type\":\"user\",\"text\":\"b\"}\n");
    assert_eq!(ended.status.code(), Some(70), "{ended:?}");
    let text = String::from_utf8(ended.stderr).unwrap();
    assert!(
        text.starts_with("countersign: the client departed from the tape at record 1\n"),
        "{text}"
    );
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["verdict"], "departed");
    assert_eq!(report["departure"]["record"], json!(1));
    assert_eq!(report["departure"]["differences"][0]["path"], "text");
}

#[test]
fn the_version_is_that_of_the_recorded_cli() {
    let place = Place::new();
    let named = place.tape_of("named", &[]);
    for flag in ["-v", "--version"] {
        let ended = run(replay(&named).args(["--", flag]), b"");
        assert_eq!(ended.stdout, b"2.1.325 (Claude Code)\n", "{ended:?}");
        assert!(ended.status.success());
    }
    // A tape that does not say it in its header may have it on the wire.
    let init = r#"{"type":"system","subtype":"init","claude_code_version":"2.1.99"}"#;
    for (name, entries, version) in [
        ("init", vec![line(Channel::Out, init)], Some("2.1.99 (Claude Code)\n")),
        ("nowhere", Vec::new(), None),
    ] {
        let tape = place.tape_of(name, &entries);
        let text = std::fs::read_to_string(&tape).unwrap();
        std::fs::write(&tape, text.replacen("\"cli\":\"2.1.325\"", "\"cli\":null", 1)).unwrap();
        let ended = run(replay(&tape).args(["--", "-v"]), b"");
        assert_eq!(ended.stdout, version.unwrap_or_default().as_bytes(), "{ended:?}");
        assert_eq!(ended.status.code(), Some(if version.is_some() { 0 } else { 74 }));
    }
}

#[test]
fn a_stand_in_plays_a_tape_to_any_client() {
    let place = Place::new();
    let entries = [
        line(Channel::In, "{\"n\":1}"),
        line(Channel::Out, "{\"answer\":1}"),
        Entry::Note(Note::Closed { channel: Channel::In }),
        Entry::End(End::Code(6)),
    ];
    let tape = place.tape_of("it's a tape", &entries);
    let (out, report) = (place.path("stand in"), place.path("the report"));
    let stand_in = ReplayStandIn {
        player: PROGRAM.as_ref(),
        words: &["replay"],
        tape: &tape,
        lenient: true,
        speed: Speed::Times(2.0),
        report: Some(&report),
    };
    stand_in.write(&out).unwrap();
    let ended =
        run(command(&out).args(["--flag", "two words"]), b"{\"type\":\"extra\"}\n{\"n\":1}\n");
    assert_eq!(
        (ended.status.code(), ended.stdout.as_slice()),
        (Some(6), &b"{\"answer\":1}\n"[..]),
        "{ended:?}"
    );
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["notes"].as_array().unwrap().len(), 2, "{report}");
    let version = run(command(&out).arg("-v"), b"");
    assert_eq!(version.stdout, b"2.1.325 (Claude Code)\n");
}

/// A tape on which the client ends the CLI by a signal.
fn ended_by_signal(place: &Place, end: End) -> PathBuf {
    let entries = [
        line(Channel::In, "{\"n\":1}"),
        line(Channel::Out, "{\"answer\":1}"),
        Entry::Note(Note::Signal { number: 15 }),
        line(Channel::Out, "{\"last\":\"words\"}"),
        Entry::End(end),
    ];
    place.tape_of("signal", &entries)
}

#[test]
fn a_signal_on_the_tape_is_waited_for() {
    let place = Place::new();
    for (end, code, killed) in
        [(End::Code(143), Some(143), None), (End::Signal(15), None, Some(15))]
    {
        let mut session = Session::start(&mut replay(&ended_by_signal(&place, end)));
        assert_eq!(session.ask("{\"n\":1}"), "{\"answer\":1}");
        signal(session.child.id(), Signal::TERM);
        assert_eq!(session.read(), "{\"last\":\"words\"}");
        let ended = session.child.wait_with_output().unwrap();
        assert_eq!((ended.status.code(), ended.status.signal()), (code, killed), "{ended:?}");
        assert_eq!(ended.stderr, b"");
    }
}

#[test]
fn a_signal_that_is_not_on_the_tape_ends_the_replay() {
    let place = Place::new();
    let entries = [
        line(Channel::Out, "{\"hello\":1}"),
        line(Channel::In, "{\"n\":1}"),
        Entry::End(End::Code(0)),
    ];
    let tape = place.tape_of("tape", &entries);
    let report = place.path("report.json");
    let mut session = Session::start(replay(&tape).arg("--report").arg(&report));
    assert_eq!(session.read(), "{\"hello\":1}");
    signal(session.child.id(), Signal::INT);
    let ended = session.child.wait_with_output().unwrap();
    assert_eq!(ended.status.signal(), Some(2), "{ended:?}");
    let text = String::from_utf8(ended.stderr).unwrap();
    assert!(text.contains("signal 2 is not on the tape, which has: no type {\"n\":1}"), "{text}");
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["verdict"], "signalled");
}

#[test]
fn a_signal_while_the_cli_still_has_something_to_say_ends_the_replay() {
    let place = Place::new();
    let tape = place.path("tape");
    let mut file = Vec::new();
    Header::new("2026-11-16T08:00:00Z".parse().unwrap()).write(&mut file).unwrap();
    let hour = 3_600_000_000;
    let entries = [
        (0, line(Channel::Out, "{\"n\":1}")),
        (hour, line(Channel::Out, "{\"n\":2}")),
        (hour, Entry::End(End::Code(0))),
    ];
    for (seq, (us, entry)) in (1..).zip(entries) {
        Record { seq, us, entry }.write(&mut file).unwrap();
    }
    std::fs::write(&tape, file).unwrap();
    let mut session = Session::start(replay(&tape).args(["--speed", "original"]));
    assert_eq!(session.read(), "{\"n\":1}");
    signal(session.child.id(), Signal::TERM);
    let ended = session.child.wait_with_output().unwrap();
    assert_eq!(ended.status.signal(), Some(15), "{ended:?}");
    let text = String::from_utf8(ended.stderr).unwrap();
    assert!(text.contains("signal 15 is not on the tape"), "{text}");
}

#[test]
fn a_client_that_closes_its_end_instead_of_sending_a_signal_departs() {
    let place = Place::new();
    let ended = run(&mut replay(&ended_by_signal(&place, End::Code(0))), b"{\"n\":1}\n");
    assert_eq!(ended.status.code(), Some(70), "{ended:?}");
    let text = String::from_utf8(ended.stderr).unwrap();
    assert!(text.contains("expected: the client sends signal 15"), "{text}");
    assert!(text.contains("got:      the client closed its end"), "{text}");
}

#[test]
fn a_client_that_never_reads_can_still_end_the_replay() {
    let place = Place::new();
    let tape = place.path("tape");
    large_tape(&tape, 200, 4096);
    let mut session = Session::start(&mut replay(&tape));
    assert!(session.read().starts_with("{\"text\":\"1 xxx"));
    // More than a pipe holds is still to come, and nobody reads it.
    signal(session.child.id(), Signal::TERM);
    assert_eq!(session.child.wait().unwrap().signal(), Some(15));
}

/// A tape with so many lines of about that many bytes.
fn large_tape(path: &Path, lines: u64, length: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut buffer = Vec::new();
    Header::new("2026-11-16T08:00:00Z".parse().unwrap()).write(&mut buffer).unwrap();
    let text = "x".repeat(length);
    for seq in 1..=lines {
        let frame = json!({"type": "assistant", "text": format!("{seq} {text}"),
            "uuid": format!("00000000-0000-4000-8000-{seq:012}")});
        let text = Text::Utf8(frame.to_string());
        let entry = Entry::Line { channel: Channel::Out, text, more: false };
        Record { seq, us: seq, entry }.write(&mut buffer).unwrap();
        file.write_all(&buffer).unwrap();
        buffer.clear();
    }
    let end = Record { seq: lines + 1, us: lines, entry: Entry::End(End::Code(0)) };
    end.write(&mut buffer).unwrap();
    file.write_all(&buffer).unwrap();
}

/// A command that may use no more memory than this.
fn with_memory(megabytes: u64) -> Command {
    let mut command = command("/bin/sh");
    let limit = megabytes * 1024;
    command.args(["-c", &format!("ulimit -v {limit}; exec \"$@\""), "sh", PROGRAM]);
    command
}

#[test]
fn a_tape_that_is_larger_than_memory_is_compared_and_played() {
    const MEGABYTES: u64 = 28;
    let place = Place::new();
    let tape = place.path("large");
    large_tape(&tape, 1000, 32 * 1024);
    assert!(std::fs::metadata(&tape).unwrap().len() > MEGABYTES * 1024 * 1024);
    let small = place.path("small");
    large_tape(&small, 10, 32 * 1024);
    let found = run(with_memory(MEGABYTES).arg("diff").args([&tape, &small]), b"");
    assert_eq!(found.status.code(), Some(1), "{:?}", String::from_utf8_lossy(&found.stderr));
    let shown = String::from_utf8(found.stdout).unwrap();
    let counts = "different: 0 changed, 0 moved, 990 only left, 0 only right, 10 the same\n";
    assert!(shown.ends_with(counts), "{:?}", shown.lines().last());
    let mut session = Session::start(with_memory(MEGABYTES).args(["replay", "--tape"]).arg(&tape));
    let mut count = 0;
    while !session.read().is_empty() {
        count += 1;
    }
    assert_eq!(count, 1000);
    assert!(session.child.wait().unwrap().success());
}

#[test]
fn diff_says_by_its_exit_code_whether_tapes_differ() {
    let place = Place::new();
    let frame = |n: u64, cost: f64| {
        let frame = json!({"type": "result", "subtype": "success", "n": n, "total_cost_usd": cost});
        [line(Channel::Out, &frame.to_string()), Entry::End(End::Code(0))]
    };
    let left = place.tape_of("left", &frame(1, 0.5));
    let right = place.tape_of("right", &frame(2, 0.25));
    let diff = |args: &[&str], right: &Path| {
        let mut command = command(PROGRAM);
        run(command.arg("diff").args(args).arg(&left).arg(right), b"")
    };
    assert_eq!(diff(&[], &left).status.code(), Some(0));
    let found = diff(&[], &right);
    assert_eq!(found.status.code(), Some(1));
    let shown = String::from_utf8(found.stdout).unwrap();
    let expected = format!(
        "--- {} (claude 2.1.325)\n+++ {} (claude 2.1.325)\n@@ out -1 +1 result success @@\n  n:\n    - 1\n    + 2\n  total_cost_usd:\n    - 0.5\n    + 0.25\ndifferent: 1 changed, 0 moved, 0 only left, 0 only right, 0 the same\n",
        left.display(),
        right.display()
    );
    assert_eq!(shown, expected);
    let ignored = diff(&["--ignore", "result:n", "--ignore", "**.total_cost_usd"], &right);
    assert_eq!(ignored.status.code(), Some(0), "{ignored:?}");
    let json: Value = serde_json::from_slice(&diff(&["--json"], &right).stdout).unwrap();
    assert_eq!(json["counts"]["changed"], json!(1));
    for (args, right) in [(&[][..], Path::new("/nowhere")), (&["--ignore", "a..b"][..], &right)] {
        let failed = diff(args, right);
        assert_eq!(failed.status.code(), Some(2), "{failed:?}");
        assert!(failed.stderr.starts_with(b"countersign: "), "{failed:?}");
    }
}
