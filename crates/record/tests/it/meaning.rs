//! What two frames have in common, apart from ids and times.

use std::collections::HashMap;
use std::sync::LazyLock;

use countersign_record::Channel;
use countersign_record::meaning::{Canonical, Comparer, Rules, Treat, Why};
use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};

use crate::conversations::{self, Conversation};

const A: &str = "11111111-1111-4111-8111-11111111111a";
const B: &str = "22222222-2222-4222-8222-22222222222b";
const C: &str = "33333333-3333-4333-8333-33333333333c";

/// Where two frames differ, with the way in which they do.
fn differ(channel: Channel, left: &Value, right: &Value) -> Vec<(String, Why)> {
    let found = Comparer::new(Rules::new()).compare(channel, left, right);
    found.into_iter().map(|found| (found.path.as_str().to_owned(), found.why)).collect()
}

/// Frames of the CLI that mean the same.
fn same(left: &Value, right: &Value) {
    assert_eq!(differ(Channel::Out, left, right), [], "{left}\n{right}");
    assert_eq!(differ(Channel::Out, right, left), [], "{right}\n{left}");
}

/// Frames of the CLI that differ at one place.
fn other(left: &Value, right: &Value, path: &str) {
    for (left, right) in [(left, right), (right, left)] {
        let found: Vec<_> =
            differ(Channel::Out, left, right).into_iter().map(|(path, _)| path).collect();
        assert_eq!(found, [path], "{left}\n{right}");
    }
}

#[test]
fn ids_may_be_others() {
    same(&json!({"uuid": A}), &json!({"uuid": B}));
    same(&json!({"x": A}), &json!({"x": B}));
    same(&json!({"request_id": "1"}), &json!({"request_id": A}));
    same(
        &json!({"content": [{"type": "tool_use", "id": "t1"}]}),
        &json!({"content": [{"type": "tool_use", "id": "toolu_01AbCdEfGhIj"}]}),
    );
    same(
        &json!({"message": {"role": "assistant", "id": "x"}}),
        &json!({"message": {"role": "assistant", "id": "y"}}),
    );
    same(&json!({"uuids": [A, B]}), &json!({"uuids": [C, A]}));
    same(
        &json!({"text": format!("{A}.jsonl, toolu_01AbCdEfGhIj")}),
        &json!({"text": format!("{B}.jsonl, toolu_99AbCdEfGhIj")}),
    );
}

#[test]
fn ids_stand_for_each_other_one_to_one() {
    other(&json!({"uuid": A, "x": A}), &json!({"uuid": B, "x": C}), "x");
    other(&json!({"uuid": A, "x": B}), &json!({"uuid": C, "x": C}), "x");
    other(
        &json!({"a": A, "b": format!("see {A}")}),
        &json!({"a": A, "b": format!("see {B}")}),
        "b",
    );
    other(&json!({"uuids": [A, A]}), &json!({"uuids": [A, B]}), "uuids[1]");
}

#[test]
fn an_id_that_only_a_field_tells_is_found_in_texts() {
    let frame = |id: &str| json!({"task_id": id, "a": format!("output of {id} is ready")});
    same(&frame("b208upjs3"), &frame("bm8zsr7oe"));
    // Words that are like others are not looked for.
    other(&frame("b20"), &frame("bm8"), "a");
}

#[test]
fn the_ids_of_both_sides_do_not_get_in_each_others_way() {
    let mut comparer = Comparer::new(Rules::new());
    let ask =
        |id| json!({"type": "control_request", "request_id": id, "request": {"subtype": "x"}});
    let answer = |id| json!({"type": "control_response", "response": {"subtype": "success", "request_id": id}});
    // On the left the client and the CLI have both named a request "1".
    assert_eq!(comparer.compare(Channel::In, &ask("1"), &ask("a")), []);
    assert_eq!(comparer.compare(Channel::Out, &ask("1"), &ask("b")), []);
    assert_eq!(comparer.compare(Channel::Out, &answer("1"), &answer("a")), []);
    assert_eq!(comparer.compare(Channel::In, &answer("1"), &answer("b")), []);
    assert_eq!(comparer.compare(Channel::In, &answer("1"), &answer("a")).len(), 1);
}

