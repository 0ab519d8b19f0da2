//! A client that meets a tape instead of the CLI.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use countersign_record::meaning::{Comparer, Rules};
use countersign_record::replay::{
    DEPARTED, NO_MORE_TAPE, ReplayError, ReplayOptions, Replayed, Speed, Verdict, replay,
};
use countersign_record::{Channel, End, Entry, Note};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::conversations::{self, Conversation, line, tape};

/// A client of a tape that is played on a thread.
struct Client {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    errors: Errors,
    player: JoinHandle<Result<Replayed, ReplayError>>,
    _folder: TempDir,
}

#[derive(Clone, Default)]
struct Errors(Arc<Mutex<Vec<u8>>>);

impl Write for Errors {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lenient() -> ReplayOptions {
    let mut options = ReplayOptions::default();
    options.lenient = true;
    options
}

impl Client {
    fn new(tape: &[u8], options: ReplayOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path: PathBuf = folder.path().join("tape");
        std::fs::write(&path, tape).unwrap();
        let (input, to) = io::pipe().unwrap();
        let (from, output) = io::pipe().unwrap();
        let errors = Errors::default();
        let said = errors.clone();
        let player = std::thread::spawn(move || replay(&path, &options, input, output, said));
        Self { to: Some(to), from: BufReader::new(from), errors, player, _folder: folder }
    }

    /// A client of a tape with these entries.
    fn of(entries: &[Entry], options: ReplayOptions) -> Self {
        Self::new(&tape("2.1.325", entries), options)
    }

    fn write(&mut self, line: &Value) {
        let text = format!("{line}\n");
        // A player that is gone does not read; what it said before is what the test looks at.
        drop(self.to.as_mut().unwrap().write_all(text.as_bytes()));
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let error = String::from_utf8_lossy(&self.errors.0.lock().unwrap()).into_owned();
        let value = serde_json::from_str(&line);
        assert!(value.is_ok(), "no line but {line:?}; {error}");
        value.unwrap()
    }

    /// Closes the input and reads the rest of the output.
    fn finish(mut self) -> Ended {
        drop(self.to.take());
        self.wait()
    }

    /// Reads the rest of the output.
    fn wait(self) -> Ended {
        let rest = self.from.lines().map(Result::unwrap).collect();
        let Replayed { report, end, .. } = self.player.join().unwrap().unwrap();
        let errors = String::from_utf8(self.errors.0.lock().unwrap().clone()).unwrap();
        Ended { rest, errors, end, report }
    }
}

/// How it went.
#[derive(Debug)]
struct Ended {
    rest: Vec<String>,
    errors: String,
    end: End,
    report: countersign_record::replay::ReplayReport,
}

impl Ended {
    fn followed(self) -> Self {
        assert_eq!(self.report.verdict, Verdict::Followed, "{self:?}");
        assert_eq!(self.errors, "");
        self
    }

    /// Where the lines differ at which the client departed, and the record.
    fn departed(self) -> (Option<u64>, Vec<String>) {
        assert_eq!(self.report.verdict, Verdict::Departed, "{self:?}");
        assert_eq!(self.end, End::Code(DEPARTED.into()));
        let departure = self.report.departure.unwrap();
        assert!(self.errors.starts_with("countersign: the client departed"), "{}", self.errors);
        assert!(self.errors.contains(&departure.expected), "{}", self.errors);
        assert!(self.errors.contains(&departure.got), "{}", self.errors);
        let paths = departure.differences.iter().map(|found| found.path.to_string());
        (departure.record, paths.collect())
    }

    fn notes(&self) -> Vec<String> {
        self.report.notes.iter().map(ToString::to_string).collect()
    }
}

fn input(value: &Value) -> Entry {
    line(Channel::In, &value.to_string())
}

fn output(value: &Value) -> Entry {
    line(Channel::Out, &value.to_string())
}

fn closed() -> Entry {
    Entry::Note(Note::Closed { channel: Channel::In })
}

fn exit(code: i32) -> Entry {
    Entry::End(End::Code(code))
}

fn user(text: &str, uuid: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}, "uuid": uuid})
}

