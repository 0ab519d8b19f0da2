//! From what a session is to a CLI that goes on with it.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use countersign::park::{ParkingToken, Raised, ResumeError};
use countersign::protocol::Version;
use countersign::protocol::ids::SessionId as CliSession;
use countersign::protocol::permission::PermissionMode;
use countersign::protocol::request::McpServerConfig;
use countersign::store::{ConfigSource, MirrorOptions, StoreKey};
use countersign::transcript::{MessageOptions, ProjectKey, Sessions};
use countersign::{ConnectError, Limits, PreviewFormat, Session, SessionBuilder, SettingSource};
use countersign_protocol::RawJson;
use serde::Deserialize as _;
use tempfile::NamedTempFile;

use super::desk::Desk;
use super::words::without_stderr;
use crate::hub::Hub;
use crate::id::MessageId;
use crate::session::{Head, Parent};

/// The first version that says what it writes to its transcripts.
const MIRRORS: Version = Version::new(2, 1, 197);

/// A session that was started.
pub(super) enum Opened {
    /// It waits for a message.
    Plain(Session),
    /// It was given the answer to the call that it was parked on.
    Raised(Session, Raised),
    /// The call that it was parked on cannot be brought back, for this reason.
    NotRaised(Session, String),
    /// The call that it was parked on has a result already.
    AlreadyDone(Session),
}

impl Opened {
    pub(super) const fn session(&self) -> &Session {
        match self {
            Self::Plain(session)
            | Self::Raised(session, _)
            | Self::NotRaised(session, _)
            | Self::AlreadyDone(session) => session,
        }
    }
}

/// Why a session was not started.
pub(super) enum NotOpened {
    /// The CLI has no such conversation any more.
    NoConversation,
    /// Trying again would not help.
    Hopeless(String),
    /// Trying again may help.
    Failed(String),
}

impl From<ConnectError> for NotOpened {
    fn from(error: ConnectError) -> Self {
        let text = error.to_string();
        match error {
            ConnectError::Ended(_) if is_no_conversation(&text) => Self::NoConversation,
            ConnectError::NotFound(_)
            | ConnectError::Options(_)
            | ConnectError::Unsupported(_)
            | ConnectError::Spawn(_)
            | ConnectError::Elsewhere { .. } => Self::Hopeless(text),
            _ => Self::Failed(text),
        }
    }
}

/// Whether the CLI says that it does not have the conversation.
pub(super) fn is_no_conversation(text: &str) -> bool {
    text.contains("No conversation found")
}

/// Whether the CLI says that it has the conversation already that it is to begin.
fn is_begun(text: &str) -> bool {
    text.contains("Session ID") && text.contains("is already in use")
}

/// How a session is set up, and what it is resumed with.
pub(super) struct Launch {
    builder: SessionBuilder,
    head: Head,
}

impl Launch {
    /// Sets a session up.
    ///
    /// `servers` is the file with its MCP servers, which [`servers`] wrote.
    pub(super) async fn of(
        hub: &Hub,
        head: &Head,
        desk: &Desk,
        servers: Option<&Path>,
    ) -> Result<Self, NotOpened> {
        let settings = hub.settings();
        check_folders(hub, head).await?;
        let mut builder = SessionBuilder::new()
            .cwd(&head.folder)
            .exact_cwd()
            .environment(settings.environment.clone())
            .permission_mode(head.mode.clone())
            .partial_messages()
            .ask_in_plan_mode()
            .question_previews(PreviewFormat::Markdown)
            .client_app("countersign")
            .initialize_timeout(settings.start_within)
            .limits(limits(head).grace(settings.interrupt_within));
        for (name, value) in &settings.variables {
            builder = builder.env(name, value);
        }
        if let Some(cli) = &settings.cli {
            builder = builder.executable(cli);
        }
        builder = with_options(builder, head)?;
        if let Some(servers) = servers {
            builder = builder.mcp_config_file(servers);
        }
        if head.mode == PermissionMode::BypassPermissions {
            if !settings.allow_bypass {
                let why = "the session is in the mode bypassPermissions, which the configuration \
                           of the server does not allow any more: choose another mode";
                return Err(NotOpened::Hopeless(why.to_owned()));
            }
            builder = builder.allow_dangerously_skip_permissions();
        }
        let wire = hub.wire_of(head.id);
        builder = builder.on_line(move |way, line| wire.passed(way, line));
        builder = desk.serve(builder);
        if settings.mirror {
            let version = builder.version().await.map_err(NotOpened::from)?;
            if version >= MIRRORS {
                builder = builder.session_store(hub.store().transcripts(), MirrorOptions::new());
                if let Some(source) = config_source(hub) {
                    builder = builder.store_config(source);
                }
            }
        }
        Ok(Self { builder, head: head.clone() })
    }

