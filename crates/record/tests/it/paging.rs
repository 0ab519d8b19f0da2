//! Tapes as pages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use countersign_record::page::{Diagram, Limits, SCRIPT, STYLE, Section, escape, page, policy};
use countersign_record::{Channel, End, Entry, Header, Note, Record, TapeReader, Text};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::conversations;

const DATA: &str = "<script type=\"application/json\">";

/// A tape of these entries, a millisecond apart.
fn tape(entries: impl IntoIterator<Item = Entry>) -> Vec<u8> {
    conversations::tape("2.1.325", &entries.into_iter().collect::<Vec<_>>())
}

fn line(channel: Channel, text: impl Into<Text>) -> Entry {
    Entry::Line { channel, text: text.into(), more: false }
}

fn from_cli(frame: &Value) -> Entry {
    line(Channel::Out, frame.to_string().into_bytes())
}

fn to_cli(frame: &Value) -> Entry {
    line(Channel::In, frame.to_string().into_bytes())
}

fn diagram(tape: &[u8]) -> Diagram {
    Diagram::read(TapeReader::new(tape).unwrap(), Limits::default()).unwrap()
}

fn page_of(title: &str, diagrams: &[Diagram]) -> String {
    let mut out = Vec::new();
    page(&mut out, title, diagrams).unwrap();
    String::from_utf8(out).unwrap()
}

/// What stands between two words, which must be there.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// The only data in a page, as it stands there.
fn data_text(page: &str) -> &str {
    assert_eq!(page.matches(DATA).count(), 1);
    between(page, DATA, "</script>")
}

fn data(diagram: Diagram) -> Value {
    serde_json::from_str(data_text(&page_of("a tape", &[diagram]))).unwrap()
}

/// The frames of the page of a tape of these entries.
fn frames(entries: impl IntoIterator<Item = Entry>) -> Vec<Value> {
    let data = data(diagram(&tape(entries)));
    data["frames"].as_array().unwrap().clone()
}

/// Title and words of each frame.
fn labels(frames: &[Value]) -> Vec<(&str, &str)> {
    frames
        .iter()
        .map(|frame| (frame["title"].as_str().unwrap(), frame["said"].as_str().unwrap()))
        .collect()
}

fn ask(id: &str, request: &Value) -> Value {
    json!({ "type": "control_request", "request_id": id, "request": request })
}

fn answer(id: &str, response: &Value) -> Value {
    let response = json!({ "subtype": "success", "request_id": id, "response": response });
    json!({ "type": "control_response", "response": response })
}

#[test]
fn frames_are_named_by_what_they_say() {
    let write = json!({ "file_path": "/project/a.txt", "content": "x" });
    let tool = json!({ "type": "tool_use", "id": "t1", "name": "Write", "input": write });
    let frames = frames([
        to_cli(&ask("c1", &json!({ "subtype": "initialize" }))),
        from_cli(&answer("c1", &json!({}))),
        to_cli(&json!({ "type": "user", "message": { "role": "user", "content": "hi" } })),
        from_cli(
            &json!({ "type": "assistant", "message": { "role": "assistant", "content": [tool] } }),
        ),
        from_cli(&ask(
            "r1",
            &json!({ "subtype": "can_use_tool", "tool_name": "Write", "input": write, "tool_use_id": "t1" }),
        )),
        to_cli(&answer("r1", &json!({ "behavior": "deny", "message": "no" }))),
        from_cli(&ask(
            "r2",
            &json!({ "subtype": "hook_callback", "callback_id": "h", "input": { "hook_event_name": "Stop" } }),
        )),
        from_cli(&json!({ "type": "control_cancel_request", "request_id": "r2" })),
        from_cli(
            &json!({ "type": "result", "subtype": "success", "is_error": false, "result": "ok", "total_cost_usd": 0.01 }),
        ),
        from_cli(&json!({ "type": "hologram", "beam": 7, "parts": [1, 2] })),
        line(Channel::Err, b"a warning".to_vec()),
        line(Channel::Out, b"no JSON".to_vec()),
        Entry::Note(Note::Signal { number: 15 }),
        Entry::End(End::Signal(15)),
    ]);
    assert_eq!(
        labels(&frames),
        [
            ("initialize", ""),
            ("initialize", "ok"),
            ("user", "\"hi\""),
            ("assistant", "Write a.txt"),
            ("can_use_tool", "Write a.txt"),
            ("can_use_tool", "deny \"no\""),
            ("hook_callback", "Stop"),
            ("cancel", "hook_callback"),
            ("result", "success $0.0100 \"ok\""),
            ("hologram", "beam=7 parts[2]"),
            ("stderr", "a warning"),
            ("no frame", "no JSON"),
            ("note", "signal 15 (SIGTERM)"),
            ("end", "ended by signal 15 (SIGTERM)"),
        ]
    );
    let families: Vec<&str> =
        frames.iter().map(|frame| frame["family"].as_str().unwrap()).collect();
    let expected =
        [["control"; 2], ["message"; 2], ["control"; 2], ["control"; 2], ["message", "system"]];
    assert_eq!(families[..10], expected.concat());
    assert_eq!(families[10..], ["stderr", "other", "note", "note"]);
}

