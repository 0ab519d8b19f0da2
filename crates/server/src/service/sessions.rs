//! Sessions: made, changed, stopped, brought back, deleted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_protocol::permission::PermissionMode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Caller, Carried, Noted, Service, ServiceError, SessionMade};
use crate::actor::check_options as check_launch_of;
use crate::config::Roots;
use crate::id::{ConversationId, MessageId, SessionId, TurnId};
use crate::session::{
    Archived, Created, Deleted, Happening, Head, Image, InterruptAsked, Labelled, MessageContent,
    MessageQueued, ModeWanted, ModelWanted, Parent, Renamed, ResumeAsked, SessionOptions,
    StopAsked, is_known_mode,
};
use crate::store::Write;

/// How long a title may be, in characters.
const LONGEST_TITLE: usize = 200;

/// How many labels a session may have, and how long they may be.
const LABELS: (usize, usize) = (32, 64);

/// How long the name of a model, or of whatever else has one, may be, in characters.
const LONGEST_NAME: usize = 200;

/// How long what is added to the system prompt may be, in bytes.
const LONGEST_PROMPT: usize = 64 << 10;

/// How many rules of a kind a session may begin with, and how long they may be, in bytes.
const RULES: (usize, usize) = (256, 1 << 10);

/// How many further folders a session may use.
const MOST_FOLDERS: usize = 64;

/// How long the description of MCP servers may be, in bytes.
const LONGEST_SERVERS: usize = 256 << 10;

/// How long a limit of time may be, in seconds: a year.
const LONGEST_TIME: u64 = 366 * 24 * 60 * 60;

/// A session that is to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// The folder that it works in: an absolute path within the roots of the server.
    pub folder: String,
    /// What it begins with. Without it, it waits for a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Pictures that come with the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Its title; made of the prompt if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<String>,
    /// The mode that it begins in: `default` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::api::shape::Mode>))]
    pub mode: Option<PermissionMode>,
    /// The model; the CLI's own choice if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How it is set up.
    #[serde(default)]
    pub options: SessionOptions,
}

/// A copy that is to be made of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ForkSession {
    /// The last message that the copy has, by the `uuid` that the CLI gave it; all of them if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Its title; that of the session if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the copy begins with. Without it, it waits for a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

impl Service {
    /// Makes a session.
    ///
    /// # Errors
    /// When its folder may not be used, something about it is not right, or it cannot be written.
    pub async fn create(
        &self,
        caller: &Caller,
        new: NewSession,
    ) -> Result<Carried<SessionMade>, ServiceError> {
        let mut options = new.options;
        check_options(&options)?;
        let folder = self.folder(&new.folder).await?;
        options.add_dirs = self.folders(&options.add_dirs).await?;
        let mode = new.mode.unwrap_or(PermissionMode::Default);
        self.check_mode(&mode)?;
        check_name("a model", new.model.as_deref())?;
        let title = checked_title(&new.title.unwrap_or_default())?;
        check_labels(&new.labels)?;
        let session = SessionId::new();
        let created = Created {
            folder,
            title,
            labels: new.labels,
            mode,
            model: new.model,
            options: Box::new(options),
            conversation: ConversationId::new(),
            parent: None,
            by: caller.by.clone(),
        };
        check_launch(session, &created)?;
        let prompt = new.prompt.unwrap_or_default();
        let content = MessageContent { text: prompt, images: new.images };
        self.make(caller, session, vec![created.into()], content).await
    }

