//! What holds for any input.

use std::sync::LazyLock;

use countersign_protocol::content::{
    Base64Source, ContentBlock, ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock,
};
use countersign_protocol::message::{HumanOrigin, MessageOrigin, Priority, UserMessage};
use countersign_protocol::permission::{
    PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, RulesUpdate, SetMode,
    UpdateDestination,
};
use countersign_protocol::{Decoded, Frame, FromCli, Line, RawJson, ToCli};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use crate::framing::{Owned, split};
use crate::recordings;

/// The distinct lines of the recordings.
static LINES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut lines: Vec<_> =
        recordings::all().into_iter().map(|recorded| recorded.line.into_bytes()).collect();
    lines.retain(|line| line.len() < 20_000);
    lines.sort();
    lines.dedup();
    lines
});

/// Whatever the bytes, nothing panics, the bytes are kept, and what is read can be written.
fn survives<F: Frame>(bytes: &[u8]) {
    let Ok(line) = Line::parse(bytes) else { return };
    assert_eq!(line.bytes(), bytes);
    match line.decode::<F>() {
        Decoded::Known(frame) | Decoded::Unknown(frame) => {
            let written = frame.to_line().unwrap();
            let again = Line::parse(written.strip_suffix(b"\n").unwrap()).unwrap();
            // A carriage return between tokens of raw JSON is written as a space.
            if !bytes.contains(&b'\r') {
                assert_eq!(again.decode::<F>().frame().unwrap(), frame);
            }
            // Where serde_json can read the line, it is the same value.
            if let Ok(value) = serde_json::from_slice::<Value>(line.bytes()) {
                assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), value);
            }
        }
        Decoded::Malformed(malformed) => {
            assert_eq!(malformed.kind, line.kind());
            assert!(!malformed.reason.is_empty());
        }
    }
}

fn survives_both_ways(bytes: &[u8]) {
    survives::<FromCli>(bytes);
    survives::<ToCli>(bytes);
}

/// Any JSON value.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(key(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// A key, often one that means something.
fn key() -> impl Strategy<Value = String> {
    const KEYS: &[&str] = &[
        "type",
        "subtype",
        "request",
        "response",
        "request_id",
        "message",
        "content",
        "role",
        "text",
        "event",
        "delta",
        "index",
        "input",
        "tool_name",
        "tool_use_id",
        "uuid",
        "session_id",
        "usage",
        "behavior",
        "mode",
        "error",
        "is_error",
        "result",
    ];
    prop_oneof![select(KEYS).prop_map(str::to_owned), "\\PC{0,8}"]
}

/// An object whose tags are often ones that mean something.
fn frame_like() -> impl Strategy<Value = Value> {
    const KINDS: &[(&str, &str)] = &[
        ("assistant", ""),
        ("user", ""),
        ("result", "success"),
        ("system", "init"),
        ("system", "status"),
        ("system", "task_started"),
        ("stream_event", ""),
        ("control_request", "can_use_tool"),
        ("control_response", "success"),
        ("control_cancel_request", ""),
        ("keep_alive", ""),
        ("unheard_of", "never"),
    ];
    (select(KINDS), btree_map(key(), json(), 0..8)).prop_map(|((kind, subtype), mut fields)| {
        fields.insert("type".to_owned(), kind.into());
        if !subtype.is_empty() {
            let object = match kind {
                "control_request" => fields.entry("request".to_owned()).or_insert(Value::Null),
                "control_response" => fields.entry("response".to_owned()).or_insert(Value::Null),
                _ => fields.entry("subtype".to_owned()).or_insert(Value::Null),
            };
            match object.as_object_mut() {
                Some(object) => drop(object.insert("subtype".to_owned(), subtype.into())),
                None => *object = subtype.into(),
            }
        }
        fields.into_iter().collect()
    })
}

/// A change to a line.
#[derive(Debug, Clone)]
enum Mutation {
    Replace(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, u8),
    Cut(Index),
    Swap(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    const TOKENS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "null",
        "true",
        "1e999",
        "-",
        "\\ud800",
        "{\"type\":\"text\"}",
        "\u{0}",
        "\u{FEFF}",
        "[[[[",
        "\"type\":\"user\",",
    ];
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (any::<Index>(), select(TOKENS))
            .prop_map(|(at, token)| Mutation::Insert(at, token.as_bytes().to_vec())),
        (any::<Index>(), 1..40u8).prop_map(|(at, count)| Mutation::Remove(at, count)),
        any::<Index>().prop_map(Mutation::Cut),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Mutation::Swap(a, b)),
    ]
}

impl Mutation {
    fn apply(&self, line: &mut Vec<u8>) {
        if line.is_empty() {
            return;
        }
        match self {
            Self::Replace(at, byte) => {
                let at = at.index(line.len());
                line[at] = *byte;
            }
            Self::Insert(at, bytes) => {
                let at = at.index(line.len());
                line.splice(at..at, bytes.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = at.index(line.len());
                line.drain(at..(at + usize::from(*count)).min(line.len()));
            }
            Self::Cut(at) => line.truncate(at.index(line.len())),
            Self::Swap(a, b) => {
                let (a, b) = (a.index(line.len()), b.index(line.len()));
                line.swap(a, b);
            }
        }
    }
}

/// Text of which lines are made, with what splits them.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    const PARTS: &[&[u8]] = &[
        b"\n",
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"{}",
        b"{\"type\":\"user\"}",
        b"\xff",
        b"\0",
        b"0123456789",
    ];
    vec(select(PARTS), 0..40).prop_map(|parts| parts.concat())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,20}", ".{0,20}"]
}

