//! What each version of the CLI does differently. The rest of the code asks here.
//!
//! Every entry was seen in recordings of the real CLI; names such as `C4` or `M1` are those of the
//! experiments in `fixtures`.

/// The versions that are imitated, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Release {
    /// 2.1.62.
    V62,
    /// 2.1.197.
    V197,
    /// 2.1.325.
    V325,
}

/// How an interrupted turn is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupted {
    /// `is_error:false`, no reason, the partial text is lost (2.1.62, `M1`).
    Quiet,
    /// The partial text as an `assistant` message, `is_error:true` and a reason (`M1`).
    WithText,
    /// The same, with `aborted:true`, and the open blocks of the stream are closed (`M1`).
    WithTextAborted,
}

/// What becomes of a stream that breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokenStream {
    /// The request is made again without streaming, at once and without a word (`R3_cut_stream`).
    AskAgainWhole,
    /// Open blocks are closed, then it is an error like others: retried, and told (`R3_cut_stream`).
    Retry,
}

/// What a permission answer of the wrong form leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadAnswer {
    /// The text of a schema error (`I_01` to `I_28`).
    SchemaError,
    /// One sentence that says what was expected (`I_02`).
    Sentence,
}

/// When the handshake with a server of `initialize.sdkMcpServers` begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// With the first user message (`P_01`).
    FirstMessage,
    /// Right away (`P_01`).
    Initialize,
}

/// What an unknown slash command leads to (`M7`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnknownCommand {
    /// `Unknown skill: x`.
    UnknownSkill,
    /// `Unknown command: /x`.
    Refused,
    /// It goes to the model as it stands.
    Prompt,
}

/// What happens in plan mode to a command that the mode would ask about (`G`, `V2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanCommands {
    /// The host is asked.
    Ask,
    /// The host is asked when the session was started in plan mode; otherwise auto mode decides.
    AutoWhenEnteredLive,
    /// Auto mode decides.
    Auto,
}

