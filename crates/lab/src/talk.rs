//! What scenarios and experiments share: small scripts, and small steps of a client.
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value is read by key, which gives null where there is nothing"
)]

use serde_json::{Value, json};

use crate::driver::{Cli, DriverError, Ended, Speaker};

/// The model writes a file.
pub(crate) const WRITE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;

/// The model writes two files, one after the other.
pub(crate) const WRITE_TWICE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/one.txt", content = "1\n" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/two.txt", content = "2\n" } }

[[answer]]
text = "That was it."
"#;

/// The model says something, twice.
pub(crate) const TALK: &str = r#"
[[answer]]
text = "First."

[[answer]]
text = "Second."
"#;

/// Ids of messages.
pub(crate) const ONE: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f01";
pub(crate) const TWO: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f02";
pub(crate) const THREE: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f03";

/// A message of the user with an id: text, or a list of blocks.
pub(crate) fn message(content: impl Into<Value>, uuid: &str) -> Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": content.into()},
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid,
    })
}

/// The frames of a process that has ended.
pub(crate) fn frames(ended: &Ended) -> impl Iterator<Item = &Value> {
    let said = ended.log.iter().filter(|said| said.by == Speaker::Cli);
    said.map(|said| &said.frame)
}

/// How a client answers a request of the CLI.
pub(crate) enum Reply {
    /// With this.
    Success(Value),
    /// With an error.
    Error(&'static str),
    /// Not at all.
    Nothing,
}

impl Reply {
    /// Allows the tool of a permission request, with the input as it came.
    pub(crate) fn allow(ask: &Value) -> Self {
        let input = &ask["request"]["input"];
        Self::Success(json!({"behavior": "allow", "updatedInput": input}))
    }
}

/// Answers what the CLI asks until a frame fits, and returns that frame.
pub(crate) async fn serve(
    cli: &mut Cli,
    what: &str,
    until: impl Fn(&Value) -> bool + Sync,
    mut reply: impl FnMut(&Value) -> Reply + Send,
) -> Result<Value, DriverError> {
    serve_until(cli, what, &until, &mut reply).await
}

/// The body of [`serve`], which is compiled once for all conditions and replies.
async fn serve_until(
    cli: &mut Cli,
    what: &str,
    until: &(dyn Fn(&Value) -> bool + Sync),
    reply: &mut (dyn FnMut(&Value) -> Reply + Send),
) -> Result<Value, DriverError> {
    loop {
        let asks = |frame: &Value| frame["type"] == "control_request";
        let frame = cli.wait(what, |frame| asks(frame) || until(frame)).await?;
        if !asks(&frame) {
            return Ok(frame);
        }
        match reply(&frame) {
            Reply::Success(response) => cli.answer(&frame, response).await?,
            Reply::Error(error) => cli.refuse(&frame, error).await?,
            Reply::Nothing => {}
        }
    }
}

pub(crate) fn is_result(frame: &Value) -> bool {
    frame["type"] == "result"
}

/// The text of the tool results that a frame holds.
pub(crate) fn tool_results(frame: &Value) -> Vec<String> {
    let blocks = frame["message"]["content"].as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == "tool_result")
        .map(|block| match &block["content"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect()
}
