//! The example of the README: one question, and who decides what may be done about it.
//!
//! ```sh
//! cargo run -p countersign --example readme
//! ```
#![expect(clippy::print_stdout, reason = "it talks to whoever runs it")]

use countersign::permission::PermissionAsk;
use countersign::protocol::tool::ToolInput;
use countersign::{QueryError, SessionBuilder};

#[tokio::main]
async fn main() -> Result<(), QueryError> {
    let decide = async |ask: PermissionAsk| match ask.tool() {
        ToolInput::Write(write) if write.file_path.ends_with("/NOTES.md") => ask.allow(),
        _ => ask.deny("only NOTES.md may be written"),
    };
    let builder = SessionBuilder::new().on_permission(decide);
    let outcome = builder.ask("What is this project? Write it to NOTES.md.").await?;
    println!("{}\n({} denied)", outcome.answer(), outcome.denials().len());
    Ok(())
}
