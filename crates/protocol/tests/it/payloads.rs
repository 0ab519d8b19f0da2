//! What is inside control frames and tool calls, in every recording.

use std::collections::BTreeMap;

use countersign_protocol::ask::CliRequest;
use countersign_protocol::content::ContentBlock;
use countersign_protocol::control::{Response, pending_requests};
use countersign_protocol::hook::HookOutput;
use countersign_protocol::permission::PermissionResult;
use countersign_protocol::request::{
    ApplyFlagSettings, BackgroundTasks, Call, CancelAsyncMessage, ClientRequest, EndSession,
    ExportConversation, FileSuggestions, ForkConversation, GenerateSessionTitle, GetBinaryVersion,
    GetContextUsage, GetHooksListing, GetPlan, GetSessionCost, GetSettings, GetStatus, GetUsage,
    GetWorkspaceDiff, Initialize, Interrupt, ListModels, ListPermissionRules, McpMessage,
    McpSetServers, McpStatus, McpToggle, ReadFile, ReloadOutputStyles, ReloadPlugins, ReloadSkills,
    RenameSession, RewindConversation, RewindFiles, SeedReadState, SetCwd, SetHasSubscribers,
    SetMaxThinkingTokens, SetModel, SetPermissionMode, SetPromptSuggestionsPaused, SideQuestion,
    StopTask,
};
use countersign_protocol::tool::{ToolInput, ToolOutput};
use countersign_protocol::{FromCli, Line, RawJson, ToCli};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::recordings::{Recorded, Side, all};

fn from_cli(recorded: &Recorded) -> FromCli {
    Line::parse(recorded.line.as_bytes()).unwrap().decode().frame().unwrap()
}

fn to_cli(recorded: &Recorded) -> ToCli {
    Line::parse(recorded.line.as_bytes()).unwrap().decode().frame().unwrap()
}

/// The file of a place.
fn file(recorded: &Recorded) -> &str {
    recorded.place.rsplit_once(':').unwrap().0
}

fn same<T: Serialize>(typed: &T, raw: &RawJson) -> bool {
    serde_json::to_value(typed).unwrap() == raw.decode::<Value>().unwrap()
}

/// The answers to requests of the given subtype decode, and come back as they were.
fn check<C: Call>(subtype: &str, place: &str, payload: Option<&RawJson>) -> bool {
    if subtype != C::SUBTYPE {
        return false;
    }
    let response = C::read_response(payload).unwrap_or_else(|error| {
        panic!("{place}: answer to {subtype}: {error}");
    });
    if let Some(payload) = payload {
        assert!(same(&response, payload), "{place}: answer to {subtype} comes out changed");
    }
    true
}

/// [`check`] for one request.
type Check = fn(&str, &str, Option<&RawJson>) -> bool;

#[test]
fn answers_of_the_cli() {
    let checks: &[Check] = &[
        check::<ApplyFlagSettings>,
        check::<ExportConversation>,
        check::<ForkConversation>,
        check::<GetPlan>,
        check::<GetStatus>,
        check::<GetWorkspaceDiff>,
        check::<McpToggle>,
        check::<ReloadOutputStyles>,
        check::<RewindConversation>,
        check::<SetCwd>,
        check::<SetHasSubscribers>,
        check::<SetPromptSuggestionsPaused>,
        check::<BackgroundTasks>,
        check::<CancelAsyncMessage>,
        check::<EndSession>,
        check::<FileSuggestions>,
        check::<GenerateSessionTitle>,
        check::<GetBinaryVersion>,
        check::<GetContextUsage>,
        check::<GetHooksListing>,
        check::<GetSessionCost>,
        check::<GetSettings>,
        check::<GetUsage>,
        check::<Initialize>,
        check::<Interrupt>,
        check::<ListModels>,
        check::<ListPermissionRules>,
        check::<McpMessage>,
        check::<McpSetServers>,
        check::<McpStatus>,
        check::<ReadFile>,
        check::<ReloadPlugins>,
        check::<ReloadSkills>,
        check::<RenameSession>,
        check::<RewindFiles>,
        check::<SeedReadState>,
        check::<SetMaxThinkingTokens>,
        check::<SetModel>,
        check::<SetPermissionMode>,
        check::<SideQuestion>,
        check::<StopTask>,
    ];
    let mut requests = BTreeMap::new();
    let mut reattached = 0;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for recorded in all() {
        if recorded.side == Side::Client {
            if let ToCli::ControlRequest(request) = to_cli(&recorded) {
                // Only typed requests have typed answers.
                if !matches!(request.request, ClientRequest::Internal(_)) {
                    let id = (file(&recorded).to_owned(), request.request_id.clone());
                    requests.insert(id, request.request.name().to_owned());
                }
            }
            continue;
        }
        let FromCli::ControlResponse(response) = from_cli(&recorded) else { continue };
        let Response::Success(success) = response.response else { continue };
        for pending in
            pending_requests(success.pending_permission_requests.as_deref().unwrap_or_default())
        {
            assert!(matches!(pending.unwrap().request, CliRequest::CanUseTool(_)));
            reattached += 1;
        }
        let Some(id) = success.request_id else { continue };
        // Requests that were written raw are not in the recording as frames.
        let Some(subtype) = requests.get(&(file(&recorded).to_owned(), id)) else { continue };
        let checked =
            checks.iter().any(|check| check(subtype, &recorded.place, success.response.as_ref()));
        assert!(checked, "{}: no check for {subtype}", recorded.place);
        *seen.entry(subtype.clone()).or_default() += 1;
    }
    assert!(reattached > 0, "no recording lists a request that still waits");
    // A check that never ran shows nothing.
    assert_eq!(seen.len(), checks.len(), "{seen:?}");
}