#[test]
fn times_may_be_others_of_the_same_type() {
    same(&json!({"duration_ms": 5}), &json!({"duration_ms": 7.5}));
    same(&json!({"timestamp": "2026-11-15T23:35:25.122Z"}), &json!({"timestamp": "x"}));
    same(&json!({"x": "2026-11-15T23:35:25.122Z"}), &json!({"x": "2026-11-15T23:35:26Z"}));
    same(&json!({"pid": 5}), &json!({"pid": 7}));
    other(&json!({"duration_ms": 5}), &json!({"duration_ms": "5"}), "duration_ms");
    other(&json!({"duration_ms": 5}), &json!({"duration_ms": null}), "duration_ms");
    other(&json!({"duration_ms": 5}), &json!({}), "duration_ms");
    other(&json!({"timeout_ms": 5}), &json!({"timeout_ms": 6}), "timeout_ms");
}

#[test]
fn the_input_of_a_tool_means_what_it_says() {
    let call = |input: Value| json!({"type": "tool_use", "id": "t", "input": input});
    for (left, right, path) in [
        (json!({"duration_ms": 1}), json!({"duration_ms": 2}), "input.duration_ms"),
        (json!({"at": "2026-11-15T23:35:25Z"}), json!({"at": "2026-11-15T23:35:26Z"}), "input.at"),
        (json!({"session_id": "a"}), json!({"session_id": "b"}), "input.session_id"),
    ] {
        other(&call(left), &call(right), path);
    }
    // Ids are ids there, too: a tool is told which task it is to stop.
    same(&call(json!({"x": A})), &call(json!({"x": B})));
    // The input of a hook is made by the CLI.
    let hook = |ms| json!({"subtype": "hook_callback", "input": {"duration_ms": ms}});
    same(&hook(1), &hook(2));
}

