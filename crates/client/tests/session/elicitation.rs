//! What MCP servers ask the user, and dialogs of the CLI.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::process::ExitCode;

use countersign::SessionBuilder;
use countersign::permission::{AllowAll, HandlerFailure};
use countersign::protocol::RawJson;
use countersign::protocol::ask::{
    DialogAnswer, DialogBehavior, Elicitation, ElicitationAction, ElicitationAnswer,
    RequestUserDialog,
};
use countersign::protocol::request::McpServerConfig;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::asker::{answers, initialized_with, write_line};
use crate::asking::{Noted, calls, on_real, requests, say, start};
use crate::kit::{Cli, Outcome, V197, V325, builder, close, lab, trial};

pub(crate) fn trials() -> Vec<Trial> {
    // The simulated CLI starts no servers.
    [
        on_real("elicitation::it_is_answered", V197, accepted),
        on_real("elicitation::it_is_declined_without_a_handler", V197, nobody),
        on_real("elicitation::a_handler_that_fails_has_answered_nothing", V197, failing),
        on_real("dialogs::a_refusal_of_the_model_is_put_to_the_user", V325, refused),
    ]
    .into_iter()
    .flatten()
    .chain([
        trial("elicitation::nobody_answers", unanswered),
        trial("dialogs::those_that_were_declared_are_answered", dialogs),
        trial("dialogs::none_are_declared_without_a_handler", no_dialogs),
    ])
    .collect()
}

/// Says to this very program that it is to be a server that asks.
const SERVER: &str = "COUNTERSIGN_TEST_ELICITING";

/// Plays an MCP server whose only tool asks the user for a name, and says what came of it.
pub(crate) fn as_a_server() -> Option<ExitCode> {
    std::env::var_os(SERVER)?;
    let say = |mut message: Value| {
        message["jsonrpc"] = json!("2.0");
        write_line(&message);
    };
    let mut call = Value::Null;
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let id = &message["id"];
        match message["method"].as_str() {
            Some("initialize") => say(json!({"id": id, "result": {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "asker", "version": "1"},
            }})),
            Some("tools/list") => say(json!({"id": id, "result": {"tools": [
                {"name": "ask", "description": "Asks.", "inputSchema": {"type": "object"}},
            ]}})),
            Some("tools/call") => {
                call = id.clone();
                say(json!({"id": "e1", "method": "elicitation/create", "params": {
                    "message": "Who are you?",
                    "requestedSchema": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}},
                        "required": ["name"],
                    },
                }}));
            }
            Some(_) if id.is_null() => {}
            Some(_) => say(json!({"id": id, "result": {}})),
            None => {
                let said = message.get("result").or(message.get("error")).unwrap().to_string();
                say(json!({"id": call, "result": {"content": [{"type": "text", "text": said}]}}));
            }
        }
    }
    Some(ExitCode::SUCCESS)
}

/// How the CLI starts that server.
pub(crate) fn server() -> McpServerConfig {
    let mut server = McpServerConfig::new();
    server.command = Some(std::env::current_exe().unwrap().display().to_string());
    server.args = Some(Vec::new());
    server.env = Some(BTreeMap::from([(SERVER.to_owned(), "1".to_owned())]));
    server
}

/// What the server is told.
async fn told(
    cli: Cli,
    with: impl FnOnce(SessionBuilder) -> SessionBuilder,
) -> Result<String, Failed> {
    let lab = lab(cli, &calls(&[("mcp__asker__ask", "{}")], "I read: ${result}")).await;
    let builder = builder(&lab).mcp_server("asker", server()).on_permission(AllowAll);
    let mut session = start(with(builder)).await?;
    let outcome = say(&mut session, "Ask me.").await?;
    close(session, lab).await;
    Ok(outcome.answer().to_owned())
}

