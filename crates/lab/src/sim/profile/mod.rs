//! What each version of the CLI does differently. The rest of the code asks here.
//!
//! Every entry was seen in recordings of the real CLI; names such as `C4` or `M1` are those of the
//! experiments in `fixtures`.

mod versions;

use self::versions::{V2_1_62, V2_1_197, V2_1_325};

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
    Skill,
    /// `Unknown command: /x`.
    Refused,
    /// It goes to the model as it stands.
    Prompt,
}

/// What `apply_flag_settings` without settings leads to (`N1b`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingSettings {
    /// Nothing.
    Ignored,
    /// Nothing is answered any more.
    Wedges,
    /// An error.
    Refused,
}

/// When a call that needs nobody's leave is started (`S4`, `S7`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EarlyStart {
    /// When the message has ended.
    Never,
    /// When its block is complete, before the client sees the end of the block.
    BeforeBlockEnd,
    /// When the client has seen the end of its block.
    AfterBlockEnd,
}

/// What happens in plan mode to a command that the mode would ask about (`G`, `V2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanCommands {
    /// The host is asked.
    Ask,
    /// Auto mode decides when the client or the model entered plan mode while the session ran.
    AutoWhenEnteredLive,
    /// Auto mode decides, unless a permission answer set the mode or it was entered from bypass.
    Auto,
}

/// One version.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// Its number.
    pub(crate) version: &'static str,
    /// Its place among the others. Only words and the shapes of what is told go by it; they stand
    /// where they are told.
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
    /// Frames have what only 2.1.325 tells: `server_policy_ask_only`, `tool_result_meta`, ids of runs
    /// and the like (`D`, `S4`).
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
    /// How often a request that the API did not understand is made again without a word (`R3_400`).
    pub(crate) silent_tries: u32,
    /// `terminal_reason`, `api_error_status` and the stop reason in results (`R3`).
    pub(crate) terminal_reasons: bool,
    /// Frames have what came after 2.1.62: the `request_id` of an answer, times, agents, progress of
    /// tasks (`S1`, `S4`).
    pub(crate) modern: bool,
    /// Tools that need nobody's leave start while the message is still coming.
    pub(crate) early_start: EarlyStart,
    /// When the money is spent, the tools of the last message are still asked about (`R2`).
    pub(crate) asks_without_money: bool,
    /// `system/permission_denied` for a rule or a mode (`H3`); also where nobody can be asked (`F`).
    pub(crate) tells_denials: bool,
    pub(crate) tells_unasked_denials: bool,
    /// Without a prompt tool, the tools that need a person do not exist (`L_03b`).
    pub(crate) hides_interactive_tools: bool,
    /// In plan mode, files are asked about even where `bypassPermissions` may be chosen (`M4c`).
    pub(crate) plan_guards_files: bool,
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
    /// `SessionEnd` is for a client that has closed its end already, and standard error tells that it
    /// could not be called (experiment O).
    pub(crate) misses_session_end: bool,
    /// Hook denials are listed in `permission_denials` (`O_02`).
    pub(crate) lists_hook_denials: bool,
    /// MCP servers of `initialize`.
    pub(crate) handshake: Handshake,
    /// `notifications/tools/list_changed` makes the CLI list again (`P_14`).
    pub(crate) relists_tools: bool,
    /// The tool that starts a subagent (`S4`).
    pub(crate) agent_tool: &'static str,
    /// A subagent runs in the background unless the call says otherwise.
    pub(crate) agents_in_background: bool,
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
    /// The mode to go back to after a plan is only noted when the model enters plan mode by its tool,
    /// and not when the client does (experiment K).
    pub(crate) only_tool_notes_mode: bool,
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
    /// What a tool_use without a result becomes on resume: dropped, or an error result (`Q8`).
    pub(crate) lost_call_is_told: bool,
    /// On resume, a turn that was broken off gets a word of the user that it go on (experiment Q).
    pub(crate) asks_to_go_on: bool,
    /// The sum of costs goes on after a resume (`Q2`).
    pub(crate) cost_survives: bool,
    /// `apply_flag_settings` without settings.
    pub(crate) missing_settings: MissingSettings,
    /// A changed model is told before the first message, too (`N1d`).
    pub(crate) tells_model_at_once: bool,
    /// SIGINT ends a turn with its result (`R5b`).
    pub(crate) sigint_tells: bool,
    /// After a refusal the model is asked once more (`R3_refusal`).
    pub(crate) continues_after_refusal: bool,
    /// A session may be resumed by its title (`Q7b`).
    pub(crate) resumes_by_title: bool,
    /// A resumed session goes on with the model that answered last (`Q2`).
    pub(crate) resumes_model: bool,
    /// The end waits for commands in the background (`S5`).
    pub(crate) waits_for_commands: bool,
    /// A few more commands are known to change nothing (`D`).
    pub(crate) knows_more_commands: bool,
    /// `tee` is known to write (`D`).
    pub(crate) tee_writes: bool,
    /// Rules are suggested for the beginning of a command, and where paths are the question, too (`D`).
    pub(crate) rules_by_prefix: bool,
    /// `acceptEdits` is suggested in other modes than the plain one, too (`G`).
    pub(crate) always_offers_accept_edits: bool,
    /// A rule for `WebSearch` is suggested (`D`).
    pub(crate) suggests_web_search: bool,
    /// Skills are asked about (`D`).
    pub(crate) asks_for_skills: bool,
    /// What a permission answer writes to the settings of the project holds at once (`J`).
    pub(crate) trusts_project: bool,
    /// What it writes to the local settings holds at once (`J`).
    pub(crate) trusts_local: bool,
    /// Standard error tells of rules in files that do not hold because nobody trusted the workspace
    /// (experiment J).
    pub(crate) tells_distrust: bool,
    /// `apply_flag_settings` changes the model (`N1`).
    pub(crate) flag_sets_model: bool,
    /// `reload_plugins` tells the commands (`N1`).
    pub(crate) reload_tells_commands: bool,
    /// `stop_task` for a task that is not there is an error (`N1`).
    pub(crate) unknown_task_is_error: bool,
    /// A file has to be read before it is written (`D`).
    pub(crate) reads_before_write: bool,
    /// A file that has not changed is not shown twice (`D`).
    pub(crate) notes_unchanged_files: bool,
    /// `ExitPlanMode` outside of plan mode is an error (`K`).
    pub(crate) guards_plan_exit: bool,
    /// A denial with `interrupt` loses its message (`I_13`).
    pub(crate) interrupting_deny_rejects: bool,
    /// A question may be answered in free words, and previews are told (`L_26`).
    pub(crate) free_answers: bool,
    /// A conversation with one answer is not compacted (`M7`).
    pub(crate) needs_two_to_compact: bool,
    /// Dollars per million tokens of the usual model: input, output (`R2`).
    pub(crate) price: (f64, f64),
    /// The window and the longest answer of the usual model.
    pub(crate) window: (u64, u64),
}

impl Profile {
    /// The window of a model. One version has models in two sizes.
    pub(crate) fn window_of(&self, model: &str) -> u64 {
        let short = self.release == Release::V197 && !model.ends_with("[1m]");
        if short { 200_000 } else { self.window.0 }
    }
}

/// All of them, the newest first.
pub(crate) static ALL: [&Profile; 3] = [&V2_1_325, &V2_1_197, &V2_1_62];

/// The profile of a version.
pub(crate) fn find(version: &str) -> Option<&'static Profile> {
    ALL.into_iter().find(|profile| profile.version == version)
}
