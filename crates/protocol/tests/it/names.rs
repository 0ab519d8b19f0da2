//! Every kind that the protocol lists is known, by name.

use countersign_protocol::content::ContentBlock;
use countersign_protocol::hook::{HookEvent, HookInput};
use countersign_protocol::message::{BlockDelta, MessageOrigin, StreamEvent};
use countersign_protocol::request::ClientRequest;
use countersign_protocol::system::SystemMessage;
use countersign_protocol::{Decoded, Frame, FromCli, Line, ToCli};

/// Known, whether or not an object that has nothing but its name is well formed.
fn check<F: Frame>(line: &str) {
    let line = Line::parse(line.as_bytes()).unwrap();
    assert!(!matches!(line.decode::<F>(), Decoded::Unknown(_)), "{} is unknown", line.kind());
}

fn each<F: Frame>(names: &str, line: impl Fn(&str) -> String) {
    for name in names.split_whitespace() {
        check::<F>(&line(name));
    }
    let unheard_of = line("never_heard_of");
    let line = Line::parse(unheard_of.as_bytes()).unwrap();
    assert!(!matches!(line.decode::<F>(), Decoded::Known(_)), "anything is known");
}

#[test]
fn frames_of_the_cli() {
    each::<FromCli>(
        "assistant user result system stream_event tool_progress tool_use_summary auth_status
         rate_limit_event prompt_suggestion conversation_reset active_goal control_request
         control_response control_cancel_request keep_alive transcript_mirror command_lifecycle
         autocompact_state attachment progress",
        |name| format!(r#"{{"type":"{name}"}}"#),
    );
}

#[test]
fn frames_of_a_client() {
    each::<ToCli>(
        "user control_request control_response control_cancel_request keep_alive
         update_environment_variables assistant system bash_command queued_notification
         session_notice workflow_launch",
        |name| format!(r#"{{"type":"{name}"}}"#),
    );
}

#[test]
fn system_subtypes() {
    each::<FromCli>(
        "init status compact_boundary api_retry control_request_progress model_refusal_fallback
         model_refusal_no_fallback model_fallback local_command_output hook_started hook_progress
         hook_response plugin_install task_started task_progress task_updated task_notification
         background_tasks_changed thinking_tokens session_state_changed worker_shutting_down
         commands_changed notification files_persisted memory_recall elicitation_complete
         permission_denied mirror_error informational session_writes_lost session_title_changed
         post_turn_summary task_summary session_metadata permission_check_status
         code_change_published vcs_state_changed turn_preempted per_turn_effort_changed
         instruction_size_warning file_attachments_missing peer_message_hold
         feedback_draft_queued dev_intent inherited_asks_settled turn_handoff_available
         cloud_session_delta ui_invalidate ui_log ui_notify ui_notify_cancel ui_toast ui_status
         ui_placed ui_panes ui_scroll ui_focus",
        |name| format!(r#"{{"type":"system","subtype":"{name}"}}"#),
    );
}

fn request(name: &str) -> String {
    format!(r#"{{"type":"control_request","request_id":"1","request":{{"subtype":"{name}"}}}}"#)
}

#[test]
fn requests_of_the_cli() {
    each::<FromCli>(
        "can_use_tool hook_callback mcp_message elicitation request_user_dialog
         oauth_token_refresh host_auth_token_refresh remote_control_work_secret remote_tool_call
         remote_plumbing_call remote_tools_probe remote_tools_reannounce ui_copy ui_prompt_read
         ui_prompt_fill ui_prompt_paint ui_prompt_suggest ui_read_selection",
        request,
    );
}

#[test]
fn requests_of_a_client() {
    each::<ToCli>(
        "initialize interrupt set_permission_mode set_model set_max_thinking_tokens
         rename_session set_color mcp_status get_context_usage get_session_cost list_models
         get_usage get_binary_version mcp_call file_suggestions rewind_files
         cancel_async_message read_file seed_read_state mcp_set_servers register_repo_root
         reload_plugins reload_skills reload_output_styles mcp_reconnect mcp_toggle
         mcp_read_resource set_has_subscribers stop_task background_tasks get_task_output
         apply_flag_settings get_settings get_hooks_listing update_settings
         list_permission_rules mcp_message",
        request,
    );
}

#[test]
fn requests_of_a_client_outside_the_public_types() {
    each::<ToCli>(
        "set_mcp_permission_mode_override end_session side_question generate_session_title
         get_plan rewind_conversation fork_conversation get_status export_conversation
         get_workspace_diff get_memory_dialog get_skills_dialog get_sandbox_dialog
         get_chrome_dialog get_chrome_browsers select_chrome_browser set_chrome_browser_hints
         set_cwd claim_session set_prompt_suggestions_paused message_rated submit_feedback
         submit_survey_feedback set_proactivity_level mcp_authenticate mcp_oauth_callback_url
         mcp_clear_auth claude_authenticate claude_oauth_callback
         claude_oauth_wait_for_completion channel_enable remote_control ultrareview_launch
         list_cloud_sessions get_cloud_session get_cloud_session_transcript list_directory
         start_shell_task send_task_message add_directory stage_file prefetch_attachments
         set_attached_project mcp_tasks_changed poll_event turn_handoff register_device_hooks
         upload_device_hook_template remote_tools_announce ui_attach ui_detach ui_render
         ui_press ui_input ui_select ui_panes ui_pane_show ui_pane_focus ui_close ui_scroll
         ui_focus ui_prompt_edit ui_prompt_autocomplete ui_client_module ui_client_press
         ui_message ui_client_fault",
        request,
    );
}

#[test]
fn responses() {
    let response =
        |name: &str| format!(r#"{{"type":"control_response","response":{{"subtype":"{name}"}}}}"#);
    each::<FromCli>("success error", response);
    each::<ToCli>("success error", response);
}

/// The same for what is inside frames: known, or not well formed.
fn each_inside<T: serde::de::DeserializeOwned>(names: &str, tag: &str, known: impl Fn(&T) -> bool) {
    let decode = |name: &str| serde_json::from_str::<T>(&format!(r#"{{"{tag}":"{name}"}}"#));
    for name in names.split_whitespace() {
        assert!(decode(name).as_ref().map_or(true, &known), "{name} is unknown");
    }
    assert!(!known(&decode("never_heard_of").unwrap()));
}

#[test]
fn content_blocks() {
    each_inside(
        "text tool_use tool_result thinking redacted_thinking image document search_result
         server_tool_use web_search_tool_result web_fetch_tool_result advisor_tool_result
         code_execution_tool_result bash_code_execution_tool_result
         text_editor_code_execution_tool_result tool_search_tool_result mcp_tool_use
         mcp_tool_result container_upload compaction fallback",
        "type",
        ContentBlock::is_known,
    );
}

#[test]
fn stream_events_and_deltas() {
    each_inside(
        "message_start content_block_start content_block_delta content_block_stop message_delta
         message_stop ping error",
        "type",
        StreamEvent::is_known,
    );
    each_inside(
        "text_delta input_json_delta thinking_delta signature_delta citations_delta",
        "type",
        BlockDelta::is_known,
    );
}

#[test]
fn origins_and_hook_events() {
    each_inside(
        "human channel peer task-notification coordinator unclassified observer
         auto-continuation observer-activity voice-call",
        "kind",
        MessageOrigin::is_known,
    );
    each_inside(
        "PreToolUse PostToolUse PostToolUseFailure PostToolBatch PermissionRequest
         PermissionDenied Notification UserPromptSubmit UserPromptExpansion SessionStart
         SessionEnd Setup Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact
         PreModelSwitch PostModelSwitch TeammateIdle TaskCreated TaskCompleted Elicitation
         ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded
         CwdChanged FileChanged DirectoryAdded MessageDisplay",
        "hook_event_name",
        HookInput::is_known,
    );
}

#[test]
fn what_is_listed_as_known_is_known() {
    for name in FromCli::KNOWN {
        check::<FromCli>(&format!(r#"{{"type":"{name}"}}"#));
    }
    for name in SystemMessage::KNOWN {
        check::<FromCli>(&format!(r#"{{"type":"system","subtype":"{name}"}}"#));
    }
    assert!(ToCli::KNOWN.contains(&"bash_command"));
    assert!(ToCli::KNOWN.contains(&"session_notice"), "those without types are listed, too");
    assert!(ClientRequest::KNOWN.contains(&"list_models"));
    assert!(HookEvent::KNOWN.iter().all(|name| HookEvent::from(*name).is_known()));
    assert!(HookEvent::KNOWN.contains(&"PreToolUse"));
}
