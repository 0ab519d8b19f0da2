//! Every line of every recording, in every version.

use std::collections::{BTreeMap, BTreeSet};

use countersign_protocol::{Decoded, Frame, FromCli, Line, ToCli};
use serde_json::Value;

use crate::recordings::{Recorded, Side, all};

/// Kinds that experiments sent on purpose and that the protocol does not have.
const MADE_UP: [&str; 4] = [
    "control_request/supported_commands",
    "control_request/supported_models",
    "control_request/unknown_subtype_xyz",
    "control_response/allow",
];

#[test]
fn every_line_comes_back_as_it_was() {
    for recorded in all() {
        match recorded.side {
            Side::Cli => check::<FromCli>(&recorded),
            Side::Client => check::<ToCli>(&recorded),
        }
    }
}

fn check<F: Frame>(recorded: &Recorded) {
    let place = &recorded.place;
    let bytes = recorded.line.as_bytes();
    let line = Line::parse(bytes).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(line.bytes(), bytes, "{place}: the raw form");
    let kind = line.kind().to_string();
    let frame = match line.decode::<F>() {
        Decoded::Known(frame) => frame,
        Decoded::Unknown(frame) => {
            assert!(MADE_UP.contains(&&*kind), "{place}: {kind} is unknown");
            frame
        }
        Decoded::Malformed(malformed) => panic!("{place}: {malformed}"),
    };
    // The envelope reads no more than it needs, and says the same as the frame.
    assert_eq!(frame.kind().frame, line.kind().frame, "{place}");
    if line.kind().subtype.is_some() {
        assert_eq!(frame.kind(), line.kind(), "{place}");
    }
    let written = frame.to_line().unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&written).unwrap(),
        serde_json::from_slice::<Value>(bytes).unwrap(),
        "{place}: {kind} from types"
    );
    let again = written.strip_suffix(b"\n").unwrap();
    let line = Line::parse(again).unwrap();
    assert_eq!(line.decode::<F>().frame().unwrap(), frame, "{place}: {kind} read again");
}

#[test]
fn every_version_and_the_common_kinds_are_there() {
    let mut kinds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for recorded in all() {
        let line = Line::parse(recorded.line.as_bytes()).unwrap();
        kinds.entry(recorded.version.clone()).or_default().insert(line.kind().to_string());
    }
    let versions: Vec<_> = kinds.keys().map(String::as_str).collect();
    assert_eq!(
        versions,
        [
            "2.0.76", "2.1.120", "2.1.17", "2.1.19", "2.1.197", "2.1.20", "2.1.250", "2.1.325",
            "2.1.62"
        ]
    );
    for (version, kinds) in &kinds {
        for kind in [
            "assistant",
            "user",
            "result/success",
            "system/init",
            "control_request/initialize",
            "control_response/success",
        ] {
            assert!(kinds.contains(kind), "{version} has no {kind}");
        }
    }
    for kind in [
        "attachment",
        "command_lifecycle",
        "control_cancel_request",
        "control_request/can_use_tool",
        "control_request/hook_callback",
        "control_request/mcp_message",
        "control_response/error",
        "conversation_reset",
        "progress",
        "prompt_suggestion",
        "result/error_during_execution",
        "result/error_max_budget_usd",
        "result/error_max_turns",
        "stream_event",
        "system/api_retry",
        "system/background_tasks_changed",
        "system/commands_changed",
        "system/compact_boundary",
        "system/hook_response",
        "system/permission_denied",
        "system/session_state_changed",
        "system/status",
        "system/task_notification",
        "system/thinking_tokens",
        "transcript_mirror",
        "update_environment_variables",
    ] {
        assert!(kinds.values().any(|kinds| kinds.contains(kind)), "no version has {kind}");
    }
}

/// Fields that a type does not name are found in its `extra`, so what newer versions add shows.
#[test]
fn untyped_fields_can_be_reached() {
    let named = all().into_iter().find_map(|recorded| {
        let line = Line::parse(recorded.line.as_bytes()).unwrap();
        match line.decode::<FromCli>() {
            Decoded::Known(FromCli::Result(result)) if recorded.version == "2.1.325" => {
                result.extra.get("subagent_stats").cloned()
            }
            _ => None,
        }
    });
    let stats: Value = named.expect("2.1.325 sends subagent_stats").decode().unwrap();
    assert!(stats["spawned"].is_u64(), "{stats}");
}
