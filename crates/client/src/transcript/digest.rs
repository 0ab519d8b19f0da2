//! What a list shows of a session, gathered entry by entry.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{Fields, each_item, string};

/// How many characters of the first prompt are shown.
const PROMPT: usize = 200;
/// A text that is longer than this is no title.
const LONGEST: usize = 64 << 10;

/// What a list shows of a session.
///
/// It is gathered in one pass and can be continued: what is said first counts for some fields and
/// what is said last for others, and nothing has to be read again. The names are those that the
/// official Python SDK gives to the fields in a session store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Digest {
    /// Whether the first entry is beside a main conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) is_sidechain: Option<bool>,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entrypoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_prompt: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    first_prompt_locked: bool,
    /// The first command with a slash, shown when there is no prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    command_fallback: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ai_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) git_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tag: Option<String>,
    /// What others gather.
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Digest {
    /// Takes an entry in. A line that is not an object is passed over.
    pub(crate) fn add(&mut self, line: &str) {
        if let Some(fields) = Fields::parse(line) {
            self.add_fields(&fields);
        }
    }

    /// Takes in an entry that is cut off, as far as it goes.
    pub(crate) fn add_cut(&mut self, line: &str) {
        let fields = Fields::parse_prefix(line);
        self.add_fields(&fields);
        if self.takes_prompt_of(&fields) && fields.raw("message").is_none() {
            self.add_prompt(&cut_prompt(line).unwrap_or_default());
        }
    }

    /// The title: the user's, else that of the CLI.
    pub(crate) fn title(&self) -> Option<&str> {
        let titles = [&self.custom_title, &self.ai_title];
        titles.into_iter().find_map(|title| filled(title.as_deref()))
    }

    pub(crate) fn first_prompt(&self) -> Option<&str> {
        filled(self.first_prompt.as_deref()).or(filled(self.command_fallback.as_deref()))
    }

    /// What stands for the session in a list; nothing if nobody said anything.
    pub(crate) fn summary(&self) -> Option<&str> {
        self.title()
            .or(filled(self.last_prompt.as_deref()))
            .or(filled(self.summary_hint.as_deref()))
            .or(self.first_prompt())
    }

    fn add_fields(&mut self, fields: &Fields<'_>) {
        let text =
            |name| fields.text(name).filter(|text| text.len() <= LONGEST).map(Cow::into_owned);
        self.is_sidechain.get_or_insert(fields.is_true("isSidechain"));
        if self.created_at.is_none() {
            let time = fields.text("timestamp").and_then(|time| time.parse::<Timestamp>().ok());
            self.created_at = time.map(Timestamp::as_millisecond);
        }
        self.cwd = self.cwd.take().or_else(|| text("cwd").filter(|cwd| !cwd.is_empty()));
        self.entrypoint = self.entrypoint.take().or_else(|| text("entrypoint"));
        for (field, name) in [
            (&mut self.custom_title, "customTitle"),
            (&mut self.ai_title, "aiTitle"),
            (&mut self.last_prompt, "lastPrompt"),
            (&mut self.summary_hint, "summary"),
            (&mut self.git_branch, "gitBranch"),
        ] {
            *field = text(name).or_else(|| field.take());
        }
        if fields.raw("type") == Some("\"tag\"") {
            self.tag = text("tag").filter(|tag| !tag.is_empty());
        }
        if self.takes_prompt_of(fields) {
            for prompt in fields.raw("message").map(prompts).unwrap_or_default() {
                self.add_prompt(&prompt);
            }
        }
    }

    fn takes_prompt_of(&self, fields: &Fields<'_>) -> bool {
        !self.first_prompt_locked
            && fields.raw("type") == Some("\"user\"")
            && !fields.is_true("isMeta")
            && !fields.is_true("isCompactSummary")
    }

    fn add_prompt(&mut self, prompt: &str) {
        let prompt = prompt.replace('\n', " ");
        let prompt = prompt.trim();
        if self.first_prompt_locked || prompt.is_empty() {
            return;
        }
        if let Some((_, rest)) = prompt.split_once("<command-name>")
            && let Some((command, _)) = rest.split_once("</command-name>")
        {
            self.command_fallback.get_or_insert_with(|| shortened(command));
        } else if !is_made_by_a_program(prompt) {
            self.first_prompt = Some(shortened(prompt));
            self.first_prompt_locked = true;
        }
    }
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(PROMPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// Whether a prompt was not written by a person.
fn is_made_by_a_program(prompt: &str) -> bool {
    const BEGINNINGS: [&str; 5] = [
        "<local-command-stdout>",
        "<session-start-hook>",
        "<tick>",
        "<goal>",
        "[Request interrupted by user",
    ];
    let wrapped = |tag: &str| {
        prompt.starts_with(&format!("<{tag}>")) && prompt.ends_with(&format!("</{tag}>"))
    };
    BEGINNINGS.iter().any(|beginning| prompt.starts_with(beginning))
        || wrapped("ide_opened_file")
        || wrapped("ide_selection")
}

/// The texts of a message; none if it has the result of a call.
fn prompts(message: &str) -> Vec<String> {
    let Some(content) = Fields::parse(message).and_then(|message| message.raw("content")) else {
        return Vec::new();
    };
    if let Some(text) = string(content) {
        return vec![text.into_owned()];
    }
    let (mut texts, mut is_result) = (Vec::new(), false);
    each_item(content, |block| {
        let block = Fields::parse(block).unwrap_or_default();
        match block.raw("type") {
            Some("\"tool_result\"") => is_result = true,
            // One of the first is a prompt, or none is.
            Some("\"text\"") if texts.len() < 16 => {
                texts.extend(block.text("text").map(Cow::into_owned));
            }
            _ => {}
        }
    });
    if is_result { Vec::new() } else { texts }
}

/// How the prompt of an entry begins whose line is cut off in it.
fn cut_prompt(line: &str) -> Option<String> {
    let (_, message) = line.split_once("\"message\":")?;
    if message.contains("\"tool_result\"") {
        return None;
    }
    let beginning = ["\"content\":\"", "\"text\":\""].iter();
    let (_, text) = beginning.filter_map(|key| message.split_once(key)).next()?;
    // Enough for what is shown; an escape that is cut in two makes the end no string.
    let text: Vec<char> = text.chars().take(4 * PROMPT).collect();
    let ends = (0..=12).filter_map(|cut| text.get(..text.len().checked_sub(cut)?));
    ends.map(|text| text.iter().collect::<String>())
        .find_map(|text| serde_json::from_str(&format!("\"{text}\"")).ok())
}
