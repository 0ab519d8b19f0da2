//! What MCP servers ask people.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use countersign_server::id::SessionId;
use countersign_server::service::NewSession;
use countersign_server::session::{
    Answer, Approval, ApprovalKind, Form, FormAction, Stage, State, TurnEnd,
};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::kit::{Cli, Outcome, World, on_real};

pub(crate) fn trials() -> Vec<Trial> {
    // The simulated CLI starts no servers.
    [
        on_real("elicitation::accepted", accepted),
        on_real("elicitation::declined", declined),
        on_real("elicitation::cancelled", cancelled),
        on_real("elicitation::answered_with_something_else", something_else),
        on_real("elicitation::stopped", stopped),
        on_real("elicitation::the_cli_is_killed", killed),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Says to this very program that it is to be a server that asks.
const SERVER: &str = "COUNTERSIGN_TEST_ELICITING";

/// Plays an MCP server whose only tool asks the user for a name, and says what came of it.
pub(crate) fn as_a_server() -> Option<ExitCode> {
    std::env::var_os(SERVER)?;
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

#[expect(clippy::disallowed_methods, reason = "this is what the server says")]
fn say(mut message: Value) {
    message["jsonrpc"] = json!("2.0");
    std::io::stdout().write_all(format!("{message}\n").as_bytes()).unwrap();
}

const ASK: &str = r#"
[[answer]]
when = { text = "restarted while you were working" }
text = "I go on."

[[answer]]
when = { text = "Ask me" }
tool = { name = "mcp__asker__ask", input = {} }

[[answer]]
when = { tool = "mcp__asker__ask" }
text = "I read: ${result}"

[[answer]]
text = "And more."
"#;

/// A session whose server asks, though it would be parked if it could be.
async fn asking(cli: Cli) -> (World, SessionId, Approval) {
    let world =
        World::with(cli, ASK, |config| config.limits.park_after = Some(Duration::ZERO)).await;
    let this = std::env::current_exe().unwrap();
    let server = json!({"command": this, "args": [], "env": {SERVER: "1"}});
    let mut new = world.new_session("Ask me.");
    new.options.allowed_tools = vec!["mcp__asker__ask".to_owned()];
    new.options.mcp_servers = Some([("asker".to_owned(), server)].into_iter().collect());
    let session = made(&world, &new).await;
    let asked = world.asked(session).await;
    assert_eq!((asked.kind, &*asked.tool), (ApprovalKind::Elicitation, "asker"));
    assert!(asked.request.as_str().contains("Who are you?"), "{}", asked.request);
    assert_eq!(world.head(session).await.state(), State::Waiting);
    (world, session, asked)
}

async fn made(world: &World, new: &NewSession) -> SessionId {
    world.client.create_session(new).await.unwrap().session
}

fn form(action: FormAction, content: Option<Value>) -> Answer {
    Answer::Form(Form { action, content: content.map(Into::into) })
}

/// What the server is told when a person answers so.
async fn told(cli: Cli, answer: Answer) -> String {
    let (world, session, asked) = asking(cli).await;
    world.answer(&asked, answer).await;
    let head = world.at_rest(session).await;
    assert_eq!(head.generation, 1, "its process was kept");
    assert_eq!(world.stages(session).await, [Stage::Done]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done]);
    let told = world.last_text(session).await;
    world.close().await.unwrap();
    told
}

async fn accepted(cli: Cli) -> Outcome {
    let told = told(cli, form(FormAction::Accept, Some(json!({"name": "Ada"})))).await;
    assert!(told.contains("accept") && told.contains("Ada"), "{told}");
    Ok(())
}

async fn declined(cli: Cli) -> Outcome {
    let told = told(cli, form(FormAction::Decline, None)).await;
    assert!(told.contains("decline"), "{told}");
    Ok(())
}

async fn cancelled(cli: Cli) -> Outcome {
    let told = told(cli, form(FormAction::Cancel, None)).await;
    assert!(told.contains("cancel"), "{told}");
    Ok(())
}

/// What is no answer to a form is refused, and the form stays open.
async fn something_else(cli: Cli) -> Outcome {
    let (world, session, asked) = asking(cli).await;
    for wrong in [
        Answer::allow(),
        form(FormAction::Accept, Some(json!("Ada"))),
        form(FormAction::Decline, Some(json!({"name": "Ada"}))),
    ] {
        let refused = world.client.answer(asked.id, wrong).await.unwrap_err();
        assert_eq!(refused.problem().unwrap().kind(), "not-an-answer");
    }
    assert_eq!(world.stages(session).await, [Stage::Open]);
    world.stop(session).await;
    world.close().await
}

async fn stopped(cli: Cli) -> Outcome {
    let (world, session, asked) = asking(cli).await;
    world.stop(session).await;
    assert_eq!(world.stages(session).await, [Stage::Cancelled]);
    let late = form(FormAction::Accept, Some(json!({"name": "Ada"})));
    let late = world.client.answer(asked.id, late).await.unwrap_err();
    assert_eq!(late.problem().unwrap().kind(), "already-answered");
    world.say(session, "Go on.").await;
    world.at_rest(session).await;
    assert_eq!(world.last_text(session).await, "And more.");
    world.close().await
}

/// Its server is gone with the CLI, so nobody can answer it any more. The turn goes on: also where the
/// CLI had not yet written down anything of it, and the model is told the whole story.
async fn killed(cli: Cli) -> Outcome {
    let (world, session, _) = asking(cli).await;
    world.kill_cli(session).await;
    world.at_rest(session).await;
    assert_eq!(world.stages(session).await, [Stage::Cancelled]);
    assert_eq!(world.last_text(session).await, "I go on.");
    world.close().await
}
