//! Answers that would have permissions bypassed in a session that was not launched for it.
//!
//! 2.1.62 obeys them, and writes the mode down where the answer says. Later versions let the tool run
//! and stay in the mode that they are in, without a word. Neither is what was asked for.

use countersign_protocol::hook::{
    HookOutput, HookSpecificOutput, PermissionRequestDecision, PermissionRequestOutput,
};
use countersign_protocol::permission::{PermissionMode, PermissionResult, PermissionUpdate};

use super::shared::Setup;

/// Why such an answer is a refusal.
pub(super) const NOT_LAUNCHED: &str = "the answer sets the mode `bypassPermissions`, and the \
    session was not launched for it with `allow_dangerously_skip_permissions`";

impl Setup {
    /// Whether the session may not do what this answer says.
    pub(super) fn forbids(&self, answer: &PermissionResult) -> bool {
        let PermissionResult::Allow(allow) = answer else { return false };
        self.forbids_any(allow.updated_permissions.as_deref())
    }

    /// Whether the session may not do what this hook says.
    pub(super) fn forbids_hook(&self, output: &HookOutput) -> bool {
        let Some(HookSpecificOutput::PermissionRequest(PermissionRequestOutput {
            decision: PermissionRequestDecision::Allow(allow),
            ..
        })) = &output.hook_specific_output
        else {
            return false;
        };
        self.forbids_any(allow.updated_permissions.as_deref())
    }

    fn forbids_any(&self, updates: Option<&[PermissionUpdate]>) -> bool {
        let bypass = PermissionMode::BypassPermissions;
        let bypasses = |update: &PermissionUpdate| {
            // By its name: whoever makes a mode may have made it of text.
            matches!(update, PermissionUpdate::SetMode(set) if set.mode.as_str() == bypass.as_str())
        };
        !self.may_bypass && updates.unwrap_or_default().iter().any(bypasses)
    }
}
