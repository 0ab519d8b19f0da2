//! Whole tapes: every place in which a secret can stand, and what is written about it.

use std::path::Path;
use std::sync::LazyLock;

use countersign_record::redact::{Manifest, RedactError, Redactor};
use countersign_record::{Channel, Entry, Header, Note, Record, TapeReader, Text};

const HEADER: &str = r#"{"tape":"countersign","format":"1.0","tool":"by hand","argv":["claude"],"cwd":"/srv","env":["API_KEY"],"start":"2026-11-16T08:00:00Z"}"#;

/// A redactor that has seen nothing yet.
fn redactor() -> Redactor {
    static BUILT: LazyLock<Redactor> = LazyLock::new(|| Redactor::builder().build().unwrap());
    BUILT.clone()
}

/// Redacts a tape that is given as its lines after the header.
fn redact(lines: &[&str]) -> Result<(Vec<String>, Manifest), RedactError> {
    redact_with(&mut redactor(), &[&[HEADER], lines].concat())
}

/// Redacts a tape that is given as its lines, and does it again, which must change nothing.
fn redact_with(
    redactor: &mut Redactor,
    lines: &[&str],
) -> Result<(Vec<String>, Manifest), RedactError> {
    let folder = tempfile::tempdir().unwrap();
    let [input, output, again] = ["in", "out", "again"].map(|name| folder.path().join(name));
    std::fs::write(&input, lines.join("\n") + "\n").unwrap();
    let manifest = redactor.redact_file(&input, &output);
    assert_eq!(output.exists(), manifest.is_ok());
    let manifest = manifest?;
    let written = std::fs::read_to_string(&output).unwrap();
    let second = self::redactor().redact_file(&output, &again).unwrap();
    assert_eq!(std::fs::read_to_string(&again).unwrap(), written);
    assert_eq!(second.total, 0);
    Ok((written.lines().map(str::to_owned).collect(), manifest))
}

#[track_caller]
fn check(lines: &[&str], expected: &[&str]) {
    let (written, _) = redact(lines).unwrap();
    assert_eq!(written[0], HEADER);
    assert_eq!(written[1..], *expected);
}

/// A record with a line of the CLI.
fn out(seq: u64, line: &str) -> String {
    record(seq, Channel::Out, line.as_bytes(), false)
}

fn record(seq: u64, channel: Channel, text: &[u8], more: bool) -> String {
    let entry = Entry::Line { channel, text: Text::from(text.to_vec()), more };
    let mut line = Vec::new();
    Record { seq, us: seq, entry }.write(&mut line).unwrap();
    String::from_utf8(line).unwrap().trim_end().to_owned()
}

/// A frame of a stream.
fn delta(field: &str, index: u32, parent: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":{index},"delta":{{"type":"any","{field}":{text}}}}},"session_id":"s","parent_tool_use_id":{parent}}}"#
    )
}

