//! What the context is filled with.

use countersign_protocol_derive::WireObject;

use crate::names::open_enum;
use crate::usage::Usage;
use crate::wire::{Extra, Num};

/// Asks what the context is filled with. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetContextUsage {
    /// How exactly. Absent: [`ContextDetail::Full`].
    pub detail: Option<ContextDetail>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetContextUsage`]. Figures are estimates.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetContextUsageResponse {
    /// What fills it, kind by kind, with what is left.
    pub categories: Vec<ContextCategory>,
    /// Tokens in use.
    pub total_tokens: Num,
    /// Tokens that can be used.
    pub max_tokens: Num,
    /// Tokens that the model can hold.
    pub raw_max_tokens: Num,
    /// How much is in use, in percent.
    pub percentage: Num,
    /// The picture that the terminal draws, row by row.
    pub grid_rows: Vec<Vec<GridSquare>>,
    /// The model.
    pub model: String,
    /// Memory files.
    pub memory_files: Vec<MemoryFile>,
    /// Tools of MCP servers.
    pub mcp_tools: Vec<ContextMcpTool>,
    /// Instructions of MCP servers. From 2.1.325 on.
    pub mcp_instructions: Option<Vec<McpInstructions>>,
    /// Built-in tools that are loaded on demand.
    pub deferred_builtin_tools: Option<Vec<DeferredTool>>,
    /// Built-in tools.
    pub system_tools: Option<Vec<NamedTokens>>,
    /// Parts of the system prompt.
    pub system_prompt_sections: Option<Vec<NamedTokens>>,
    /// Sub-agents.
    pub agents: Vec<ContextAgent>,
    /// Slash commands.
    pub slash_commands: Option<SlashCommandTokens>,
    /// Skills.
    pub skills: Option<SkillTokens>,
    /// At how many tokens the conversation is compacted.
    pub auto_compact_threshold: Option<Num>,
    /// Whether the conversation is compacted by itself.
    pub is_auto_compact_enabled: bool,
    /// Where the threshold comes from, such as `auto` or `model-default`. *Unstable.*
    pub autocompact_source: Option<String>,
    /// What the messages consist of.
    pub message_breakdown: Option<MessageBreakdown>,
    /// What the API counted for the last response.
    pub api_usage: Option<Usage>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A kind of thing that fills the context, or what is left of it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextCategory {
    /// Which one. From 2.1.325 on.
    pub id: Option<CategoryId>,
    /// Its name, for a person.
    pub name: String,
    /// Its tokens.
    pub tokens: Num,
    /// Its colour in the terminal's theme.
    pub color: String,
    /// Whether it is loaded on demand, and so does not fill the context yet.
    pub is_deferred: Option<bool>,
    /// What its tokens mean. From 2.1.325 on.
    pub kind: Option<CategoryKind>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A square of the picture that the terminal draws.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GridSquare {
    /// Its colour in the terminal's theme.
    pub color: String,
    /// Whether it is in use.
    pub is_filled: bool,
    /// What it stands for.
    pub category_name: String,
    /// The tokens of that.
    pub tokens: Num,
    /// How much of the context that is, in percent.
    pub percentage: Num,
    /// How full the square is, from 0 to 1.
    pub square_fullness: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A memory file.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MemoryFile {
    /// Its path.
    pub path: String,
    /// Whose it is, such as `Project`.
    #[wire(name = "type")]
    pub kind: String,
    /// Its tokens.
    pub tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextMcpTool {
    /// Its full name.
    pub name: String,
    /// The server.
    pub server_name: String,
    /// Its tokens.
    pub tokens: Num,
    /// Whether it is in the context, and not loaded on demand.
    pub is_loaded: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The instructions of an MCP server.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpInstructions {
    /// The server.
    pub server_name: String,
    /// Their tokens.
    pub tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A built-in tool that is loaded on demand.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeferredTool {
    /// The tool.
    pub name: String,
    /// Its tokens.
    pub tokens: Num,
    /// Whether it was loaded.
    pub is_loaded: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Something and its tokens.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct NamedTokens {
    /// What.
    pub name: String,
    /// Its tokens.
    pub tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A sub-agent in the context.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextAgent {
    /// Its name.
    pub agent_type: String,
    /// Where it comes from.
    pub source: String,
    /// The plugin it belongs to.
    pub plugin_id: Option<String>,
    /// Its file.
    pub path: Option<String>,
    /// Its tokens.
    pub tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The slash commands in the context.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SlashCommandTokens {
    /// How many there are.
    pub total_commands: u64,
    /// How many the model is told of.
    pub included_commands: u64,
    /// Their tokens.
    pub tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The skills in the context.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SkillTokens {
    /// How many there are.
    pub total_skills: u64,
    /// How many the model is told of.
    pub included_skills: u64,
    /// Their tokens.
    pub tokens: Num,
    /// What the model is told of each.
    pub skill_frontmatter: Vec<ContextSkill>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A skill in the context.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextSkill {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// The plugin it belongs to.
    pub plugin_name: Option<String>,
    /// The id of that plugin.
    pub plugin_id: Option<String>,
    /// Its file.
    pub path: Option<String>,
    /// Its tokens.
    pub tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What the messages in the context consist of.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageBreakdown {
    /// Calls of tools.
    pub tool_call_tokens: Num,
    /// Results of tools.
    pub tool_result_tokens: Num,
    /// What the CLI added.
    pub attachment_tokens: Num,
    /// What the model wrote.
    pub assistant_message_tokens: Num,
    /// What the user wrote.
    pub user_message_tokens: Num,
    /// What was moved elsewhere.
    pub redirected_context_tokens: Num,
    /// What could not be told apart.
    pub unattributed_tokens: Num,
    /// Calls and results, by tool.
    pub tool_calls_by_type: Vec<ToolCallTokens>,
    /// What the CLI added, by kind.
    pub attachments_by_type: Vec<NamedTokens>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The calls of a tool in the context.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolCallTokens {
    /// The tool.
    pub name: String,
    /// The calls.
    pub call_tokens: Num,
    /// The results.
    pub result_tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What `/context` shows, as data: the `context_usage` of an `assistant` frame.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContextUsageReport {
    /// The model.
    pub model: String,
    /// Tokens in use. May be more than fit.
    pub total_tokens: Num,
    /// Tokens that fit, before the conversation is compacted.
    pub raw_max_tokens: Num,
    /// How much is in use, in percent. May be more than 100.
    pub percentage: Num,
    /// By how much it is too full.
    pub over_limit: Option<OverLimit>,
    /// What fills it, kind by kind, with what is left.
    pub categories: Vec<ContextUsageCategory>,
    /// Tools of MCP servers.
    pub mcp_tools: Vec<ContextUsageMcpTool>,
    /// Memory files.
    pub memory_files: Vec<MemoryFile>,
    /// Sub-agents that are not built in.
    pub agents: Vec<ContextUsageAgent>,
    /// Skills.
    pub skills: Option<Vec<ContextUsageSkill>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// That the context is too full.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct OverLimit {
    /// By how many tokens.
    pub tokens_over: Num,
    /// What was exceeded.
    pub kind: OverLimitKind,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A kind of thing that fills the context, in a [`ContextUsageReport`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContextUsageCategory {
    /// Its name, for a person.
    pub name: String,
    /// Its tokens.
    pub tokens: Num,
    /// What its tokens mean.
    pub kind: CategoryKind,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A tool of an MCP server, in a [`ContextUsageReport`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContextUsageMcpTool {
    /// Its full name.
    pub name: String,
    /// The server.
    pub server_name: String,
    /// Its tokens.
    pub tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A sub-agent, in a [`ContextUsageReport`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContextUsageAgent {
    /// Its name.
    pub agent_type: String,
    /// Where it comes from.
    pub source: String,
    /// Its tokens.
    pub tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A skill, in a [`ContextUsageReport`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContextUsageSkill {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// The plugin it belongs to.
    pub plugin_name: Option<String>,
    /// Its tokens.
    pub tokens: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// How exactly the context is measured.
    ContextDetail {
        /// Estimated by the CLI.
        Summary = "summary",
        /// Counted by the API.
        Full = "full",
    }

    /// A kind of thing that fills the context.
    CategoryId {
        /// The system prompt.
        SystemPrompt = "system_prompt",
        /// Built-in tools.
        SystemTools = "system_tools",
        /// Tools of MCP servers.
        McpTools = "mcp_tools",
        /// Instructions of MCP servers.
        McpInstructions = "mcp_instructions",
        /// Tools of MCP servers that are loaded on demand.
        McpToolsDeferred = "mcp_tools_deferred",
        /// Built-in tools that are loaded on demand.
        SystemToolsDeferred = "system_tools_deferred",
        /// Sub-agents.
        CustomAgents = "custom_agents",
        /// Memory files.
        MemoryFiles = "memory_files",
        /// Skills.
        Skills = "skills",
        /// Messages.
        Messages = "messages",
        /// What is kept free because the conversation is compacted by itself.
        AutocompactBuffer = "autocompact_buffer",
        /// What is kept free for compacting by hand.
        CompactBuffer = "compact_buffer",
        /// What is left.
        FreeSpace = "free_space",
    }

    /// What the tokens of a category mean.
    CategoryKind {
        /// They are in use.
        Used = "used",
        /// They are left.
        Free = "free",
        /// They are kept free.
        Buffer = "buffer",
        /// They would be in use if it were loaded.
        Deferred = "deferred",
    }

    /// What a context that is too full exceeds.
    OverLimitKind {
        /// What the model can hold: the API will refuse.
        HardLimit = "hard_limit",
        /// Where the conversation is compacted.
        CompactionWindow = "compaction_window",
    }
}
