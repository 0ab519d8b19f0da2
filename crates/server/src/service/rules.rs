//! The rules in force for a session, and where each came from.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::AsyncReadExt as _;

use super::{Service, ServiceError};
use crate::id::{ApprovalId, SessionId};
use crate::session::Head;

/// The largest settings file that is read.
const LARGEST: u64 = 1 << 20;

/// A rule in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RuleInForce {
    /// `allow`, `deny`, `ask`, or `folder` for a folder that tools may use besides.
    pub behavior: String,
    /// As it stands in a settings file, such as `Bash(npm test:*)`; or the folder.
    pub rule: String,
    /// Where it came from.
    pub source: RuleSource,
    /// The file that it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The answer that it came with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// Since when, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// Where a rule came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// The session was made with it.
    Start,
    /// Somebody gave it while the session ran; it ends with it.
    Session,
    /// The settings of the user.
    User,
    /// The settings of the project, for everybody who works on it.
    Project,
    /// The settings of the project, for this user.
    Local,
}

/// The rules in force for a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RulesInForce {
    /// The rules. Those that an administrator of the machine has set for everybody are not among them.
    pub rules: Vec<RuleInForce>,
    /// Settings files that could not be read, and why.
    pub problems: Vec<String>,
}

impl Service {
    /// The rules in force for a session, and where each came from. Settings files are read as they are
    /// now.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn rules(&self, session: SessionId) -> Result<RulesInForce, ServiceError> {
        let head = self.session(session).await?;
        let mut found = RulesInForce { rules: of_head(&head), problems: Vec::new() };
        let config = self.hub.settings().config_home();
        for (source, file) in files(&head, config) {
            match read(&file).await {
                Ok(None) => {}
                Ok(Some(settings)) => found.rules.extend(of_settings(&settings, source, &file)),
                Err(why) => found.problems.push(format!("{}: {why}", file.display())),
            }
        }
        Ok(found)
    }
}

/// Those that the session has itself.
fn of_head(head: &Head) -> Vec<RuleInForce> {
    let rule = |behavior: &str, rule: &String, source| RuleInForce {
        behavior: behavior.to_owned(),
        rule: rule.clone(),
        source,
        file: None,
        approval: None,
        since: (source == RuleSource::Start).then_some(head.created_at),
    };
    let start = RuleSource::Start;
    let options = &head.options;
    let mut rules: Vec<RuleInForce> = Vec::new();
    rules.extend(options.allowed_tools.iter().map(|text| rule("allow", text, start)));
    rules.extend(options.disallowed_tools.iter().map(|text| rule("deny", text, start)));
    rules.extend(options.add_dirs.iter().map(|folder| rule("folder", folder, start)));
    rules.extend(head.rules.rules.iter().map(|given| RuleInForce {
        approval: given.approval,
        since: Some(given.since),
        ..rule(&given.behavior.to_string(), &given.rule, RuleSource::Session)
    }));
    let folders = head.rules.folders.iter();
    rules.extend(folders.map(|folder| rule("folder", folder, RuleSource::Session)));
    rules
}

/// The settings files that the CLI reads for a session.
fn files(head: &Head, config: Option<PathBuf>) -> Vec<(RuleSource, PathBuf)> {
    let project = Path::new(&head.folder).join(".claude");
    let mut files = Vec::new();
    files.extend(config.map(|config| (RuleSource::User, config.join("settings.json"))));
    // In the home folder, the settings of the project are those of the user.
    let own = project.join("settings.json");
    if !files.iter().any(|(_, file)| *file == own) {
        files.push((RuleSource::Project, own));
    }
    files.push((RuleSource::Local, project.join("settings.local.json")));
    if let Some(wanted) = &head.options.setting_sources {
        files.retain(|(source, _)| {
            let name = match source {
                RuleSource::User => "user",
                RuleSource::Project => "project",
                _ => "local",
            };
            wanted.iter().any(|wanted| wanted == name)
        });
    }
    files
}

/// A settings file; nothing if there is none.
async fn read(file: &Path) -> Result<Option<Value>, String> {
    let opened = match tokio::fs::File::open(file).await {
        Ok(opened) => opened,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let is_file = opened.metadata().await.is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Err("it is not a file".to_owned());
    }
    let mut text = Vec::new();
    let read = opened.take(LARGEST + 1).read_to_end(&mut text).await;
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 > LARGEST {
        return Err("it is too large".to_owned());
    }
    serde_json::from_slice(&text).map(Some).map_err(|error| error.to_string())
}

fn of_settings(settings: &Value, source: RuleSource, file: &Path) -> Vec<RuleInForce> {
    let permissions = settings.get("permissions");
    let kinds =
        [("allow", "allow"), ("deny", "deny"), ("ask", "ask"), ("additionalDirectories", "folder")];
    let mut rules = Vec::new();
    for (key, behavior) in kinds {
        let texts = permissions.and_then(|all| all.get(key)?.as_array());
        let texts = texts.into_iter().flatten().filter_map(Value::as_str);
        rules.extend(texts.map(|text| RuleInForce {
            behavior: behavior.to_owned(),
            rule: text.to_owned(),
            source,
            file: Some(file.display().to_string()),
            approval: None,
            since: None,
        }));
    }
    rules
}