fn ask(id: &str, subtype: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {"subtype": subtype}})
}

fn answer(id: &str, payload: &Value) -> Value {
    json!({"type": "control_response", "response":
        {"subtype": "success", "request_id": id, "response": payload}})
}

fn may_use(id: &str, file: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request":
        {"subtype": "can_use_tool", "tool_name": "Read", "input": {"file_path": file}, "tool_use_id": format!("tool-{file}")}})
}

fn allow(id: &str) -> Value {
    answer(id, &json!({"behavior": "allow"}))
}

fn said(text: &str) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})
}

const A: &str = "11111111-1111-4111-8111-11111111111a";
const B: &str = "22222222-2222-4222-8222-22222222222b";

/// What a client would write in another run: its own ids are others.
fn other_run(conversation: &Conversation) -> Vec<(Channel, Value)> {
    let mut names: HashMap<String, String> = HashMap::new();
    for (channel, frame) in &conversation.frames {
        let own = match frame["type"].as_str() {
            Some("control_request") => &frame["request_id"],
            Some("user") => &frame["uuid"],
            _ => continue,
        };
        if let (Channel::In, Some(id)) = (channel, own.as_str())
            && !id.is_empty()
        {
            let next = names.len();
            let name = if id.len() == 36 {
                format!("99999999-0000-4000-8000-{next:012}")
            } else {
                format!("live {next}")
            };
            names.entry(id.to_owned()).or_insert(name);
        }
    }
    fn rename(value: &mut Value, names: &HashMap<String, String>) {
        match value {
            Value::String(text) => {
                if let Some(name) = names.get(text) {
                    text.clone_from(name);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
            Value::Object(fields) => fields.values_mut().for_each(|field| rename(field, names)),
            _ => {}
        }
    }
    let mut frames = conversation.frames.clone();
    for (channel, frame) in &mut frames {
        if *channel == Channel::In {
            rename(frame, &names);
        }
    }
    frames
}

/// Compares what was recorded with what happened this time.
fn same_conversation(recorded: &Conversation, live: &[(Channel, Value)]) {
    let mut comparer = Comparer::new(Rules::new());
    assert_eq!(recorded.frames.len(), live.len());
    for ((channel, left), (_, right)) in recorded.frames.iter().zip(live) {
        let found = comparer.compare(*channel, left, right);
        assert!(found.is_empty(), "{} {}: {}", recorded.version, recorded.name, found[0]);
    }
}

/// A conversation that can be played: its client closes its end last.
fn playable() -> impl Iterator<Item = &'static Conversation> {
    conversations::all().iter().filter(|conversation| conversation.exit >= 0)
}

#[test]
fn every_recording_can_be_played_to_a_client_that_waits_for_each_line() {
    for conversation in playable() {
        let mut client = Client::new(&conversation.tape(), ReplayOptions::default());
        let mut live = other_run(conversation);
        for (channel, frame) in &mut live {
            match channel {
                Channel::In => client.write(frame),
                _ => *frame = client.read(),
            }
        }
        let ended = client.finish().followed();
        assert_eq!((ended.end, ended.rest.len()), (End::Code(conversation.exit), 0));
        same_conversation(conversation, &live);
    }
}

#[test]
fn every_recording_can_be_played_to_a_client_that_writes_all_at_once() {
    for conversation in playable() {
        let mut client = Client::new(&conversation.tape(), ReplayOptions::default());
        let mut live = other_run(conversation);
        // On a thread, because neither side may wait for the other to read.
        let mut to = client.to.take().unwrap();
        let lines: Vec<String> = live
            .iter()
            .filter(|(channel, _)| *channel == Channel::In)
            .map(|(_, frame)| format!("{frame}\n"))
            .collect();
        let writer = std::thread::spawn(move || to.write_all(lines.concat().as_bytes()));
        let ended = client.wait().followed();
        writer.join().unwrap().unwrap();
        let mut rest = ended.rest.iter();
        for (channel, frame) in &mut live {
            if *channel == Channel::Out {
                *frame = serde_json::from_str(rest.next().unwrap()).unwrap();
            }
        }
        same_conversation(conversation, &live);
    }
}

#[test]
fn every_recording_can_be_played_leniently_to_the_client_that_was_recorded() {
    for conversation in playable() {
        let mut client = Client::new(&conversation.tape(), lenient());
        for (channel, frame) in other_run(conversation) {
            match channel {
                Channel::In => client.write(&frame),
                _ => drop(client.read()),
            }
        }
        let ended = client.finish().followed();
        let name = &conversation.name;
        assert_eq!(ended.notes()[1..], [""; 0], "{name}");
        assert!(ended.notes()[0].starts_with("the arguments are others"), "{name}");
    }
}

#[test]
fn what_the_client_made_up_takes_the_place_of_what_was_recorded() {
    let hooks = |id: &str| {
        json!({"type": "control_request", "request_id": "r1", "request":
            {"subtype": "initialize", "hooks": {"Stop": [{"hookCallbackIds": [id]}]}}})
    };
    let callback = |id: &str| {
        json!({"type": "control_request", "request_id": "c1", "request":
            {"subtype": "hook_callback", "callback_id": id, "input": {"note": "r1 is not an id here"}}})
    };
    let lifecycle = |uuid: &str| json!({"type": "command_lifecycle", "command_uuid": uuid, "text": format!("for {uuid}")});
    let mut client = Client::of(
        &[
            input(&hooks("h1")),
            output(&answer("r1", &json!({}))),
            input(&user("hi", A)),
            output(&lifecycle(A)),
            output(&callback("h1")),
            input(&answer("c1", &json!({}))),
            closed(),
            exit(0),
        ],
        ReplayOptions::default(),
    );
    let mut hello = hooks("my hook");
    hello["request_id"] = json!("my request");
    client.write(&hello);
    assert_eq!(client.read(), answer("my request", &json!({})));
    client.write(&user("hi", B));
    assert_eq!(client.read(), lifecycle(B));
    assert_eq!(client.read(), callback("my hook"));
    client.write(&answer("c1", &json!({})));
    assert_eq!(client.finish().followed().report.matched, 3);
}

#[test]
fn the_spelling_of_a_line_stays_when_an_id_in_it_changes() {
    let recorded = r#"{"zero":0.10,"type":"control_response","response":{"request_id":"r","subtype":"success"},"a":1e3}"#;
    let mut client = Client::of(
        &[input(&ask("r", "interrupt")), line(Channel::Out, recorded), exit(0)],
        ReplayOptions::default(),
    );
    client.write(&ask("live", "interrupt"));
    assert_eq!(client.wait().followed().rest, [recorded.replace("\"r\"", "\"live\"")]);
}

#[test]
fn a_client_that_says_something_else_is_told_where() {
    let entries = [input(&user("hello", A)), output(&said("hi")), closed(), exit(0)];
    let mut client = Client::of(&entries, ReplayOptions::default());
    client.write(&user("goodbye", B));
    let ended = client.finish();
    assert_eq!(ended.rest, [""; 0]);
    let text = ended.errors.clone();
    assert_eq!(ended.departed(), (Some(1), vec!["message.content".to_owned()]));
    assert!(text.contains("  message.content:\n    - \"hello\"\n    + \"goodbye\"\n"), "{text}");
    assert!(text.contains("at record 1\n  expected: user "), "{text}");
}

#[test]
fn a_client_that_does_something_quite_different_is_told_so_in_short() {
    let entries = [input(&user("hello", A)), output(&said("hi")), closed(), exit(0)];
    let mut client = Client::of(&entries, ReplayOptions::default());
    client.write(&ask("q", "interrupt"));
    let ended = client.finish();
    assert_eq!(ended.errors.lines().count(), 3, "{}", ended.errors);
    assert_eq!(ended.departed(), (Some(1), Vec::new()));
}

#[test]
fn a_client_that_leaves_out_a_line_is_told() {
    let entries = [input(&user("one", A)), input(&user("two", B)), output(&said("x")), exit(0)];
    for options in [ReplayOptions::default(), lenient()] {
        let mut client = Client::of(&entries, options);
        client.write(&user("one", A));
        let ended = client.finish();
        assert!(ended.errors.contains("got:      the client closed its end"), "{}", ended.errors);
        assert_eq!(ended.departed(), (Some(2), Vec::new()));
    }
}

#[test]
fn a_line_too_many_is_a_departure_or_a_note() {
    let entries = [input(&user("one", A)), output(&said("x")), closed(), exit(3)];
    let mut client = Client::of(&entries, ReplayOptions::default());
    client.write(&user("one", A));
    client.read();
    client.write(&ask("q", "get_context_usage"));
    assert_eq!(client.finish().departed(), (Some(3), Vec::new()));

    let mut client = Client::of(&entries, lenient());
    client.write(&ask("q", "get_context_usage"));
    // It does not have to wait for an answer for ever.
    assert_eq!(client.read()["response"]["subtype"], "error");
    client.write(&user("one", A));
    assert_eq!(client.read(), said("x"));
    client.write(&json!({"type": "update_environment_variables"}));
    let ended = client.finish().followed();
    assert_eq!(ended.end, End::Code(3));
    let notes = ended.notes();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[1].starts_with("not on the tape: get_context_usage {"), "{notes:?}");
    assert!(notes[2].starts_with("not on the tape: update_environment_variables {"), "{notes:?}");
}

