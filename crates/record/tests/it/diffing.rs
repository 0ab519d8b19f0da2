//! Two tapes, compared by what they say.

use std::fs;
use std::path::PathBuf;

use countersign_record::diff::{DiffError, DiffOptions, How, TapeDiff, diff_tapes};
use countersign_record::redact::Redactor;
use countersign_record::{Channel, End, Entry, Note};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::conversations::{self, Conversation, line, tape};
use crate::meaning::rerun;

/// Two tapes in files.
struct Tapes {
    _folder: TempDir,
    left: PathBuf,
    right: PathBuf,
}

impl Tapes {
    fn new(left: &[u8], right: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [left_path, right_path] = ["left", "right"].map(|name| folder.path().join(name));
        fs::write(&left_path, left).unwrap();
        fs::write(&right_path, right).unwrap();
        Self { _folder: folder, left: left_path, right: right_path }
    }

    fn diff(&self, options: &DiffOptions) -> TapeDiff {
        diff_tapes(&self.left, &self.right, options).unwrap()
    }
}

fn diff(left: &[u8], right: &[u8]) -> TapeDiff {
    Tapes::new(left, right).diff(&DiffOptions::default())
}

/// What differs, in short: the channel, how, the records, the paths.
fn shown(diff: &TapeDiff) -> Vec<String> {
    let seq = |seq: Option<u64>| seq.map_or("-".to_owned(), |seq| seq.to_string());
    diff.frames
        .iter()
        .map(|frame| {
            let how = match frame.how {
                How::Changed => "changed",
                How::Moved => "moved",
                How::OnlyLeft => "only left",
                How::OnlyRight => "only right",
                _ => "?",
            };
            let paths: Vec<&str> = frame.differences.iter().map(|d| d.path.as_str()).collect();
            let (left, right) = (seq(frame.left), seq(frame.right));
            format!("{} {how} {left} {right} {}", frame.channel, paths.join(" "))
                .trim_end()
                .to_owned()
        })
        .collect()
}

/// A tape of frames that the CLI writes.
fn output(frames: &[Value]) -> Vec<u8> {
    let mut entries: Vec<Entry> =
        frames.iter().map(|frame| line(Channel::Out, &frame.to_string())).collect();
    entries.push(Entry::End(End::Code(0)));
    tape("2.1.325", &entries)
}

#[test]
fn a_tape_says_the_same_as_itself_and_as_another_run() {
    for conversation in conversations::all().iter().step_by(2) {
        let other = rerun(conversation, 0xCA11).tape();
        let diff = diff(&conversation.tape(), &other);
        assert!(diff.same, "{} {}: {diff}", conversation.version, conversation.name);
        assert_eq!(shown(&diff), [""; 0]);
        assert!(diff.to_string().contains("the same: "));
    }
}

/// A conversation in which all frames are unlike each other.
fn numbered() -> impl Strategy<Value = Vec<(Channel, Value)>> {
    let channel = prop_oneof![Just(Channel::In), Just(Channel::Out)];
    let kind = prop_oneof![Just("assistant"), Just("user"), Just("note")];
    prop::collection::vec((channel, kind), 2..20).prop_map(|frames| {
        let frame = |(at, (channel, kind)): (usize, (Channel, &str))| {
            (channel, json!({"type": kind, "text": format!("frame number {at}"), "uuid": uuid(at)}))
        };
        frames.into_iter().enumerate().map(frame).collect()
    })
}

fn uuid(at: usize) -> String {
    format!("00000000-0000-4000-8000-{at:012}")
}

