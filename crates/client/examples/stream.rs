//! Prints what the model writes while it writes it, and the tools that it calls.
//!
//! ```sh
//! cargo run -p countersign --example stream -- "What does this project do?"
//! ```
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it writes as it goes")]

use std::io::{Write as _, stdout};

use countersign::SessionBuilder;
use countersign::permission::ReadOnly;
use countersign::turn::TurnEvent;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "What is in this folder?".to_owned());
    let builder = SessionBuilder::new().partial_messages().on_permission(ReadOnly);
    let mut session = builder.connect().await?;
    let mut turn = session.send(prompt).await?;
    while let Some(event) = turn.next().await {
        match event {
            // Texts of sub-agents have a parent; here only the main conversation is shown.
            TurnEvent::TextDelta { text, parent: None } => {
                print!("{text}");
                stdout().flush()?;
            }
            // The whole text: a response that broke off is written again, and this is what counts.
            TurnEvent::Text { parent: None, .. } => println!(),
            TurnEvent::ToolCall(call) => println!("[{} {}]", call.name, call.input),
            TurnEvent::ToolDone(call) => {
                let failed = call.result.is_some_and(|result| result.is_error);
                println!("[{}: {}]", call.name, if failed { "failed" } else { "done" });
            }
            TurnEvent::Retry(retry) => println!("[trying again: attempt {}]", retry.attempt),
            _ => {}
        }
    }
    let outcome = turn.finish().await?;
    if let Some(error) = outcome.error() {
        println!("The turn failed: {error}");
    }
    println!("{} tool calls, {:.4} US dollars", outcome.tool_calls.len(), outcome.total_cost_usd());
    session.close().await;
    Ok(())
}