#[test]
fn two_answers_in_another_order_are_a_departure_or_a_note() {
    let entries = [
        output(&may_use("q1", "a")),
        output(&may_use("q2", "b")),
        input(&allow("q1")),
        output(&said("read a")),
        input(&allow("q2")),
        output(&said("read b")),
        exit(0),
    ];
    let swap = |client: &mut Client| {
        client.read();
        client.read();
        client.write(&allow("q2"));
        client.write(&allow("q1"));
    };
    let mut client = Client::of(&entries, ReplayOptions::default());
    swap(&mut client);
    assert_eq!(client.wait().departed(), (Some(3), vec!["response.request_id".to_owned()]));

    let mut client = Client::of(&entries, lenient());
    swap(&mut client);
    let ended = client.wait().followed();
    assert_eq!(ended.rest, [said("read a").to_string(), said("read b").to_string()]);
    assert_eq!(ended.report.matched, 2);
}

#[test]
fn lines_that_were_written_together_may_come_in_another_order_if_lenient() {
    let entries = [
        input(&user("one", A)),
        input(&ask("m", "mcp_status")),
        output(&answer("m", &json!({}))),
        output(&said("x")),
        exit(0),
    ];
    let mut client = Client::of(&entries, lenient());
    client.write(&ask("live", "mcp_status"));
    client.write(&user("one", B));
    let ended = client.wait().followed();
    assert_eq!(ended.rest, [answer("live", &json!({})).to_string(), said("x").to_string()]);
    assert_eq!(ended.notes()[1], "record 2: came before record 1");
}

