//! What holds in a session: permission rules and hooks.

use countersign_protocol_derive::WireObject;

use super::SettingsError;
use crate::names::open_enum;
use crate::permission::RuleBehavior;
use crate::wire::{Extra, Num, RawJson};

/// Asks for the permission rules that hold. From 2.1.325 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ListPermissionRules {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`ListPermissionRules`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ListPermissionRulesResponse {
    /// The rules and what belongs to them.
    pub state: PermissionRulesState,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The permission rules of a session.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionRulesState {
    /// The rules.
    pub rules: Vec<ListedRule>,
    /// Folders that tools may read besides the working directory.
    pub workspace_directories: Vec<WorkspaceDirectory>,
    /// The folder that the session began in.
    pub original_cwd: String,
    /// Whether only rules of the organisation count.
    pub managed_only: bool,
    /// What is wrong in settings files.
    pub errors: Option<Vec<SettingsError>>,
    /// Whether something was cut.
    pub withheld: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A permission rule that is stored.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedRule {
    /// What it does.
    pub behavior: RuleBehavior,
    /// Where it comes from.
    pub source: RuleSource,
    /// The rule as it is stored, such as `Bash(npm test:*)`. It may hold invisible characters:
    /// escape them before showing it.
    pub rule: String,
    /// The rule in words.
    pub description: Option<RuleDescription>,
    /// Whether and where it could be changed.
    pub editability: Editability,
    /// Whether it does not count, because only rules of the organisation do.
    pub not_in_effect: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A rule in words: the three parts make one sentence.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RuleDescription {
    /// The beginning.
    pub prefix: String,
    /// The part to stress.
    pub emphasis: Option<String>,
    /// The end.
    pub suffix: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A folder that tools may read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WorkspaceDirectory {
    /// The folder.
    pub path: String,
    /// Who added it.
    pub source: RuleSource,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks for the hooks of the settings files. From 2.1.325 on.
///
/// Hooks that a client registered in [`Initialize`](super::Initialize) are not listed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetHooksListing {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetHooksListing`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetHooksListingResponse {
    /// The events that have hooks.
    pub events: Vec<ListedHookEvent>,
    /// The hooks.
    pub hooks: Vec<ListedHook>,
    /// All events that there are.
    pub event_catalog: Vec<HookEventInfo>,
    /// What the organisation allows.
    pub policy: HookPolicy,
    /// There when the CLI runs in safe mode.
    pub safe_mode: Option<SafeMode>,
    /// There when the CLI runs in bare mode.
    pub bare_mode: Option<BareMode>,
    /// What is wrong in settings files.
    pub errors: Option<Vec<SettingsError>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An event that has hooks.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedHookEvent {
    /// Its name.
    pub name: String,
    /// When it happens.
    pub summary: String,
    /// Whether its hooks can have a matcher.
    pub supports_matcher: bool,
    /// How many hooks it has.
    pub hook_count: u64,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An event that hooks can be for.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HookEventInfo {
    /// Its name.
    pub name: String,
    /// When it happens.
    pub summary: String,
    /// Whether its hooks can have a matcher.
    pub supports_matcher: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A hook of a settings file.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedHook {
    /// The event.
    pub event: String,
    /// What it is for; empty for everything.
    pub matcher: String,
    /// Where it comes from.
    pub source: String,
    /// Where it comes from, for a person.
    pub source_label: String,
    /// The plugin it belongs to.
    pub plugin_name: Option<String>,
    /// What it is: `command`, `prompt`, `agent`, `http` or `mcp_tool`.
    #[wire(name = "type")]
    pub kind: String,
    /// What to show in a list.
    pub display_text: String,
    /// What it runs.
    pub command_text: String,
    /// What to call that.
    pub content_label: String,
    /// When it runs at all.
    pub condition: Option<String>,
    /// How long it may take, in seconds.
    pub timeout: Option<Num>,
    /// What is shown while it runs.
    pub status_message: Option<String>,
    /// Whether it runs once only.
    pub runs_once: Option<bool>,
    /// Whether nobody waits for it.
    pub runs_in_background: Option<bool>,
    /// Whether it is switched off.
    pub disabled: Option<bool>,
    /// How it is written in its file, if it can be changed.
    pub editable: Option<EditableHook>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A hook as it is written in its file.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EditableHook {
    /// What it is for.
    pub matcher: String,
    /// The hook.
    pub config: RawJson,
    /// Whether the values of its headers were left out.
    pub headers_redacted: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What the organisation says about hooks.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HookPolicy {
    /// It forbids hooks.
    pub disabled_by_policy: bool,
    /// Only its own hooks run.
    pub managed_only: bool,
    /// Only hooks of plugins run.
    pub plugin_only: bool,
    /// No hook runs.
    pub all_disabled: bool,
    /// How many hooks it has.
    pub policy_hook_count: u64,
    /// Whether its settings could not be read.
    pub policy_unreadable: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// That the CLI runs in safe mode.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SafeMode {
    /// Whether hooks of the organisation run all the same.
    pub managed_hooks_still_apply: bool,
    /// How to leave it.
    pub exit_hint: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// That the CLI runs in bare mode, without hooks of settings files.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BareMode {
    /// How to leave it.
    pub exit_hint: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Where a permission rule comes from.
    RuleSource {
        /// The user's settings file.
        UserSettings = "userSettings",
        /// The settings file of the project that is shared with others.
        ProjectSettings = "projectSettings",
        /// The settings file of the project that is not shared.
        LocalSettings = "localSettings",
        /// Flags, and settings applied by request.
        FlagSettings = "flagSettings",
        /// The organisation.
        PolicySettings = "policySettings",
        /// The command line.
        CliArg = "cliArg",
        /// A slash command.
        Command = "command",
        /// An answer or an update in this session.
        Session = "session",
        /// A mounted MCP server.
        McpMount = "mcpMount",
        /// The list of tools was narrowed.
        ToolsNarrowing = "toolsNarrowing",
        /// The tool policy of an MCP server.
        McpServerPolicy = "mcpServerPolicy",
        /// A credential of the host.
        HostCredential = "hostCredential",
    }

    /// Whether and where a rule could be changed.
    Editability {
        /// It is in a settings file.
        Persistent = "persistent",
        /// It is in memory.
        Session = "session",
        /// It cannot be changed.
        Readonly = "readonly",
    }
}