/// One version.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// Its number.
    pub(crate) version: &'static str,
    /// Its place among the others.
    pub(crate) release: Release,
    /// Lists of commands, models and tools, as the version gave them.
    pub(crate) catalog: &'static str,
    /// What `--permission-mode` takes (`F6`).
    pub(crate) mode_choices: &'static [&'static str],
    /// `set_permission_mode` and `setMode` refuse what is no mode (`C4`).
    pub(crate) checks_modes: bool,
    /// `bypassPermissions` needs a flag at the start (`C7`).
    pub(crate) guards_bypass: bool,
    /// Errors of control requests have a code (`C4`).
    pub(crate) error_codes: bool,
    /// A mode that a request sets is told with `system/status` (`A`).
    pub(crate) tells_requested_mode: bool,
    /// A second `initialize` is an error (`C3`).
    pub(crate) initialize_once: bool,
    /// The first answer to `initialize` has the `pending_*` lists (`C3`).
    pub(crate) pending_lists_at_first: bool,
    /// A repeated `initialize` registers its hooks in place of the first ones (`C3`).
    pub(crate) rehooks: bool,
    /// `control_response` without `response` ends the process (`N2`).
    pub(crate) needs_response: bool,
    /// A line of spaces ends the process (`N2`).
    pub(crate) spaces_are_fatal: bool,
    /// The complaint about a broken line shows the line (`N2`).
    pub(crate) shows_broken_line: bool,
    /// `can_use_tool` has names, descriptions and types of reasons (`D`).
    pub(crate) rich_asks: bool,
    /// `server_policy_ask_only`, `tool_result_meta` and other internals are there (`D`).
    pub(crate) internals: bool,
    /// A permission answer of the wrong form.
    pub(crate) bad_answer: BadAnswer,
    /// `updatedInput` may be missing (`I_01`).
    pub(crate) optional_updated_input: bool,
    /// An empty `updatedInput` stands for the original one (`I_03`).
    pub(crate) empty_means_original: bool,
    /// A bad `updatedPermissions` spoils the whole answer (`I_22`, `J_16`), or only itself.
    pub(crate) bad_updates_refuse: bool,
    /// A changed input is checked against the tool's schema (`I_24`).
    pub(crate) checks_changed_input: bool,
    /// An interrupted turn.
    pub(crate) interrupted: Interrupted,
    /// The answer to `interrupt` lists what is still queued (`M1`).
    pub(crate) interrupt_receipt: bool,
    /// Queued messages become one turn (`M5`).
    pub(crate) merges_queue: bool,
    /// `command_lifecycle` and `user_message_uuids` for messages with a `uuid` (`M5`).
    pub(crate) lifecycle: bool,
    /// `status:"requesting"` and `thinking_tokens` with partial messages (`S1`).
    pub(crate) stream_status: bool,
    /// A stream that breaks off.
    pub(crate) broken_stream: BrokenStream,
    /// `system/api_retry` (`R3`).
    pub(crate) tells_retries: bool,
    /// `terminal_reason`, `api_error_status` and the stop reason in results (`R3`).
    pub(crate) terminal_reasons: bool,
    /// An `assistant` frame has a `request_id` (`S1`).
    pub(crate) request_ids: bool,
    /// Tools that need nobody's leave start while the message is still coming (`S7`).
    pub(crate) starts_tools_early: bool,
    /// `system/permission_denied` for a rule or a mode (`H3`); also where nobody can be asked (`F`).
    pub(crate) tells_denials: bool,
    pub(crate) tells_unasked_denials: bool,
    /// Without a prompt tool, the tools that need a person do not exist (`L_03b`).
    pub(crate) hides_interactive_tools: bool,
    /// In plan mode, a read outside of the folder is no question (`G`).
    pub(crate) plan_reads_anywhere: bool,
    /// In plan mode, files are asked about even when plan was entered from bypass (`M4c`).
    pub(crate) plan_guards_files_from_bypass: bool,
    /// Commands in plan mode.
    pub(crate) plan_commands: PlanCommands,
    /// `ask` rules and a dangerous `rm` are asked about in bypass mode, too.
    pub(crate) bypass_keeps_safety: bool,
    /// Rules for commands hold for commands that write files (`F8`).
    pub(crate) command_rules_cover_paths: bool,
    /// A hook's `allow` wins over a deny rule (`O_17`).
    pub(crate) hook_beats_deny_rule: bool,
    /// A hook's `ask` and `defer` are known; a hook may answer a question (`O_04`, `O_19`, `O_21`).
    pub(crate) modern_hooks: bool,
    /// A hook that takes too long refuses the tool (`O_06`).
    pub(crate) slow_hook_refuses: bool,
    /// `onFailure:"block"` is honoured (`O_07b`).
    pub(crate) hook_on_failure: bool,
    /// Hook denials are listed in `permission_denials` (`O_02`).
    pub(crate) lists_hook_denials: bool,
    /// MCP servers of `initialize`.
    pub(crate) handshake: Handshake,
    /// `notifications/tools/list_changed` makes the CLI list again (`P_14`).
    pub(crate) relists_tools: bool,
    /// The tool that starts a subagent (`S4`).
    pub(crate) agent_tool: &'static str,
    /// Background agents ask, and their end starts a turn (`S6`).
    pub(crate) background_agents: bool,
    /// Local commands answer as the assistant, with `num_turns:0` (`M7`).
    pub(crate) commands_as_assistant: bool,
    /// An unknown slash command.
    pub(crate) unknown_command: UnknownCommand,
    /// `/clear` exists (`M7`).
    pub(crate) clears: bool,
    /// What `ExitPlanMode` is given: the file's path (`K`), and an edited plan is taken.
    pub(crate) plan_paths: bool,
    /// Every approved plan is told as edited (`K_01`).
    pub(crate) plan_always_edited: bool,
    /// An unanswered question is told as such (`L_14`).
    pub(crate) tells_unanswered: bool,
    /// The transcript of an unfinished first turn can be resumed (`Q9`).
    pub(crate) writes_at_once: bool,
    /// A session is found from another folder (`Q10`).
    pub(crate) resumes_anywhere: bool,
    /// Deferred calls and interrupted turns come back on resume (`Q13`).
    pub(crate) parks: bool,
    /// …before and without the hooks of `initialize` (`Q13b`).
    pub(crate) raises_deferred_at_once: bool,
    /// The result of a call that was put off is told as the transcript has it (`park-and-resume`).
    pub(crate) raised_as_stored: bool,
    /// What a tool_use without a result becomes on resume: dropped, or an error result (`Q8`).
    pub(crate) lost_call_is_told: bool,
    /// The sum of costs goes on after a resume (`Q2`).
    pub(crate) cost_survives: bool,
    /// `apply_flag_settings` without settings stops everything (`N1b`).
    pub(crate) wedges_on_missing_settings: bool,
    /// SIGINT ends a turn with its result (`R5b`).
    pub(crate) sigint_tells: bool,
    /// Dollars per million tokens of the usual model: input, output (`R2`).
    pub(crate) price: (f64, f64),
    /// The window and the longest answer of the usual model.
    pub(crate) window: (u64, u64),
}