    /// Makes a copy of a session. It has the rules that the session was given while it ran, and the
    /// same budget, of which nothing is spent.
    ///
    /// # Errors
    /// When there is no such session, or nothing that could be copied.
    pub async fn fork(
        &self,
        caller: &Caller,
        of: SessionId,
        fork: ForkSession,
    ) -> Result<Carried<SessionMade>, ServiceError> {
        let head = self.session(of).await?;
        self.unchanged(&head).await?;
        if !head.conversation.begun {
            let why = "the session has said nothing yet, so there is nothing to copy";
            return Err(ServiceError::Invalid(why.to_owned()));
        }
        if let Some(at) = &fork.at
            && uuid::Uuid::parse_str(at).is_err()
        {
            let why = format!("{at:?} is not the uuid of a message");
            return Err(ServiceError::Invalid(why));
        }
        let title = match fork.title {
            Some(title) => checked_title(&title)?,
            None => head.title.clone(),
        };
        let session = SessionId::new();
        let created = Created {
            title,
            parent: Some(Parent::Fork {
                session: of,
                conversation: head.conversation.id,
                at: fork.at,
            }),
            ..like(&head, caller)
        };
        let content = MessageContent::text(fork.prompt.unwrap_or_default());
        self.make(caller, session, made_like(created, &head), content).await
    }

    async fn make(
        &self,
        caller: &Caller,
        session: SessionId,
        mut happens: Vec<Happening>,
        content: MessageContent,
    ) -> Result<Carried<SessionMade>, ServiceError> {
        let mut message = None;
        if content != MessageContent::default() {
            content.check()?;
            let id = MessageId::new();
            let by = caller.by.clone();
            let (now, first) = (false, false);
            happens.push(MessageQueued { message: id, content, now, first, by }.into());
            message = Some(id);
        }
        let write = Write::to(session, happens);
        self.carry(caller, SessionMade { session, message }, write).await
    }

    /// Ends the turn that is running.
    ///
    /// # Errors
    /// When another turn is running, or none: what somebody saw is over.
    pub async fn interrupt(
        &self,
        caller: &Caller,
        session: SessionId,
        turn: TurnId,
    ) -> Result<Carried<Noted>, ServiceError> {
        self.note(caller, session, InterruptAsked { turn, by: caller.by.clone() }).await
    }

