//! What the mode makes of a decision.

use super::decide::{Ask, Decision, Denial, Granted, file_of};
use super::{Entry, Permissions};
use crate::sim::json::Json;
use crate::sim::profile::PlanCommands;
use crate::sim::state::Sim;

/// What the model is told so that it does not look for a way round.
const WORKAROUND: &str = "IMPORTANT: You *may* attempt to accomplish this action using other tools that might naturally be used to accomplish this goal, e.g. using head instead of cat. But you *should not* attempt to work around this denial in malicious ways, e.g. do not use your ability to run tests to execute non-test actions. You should only try to work around this restriction in reasonable ways that do not attempt to bypass the intent behind this denial. If you believe this capability is essential to complete the user's request, STOP and explain to the user what you were trying to do and why you need this permission. Let the user decide how to proceed.";

impl Sim {
    /// What the mode makes of a decision.
    pub(super) fn apply_mode(
        &self,
        permissions: &Permissions,
        tool: &str,
        input: &Json,
        decision: Decision,
    ) -> Decision {
        let ask = match decision {
            Decision::Ask(ask) => ask,
            Decision::Allow(..) if permissions.mode() == "bypassPermissions" => {
                return Decision::Allow(Some("mode"), Granted::Config);
            }
            other => return other,
        };
        let mode = permissions.mode();
        if mode == "dontAsk" {
            return Decision::Deny(Denial {
                message: format!(
                    "Permission to use {tool} has been denied because Claude Code is running in don't ask mode. {WORKAROUND}"
                ),
                as_tool_error: false,
                reason: None,
                reason_type: Some("mode"),
                reason_code: None,
                kind: "permission-rule",
                told_reason_type: Some("mode"),
                by: Granted::Config,
            });
        }
        if ask.requires_user {
            return Decision::Ask(ask);
        }
        let by_rule = ask.reason_type == Some("rule") || ask.matched_ask_rule.is_some();
        let endangers =
            ask.classifier_approvable == Some(false) && self.profile.bypass_keeps_safety;
        let plan_may = permissions.bypass_available && !self.profile.plan_guards_files;
        let bypassed = mode == "bypassPermissions" || (mode == "plan" && plan_may);
        if bypassed && !by_rule && !endangers {
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        if self.auto_decides(permissions, tool, &ask) && !by_rule {
            return self.decide_in_auto(permissions, tool, input, &ask);
        }
        Decision::Ask(ask)
    }

    /// Whether auto mode decides about this tool now.
    fn auto_decides(&self, permissions: &Permissions, tool: &str, ask: &Ask) -> bool {
        let file_tool = matches!(tool, "Write" | "Edit" | "NotebookEdit");
        let safety = ask.reason_type == Some("safetyCheck");
        match permissions.mode() {
            "auto" => true,
            "plan" if self.settings.borrow().no_auto_in_plan() => false,
            "plan" => match self.profile.plan_commands {
                PlanCommands::Ask => false,
                _ if file_tool && !safety => false,
                // What is dangerous is for the person to decide, files of settings included.
                PlanCommands::AutoWhenEnteredLive if safety => false,
                PlanCommands::AutoWhenEnteredLive => {
                    matches!(permissions.plan_entry, Entry::Request | Entry::Tool)
                }
                PlanCommands::Auto => {
                    let from_bypass =
                        permissions.before_plan.as_deref() == Some("bypassPermissions");
                    permissions.plan_entry != Entry::Update && !from_bypass
                }
            },
            _ => false,
        }
    }

    /// Auto mode allows what stays in the folder; for the rest it needs a check that does not run
    /// here, so it refuses.
    fn decide_in_auto(
        &self,
        permissions: &Permissions,
        tool: &str,
        input: &Json,
        ask: &Ask,
    ) -> Decision {
        if matches!(tool, "Read" | "Glob" | "Grep") {
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        let live = permissions.mode() == "auto"
            || self.profile.plan_commands == PlanCommands::AutoWhenEnteredLive;
        let inside = match tool {
            "Write" | "Edit" => file_of(tool, input)
                .is_some_and(|path| permissions.is_inside(&self.env, &self.env.absolute(path))),
            "Bash" => {
                ask.blocked_path.as_ref().is_some_and(|path| permissions.is_inside(&self.env, path))
            }
            _ => false,
        };
        if live && inside && ask.reason_type != Some("safetyCheck") {
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        Decision::Deny(self.no_check(tool))
    }

    fn no_check(&self, tool: &str) -> Denial {
        if self.profile.internals {
            return Denial {
                message: format!(
                    "Auto mode is unavailable: its safety check does not run for this session, so {tool} was not run. Other actions that need the check will be denied too, and retrying won't help. Finish what you can without them, then tell the user what is blocked and that they can switch to another permission mode."
                ),
                as_tool_error: false,
                reason: Some("Classifier unavailable".to_owned()),
                reason_type: Some("classifier"),
                reason_code: Some("auto_mode_no_check_in_session"),
                kind: "automode-unavailable",
                told_reason_type: Some("classifier"),
                by: Granted::Config,
            };
        }
        let reason = "Auto mode could not evaluate this action and is blocking it for safety — run with --debug for details";
        Denial {
            message: format!(
                "Permission for this action was denied by the Claude Code auto mode classifier. Reason: {reason}. If you have other tasks that don't depend on this action, continue working on those. {WORKAROUND} To allow this type of action in the future, the user can add a Bash permission rule to their settings."
            ),
            as_tool_error: false,
            reason: Some(reason.to_owned()),
            reason_type: Some("classifier"),
            reason_code: None,
            kind: "automode-blocked",
            told_reason_type: Some("classifier"),
            by: Granted::Config,
        }
    }
}
