//! Holds many sessions, a few at a time, each with limits that act.
//!
//! ```sh
//! cargo run -p countersign --example many_sessions -- 10
//! ```
//!
//! A session is a process of the CLI, which takes some 200 MB: what bounds their number is memory.
#![expect(clippy::print_stdout, reason = "it talks to whoever runs it")]

use std::sync::Arc;
use std::time::Duration;

use countersign::{Limits, QueryError, SessionBuilder};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How many processes run at the same time.
const AT_ONCE: usize = 2;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = std::env::args().nth(1).map_or(Ok(3), |count| count.parse::<u32>())?;
    // A builder can be cloned: all sessions are set up alike, and share their handlers.
    let limits = Limits::new().silence(Duration::from_secs(120)).session_cost_usd(0.50);
    let builder = SessionBuilder::new().limits(limits);
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let mut sessions = JoinSet::new();
    for number in 1..=count {
        let (builder, slots) = (builder.clone(), Arc::clone(&slots));
        sessions.spawn(async move {
            let slot = slots.acquire_owned().await;
            let outcome = builder.ask(format!("What is {number} times 7?")).await;
            drop(slot);
            (number, outcome)
        });
    }
    let (mut answered, mut cost) = (0, 0.0);
    while let Some(done) = sessions.join_next().await {
        match done? {
            (number, Ok(outcome)) => {
                answered += 1;
                cost += outcome.total_cost_usd();
                println!("{number}: {}", outcome.answer());
            }
            // One that fails does not touch the others.
            (number, Err(QueryError::Failed { error, .. })) => println!("{number} failed: {error}"),
            (number, Err(error)) => println!("{number} has no session: {error}"),
        }
    }
    println!("{answered} of {count} answered, {cost:.4} US dollars");
    Ok(())
}
