//! The shapes of what the CLI defines, for the description of the API.
//!
//! These types are never made: their values are kept as they came, whatever a newer CLI adds.

use std::collections::BTreeMap;

use serde_json::Value;

/// What is done with a tool call that no rule decides.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(rename_all = "camelCase"))]
pub enum Mode {
    /// It is asked for.
    Default,
    /// The same, under the name that newer versions show.
    Manual,
    /// Edits in the working folder need no approval.
    AcceptEdits,
    /// The model reads and plans.
    Plan,
    /// Next to nothing is asked for. The server has to allow it.
    BypassPermissions,
    /// It is refused.
    DontAsk,
    /// A classifier decides, and asks when it is not sure.
    Auto,
}

/// Where a rule is kept.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(rename_all = "camelCase"))]
pub enum Destination {
    /// In the settings of the user.
    UserSettings,
    /// In the settings of the project that are shared.
    ProjectSettings,
    /// In the settings of the project that are not shared.
    LocalSettings,
    /// With the session.
    Session,
    /// As if given on the command line.
    CliArg,
}

/// Which settings files are read.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(rename_all = "lowercase"))]
pub enum SettingSource {
    /// Those of the user.
    User,
    /// Those of the project that are shared.
    Project,
    /// Those of the project that are not shared.
    Local,
}

/// A picture that the model can see.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MediaType {
    /// PNG.
    #[cfg_attr(feature = "openapi", schema(rename = "image/png"))]
    Png,
    /// JPEG.
    #[cfg_attr(feature = "openapi", schema(rename = "image/jpeg"))]
    Jpeg,
    /// GIF.
    #[cfg_attr(feature = "openapi", schema(rename = "image/gif"))]
    Gif,
    /// WebP.
    #[cfg_attr(feature = "openapi", schema(rename = "image/webp"))]
    Webp,
}

/// A change of rules, mode or folders.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(rename_all = "camelCase"))]
pub struct PermissionUpdate {
    /// `addRules`, `replaceRules`, `removeRules`, `setMode`, `addDirectories` or `removeDirectories`;
    /// a newer CLI may know more.
    pub r#type: String,
    /// The rules.
    pub rules: Option<Vec<PermissionRule>>,
    /// What they do: `allow`, `deny` or `ask`.
    pub behavior: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// The folders.
    pub directories: Option<Vec<String>>,
    /// Where it is kept.
    pub destination: Option<String>,
}

/// A rule: a tool, and what of its input the rule covers.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(rename_all = "camelCase"))]
pub struct PermissionRule {
    /// The tool.
    pub tool_name: String,
    /// What stands in parentheses in a settings file, such as `npm test:*`.
    pub rule_content: Option<String>,
}

/// A request as the CLI made it. Of a tool, a plan or questions: the tool, its input and what goes with
/// it. Of an elicitation: the MCP server, its message and the schema of the form.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CliRequest {
    /// The tool.
    pub tool_name: Option<String>,
    /// Its input.
    pub input: Option<BTreeMap<String, Value>>,
    /// The call.
    pub tool_use_id: Option<String>,
    /// What can be allowed for longer with it; answers take them up by their number.
    pub permission_suggestions: Option<Vec<PermissionUpdate>>,
    /// The tool, as people call it.
    pub display_name: Option<String>,
    /// The whole question in a sentence.
    pub title: Option<String>,
    /// A line below it.
    pub description: Option<String>,
    /// The path that is not allowed.
    pub blocked_path: Option<String>,
    /// Why it is asked. It may hold the escape codes of a terminal.
    pub decision_reason: Option<String>,
    /// The sub-agent that makes the call.
    pub agent_id: Option<String>,
    /// Of an elicitation: the MCP server.
    pub mcp_server_name: Option<String>,
    /// Of an elicitation: what it says.
    pub message: Option<String>,
    /// Of an elicitation: the JSON schema of the form.
    pub requested_schema: Option<BTreeMap<String, Value>>,
}