#[test]
fn secrets_go_from_every_part_of_a_tape() {
    let header = HEADER
        .replace(r#"["claude"]"#, r#"["/home/jo/bin/claude","--api-key","abc","me@corp.com"]"#)
        .replace("/srv", "/home/jo/work");
    let lines = [
        &header,
        r#"{"seq":1,"us":1,"ch":"in","text":"{\"api_key\":\"abc\"}"}"#,
        r#"{"seq":2,"us":2,"ch":"err","text":"me@corp.com said PASSWORD=hunter22"}"#,
        r#"{"seq":3,"us":3,"ch":"note","note":{"kind":"comment","text":"see /home/jo/x"}}"#,
        r#"{"seq":4,"us":4,"ch":"note","note":{"kind":"gap","bytes":7,"reason":"hunter22"}}"#,
        r#"{"seq":5,"us":5,"ch":"note","note":{"kind":"later","who":["me@corp.com"]},"new":"/home/jo"}"#,
        r#"{"seq":6,"us":6,"ch":"note","end":{"code":0}}"#,
    ];
    let (written, manifest) = redact_with(&mut redactor(), &lines).unwrap();
    let argv =
        r#"["/home/user-1/bin/claude","--api-key","redacted-api-key-1","user-1@example.invalid"]"#;
    let expected = [
        &HEADER.replace(r#"["claude"]"#, argv).replace("/srv", "/home/user-1/work"),
        r#"{"seq":1,"us":1,"ch":"in","text":"{\"api_key\":\"redacted-api-key-1\"}"}"#,
        r#"{"seq":2,"us":2,"ch":"err","text":"user-1@example.invalid said PASSWORD=redacted-password-1"}"#,
        r#"{"seq":3,"us":3,"ch":"note","note":{"kind":"comment","text":"see /home/user-1/x"}}"#,
        r#"{"seq":4,"us":4,"ch":"note","note":{"kind":"gap","bytes":7,"reason":"redacted-password-1"}}"#,
        r#"{"seq":5,"us":5,"ch":"note","note":{"kind":"later","who":["user-1@example.invalid"]},"new":"/home/user-1"}"#,
        r#"{"seq":6,"us":6,"ch":"note","end":{"code":0}}"#,
    ];
    assert_eq!(written, expected);

    let listed: Vec<_> = manifest
        .placeholders
        .iter()
        .map(|entry| (&*entry.rule, &*entry.placeholder, entry.count, entry.first))
        .collect();
    assert_eq!(
        listed,
        [
            ("home", "/home/user-1", 4, 0),
            ("named", "redacted-api-key-1", 2, 0),
            ("email", "user-1@example.invalid", 3, 0),
            ("named", "redacted-password-1", 2, 2),
        ]
    );
    assert_eq!(manifest.total, 11);
    let json = serde_json::to_string(&manifest).unwrap();
    for secret in ["hunter22", "abc", "corp", "jo"] {
        assert!(!json.contains(secret), "{json}");
    }
    assert_eq!(serde_json::from_str::<Manifest>(&json).unwrap(), manifest);
}

#[test]
fn what_is_not_touched_keeps_its_spelling() {
    check(
        &[
            r#"{ "us":1e0 ,"seq":1, "ch":"out","text":"{\u0022a\u0022: 1.50,\t\"b\":\"\/x\"}" , "new":[ ]}"#
                .replace("1e0", "10").as_str(),
            r#"{"seq":2,"us":2,"ch":"out", "text" : "{\"n\":1.500,\"k\":\"\\u00e9\\/me@corp.com\",\"k\":2E+5 }"}"#,
        ],
        &[
            r#"{ "us":10 ,"seq":1, "ch":"out","text":"{\u0022a\u0022: 1.50,\t\"b\":\"\/x\"}" , "new":[ ]}"#,
            r#"{"seq":2,"us":2,"ch":"out", "text" : "{\"n\":1.500,\"k\":\"\\u00e9\\/user-1@example.invalid\",\"k\":2E+5 }"}"#,
        ],
    );
}

#[test]
fn bytes_that_are_not_text_are_looked_at_too() {
    let line = |text: &[u8]| record(1, Channel::Out, &[b"\xff\xfe ", text].concat(), false);
    check(&[&line(b"TOKEN=abcd \xfd")], &[&line(b"TOKEN=redacted-token-1 \xfd")]);
    check(&[&line(b"nothing")], &[&line(b"nothing")]);
}

#[test]
fn a_secret_over_pieces_of_a_line_goes() {
    let piece = |seq, text: &str, more| record(seq, Channel::Out, text.as_bytes(), more);
    check(
        &[
            &piece(1, r#"{"a":"x","pass"#, true),
            &record(2, Channel::Err, b"password=\"abc\"", false),
            &piece(3, r#"word":"hun"#, true),
            &piece(4, "", true),
            &piece(5, r#"ter"#, true),
            &piece(6, r#"22","b":"hunter22"}"#, false),
            &piece(7, r#"hunter22"#, true),
        ],
        &[
            &piece(1, r#"{"a":"x","pass"#, true),
            &record(2, Channel::Err, b"password=\"redacted-password-1\"", false),
            &piece(3, r#"word":"redacted-password-2"#, true),
            &piece(4, "", true),
            &piece(5, "", true),
            &piece(6, r#"","b":"redacted-password-2"}"#, false),
            &piece(7, r#"redacted-password-2"#, true),
        ],
    );
}

#[test]
fn pieces_may_cut_a_character() {
    let piece = |seq, text: &[u8], more| record(seq, Channel::Out, text, more);
    check(
        &[&piece(1, b"{\"password\":\"a\xc3", true), &piece(2, b"\xa9b\"}", false)],
        &[
            // The piece was not text, so it still is on the tape as base64.
            r#"{"seq":1,"us":1,"ch":"out","base64":"eyJwYXNzd29yZCI6InJlZGFjdGVkLXBhc3N3b3JkLTE=","more":true}"#,
            r#"{"seq":2,"us":2,"ch":"out","base64":"In0="}"#,
        ],
    );
}

#[test]
fn a_secret_over_deltas_goes() {
    let text = |seq, text: &str| out(seq, &delta("text", 0, "null", text));
    let json = |seq, text: &str| out(seq, &delta("partial_json", 1, "null", text));
    let agent = |seq, text: &str| out(seq, &delta("text", 0, "\"toolu_1\"", text));
    let stop = r#"{"type":"stream_event","event":{"type":"content_block_stop","index":0},"session_id":"s","parent_tool_use_id":null}"#;
    check(
        &[
            &text(1, "the key is sk-"),
            &agent(2, "/home/"),
            &text(3, "ant-"),
            &json(4, "{\"password\":\"q"),
            &text(5, "api03-abc"),
            &json(6, "\\"),
            &agent(7, "jo/x"),
            &text(8, "def, mind it"),
            &json(9, "\"w\",\"b\":1}"),
            &out(10, stop),
            &text(11, "ant-api03-abcdef"),
        ],
        &[
            &text(1, "the key is redacted-api-key-1"),
            &agent(2, "/home/"),
            &text(3, ""),
            &json(4, "{\"password\":\"redacted-password-1"),
            &text(5, ""),
            &json(6, ""),
            &agent(7, "user-1/x"),
            &text(8, ", mind it"),
            &json(9, "\",\"b\":1}"),
            &out(10, stop),
            &text(11, "ant-api03-abcdef"),
        ],
    );
}

#[test]
fn a_delta_may_end_anywhere() {
    let json = |seq, text: &str| out(seq, &delta("partial_json", 1, "null", text));
    let spelled: String =
        r"C:\Users\Jo Doe\x".chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let whole = format!(r#"{{"s":"{spelled}"}}"#);
    let [before, after] = [r"C:\Users\", r"\x"]
        .map(|text| text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<String>());
    for cut in 0..whole.len() {
        let (first, second) = whole.split_at(cut);
        let (written, _) = redact(&[&json(1, first), &json(2, second)]).unwrap();
        let text = |line: &str| {
            let record = Record::parse(line.as_bytes()).unwrap();
            let Entry::Line { text, .. } = record.entry else { panic!("{line}") };
            let frame: serde_json::Value = serde_json::from_slice(text.as_bytes()).unwrap();
            frame["event"]["delta"]["partial_json"].as_str().unwrap().to_owned()
        };
        let joined = text(&written[1]) + &text(&written[2]);
        assert_eq!(joined, format!(r#"{{"s":"{before}user-1{after}"}}"#), "cut at {cut}");
    }
}

#[test]
fn a_secret_that_is_only_known_by_its_value_goes_from_deltas_and_pieces() {
    let thinking = |seq, text: &str| out(seq, &delta("thinking", 3, "null", text));
    let piece = |seq, text: &str, more| record(seq, Channel::Err, text.as_bytes(), more);
    check(
        &[
            &thinking(1, "is it correct-"),
            &piece(2, "correct-horse", true),
            &thinking(3, "horse-9?"),
            &piece(4, "-9!", false),
            &out(5, r#"{"password":"correct-horse-9"}"#),
        ],
        &[
            &thinking(1, "is it redacted-password-1"),
            &piece(2, "redacted-password-1", true),
            &thinking(3, "?"),
            &piece(4, "!", false),
            &out(5, r#"{"password":"redacted-password-1"}"#),
        ],
    );
}

#[test]
fn a_private_key_over_lines_goes() {
    let line = |seq, text: &str| record(seq, Channel::Err, text.as_bytes(), false);
    let begin = ["-----BEGIN RSA PRI", "VATE KEY-----"].concat();
    check(
        &[
            &line(1, &format!("here: {begin}")),
            &line(2, "MIIEowIBAAKCAQEA"),
            &out(3, "{}"),
            &line(4, "zzzz="),
            &line(5, "-----END RSA PRIVATE KEY----- done"),
            &line(6, "zzzz="),
        ],
        &[
            &line(1, "here: redacted-private-key-1"),
            &line(2, ""),
            &out(3, "{}"),
            &line(4, ""),
            &line(5, " done"),
            &line(6, "zzzz="),
        ],
    );
}

#[test]
fn tapes_of_one_redactor_share_their_placeholders() {
    let mut redactor = redactor();
    let first = out(1, r#"{"cwd":"/home/jo","token":"abcd1234"}"#);
    redact_with(&mut redactor, &[HEADER, &first]).unwrap();
    let second = out(1, r#"{"cwd":"/home/ann/jo","text":"abcd1234","password":"x"}"#);
    let (written, manifest) = redact_with(&mut redactor, &[HEADER, &second]).unwrap();
    assert_eq!(
        written[1],
        out(
            1,
            r#"{"cwd":"/home/user-2/jo","text":"redacted-token-1","password":"redacted-password-1"}"#
        )
    );
    assert_eq!(manifest.placeholders.len(), 3);
}

#[test]
fn a_tape_that_was_cut_is_redacted_up_to_the_cut() {
    let line = out(1, "me@corp.com");
    let (written, manifest) =
        redact(&[&line, r#"{"seq":2,"us":2,"ch":"out","text":"me@c"#]).unwrap();
    assert_eq!(written[1..], [out(1, "user-1@example.invalid")]);
    assert_eq!(manifest.torn, 40);
}

#[test]
fn a_line_that_is_no_record_ends_it_without_being_quoted() {
    let error = redact(&[r#"{"seq":"hunter22"}"#, &out(1, "x")]).unwrap_err();
    assert!(matches!(error, RedactError::Broken { line: 2, .. }));
    assert!(!format!("{error} {error:?}").contains("hunter22"));
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let [input, output] = ["in", "out"].map(|name| folder.path().join(name));
    std::fs::write(&input, format!("{HEADER}\n")).unwrap();
    std::fs::write(&output, "precious").unwrap();
    assert!(matches!(redactor().redact_file(&input, &output), Err(RedactError::Exists(_))));
    assert_eq!(std::fs::read(&output).unwrap(), b"precious");
    assert!(matches!(redactor().redact_file(&input, &input), Err(RedactError::Exists(_))));
}

/// Escapes that are nested deeper than the search goes: the net has to catch it.
#[test]
fn a_secret_that_is_left_removes_the_output() {
    let mut deep = r"\u0068unter22".to_owned();
    for _ in 0..9 {
        deep = serde_json::to_string(&deep).unwrap();
    }
    let lines = [out(7, r#"{"password":"hunter22"}"#), out(8, &format!("{{\"a\":{deep}}}"))];
    let error = redact(&[&lines[0], &lines[1]]).unwrap_err();
    assert!(matches!(error, RedactError::Left { seq: 8 }), "{error:?}");
    assert!(error.to_string().contains("record 8"));
    assert!(!format!("{error} {error:?}").contains("unter22"));
}

#[test]
fn the_output_is_a_tape_with_the_same_records() {
    let folder = tempfile::tempdir().unwrap();
    let [input, output] = ["in", "out"].map(|name| folder.path().join(name));
    let mut tape = Vec::new();
    let mut header = Header::new("2026-11-16T08:00:00Z".parse().unwrap());
    header.cwd = "/home/jo".into();
    header.write(&mut tape).unwrap();
    let entry = Entry::Note(Note::Closed { channel: Channel::In });
    Record { seq: 1, us: 2, entry }.write(&mut tape).unwrap();
    std::fs::write(&input, tape).unwrap();
    redactor().redact_file(&input, &output).unwrap();
    header.cwd = "/home/user-1".into();
    assert_eq!(read(&output), (header, read(&input).1));
}

fn read(path: &Path) -> (Header, Vec<Record>) {
    let mut reader = TapeReader::open(path).unwrap();
    let records = reader.by_ref().map(Result::unwrap).collect();
    (reader.header().clone(), records)
}

#[test]
fn many_secrets_in_many_pieces_take_no_longer_than_they_are_many() {
    // Twice as many of both must not take four times as long: this would not end then, neither
    // the first time nor the second, when it is full of placeholders.
    let piece = "/home/jo/a ".repeat(5);
    let pieces = 40_000;
    let lines: Vec<_> =
        (1..=pieces).map(|seq| record(seq, Channel::Err, piece.as_bytes(), true)).collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let (written, manifest) = redact(&lines).unwrap();
    assert_eq!(manifest.total, 5 * pieces);
    let expected = record(pieces, Channel::Err, "/home/user-1/a ".repeat(5).as_bytes(), true);
    assert_eq!(written.last(), Some(&expected));
}

#[test]
fn the_beginning_of_a_private_key_does_not_hold_up_all_that_is_printed_after_it() {
    let mut lines = vec![record(1, Channel::Err, b"-----BEGIN RSA PRIVATE KEY-----", false)];
    let words = "loading the model, please wait for PASSWORD=hunter22";
    lines.extend((2..60_000).map(|seq| record(seq, Channel::Err, words.as_bytes(), false)));
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let (written, _) = redact(&lines).unwrap();
    let expected = words.replace("hunter22", "redacted-password-1");
    assert_eq!(written.last(), Some(&record(59_999, Channel::Err, expected.as_bytes(), false)));
}

#[test]
fn a_private_key_after_a_long_line_is_a_private_key() {
    let begin = format!("{}-----BEGIN PRIVATE KEY-----", "log ".repeat(100_000));
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    let lines = [&begin, body, "c2hvcnQ=", "-----END PRIVATE KEY-----", "after"];
    let lines: Vec<_> = (1..)
        .zip(lines)
        .map(|(seq, line)| record(seq, Channel::Err, line.as_bytes(), false))
        .collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let (written, _) = redact(&lines).unwrap();
    assert!(written[1].contains("log redacted-private-key-1"));
    let rest = ["", "", "", "after"];
    let rest = (2..).zip(rest).map(|(seq, line)| record(seq, Channel::Err, line.as_bytes(), false));
    assert_eq!(written[2..], rest.collect::<Vec<_>>());
}
