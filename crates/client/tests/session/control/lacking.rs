//! What a version does not have is not asked of it.

use countersign::ControlError;
use countersign::protocol::request::SettingsSource;
use libtest_mimic::Trial;
use serde_json::json;

use super::{OK, has, turn};
use crate::kit::{Cli, Outcome, V62, V325, builder, lab, on_real, soon};
use crate::recording;

pub(super) fn trials() -> Vec<Trial> {
    let trials = on_real("control::a_request_that_a_version_lacks_is_not_sent", V62, lacking);
    // The newest version lacks nothing.
    trials.into_iter().filter(|trial| !trial.name().ends_with(&V325.to_string())).collect()
}

async fn lacking(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let tape = lab.root().join("session.tape");
    let mut session = soon("the start", builder(&lab).record(&tape).connect()).await?;
    // The first turn tells the version.
    turn(&mut session, "Hello").await;
    let mut lacks = 0;
    macro_rules! try_each {
        ($($subtype:literal => $call:expr;)+) => {$(
            if !has(cli, $subtype) {
                let result = $call.await.map(drop);
                assert!(matches!(result, Err(ControlError::Unsupported(_))), "{result:?}");
                lacks += 1;
            }
        )+};
    }
    try_each! {
        "cancel_async_message" => session.cancel_message("x");
        "rename_session" => session.rename_session("x");
        "generate_session_title" => session.generate_session_title("x");
        "end_session" => session.end_session();
        "get_binary_version" => session.binary_version();
        "side_question" => session.side_question("x");
        "rewind_conversation" => session.rewind_conversation("x");
        "mcp_call" => session.call_mcp_tool("mcp__a__b", json!({}));
        "mcp_oauth_callback_url" => session.finish_mcp_authentication("x", "http://localhost/");
        "set_mcp_permission_mode_override" => session.override_mcp_permission_mode("x", None);
        "read_file" => session.read_file("x");
        "file_suggestions" => session.file_suggestions("x");
        "seed_read_state" => session.seed_read_state("x", std::time::SystemTime::UNIX_EPOCH);
        "register_repo_root" => session.register_repo_root("x");
        "get_settings" => session.settings();
        "reload_plugins" => session.reload_plugins();
        "reload_skills" => session.reload_skills();
        "get_context_usage" => session.context_usage();
        "get_usage" => session.usage();
        "get_session_cost" => session.session_cost();
        "background_tasks" => session.background_tasks();
        "set_cwd" => session.set_cwd("x");
        "get_status" => session.status();
        "set_has_subscribers" => session.set_has_subscribers(None);
        "get_plan" => session.plan();
        "export_conversation" => session.export_conversation();
        "set_prompt_suggestions_paused" => session.pause_prompt_suggestions(true);
        "list_models" => session.list_models();
        "mcp_read_resource" => session.read_mcp_resource("x", "ui://x");
        "get_workspace_diff" => session.workspace_diff();
        "update_settings" => session.update_settings(SettingsSource::Local, json!({}));
        "get_hooks_listing" => session.hooks_listing();
        "list_permission_rules" => session.permission_rules();
        "reload_output_styles" => session.reload_output_styles();
        "get_task_output" => session.task_output("x");
    }
    assert!(lacks > 0);
    let end = soon("the end", session.close()).await;
    assert!(end.still_running.is_empty(), "{end:?}");
    let said = recording::read(&tape).said;
    assert_eq!(said.len(), 2, "more than the handshake and the message was sent: {said:?}");
    lab.close().await?;
    Ok(())
}
