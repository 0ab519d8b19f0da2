//! `EnterPlanMode` and `ExitPlanMode`.

use std::fs;

use super::{Call, Shape, ToolResult};
use crate::sim::json::{Json, Object, obj};
use crate::sim::permission::Entry;
use crate::sim::state::Sim;

const ENTERED: &str = "Entered plan mode. You should now focus on exploring the codebase and designing an implementation approach.";
const ADVICE: &str = "\n\nIn plan mode, you should:\n1. Thoroughly explore the codebase to understand existing patterns\n2. Identify similar features and architectural approaches\n3. Consider multiple approaches and their trade-offs\n4. Use AskUserQuestion if you need to clarify the approach\n5. Design a concrete implementation strategy\n6. When ready, use ExitPlanMode to present your plan for approval\n\nRemember: DO NOT write or edit any files yet. This is a read-only exploration and planning phase.";

impl Sim {
    fn plan_text(&self) -> Option<String> {
        let path = self.plan.borrow_mut().path(self);
        fs::read_to_string(path).ok()
    }

    /// Puts the plan into the input of `ExitPlanMode`, in place of what the model put there.
    pub(super) fn add_plan(&self, input: &mut Object) {
        let Some(text) = self.plan_text() else { return };
        input.set("plan", text);
        if self.profile.plan_paths {
            let path = self.plan.borrow_mut().path(self);
            input.set("planFilePath", path.display().to_string());
        }
    }

    /// Newer versions do not leave a mode that they are not in.
    pub(super) fn check_exit_plan(&self) -> Option<String> {
        let in_plan = self.permissions.borrow().mode() == "plan";
        (!in_plan && self.profile.guards_plan_exit).then(|| {
            "You are not in plan mode. To enter plan mode, call the EnterPlanMode tool first. If your plan was already approved, continue with implementation.".to_owned()
        })
    }

    /// `EnterPlanMode`.
    pub(super) fn enter_plan_tool(&self) -> ToolResult {
        if self.permissions.borrow_mut().set_mode(Some("plan"), Entry::Tool) {
            self.emit_mode();
        }
        ToolResult::new(format!("{ENTERED}{ADVICE}"), obj! { "message": ENTERED })
            .shaped(Shape::IdLast)
    }

    /// `ExitPlanMode`.
    pub(super) fn exit_plan_tool(&self, call: &Call, input: &Json) -> ToolResult {
        let path = self.plan.borrow_mut().path(self);
        let original = call.input.text("plan");
        let given = input.text("plan").filter(|_| self.profile.plan_paths);
        let changed = given.is_some_and(|plan| original != Some(plan));
        let edited = changed || (self.profile.plan_always_edited && original.is_some());
        let plan = given.map(str::to_owned).or_else(|| self.plan_text());
        if let Some(plan) = plan.as_deref().filter(|_| changed)
            && let Some(folder) = path.parent()
        {
            // A plan that cannot be kept is still approved.
            drop(fs::create_dir_all(folder).and_then(|()| fs::write(&path, plan)));
        }
        if self.permissions.borrow().mode() == "plan" {
            self.permissions.borrow_mut().leave_plan();
            self.emit_mode();
        }
        let structured = obj! {
            "plan": plan.clone(),
            "isAgent": false,
            "filePath": path.display().to_string(),
            "planWasEdited"?: (edited && plan.is_some()).then_some(true),
        };
        let text = match plan {
            None => "User has approved exiting plan mode. You can now proceed.".to_owned(),
            Some(plan) => {
                let heading =
                    if edited { "Approved Plan (edited by user)" } else { "Approved Plan" };
                format!(
                    "User has approved your plan. You can now start coding. Start with updating your todo list if applicable\n\nYour plan has been saved to: {}\nYou can refer back to it if needed during implementation.\n\n## {heading}:\n{plan}",
                    path.display()
                )
            }
        };
        ToolResult::new(text, structured).shaped(Shape::IdLast)
    }
}