fn conversation(frames: &[(Channel, Value)]) -> Conversation {
    let (name, version) = ("made up".to_owned(), "2.1.325".to_owned());
    Conversation { name, version, frames: frames.to_vec(), exit: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn one_frame_removed_changed_or_moved_shows_exactly_that(
        frames in numbered(),
        which in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let left = conversation(&frames).tape();
        let at = which.index(frames.len());
        let (channel, _) = frames[at];

        let mut removed = frames.clone();
        removed.remove(at);
        let without = conversation(&removed).tape();
        prop_assert_eq!(shown(&diff(&left, &without)), [format!("{channel} only left {} -", at + 1)]);
        prop_assert_eq!(shown(&diff(&without, &left)), [format!("{channel} only right - {}", at + 1)]);

        let mut changed = frames.clone();
        changed[at].1["text"] = json!("something else");
        prop_assert_eq!(
            shown(&diff(&left, &conversation(&changed).tape())),
            [format!("{channel} changed {0} {0} text", at + 1)]
        );

        let to = other.index(frames.len());
        let mut moved = frames.clone();
        let frame = moved.remove(at);
        moved.insert(to, frame);
        // It has only moved if it passed a frame of its own channel.
        let order = |frames: &[(Channel, Value)]| -> Vec<Value> {
            frames.iter().filter(|(c, _)| *c == channel).map(|(_, frame)| frame.clone()).collect()
        };
        let found = diff(&left, &conversation(&moved).tape());
        let expected = u64::from(order(&frames) != order(&moved));
        prop_assert_eq!(found.counts.moved, expected, "{}", &found);
        prop_assert_eq!(found.frames.len() as u64, expected, "{}", &found);
    }
}

fn delta(text: &str, uuid: usize) -> Value {
    json!({"type": "stream_event", "uuid": self::uuid(uuid), "parent_tool_use_id": null, "event":
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}})
}

fn stop() -> Value {
    json!({"type": "stream_event", "event": {"type": "content_block_stop", "index": 0}})
}

#[test]
fn how_a_stream_is_cut_means_nothing_unless_it_is_asked_for() {
    let left = output(&[delta("Hel", 1), delta("lo ", 2), delta("you", 3), stop()]);
    let right = output(&[delta("Hello", 1), delta(" you", 2), stop()]);
    assert!(diff(&left, &right).same);
    let options = {
        let mut options = DiffOptions::default();
        options.deltas = true;
        options
    };
    let each = Tapes::new(&left, &right).diff(&options);
    assert_eq!((each.counts.same, each.counts.only_left), (1, 1), "{each}");
    let wrong = output(&[delta("Hello", 1), delta(" me", 2), stop()]);
    assert_eq!(shown(&diff(&left, &wrong)), ["out changed 1 1 event.delta.text"]);
}

#[test]
fn what_is_sent_by_the_clock_means_nothing_unless_it_is_asked_for() {
    let text = json!({"type": "assistant", "text": "x"});
    let beat = json!({"type": "keep_alive"});
    let progress = json!({"type": "tool_progress", "elapsed_time_seconds": 30});
    let left = output(&[beat.clone(), text.clone(), progress, beat]);
    let right = output(&[text]);
    assert!(diff(&left, &right).same);
    let mut options = DiffOptions::default();
    options.beats = true;
    assert_eq!(Tapes::new(&left, &right).diff(&options).counts.only_left, 3);
}

#[test]
fn how_a_transcript_is_mirrored_means_nothing_unless_it_is_asked_for() {
    let mirror = |entries: &[Value]| json!({"type": "transcript_mirror", "filePath": "/x", "entries": entries});
    let entry = |n: usize, text: &str| json!({"type": "user", "uuid": uuid(n), "text": text});
    let state = json!({"type": "last-prompt", "lastPrompt": "a"});
    let text = json!({"type": "assistant", "text": "x"});
    let left = output(&[
        mirror(&[entry(1, "a"), state.clone(), entry(2, "b")]),
        text.clone(),
        mirror(&[entry(3, "c")]),
    ]);
    let right = output(&[
        mirror(&[entry(4, "a")]),
        mirror(&[entry(5, "b"), entry(6, "c"), state]),
        text.clone(),
    ]);
    let found = diff(&left, &right);
    assert!(found.same, "{found}");
    assert_eq!(found.counts.same, 4);
    let mut options = DiffOptions::default();
    options.deltas = true;
    assert!(!Tapes::new(&left, &right).diff(&options).same);
    let wrong = output(&[mirror(&[entry(4, "a"), entry(5, "b")]), mirror(&[entry(6, "d")]), text]);
    let found = diff(&left, &wrong);
    assert_eq!(shown(&found), ["out changed 3 2 entry.text"]);
    assert_eq!(found.frames[0].label, "transcript user");
}