#[test]
fn answers_are_linked_with_what_they_answer() {
    // The same id in both directions, and an answer to nothing.
    let frames = frames([
        to_cli(&ask("1", &json!({ "subtype": "initialize" }))),
        from_cli(&ask(
            "1",
            &json!({ "subtype": "can_use_tool", "tool_name": "Read", "input": {} }),
        )),
        from_cli(&answer("1", &json!({}))),
        to_cli(&answer("1", &json!({ "behavior": "allow" }))),
        to_cli(&answer("1", &json!({ "behavior": "allow" }))),
    ]);
    let pairs: Vec<Option<u64>> = frames.iter().map(|frame| frame["pair"].as_u64()).collect();
    assert_eq!(pairs, [Some(2), Some(3), Some(0), Some(1), None]);
    assert_eq!(labels(&frames)[4].0, "control_response");
}

#[test]
fn turns_go_from_what_began_them_to_their_result() {
    let user = json!({ "type": "user", "message": { "role": "user", "content": "hi" } });
    let said = json!({ "type": "assistant", "message": { "role": "assistant", "content": [] } });
    let well = json!({ "type": "result", "subtype": "success", "is_error": false });
    let badly = json!({ "type": "result", "subtype": "error_max_turns", "is_error": true });
    let entries = [
        to_cli(&ask("c1", &json!({ "subtype": "initialize" }))),
        to_cli(&user),
        to_cli(&user),
        from_cli(&said),
        from_cli(&well),
        // A task in the background began this one.
        from_cli(&said),
        from_cli(&badly),
        to_cli(&user),
    ];
    let data = data(diagram(&tape(entries)));
    assert_eq!(
        data["turns"],
        json!([
            { "from": 1, "to": 4, "bad": false },
            { "from": 5, "to": 6, "bad": true },
            { "from": 7, "to": null, "bad": false },
        ])
    );
}

#[test]
fn every_recording_is_on_its_page_as_it_was() {
    for conversation in conversations::all() {
        let lines: Vec<(Channel, String)> = conversation
            .frames
            .iter()
            .map(|(channel, frame)| (*channel, frame.to_string()))
            .collect();
        let entries = lines.iter().map(|(channel, text)| line(*channel, text.clone().into_bytes()));
        let limits = Limits { frame_bytes: usize::MAX, ..Limits::default() };
        let tape = tape(entries);
        let diagram = Diagram::read(TapeReader::new(tape.as_slice()).unwrap(), limits).unwrap();
        let data = data(diagram);
        let frames = data["frames"].as_array().unwrap();
        assert_eq!(frames.len(), lines.len());
        for (frame, (channel, text)) in frames.iter().zip(&lines) {
            assert_eq!(frame["text"], *text.as_str());
            assert_eq!(frame["ch"], channel.name());
            // What the protocol has is told in words, not as its text.
            assert!(
                !frame["said"].as_str().unwrap().starts_with('{'),
                "{}: {frame}",
                conversation.name
            );
            assert_ne!(frame["family"], "other", "{}", conversation.name);
        }
    }
}

/// Characters that a person does not see.
const UNSEEN: [char; 4] = ['\u{2028}', '\u{202e}', '\u{feff}', '\u{e0041}'];

/// Words that mean something somewhere.
const NASTY: [&str; 16] = [
    "</script>",
    "<!--",
    "<script>",
    "]]>",
    "<img src=x onerror=alert(1)>",
    "&lt;",
    "\u{2028}",
    "\u{202e}",
    "\u{feff}",
    "\u{e0041}",
    "\u{0}",
    "\u{7f}",
    "\\ud800",
    "\"",
    "'",
    "\u{1f600}",
];