fn raw_object() -> impl Strategy<Value = RawJson> {
    btree_map(key(), json(), 0..4).prop_map(|map| RawJson::from(map.into_iter().collect::<Value>()))
}

fn block() -> impl Strategy<Value = ContentBlock> {
    prop_oneof![
        text().prop_map(|text| TextBlock::new(text).into()),
        (text(), text(), raw_object())
            .prop_map(|(id, name, input)| ToolUseBlock::new(id, name, input).into()),
        (text(), option::of(text()), any::<bool>()).prop_map(|(id, content, is_error)| {
            let mut block = ToolResultBlock::new(id).with_is_error(is_error);
            block.content = content.map(Into::into);
            block.into()
        }),
        (text(), text())
            .prop_map(|(media, data)| { ImageBlock::new(Base64Source::new(media, data)).into() }),
    ]
}

fn user_message() -> impl Strategy<Value = UserMessage> {
    (
        vec(block(), 0..4),
        option::of(text()),
        option::of(text()),
        any::<bool>(),
        option::of(raw_object()),
    )
        .prop_map(|(blocks, uuid, mode, query, raw)| {
            let mut message = UserMessage::prompt(blocks)
                .with_should_query(query)
                .with_origin(MessageOrigin::from(HumanOrigin::new()));
            message.uuid = uuid.map(Into::into);
            message.priority = mode.map(|mode| Priority::from(&*mode));
            message.tool_use_result = raw;
            message.extra.insert("mood", RawJson::from(Value::from("good")));
            message
        })
}

fn update() -> impl Strategy<Value = PermissionUpdate> {
    prop_oneof![
        (vec((text(), option::of(text())), 0..3), text(), text()).prop_map(
            |(rules, behavior, destination)| {
                let rules: Vec<_> = rules
                    .into_iter()
                    .map(|(tool, content)| {
                        let mut rule = PermissionRule::new(tool);
                        rule.rule_content = content;
                        rule
                    })
                    .collect();
                PermissionUpdate::AddRules(RulesUpdate::new(
                    rules,
                    RuleBehavior::from(&*behavior),
                    UpdateDestination::from(&*destination),
                ))
            }
        ),
        text().prop_map(|mode| {
            SetMode::new(PermissionMode::from(&*mode), UpdateDestination::Session).into()
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_make_no_difference(stream in stream(), cuts in vec(any::<Index>(), 0..12), max in 1..40usize) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]);
        let pieces = split(max, chunks);
        prop_assert_eq!(&pieces, &split(max, [&stream[..]]));
        prop_assert_eq!(&pieces, &split(max, stream.chunks(1)));
        // Put together again, they are the stream, but for what was skipped.
        if !pieces.iter().any(|piece| matches!(piece, Owned::TooLong(..))) {
            let whole: Vec<u8> = pieces
                .iter()
                .flat_map(|piece| match piece {
                    Owned::Line(bytes, ending) | Owned::Blank(bytes, ending) => [bytes, ending.as_bytes()].concat(),
                    Owned::TooLong(..) => Vec::new(),
                })
                .collect();
            prop_assert_eq!(whole, stream);
        }
    }

    #[test]
    fn any_bytes_survive(bytes in vec(any::<u8>(), 0..200)) {
        survives_both_ways(&bytes);
    }

    #[test]
    fn any_object_survives(value in frame_like()) {
        survives_both_ways(value.to_string().as_bytes());
    }

    #[test]
    fn mutated_recordings_survive(line in any::<Index>(), mutations in vec(mutation(), 1..6)) {
        let mut line = LINES[line.index(LINES.len())].clone();
        for mutation in &mutations {
            mutation.apply(&mut line);
        }
        survives_both_ways(&line);
    }

    #[test]
    fn typed_messages_survive(message in user_message()) {
        let frame = ToCli::from(message.clone());
        let line = frame.to_line().unwrap();
        let read = Line::parse(line.strip_suffix(b"\n").unwrap()).unwrap();
        prop_assert_eq!(read.decode::<ToCli>(), Decoded::Known(frame));
        let echo = FromCli::from(message);
        prop_assert_eq!(read.decode::<FromCli>(), Decoded::Known(echo));
    }

    #[test]
    fn typed_updates_survive(update in update()) {
        let json = serde_json::to_string(&update).unwrap();
        prop_assert_eq!(&serde_json::from_str::<PermissionUpdate>(&json).unwrap(), &update);
        let value: Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&serde_json::from_value::<PermissionUpdate>(value).unwrap(), &update);
    }

    #[test]
    fn tool_input_is_echoed_byte_for_byte(value in json(), spaces in 0..4usize) {
        // Some layout that no serializer of ours would choose.
        let input = format!("{{{0}\"a\"{0}:{0}{value}{0}}}", " ".repeat(spaces));
        let line = format!(
            r#"{{"type":"control_request","request_id":"1","request":{{"subtype":"can_use_tool","input":{input},"tool_name":"X","tool_use_id":"t"}}}}"#
        );
        let Decoded::Known(frame) = Line::parse(line.as_bytes()).unwrap().decode::<FromCli>() else {
            panic!("{line}");
        };
        let written = String::from_utf8(frame.to_line().unwrap()).unwrap();
        prop_assert!(written.contains(&format!(r#""input":{input}"#)), "{}", written);
    }
}