/// The profile of a version.
pub(crate) fn find(version: &str) -> Option<&'static Profile> {
    [&V2_1_325, &V2_1_197, &V2_1_62].into_iter().find(|profile| profile.version == version)
}

/// The versions that are there, for a complaint.
pub(crate) const VERSIONS: &str = "2.1.325, 2.1.197 and 2.1.62";

static V2_1_62: Profile = Profile {
    version: "2.1.62",
    release: Release::V62,
    catalog: include_str!("data/2.1.62.json"),
    mode_choices: &["acceptEdits", "bypassPermissions", "default", "dontAsk", "plan"],
    checks_modes: false,
    guards_bypass: false,
    error_codes: false,
    tells_requested_mode: false,
    initialize_once: true,
    pending_lists_at_first: false,
    rehooks: false,
    needs_response: true,
    spaces_are_fatal: true,
    shows_broken_line: true,
    rich_asks: false,
    internals: false,
    bad_answer: BadAnswer::SchemaError,
    optional_updated_input: false,
    empty_means_original: false,
    bad_updates_refuse: true,
    checks_changed_input: false,
    interrupted: Interrupted::Quiet,
    interrupt_receipt: false,
    merges_queue: false,
    lifecycle: false,
    stream_status: false,
    broken_stream: BrokenStream::AskAgainWhole,
    tells_retries: false,
    terminal_reasons: false,
    request_ids: false,
    starts_tools_early: false,
    tells_denials: false,
    tells_unasked_denials: false,
    hides_interactive_tools: false,
    plan_reads_anywhere: false,
    plan_guards_files_from_bypass: false,
    plan_commands: PlanCommands::Ask,
    bypass_keeps_safety: false,
    command_rules_cover_paths: false,
    hook_beats_deny_rule: true,
    modern_hooks: false,
    slow_hook_refuses: false,
    hook_on_failure: false,
    lists_hook_denials: false,
    handshake: Handshake::FirstMessage,
    relists_tools: false,
    agent_tool: "Task",
    background_agents: false,
    commands_as_assistant: false,
    unknown_command: UnknownCommand::UnknownSkill,
    clears: false,
    plan_paths: false,
    plan_always_edited: false,
    tells_unanswered: false,
    writes_at_once: false,
    resumes_anywhere: false,
    parks: false,
    raises_deferred_at_once: false,
    raised_as_stored: false,
    lost_call_is_told: false,
    cost_survives: false,
    wedges_on_missing_settings: false,
    sigint_tells: false,
    price: (5.0, 25.0),
    window: (200_000, 32_000),
};

