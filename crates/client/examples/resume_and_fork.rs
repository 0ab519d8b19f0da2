//! Goes on with a session in another process, and goes on with a copy of it.
//!
//! ```sh
//! cargo run -p countersign --example resume_and_fork
//! ```
#![expect(clippy::print_stdout, reason = "it talks to whoever runs it")]

use countersign::SessionBuilder;
use countersign::turn::Outcome;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let begun = SessionBuilder::new().ask("My number is 42. Remember it.").await?;
    let session = id(&begun);
    println!("{}", begun.answer());

    // The same session in another process. Its mode and its rules are to be set again.
    let resumed = SessionBuilder::new().resume(&session).ask("What is my number?").await?;
    println!("{}", resumed.answer());
    println!("resumed under the same id: {}", id(&resumed) == session);

    // A copy under another id; the first one stays as it is.
    let forked = SessionBuilder::new().resume(&session).fork().ask("And twice that?").await?;
    println!("{}", forked.answer());
    println!("forked under the same id: {}", id(&forked) == session);
    Ok(())
}

fn id(outcome: &Outcome) -> String {
    outcome.session_id().map(ToString::to_string).unwrap_or_default()
}
