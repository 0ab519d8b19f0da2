//! Gives the model a tool that is a function of this program.
//!
//! ```sh
//! cargo run -p countersign --example in_process_tool -- "How much is in stock of A-7?"
//! ```
//!
//! It needs the feature `mcp`, which is on by default.
#![expect(clippy::print_stdout, reason = "it talks to whoever runs it")]

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign::SessionBuilder;
use countersign::mcp::{Tool, ToolServer};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Part {
    number: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "How many A-7 are there?".to_owned());
    // Whatever the program has, the tool has: here a table, elsewhere a pool of connections.
    let stock = Arc::new(BTreeMap::from([("A-7", 12), ("B-2", 0)]));
    let lookup = Tool::new("stock", "Says how many of a part there are.", move |part: Part| {
        let stock = Arc::clone(&stock);
        async move {
            println!("[looking up {}]", part.number);
            let count = stock.get(part.number.as_str());
            // An error is what the model reads, too.
            count.map(ToString::to_string).ok_or_else(|| format!("no part {}", part.number))
        }
    })
    .input_schema(json!({
        "type": "object",
        "properties": {"number": {"type": "string", "description": "such as A-7"}},
        "required": ["number"],
    }))?
    .read_only(true);
    let outcome = SessionBuilder::new()
        .in_process_mcp(ToolServer::new("store").tool(lookup))
        // The CLI asks before it calls any tool, also this one, unless a rule allows it.
        .allow_tool("mcp__store")
        .ask(prompt)
        .await?;
    println!("{}", outcome.answer());
    Ok(())
}
