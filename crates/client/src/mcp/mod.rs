//! MCP servers that live in this process.
//!
//! A tool is an async function; the model calls it like any other tool, and it has everything that
//! the program has.
//!
//! ```
//! use countersign::mcp::{McpServer, Tool, ToolServer};
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize)]
//! struct Add {
//!     a: f64,
//!     b: f64,
//! }
//!
//! async fn add(Add { a, b }: Add) -> Result<String, std::convert::Infallible> {
//!     Ok((a + b).to_string())
//! }
//!
//! let add = Tool::new("add", "Adds two numbers.", add).input_schema(json!({
//!     "type": "object",
//!     "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
//!     "required": ["a", "b"],
//! }))?;
//! let calc = McpServer::from(ToolServer::new("calc").tool(add));
//! # Ok::<(), countersign::mcp::SchemaError>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | say what a tool takes, and how it behaves | [`Tool`] |
//! | give back pictures, data, failures | [`ToolOutput`] |
//! | report progress, stop when the call is withdrawn | [`Call`] |
//! | add and remove tools while sessions run | [`ToolServer::add`], [`ToolServer::remove`] |
//! | offer resources and prompts | `McpServer::from_rmcp`, with the feature `rmcp` |
//! | limit calls, have a person asked | [`McpServer::timeout`], [`McpServer::always_ask`] |

mod call;
mod call_request;
mod connection;
mod handler;
mod output;
#[cfg(feature = "rmcp")]
mod rmcp_server;
#[cfg(feature = "rmcp")]
mod rmcp_service;
mod rpc;
mod running;
mod server;
mod tool;
mod tool_server;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use countersign_protocol::RawJson;

pub use self::call::Call;
pub use self::handler::ToolHandler;
pub use self::output::{Content, Resource, ResourceLink, StructuredError, ToolOutput};
pub(crate) use self::server::Connection;
pub use self::server::McpServer;
pub use self::tool::{SchemaError, Tool};
pub use self::tool_server::ToolServer;

/// Takes the messages that a server begins with.
type Outgoing = Arc<dyn Fn(RawJson) + Send + Sync>;

/// The examples of the guide are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/mcp.md")]
struct Guide;
