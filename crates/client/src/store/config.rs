//! What a CLI needs to find in a configuration folder of its own.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A file that is larger than this is not copied.
const LARGEST: u64 = 64 << 20;

/// What plugins were declared: in a folder without plugins the CLI would fetch all of them.
const PLUGINS: [&str; 2] = ["enabledPlugins", "extraKnownMarketplaces"];

/// Where the login and the settings of a user are, which a CLI in another configuration folder
/// needs as well.
#[derive(Clone, Debug)]
pub struct ConfigSource {
    home: PathBuf,
    global: PathBuf,
}

impl ConfigSource {
    /// Those of a configuration folder that was named in `CLAUDE_CONFIG_DIR`.
    pub fn at(config_home: impl Into<PathBuf>) -> Self {
        let home = config_home.into();
        Self { global: home.join(".claude.json"), home }
    }

    /// Those of a user with this home folder, and no `CLAUDE_CONFIG_DIR`.
    pub fn of_home(home: impl AsRef<Path>) -> Self {
        let home = home.as_ref();
        Self { home: home.join(".claude"), global: home.join(".claude.json") }
    }

    /// Those of the user: of `CLAUDE_CONFIG_DIR`, else of `HOME`. Nothing if neither is set.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let config = set("CLAUDE_CONFIG_DIR").map(|folder| Self::at(PathBuf::from(folder)));
        config.or_else(|| set("HOME").map(Self::of_home))
    }

    /// What is to be written into another configuration folder: names and contents.
    ///
    /// A file that is missing or cannot be read is left out; the CLI says what it lacks.
    pub(super) fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let login =
            read(&self.home.join(".credentials.json")).and_then(|text| without_refresh(&text));
        let settings = |name| read(&self.home.join(name)).map(|text| for_another_folder(&text));
        let files = [
            (".credentials.json", login),
            (".claude.json", read(&self.global)),
            ("settings.json", settings("settings.json")),
            ("cowork_settings.json", settings("cowork_settings.json")),
        ];
        files.into_iter().filter_map(|(name, content)| Some((name, content?))).collect()
    }
}

fn read(file: &Path) -> Option<Vec<u8>> {
    let metadata = fs::metadata(file).ok()?;
    // What is no file might never end.
    if !metadata.is_file() || metadata.len() > LARGEST {
        return None;
    }
    fs::read(file).ok()
}

/// A login without what renews it. A refresh token is good for one use, and the new one would be
/// written where nobody looks for it: the user would be logged out.
fn without_refresh(text: &[u8]) -> Option<Vec<u8>> {
    // What cannot be read may hold one, so it is not copied.
    let mut login: Value = serde_json::from_slice(text).ok()?;
    remove_everywhere(&mut login, "refreshToken");
    serde_json::to_vec(&login).ok()
}

fn remove_everywhere(value: &mut Value, name: &str) {
    match value {
        Value::Object(fields) => {
            fields.remove(name);
            fields.values_mut().for_each(|value| remove_everywhere(value, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| remove_everywhere(value, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Settings without what leads the CLI away from its folder. What cannot be read is copied as it
/// is: it may hold rules that deny something, and the CLI complains about it.
fn for_another_folder(text: &[u8]) -> Vec<u8> {
    let plain = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let Ok(Value::Object(mut settings)) = serde_json::from_slice(plain) else {
        return text.to_vec();
    };
    for name in PLUGINS {
        settings.remove(name);
    }
    if let Some(Value::Object(variables)) = settings.get_mut("env") {
        variables.remove("CLAUDE_CONFIG_DIR");
    }
    serde_json::to_vec(&settings).unwrap_or_else(|_| text.to_vec())
}
