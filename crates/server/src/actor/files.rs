//! What tools change in files, as the CLI tells it.

use countersign_protocol::RawJson;
use serde_json::Value;

use crate::session::{FileChanged, Happening};

/// The file that a call has changed, if its result says so.
///
/// Only the tools that write files say it; what a command changes, nobody is told.
pub(super) fn changed_file(call: &str, result: Option<&RawJson>) -> Option<Happening> {
    let result = result?;
    // Most results are of other tools, and some are large.
    if !result.as_str().contains("\"structuredPatch\"") {
        return None;
    }
    let details: Value = result.decode().ok()?;
    let text = |name: &str| details.get(name).and_then(Value::as_str);
    let path = text("filePath")?.to_owned();
    let is_new = text("type") == Some("create");
    let hunks = details.get("structuredPatch")?.as_array()?;
    let lines = hunks.iter().filter_map(|hunk| hunk.get("lines")?.as_array()).flatten();
    let (mut added, mut removed) = (0, 0);
    for line in lines.filter_map(Value::as_str) {
        match line.as_bytes().first() {
            Some(b'+') => added += 1,
            Some(b'-') => removed += 1,
            _ => {}
        }
    }
    // A file that is new has no patch.
    if is_new && hunks.is_empty() {
        added = text("content").map_or(0, |content| content.lines().count() as u64);
    }
    let tool_use_id = call.to_owned();
    Some(FileChanged { path, is_new, added, removed, tool_use_id }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(result: &str) -> Option<(String, bool, u64, u64)> {
        let raw: RawJson = result.parse().unwrap();
        match changed_file("call", Some(&raw))? {
            Happening::FileChanged(file) => {
                assert_eq!(file.tool_use_id, "call");
                Some((file.path, file.is_new, file.added, file.removed))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_are_counted() {
        let edit = r#"{"filePath": "/a", "structuredPatch": [
            {"oldStart": 1, "lines": [" x", "-y", "+z", "+w"]}, {"lines": ["-v"]}]}"#;
        assert_eq!(changed(edit), Some(("/a".into(), false, 2, 2)));
        let new =
            r#"{"type": "create", "filePath": "/b", "content": "1\n2\n", "structuredPatch": []}"#;
        assert_eq!(changed(new), Some(("/b".into(), true, 2, 0)));
    }

    #[test]
    fn other_results_change_nothing() {
        for other in
            [r#"{"stdout": "x"}"#, r#"{"structuredPatch": 1, "filePath": "/a"}"#, r#""text""#]
        {
            assert_eq!(changed(other), None, "{other}");
        }
        assert!(changed_file("call", None).is_none());
    }
}
