//! Who may do what: modes, rules, and the answer to a permission request.

use countersign_protocol_derive::{WireObject, WireTagged};

use crate::ids::ToolUseId;
use crate::names::open_enum;
use crate::wire::{Extra, Named, RawJson};

open_enum! {
    /// What the CLI does with a tool call that no rule decides.
    PermissionMode {
        /// Ask. 2.1.325 also writes it `manual` in its help; see [`PermissionMode::Manual`].
        Default = "default",
        /// The same as `default`, under the name that newer versions show.
        Manual = "manual",
        /// Edit files in the working directory without asking.
        AcceptEdits = "acceptEdits",
        /// Read and plan. Not a wall: writing tools are put to the host, and run if allowed.
        Plan = "plan",
        /// Ask for next to nothing. Only for a process that was launched for it.
        BypassPermissions = "bypassPermissions",
        /// Deny instead of asking.
        DontAsk = "dontAsk",
        /// A classifier decides, and asks when it is not sure.
        Auto = "auto",
    }

    /// What a rule does.
    RuleBehavior {
        /// The call runs without asking.
        Allow = "allow",
        /// The call is refused without asking.
        Deny = "deny",
        /// The call is always put to a person.
        Ask = "ask",
    }

    /// Where a permission update is kept.
    UpdateDestination {
        /// The user's settings file.
        UserSettings = "userSettings",
        /// The settings file of the project that is shared with others.
        ProjectSettings = "projectSettings",
        /// The settings file of the project that is not shared.
        LocalSettings = "localSettings",
        /// The running session. Not restored by a resume.
        Session = "session",
        /// As if given on the command line: in memory only.
        CliArg = "cliArg",
    }

    /// What an answer meant, for the CLI's statistics. Inferred when absent.
    DecisionClassification {
        /// A person allowed this call.
        UserTemporary = "user_temporary",
        /// A person allowed this and later calls.
        UserPermanent = "user_permanent",
        /// A person refused.
        UserReject = "user_reject",
    }
}

/// A rule: a tool, and what of its input the rule covers.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionRule {
    /// The tool, as the CLI names it.
    pub tool_name: String,
    /// What stands in parentheses in the settings file, such as `npm test:*`. Without it the
    /// rule covers every call of the tool.
    pub rule_content: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A change of the rules, the mode or the folders of a session.
///
/// The CLI suggests them with a permission request; sent back with the answer they take effect
/// before the tool runs. One malformed entry voids the whole list without a word, so build them
/// with these types.
///
/// ```
/// use countersign_protocol::permission::{
///     PermissionMode, PermissionUpdate, SetMode, UpdateDestination,
/// };
///
/// let update: PermissionUpdate =
///     SetMode::new(PermissionMode::AcceptEdits, UpdateDestination::Session).into();
/// assert_eq!(
///     serde_json::to_string(&update)?,
///     r#"{"type":"setMode","mode":"acceptEdits","destination":"session"}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum PermissionUpdate {
    /// Adds rules.
    #[wire(name = "addRules")]
    AddRules(RulesUpdate),
    /// Puts these rules in place of all rules of that behavior and destination.
    #[wire(name = "replaceRules")]
    ReplaceRules(RulesUpdate),
    /// Removes rules.
    #[wire(name = "removeRules")]
    RemoveRules(RulesUpdate),
    /// Changes the mode.
    #[wire(name = "setMode")]
    SetMode(SetMode),
    /// Adds folders that tools may read.
    #[wire(name = "addDirectories")]
    AddDirectories(DirectoriesUpdate),
    /// Removes folders.
    #[wire(name = "removeDirectories")]
    RemoveDirectories(DirectoriesUpdate),
    /// A kind this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// Rules, what they do, and where they are kept.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RulesUpdate {
    /// The rules.
    pub rules: Vec<PermissionRule>,
    /// What they do.
    pub behavior: RuleBehavior,
    /// Where they are kept.
    pub destination: UpdateDestination,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Changes the mode.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SetMode {
    /// The new mode.
    pub mode: PermissionMode,
    /// Where it is kept; with a settings file it becomes the default of later sessions.
    pub destination: UpdateDestination,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Folders, and where they are kept.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct DirectoriesUpdate {
    /// Absolute paths.
    pub directories: Vec<String>,
    /// Where they are kept.
    pub destination: UpdateDestination,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to a permission request.
///
/// The CLI refuses the call when it gets anything else, so there is no way to allow by mistake.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "behavior")]
#[non_exhaustive]
pub enum PermissionResult {
    /// The tool runs.
    #[wire(name = "allow")]
    Allow(Allow),
    /// The tool does not run.
    #[wire(name = "deny")]
    Deny(Deny),
    /// An answer this crate does not know. The CLI refuses the call.
    #[wire(other)]
    Other(Named),
}

/// Lets a tool run.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Allow {
    /// The input the tool runs with, which replaces the one it was called with. Versions up to
    /// 2.1.197 refuse the call without it, so it is always sent: the input of the request, byte
    /// for byte, unless it is meant to change.
    #[wire(new)]
    pub updated_input: Option<RawJson>,
    /// Changes that take effect with the answer, before the tool runs.
    pub updated_permissions: Option<Vec<PermissionUpdate>>,
    /// The call that is answered. Not checked by the CLI.
    #[wire(name = "toolUseID")]
    pub tool_use_id: Option<ToolUseId>,
    /// What the answer meant, for the CLI's statistics.
    pub decision_classification: Option<DecisionClassification>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Refuses a tool call.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Deny {
    /// What the model is told.
    pub message: String,
    /// Whether the turn ends as well. The model is then not shown the message (2.1.197 and
    /// later).
    pub interrupt: Option<bool>,
    /// The call that is answered. Not checked by the CLI.
    #[wire(name = "toolUseID")]
    pub tool_use_id: Option<ToolUseId>,
    /// What the answer meant, for the CLI's statistics.
    pub decision_classification: Option<DecisionClassification>,
    /// Fields this type does not name.
    pub extra: Extra,
}