#[test]
fn what_is_at_another_place_and_about_something_else_has_not_moved() {
    let call =
        |n: usize| json!({"type": "assistant", "call": uuid(n), "text": format!("call {n}")});
    let done = |n: usize| json!({"type": "note", "call": uuid(n), "text": "done"});
    let more = |n: usize| json!({"type": "other", "text": format!("between {n}")});
    let left = output(&[call(1), call(2), done(1), more(1), more(2)]);
    let right = output(&[call(1), call(2), more(1), more(2), done(2)]);
    assert_eq!(shown(&diff(&left, &right)), ["out only left 3 -", "out only right - 5"]);
}

#[test]
fn two_answers_that_were_swapped_are_found_by_their_ids() {
    let ask = |id: usize, file: &str| {
        let request =
            json!({"subtype": "can_use_tool", "tool_name": "Read", "input": {"file_path": file}});
        let frame = json!({"type": "control_request", "request_id": uuid(id), "request": request});
        line(Channel::Out, &frame.to_string())
    };
    let allow = |id: usize| {
        let frame = json!({"type": "control_response", "response":
            {"subtype": "success", "request_id": uuid(id), "response": {"behavior": "allow"}}});
        line(Channel::In, &frame.to_string())
    };
    let left = tape("1", &[ask(1, "a"), ask(2, "b"), allow(1), allow(2)]);
    let same = tape("1", &[ask(3, "a"), ask(4, "b"), allow(3), allow(4)]);
    let swapped = tape("1", &[ask(3, "a"), ask(4, "b"), allow(4), allow(3)]);
    assert!(diff(&left, &same).same);
    assert_eq!(
        shown(&diff(&left, &swapped)),
        ["in changed 3 3 response.request_id", "in changed 4 4 response.request_id"]
    );
}

#[test]
fn how_it_ended_and_what_the_client_did_is_compared() {
    let hello = || line(Channel::In, "{\"type\":\"user\"}");
    let closed = Entry::Note(Note::Closed { channel: Channel::In });
    let left = tape("1", &[hello(), closed, Entry::End(End::Code(0))]);
    let signal = Entry::Note(Note::Signal { number: 15 });
    let right = tape("1", &[hello(), signal, Entry::End(End::Signal(15))]);
    let found = diff(&left, &right);
    assert!(!found.same);
    assert_eq!(shown(&found), ["in only left 2 -", "in only right - 2"]);
    let text = found.to_string();
    assert!(text.contains("@@ in -2 only left: the client closes its end @@"), "{text}");
    assert!(text.contains("@@ end @@\n- exit code 0\n+ signal 15\n"), "{text}");
}

#[test]
fn headers_are_told_but_do_not_make_a_difference() {
    let entries = [line(Channel::Out, "{}"), Entry::End(End::Code(0))];
    let found = diff(&tape("2.1.197", &entries), &tape("2.1.325", &entries));
    assert!(found.same);
    assert_eq!(found.headers.len(), 1, "{found}");
    assert!(found.to_string().contains("@@ header: cli @@\n- 2.1.197\n+ 2.1.325\n"), "{found}");
}

#[test]
fn what_is_not_json_is_compared_as_text() {
    let left = tape("1", &[line(Channel::Out, "not JSON 1"), line(Channel::In, "{}")]);
    let right = tape("1", &[line(Channel::Out, "not JSON 2"), line(Channel::In, "broken {")]);
    assert_eq!(shown(&diff(&left, &right)).len(), 3);
    assert!(diff(&left, &left).same);
}