#[test]
fn everything_else_means_what_it_says() {
    same(&json!({"a": 1, "b": 2.50}), &json!({"b": 2.5, "a": 1.0}));
    other(&json!({"a": "x"}), &json!({"a": "y"}), "a");
    other(&json!({"a": 1}), &json!({"a": true}), "a");
    other(&json!({"a": null}), &json!({}), "a");
    other(&json!({"a": {"b/c": [1]}}), &json!({"a": {"b/c": [2]}}), r#"a["b/c"][0]"#);
    other(&json!({"a": 9007199254740993_u64}), &json!({"a": 9007199254740992_u64}), "a");
    other(&json!([1]), &json!([2]), "[0]");
    other(&json!("a"), &json!("b"), "");
    other(&json!({"request_id": ""}), &json!({"request_id": "1"}), "request_id");
    assert_eq!(differ(Channel::Out, &json!({"a": 1}), &json!({})), [("a".into(), Why::OnlyLeft)]);
    assert_eq!(differ(Channel::Out, &json!({}), &json!({"a": 1})), [("a".into(), Why::OnlyRight)]);
}

#[test]
fn what_is_put_into_a_list_does_not_change_its_neighbours() {
    let tools = |tools: &[&str]| json!({"tools": tools});
    other(&tools(&["a", "b", "c", "d"]), &tools(&["a", "x", "b", "c", "d"]), "tools[1]");
    other(&tools(&["a", "b"]), &tools(&["b"]), "tools[0]");
    other(&tools(&[]), &tools(&["b"]), "tools[0]");
    let ids = |ids: &[&str]| json!({"list": ids.iter().map(|id| json!({"uuid": id, "n": 1})).collect::<Vec<_>>()});
    other(&ids(&[A]), &ids(&[A, B]), "list[1]");
}

#[test]
fn what_a_client_says_about_the_session_means_nothing() {
    let user = |more: Value| {
        let mut user = json!({"type": "user", "message": {"role": "user", "content": "hi"}});
        user.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        user
    };
    let bare = user(json!({}));
    let full = user(json!({"session_id": "default", "parent_tool_use_id": null}));
    assert_eq!(differ(Channel::In, &bare, &full), []);
    assert_eq!(differ(Channel::In, &full, &bare), []);
    let child = user(json!({"parent_tool_use_id": "t1"}));
    assert_eq!(differ(Channel::In, &bare, &child), [("parent_tool_use_id".into(), Why::OnlyRight)]);
    // From the CLI it is another matter.
    assert_eq!(differ(Channel::Out, &bare, &full).len(), 2);
}

#[test]
fn paths_stand_for_each_other_within_texts() {
    let frame = |cwd: &str, dashed: &str| json!({"cwd": cwd, "text": format!("wrote {cwd}/a.txt"), "log": format!("/x/{dashed}/{A}.jsonl")});
    let left = frame("/home/dev/proj", "-home-dev-proj");
    let right = frame("/var/tmp/.x1", "-var-tmp--x1");
    let compare = |right: &Value| {
        let mut comparer =
            Comparer::new(Rules::new()).with_path("cwd", "/home/dev/proj", "/var/tmp/.x1");
        comparer.compare(Channel::Out, &left, right).len()
    };
    assert_eq!(compare(&right), 0);
    assert_eq!(compare(&frame("/var/tmp/.x2", "-var-tmp--x2")), 3);
}

#[test]
fn a_placeholder_stands_for_any_text_but_always_the_same() {
    let frame = |key: &str, home: &str| json!({"a": key, "b": format!("Bearer {key}; {A}"), "cwd": format!("{home}/p"), "c": home});
    let redacted = frame("redacted-api-key-1", "/home/user-1");
    same(&redacted, &frame("sk-ant-\"x", "/home/alice"));
    same(&redacted, &frame("redacted-api-key-7", "/home/user-3"));
    let mut wrong = frame("sk-1", "/home/alice");
    wrong["b"] = json!(format!("Bearer sk-2; {A}"));
    other(&redacted, &wrong, "b");
    wrong["b"] = json!(format!("Basic sk-1; {A}"));
    other(&redacted, &wrong, "b");
    // A number is redacted to a text.
    let port = |port: Value| json!({"a": &port, "b": &port});
    same(&port(json!("redacted-number-1")), &port(json!(8080)));
    other(&port(json!("redacted-number-1")), &json!({"a": 8080, "b": 8081}), "b");
    // Whoever has but one key may use it for two that were recorded.
    same(
        &json!({"a": "redacted-api-key-1", "b": "redacted-api-key-2"}),
        &json!({"a": "key", "b": "key"}),
    );
}

#[test]
fn rules_of_the_caller_come_first() {
    let rules = || {
        Rules::new()
            .with("**.usage.*", Treat::Ignore)
            .and_then(|rules| rules.with("result:ticket", Treat::Id))
            .and_then(|rules| rules.with("load", Treat::Any))
            .and_then(|rules| rules.with("uuid", Treat::Exact))
            .unwrap()
    };
    let frame = |n: u64, ticket: &str, uuid: &str| {
        json!({"type": "result", "usage": {"input_tokens": n}, "ticket": ticket, "again": {"ticket": "x"},
            "load": n, "uuid": uuid})
    };
    let compare = |left: &Value, right: &Value| {
        let found = Comparer::new(rules()).compare(Channel::Out, left, right);
        found.into_iter().map(|found| found.path.to_string()).collect::<Vec<_>>()
    };
    assert!(compare(&frame(1, "a", A), &frame(2, "b", A)).is_empty());
    assert_eq!(compare(&frame(1, "a", A), &frame(1, "a", B)), ["uuid"]);
    let mut other = frame(1, "a", A);
    other["load"] = json!("1");
    other["usage"] = json!({});
    assert_eq!(compare(&frame(1, "a", A), &other), ["load"]);
}

#[test]
fn a_pair_that_did_not_belong_together_leaves_no_trace() {
    let mut comparer = Comparer::new(Rules::new());
    let frame = |id: &str, text: &str| json!({"uuid": id, "text": text});
    assert_eq!(comparer.try_compare(Channel::In, &frame(A, "x"), &frame(B, "y")).len(), 1);
    assert_eq!(comparer.try_compare(Channel::In, &frame(A, "x"), &frame(C, "x")), []);
    assert_eq!(comparer.try_compare(Channel::In, &frame(A, "x"), &frame(B, "x")).len(), 1);
}

#[test]
fn a_difference_can_be_read() {
    let long = "word ".repeat(100);
    let found = Comparer::new(Rules::new()).compare(
        Channel::Out,
        &json!({"a": format!("{long}left"), "b": 1, "u": A, "v": A}),
        &json!({"a": format!("{long}right"), "u": B, "v": C}),
    );
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "a:\n  - …word word word word word word word word left\"\n  + …word word word word word word word word right\"".to_owned(),
            "b:\n  - 1".to_owned(),
            format!("v: (an id that stood for another one before)\n  - \"{A}\"\n  + \"{C}\""),
        ]
    );
}

