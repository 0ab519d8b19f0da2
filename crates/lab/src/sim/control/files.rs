//! Requests about files.

use std::fs;

use super::Asked;
use crate::sim::json::{Json, obj};
use crate::sim::profile::Release;
use crate::sim::state::Sim;

impl Sim {
    pub(super) fn file_request(&self, asked: &Asked, body: &Json) {
        match asked.subtype.as_str() {
            "rewind_files" => self.rewind(asked, body),
            "read_file" => self.read_for_client(asked, body),
            _ => self.suggest_files(asked, body.text("query").unwrap_or_default()),
        }
    }

    fn rewind(&self, asked: &Asked, body: &Json) {
        let id = body.text("user_message_id").unwrap_or_default();
        let dry = body.is_true("dry_run");
        if !self.env.is_on("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING") {
            let error = "File rewinding is not enabled.";
            if dry {
                self.answer(asked, obj! { "canRewind": false, "error": error });
            } else {
                self.refuse(asked, error, None);
            }
            return;
        }
        let checkpoints = self.checkpoints.borrow();
        let missing = "No file checkpoint found for this message.";
        match (dry, checkpoints.preview(id)) {
            (true, Some(preview)) => self.answer(asked, preview),
            (true, None) => self.answer(asked, obj! { "canRewind": false, "error": missing }),
            (false, Some(_)) if checkpoints.restore(id) => {
                let links = self.profile.internals.then_some(0);
                self.answer(asked, obj! { "canRewind": true, "skippedLinks"?: links });
            }
            (false, _) => self.refuse(asked, missing, None),
        }
    }

    fn read_for_client(&self, asked: &Asked, body: &Json) {
        let requested = body.text("path").unwrap_or_default();
        let path = self.env.absolute(requested);
        let inside = path.starts_with(&self.env.cwd);
        let Some(bytes) = fs::read(&path).ok().filter(|_| inside) else {
            self.refuse(asked, &format!("read denied: {requested}"), None);
            return;
        };
        let most = body
            .get("max_bytes")
            .and_then(Json::as_u64)
            .and_then(|most| usize::try_from(most).ok());
        let truncated = most.is_some_and(|most| bytes.len() > most);
        let shown = bytes.get(..most.unwrap_or(bytes.len()).min(bytes.len())).unwrap_or_default();
        let text = String::from_utf8_lossy(shown);
        let internals = self.profile.internals;
        let payload = obj! {
            "contents": text.as_ref(),
            "absPath": path.display().to_string(),
            "truncated"?: truncated.then_some(true),
            "lossy"?: internals.then_some(text.contains('\u{fffd}')),
            "requested_path"?: internals.then_some(requested),
        };
        self.answer(asked, payload);
    }

    fn suggest_files(&self, asked: &Asked, query: &str) {
        let names = fs::read_dir(&self.env.cwd).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        // The real CLI indexes repositories only; a folder without one has no suggestions.
        let repository = self.env.cwd.join(".git").exists();
        let found: Vec<_> = names
            .filter(|name| repository && name.contains(query))
            .map(|path| obj! { "path": path })
            .collect();
        let cwd =
            (self.profile.release > Release::V197).then(|| self.env.cwd.display().to_string());
        self.answer(asked, obj! { "suggestions": found, "cwd"?: cwd });
    }
}