    /// Starts the CLI, with the conversation that the session has.
    pub(super) async fn open(self) -> Result<Opened, NotOpened> {
        let Self { builder, head } = self;
        let own = head.conversation.id.to_string();
        if head.conversation.begun {
            return resume(builder, &own).await.map(Opened::Plain);
        }
        let again = builder.clone();
        match begin(builder.session_id(&*own), &head).await {
            // A process before it was given something, and the server ended before it heard of that.
            Err(NotOpened::Failed(why)) if is_begun(&why) => {
                resume(again, &own).await.map(Opened::Plain)
            }
            begun => begun.map(Opened::Plain),
        }
    }

    /// Starts the CLI, and has it ask again for the call that it was parked on.
    pub(super) async fn raise(self, token: &ParkingToken) -> Result<Opened, NotOpened> {
        let again = self.builder.clone();
        let own = self.head.conversation.id.to_string();
        let why = match Box::pin(self.builder.unpark(token)).await {
            Ok(resumed) => return Ok(Opened::Raised(resumed.session, resumed.raised)),
            Err(ResumeError::AlreadyDone { .. }) => {
                return resume(again, &own).await.map(Opened::AlreadyDone);
            }
            Err(ResumeError::Connect(error)) => return Err(error.into()),
            Err(ResumeError::StillRunning) => {
                return Err(NotOpened::Failed(ResumeError::StillRunning.to_string()));
            }
            Err(ResumeError::Send(error)) => return Err(NotOpened::Failed(error.to_string())),
            Err(error) => error.to_string(),
        };
        let session = resume(again, &own).await?;
        Ok(Opened::NotRaised(session, why))
    }
}

/// Looks whether the folders of a session still are what they were when it was made. Those that a
/// person has added by an answer are theirs to decide about.
async fn check_folders(hub: &Hub, head: &Head) -> Result<(), NotOpened> {
    let folders = [&head.folder].into_iter().chain(&head.options.add_dirs).cloned();
    match hub.settings().roots.clone().unchanged(folders.collect()).await {
        Ok(()) => Ok(()),
        Err(moved) => Err(NotOpened::Hopeless(moved.to_string())),
    }
}

/// Begins a conversation, where the session is a copy with what the other one has.
async fn begin(builder: SessionBuilder, head: &Head) -> Result<Session, NotOpened> {
    match &head.parent {
        Some(Parent::Fork { conversation, at, .. }) if !head.conversation.retell => {
            let copy = match at {
                Some(at) => builder.resume_at(&**at),
                None => builder,
            };
            fork(copy, &conversation.to_string()).await
        }
        _ => Ok(Box::pin(builder.connect()).await?),
    }
}

/// Goes on with a conversation, from where the CLI keeps it or else from the store.
async fn resume(builder: SessionBuilder, conversation: &str) -> Result<Session, NotOpened> {
    let from_store = builder.clone();
    match Box::pin(builder.resume(conversation).connect()).await {
        Ok(session) => Ok(session),
        Err(error) => match NotOpened::from(error) {
            NotOpened::NoConversation => {
                let id = CliSession::from(conversation);
                match Box::pin(from_store.resume_from_store(&id)).await {
                    Ok(session) => Ok(session),
                    Err(error) => {
                        let error = error.to_string();
                        let error = without_stderr(&error);
                        tracing::info!(error, "the store cannot bring a conversation back");
                        Err(NotOpened::NoConversation)
                    }
                }
            }
            other => Err(other),
        },
    }
}

