//! Answers that decide.

use countersign_protocol_derive::{WireObject, WireTagged};

use crate::names::open_enum;
use crate::permission::PermissionUpdate;
use crate::wire::{Extra, Named, RawJson};

/// Decides about a tool call.
///
/// Without a decision the call goes its usual way through rules, mode and host, with the
/// [`updated_input`](Self::updated_input) if there is one.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PreToolUseOutput {
    /// The decision.
    pub permission_decision: Option<HookPermission>,
    /// Why. The model is told when the call is refused, the user when there is a question.
    pub permission_decision_reason: Option<String>,
    /// The input the tool runs with, which replaces the one it was called with.
    pub updated_input: Option<RawJson>,
    /// What the model is told besides.
    pub additional_context: Option<String>,
    /// How to word the question to the user. Not in the CLI's public types.
    pub permission_display: Option<PermissionDisplay>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl PreToolUseOutput {
    /// The tool runs, and nobody is asked.
    ///
    /// A rule that denies still wins (on 2.1.62 the hook does). It is no answer to a tool that
    /// wants something from the user: `ExitPlanMode` still asks the host, and `AskUserQuestion`
    /// does unless [`updated_input`](Self::updated_input) has the answers (2.1.62: always).
    #[must_use]
    pub fn allow() -> Self {
        Self::new().with_permission_decision(HookPermission::Allow)
    }

    /// The tool does not run, nobody is asked, and the model is told why.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new()
            .with_permission_decision(HookPermission::Deny)
            .with_permission_decision_reason(reason)
    }

    /// The call is put to the host, in every mode; on 2.1.62 not in every one.
    #[must_use]
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::new()
            .with_permission_decision(HookPermission::Ask)
            .with_permission_decision_reason(reason)
    }

    /// The turn ends here, and a resume of the session asks again (2.1.197 and later).
    ///
    /// The result says `tool_deferred` and names the call. Of several calls made in parallel it
    /// names only the last.
    #[must_use]
    pub fn defer() -> Self {
        Self::new().with_permission_decision(HookPermission::Defer)
    }
}

open_enum! {
    /// What a hook decides about a tool call or a change of the model.
    HookPermission {
        /// It happens.
        Allow = "allow",
        /// It does not happen.
        Deny = "deny",
        /// The user is asked.
        Ask = "ask",
        /// The turn ends, and the question waits for a resume. Only for tools.
        Defer = "defer",
    }
}

/// How to word a question to the user.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionDisplay {
    /// The question.
    pub title: Option<String>,
    /// What stands below it.
    pub description: Option<String>,
    /// What to call the tool.
    pub display_name: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Gives or refuses a permission.
///
/// It races with the answer of the host, and the first one wins.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionRequestOutput {
    /// The decision.
    pub decision: PermissionRequestDecision,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl PermissionRequestOutput {
    /// Gives the permission for the call as it is.
    #[must_use]
    pub fn allow() -> Self {
        Self::new(PermissionRequestAllow::new())
    }

    /// Refuses it and tells the model why.
    #[must_use]
    pub fn deny(message: impl Into<String>) -> Self {
        Self::new(PermissionRequestDeny::new().with_message(message))
    }
}

/// Whether a permission is given.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "behavior")]
#[non_exhaustive]
pub enum PermissionRequestDecision {
    /// It is given.
    #[wire(name = "allow")]
    Allow(PermissionRequestAllow),
    /// It is refused.
    #[wire(name = "deny")]
    Deny(PermissionRequestDeny),
    /// A decision this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// Gives a permission.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionRequestAllow {
    /// The input the tool runs with, which replaces the one it was called with.
    pub updated_input: Option<RawJson>,
    /// Changes of rules, mode or folders that take effect with the answer.
    pub updated_permissions: Option<Vec<PermissionUpdate>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Refuses a permission.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionRequestDeny {
    /// What the model is told.
    pub message: Option<String>,
    /// Whether the turn ends as well.
    pub interrupt: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Lets the model try again what the classifier has refused.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionDeniedOutput {
    /// Whether the model is told that it may try again. The refusal itself stands.
    pub retry: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Decides about a change of the model.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PreModelSwitchOutput {
    /// The decision. [`HookPermission::Ask`] refuses where nobody can be asked, which is so in
    /// every session that a client drives; [`HookPermission::Defer`] does not exist here.
    pub permission_decision: Option<HookPermission>,
    /// Why. A client that asked for the change with `set_model` gets it as the error.
    pub permission_decision_reason: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl PreModelSwitchOutput {
    /// The model is changed.
    #[must_use]
    pub fn allow() -> Self {
        Self::new().with_permission_decision(HookPermission::Allow)
    }

    /// The model stays as it is.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new()
            .with_permission_decision(HookPermission::Deny)
            .with_permission_decision_reason(reason)
    }
}
