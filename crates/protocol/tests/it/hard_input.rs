//! Input that breaks readers: one case each.

use countersign_protocol::ask::CliRequest;
use countersign_protocol::content::{Content, ContentBlock};
use countersign_protocol::control::{Response, pending_requests};
use countersign_protocol::permission::{Allow, PermissionResult};
use countersign_protocol::{
    Decoded, Frame as _, FromCli, Line, LineSplitter, Malformed, NotAFrame, Piece, RawJson,
};

fn decode(line: &[u8]) -> Decoded<FromCli> {
    let line_bytes = line;
    let line = Line::parse(line).unwrap();
    assert_eq!(line.bytes(), line_bytes);
    line.decode()
}

fn known(line: &[u8]) -> FromCli {
    match decode(line) {
        Decoded::Known(frame) => frame,
        other => panic!("{other:?}"),
    }
}

fn malformed(line: &[u8]) -> Malformed {
    match decode(line) {
        Decoded::Malformed(malformed) => malformed,
        other => panic!("{other:?}"),
    }
}

fn assistant_text(text_json: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":{text_json}}}]}}}}"#
    )
}

fn text_of(frame: &FromCli) -> &str {
    let FromCli::Assistant(message) = frame else { panic!("{frame:?}") };
    let [ContentBlock::Text(block)] = message.message.blocks() else { panic!("{message:?}") };
    &block.text
}

fn can_use_tool(input_json: &str) -> String {
    format!(
        r#"{{"type":"control_request","request_id":"r1","request":{{"subtype":"can_use_tool","tool_name":"Bash","input":{input_json},"tool_use_id":"t1"}}}}"#
    )
}

/// The input of a permission request, and the line that allows it.
fn allow(line: &str) -> (RawJson, String) {
    let FromCli::ControlRequest(request) = known(line.as_bytes()) else { panic!() };
    let CliRequest::CanUseTool(ask) = request.request else { panic!() };
    let answer = PermissionResult::from(Allow::new(ask.input.clone()));
    (ask.input, serde_json::to_string(&answer).unwrap())
}

