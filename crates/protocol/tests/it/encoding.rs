//! Lines out of types.

use countersign_protocol::control::{ControlRequest, ControlResponse, Failure, Success};
use countersign_protocol::ids::{RequestId, ToolUseId};
use countersign_protocol::message::{Priority, UserMessage};
use countersign_protocol::permission::{
    AddDirectories, AddRules, Allow, Deny, PermissionMode, PermissionResult, PermissionRule,
    PermissionUpdate, RemoveDirectories, RemoveRules, ReplaceRules, RuleBehavior, SetMode,
    UpdateDestination,
};
use countersign_protocol::request::{ClientRequest, SetPermissionMode};
use countersign_protocol::{Decoded, EncodeError, Frame as _, Line, RawJson, ToCli, encode_line};

/// The frame is written so, and reads back as the same.
fn check(frame: impl Into<ToCli>, expect: &str) {
    let frame = frame.into();
    let line = frame.to_line().unwrap();
    assert_eq!(std::str::from_utf8(&line).unwrap(), format!("{expect}\n"));
    let parsed = Line::parse(line.strip_suffix(b"\n").unwrap()).unwrap();
    assert_eq!(parsed.decode::<ToCli>(), Decoded::Known(frame));
}

#[test]
fn user_messages() {
    check(
        UserMessage::prompt("hi").with_uuid("u1").with_priority(Priority::Now),
        r#"{"type":"user","message":{"role":"user","content":"hi"},"uuid":"u1","priority":"now"}"#,
    );
}

#[test]
fn control_requests() {
    let request = ClientRequest::from(SetPermissionMode::new(PermissionMode::Plan));
    check(
        ControlRequest::new("r1", request),
        r#"{"type":"control_request","request_id":"r1","request":{"subtype":"set_permission_mode","mode":"plan"}}"#,
    );
}

#[test]
fn answers() {
    let input: RawJson = r#"{ "command" : "ls" }"#.parse().unwrap();
    let update = PermissionUpdate::from(SetMode::new(
        PermissionMode::AcceptEdits,
        UpdateDestination::Session,
    ));
    let result = PermissionResult::from(Allow::new(input).with_updated_permissions([update]));
    let payload = RawJson::from_value(&result).unwrap();
    check(
        ControlResponse::new(Success::new("r1").with_response(payload)),
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{ "command" : "ls" },"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}}}"#,
    );
    let result = PermissionResult::from(
        Deny::new("no").with_interrupt(true).with_tool_use_id(ToolUseId::from("t1")),
    );
    check(
        ControlResponse::new(
            Success::new("r1").with_response(RawJson::from_value(&result).unwrap()),
        ),
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny","message":"no","interrupt":true,"toolUseID":"t1"}}}"#,
    );
    check(
        ControlResponse::new(Failure::new(RequestId::from("r1"), "cannot")),
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"cannot"}}"#,
    );
}

#[test]
fn all_six_permission_updates() {
    let rules = || vec![PermissionRule::new("Bash").with_rule_content("npm test:*")];
    let (behavior, place) = (RuleBehavior::Allow, UpdateDestination::LocalSettings);
    let updates: [PermissionUpdate; 6] = [
        AddRules::new(rules(), behavior.clone(), place.clone()).into(),
        ReplaceRules::new(rules(), behavior.clone(), place.clone()).into(),
        RemoveRules::new(rules(), behavior, place.clone()).into(),
        SetMode::new(PermissionMode::DontAsk, place.clone()).into(),
        AddDirectories::new(vec!["/a".to_owned()], place.clone()).into(),
        RemoveDirectories::new(vec!["/a".to_owned()], place).into(),
    ];
    let rules = r#""rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"localSettings"}"#;
    let expect = [
        format!(r#"{{"type":"addRules",{rules}"#),
        format!(r#"{{"type":"replaceRules",{rules}"#),
        format!(r#"{{"type":"removeRules",{rules}"#),
        r#"{"type":"setMode","mode":"dontAsk","destination":"localSettings"}"#.to_owned(),
        r#"{"type":"addDirectories","directories":["/a"],"destination":"localSettings"}"#
            .to_owned(),
        r#"{"type":"removeDirectories","directories":["/a"],"destination":"localSettings"}"#
            .to_owned(),
    ];
    for (update, expect) in updates.iter().zip(expect) {
        assert_eq!(serde_json::to_string(update).unwrap(), expect);
    }
}

#[test]
fn a_line_is_one_line_whatever_is_in_it() {
    let awkward = "a\nb\r\nc\u{2028}d\u{2029}e\u{85}\0";
    let line = ToCli::from(UserMessage::prompt(awkward)).to_line().unwrap();
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    let text = std::str::from_utf8(&line).unwrap();
    assert!(!text.contains(['\r', '\u{2028}', '\u{2029}']));
    let ToCli::User(read) = Line::parse(line.trim_ascii_end()).unwrap().decode().frame().unwrap()
    else {
        panic!()
    };
    assert_eq!(read.message.content, awkward.into());
    // Raw JSON that was laid out over several lines.
    let pretty: RawJson = "{\r\n  \"command\": \"a\\nb\"\n}".parse().unwrap();
    let line = encode_line(&Allow::new(pretty)).unwrap();
    assert_eq!(line.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count(), 1);
}

#[test]
fn what_is_not_an_object_is_not_sent() {
    for value in [serde_json::json!(null), serde_json::json!([1]), serde_json::json!("x")] {
        assert!(matches!(encode_line(&value), Err(EncodeError::NotAnObject)));
    }
}