#[test]
fn the_canonical_form_numbers_ids_in_the_order_in_which_they_appear() {
    let mut canonical = Canonical::new(Rules::new()).with_path("cwd", "/w");
    let first = json!({
        "type": "assistant", "session_id": A, "uuid": B, "request_id": "req_011CabcdEFGH",
        "message": {"role": "assistant", "id": "msg_1",
            "content": [{"type": "tool_use", "id": "toolu_01AbCdEfGhIj", "input": {"file": "/w/a"}}]},
        "timestamp": "2026-11-15T23:35:25Z",
    });
    assert_eq!(
        canonical.frame(Channel::Out, &first),
        json!({
            "type": "assistant", "session_id": "$session1", "uuid": "$uuid1",
            "request_id": "$request1",
            "message": {"role": "assistant", "id": "$message1",
                "content": [{"type": "tool_use", "id": "$tool1", "input": {"file": "$cwd/a"}}]},
            "timestamp": "$time",
        })
    );
    let second = json!({"type": "user", "uuid": C, "parent": B, "key": "redacted-api-key-4", "tool_use_id": "toolu_01AbCdEfGhIj"});
    assert_eq!(
        canonical.frame(Channel::Out, &second),
        json!({"type": "user", "uuid": "$uuid2", "parent": "$uuid1", "key": "$redacted1", "tool_use_id": "$tool1"})
    );
}

/// A conversation as another run would have it: all ids renamed, all times changed. This knows
/// the variables of the recordings by lists of its own.
pub(crate) fn rerun(conversation: &Conversation, seed: u64) -> Conversation {
    let mut run = Rerun { seed, names: HashMap::new() };
    for (_, frame) in &conversation.frames {
        run.name_short_ids(frame);
    }
    let mut other = conversation.clone();
    for (_, frame) in &mut other.frames {
        *frame = serde_json::from_str(&run.rename(&frame.to_string())).unwrap();
        change_times(frame, seed, false);
    }
    other
}

/// Ids that have a form, and words that may be ids without one.
static FORMS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        r"|\b(?:toolu|msg|req)_[0-9a-f]{16,20}\b|\b[a-z0-9-]{6,20}\b",
    ))
    .unwrap()
});

struct Rerun {
    seed: u64,
    /// Ids that have no form of their own.
    names: HashMap<String, String>,
}

