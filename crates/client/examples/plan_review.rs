//! Has the model make a plan, and asks in the terminal what to do with it.
//!
//! ```sh
//! cargo run -p countersign --example plan_review -- "Add a licence file"
//! ```
//!
//! The choices are those of the CLI's own dialog; anything else is feedback, and the model plans on.
#![expect(clippy::print_stdout, reason = "it asks in the terminal")]

use std::io;

use countersign::SessionBuilder;
use countersign::permission::{AskKind, HandlerFailure, PermissionAnswer, PermissionAsk};
use countersign::permission::{PlanAsk, PlanChoice};
use countersign::protocol::permission::PermissionMode;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Add a licence file".to_owned());
    let builder = SessionBuilder::new().permission_mode(PermissionMode::Plan).on_permission(decide);
    let mut session = builder.connect().await?;
    let mut outcome = session.send(prompt).await?.finish().await?;
    // Approved to be carried out in a conversation of its own: that is for us to begin.
    if let Some(fresh) = outcome.fresh_start.take() {
        outcome = session.begin_fresh(&fresh).await?.finish().await?;
    }
    println!("\n{}", outcome.answer());
    if let Some(mode) = session.snapshot().permission_mode {
        println!("(the mode is now {mode})");
    }
    session.close().await;
    Ok(())
}

async fn decide(ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
    match ask.into_kind() {
        AskKind::Plan(plan) => tokio::task::spawn_blocking(move || review(plan)).await?,
        AskKind::Tool(ask) if ask.tool_name() == "Write" => Ok(ask.allow()),
        AskKind::Tool(ask) => Ok(ask.deny("this program reviews plans and lets files be written")),
        AskKind::Questions(questions) => Ok(questions.skip()?),
        _ => Err("this kind of question is not known here".into()),
    }
}

fn review(plan: PlanAsk) -> Result<PermissionAnswer, HandlerFailure> {
    println!("{}\n", plan.plan().unwrap_or("There is no plan; the model wants to begin."));
    println!("1  clear the conversation, then carry it out and accept edits");
    println!("2  carry it out and accept edits\n3  carry it out and ask for each edit");
    println!("or say what is to change:");
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(match line.trim() {
        "1" => plan.approve(PlanChoice::ClearContextAndAcceptEdits)?,
        "2" => plan.approve(PlanChoice::AcceptEdits)?,
        "3" => plan.approve(PlanChoice::ApproveManually)?,
        "" => plan.into_ask().deny_and_stop("nobody is at the terminal"),
        feedback => plan.keep_planning(feedback),
    })
}