#[test]
fn a_line_in_pieces_is_one_line() {
    let piece = |channel, text: &str, more| Entry::Line {
        channel,
        text: text.to_owned().into_bytes().into(),
        more,
    };
    let left = tape(
        "1",
        &[
            piece(Channel::Out, "{\"type\":", true),
            piece(Channel::In, "{\"type\":\"user\",\"a\":", true),
            piece(Channel::Out, "\"x\"}", false),
            piece(Channel::In, "1}", false),
            line(Channel::Out, r#"{"type":"z","n":1}"#),
        ],
    );
    let right = tape(
        "1",
        &[
            line(Channel::In, r#"{"type":"user","a":2}"#),
            line(Channel::Out, r#"{"type":"x"}"#),
            line(Channel::Out, r#"{"type":"z","n":2}"#),
        ],
    );
    assert_eq!(shown(&diff(&left, &right)), ["in changed 2 1 a", "out changed 5 3 n"]);
}

#[test]
fn what_is_missing_on_a_tape_is_said() {
    let whole = tape("1", &[line(Channel::Out, "{}"), Entry::End(End::Code(0))]);
    let gap = Entry::Note(Note::Gap { bytes: 5, reason: "disk full".into() });
    let holes = tape("1", &[line(Channel::Out, "{}"), gap]);
    let found = diff(&whole, &holes);
    assert!(!found.same);
    let text = found.to_string();
    assert!(
        text.contains("note: the right tape: 5 bytes are missing after record 2: disk full"),
        "{text}"
    );
    assert!(text.contains("note: the right tape: it does not say how the process ended"), "{text}");
    assert!(text.contains("@@ end @@\n- exit code 0\n+ the tape does not say"), "{text}");
}

#[test]
fn the_working_directories_stand_for_each_other() {
    let at = |cwd: &str| {
        let frame =
            json!({"type": "system", "subtype": "init", "cwd": cwd, "x": format!("{cwd}/a.txt")});
        let tape = String::from_utf8(output(&[frame])).unwrap();
        tape.replacen("\"cwd\":\"/home/dev/proj\"", &format!("\"cwd\":\"{cwd}\""), 1).into_bytes()
    };
    assert!(diff(&at("/home/a/proj"), &at("/srv/b")).same);
    let moved =
        String::from_utf8(at("/srv/b")).unwrap().replace("/srv/b/a.txt", "/home/a/proj/a.txt");
    assert_eq!(shown(&diff(&at("/home/a/proj"), moved.as_bytes())), ["out changed 1 1 x"]);
}

#[test]
fn a_long_diff_is_cut_but_counted() {
    let frames = |text: &str| -> Vec<Value> {
        (0..50).map(|n| json!({"type": "assistant", "text": format!("{text} {n}")})).collect()
    };
    let mut options = DiffOptions::default();
    options.limit = 3;
    let found = Tapes::new(&output(&frames("a")), &output(&frames("b"))).diff(&options);
    assert_eq!((found.frames.len(), found.counts.changed), (3, 50));
    assert!(found.to_string().contains("… and 47 frames more that differ"), "{found}");
}

#[test]
fn a_file_that_is_no_tape_is_an_error() {
    let tapes = Tapes::new(b"hello\n", &output(&[]));
    let error = diff_tapes(&tapes.left, &tapes.right, &DiffOptions::default()).unwrap_err();
    assert!(matches!(error, DiffError::Tape { .. }), "{error}");
    assert!(error.to_string().contains("left: this is not a tape"), "{error}");
}

#[test]
fn a_diff_as_json_has_everything() {
    let left = output(&[json!({"type": "assistant", "text": "a"})]);
    let right = output(&[json!({"type": "assistant", "text": "b"})]);
    let json = serde_json::to_value(diff(&left, &right)).unwrap();
    assert_eq!(json["same"], json!(false));
    assert_eq!(
        json["frames"],
        json!([{"channel": "out", "how": "changed", "label": "assistant", "left": 1, "right": 1,
            "differences": [{"path": "text", "why": "changed", "left": "\"a\"", "right": "\"b\""}]}])
    );
    assert_eq!(json["counts"]["changed"], json!(1));
}

#[test]
fn a_redacted_tape_says_the_same_as_the_original() {
    let key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    let folder = tempfile::tempdir().unwrap();
    let [original, redacted] = ["original", "redacted"].map(|name| folder.path().join(name));
    for conversation in conversations::all().iter().step_by(12) {
        let mut conversation = conversation.clone();
        let said = json!({"type": "user", "message": {"role": "user", "content": format!("key {key}, mail alice@corp.test")}});
        let echo = json!({"type": "assistant", "text": format!("{key}: /home/alice/x")});
        conversation.frames.push((Channel::In, said));
        conversation.frames.push((Channel::Out, echo));
        fs::write(&original, conversation.tape()).unwrap();
        Redactor::builder().build().unwrap().redact_file(&original, &redacted).unwrap();
        assert!(!fs::read_to_string(&redacted).unwrap().contains(key));
        for (left, right) in [(&original, &redacted), (&redacted, &original)] {
            let found = diff_tapes(left, right, &DiffOptions::default()).unwrap();
            assert!(found.same, "{} {}: {found}", conversation.version, conversation.name);
        }
        fs::remove_file(&redacted).unwrap();
    }
}