async fn accepted(cli: Cli) -> Outcome {
    let asked = Noted::<Elicitation>::default();
    let noted = asked.clone();
    let told = told(cli, |builder| {
        builder.on_elicitation(move |ask| {
            noted.note(ask);
            async {
                let mut answer = ElicitationAnswer::new(ElicitationAction::Accept);
                answer.content = Some(RawJson::from_value(&json!({"name": "Ada"}))?);
                Ok::<_, serde_json::Error>(answer)
            }
        })
    });
    let told = told.await?;
    assert!(told.contains(r#""accept""#) && told.contains("Ada"), "{told}");
    let [ask] = &asked.all()[..] else { panic!("{:?}", asked.all()) };
    assert_eq!((&*ask.mcp_server_name, &*ask.message), ("asker", "Who are you?"));
    assert!(ask.requested_schema.as_ref().is_some_and(|schema| schema.as_str().contains("name")));
    Ok(())
}

async fn nobody(cli: Cli) -> Outcome {
    let told = told(cli, |builder| builder).await?;
    assert!(told.contains(r#""decline""#), "{told}");
    Ok(())
}

async fn failing(cli: Cli) -> Outcome {
    let told = told(cli, |builder| {
        builder.on_elicitation(|_| async { Err::<ElicitationAnswer, _>("the database is away") })
    });
    let told = told.await?;
    assert!(told.contains(r#""cancel""#) && !told.contains("accept"), "{told}");
    Ok(())
}

async fn unanswered() -> Outcome {
    let ask = json!({"subtype": "elicitation", "mcp_server_name": "x", "message": "Who are you?"});
    let declined = answers(SessionBuilder::new(), std::slice::from_ref(&ask)).await?;
    assert_eq!(declined[0]["response"], json!({"action": "decline"}));
    let panics = SessionBuilder::new().on_elicitation(|ask: Elicitation| async move {
        assert!(ask.message.is_empty(), "this handler panics");
        Ok::<_, HandlerFailure>(ElicitationAnswer::new(ElicitationAction::Accept))
    });
    let refused = answers(panics, &[ask]).await?;
    assert_eq!(refused[0]["subtype"], "error");
    Ok(())
}

/// Shows one kind of dialog.
fn showing() -> SessionBuilder {
    SessionBuilder::new().on_dialog(["goal_proposal"], |ask: RequestUserDialog| async move {
        let mut answer = DialogAnswer::new(DialogBehavior::Completed);
        answer.result = Some(ask.payload);
        Ok::<_, HandlerFailure>(answer)
    })
}

async fn dialogs() -> Outcome {
    let dialog = |kind: &str| json!({"subtype": "request_user_dialog", "dialog_kind": kind, "payload": {"n": 1}});
    let initialize = initialized_with(showing()).await?;
    assert_eq!(initialize["supportedDialogKinds"], json!(["goal_proposal"]));
    let said = answers(showing(), &[dialog("goal_proposal"), dialog("lsp_recommendation")]).await?;
    assert_eq!(said[0]["response"], json!({"behavior": "completed", "result": {"n": 1}}));
    assert_eq!(said[1]["subtype"], "error");
    Ok(())
}

async fn no_dialogs() -> Outcome {
    let initialize = initialized_with(SessionBuilder::new()).await?;
    assert_eq!(initialize.get("supportedDialogKinds"), None);
    Ok(())
}

const REFUSES: &str = r#"
otherwise = "Another model answers."

[[answer]]
when = { model = "claude-opus-5-5" }
blocks = []
stop_reason = "refusal"
"#;

/// The one dialog that the real CLI is seen to show in the laboratory. Of the others, that of the
/// sandbox needs bubblewrap, that of a goal a tool that is switched off here, that of reads outside
/// the folder did not come, and the rest need an account, a browser or a terminal.
async fn refused(cli: Cli) -> Outcome {
    let lab = lab(cli, REFUSES).await;
    let asked = Noted::<RequestUserDialog>::default();
    let noted = asked.clone();
    let builder = builder(&lab)
        .model("claude-opus-5-5")
        .settings(json!({"switchModelsOnFlag": false}))
        // Otherwise the API says which refusals another model may answer.
        .env("CLAUDE_CODE_REFUSAL_FALLBACK_CATCH_ALL", "1")
        .on_dialog(["refusal_fallback_prompt"], move |ask: RequestUserDialog| {
            noted.note(ask);
            let is_first = noted.all().len() == 1;
            async move {
                if is_first {
                    return Ok(DialogAnswer::new(DialogBehavior::Cancelled));
                }
                let answer = DialogAnswer::new(DialogBehavior::Completed);
                Ok::<_, HandlerFailure>(answer.with_result(json!("retry_fallback")))
            }
        });
    let mut session = start(builder).await?;
    let outcome = say(&mut session, "Say it.").await?;
    assert!(!outcome.succeeded(), "{outcome:?}");
    let outcome = say(&mut session, "Say it all the same.").await?;
    assert_eq!(outcome.answer(), "Another model answers.");
    let asked = asked.all();
    assert_eq!(asked.len(), 2);
    for ask in asked {
        assert_eq!(ask.dialog_kind, "refusal_fallback_prompt");
        let payload: Value = ask.payload.decode()?;
        assert_eq!(payload["originalModel"], "claude-opus-5-5");
        assert_eq!(payload["fallbackModel"], "claude-opus-5");
    }
    let models: Vec<_> =
        requests(cli, &lab).unwrap().iter().map(|request| request["model"].clone()).collect();
    let others = models.iter().filter(|model| *model == "claude-opus-5").count();
    assert_eq!((others, models.last()), (1, Some(&json!("claude-opus-5"))), "{models:?}");
    close(session, lab).await;
    Ok(())
}