    /// Stops a session: its process ends, and what a person is asked is not asked any more.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn stop(
        &self,
        caller: &Caller,
        session: SessionId,
    ) -> Result<Carried<Noted>, ServiceError> {
        self.note(caller, session, StopAsked { by: caller.by.clone() }).await
    }

    /// Has a session go on that was stopped or has failed.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn resume(
        &self,
        caller: &Caller,
        session: SessionId,
    ) -> Result<Carried<Noted>, ServiceError> {
        self.note(caller, session, ResumeAsked { by: caller.by.clone() }).await
    }

    /// Gives a session another title.
    ///
    /// # Errors
    /// When there is no such session, or the title is none.
    pub async fn rename(
        &self,
        caller: &Caller,
        session: SessionId,
        title: String,
    ) -> Result<Carried<Noted>, ServiceError> {
        let title = checked_title(&title)?;
        if title.is_empty() {
            return Err(ServiceError::Invalid("a title needs words".to_owned()));
        }
        self.note(caller, session, Renamed { title, by: caller.by.clone() }).await
    }

    /// Gives a session other labels.
    ///
    /// # Errors
    /// When there is no such session, or a label is none.
    pub async fn label(
        &self,
        caller: &Caller,
        session: SessionId,
        labels: BTreeSet<String>,
    ) -> Result<Carried<Noted>, ServiceError> {
        check_labels(&labels)?;
        self.note(caller, session, Labelled { labels, by: caller.by.clone() }).await
    }

    /// Puts a session into the archive, or takes it out.
    ///
    /// # Errors
    /// When there is no such session, or it has a process.
    pub async fn archive(
        &self,
        caller: &Caller,
        session: SessionId,
        archived: bool,
    ) -> Result<Carried<Noted>, ServiceError> {
        self.note(caller, session, Archived { archived, by: caller.by.clone() }).await
    }

    /// Deletes a session with everything that it had. What was decided in it stays in the audit.
    ///
    /// # Errors
    /// When there is no such session, or it has a process.
    pub async fn delete(
        &self,
        caller: &Caller,
        session: SessionId,
    ) -> Result<Carried<Noted>, ServiceError> {
        let deleted = self.note(caller, session, Deleted { by: caller.by.clone() }).await?;
        self.hub.forget(session);
        Ok(deleted)
    }

    /// Asks for another mode.
    ///
    /// # Errors
    /// When there is no such session, or it may not be in that mode.
    pub async fn set_mode(
        &self,
        caller: &Caller,
        session: SessionId,
        mode: PermissionMode,
    ) -> Result<Carried<Noted>, ServiceError> {
        self.check_mode(&mode)?;
        if mode == PermissionMode::BypassPermissions {
            let head = self.session(session).await?;
            if head.process.is_there() && head.mode != mode {
                let why = "a process cannot be brought into this mode: stop the session, change the \
                           mode, and resume it";
                return Err(ServiceError::Invalid(why.to_owned()));
            }
        }
        self.note(caller, session, ModeWanted { mode, by: caller.by.clone() }).await
    }

    /// Asks for another model, or for the CLI's own choice.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn set_model(
        &self,
        caller: &Caller,
        session: SessionId,
        model: Option<String>,
    ) -> Result<Carried<Noted>, ServiceError> {
        check_name("a model", model.as_deref())?;
        self.note(caller, session, ModelWanted { model, by: caller.by.clone() }).await
    }

    /// Whether a session may be in a mode here.
    fn check_mode(&self, mode: &PermissionMode) -> Result<(), ServiceError> {
        if !is_known_mode(mode) {
            let why = format!(
                "{mode:?} is no permission mode: default, acceptEdits, plan, dontAsk, auto and \
                 bypassPermissions are"
            );
            return Err(ServiceError::Invalid(why));
        }
        if *mode == PermissionMode::BypassPermissions && !self.hub.settings().allow_bypass {
            let why = "sessions may not bypass permissions here: `allow_bypass` in the \
                       configuration of the server allows it";
            return Err(ServiceError::Invalid(why.to_owned()));
        }
        Ok(())
    }

    /// The folder as it is on disk, if it may be used.
    async fn folder(&self, folder: &str) -> Result<String, ServiceError> {
        let (roots, folder) = (Arc::clone(&self.roots), PathBuf::from(folder));
        let looked = tokio::task::spawn_blocking(move || roots.folder(Path::new(&folder))).await;
        let found = looked.map_err(|error| ServiceError::Invalid(error.to_string()))??;
        match found.into_os_string().into_string() {
            Ok(text) => Ok(text),
            Err(_) => Err(ServiceError::Invalid("the name of the folder is not UTF-8".to_owned())),
        }
    }

    /// Refuses to make a session like one whose folders are not what they were.
    pub(super) async fn unchanged(&self, head: &Head) -> Result<(), ServiceError> {
        let folders = [&head.folder].into_iter().chain(&head.options.add_dirs).cloned();
        let looked = Roots::clone(&self.roots).unchanged(folders.collect()).await;
        looked.map_err(|moved| ServiceError::Invalid(moved.to_string()))
    }

    async fn folders(&self, folders: &[String]) -> Result<Vec<String>, ServiceError> {
        let mut all = Vec::with_capacity(folders.len());
        for folder in folders {
            all.push(self.folder(folder).await?);
        }
        Ok(all)
    }
}

/// A session that is set up like another one.
pub(super) fn like(head: &Head, caller: &Caller) -> Created {
    Created {
        folder: head.folder.clone(),
        title: head.title.clone(),
        labels: head.labels.clone(),
        mode: head.mode.clone(),
        model: head.model.clone(),
        options: Box::new(head.options.clone()),
        conversation: ConversationId::new(),
        parent: None,
        by: caller.by.clone(),
    }
}

/// How a session begins that is made like another one: with the rules that were given to that one.
pub(super) fn made_like(created: Created, head: &Head) -> Vec<Happening> {
    let rules = head.rules.inherited().into_iter().map(Happening::from);
    [created.into()].into_iter().chain(rules).collect()
}

fn checked_title(title: &str) -> Result<String, ServiceError> {
    let title = title.trim().to_owned();
    if title.chars().count() > LONGEST_TITLE || title.chars().any(char::is_control) {
        let why = format!("a title is one line of at most {LONGEST_TITLE} characters");
        return Err(ServiceError::Invalid(why));
    }
    Ok(title)
}