#[test]
fn a_message_that_comes_before_its_time_waits_for_it() {
    let entries = [
        input(&user("one", A)),
        output(&said("first")),
        input(&user("two", B)),
        output(&said("second")),
        closed(),
        exit(0),
    ];
    for options in [ReplayOptions::default(), lenient()] {
        let mut client = Client::of(&entries, options);
        client.write(&user("one", A));
        client.write(&user("two", B));
        let ended = client.finish().followed();
        assert_eq!(ended.rest, [said("first").to_string(), said("second").to_string()]);
    }
    // If lenient, even before the first.
    let mut client = Client::of(&entries, lenient());
    client.write(&user("two", B));
    client.write(&user("one", A));
    let ended = client.finish().followed();
    assert_eq!(ended.rest, [said("first").to_string(), said("second").to_string()]);
}

#[test]
fn a_client_that_waits_for_an_answer_gets_it_even_if_the_recorded_one_did_not_wait() {
    let entries = [
        input(&ask("i", "initialize")),
        input(&user("one", A)),
        output(&answer("i", &json!({"commands": []}))),
        output(&said("x")),
        closed(),
        exit(0),
    ];
    let mut client = Client::of(&entries, ReplayOptions::default());
    client.write(&ask("live", "initialize"));
    assert_eq!(client.read(), answer("live", &json!({"commands": []})));
    client.write(&user("one", A));
    assert_eq!(client.read(), said("x"));
    client.finish().followed();
}

