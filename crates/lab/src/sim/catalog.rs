//! What a version says of itself: its tools, commands and models.

use super::json::{Json, Object};
use super::profile::Profile;

/// The lists of a version.
#[derive(Debug)]
pub(crate) struct Catalog {
    data: Json,
}

impl Catalog {
    /// Reads the lists. Paths in them are those of this session.
    pub(crate) fn read(profile: &Profile, cwd: &str, home: &str) -> Self {
        // The placeholders stand inside of JSON strings, so what replaces them is escaped.
        let inside = |text: &str| {
            let quoted = Json::from(text).to_string();
            quoted.trim_matches('"').to_owned()
        };
        let text = profile.catalog.replace("{cwd}", &inside(cwd)).replace("{home}", &inside(home));
        Self { data: Json::parse(&text).unwrap_or_default() }
    }

    fn at(&self, section: &str, key: &str) -> Option<&Json> {
        self.data.get(section)?.get(key)
    }

    /// A list of `system/init`.
    pub(crate) fn init(&self, key: &str) -> Option<Json> {
        self.at("init", key).cloned()
    }

    /// The built-in tools, with or without those that need a person.
    pub(crate) fn tools(&self, prompts: bool) -> Vec<String> {
        let key = if prompts { "tools" } else { "tools_without_prompts" };
        strings(self.at("init", key))
    }

    /// The slash commands.
    pub(crate) fn slash_commands(&self) -> Vec<String> {
        strings(self.at("init", "slash_commands"))
    }

    /// The model that is used when none is asked for.
    pub(crate) fn default_model(&self) -> &str {
        self.at("init", "model").and_then(Json::as_str).unwrap_or("claude")
    }

    /// The full name of a model: `haiku` is a short one.
    pub(crate) fn resolve_model(&self, name: &str) -> String {
        if name == "default" {
            return self.default_model().to_owned();
        }
        let models = self.at("initialize", "models").and_then(Json::as_array).unwrap_or_default();
        let found = models.iter().find(|model| model.text("value") == Some(name));
        let listed = found.and_then(|model| model.text("resolvedModel"));
        // One version does not tell what its short names stand for.
        let short = || self.at("aliases", name).and_then(Json::as_str);
        listed.or_else(short).unwrap_or(name).to_owned()
    }

    /// The answer to `initialize`, as far as it is always the same.
    pub(crate) fn initialize(&self) -> Object {
        self.data.get("initialize").and_then(Json::as_object).cloned().unwrap_or_default()
    }

    /// Another section, as it stands.
    pub(crate) fn section(&self, name: &str) -> Option<Object> {
        self.data.get(name)?.as_object().cloned()
    }
}

fn strings(list: Option<&Json>) -> Vec<String> {
    let items = list.and_then(Json::as_array).unwrap_or_default();
    items.iter().filter_map(Json::as_str).map(str::to_owned).collect()
}