#[test]
fn lone_surrogates_become_replacement_characters_in_text() {
    let line = assistant_text(r#""half: \ud83d, whole: \ud83d\ude00, other half: \ude00""#);
    let frame = known(line.as_bytes());
    assert_eq!(text_of(&frame), "half: \u{FFFD}, whole: \u{1F600}, other half: \u{FFFD}");
}

#[test]
fn lone_surrogates_in_tool_input_go_back_as_they_came() {
    let input = r#"{"command":"echo \ud800","\udfff":1}"#;
    let (kept, answer) = allow(&can_use_tool(input));
    assert_eq!(kept.as_str(), input);
    assert_eq!(answer, format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#));
}

#[test]
fn lone_surrogates_in_keys_and_tags_are_no_error() {
    let line = br#"{"\ud800":1,"type":"keep_alive"}"#;
    let FromCli::KeepAlive(frame) = known(line) else { panic!() };
    assert_eq!(frame.extra.len(), 1);
    assert!(matches!(decode(br#"{"type":"\ud800"}"#), Decoded::Unknown(_)));
}

#[test]
fn numbers_keep_their_spelling_in_tool_input() {
    let input = r#"{"a":12345678901234567890123,"b":1.10,"c":1e400,"d":-0,"e":1E+2, "f" : 0.1}"#;
    let (_, answer) = allow(&can_use_tool(input));
    assert_eq!(answer, format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#));
}

#[test]
fn numbers_in_typed_fields_are_read_as_far_as_they_go() {
    let frame = |cost: &str| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"total_cost_usd":{cost}}}"#
        )
    };
    for (cost, value) in
        [("1.10", 1.1), ("3", 3.0), ("12345678901234567890123", 1.234_567_890_123_456_8e22)]
    {
        let FromCli::Result(result) = known(frame(cost).as_bytes()) else { panic!() };
        assert_eq!(result.total_cost_usd.unwrap().as_f64().to_bits(), f64::to_bits(value));
    }
    assert!(malformed(frame("1e400").as_bytes()).reason.contains("total_cost_usd"));
    // A count has one spelling, so that it comes out as it went in.
    let turns = |turns: &str| {
        format!(r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":{turns}}}"#)
    };
    let FromCli::Result(result) = known(turns("5").as_bytes()) else { panic!() };
    assert_eq!(result.num_turns, Some(5));
    for other in ["5.0", "5.5", "-1", "-0", "18446744073709551616"] {
        assert!(malformed(turns(other).as_bytes()).reason.contains("num_turns"), "{other}");
    }
}

#[test]
fn a_repeated_key_that_is_typed_is_refused() {
    // Which of the two would run? JavaScript takes the last one, others the first.
    let line = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"input":{"command":"rm -rf /"},"tool_use_id":"t1"}}"#;
    let refused = malformed(line.as_bytes());
    assert_eq!(refused.kind.to_string(), "control_request/can_use_tool");
    assert!(refused.reason.contains("duplicate field `input`"), "{refused}");
    // The request can still be refused by name.
    assert_eq!(Line::parse(line.as_bytes()).unwrap().request_id(), Some("r1"));
    for line in [
        r#"{"type":"keep_alive","type":"keep_alive"}"#,
        r#"{"type":"keep_alive","startup_mark":null,"startup_mark":"a"}"#,
        r#"{"type":"system","subtype":"status","subtype":"init"}"#,
        r#"{"type":"update_environment_variables","variables":{"A":"1","A":"2"}}"#,
    ] {
        let line = Line::parse(line.as_bytes()).unwrap();
        let (from, to) = (
            matches!(line.decode::<FromCli>(), Decoded::Known(_)),
            matches!(line.decode::<countersign_protocol::ToCli>(), Decoded::Known(_)),
        );
        assert!(!from && !to, "{line:?}");
    }
}

/// The same holds where a frame is read without a line around it.
#[test]
fn a_repeated_tag_is_refused_wherever_it_stands() {
    for json in [
        r#"{"type":"system","subtype":"status","type":"assistant"}"#,
        r#"{"type":"system","subtype":"status","subtype":"init"}"#,
        r#"{"subtype":"status","subtype":"init","type":"system"}"#,
        r#"{"subtype":"status","type":"system","type":"system"}"#,
        r#"{"subtype":"status","type":"system","subtype":"status"}"#,
    ] {
        let error = serde_json::from_str::<FromCli>(json).unwrap_err();
        assert!(error.to_string().contains("duplicate field"), "{json}: {error}");
    }
}

#[test]
fn a_repeated_key_that_is_not_typed_is_carried() {
    let line = br#"{"type":"keep_alive","x":1,"x":2}"#;
    let FromCli::KeepAlive(frame) = known(line) else { panic!() };
    assert_eq!(frame.extra.get("x").unwrap().as_str(), "2");
    assert_eq!(FromCli::KeepAlive(frame).to_line().unwrap(), [&line[..], b"\n"].concat());
}

#[test]
fn a_hundred_thousand_levels_are_an_error_for_that_line_only() {
    const LEVELS: usize = 100_000;
    let arrays = "[".repeat(LEVELS) + &"]".repeat(LEVELS);
    let objects = r#"{"a":"#.repeat(LEVELS) + "1" + &"}".repeat(LEVELS);
    // Fewer, because each level is passed over once more before its tag is found.
    let blocks = r#"{"tool_use_id":"t","content":["#.repeat(LEVELS / 10)
        + r#"{"type":"text","text":""}"#
        + &r#"],"type":"tool_result"}"#.repeat(LEVELS / 10);
    for deep in [&arrays, &objects] {
        for line in [
            format!(r#"{{"type":"keep_alive","x":{deep}}}"#),
            format!(r#"{{"x":{deep},"type":"keep_alive"}}"#),
            format!(r#"{{"x":{deep},"type":"never_heard_of"}}"#),
            format!(r#"{{"type":"system","subtype":"never_heard_of","x":{deep}}}"#),
            format!(r#"{{"type":"assistant","message":{deep}}}"#),
            assistant_text(deep),
            can_use_tool(deep),
        ] {
            malformed(line.as_bytes());
        }
    }
    malformed(
        format!(r#"{{"type":"user","message":{{"role":"user","content":[{blocks}]}}}}"#).as_bytes(),
    );
    malformed(
        format!(r#"{{"message":{{"content":[{blocks}],"role":"user"}},"type":"user"}}"#).as_bytes(),
    );
    // Cut off in the middle.
    malformed(format!(r#"{{"type":"keep_alive","x":{}"#, &arrays[..LEVELS]).as_bytes());
    assert!(matches!(Line::parse(arrays.as_bytes()), Err(NotAFrame::NotAnObject(_))));
    known(br#"{"type":"keep_alive"}"#);
}

/// Values held back at each level start a new text, but not a new count of levels.
#[test]
fn mixed_orders_of_keys_neither_deepen_nor_exhaust_the_stack() {
    let first = r#"{"type":"document","source":{"type":"content","content":["#;
    let last = r#"]},"type":"document"}"#;
    let nested = |outer: usize, inner: usize| {
        let blocks = first.repeat(outer)
            + &r#"{"source":{"type":"content","content":["#.repeat(inner)
            + &last.repeat(inner)
            + &"]}}".repeat(outer);
        format!(r#"{{"type":"user","message":{{"role":"user","content":[{blocks}]}}}}"#)
    };
    let decode_on_a_small_stack = |line: String| {
        let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
        thread.spawn(move || matches!(decode(line.as_bytes()), Decoded::Known(_))).unwrap().join()
    };
    let known = |outer, inner| decode_on_a_small_stack(nested(outer, inner)).unwrap();
    // The order of keys decides nothing.
    let deepest = (1..200).take_while(|levels| known(*levels, 0)).last().unwrap();
    assert!(deepest > 20);
    for inner in 0..=deepest {
        assert!(known(deepest - inner, inner), "{inner} of {deepest} with the tag last");
        assert!(!known(deepest + 1 - inner, inner), "{inner} of {deepest} + 1");
    }
    assert!(!known(30, 40) && !known(0, 3000) && !known(3000, 0));
}

#[test]
fn a_large_value_under_late_tags_is_not_copied_at_every_level() {
    let levels = 40;
    let blocks = r#"{"tool_use_id":"t","content":["#.repeat(levels)
        + &format!(r#"{{"text":"{}","type":"text"}}"#, "x".repeat(1024 * 1024))
        + &r#"],"type":"tool_result"}"#.repeat(levels);
    let line = format!(r#"{{"type":"user","message":{{"role":"user","content":[{blocks}]}}}}"#);
    let FromCli::User(message) = known(line.as_bytes()) else { panic!() };
    assert_eq!(FromCli::User(message).to_line().unwrap().len(), line.len() + 1);
}

#[test]
fn what_is_said_of_an_error_is_short_and_harmless() {
    let long = "\u{1b}[31m".to_owned() + &"x".repeat(1024 * 1024);
    let line = serde_json::json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": [long]}]}});
    let reason = malformed(line.to_string().as_bytes()).reason;
    assert!(reason.len() < 1000 && !reason.contains('\u{1b}'), "{reason}");
    let line = serde_json::json!({"type": "user", "message": long});
    let reason = malformed(line.to_string().as_bytes()).reason;
    assert!(reason.len() < 1000 && !reason.contains('\u{1b}'), "{reason}");
    assert!(
        reason.starts_with("message: invalid type: string") && reason.contains(" at line 1 "),
        "{reason}"
    );
}

#[test]
fn as_deep_as_serde_json_goes_is_carried() {
    let deep =
        "[".repeat(countersign_protocol::MAX_DEPTH) + &"]".repeat(countersign_protocol::MAX_DEPTH);
    let line = format!(r#"{{"type":"keep_alive","x":{deep}}}"#);
    assert_eq!(known(line.as_bytes()).to_line().unwrap(), format!("{line}\n").as_bytes());
}

#[test]
fn nul_bytes_are_refused_and_escaped_ones_are_text() {
    assert_eq!(text_of(&known(assistant_text(r#""a\u0000b""#).as_bytes())), "a\0b");
    for line in [assistant_text("\"a\0b\""), can_use_tool("{\"command\":\"a\0b\"}")] {
        malformed(line.as_bytes());
    }
    malformed(b"{\"type\":\"keep_alive\"}\0");
    assert!(matches!(Line::parse(b"\0\0\0"), Err(NotAFrame::NotAnObject(_))));
    assert!(matches!(Line::parse(b"\0{\"type\":\"keep_alive\"}"), Err(NotAFrame::NotAnObject(_))));
}

#[test]
fn a_byte_order_mark_is_passed_over_and_kept() {
    let line = "\u{FEFF}{\"type\":\"keep_alive\"}";
    assert!(matches!(known(line.as_bytes()), FromCli::KeepAlive(_)));
    let line = "\u{FEFF}{\"request_id\":\"r\",\"type\":\"control_cancel_request\"}";
    assert!(matches!(known(line.as_bytes()), FromCli::ControlCancelRequest(_)));
}

#[test]
fn a_string_of_64_megabytes_is_read() {
    const LENGTH: usize = 64 * 1024 * 1024;
    let line = assistant_text(&format!("\"{}\"", "x".repeat(LENGTH)));
    let mut splitter = LineSplitter::new();
    let mut found = 0;
    for chunk in [line.as_bytes(), b"\n"].concat().chunks(1024 * 1024) {
        splitter.feed(chunk, |piece| {
            let Piece::Line { bytes, .. } = piece else { panic!("too long") };
            assert_eq!(text_of(&known(bytes)).len(), LENGTH);
            found += 1;
        });
    }
    assert_eq!((found, splitter.held()), (1, 0));
}

#[test]
fn bytes_that_are_not_utf_8_are_said_to_be_so() {
    let check = |line: &[u8]| malformed(line).reason;
    assert_eq!(check(b"{\"type\":\"keep_alive\",\"x\":\"\xff\"}"), "not UTF-8 from byte 26 on");
    assert_eq!(
        check(b"{\"type\":\"keep_alive\",\"startup_mark\":\"a\xc3(\"}"),
        "not UTF-8 from byte 38 on"
    );
    assert!(matches!(Line::parse(b"\xff\xfe"), Err(NotAFrame::NotUtf8 { valid_up_to: 0 })));
    assert!(matches!(
        Line::parse(b"{\"type\":\"\xff\"}"),
        Err(NotAFrame::NotUtf8 { valid_up_to: 9 })
    ));
}

#[test]
fn what_is_not_a_frame_says_why() {
    let check = |line: &str| Line::parse(line.as_bytes()).unwrap_err().to_string();
    assert_eq!(check(""), "the line is blank");
    assert_eq!(check(" \t\r"), "the line is blank");
    assert!(check("Warning: something").starts_with("the line is not a JSON object: "));
    assert!(check("null").starts_with("the line is not a JSON object: "));
    assert!(check("[1,2]").starts_with("the line is not a JSON object: "));
    assert!(check("{\"a\":1").starts_with("the line is not a JSON object: "));
    assert_eq!(check("{}"), "the object has no type");
    assert_eq!(check(r#"{"subtype":"init"}"#), "the object has no type");
    assert_eq!(check(r#"{"type":7}"#), "the object has no type");
}

#[test]
fn a_line_that_breaks_off_is_malformed_and_says_what_it_was() {
    let line = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}"#;
    // From the end of the id on, the kind and the id are there.
    for end in line.len() - 20..line.len() {
        let cut = malformed(&line.as_bytes()[..end]);
        assert_eq!(&*cut.kind.frame, "control_request");
        assert_eq!(Line::parse(&line.as_bytes()[..end]).unwrap().request_id(), Some("r1"));
    }
    assert!(malformed(br#"{"type":"keep_alive"} trailing"#).reason.contains("trailing"));
    assert!(
        malformed(br#"{"type":"keep_alive"}{"type":"keep_alive"}"#).reason.contains("trailing")
    );
}

#[test]
fn key_order_does_not_matter() {
    let orders = [
        r#"{"type":"system","subtype":"status","status":null,"permissionMode":"plan"}"#,
        r#"{"permissionMode":"plan","subtype":"status","status":null,"type":"system"}"#,
        r#"{"status":null,"type":"system","permissionMode":"plan","subtype":"status"}"#,
    ];
    let frames = orders.map(|order| known(order.as_bytes()));
    assert_eq!(frames[0], frames[1]);
    assert_eq!(frames[0], frames[2]);
    for order in orders {
        assert_eq!(Line::parse(order.as_bytes()).unwrap().kind().to_string(), "system/status");
    }
    // What the envelope says does not depend on the order either.
    let envelope = |line: &str| {
        let line = Line::parse(line.as_bytes()).unwrap();
        (line.kind().to_string(), line.request_id().map(str::to_owned))
    };
    for (line, kind, id) in [
        (r#"{"subtype":"x","type":"user"}"#, "user", None),
        (r#"{"type":"user","subtype":"x"}"#, "user", None),
        (r#"{"request_id":"req_1","type":"assistant"}"#, "assistant", None),
        (
            r#"{"request_id":"A","type":"control_response","response":{"request_id":"B","subtype":"error"}}"#,
            "control_response/error",
            Some("B"),
        ),
        (
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"B"},"request_id":"A"}"#,
            "control_response/error",
            Some("B"),
        ),
        (
            r#"{"type":"control\u005frequest","request_id":"1","request":{"subtype":"interrupt"}}"#,
            "control_request/interrupt",
            Some("1"),
        ),
        (
            r#"{"request":{"x":[],"subtype":"interrupt"},"request_id":"1","type":"control_request"}"#,
            "control_request/interrupt",
            Some("1"),
        ),
    ] {
        assert_eq!(envelope(line), (kind.to_owned(), id.map(str::to_owned)), "{line}");
    }
    let late = r#"{"request":{"tool_use_id":"t1","input":{"b":1,"a":[]},"tool_name":"X","subtype":"can_use_tool"},"request_id":"r1","type":"control_request"}"#;
    let (input, _) = allow(late);
    assert_eq!(input.as_str(), r#"{"b":1,"a":[]}"#);
}

/// Whoever waits for an answer learns of it, also when it is one that nobody knows; and one
/// request that cannot be read does not take the whole handshake with it.
#[test]
fn answers_are_found_whatever_is_in_them() {
    let FromCli::ControlResponse(frame) =
        decode(br#"{"type":"control_response","response":{"subtype":"wibble","request_id":"7"}}"#)
            .frame()
            .unwrap()
    else {
        panic!()
    };
    assert_eq!(frame.response.request_id(), Some("7".into()));
    let line = br#"{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{},"pending_permission_requests":[{"type":"control_request","request_id":"2","request":{"subtype":"can_use_tool"}},{"type":"control_request","request_id":"3","request":{"subtype":"can_use_tool","tool_name":"X","input":{},"tool_use_id":"t"}}]}}"#;
    let FromCli::ControlResponse(frame) = known(line) else { panic!() };
    let Response::Success(success) = frame.response else { panic!() };
    let pending: Vec<_> =
        pending_requests(success.pending_permission_requests.as_deref().unwrap()).collect();
    assert!(pending[0].is_err());
    assert_eq!(pending[1].as_ref().unwrap().request_id, "3".into());
}

#[test]
fn null_and_absent_read_alike_and_are_written_apart() {
    for line in [
        r#"{"type":"system","subtype":"status","status":null}"#,
        r#"{"type":"system","subtype":"status"}"#,
    ] {
        assert_eq!(known(line.as_bytes()).to_line().unwrap(), format!("{line}\n").as_bytes());
    }
}

#[test]
fn new_members_of_enums_and_new_blocks_are_carried() {
    let line = r#"{"type":"assistant","message":{"role":"narrator","content":[{"type":"hologram","beam":[1]},{"type":"text","text":"x","glow":true}],"stop_reason":"bored"},"error":"gremlins"}"#;
    let frame = known(line.as_bytes());
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&frame.to_line().unwrap()).unwrap(),
        serde_json::from_str::<serde_json::Value>(line).unwrap()
    );
    let FromCli::Assistant(message) = frame else { panic!() };
    assert_eq!(message.error.unwrap().as_str(), "gremlins");
    let Content::Blocks(blocks) = &message.message.content else { panic!() };
    assert_eq!((blocks[0].name(), blocks[0].is_known()), ("hologram", false));
}

#[test]
fn something_new_is_unknown_and_something_broken_is_malformed() {
    let check = |line: &str, expect: &str| {
        let outcome = match decode(line.as_bytes()) {
            Decoded::Known(frame) => format!("known {}", frame.kind()),
            Decoded::Unknown(frame) => format!("unknown {}", frame.kind()),
            Decoded::Malformed(malformed) => malformed.to_string(),
        };
        assert_eq!(outcome, expect);
    };
    check(r#"{"type":"wibble","x":1}"#, "unknown wibble");
    check(r#"{"type":"system","subtype":"wibble"}"#, "unknown system/wibble");
    check(r#"{"type":"system","subtype":"ui_toast","x":1}"#, "known system/ui_toast");
    check(
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"wibble"}}"#,
        "unknown control_request/wibble",
    );
    check(
        r#"{"type":"control_response","response":{"subtype":"wibble","request_id":"1"}}"#,
        "unknown control_response/wibble",
    );
    check(r#"{"type":"user"}"#, "malformed user: missing field `message` at line 1 column 15");
    check(
        r#"{"type":"user","message":{"role":"user","content":7}}"#,
        "malformed user: message: content: invalid type: integer `7`, expected a string or an array at line 1 column 51",
    );
    check(r#"{"type":"system"}"#, "malformed system: missing field `subtype` at line 1 column 17");
    check(
        r#"{"type":"control_request","request_id":"1"}"#,
        "malformed control_request: missing field `request` at line 1 column 43",
    );
}