#[test]
fn what_does_not_matter_to_the_cli_may_differ_if_lenient() {
    let deny = |message: &str| answer("q", &json!({"behavior": "deny", "message": message}));
    let entries = [output(&may_use("q", "a")), input(&deny("no")), output(&said("x")), exit(0)];
    let play = |line: &Value, options: ReplayOptions| {
        let mut client = Client::of(&entries, options);
        client.read();
        client.write(line);
        client.finish()
    };
    assert_eq!(play(&deny("never"), ReplayOptions::default()).departed().0, Some(2));
    let ended = play(&deny("never"), lenient()).followed();
    let note = &ended.notes()[1];
    assert!(note.starts_with("record 2: answer to can_use_tool Read: something differs"), "{note}");
    assert!(note.contains("response.response.message:\n"), "{note}");
    assert_eq!(play(&allow("q"), lenient()).departed().0, Some(2));
    let error = json!({"type": "control_response", "response":
        {"subtype": "error", "request_id": "q", "error": "no"}});
    assert_eq!(play(&error, lenient()).departed().0, Some(2));
}

#[test]
fn what_was_redacted_is_filled_in() {
    let start = |key: &str| json!({"type": "user", "message": {"role": "user", "content": format!("use {key}, please")}});
    let entries = [
        input(&start("redacted-api-key-1")),
        output(&said("I use redacted-api-key-1")),
        closed(),
        exit(0),
    ];
    let mut client = Client::of(&entries, ReplayOptions::default());
    client.write(&start("sk-\"1\""));
    let ended = client.finish().followed();
    assert_eq!(ended.rest, [said("I use sk-\"1\"").to_string()]);
}

#[test]
fn the_working_directory_and_the_session_are_those_of_this_run() {
    let mut text = String::from_utf8(tape(
        "2.1.325",
        &[
            output(&json!({"type": "system", "subtype": "init", "cwd": "/home/dev/proj", "session_id": A,
                "log": format!("/x/-home-dev-proj/{A}.jsonl")})),
            output(&may_use("q", "/home/dev/proj/a")),
            input(&answer("q", &json!({"behavior": "allow", "updatedInput": {"file_path": "/home/dev/proj/a"}}))),
            line(Channel::Err, "in /home/dev/proj"),
            exit(0),
        ],
    ))
    .unwrap();
    text = text.replacen("\"--verbose\"", &format!("\"--session-id={A}\""), 1);
    let mut options = ReplayOptions::default();
    options.args = vec![format!("--session-id={B}")];
    options.cwd = Some("/srv/live".into());
    let mut client = Client::new(text.as_bytes(), options);
    assert_eq!(
        client.read(),
        json!({"type": "system", "subtype": "init", "cwd": "/srv/live", "session_id": B,
            "log": format!("/x/-srv-live/{B}.jsonl")})
    );
    assert_eq!(client.read()["request"]["input"]["file_path"], "/srv/live/a");
    client.write(&answer(
        "q",
        &json!({"behavior": "allow", "updatedInput": {"file_path": "/srv/live/a"}}),
    ));
    let ended = client.finish();
    assert_eq!(ended.report.verdict, Verdict::Followed);
    assert_eq!(ended.errors, "in /srv/live\n");
    assert_eq!(ended.notes(), [""; 0]);
}

