//! A conversation with the model, as the request that it would be sent with.

use serde_json::{Value, json};

use super::json::Json;

/// In the system prompt of a subagent.
const AGENT_FLAG: &str = "cc_is_subagent=true";

/// A conversation.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    body: Value,
    /// The id of the message that the model is in the middle of.
    speaking: Option<String>,
}

impl Thread {
    /// A conversation without words.
    pub(crate) fn new(is_agent: bool) -> Self {
        let system = if is_agent { AGENT_FLAG } else { "" };
        let system = json!([{"type": "text", "text": system}]);
        Self { body: json!({"system": system, "messages": [], "stream": true}), speaking: None }
    }

    /// The body of the request. Tools, model and notes are those of the moment.
    pub(crate) fn request(&mut self, model: &str, tools: &[String], notes: &str) -> &Value {
        let tools: Vec<_> = tools.iter().map(|name| json!({"name": name})).collect();
        if let Value::Object(body) = &mut self.body {
            body.insert("model".to_owned(), model.into());
            body.insert("tools".to_owned(), tools.into());
            if let Some(Value::Array(system)) = body.get_mut("system") {
                system.truncate(1);
                system.push(json!({"type": "text", "text": notes}));
            }
        }
        &self.body
    }

    fn messages(&mut self) -> Option<&mut Vec<Value>> {
        self.body.get_mut("messages")?.as_array_mut()
    }

    /// Adds what the user says: text or blocks.
    pub(crate) fn push_user(&mut self, content: &Json) {
        self.speaking = None;
        if let Some(messages) = self.messages() {
            messages.push(json!({"role": "user", "content": content.to_value()}));
        }
    }

    /// Adds a block of the model's message of this id.
    pub(crate) fn push_assistant(&mut self, message_id: &str, block: &Json) {
        let same = self.speaking.as_deref() == Some(message_id);
        self.speaking = Some(message_id.to_owned());
        let Some(messages) = self.messages() else { return };
        let block = block.to_value();
        if same
            && let Some(Value::Array(blocks)) =
                messages.last_mut().and_then(|message| message.get_mut("content"))
        {
            blocks.push(block);
        } else {
            messages.push(json!({"role": "assistant", "content": [block]}));
        }
    }

    /// The message that the conversation ends with, if it is the model's.
    pub(crate) fn last_of_model(&self) -> Option<Value> {
        let last = self.body.get("messages")?.as_array()?.last()?;
        (last.get("role")?.as_str()? == "assistant").then(|| last.clone())
    }

    /// Whether the conversation ends with a message of the user.
    pub(crate) fn ends_with_user(&self) -> bool {
        let last = self.body.get("messages").and_then(|messages| messages.as_array()?.last());
        last.is_some_and(|message| message.get("role").is_some_and(|role| role == "user"))
    }

    /// Adds a message that was said before.
    pub(crate) fn push(&mut self, message: Value) {
        self.speaking = None;
        if let Some(messages) = self.messages() {
            messages.push(message);
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.speaking = None;
        if let Some(messages) = self.messages() {
            messages.clear();
        }
    }

    /// Whether nothing has been said yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.body.get("messages").and_then(Value::as_array).is_none_or(Vec::is_empty)
    }

    /// How many characters of JSON it has, roughly: a measure of the context.
    pub(crate) fn size(&self) -> usize {
        fn size(value: &Value) -> usize {
            match value {
                Value::String(text) => text.len(),
                Value::Array(items) => items.iter().map(size).sum(),
                Value::Object(map) => map.values().map(size).sum(),
                Value::Null | Value::Bool(_) | Value::Number(_) => 1,
            }
        }
        self.body.get("messages").map_or(0, size)
    }
}