/// Begins with a copy of a conversation, from where the CLI keeps it or else from the store.
async fn fork(builder: SessionBuilder, conversation: &str) -> Result<Session, NotOpened> {
    let from_store = builder.clone();
    match Box::pin(builder.resume(conversation).fork().connect()).await {
        Ok(session) => Ok(session),
        Err(error) => match NotOpened::from(error) {
            NotOpened::NoConversation => {
                let id = CliSession::from(conversation);
                match Box::pin(from_store.fork_from_store(&id)).await {
                    Ok(session) => Ok(session),
                    Err(error) => {
                        tracing::info!(%error, "the store cannot bring a conversation back");
                        Err(NotOpened::NoConversation)
                    }
                }
            }
            other => Err(other),
        },
    }
}

/// Which of these messages the conversation does not have, neither where the CLI keeps it nor in the
/// store.
pub(super) async fn missing(hub: &Hub, head: &Head, messages: &[MessageId]) -> Vec<MessageId> {
    let id = CliSession::from(head.conversation.id.to_string());
    // Where it is not known what the CLI has, nothing is given to it a second time.
    let Some(home) = hub.settings().config_home() else { return Vec::new() };
    let (in_file, all) = (id.clone(), messages.to_vec());
    let look = move || -> Vec<MessageId> {
        let found = Sessions::at(home).messages(&in_file, &MessageOptions::new());
        let Ok(found) = found else { return all };
        let mut left = all;
        for stored in found.flatten() {
            left.retain(|message| !stored.raw.as_str().contains(&message.to_string()));
        }
        left
    };
    let mut left = tokio::task::spawn_blocking(look).await.unwrap_or_default();
    if !left.is_empty()
        && let Ok(key) = StoreKey::new(ProjectKey::of(Path::new(&head.folder)), id)
        && let Ok(Some(entries)) = hub.store().transcripts().load(&key).await
    {
        left.retain(|message| {
            let name = message.to_string();
            !entries.iter().any(|entry| entry.as_str().contains(&name))
        });
    }
    left
}

/// What came of a call.
#[derive(Debug)]
pub(super) struct CallResult {
    pub(super) is_error: bool,
    /// What the model is told, as JSON or as it is.
    pub(super) text: String,
}

/// The result that a call has in the transcript of the conversation, where the CLI keeps it or else in
/// the store.
pub(super) async fn result_of(hub: &Hub, head: &Head, call: &str) -> Option<CallResult> {
    let id = CliSession::from(head.conversation.id.to_string());
    let (home, in_file, wanted) = (hub.settings().config_home()?, id.clone(), call.to_owned());
    let look = move || {
        let found = Sessions::at(home).messages(&in_file, &MessageOptions::new()).ok()?;
        found.flatten().find_map(|stored| result_in(&stored.raw, &wanted))
    };
    if let Some(found) = tokio::task::spawn_blocking(look).await.ok().flatten() {
        return Some(found);
    }
    let key = StoreKey::new(ProjectKey::of(Path::new(&head.folder)), id).ok()?;
    let entries = hub.store().transcripts().load(&key).await.ok()??;
    entries.iter().find_map(|entry| result_in(entry, call))
}

/// The result of a call, if this entry of a transcript has it.
fn result_in(entry: &RawJson, call: &str) -> Option<CallResult> {
    if !entry.as_str().contains(call) {
        return None;
    }
    let entry: serde_json::Value = entry.decode().ok()?;
    let blocks = entry.get("message")?.get("content")?.as_array()?;
    let text = |block: &serde_json::Value, name: &str| block.get(name)?.as_str().map(str::to_owned);
    let result = blocks.iter().find(|block| {
        text(block, "type").as_deref() == Some("tool_result")
            && text(block, "tool_use_id").as_deref() == Some(call)
    })?;
    let is_error = result.get("is_error").is_some_and(|is_error| *is_error == true);
    let content = result.get("content").map(serde_json::Value::to_string);
    Some(CallResult { is_error, text: text(result, "content").or(content).unwrap_or_default() })
}

fn limits(head: &Head) -> Limits {
    let wanted = &head.options.limits;
    let mut limits = Limits::new();
    if let Some(seconds) = wanted.turn_seconds {
        limits = limits.turn_time(Duration::from_secs(seconds));
    }
    if let Some(seconds) = wanted.silence_seconds {
        limits = limits.silence(Duration::from_secs(seconds));
    }
    limits
}

