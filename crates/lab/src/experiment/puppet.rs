//! A model that does as it is told: the client says in each message which tool is to be called, so
//! that one process serves for many questions.

use serde_json::{Value, json};

use super::look::from_cli;
use crate::driver::{Cli, DriverError, Said};
use crate::talk::{Reply, is_result, serve};

/// `write PATH`, `read PATH`, `edit PATH`, `run COMMAND`, and `done` to everything else.
pub(super) const PUPPET: &str = r#"
otherwise = "done"

[[answer]]
when = { text = '/^write (\S+)$/' }
tool = { name = "Write", input = { file_path = "${match.1}", content = "as asked\n" } }

[[answer]]
when = { text = '/^read (\S+)$/' }
tool = { name = "Read", input = { file_path = "${match.1}" } }

[[answer]]
when = { text = '/^edit (\S+)$/' }
tool = { name = "Edit", input = { file_path = "${match.1}", old_string = "hello", new_string = "good morning" } }

[[answer]]
when = { text = '/^run (.+)$/' }
tool = { name = "Bash", input = { command = "${match.1}", description = "Run it" }, result = "" }
"#;

/// A turn that has ended.
#[derive(Debug)]
pub(super) struct Turn {
    /// Everything that was said in it, from the message on.
    pub(super) log: Vec<Said>,
    /// The requests of the CLI, in their order.
    pub(super) asks: Vec<Value>,
    /// Its result.
    pub(super) result: Value,
}

impl Turn {
    /// What the CLI said.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Value> {
        from_cli(&self.log)
    }

    /// Whether permission was asked for.
    pub(super) fn asked(&self) -> bool {
        self.asks.iter().any(|ask| ask["request"]["subtype"] == "can_use_tool")
    }

    /// What the model reads about its calls: the blocks with their results.
    pub(super) fn results(&self) -> impl Iterator<Item = &Value> {
        let users = self.frames().filter(|frame| frame["type"] == "user");
        let blocks = users.filter_map(|frame| frame["message"]["content"].as_array()).flatten();
        blocks.filter(|block| block["type"] == "tool_result")
    }

    /// The text of the last of them.
    pub(super) fn read(&self) -> String {
        let text = |block: &Value| match &block["content"] {
            Value::String(text) => text.clone(),
            other => other[0]["text"].as_str().unwrap_or_default().to_owned(),
        };
        self.results().last().map(text).unwrap_or_default()
    }

    /// Whether the last call failed or was refused.
    pub(super) fn failed(&self) -> bool {
        self.results().last().is_none_or(|block| block["is_error"] == true)
    }

    /// Whether the result lists its last call as refused.
    pub(super) fn refused(&self) -> bool {
        let Some(block) = self.results().last() else { return false };
        let mut denials = self.result["permission_denials"].as_array().into_iter().flatten();
        denials.any(|denial| denial["tool_use_id"] == block["tool_use_id"])
    }

    /// The modes that `system/status` told, in their order.
    pub(super) fn told_modes(&self) -> Vec<&str> {
        let told = self.frames().filter(|frame| frame["subtype"] == "status");
        told.filter_map(|frame| frame["permissionMode"].as_str()).collect()
    }

    /// The mode that the turn began in.
    pub(super) fn mode(&self) -> Value {
        let init = self.frames().find(|frame| frame["subtype"] == "init");
        init.map_or(Value::Null, |frame| frame["permissionMode"].clone())
    }
}

/// Says something, answers everything that is asked, and waits for the result.
pub(super) async fn turn(
    cli: &mut Cli,
    text: &str,
    mut answer: impl FnMut(&Value) -> Value + Send,
) -> Result<Turn, DriverError> {
    let begin = cli.log().len();
    cli.say(text).await?;
    let mut asks = Vec::new();
    let reply = |ask: &Value| {
        asks.push(ask.clone());
        Reply::Success(answer(&ask["request"]))
    };
    let result = serve(cli, "a result", is_result, reply).await?;
    Ok(Turn { log: cli.log().split_off(begin), asks, result })
}

/// The turn since a message was the last thing to be said, for steps that answer by themselves.
pub(super) async fn rest_of_turn(cli: &mut Cli, begin: usize) -> Result<Turn, DriverError> {
    let result = cli.result().await?;
    let log = cli.log().split_off(begin);
    let asks = from_cli(&log).filter(|frame| frame["type"] == "control_request");
    Ok(Turn { asks: asks.cloned().collect(), log, result })
}

/// Has the CLI answer something, by which time it has read what was sent before.
pub(super) async fn read_so_far(cli: &mut Cli) -> Result<(), DriverError> {
    cli.request(json!({"subtype": "mcp_status"})).await?;
    Ok(())
}

/// Allows it as it is.
pub(super) fn allow(request: &Value) -> Value {
    json!({"behavior": "allow", "updatedInput": request["input"]})
}

/// Denies it.
pub(super) fn deny(_: &Value) -> Value {
    json!({"behavior": "deny", "message": "Not today."})
}
