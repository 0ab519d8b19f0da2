//! The tools that read and write files. They really do, but only where a test may.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_policy::glob;

use super::patch::structured_patch;
use super::{Call, ToolResult};
use crate::sim::json::{Json, Object, obj};
use crate::sim::profile::Release;
use crate::sim::state::Sim;

const MALWARE: &str = "\n\n<system-reminder>\nWhenever you read a file, you should consider whether it would be considered malware. You CAN and SHOULD provide analysis of malware, what it is doing. But you MUST refuse to improve or augment the code. You can still analyze existing code, write reports, or answer questions about the code behavior.\n</system-reminder>\n";
const NOTE: &str = " (file state is current in your context — no need to Read it back)";
const UNREAD: &str = "File has not been read yet. Read it first before writing to it.";

impl Sim {
    /// Whether the simulated CLI touches a path: in the folder, in added folders, and its own files.
    fn may_touch(&self, path: &Path) -> bool {
        path.starts_with(&self.env.cwd)
            || path.starts_with(&self.env.config_home)
            || self.permissions.borrow().extra_dirs().any(|dir| path.starts_with(dir))
    }

    fn out_of_reach(path: &Path) -> ToolResult {
        ToolResult::error(format!(
            "EACCES: permission denied, open '{}' (the simulated CLI stays in its working directory)",
            path.display()
        ))
    }

    /// What is wrong with an edit before anybody is asked about it.
    pub(super) fn check_before_asking(&self, call: &Call) -> Option<String> {
        if call.name == "ExitPlanMode" {
            return self.check_exit_plan();
        }
        if call.scripted.is_some() || !matches!(call.name.as_str(), "Edit" | "Write") {
            return None;
        }
        let path = self.env.absolute(call.input.text("file_path")?);
        if !self.may_touch(&path) {
            return None;
        }
        let unread = self.profile.reads_before_write
            && path.is_file()
            && !self.read_files.borrow().contains(&path);
        if call.name == "Write" {
            return unread.then(|| UNREAD.to_owned());
        }
        let (old, new) = (call.input.text("old_string")?, call.input.text("new_string")?);
        if old == new {
            return Some(
                "No changes to make: old_string and new_string are exactly the same.".to_owned(),
            );
        }
        if old.is_empty() {
            return None;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            return Some(self.missing_file());
        };
        if unread {
            return Some(UNREAD.to_owned());
        }
        match text.matches(old).count() {
            0 => Some(format!("String to replace not found in file.\nString: {old}")),
            1 => None,
            count if !call.input.is_true("replace_all") => Some(format!(
                "Found {count} matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: {old}"
            )),
            _ => None,
        }
    }

    fn missing_file(&self) -> String {
        format!(
            "File does not exist. Note: your current working directory is {}.",
            self.env.cwd.display()
        )
    }

