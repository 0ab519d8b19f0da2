//! Asks one question, and prints the answer and what it cost.
//!
//! ```sh
//! cargo run -p countersign --example ask -- "What is 2+2?"
//! ```
//!
//! The CLI is looked for in `CLAUDE_CODE_PATH`, on the `PATH` and where installers put it, and has
//! the environment of this program. Nothing that needs permission is allowed.
#![expect(clippy::print_stdout, reason = "it talks to whoever runs it")]

use countersign::{QueryError, SessionBuilder};

#[tokio::main]
async fn main() -> Result<(), QueryError> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "What is 2+2?".to_owned());
    // `countersign::query(prompt)` is the same with no options, and gives the text alone.
    let outcome = SessionBuilder::new().max_turns(3).ask(prompt).await?;
    println!("{}", outcome.answer());
    println!("({:.4} US dollars)", outcome.total_cost_usd());
    Ok(())
}
