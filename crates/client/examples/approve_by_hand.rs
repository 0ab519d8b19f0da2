//! Asks in the terminal before a tool runs.
//!
//! ```sh
//! cargo run -p countersign --example approve_by_hand -- "Write a poem to poem.txt"
//! ```
//!
//! The answer is `y`, `n`, `always`, or the reason why not, which the model reads. When the input
//! ends, nothing more is allowed.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it asks in the terminal")]

use std::io::{self, BufRead as _, Write as _};

use countersign::SessionBuilder;
use countersign::permission::{PermissionAnswer, PermissionAsk};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Write a poem to poem.txt".to_owned());
    let outcome = SessionBuilder::new().on_permission(by_hand).ask(prompt).await?;
    println!("\n{}", outcome.answer());
    println!("({} calls, {} denied)", outcome.tool_calls.len(), outcome.denials().len());
    Ok(())
}

/// The terminal blocks, so it is asked where that is no harm. The session goes on meanwhile.
async fn by_hand(ask: PermissionAsk) -> io::Result<PermissionAnswer> {
    tokio::task::spawn_blocking(move || decide(ask)).await?
}

fn decide(ask: PermissionAsk) -> io::Result<PermissionAnswer> {
    // Calls that wait at the same time are put one after the other.
    let mut terminal = io::stdin().lock();
    println!("\n{} {}", ask.tool_name(), ask.input());
    if let Some(reason) = &ask.request().decision_reason {
        println!("  asked because: {}", reason.escape_debug());
    }
    for suggestion in ask.suggestions() {
        println!("  always means: {}", serde_json::to_string(suggestion)?);
    }
    loop {
        print!("y, n, always, or why not? ");
        io::stdout().flush()?;
        let mut line = String::new();
        if terminal.read_line(&mut line)? == 0 {
            return Ok(ask.deny("nobody is at the terminal"));
        }
        match line.trim() {
            "" => {}
            "y" => return Ok(ask.allow()),
            "n" => return Ok(ask.deny("the user does not want this")),
            "always" => return Ok(ask.allow_always()),
            reason => return Ok(ask.deny(reason)),
        }
    }
}
