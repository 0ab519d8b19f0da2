//! Ends the process of a session that waits for an approval, and gives the answer later.
//!
//! ```sh
//! cargo run -p countersign --example park_and_resume -- "Write a poem to poem.txt"
//! ```
//!
//! What is kept meanwhile is a small text. A program would put it into a database, and go on
//! tomorrow or on another machine.
#![expect(clippy::print_stdout, reason = "it talks to whoever runs it")]

use std::sync::Arc;

use countersign::SessionBuilder;
use countersign::park::{ParkingToken, Raised};
use countersign::permission::PermissionAsk;
use tokio::sync::Notify;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Write a poem to poem.txt".to_owned());
    let asked = Arc::new(Notify::new());
    let tell = Arc::clone(&asked);
    // Nobody answers here. The ask is withdrawn when the session is parked.
    let builder = SessionBuilder::new().on_permission(move |ask: PermissionAsk| {
        tell.notify_one();
        async move {
            ask.cancelled().await;
            ask.deny("the session was parked")
        }
    });
    let mut session = builder.connect().await?;
    let turn = session.send(prompt).await?.finish();
    tokio::select! {
        () = asked.notified() => {}
        outcome = turn => {
            println!("Nothing was asked for: {}", outcome?.answer());
            return Ok(());
        }
    }
    let token = session.park().await.map_err(|(_, error)| error)?;
    let kept = serde_json::to_string(&token)?;
    println!("parked, {} bytes are kept, no process runs", kept.len());

    let token: ParkingToken = serde_json::from_str(&kept)?;
    println!("to be decided: {} {}", token.request()?.tool_name, token.request()?.input);
    let resumed = SessionBuilder::new().resume_parked(&token, |ask| Ok(ask.allow())).await?;
    match &resumed.raised {
        Raised::SameCall => println!("the answer went to the call itself"),
        Raised::Told { why } => println!("the model was told instead: {why}"),
        _ => {}
    }
    let mut session = resumed.session;
    println!("{}", session.current_turn().finish().await?.answer());
    session.close().await;
    Ok(())
}