    /// `Read`.
    pub(super) fn read_file_tool(&self, call: &Call, input: &Json) -> ToolResult {
        let path = self.env.absolute(input.text("file_path").unwrap_or_default());
        let text = match &call.scripted {
            Some(text) if call.fails => return ToolResult::error(text.as_str()),
            Some(text) => text.clone(),
            None if !self.may_touch(&path) => return Self::out_of_reach(&path),
            None if path.is_dir() => {
                return ToolResult::error(format!(
                    "EISDIR: illegal operation on a directory, read '{}'",
                    path.display()
                ));
            }
            None => match fs::read(&path) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(_) => return ToolResult::error(self.missing_file()),
            },
        };
        let again = self.profile.notes_unchanged_files && self.read_files.borrow().contains(&path);
        self.read_files.borrow_mut().insert(path.clone());
        if again && self.unchanged.borrow().get(&path) == Some(&text) {
            let structured = obj! {
                "type": "file_unchanged",
                "file": obj! { "filePath": path.display().to_string() },
            };
            return ToolResult::new(
                "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.",
                structured,
            );
        }
        self.unchanged.borrow_mut().insert(path.clone(), text.clone());
        let start = input.get("offset").and_then(Json::as_u64).unwrap_or(1).max(1);
        let limit = input.get("limit").and_then(Json::as_u64).unwrap_or(2000);
        self.show_file(&path, &text, start, limit)
    }

    fn show_file(&self, path: &Path, text: &str, start: u64, limit: u64) -> ToolResult {
        let all: Vec<&str> = text.split('\n').collect();
        let skip = usize::try_from(start - 1).unwrap_or(usize::MAX);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let shown: Vec<&str> = all.iter().skip(skip).take(limit).copied().collect();
        let old = self.profile.release == Release::V62;
        let numbered: Vec<String> = shown
            .iter()
            .enumerate()
            .map(|(at, line)| {
                let number = skip + at + 1;
                if old { format!("{number:>6}→{line}") } else { format!("{number}\t{line}") }
            })
            .collect();
        let mut content = numbered.join("\n");
        if old {
            content.push_str(MALWARE);
        }
        let file = obj! {
            "filePath": path.display().to_string(),
            "content": shown.join("\n"),
            "numLines": shown.len(),
            "startLine": start,
            "totalLines": all.len(),
        };
        ToolResult::new(content, obj! { "type": "text", "file": file })
    }

    /// `Write`.
    pub(super) fn write_file_tool(&self, call: &Call, input: &Json) -> ToolResult {
        let Some(path) = input.text("file_path") else {
            return ToolResult::error("Path must be a string, received undefined");
        };
        let path = self.env.absolute(path);
        let content = match input.get("content") {
            Some(Json::String(content)) => content.clone(),
            other => return ToolResult::error(not_a_string(other)),
        };
        if let Some(text) = &call.scripted {
            return self.scripted_write(&path, &content, text, call.fails);
        }
        if !self.may_touch(&path) {
            return Self::out_of_reach(&path);
        }
        let before = fs::read_to_string(&path).ok();
        if let Err(error) = self.change_file(&path, before.as_deref(), &content) {
            return ToolResult::error(format!("{error}, open '{}'", path.display()));
        }
        let shown = path.display();
        let note = self.state_note();
        let (kind, text) = match before {
            None => ("create", format!("File created successfully at: {shown}{note}")),
            Some(_) => ("update", format!("The file {shown} has been updated successfully.{note}")),
        };
        let patch =
            before.as_deref().map(|before| structured_patch(before, &content)).unwrap_or_default();
        let structured = obj! {
            "type": kind,
            "filePath": shown.to_string(),
            "content": content,
            "structuredPatch": patch,
            "originalFile": before,
            "userModified"?: (self.profile.release > Release::V62).then_some(false),
        };
        ToolResult::new(text, structured)
    }

    /// A file that is only said to be written.
    fn scripted_write(&self, path: &Path, content: &str, text: &str, fails: bool) -> ToolResult {
        if fails {
            return ToolResult::error(text);
        }
        let structured = obj! {
            "type": "create",
            "filePath": path.display().to_string(),
            "content": content,
            "structuredPatch": Vec::<Object>::new(),
            "originalFile": Json::Null,
            "userModified"?: (self.profile.release > Release::V62).then_some(false),
        };
        ToolResult::new(text, structured)
    }

    fn state_note(&self) -> &'static str {
        if self.profile.release > Release::V62 { NOTE } else { "" }
    }

    fn change_file(&self, path: &Path, before: Option<&str>, after: &str) -> std::io::Result<()> {
        self.checkpoints.borrow_mut().before_change(path, before);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, after)?;
        self.read_files.borrow_mut().insert(path.to_path_buf());
        self.unchanged.borrow_mut().insert(path.to_path_buf(), after.to_owned());
        let mut meter = self.meter.borrow_mut();
        let lines = |text: &str| u64::try_from(text.split('\n').count()).unwrap_or(0);
        meter.lines_added += lines(after);
        meter.lines_removed += before.map_or(0, lines);
        Ok(())
    }

    /// `Edit`.
    pub(super) fn edit_file_tool(&self, call: &Call, input: &Json) -> ToolResult {
        let text = |key: &str| input.text(key).unwrap_or_default().to_owned();
        let (old, new) = (text("old_string"), text("new_string"));
        let path = self.env.absolute(&text("file_path"));
        if let Some(result) = &call.scripted {
            return if call.fails {
                ToolResult::error(result.as_str())
            } else {
                ToolResult::new(result.as_str(), result.as_str())
            };
        }
        if !self.may_touch(&path) {
            return Self::out_of_reach(&path);
        }
        let all = input.is_true("replace_all");
        let before = fs::read_to_string(&path).unwrap_or_default();
        if !before.contains(&old) {
            return ToolResult::error(format!(
                "String to replace not found in file.\nString: {old}"
            ));
        }
        let after = if all { before.replace(&old, &new) } else { before.replacen(&old, &new, 1) };
        if let Err(error) = self.change_file(&path, Some(&before), &after) {
            return ToolResult::error(format!("{error}, open '{}'", path.display()));
        }
        let shown = path.display();
        let structured = obj! {
            "filePath": shown.to_string(),
            "oldString": old,
            "newString": new,
            "originalFile": &before,
            "structuredPatch": structured_patch(&before, &after),
            "userModified": false,
            "replaceAll": all,
        };
        let note = self.state_note();
        ToolResult::new(
            format!("The file {shown} has been updated successfully.{note}"),
            structured,
        )
    }

    /// `Glob`.
    pub(super) fn glob_tool(&self, input: &Json) -> ToolResult {
        let root = self.env.absolute(input.text("path").unwrap_or("."));
        let pattern = format!("{}/{}", root.display(), input.text("pattern").unwrap_or("*"));
        let files: Vec<String> = self
            .files_below(&root)
            .into_iter()
            .map(|path| path.display().to_string())
            .filter(|path| glob(&pattern, path, true))
            .collect();
        let content = if files.is_empty() { "No files found".to_owned() } else { files.join("\n") };
        let count = files.len();
        let structured =
            obj! { "filenames": files, "durationMs": 1, "numFiles": count, "truncated": false };
        ToolResult::new(content, structured)
    }

    /// `Grep`: which files have the pattern in them.
    pub(super) fn grep_tool(&self, input: &Json) -> ToolResult {
        let root = self.env.absolute(input.text("path").unwrap_or("."));
        let pattern = input.text("pattern").unwrap_or_default();
        let Ok(regex) = regex::Regex::new(pattern) else {
            return ToolResult::error(format!("regex parse error: {pattern}"));
        };
        let mut files = Vec::new();
        for path in self.files_below(&root) {
            if fs::read_to_string(&path).is_ok_and(|text| regex.is_match(&text)) {
                let shown = path.strip_prefix(&self.env.cwd).unwrap_or(&path);
                files.push(shown.display().to_string());
            }
        }
        let noun = if files.len() == 1 { "file" } else { "files" };
        let content = if files.is_empty() {
            "No files found".to_owned()
        } else {
            format!("Found {} {noun}\n{}", files.len(), files.join("\n"))
        };
        let count = files.len();
        let structured =
            obj! { "mode": "files_with_matches", "filenames": files, "numFiles": count };
        ToolResult::new(content, structured)
    }

    /// The files in a folder, at most some thousands of them.
    fn files_below(&self, root: &Path) -> Vec<PathBuf> {
        const MOST: usize = 10_000;
        let mut files = Vec::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop().filter(|_| files.len() < MOST) {
            if !self.may_touch(&folder) {
                continue;
            }
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            entries.sort();
            for path in entries {
                let hidden = path.file_name().is_some_and(|name| name == ".git");
                if path.is_dir() && !path.is_symlink() && !hidden {
                    folders.push(path);
                } else if path.is_file() {
                    files.push(path);
                }
            }
        }
        files
    }
}

fn not_a_string(value: Option<&Json>) -> String {
    let found = match value {
        Some(Json::Number(number)) => format!("Received type number ({number})"),
        Some(Json::Bool(value)) => format!("Received type boolean ({value})"),
        Some(Json::Null) => "Received null".to_owned(),
        Some(_) => "Received an instance of Object".to_owned(),
        None => "Received undefined".to_owned(),
    };
    format!(
        "The \"data\" argument must be of type string or an instance of Buffer, TypedArray, or DataView. {found}"
    )
}
