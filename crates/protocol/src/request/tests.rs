//! What holds for all requests, and what is special about some.

mod every_field;

use serde_json::{Value, json};

use super::*;
use crate::permission::PermissionMode;

/// A request with its fields, and its response, are read by types that name every field, and
/// come out as they went in.
fn check<C>(fields: &Value, response: &Value)
where
    C: Call + DeserializeOwned + Debug,
{
    let mut object = fields.as_object().unwrap().clone();
    object.insert("subtype".to_owned(), C::SUBTYPE.into());
    let wire = Value::from(object);
    let request: ClientRequest = serde_json::from_str(&wire.to_string()).unwrap();
    assert_eq!(request.name(), C::SUBTYPE);
    assert!(request.is_known());
    assert_named(&request);
    assert_eq!(serde_json::to_value(&request).unwrap(), wire);
    let typed: C = serde_json::from_str(&fields.to_string()).unwrap();
    assert_eq!(typed.into(), request, "{} is another variant", C::SUBTYPE);

    check_payload::<C>(response);
}

fn check_payload<C: Call>(payload: &Value) {
    let response = C::read_response(Some(&payload.clone().into())).unwrap();
    assert_named(&response);
    assert_eq!(&serde_json::to_value(&response).unwrap(), payload, "answer to {}", C::SUBTYPE);
}

fn assert_named(value: &impl Debug) {
    assert!(names_everything(value), "something is without a type: {value:?}");
}

/// Whether no `extra` anywhere in the value has a field, and nothing in it is an `Other`.
fn names_everything(value: &impl Debug) -> bool {
    let text = format!("{value:?}");
    !text.contains("fields: [(") && !text.contains("Other(")
}

fn check_value<T: DeserializeOwned + Serialize + Debug>(value: &Value) {
    let typed: T = serde_json::from_str(&value.to_string()).unwrap();
    assert_named(&typed);
    assert_eq!(&serde_json::to_value(&typed).unwrap(), value);
}

#[test]
fn requests_without_types_are_known() {
    let names = "get_memory_dialog get_skills_dialog get_sandbox_dialog get_chrome_dialog
        get_chrome_browsers select_chrome_browser set_chrome_browser_hints
        submit_survey_feedback claude_authenticate claude_oauth_callback
        claude_oauth_wait_for_completion channel_enable remote_control ultrareview_launch
        list_cloud_sessions get_cloud_session get_cloud_session_transcript list_directory
        start_shell_task send_task_message add_directory stage_file prefetch_attachments
        set_attached_project mcp_tasks_changed poll_event turn_handoff register_device_hooks
        upload_device_hook_template remote_tools_announce ui_attach ui_detach ui_render ui_press
        ui_input ui_select ui_panes ui_pane_show ui_pane_focus ui_close ui_scroll ui_focus
        ui_prompt_edit ui_prompt_autocomplete ui_client_module ui_client_press ui_message
        ui_client_fault";
    for name in names.split_whitespace() {
        let wire = json!({"subtype": name, "enabled": true});
        let request: ClientRequest = serde_json::from_str(&wire.to_string()).unwrap();
        assert!(request.is_known(), "{name}");
        assert!(matches!(&request, ClientRequest::Internal(named) if named.name() == name));
        assert_eq!(serde_json::to_value(&request).unwrap(), wire);
    }
    let unknown: ClientRequest = serde_json::from_str(r#"{"subtype":"new"}"#).unwrap();
    assert!(!unknown.is_known());
}

#[test]
fn null_can_be_sent_where_it_is_not_the_same_as_absent() {
    fn check<C>(request: &C, wire: &Value)
    where
        C: Call + DeserializeOwned + Debug + PartialEq,
    {
        assert_eq!(&serde_json::to_value(request).unwrap(), wire, "{}", C::SUBTYPE);
        let again: C = serde_json::from_str(&wire.to_string()).unwrap();
        assert_eq!(&again, request, "{} read again", C::SUBTYPE);
    }
    check(&SetMaxThinkingTokens::new(), &json!({}));
    check(&SetMaxThinkingTokens::reset(), &json!({"max_thinking_tokens": null}));
    check(
        &SetMaxThinkingTokens::new().with_max_thinking_tokens(1u64).reset_display(),
        &json!({"max_thinking_tokens": 1, "thinking_display": null}),
    );
    check(
        &SetMaxThinkingTokens::reset().reset_display(),
        &json!({"max_thinking_tokens": null, "thinking_display": null}),
    );
    check(&SetHasSubscribers::unknown(), &json!({"has_subscribers": null}));
    check(&SetMcpPermissionModeOverride::clear("s"), &json!({"serverName": "s", "mode": null}));
    check(&SetModel::reset(), &json!({}));
    let set_after_all = SetMaxThinkingTokens::reset().with_max_thinking_tokens(1u64);
    assert_eq!(serde_json::to_value(&set_after_all).unwrap(), json!({"max_thinking_tokens": 1}));
}

#[test]
fn a_payload_that_is_not_there_is_the_empty_object() {
    assert!(SetPermissionMode::read_response(None).unwrap().mode.is_none());
    assert!(Interrupt::read_response(None).unwrap().still_queued.is_none());
    assert_eq!(EndSession::read_response(None).unwrap(), Ack::new());
    // What every version answers with a payload is required.
    assert!(CancelAsyncMessage::read_response(None).is_err());
}

#[test]
fn constructors_write_what_the_cli_needs() {
    let servers = [
        ("a".to_owned(), McpServerConfig::stdio("c")),
        ("b".to_owned(), McpServerConfig::http("u")),
        ("d".to_owned(), McpServerConfig::sse("u")),
        ("e".to_owned(), McpServerConfig::sdk("e")),
    ];
    assert_eq!(
        serde_json::to_value(McpSetServers::new(servers)).unwrap(),
        json!({"servers": {
            "a": {"type": "stdio", "command": "c", "args": []},
            "b": {"type": "http", "url": "u"},
            "d": {"type": "sse", "url": "u"},
            "e": {"type": "sdk", "name": "e"},
        }}),
    );
    let bare: McpServerConfig = serde_json::from_str(r#"{"command":"c"}"#).unwrap();
    assert_eq!(bare.transport(), McpTransport::Stdio);
    assert_eq!(
        serde_json::to_value(SetPermissionMode::new(PermissionMode::Plan)).unwrap(),
        json!({"mode": "plan"}),
    );
    assert_eq!(
        serde_json::to_value(ApplyFlagSettings::new(RawJson::empty_object())).unwrap(),
        json!({"settings": {}}),
    );
}

#[test]
fn half_a_surrogate_pair_in_a_prompt_is_replaced() {
    let check = |json: &str, expect: SystemPrompt| {
        assert_eq!(serde_json::from_str::<SystemPrompt>(json).unwrap(), expect);
    };
    check(r#""a\ud800""#, SystemPrompt::Text("a\u{FFFD}".to_owned()));
    check(r#"["\udc00"]"#, SystemPrompt::Blocks(vec!["\u{FFFD}".to_owned()]));
}

#[test]
fn what_is_without_a_type_is_noticed() {
    let noticed =
        |json: &str| !names_everything(&serde_json::from_str::<ListModels>(json).unwrap());
    assert!(noticed(r#"{"new":1}"#));
    assert!(!noticed("{}"));
    assert!(!names_everything(&PermissionMode::from("new")));
}
