//! Which tool does what, and the tools that are little more than a text.

use std::rc::Rc;

use super::{Call, ToolResult};
use crate::sim::json::{Json, Object, obj};
use crate::sim::state::Sim;
use crate::sim::turn::{Aborted, Scope};

impl Sim {
    /// Does what a call asks for.
    pub(super) async fn execute(
        self: &Rc<Self>,
        scope: &Rc<Scope>,
        call: &Call,
        input: &Json,
    ) -> Result<ToolResult, Aborted> {
        if call.name == "Bash" {
            return self.bash_tool(scope, call, input).await;
        }
        if matches!(call.name.as_str(), "Agent" | "Task") {
            return self.agent_tool(scope, call, input).await;
        }
        scope.turn.wait(self.tasks.sleep(call.duration())).await?;
        if call.name.starts_with("mcp__") {
            return self.mcp_tool(scope, call, input).await;
        }
        Ok(match call.name.as_str() {
            "Read" => self.read_file_tool(call, input),
            "Write" => self.write_file_tool(call, input),
            "Edit" => self.edit_file_tool(call, input),
            "Glob" if call.scripted.is_none() => self.glob_tool(input),
            "Grep" if call.scripted.is_none() => self.grep_tool(input),
            "EnterPlanMode" => self.enter_plan_tool(),
            "ExitPlanMode" => self.exit_plan_tool(call, input),
            "AskUserQuestion" => self.question_tool(input),
            "StructuredOutput" => {
                scope.turn.structured.replace(Some(input.clone()));
                let text = "Structured output provided successfully";
                ToolResult::new(text, text)
            }
            _ => self.other_tool(call, input),
        })
    }

    fn other_tool(&self, call: &Call, input: &Json) -> ToolResult {
        if let Some(text) = &call.scripted {
            return if call.fails {
                ToolResult::error(text.as_str())
            } else {
                ToolResult::new(text.as_str(), text.as_str())
            };
        }
        match call.name.as_str() {
            "TodoWrite" => {
                let todos = input.get("todos").cloned().unwrap_or_default();
                let old = self.todos.replace(todos.clone());
                let structured = obj! {
                    "oldTodos": if old.is_null() { Json::Array(Vec::new()) } else { old },
                    "newTodos": todos,
                };
                ToolResult::new(
                    "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable",
                    structured,
                )
            }
            "WebFetch" => {
                let url = input.text("url").unwrap_or_default();
                let host = url.split_once("://").map_or(url, |(_, rest)| rest);
                let host = host.split(['/', ':']).next().unwrap_or(host);
                ToolResult::error(format!(
                    "Unable to verify if domain {host} is safe to fetch. This may be due to network restrictions or enterprise security policies blocking claude.ai."
                ))
            }
            "Skill" => {
                let skill = input.text("skill").unwrap_or_default();
                let structured = obj! { "success": true, "commandName": skill };
                ToolResult::new(format!("Launching skill: {skill}"), structured)
            }
            "TaskStop" => {
                let id =
                    input.text("task_id").or_else(|| input.text("shell_id")).unwrap_or_default();
                if !self.stop_task(id) {
                    return ToolResult::usage_error(format!("No task found with ID: {id}"));
                }
                let message = format!("Successfully stopped task: {id}");
                let structured =
                    obj! { "message": &message, "task_id": id, "task_type": "local_bash" };
                ToolResult::new(message, structured)
            }
            _ => ToolResult::new("ok", Object::default()),
        }
    }
}
