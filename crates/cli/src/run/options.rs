//! The options of `run`, and the session that they mean.

use std::path::PathBuf;

use clap::ValueEnum;
use countersign::protocol::permission::PermissionMode;
use countersign::protocol::{RawJson, Version};
use countersign::{PreviewFormat, SessionBuilder};

use crate::failure::{Exit, Failure};

/// Since when previews of questions and events of hooks can be asked for.
const KNOWS_MORE: Version = Version::new(2, 1, 197);

/// Have Claude do something, and countersign what it does
///
/// PROMPT is done in one turn. Without it, on a terminal, it is a conversation. What needs
/// permission is asked in the terminal; where there is none, it is refused.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("goes_on").args(["resume", "continue_latest"])))]
pub(crate) struct Args {
    /// What to do; - reads it from standard input
    pub(crate) prompt: Option<String>,
    /// Go on talking after PROMPT
    #[arg(long, short)]
    pub(crate) interactive: bool,
    /// The permission mode
    #[arg(long, value_enum, default_value_t = Mode::Default)]
    pub(crate) mode: Mode,
    /// Confirm --mode bypass-permissions; each is refused without the other
    #[arg(long)]
    pub(crate) dangerously_skip_permissions: bool,
    /// The model, by its name or an alias such as sonnet
    #[arg(long)]
    model: Option<String>,
    /// Go on with this session, by its id or title
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// Go on with the newest session of the folder
    #[arg(long = "continue")]
    continue_latest: bool,
    /// Go on in a copy, and leave the session as it is
    #[arg(long, requires = "goes_on")]
    fork: bool,
    /// Record everything on a tape
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The folder to work in
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Another folder that may be worked in; can be said several times
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    /// Calls that need no permission, such as Read or 'Bash(git status:*)'; several times
    #[arg(long, value_name = "RULE")]
    allowed_tools: Vec<String>,
    /// Calls that are refused without asking; several times
    #[arg(long, value_name = "RULE")]
    disallowed_tools: Vec<String>,
    /// How often the model may be asked in a turn
    #[arg(long, value_name = "COUNT")]
    max_turns: Option<u32>,
    /// What the session may cost, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_budget_usd: Option<f64>,
    /// A system prompt in place of Claude Code's own
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// More for the system prompt
    #[arg(long, value_name = "TEXT")]
    append_system_prompt: Option<String>,
    /// A file with MCP servers
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
    /// Settings: a file, or JSON
    #[arg(long, value_name = "FILE_OR_JSON")]
    settings: Option<String>,
    /// The program claude; else CLAUDE_CODE_PATH says where it is, or it is looked for
    #[arg(long, value_name = "PATH")]
    cli: Option<PathBuf>,
    /// More for the command line of claude, as it is: --flag or --flag value
    #[arg(last = true, value_name = "CLAUDE_ARGS")]
    more: Vec<String>,
}

/// The permission modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// What needs permission is asked for
    Default,
    /// Edits in the folder are not asked for
    #[value(alias = "acceptEdits")]
    AcceptEdits,
    /// A plan is made first
    Plan,
    /// What needs permission is refused without asking
    #[value(alias = "dontAsk")]
    DontAsk,
    /// A classifier decides
    Auto,
    /// Next to nothing is asked for
    #[value(alias = "bypassPermissions")]
    BypassPermissions,
}

impl From<Mode> for PermissionMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Default => Self::Default,
            Mode::AcceptEdits => Self::AcceptEdits,
            Mode::Plan => Self::Plan,
            Mode::DontAsk => Self::DontAsk,
            Mode::Auto => Self::Auto,
            Mode::BypassPermissions => Self::BypassPermissions,
        }
    }
}

impl Args {
    /// The folder that is worked in.
    pub(crate) fn folder(&self) -> Result<PathBuf, Failure> {
        let here = std::env::current_dir()?;
        let folder = self.cwd.as_ref().map_or(here.clone(), |folder| here.join(folder));
        match folder.canonicalize() {
            Ok(path) if path.is_dir() => Ok(path),
            _ => {
                let words = format!("{} is not a folder", folder.display());
                Err(Failure::new(words).code(Exit::Usage))
            }
        }
    }

