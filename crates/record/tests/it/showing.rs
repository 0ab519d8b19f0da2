//! Looking at tapes with `show` and `stats`.

use std::ffi::OsStr;

use countersign_record::{Channel, End, Header, Note, Recorder, RecorderOptions};
use serde_json::{Value, json};

use crate::support::{PROGRAM, Place, command, run, stdout_of};

/// A short session, with things in it that a terminal should not see.
fn record(place: &Place) {
    let mut header = Header::new("2026-11-16T08:00:00Z".parse().unwrap());
    header.cli = Some("2.1.325".into());
    header.argv = vec!["claude".into(), "--model".into(), "x\u{1b}[31m".into()];
    header.cwd = "/home/user-1".into();
    let recorder = Recorder::create(place.tape(), &header, RecorderOptions::default()).unwrap();
    let lines: [(Channel, &[u8]); 7] = [
        (Channel::In, br#"{"type":"user","message":{"role":"user","content":"hi \u001b[2J there"}}"#),
        (
            Channel::Out,
            br#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]}}"#,
        ),
        (
            Channel::Out,
            br#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"toolu_1"}}"#,
        ),
        (
            Channel::In,
            br#"{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"no"}}"#,
        ),
        (Channel::Err, b"a warning"),
        (Channel::Out, br#"{"type":"hologram","beam":7}"#),
        (Channel::Out, b"\xffnot JSON"),
    ];
    for (channel, line) in lines {
        recorder.record(channel, line);
        recorder.record(channel, b"\n");
    }
    recorder.record(Channel::Out, format!("\"{}\"", "x".repeat(1000)).as_bytes());
    recorder.note(Note::Signal { number: 15 });
    assert!(recorder.finish(End::Signal(15)).finished);
}

fn show(place: &Place, args: &[&str]) -> String {
    let tape = place.tape();
    let mut all: Vec<&OsStr> = vec!["show".as_ref(), tape.as_os_str()];
    all.extend(args.iter().map(OsStr::new));
    stdout_of(&all)
}

#[test]
fn a_tape_is_shown_one_line_a_frame() {
    let place = Place::new();
    record(&place);
    let shown = show(&place, &[]);
    // The times differ from run to run.
    let lines: Vec<String> = shown
        .lines()
        .map(|line| if line.starts_with('#') { line.to_owned() } else { line[20..].to_owned() })
        .collect();
    let long = format!("← -                              \"{}… (no newline)", "x".repeat(119));
    assert_eq!(
        lines,
        [
            "# tape 1.0 of CLI 2.1.325, begun 2026-11-16T08:00:00Z, by countersign-record 0.1.0",
            "# in /home/user-1",
            r"# claude --model x\u{1b}[31m",
            r#"→ user                           "hi \u{1b}[2J there""#,
            r#"← assistant                      Bash {"command":"ls"}"#,
            r#"← control_request/can_use_tool   r1 Bash {"command":"ls"}"#,
            r#"→ control_response/error         r1 "no""#,
            r"! -                              a warning",
            r#"← hologram                       {"type":"hologram","beam":7}"#,
            "← -                              \u{fffd}not JSON",
            r"· note                           signal 15 (SIGTERM)",
            &long,
            r"· end                            ended by signal 15 (SIGTERM)",
        ]
    );
}

#[test]
fn a_channel_is_shown_as_its_exact_bytes() {
    let place = Place::new();
    let sent: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    run(&mut place.tee("/bin/cat", &[]), &sent);
    let tape = place.tape();
    let output = run(command(PROGRAM).args(["show", "--raw", "--channel", "out"]).arg(tape), b"");
    assert!(output.stdout == sent);
}

#[test]
fn a_tape_is_shown_as_json() {
    let place = Place::new();
    record(&place);
    let shown = show(&place, &["--json"]);
    let values: Vec<Value> =
        shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values.len(), 10);
    assert_eq!(values[1]["frame"]["message"]["content"][0]["name"], "Bash");
    assert_eq!(values[2]["kind"], "control_request/can_use_tool");
    assert_eq!((&values[4]["ch"], &values[4]["text"]), (&"err".into(), &"a warning".into()));
    assert_eq!(values[9]["end"]["signal"], 15);
}

#[test]
fn a_tape_is_counted() {
    let place = Place::new();
    record(&place);
    let tape = place.tape();
    let shown = stdout_of(&["stats".as_ref(), tape.as_os_str()]);
    let words: Vec<String> =
        shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for expected in [
        "in user 1 72",
        "in (all) 2 161",
        "out - 2 1011",
        "out control_request/can_use_tool 1 149",
        "err (all) 1 9",
        "longest line: 1002 bytes, record 9, out",
        "signals: 1",
        "lost bytes: 0",
        "end: ended by signal 15 (SIGTERM)",
    ] {
        assert!(words.iter().any(|line| line == expected), "{expected} is not in {shown}");
    }
    let json = stdout_of(&["stats".as_ref(), "--json".as_ref(), tape.as_os_str()]);
    let stats: Value = serde_json::from_str(&json).unwrap();
    let user = json!({"channel": "in", "kind": "user", "lines": 1, "bytes": 72});
    assert!(stats["kinds"].as_array().unwrap().contains(&user), "{stats}");
    assert_eq!(stats["longest"], json!({"bytes": 1002, "record": 9, "channel": "out"}));
    assert_eq!((&stats["signals"], &stats["end"]), (&json!(1), &json!({"signal": 15})));
}

#[test]
fn a_torn_tape_is_shown_and_a_broken_one_fails() {
    let place = Place::new();
    record(&place);
    let whole = std::fs::read(place.tape()).unwrap();
    std::fs::write(place.tape(), &whole[..whole.len() - 10]).unwrap();
    assert!(show(&place, &[]).contains("# the tape is cut within a record"));

    let mut broken = whole;
    broken.splice(600..600, *b"\n");
    std::fs::write(place.tape(), broken).unwrap();
    let output = run(command(PROGRAM).arg("show").arg(place.tape()), b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("of the tape is not a record"));
    assert!(String::from_utf8(output.stdout).unwrap().contains("ended by signal 15"));
}

#[test]
fn what_cannot_be_read_and_what_cannot_be_understood_have_codes_of_their_own() {
    let output = run(command(PROGRAM).args(["show", "no/such.tape"]), b"");
    assert_eq!(output.status.code(), Some(1));
    let output = run(command(PROGRAM).args(["show", "--sideways"]), b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn whoever_reads_only_the_head_gets_no_error() {
    let place = Place::new();
    let sent = "a line\n".repeat(100_000);
    run(&mut place.tee("/bin/cat", &[]), sent.as_bytes());
    let mut child = crate::support::spawn(command(PROGRAM).arg("show").arg(place.tape()));
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
