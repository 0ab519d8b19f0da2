//! Takes part in what happens: refuses commands, tells what was asked and what ran.
//!
//! ```sh
//! cargo run -p countersign --example hooks -- "Run `date`, and write the answer to date.txt"
//! ```
//!
//! A hook is called for everything that its event is about, also for what needs no permission. One
//! that decides, and fails, has refused.
#![expect(clippy::print_stdout, reason = "it talks to whoever runs it")]

use std::time::Duration;

use countersign::SessionBuilder;
use countersign::hook::Hook;
use countersign::permission::AllowAll;
use countersign::protocol::hook::{
    HookOutput, PostToolUseInput, PreToolUseInput, PreToolUseOutput, UserPromptSubmitInput,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Run `date`".to_owned());
    let said = Hook::new(|input: UserPromptSubmitInput, _| async move {
        println!("asked: {}", input.prompt);
    });
    let gate = Hook::new(|input: PreToolUseInput, _| async move {
        println!("to run: {}", input.tool_input);
        HookOutput::from(PreToolUseOutput::deny("no commands in this job"))
    })
    .matcher("Bash")
    .timeout(Duration::from_secs(5));
    let log = Hook::new(|input: PostToolUseInput, _| async move {
        println!("ran: {} {}", input.tool_name, input.tool_input);
    });
    let builder = SessionBuilder::new().on_permission(AllowAll).hook(said).hook(gate).hook(log);
    let outcome = builder.ask(prompt).await?;
    println!("{}", outcome.answer());
    Ok(())
}