impl Rerun {
    /// An id like another one: each digit and letter turned by an amount that depends on the id.
    fn turned(&self, id: &str) -> String {
        let mut state = id.bytes().fold(self.seed | 1, |state, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        });
        id.chars()
            .map(|c| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let digit = u8::try_from((state >> 40) % 10).unwrap();
                if c.is_ascii_digit() { char::from(b'0' + digit) } else { c }
            })
            .collect()
    }

    fn name_short_ids(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, field) in fields {
                    if let ("task_id" | "backgroundTaskId" | "agent_id" | "request_id", Some(id)) =
                        (key.as_str(), field.as_str())
                        && !id.is_empty()
                        && !id.contains("_")
                        && id.len() < 36
                    {
                        let name = self.turned(id);
                        self.names.insert(id.to_owned(), name);
                    }
                    self.name_short_ids(field);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.name_short_ids(item)),
            _ => {}
        }
    }

    fn rename(&self, text: &str) -> String {
        FORMS
            .replace_all(text, |found: &regex::Captures<'_>| {
                let id = &found[0];
                if id.len() == 36 || id.contains('_') {
                    return self.turned(id);
                }
                self.names.get(id).cloned().unwrap_or_else(|| id.to_owned())
            })
            .into_owned()
    }
}

const TIMES: [&str; 22] = [
    "duration_ms",
    "durationMs",
    "duration_api_ms",
    "durationSeconds",
    "ttft_ms",
    "ttft_stream_ms",
    "time_to_request_ms",
    "request_sent_wall_ms",
    "first_content_frame_ms",
    "retry_delay_ms",
    "retryInMs",
    "timestamp",
    "end_time",
    "startTime",
    "backupTime",
    "totalAPIDuration",
    "totalDuration",
    "totalToolDuration",
    "totalDurationMs",
    "total_duration_ms",
    "pid",
    "scheduledFor",
];

fn change_times(value: &mut Value, seed: u64, said: bool) {
    match value {
        Value::Object(fields) => {
            let hook = fields.get("subtype").is_some_and(|subtype| subtype == "hook_callback");
            for (key, field) in fields {
                let said = said
                    || matches!(key.as_str(), "tool_input" | "updatedInput")
                    || (key == "input" && !hook);
                if TIMES.contains(&key.as_str()) && !said {
                    match field {
                        Value::Number(number) => {
                            *field = json!(
                                number.as_f64().unwrap()
                                    + f64::from(u32::try_from(seed % 1000).unwrap())
                            );
                        }
                        Value::String(text) => {
                            *text = format!("2031-01-0{}T00:00:00Z", seed % 9 + 1);
                        }
                        _ => {}
                    }
                }
                change_times(field, seed, said);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change_times(item, seed, said)),
        _ => {}
    }
}

/// All places at which something is said, with the index of the frame.
fn sayings(conversation: &Conversation) -> Vec<(usize, String)> {
    fn walk(value: &Value, pointer: &str, key: &str, found: &mut Vec<String>) {
        let lower = key.to_lowercase();
        let variable = TIMES.contains(&key)
            || ["id", "uuid", "_ms", "duration", "time"].iter().any(|part| lower.contains(part))
            || lower.ends_with("ms")
            // It is named for the number of the process.
            || key == "messaging_socket_path";
        match value {
            Value::Object(fields) => {
                for (key, field) in fields {
                    let step = key.replace('~', "~0").replace('/', "~1");
                    walk(field, &format!("{pointer}/{step}"), key, found);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    walk(item, &format!("{pointer}/{index}"), key, found);
                }
            }
            Value::Null => {}
            _ if variable => {}
            _ => found.push(pointer.to_owned()),
        }
    }
    let mut all = Vec::new();
    for (index, (_, frame)) in conversation.frames.iter().enumerate() {
        let mut found = Vec::new();
        walk(frame, "", "", &mut found);
        all.extend(found.into_iter().map(|pointer| (index, pointer)));
    }
    all
}

/// A pointer (`/a/0/b`) as a path (`a[0].b`), as far as the keys of the recordings need it.
fn path(frame: &Value, pointer: &str) -> String {
    let mut path = String::new();
    let mut at = frame;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let plain = step.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        path = match (at.is_array(), plain) {
            (true, _) => format!("{path}[{step}]"),
            (false, true) if path.is_empty() => step.clone(),
            (false, true) => format!("{path}.{step}"),
            (false, false) => format!("{path}[{step:?}]"),
        };
        at = match at {
            Value::Array(items) => &items[step.parse::<usize>().unwrap()],
            other => &other[&step],
        };
    }
    path
}