    /// The session that is meant.
    pub(crate) fn builder(&self) -> Result<SessionBuilder, Failure> {
        let folder = self.folder()?;
        if self.mode == Mode::BypassPermissions && !self.dangerously_skip_permissions {
            let words = "in the mode bypass-permissions next to nothing is asked for";
            let hint = "Say --dangerously-skip-permissions as well, if that is what you want.";
            return Err(Failure::new(words).hint(hint).code(Exit::Usage));
        }
        // Whoever says it believes that nothing will be asked for.
        if self.dangerously_skip_permissions && self.mode != Mode::BypassPermissions {
            let words = "--dangerously-skip-permissions does nothing without its mode";
            let hint = "Say --mode bypass-permissions as well, if next to nothing is to be asked \
                        for; else leave it out.";
            return Err(Failure::new(words).hint(hint).code(Exit::Usage));
        }
        let mut builder = SessionBuilder::new()
            .permission_mode(self.mode.into())
            .ask_in_plan_mode()
            .client_app(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .cwd(&folder);
        if self.dangerously_skip_permissions {
            builder = builder.allow_dangerously_skip_permissions();
        }
        for rule in &self.allowed_tools {
            builder = builder.allow_tool(rule);
        }
        for rule in &self.disallowed_tools {
            builder = builder.disallow_tool(rule);
        }
        if self.continue_latest {
            builder = builder.continue_latest();
        }
        if self.fork {
            builder = builder.fork();
        }
        // What is named on the command line is meant from where the command was given.
        let here = std::env::current_dir()?;
        let path = |path: &PathBuf| here.join(path);
        for folder in &self.add_dir {
            builder = builder.add_dir(path(folder));
        }
        builder = self.with_more(builder)?;
        builder = set(builder, self.model.as_ref(), SessionBuilder::model);
        builder = set(builder, self.resume.as_ref(), SessionBuilder::resume);
        builder = set(builder, self.record.as_ref().map(path), SessionBuilder::record);
        builder = set(builder, self.max_turns, SessionBuilder::max_turns);
        builder = set(builder, self.max_budget_usd, SessionBuilder::max_budget_usd);
        builder = set(builder, self.append_system_prompt.as_ref(), |builder, text| {
            builder.append_system_prompt(text)
        });
        builder = set(builder, self.system_prompt.as_deref(), |builder, text| {
            builder.system_prompt(text.to_owned())
        });
        builder = set(builder, self.mcp_config.as_ref().map(path), SessionBuilder::mcp_config_file);
        builder = set(builder, self.cli.as_ref().map(path), SessionBuilder::executable);
        Ok(match self.settings.as_deref() {
            Some(json) if json.trim_start().starts_with('{') => {
                let settings: RawJson = json.parse()?;
                builder.settings(settings)
            }
            Some(file) => builder.settings_file(here.join(file)),
            None => builder,
        })
    }
}

impl Args {
    /// The arguments that are passed on as they are.
    fn with_more(&self, mut builder: SessionBuilder) -> Result<SessionBuilder, Failure> {
        let mut words = self.more.iter().peekable();
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) else {
                let failure = Failure::new(format!("{word} is not a flag of claude"));
                let hint = "After -- come flags of claude: --flag, or --flag value.";
                return Err(failure.hint(hint).code(Exit::Usage));
            };
            builder = match words.next_if(|word| !word.starts_with("--")) {
                Some(value) => builder.extra_arg(flag, value),
                None => builder.extra_flag(flag),
            };
        }
        Ok(builder)
    }
}

/// What newer versions of the CLI can be asked for besides.
pub(super) async fn with_what_it_knows(builder: SessionBuilder) -> SessionBuilder {
    match builder.version().await {
        Ok(version) if version >= KNOWS_MORE => {
            builder.question_previews(PreviewFormat::Markdown).hook_events()
        }
        // What is wrong with it shows when it is started.
        _ => builder,
    }
}

fn set<T>(
    builder: SessionBuilder,
    value: Option<T>,
    with: impl FnOnce(SessionBuilder, T) -> SessionBuilder,
) -> SessionBuilder {
    match value {
        Some(value) => with(builder, value),
        None => builder,
    }
}
