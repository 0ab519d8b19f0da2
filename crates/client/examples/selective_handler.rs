//! Decides by what a tool is called with: notes may be written, tests may be run, no more.
//!
//! ```sh
//! cargo run -p countersign --example selective_handler -- "Run the tests and note what fails"
//! ```
#![expect(clippy::print_stdout, reason = "it talks to whoever runs it")]

use std::path::{Path, PathBuf};

use countersign::SessionBuilder;
use countersign::permission::{HandlerFailure, PermissionAnswer, PermissionAsk, PermissionHandler};
use countersign::protocol::tool::ToolInput;

/// What this job is for.
struct NotesOnly {
    folder: PathBuf,
}

impl NotesOnly {
    /// A file right in the folder. A path with `..` has another parent.
    fn is_a_note(&self, file: &str) -> bool {
        let file = Path::new(file);
        file.parent() == Some(&*self.folder) && file.extension().is_some_and(|end| end == "md")
    }
}

impl PermissionHandler for NotesOnly {
    async fn decide(&self, ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        Ok(match ask.tool() {
            ToolInput::Read(_) | ToolInput::Glob(_) | ToolInput::Grep(_) => ask.allow(),
            ToolInput::Write(write) if self.is_a_note(&write.file_path) => ask.allow(),
            // The whole command: a prefix could have anything after it.
            ToolInput::Bash(bash) if bash.command == "cargo test" => ask.allow(),
            // A tool that has no type here, or an input of another shape, is `Other`.
            _ => ask.deny("this job may read, write notes (*.md) and run `cargo test`"),
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Note what is in here.".to_owned());
    let handler = NotesOnly { folder: std::env::current_dir()? };
    let outcome = SessionBuilder::new().on_permission(handler).ask(prompt).await?;
    println!("{}", outcome.answer());
    for call in &outcome.tool_calls {
        println!("{} {}\n  {:?}", call.name, call.input, call.decision);
    }
    Ok(())
}