fn check_labels(labels: &BTreeSet<String>) -> Result<(), ServiceError> {
    let (most, longest) = LABELS;
    let is_label = |label: &String| {
        !label.trim().is_empty()
            && label.chars().count() <= longest
            // Lists are asked for with commas between labels.
            && !label.chars().any(|letter| letter.is_control() || letter == ',')
    };
    if labels.len() > most || !labels.iter().all(is_label) {
        let why = format!(
            "at most {most} labels of at most {longest} characters each, none of which is a comma"
        );
        return Err(ServiceError::Invalid(why));
    }
    Ok(())
}

/// Whether a name is one line that can be shown.
fn check_name(what: &str, name: Option<&str>) -> Result<(), ServiceError> {
    let is_name = |name: &str| {
        !name.trim().is_empty()
            && name.chars().count() <= LONGEST_NAME
            && !name.chars().any(char::is_control)
    };
    if name.is_none_or(is_name) {
        return Ok(());
    }
    let why = format!("{what} has a name of one line, of at most {LONGEST_NAME} characters");
    Err(ServiceError::Invalid(why))
}

/// What no CLI could be started with is refused now, and not when it is tried.
fn check_launch(session: SessionId, created: &Created) -> Result<(), ServiceError> {
    let first = created.clone().into();
    let head = Head::create(session, Timestamp::UNIX_EPOCH, &first);
    let head = head.map_err(ServiceError::Refused)?;
    check_launch_of(&head).map_err(ServiceError::Invalid)
}

fn check_options(options: &SessionOptions) -> Result<(), ServiceError> {
    let refuse = |why: String| Err(ServiceError::Invalid(why));
    if options.append_system_prompt.as_ref().is_some_and(|text| text.len() > LONGEST_PROMPT) {
        return refuse(format!("`append_system_prompt` has at most {LONGEST_PROMPT} bytes"));
    }
    let (most, longest) = RULES;
    for (name, rules) in
        [("allowed_tools", &options.allowed_tools), ("disallowed_tools", &options.disallowed_tools)]
    {
        if rules.len() > most || rules.iter().any(|rule| rule.len() > longest) {
            return refuse(format!("`{name}` has at most {most} rules of at most {longest} bytes"));
        }
    }
    if options.add_dirs.len() > MOST_FOLDERS {
        return refuse(format!("`add_dirs` has at most {MOST_FOLDERS} folders"));
    }
    check_name("`fallback_model`", options.fallback_model.as_deref())?;
    check_name("`effort`", options.effort.as_deref())?;
    if let Some(servers) = &options.mcp_servers {
        let length = serde_json::to_string(servers).map_or(usize::MAX, |text| text.len());
        if length > LONGEST_SERVERS {
            return refuse(format!("`mcp_servers` has at most {LONGEST_SERVERS} bytes"));
        }
        for name in servers.keys() {
            check_name("an MCP server", Some(name))?;
        }
    }
    let limits = &options.limits;
    let seconds = [limits.turn_seconds, limits.silence_seconds];
    if seconds.into_iter().flatten().any(|seconds| seconds > LONGEST_TIME) {
        return refuse(format!("a limit of time is at most {LONGEST_TIME} seconds"));
    }
    if limits.budget_usd.is_some_and(|budget| !budget.is_finite() || budget <= 0.0) {
        return Err(ServiceError::Invalid("a budget is more than nothing".to_owned()));
    }
    let zero = [limits.turn_seconds, limits.silence_seconds].contains(&Some(0));
    if zero || limits.turns_a_message == Some(0) {
        return Err(ServiceError::Invalid("a limit is more than nothing".to_owned()));
    }
    for source in options.setting_sources.iter().flatten() {
        if !matches!(&**source, "user" | "project" | "local") {
            let why = format!("there are no settings {source:?}: user, project and local are");
            return Err(ServiceError::Invalid(why));
        }
    }
    Ok(())
}