fn nasty() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        prop::sample::select(&NASTY[..]).prop_map(ToOwned::to_owned),
        "\\PC{0,6}",
        any::<String>(),
    ];
    prop::collection::vec(word, 0..8).prop_map(|words| words.concat())
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let frame = nasty().prop_map(|text| {
        json!({ "type": text, "message": { "role": "user", "content": text }, text: 1 }).to_string()
    });
    let message = nasty().prop_map(|text| {
        json!({ "type": "user", "message": { "role": "user", "content": text } }).to_string()
    });
    let request = nasty().prop_map(|text| ask(&text, &json!({ "subtype": text })).to_string());
    prop_oneof![
        nasty().prop_map(String::into_bytes),
        frame.prop_map(String::into_bytes),
        message.prop_map(String::into_bytes),
        request.prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..64),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_on_a_tape_is_data_and_nothing_else(
        lines in prop::collection::vec(bytes(), 1..5),
        word in nasty(),
    ) {
        // A line has no newline in it.
        let lines: Vec<Vec<u8>> =
            lines.into_iter().map(|line| line.into_iter().filter(|&b| b != b'\n').collect()).collect();
        let mut header = Header::new("2026-11-16T08:00:00Z".parse().unwrap());
        header.cli = Some(word.clone());
        header.tool.clone_from(&word);
        header.cwd.clone_from(&word);
        header.argv = vec![word.clone()];
        let mut tape = Vec::new();
        header.write(&mut tape).unwrap();
        for (seq, text) in (1..).zip(&lines) {
            let entry = line(Channel::Out, text.clone());
            Record { seq, us: seq, entry }.write(&mut tape).unwrap();
        }
        let page = page_of("a tape", &[diagram(&tape)]);

        // Around the data, the page is what it is with other words in the frames.
        let plain = lines.iter().map(|_| line(Channel::Out, b"x".to_vec()));
        let other = page_of("a tape", &[diagram(&self::tape(plain))]);
        let data = data_text(&page);
        let around = page.replace(data, "");
        prop_assert_eq!(around, other.replace(data_text(&other), ""));

        prop_assert!(!data.contains(['<', '>', '&']));
        prop_assert!(!data.contains(char::is_control));
        prop_assert!(!data.contains(UNSEEN));

        let data: Value = serde_json::from_str(data).unwrap();
        prop_assert_eq!(&data["argv"][0], word.as_str());
        prop_assert_eq!(&data["cwd"], word.as_str());
        for (frame, line) in data["frames"].as_array().unwrap().iter().zip(&lines) {
            match frame["text"].as_str() {
                Some(text) => prop_assert_eq!(text.as_bytes(), line.as_slice()),
                None => {
                    let kept = BASE64.decode(frame["base64"].as_str().unwrap()).unwrap();
                    prop_assert_eq!(&kept, line);
                }
            }
            for words in ["title", "said"] {
                let words = frame[words].as_str().unwrap();
                prop_assert!(!words.contains(char::is_control) && !words.contains(UNSEEN));
            }
        }
    }

    #[test]
    fn a_name_from_anywhere_is_text(name in nasty()) {
        let escaped = escape(&name);
        prop_assert!(!escaped.contains(['<', '>', '"', '\'']) && !escaped.contains(UNSEEN));
        let diagram = diagram(&tape([]));
        let section = |name: &str| {
            let mut out = Vec::new();
            Section::new(&diagram, name).with_id(name).folded().write(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let plain = section("plain");
        let section = section(&name);
        for part in ["<", ">"] {
            prop_assert_eq!(section.matches(part).count(), plain.matches(part).count());
        }
        let id = between(&section, "data-id=\"", "\"");
        prop_assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
        let data: Value = serde_json::from_str(between(&section, DATA, "</script>")).unwrap();
        prop_assert_eq!(&data["name"], name.as_str());
    }
}

#[test]
fn the_policy_is_that_of_the_page() {
    let page = page_of("a tape", &[diagram(&tape([]))]);
    let style = between(&page, "<style>", "</style>");
    let script = page.rsplit_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    assert_eq!((style, script), (STYLE, SCRIPT));
    let meta = between(&page, "Content-Security-Policy\" content=\"", "\"");
    assert_eq!(meta, policy(&[style], &[script]));
    // The hash of nothing, as everybody knows it.
    assert_eq!(
        policy(&[""], &[]),
        "default-src 'none'; base-uri 'none'; form-action 'none'; \
         style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    );
    // Nothing in them ends its element, and nothing is loaded.
    assert!(!STYLE.contains("</") && !SCRIPT.contains("</script"));
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    for way in ["innerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "Function("]
    {
        assert!(!SCRIPT.contains(way), "{way}");
    }
}

#[test]
fn long_frames_are_cut_and_say_so() {
    let long = format!("{{\"type\":\"user\",\"x\":\"{}\"}}", "ä".repeat(100));
    let entries =
        [line(Channel::In, long.clone().into_bytes()), line(Channel::In, b"\xff".repeat(100))];
    let tape = tape(entries);
    let read = |limits| {
        let diagram = Diagram::read(TapeReader::new(tape.as_slice()).unwrap(), limits).unwrap();
        data(diagram)["frames"].as_array().unwrap().clone()
    };
    // Within a character.
    let frames = read(Limits { frame_bytes: 22, ..Limits::default() });
    assert_eq!(frames[0]["text"], "{\"type\":\"user\",\"x\":\"ä");
    assert_eq!(frames[0]["cut"], long.len());
    assert_eq!(BASE64.decode(frames[1]["base64"].as_str().unwrap()).unwrap(), b"\xff".repeat(22));
    assert_eq!(frames[1]["cut"], 100);

    // All together.
    let frames = read(Limits { total_bytes: long.len() + 10, ..Limits::default() });
    assert_eq!((&frames[0]["text"], &frames[0]["cut"]), (&json!(long), &Value::Null));
    assert_eq!(BASE64.decode(frames[1]["base64"].as_str().unwrap()).unwrap(), b"\xff".repeat(10));
}

#[test]
fn what_is_kept_of_a_frame_besides_its_text_is_bounded() {
    let long = "x".repeat(100_000);
    let entries = [
        to_cli(&ask(&long, &json!({ "subtype": long, "tool_use_id": long }))),
        from_cli(&answer(&long, &json!({}))),
        from_cli(&json!({ "type": long })),
        Entry::Note(Note::Comment { text: long }),
    ];
    let tape = tape(entries);
    let limits = Limits { frame_bytes: 10, ..Limits::default() };
    let diagram = Diagram::read(TapeReader::new(tape.as_slice()).unwrap(), limits).unwrap();
    let data = data(diagram);
    let frames = data["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 4);
    for frame in frames {
        assert!(frame["cut"].as_u64().unwrap() > 100_000);
        assert!(frame.to_string().len() < 1000, "{frame}");
        assert_eq!(frame["pair"], Value::Null, "no frame is linked by an id that is none");
    }
}

#[test]
fn frames_beyond_the_limit_are_counted() {
    let status = json!({ "type": "system", "subtype": "status" });
    let entries: Vec<Entry> =
        (0..10).map(|_| from_cli(&status)).chain([Entry::End(End::Code(3))]).collect();
    let limits = Limits { frames: 4, ..Limits::default() };
    let diagram =
        Diagram::read(TapeReader::new(tape(entries).as_slice()).unwrap(), limits).unwrap();
    assert_eq!((diagram.frames(), diagram.left_out()), (11, 7));
    assert_eq!(diagram.end(), Some(End::Code(3)));
    assert_eq!(diagram.duration().as_millis(), 11);
    let data = data(diagram);
    assert_eq!(data["frames"].as_array().unwrap().len(), 4);
    assert_eq!(data["left_out"], 7);
    assert_eq!(data["counts"], json!({ "system": 10, "note": 1 }));
    assert_eq!(data["end"], "exit code 3");
    assert_eq!(data["well"], false);
}

#[test]
fn a_damaged_tape_is_shown_as_far_as_it_goes() {
    let status = json!({ "type": "system", "subtype": "status" });
    let mut tape = tape([from_cli(&status)]);
    tape.extend_from_slice(b"no record <b>\n");
    Record { seq: 2, us: 9, entry: from_cli(&status) }.write(&mut tape).unwrap();
    tape.extend_from_slice(b"{\"seq\":3,");
    let data = data(diagram(&tape));
    let frames = data["frames"].as_array().unwrap();
    let titles: Vec<&str> = labels(frames).into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ["system", "broken tape", "system"]);
    assert_eq!(data["tail"], "torn");
    assert_eq!(data["end"], Value::Null);
}

#[test]
fn several_diagrams_have_links_of_their_own() {
    let tape = tape([]);
    let page = page_of("<tapes>", &[diagram(&tape), diagram(&tape)]);
    assert!(page.contains("<title>&lt;tapes&gt;</title>"));
    assert_eq!(page.matches("<details").count(), 2);
    for id in ["id=\"tape-1\"", "id=\"tape-2\""] {
        assert_eq!(page.matches(id).count(), 2, "{id}, as id and as data-id");
    }
}