static V2_1_197: Profile = Profile {
    version: "2.1.197",
    release: Release::V197,
    catalog: include_str!("data/2.1.197.json"),
    mode_choices: &["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"],
    checks_modes: false,
    guards_bypass: true,
    error_codes: false,
    tells_requested_mode: true,
    initialize_once: false,
    pending_lists_at_first: false,
    rehooks: false,
    needs_response: true,
    spaces_are_fatal: true,
    shows_broken_line: true,
    rich_asks: true,
    internals: false,
    bad_answer: BadAnswer::SchemaError,
    optional_updated_input: false,
    empty_means_original: true,
    bad_updates_refuse: false,
    checks_changed_input: true,
    interrupted: Interrupted::WithText,
    interrupt_receipt: false,
    merges_queue: true,
    lifecycle: false,
    stream_status: true,
    broken_stream: BrokenStream::AskAgainWhole,
    tells_retries: true,
    terminal_reasons: true,
    request_ids: true,
    starts_tools_early: true,
    tells_denials: true,
    tells_unasked_denials: false,
    hides_interactive_tools: true,
    plan_reads_anywhere: false,
    plan_guards_files_from_bypass: false,
    plan_commands: PlanCommands::AutoWhenEnteredLive,
    bypass_keeps_safety: true,
    command_rules_cover_paths: true,
    hook_beats_deny_rule: false,
    modern_hooks: true,
    slow_hook_refuses: true,
    hook_on_failure: false,
    lists_hook_denials: true,
    handshake: Handshake::FirstMessage,
    relists_tools: false,
    agent_tool: "Agent",
    background_agents: true,
    commands_as_assistant: true,
    unknown_command: UnknownCommand::Refused,
    clears: true,
    plan_paths: true,
    plan_always_edited: true,
    tells_unanswered: true,
    writes_at_once: true,
    resumes_anywhere: false,
    parks: true,
    raises_deferred_at_once: false,
    raised_as_stored: true,
    lost_call_is_told: false,
    cost_survives: false,
    wedges_on_missing_settings: true,
    sigint_tells: true,
    price: (5.0, 25.0),
    window: (1_000_000, 64_000),
};

static V2_1_325: Profile = Profile {
    version: "2.1.325",
    release: Release::V325,
    catalog: include_str!("data/2.1.325.json"),
    mode_choices: &["acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan"],
    checks_modes: true,
    guards_bypass: true,
    error_codes: true,
    tells_requested_mode: true,
    initialize_once: false,
    pending_lists_at_first: true,
    rehooks: true,
    needs_response: false,
    spaces_are_fatal: false,
    shows_broken_line: false,
    rich_asks: true,
    internals: true,
    bad_answer: BadAnswer::Sentence,
    optional_updated_input: true,
    empty_means_original: true,
    bad_updates_refuse: false,
    checks_changed_input: true,
    interrupted: Interrupted::WithTextAborted,
    interrupt_receipt: true,
    merges_queue: true,
    lifecycle: true,
    stream_status: true,
    broken_stream: BrokenStream::Retry,
    tells_retries: true,
    terminal_reasons: true,
    request_ids: true,
    starts_tools_early: true,
    tells_denials: true,
    tells_unasked_denials: true,
    hides_interactive_tools: true,
    plan_reads_anywhere: true,
    plan_guards_files_from_bypass: true,
    plan_commands: PlanCommands::Auto,
    bypass_keeps_safety: true,
    command_rules_cover_paths: true,
    hook_beats_deny_rule: false,
    modern_hooks: true,
    slow_hook_refuses: true,
    hook_on_failure: true,
    lists_hook_denials: true,
    handshake: Handshake::Initialize,
    relists_tools: true,
    agent_tool: "Agent",
    background_agents: true,
    commands_as_assistant: true,
    unknown_command: UnknownCommand::Prompt,
    clears: true,
    plan_paths: true,
    plan_always_edited: false,
    tells_unanswered: true,
    writes_at_once: true,
    resumes_anywhere: true,
    parks: true,
    raises_deferred_at_once: true,
    raised_as_stored: false,
    lost_call_is_told: true,
    cost_survives: true,
    wedges_on_missing_settings: false,
    sigint_tells: true,
    price: (4.0, 20.0),
    window: (1_000_000, 128_000),
};
