//! Lines out of types.

use std::collections::BTreeMap;

use countersign_protocol::ask::{CanUseTool, OauthTokenAnswer};
use countersign_protocol::control::{
    ControlCancelRequest, ControlRequest, ControlResponse, Success,
};
use countersign_protocol::event::KeepAlive;
use countersign_protocol::hook::{HookEvent, HookMatcher};
use countersign_protocol::ids::{HookCallbackId, RequestId, ToolUseId};
use countersign_protocol::message::{Priority, UserMessage};
use countersign_protocol::permission::{
    Allow, Deny, DirectoriesUpdate, PermissionMode, PermissionResult, PermissionRule,
    PermissionUpdate, RuleBehavior, RulesUpdate, SetMode, UpdateDestination,
};
use countersign_protocol::request::{
    ClientRequest, Initialize, SetMaxThinkingTokens, SetPermissionMode,
};
use countersign_protocol::{
    BashCommand, Decoded, EncodeError, Frame as _, Line, MAX_DEPTH, Named, RawJson, ToCli,
    UpdateEnvironmentVariables, encode_line,
};

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
        ControlResponse::refusal(RequestId::from("r1"), "cannot"),
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"cannot"}}"#,
    );
}

#[test]
fn all_six_permission_updates() {
    let rules = || vec![PermissionRule::new("Bash").with_rule_content("npm test:*")];
    let folders = || vec!["/a".to_owned()];
    let (behavior, place) = (RuleBehavior::Allow, UpdateDestination::LocalSettings);
    let updates = [
        PermissionUpdate::AddRules(RulesUpdate::new(rules(), behavior.clone(), place.clone())),
        PermissionUpdate::ReplaceRules(RulesUpdate::new(rules(), behavior.clone(), place.clone())),
        PermissionUpdate::RemoveRules(RulesUpdate::new(rules(), behavior, place.clone())),
        PermissionUpdate::SetMode(SetMode::new(PermissionMode::DontAsk, place.clone())),
        PermissionUpdate::AddDirectories(DirectoriesUpdate::new(folders(), place.clone())),
        PermissionUpdate::RemoveDirectories(DirectoriesUpdate::new(folders(), place)),
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
fn the_other_frames() {
    check(
        ControlCancelRequest::new("r1"),
        r#"{"type":"control_cancel_request","request_id":"r1"}"#,
    );
    check(KeepAlive::new(), r#"{"type":"keep_alive"}"#);
    check(
        BashCommand::new("ls").with_cwd("/"),
        r#"{"type":"bash_command","command":"ls","cwd":"/"}"#,
    );
    let variables = BTreeMap::from([("A".to_owned(), "b".to_owned())]);
    check(
        UpdateEnvironmentVariables::new(variables).with_request_id("r1"),
        r#"{"type":"update_environment_variables","variables":{"A":"b"},"request_id":"r1"}"#,
    );
    check(ToCli::Internal(Named::new("session_notice")), r#"{"type":"session_notice"}"#);
}

#[test]
fn hooks_are_registered_by_event() {
    let matcher = HookMatcher::new(vec![HookCallbackId::from("gate")]);
    let hooks = BTreeMap::from([(HookEvent::PreToolUse, vec![matcher])]);
    check(
        ControlRequest::new("r1", ClientRequest::from(Initialize::new().with_hooks(hooks))),
        r#"{"type":"control_request","request_id":"r1","request":{"subtype":"initialize","hooks":{"PreToolUse":[{"hookCallbackIds":["gate"]}]}}}"#,
    );
}

#[test]
fn null_where_it_means_something() {
    let check = |answer: String, expect: &str| assert_eq!(answer, expect);
    let answer = OauthTokenAnswer::new().with_access_token_null().with_reason("signed_out");
    check(serde_json::to_string(&answer).unwrap(), r#"{"accessToken":null,"reason":"signed_out"}"#);
    check(
        serde_json::to_string(&ClientRequest::from(SetMaxThinkingTokens::reset())).unwrap(),
        r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null}"#,
    );
}

/// Two ways around the types that would end the CLI, or mean two things at once.
#[test]
fn what_has_a_type_is_not_written_around_it() {
    assert!(ToCli::Other(Named::new("user")).to_line().is_err());
    assert!(ToCli::Other(Named::new("never_heard_of")).to_line().is_ok());
    let mut named = Named::new("never_heard_of");
    named.fields.insert("type", RawJson::from_value("user").unwrap());
    assert!(ToCli::Other(named).to_line().is_err());
    let mut message = UserMessage::prompt("hi");
    message.extra.insert("message", RawJson::from_value("other").unwrap());
    assert!(ToCli::from(message).to_line().is_err());
}

#[test]
fn the_deepest_input_that_is_read_can_be_allowed() {
    let input: RawJson = ("[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH)).parse().unwrap();
    let answer = PermissionResult::from(Allow::new(input.clone()));
    let response = ControlResponse::answer::<CanUseTool>("r1", &answer).unwrap();
    let line = ToCli::from(response).to_line().unwrap();
    assert!(std::str::from_utf8(&line).unwrap().contains(input.as_str()));
}

#[test]
fn what_is_not_an_object_is_not_sent() {
    for value in [serde_json::json!(null), serde_json::json!([1]), serde_json::json!("x")] {
        assert!(matches!(encode_line(&value), Err(EncodeError::NotAnObject)));
    }
}
