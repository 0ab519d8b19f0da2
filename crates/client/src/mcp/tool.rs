//! A tool: its name, what is said about it, and what runs.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use countersign_protocol::RawJson;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use super::ToolHandler;
use super::handler::Handler;

/// A tool that runs in this process.
///
/// ```
/// use countersign::mcp::Tool;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// let add = Tool::new("add", "Adds two numbers.", async |Add { a, b }| {
///     a.checked_add(b).map(|sum| sum.to_string()).ok_or("the sum is too large")
/// })
/// .input_schema(json!({
///     "type": "object",
///     "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
///     "required": ["a", "b"],
/// }))?
/// .read_only(true);
/// # Ok::<(), countersign::mcp::SchemaError>(())
/// ```
///
/// What can go wrong is told to the model as a failed call, and nothing else happens: arguments that
/// do not fit, an error of the handler, a panic, a handler that takes too long.
#[must_use = "a tool is called once it is in a server"]
pub struct Tool {
    definition: Definition,
    timeout: Option<Duration>,
    handler: Handler,
}

impl Tool {
    /// A tool that takes any object, until [`input_schema`](Self::input_schema) says more.
    ///
    /// The name is the server's own; the model calls the tool `mcp__server__name`, where every
    /// character that is not an ASCII letter, a digit, `_` or `-` is replaced by `_`. The
    /// description is what the model goes by.
    ///
    /// The handler is polled on the task that serves the call, so it must not block: what blocks
    /// belongs into `tokio::task::spawn_blocking`.
    pub fn new<Shape>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: impl ToolHandler<Shape>,
    ) -> Self {
        let definition = Definition {
            name: name.into(),
            description: description.into(),
            input_schema: Value::from_iter([("type", "object")]).into(),
            output_schema: None,
            annotations: Annotations::default(),
            meta: BTreeMap::new(),
        };
        Self { definition, timeout: None, handler: handler.into_handler() }
    }

    /// Says what the arguments look like, as JSON Schema. The CLI does not check them: whatever the
    /// model says comes to the handler.
    ///
    /// # Errors
    /// When the schema is not one of an object (`"type": "object"`). The CLI would refuse all tools
    /// of the server because of it.
    pub fn input_schema(mut self, schema: Value) -> Result<Self, SchemaError> {
        self.definition.input_schema = object_schema(schema)?;
        Ok(self)
    }

    /// Says what the arguments look like: what the type says.
    ///
    /// # Errors
    /// When the type is not an object in JSON, such as a list.
    #[cfg(feature = "schema")]
    pub fn input_schema_of<T: schemars::JsonSchema>(self) -> Result<Self, SchemaError> {
        self.input_schema(schemars::schema_for!(T).to_value())
    }

    /// Says what the [structured output](super::ToolOutput::structured) looks like, as JSON Schema.
    ///
    /// # Errors
    /// When the schema is not one of an object (`"type": "object"`).
    pub fn output_schema(mut self, schema: Value) -> Result<Self, SchemaError> {
        self.definition.output_schema = Some(object_schema(schema)?);
        Ok(self)
    }

    /// Says what the structured output looks like: what the type says.
    ///
    /// # Errors
    /// When the type is not an object in JSON, such as a list.
    #[cfg(feature = "schema")]
    pub fn output_schema_of<T: schemars::JsonSchema>(self) -> Result<Self, SchemaError> {
        self.output_schema(schemars::schema_for!(T).to_value())
    }

    /// The name to show to people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.annotations.title = Some(title.into());
        self
    }

    /// Whether it changes nothing. A hint; the CLI asks for permission all the same.
    pub const fn read_only(mut self, hint: bool) -> Self {
        self.definition.annotations.read_only_hint = Some(hint);
        self
    }

    /// Whether it may destroy something, as opposed to adding only. A hint.
    pub const fn destructive(mut self, hint: bool) -> Self {
        self.definition.annotations.destructive_hint = Some(hint);
        self
    }

    /// Whether calling it twice does no more than calling it once. A hint.
    pub const fn idempotent(mut self, hint: bool) -> Self {
        self.definition.annotations.idempotent_hint = Some(hint);
        self
    }

    /// Whether it reaches the outside world. A hint.
    pub const fn open_world(mut self, hint: bool) -> Self {
        self.definition.annotations.open_world_hint = Some(hint);
        self
    }

    /// Whether the model sees the tool from the start, rather than when it searches for tools.
    pub fn always_load(self, always: bool) -> Self {
        self.meta(ALWAYS_LOAD, always.into())
    }

    /// What the model may be looking for when it needs this tool.
    pub fn search_hint(self, hint: impl Into<String>) -> Self {
        self.meta("anthropic/searchHint", hint.into().into())
    }

    /// How many characters a result may have before the CLI treats it as too large.
    pub fn max_result_size_chars(self, max: u64) -> Self {
        self.meta("anthropic/maxResultSizeChars", max.into())
    }

    /// Says something else about the tool, in its `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: Value) -> Self {
        self.definition.meta.insert(key.into(), value.into());
        self
    }

    /// How long a call may take; then the handler is dropped, and the call has failed. It goes
    /// before the [limit of the server](super::McpServer::timeout).
    pub const fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Its name, as the server spells it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    pub(super) const fn limit(&self) -> Option<Duration> {
        self.timeout
    }

    pub(super) fn handler(&self) -> &Handler {
        &self.handler
    }

    /// What `tools/list` says about it, in a server whose tools are always loaded or not.
    pub(super) fn listed(&self, always_load: bool) -> impl Serialize {
        let mut definition = self.definition.clone();
        if always_load {
            let always = || Value::Bool(true).into();
            definition.meta.entry(ALWAYS_LOAD.to_owned()).or_insert_with(always);
        }
        definition
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("definition", &self.definition).finish_non_exhaustive()
    }
}

/// Why a schema is refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is not the schema of an object.
    #[error(r#"a tool takes and gives objects only; the schema must say "type": "object""#)]
    NotAnObject,
}

fn object_schema(schema: Value) -> Result<RawJson, SchemaError> {
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => Ok(schema.into()),
        _ => Err(SchemaError::NotAnObject),
    }
}

const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// What `tools/list` says about a tool.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Definition {
    name: String,
    description: String,
    input_schema: RawJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<RawJson>,
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    annotations: Annotations,
    #[serde(rename = "_meta", skip_serializing_if = "BTreeMap::is_empty")]
    meta: BTreeMap<String, RawJson>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotent_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_world_hint: Option<bool>,
}

impl Annotations {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