#[test]
fn keep_alive_is_neither_expected_nor_surplus() {
    let beat = json!({"type": "keep_alive"});
    let entries =
        [input(&beat), input(&user("x", A)), output(&said("x")), input(&beat), closed(), exit(0)];
    for options in [ReplayOptions::default(), lenient()] {
        let mut client = Client::of(&entries, options);
        client.write(&user("x", A));
        client.write(&beat);
        client.write(&beat);
        assert_eq!(client.read(), said("x"));
        client.finish().followed();
    }
}

#[test]
fn a_client_that_does_not_read_is_not_the_end() {
    let entries = [
        input(&user("a", A)),
        output(&said("x")),
        output(&said("y")),
        input(&user("b", B)),
        closed(),
        exit(5),
    ];
    let mut client = Client::of(&entries, ReplayOptions::default());
    let (from, _kept) = io::pipe().unwrap();
    drop(std::mem::replace(&mut client.from, BufReader::new(from)));
    client.write(&user("a", A));
    client.write(&user("b", B));
    drop(client.to.take());
    let Replayed { report, end, .. } = client.player.join().unwrap().unwrap();
    assert_eq!((report.verdict, end, report.written), (Verdict::Followed, End::Code(5), 0));
    assert!(report.notes[1].text.starts_with("the client does not read any more"), "{report:?}");
}

#[test]
fn a_tape_without_an_end_is_played_as_far_as_it_goes() {
    let entries = [input(&user("a", A)), output(&said("x"))];
    let mut client = Client::of(&entries, ReplayOptions::default());
    client.write(&user("a", A));
    let ended = client.wait();
    assert_eq!(ended.rest, [said("x").to_string()]);
    assert_eq!(
        (ended.report.verdict, ended.end),
        (Verdict::TapeEnds, End::Code(NO_MORE_TAPE.into()))
    );
    assert!(ended.errors.contains("the tape ends here"), "{}", ended.errors);
}

#[test]
fn lines_that_are_no_frames_have_to_be_the_same() {
    let entries = [line(Channel::In, "not JSON"), line(Channel::Err, "Error: not JSON"), exit(1)];
    let play = |text: &[u8]| {
        let mut client = Client::of(&entries, ReplayOptions::default());
        client.to.as_mut().unwrap().write_all(text).unwrap();
        client.finish()
    };
    let ended = play(b"\nnot JSON\r\n");
    assert_eq!((ended.report.verdict, ended.end), (Verdict::Followed, End::Code(1)));
    assert_eq!(play(b"nor this\n").departed().0, Some(1));
}

#[test]
fn the_pause_after_a_line_is_kept_however_late_the_line_comes() {
    let pause = Duration::from_millis(300);
    let entries = [input(&user("a", A)), output(&said("x")), exit(0)];
    let text = String::from_utf8(tape("1", &entries)).unwrap();
    // The answer was recorded 300 ms after the question.
    let text = text.replace("\"us\":2000", "\"us\":301000").replace("\"us\":3000", "\"us\":301000");
    let mut options = ReplayOptions::default();
    options.speed = Speed::Original;
    let mut client = Client::new(text.as_bytes(), options);
    std::thread::park_timeout(pause);
    let asked = Instant::now();
    client.write(&user("a", A));
    assert_eq!(client.read(), said("x"));
    assert!(asked.elapsed() >= pause);
    client.wait().followed();
}

#[test]
fn a_tape_that_cannot_be_read_is_an_error() {
    let client = Client::new(b"hello\n", ReplayOptions::default());
    let error = client.player.join().unwrap().unwrap_err();
    assert!(error.to_string().contains("this is not a tape"), "{error}");
}
