//! `Bash`, without a shell: what the script says, or what `echo` would say.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::rc::Rc;

use super::{Call, Shape, ToolResult};
use crate::sim::background::{Kind, Task, new_run_id};
use crate::sim::clock::new_id;
use crate::sim::exec::Flag;
use crate::sim::json::{Json, obj};
use crate::sim::permission::words;
use crate::sim::profile::Release;
use crate::sim::state::Sim;
use crate::sim::turn::{Aborted, Scope};

/// Commands that say nothing when all is well.
const SILENT: [&str; 8] = ["cd", "chmod", "cp", "ln", "mkdir", "mv", "rm", "touch"];

impl Sim {
    /// `Bash`.
    pub(super) async fn bash_tool(
        self: &Rc<Self>,
        scope: &Scope,
        call: &Call,
        input: &Json,
    ) -> Result<ToolResult, Aborted> {
        let command = input.text("command").unwrap_or_default();
        let output = call.scripted.clone().unwrap_or_else(|| self.pretend(command));
        if input.is_true("run_in_background") {
            return Ok(self.bash_in_background(call, input, output));
        }
        scope.turn.wait(self.tasks.sleep(call.duration())).await?;
        if call.fails {
            return Ok(ToolResult::error(output));
        }
        Ok(self.command_result(command, &output))
    }

    fn command_result(&self, command: &str, output: &str) -> ToolResult {
        let output = output.trim_end_matches('\n');
        let first = command.split_whitespace().next().unwrap_or_default();
        let structured = obj! {
            "stdout": output,
            "stderr": "",
            "interrupted": false,
            "isImage": false,
            "noOutputExpected": SILENT.contains(&first),
        };
        let silent = output.is_empty() && self.profile.release > Release::V62;
        let content = if silent { "(Bash completed with no output)" } else { output };
        ToolResult::new(content, structured).shaped(Shape::Command)
    }

    /// What a command would say. `touch`, `rm`, `mkdir` and `echo … >> FILE` really happen in the
    /// folder, because later calls may look, and tests how often a call ran.
    fn pretend(&self, command: &str) -> String {
        if let Some((said, file)) = command.split_once(" >> ")
            && said.starts_with("echo ")
            && is_plain(said)
            && is_plain(file)
        {
            self.append(&self.pretend(said), file);
            return String::new();
        }
        let words = words(command);
        let rest = || words.iter().skip(1);
        let paths = || {
            let plain = rest().filter(|word| !word.starts_with('-'));
            plain
                .map(|word| self.env.absolute(word))
                .filter(|path| path.starts_with(&self.env.cwd) && *path != self.env.cwd)
        };
        if !is_plain(command) {
            return String::new();
        }
        match words.first().map(String::as_str) {
            Some("echo") => {
                let said: Vec<String> = rest().map(|word| self.expand_variables(word)).collect();
                said.join(" ")
            }
            Some("pwd") => self.env.cwd.display().to_string(),
            Some("touch") => {
                for path in paths() {
                    // What cannot be touched stays as it is.
                    drop(OpenOptions::new().create(true).append(true).open(path));
                }
                String::new()
            }
            Some("mkdir") => {
                for path in paths() {
                    drop(std::fs::create_dir_all(path));
                }
                String::new()
            }
            Some("rm") => {
                for path in paths().filter(|path| path.is_file()) {
                    drop(std::fs::remove_file(path));
                }
                String::new()
            }
            _ => String::new(),
        }
    }

    /// Adds a line to a file in the folder. What cannot be written to stays as it is.
    fn append(&self, line: &str, file: &str) {
        let path = self.env.absolute(file.trim());
        if !path.starts_with(&self.env.cwd) {
            return;
        }
        if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
            // At once, so that lines of several sessions do not get into each other.
            drop(file.write_all(format!("{line}\n").as_bytes()));
        }
    }

    fn expand_variables(&self, word: &str) -> String {
        let Some((before, name)) = word.split_once('$') else { return word.to_owned() };
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let (name, after) = name.split_at(end);
        let value = self.variables.borrow().get(name).cloned();
        let value = value.or_else(|| self.env.var(name).map(str::to_owned)).unwrap_or_default();
        format!("{before}{value}{after}")
    }

    fn bash_in_background(
        self: &Rc<Self>,
        call: &Call,
        input: &Json,
        output: String,
    ) -> ToolResult {
        let id = new_id("b", 9);
        let task = Task {
            output: self.task_output(&id),
            id: id.clone(),
            run_id: new_run_id(),
            tool_use_id: call.id.clone(),
            description: input
                .text("description")
                .or_else(|| input.text("command"))
                .unwrap_or_default()
                .to_owned(),
            kind: Kind::Command,
            command: input.text("command").map(str::to_owned),
            stop: Rc::new(Flag::default()),
        };
        let mut text = format!(
            "Command running in background with ID: {id}. Output is being written to: {}",
            task.output.display()
        );
        if self.profile.release > Release::V62 {
            text.push_str(". You will be notified when it completes. To check interim output, use Read on that file path.");
        }
        self.run_in_background(task, call.takes, output, call.fails);
        let structured = obj! {
            "stdout": "",
            "stderr": "",
            "interrupted": false,
            "isImage": false,
            "noOutputExpected": false,
            "backgroundTaskId": id,
        };
        ToolResult::new(text, structured).shaped(Shape::Command)
    }
}

/// Whether a command is one command and nothing else.
fn is_plain(command: &str) -> bool {
    !command.contains([';', '&', '|', '>', '`', '\n']) && !command.contains("$(")
}