/// Writes the MCP servers of a session to a file that nobody else can read, for as long as the file is
/// kept: what is on a command line, all users of the machine can read.
pub(super) fn servers(hub: &Hub, head: &Head) -> Result<Option<NamedTempFile>, NotOpened> {
    let Some(servers) = head.options.mcp_servers.as_ref().filter(|all| !all.is_empty()) else {
        return Ok(None);
    };
    let write = || -> std::io::Result<NamedTempFile> {
        // Such a file is its owner's alone.
        let mut file = match &hub.settings().private {
            Some(folder) => NamedTempFile::new_in(folder)?,
            None => NamedTempFile::new()?,
        };
        let text = serde_json::json!({"mcpServers": servers}).to_string();
        file.write_all(text.as_bytes())?;
        file.flush()?;
        Ok(file)
    };
    let failed = |error| NotOpened::Failed(format!("its MCP servers cannot be written: {error}"));
    write().map(Some).map_err(failed)
}

/// Why no CLI could ever be started for a session that is set up like this.
pub(crate) fn check_options(head: &Head) -> Result<(), String> {
    let builder = match with_options(SessionBuilder::new().cwd(&head.folder), head) {
        Ok(builder) => builder,
        Err(NotOpened::Hopeless(why) | NotOpened::Failed(why)) => return Err(why),
        Err(NotOpened::NoConversation) => return Ok(()),
    };
    let mut builder = builder.permission_mode(head.mode.clone());
    if head.mode == PermissionMode::BypassPermissions {
        builder = builder.allow_dangerously_skip_permissions();
    }
    for (name, config) in head.options.mcp_servers.iter().flatten() {
        // What is wrong is said without what is in it.
        let config = McpServerConfig::deserialize(config)
            .map_err(|_| format!("{name:?} is no MCP server, as in the `mcpServers` of a file"))?;
        builder = builder.mcp_server(name, config);
    }
    builder.check_options().map_err(|error| error.to_string())
}

fn with_options(mut builder: SessionBuilder, head: &Head) -> Result<SessionBuilder, NotOpened> {
    let options = &head.options;
    if let Some(model) = &head.model {
        builder = builder.model(model);
    }
    if let Some(model) = &options.fallback_model {
        builder = builder.fallback_model(model);
    }
    if let Some(effort) = &options.effort {
        builder = builder.effort(effort.as_str().into());
    }
    if let Some(text) = &options.append_system_prompt {
        builder = builder.append_system_prompt(text);
    }
    for rule in &options.allowed_tools {
        builder = builder.allow_tool(rule);
    }
    for rule in &options.disallowed_tools {
        builder = builder.disallow_tool(rule);
    }
    for folder in options.add_dirs.iter().chain(&head.rules.folders) {
        builder = builder.add_dir(folder);
    }
    if let Some(sources) = &options.setting_sources {
        let source = |name: &String| match &**name {
            "user" => Ok(SettingSource::User),
            "project" => Ok(SettingSource::Project),
            "local" => Ok(SettingSource::Local),
            other => {
                let why = format!("there are no settings {other:?}: user, project and local are");
                Err(NotOpened::Hopeless(why))
            }
        };
        let sources: Result<Vec<_>, _> = sources.iter().map(source).collect();
        builder = builder.setting_sources(sources?);
    }
    if let Some(turns) = options.limits.turns_a_message {
        builder = builder.max_turns(turns);
    }
    if let Some(budget) = options.limits.budget_usd {
        builder = builder.max_budget_usd((budget - head.usage.cost_usd).max(0.000_001));
    }
    if let Some(settings) = head.rules.to_settings() {
        builder = builder.settings(RawJson::from(settings));
    }
    Ok(builder)
}

fn config_source(hub: &Hub) -> Option<ConfigSource> {
    match hub.settings().variable("CLAUDE_CONFIG_DIR") {
        Some(folder) => Some(ConfigSource::at(folder)),
        None => hub.settings().variable("HOME").map(ConfigSource::of_home),
    }
}
