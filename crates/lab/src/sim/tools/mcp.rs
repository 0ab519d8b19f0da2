//! Tools of the client's own servers.

use base64::Engine as _;

use super::{Call, ToolResult};
use crate::sim::clock::{epoch_ms, new_id};
use crate::sim::json::{Json, Object, obj};
use crate::sim::profile::Release;
use crate::sim::state::Sim;
use crate::sim::turn::{Aborted, Scope};

impl Sim {
    /// A tool of a server.
    pub(super) async fn mcp_tool(
        &self,
        scope: &Scope,
        call: &Call,
        input: &Json,
    ) -> Result<ToolResult, Aborted> {
        let answer = self.call_server(&scope.turn, &call.name, input, &call.id).await?;
        let result = match answer {
            Ok(result) => result,
            Err(error) => {
                let mut result = ToolResult::error(error);
                if self.life.closed.is_raised() {
                    result.kind = Some("interrupted");
                }
                return Ok(result);
            }
        };
        let blocks = result.get("content").and_then(Json::as_array).unwrap_or_default();
        if result.is_true("isError") {
            return Ok(self.mcp_error(call, blocks));
        }
        let server = self.servers.borrow().server_of(&call.name).unwrap_or_default();
        let mut told: Vec<Json> = Vec::new();
        let mut saved: Vec<Json> = Vec::new();
        for block in blocks {
            told.push(told_block(block));
            if let Some(path) = self.keep_image(&server, block) {
                let text = format!("[Image: source: {path}]");
                saved.push(obj! { "type": "text", "text": text }.into());
            }
        }
        let Some(structured) = result.get("structuredContent").filter(|content| !content.is_null())
        else {
            told.append(&mut saved);
            let told = Json::from(told);
            return Ok(ToolResult::new(told.clone(), told));
        };
        let text = structured.to_string();
        if self.profile.release == Release::V62 {
            let both = obj! { "content": &text, "structuredContent": structured };
            return Ok(ToolResult::new(text, both));
        }
        told.retain(|block| block.text("type") != Some("text"));
        told.append(&mut saved);
        let told = if told.is_empty() {
            Json::from(text)
        } else {
            told.push(obj! { "type": "text", "text": text }.into());
            Json::from(told)
        };
        let both = obj! { "content": &told, "structuredContent": structured };
        Ok(ToolResult::new(told, both))
    }

    /// The newest version keeps images of servers in a file, and says where.
    fn keep_image(&self, server: &str, block: &Json) -> Option<String> {
        if block.text("type") != Some("image") || !self.profile.internals {
            return None;
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(block.text("data")?).ok()?;
        let project = self.env.project_folder(&self.env.cwd);
        let folder = project.join(self.session_id()).join("tool-results");
        let kind =
            block.text("mimeType").and_then(|kind| kind.strip_prefix("image/")).unwrap_or("bin");
        let path =
            folder.join(format!("mcp-{server}-blob-{}-{}.{kind}", epoch_ms(), new_id("", 6)));
        std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, bytes)).ok()?;
        Some(path.display().to_string())
    }

    fn mcp_error(&self, call: &Call, blocks: &[Json]) -> ToolResult {
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.text("text")).collect();
        let text = texts.join("\n");
        let mut result = ToolResult::error(text.as_str());
        if self.profile.internals {
            let schema = self
                .servers
                .borrow()
                .tool(&call.name)
                .and_then(|(_, tool)| tool.get("inputSchema").cloned());
            let schema = type_first(schema.unwrap_or_default());
            let name = &call.name;
            result.content = format!(
                "{text}\n\nThis tool's input schema was not in your prompt when you called it. The input schema is: {schema}\nIf your input does not match this schema, correct it and call the tool again. If it matches, the error above has another cause. If the corrected call fails the same way, call ToolSearch with query \"select:{name}\" to load the tool, then call it again."
            )
            .into();
        }
        result
    }
}

/// A block of a server as the model is shown it.
fn told_block(block: &Json) -> Json {
    match block.text("type") {
        Some("image") => {
            let source = obj! {
                "type": "base64",
                "media_type": block.text("mimeType"),
                "data": block.text("data"),
            };
            obj! { "type": "image", "source": source }.into()
        }
        Some("text") => obj! { "type": "text", "text": block.text("text") }.into(),
        _ => obj! { "type": "text", "text": block.to_string() }.into(),
    }
}

/// A schema with its type first, as the CLI shows it whatever the order of the client.
fn type_first(schema: Json) -> Json {
    let Json::Object(fields) = &schema else { return schema };
    let first = ["type", "properties", "required"];
    let mut ordered = Object::default();
    for key in first {
        ordered.set_some(key, fields.get(key));
    }
    for (key, value) in fields.iter().filter(|(key, _)| !first.contains(key)) {
        ordered.set(key, value);
    }
    ordered.into()
}