fn change(value: &mut Value) {
    match value {
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) => *value = json!(number.as_f64().unwrap() + 1.0),
        Value::String(text) => text.push_str(" and more"),
        other => *other = json!("something"),
    }
}

#[test]
fn every_recording_is_the_same_with_other_ids_and_times() {
    for conversation in conversations::all() {
        let other = rerun(conversation, 0x5EED);
        let mut comparer = Comparer::new(Rules::new());
        let (mut left_form, mut right_form) =
            (Canonical::new(Rules::new()), Canonical::new(Rules::new()));
        assert_ne!(conversation.frames, other.frames, "{}", conversation.name);
        for ((channel, left), (_, right)) in conversation.frames.iter().zip(&other.frames) {
            let found = comparer.compare(*channel, left, right);
            assert!(
                found.is_empty(),
                "{} {}: {}",
                conversation.version,
                conversation.name,
                found[0]
            );
            assert_eq!(left_form.frame(*channel, left), right_form.frame(*channel, right));
        }
    }
}

/// Any JSON, with keys and texts that mean something here among others.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just(A.to_owned()),
        Just("toolu_01AbCdEfGhIj".to_owned()),
        Just("redacted-api-key-1".to_owned()),
        Just("2026-11-15T23:35:25Z".to_owned()),
        Just("/home/dev/proj".to_owned()),
        Just("duration_ms: ".to_owned()),
        Just("/plans/".to_owned()),
        "\\PC{0,6}",
    ];
    let text = prop::collection::vec(word, 0..5).prop_map(|words| words.concat());
    let key = prop_oneof![
        Just("type".to_owned()),
        Just("uuid".to_owned()),
        Just("request_id".to_owned()),
        Just("input".to_owned()),
        Just("duration_ms".to_owned()),
        "\\PC{0,3}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn anything_says_the_same_as_itself(value in any_json(), other in any_json()) {
        let comparer = || Comparer::new(Rules::new()).with_path("cwd", "/home/dev/proj", "/home/dev/proj");
        for channel in [Channel::In, Channel::Out] {
            prop_assert_eq!(comparer().compare(channel, &value, &value), []);
            // Two things differ in one direction if they differ in the other.
            let there = comparer().compare(channel, &value, &other);
            let back = comparer().compare(channel, &other, &value);
            prop_assert_eq!(there.is_empty(), back.is_empty(), "{:?} {:?}", there, back);
            let form = |value| Canonical::new(Rules::new()).frame(channel, value);
            prop_assert_eq!(form(&value), form(&value));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_change_in_a_recording_is_found_where_it_is_and_nowhere_else(
        seed in any::<u64>(),
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
    ) {
        let conversation = which.get(conversations::all());
        let mut other = rerun(conversation, seed);
        let places = sayings(conversation);
        let (changed, pointer) = place.get(&places);
        change(other.frames[*changed].1.pointer_mut(pointer).unwrap());
        let expected = path(&conversation.frames[*changed].1, pointer);

        let mut comparer = Comparer::new(Rules::new());
        for (index, ((channel, left), (_, right))) in
            conversation.frames.iter().zip(&other.frames).enumerate()
        {
            let found = comparer.compare(*channel, left, right);
            let found: Vec<String> = found.iter().map(|found| found.path.as_str().to_owned()).collect();
            let expected = if index == *changed { vec![expected.clone()] } else { Vec::new() };
            prop_assert_eq!(found, expected, "{} frame {}", &conversation.name, index);
        }
    }
}
