//! The plan file of a session.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::state::Sim;

/// The plan file.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    path: Option<PathBuf>,
    /// The first prompt, whose words the name begins with.
    prompt: Option<String>,
}

const QUALITIES: [&str; 12] = [
    "binary", "calm", "gentle", "hidden", "merry", "playful", "quiet", "shiny", "soft", "sunny",
    "velvety", "vivid",
];
const DOINGS: [&str; 8] = [
    "brewing",
    "greeting",
    "humming",
    "meandering",
    "napping",
    "prancing",
    "puzzling",
    "wandering",
];
const THINGS: [&str; 12] = [
    "canyon", "cat", "finch", "flamingo", "kahan", "koala", "lovelace", "nova", "otter", "pike",
    "sphinx", "torvalds",
];

impl Plan {
    /// Notes the first prompt.
    pub(crate) fn note_prompt(&mut self, prompt: &str) {
        self.prompt.get_or_insert_with(|| prompt.to_owned());
    }

    /// The path. It is made up when it is first needed, and stays.
    pub(crate) fn path(&mut self, sim: &Sim) -> PathBuf {
        if let Some(path) = &self.path {
            return path.clone();
        }
        // The name stays the same when the session is resumed, so it comes from the session's id.
        let session = sim.session_id();
        let seed = Uuid::parse_str(&session).unwrap_or_default().as_u128();
        let words = self.prompt.as_deref().filter(|_| sim.profile.plan_paths).and_then(words_of);
        let name = match words {
            Some(words) => {
                format!("{words}-{}-{}", pick(&QUALITIES, seed), pick(&THINGS, seed >> 16))
            }
            None => format!(
                "{}-{}-{}",
                pick(&QUALITIES, seed),
                pick(&DOINGS, seed >> 8),
                pick(&THINGS, seed >> 16)
            ),
        };
        let path = sim.env.config_home.join("plans").join(format!("{name}.md"));
        self.path = Some(path.clone());
        path
    }

    /// Whether a path is the plan file.
    pub(crate) fn is_plan_file(&self, path: &Path) -> bool {
        self.path.as_deref() == Some(path)
    }

    /// Forgets the path, as for a new session.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

fn pick<'a>(words: &[&'a str], seed: u128) -> &'a str {
    let length = u128::try_from(words.len()).unwrap_or(1);
    let at = usize::try_from(seed % length).unwrap_or(0);
    words.get(at).copied().unwrap_or("plain")
}

/// The first words of a prompt, when there are enough of them to say something.
fn words_of(prompt: &str) -> Option<String> {
    let words: Vec<String> = prompt
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(4)
        .map(str::to_ascii_lowercase)
        .collect();
    (words.len() > 1).then(|| words.join("-"))
}