/// Decodes what a client answered. Experiments answer wrongly, too; those are told by the result.
fn answered<T: DeserializeOwned + Serialize>(payload: &RawJson, place: &str) -> bool {
    let Ok(answer) = payload.decode::<T>() else { return false };
    assert!(same(&answer, payload), "{place}: the answer comes out changed");
    true
}

#[test]
fn answers_of_clients() {
    let mut asked = BTreeMap::new();
    let (mut permissions, mut hooks, mut wrong) = (0, 0, Vec::new());
    for recorded in all() {
        if recorded.side == Side::Cli {
            if let FromCli::ControlRequest(request) = from_cli(&recorded) {
                asked.insert(request.request_id.clone(), request.request);
            }
            continue;
        }
        let ToCli::ControlResponse(response) = to_cli(&recorded) else { continue };
        let Response::Success(success) = response.response else { continue };
        let (Some(id), Some(payload)) = (success.request_id, success.response) else { continue };
        let right = match asked.get(&id) {
            Some(CliRequest::CanUseTool(_)) => {
                permissions += 1;
                answered::<PermissionResult>(&payload, &recorded.place)
            }
            Some(CliRequest::HookCallback(_)) => {
                hooks += 1;
                answered::<HookOutput>(&payload, &recorded.place)
            }
            _ => continue,
        };
        if !right {
            wrong.push(recorded.place);
        }
    }
    assert!(permissions > 100 && hooks > 30, "{permissions} permissions, {hooks} hooks");
    assert!(wrong.len() < permissions / 4, "{wrong:#?}");
    assert!(
        wrong
            .iter()
            .all(|place| ["/I_", "/J_", "/K_", "/L_"].iter().any(|part| place.contains(part))),
        "{wrong:#?}"
    );
}

#[test]
fn tools() {
    let mut calls = BTreeMap::new();
    let (mut inputs, mut outputs) = (0, 0);
    for recorded in all().into_iter().filter(|recorded| recorded.side == Side::Cli) {
        let place = recorded.place.clone();
        let (blocks, output) = match from_cli(&recorded) {
            FromCli::Assistant(message) => (message.message.blocks().to_vec(), None),
            FromCli::User(message) => match message.message.content {
                countersign_protocol::content::Content::Blocks(blocks) => {
                    (blocks, message.tool_use_result)
                }
                _ => continue,
            },
            _ => continue,
        };
        for block in blocks {
            match block {
                ContentBlock::ToolUse(call) => {
                    ToolInput::parse(&call.name, &call.input)
                        .unwrap_or_else(|error| panic!("{place}: {error}"));
                    calls.insert(call.id, call.name);
                    inputs += 1;
                }
                ContentBlock::ToolResult(result) => {
                    let (Some(name), Some(output)) = (calls.get(&result.tool_use_id), &output)
                    else {
                        continue;
                    };
                    ToolOutput::parse(name, output)
                        .unwrap_or_else(|error| panic!("{place}: {name}: {error}"));
                    outputs += 1;
                }
                _ => {}
            }
        }
    }
    assert!(inputs > 300 && outputs > 200, "{inputs} inputs, {outputs} outputs");
}
