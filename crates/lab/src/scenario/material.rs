//! What several scenarios use.

use serde_json::{Value, json};

/// The model writes a file.
pub(super) const WRITE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;

/// The model writes two files, one after the other.
pub(super) const WRITE_TWICE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/one.txt", content = "1\n" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/two.txt", content = "2\n" } }

[[answer]]
text = "That was it."
"#;

/// The model says something, twice.
pub(super) const TALK: &str = r#"
[[answer]]
text = "First."

[[answer]]
text = "Second."
"#;

/// Ids of messages.
pub(super) const ONE: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f01";
pub(super) const TWO: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f02";
pub(super) const THREE: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f03";

/// A message of the user with an id: text, or a list of blocks.
pub(super) fn message(content: impl Into<Value>, uuid: &str) -> Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": content.into()},
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid,
    })
}
