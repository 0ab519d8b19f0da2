//! What the process is told by its surroundings.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Folders and variables.
#[derive(Clone, Debug)]
pub(crate) struct Env {
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// The folder of transcripts, plans and settings.
    pub(crate) config_home: PathBuf,
    /// The user's home.
    pub(crate) home: PathBuf,
    /// The variables of the environment.
    variables: BTreeMap<String, String>,
}

impl Env {
    /// Looks at the process. `state` goes before `CLAUDE_CONFIG_DIR`.
    pub(crate) fn of_process(state: Option<PathBuf>) -> std::io::Result<Self> {
        let variables: BTreeMap<_, _> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let home = PathBuf::from(variables.get("HOME").map_or("/", String::as_str));
        let config_home = state
            .or_else(|| variables.get("CLAUDE_CONFIG_DIR").map(PathBuf::from))
            .unwrap_or_else(|| home.join(".claude"));
        Ok(Self { cwd: std::env::current_dir()?, config_home, home, variables })
    }

    /// A variable.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Whether a variable switches something on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.var(name).is_some_and(|value| matches!(value, "1" | "true" | "yes" | "on"))
    }

    /// A path as an absolute one, without `.` and `..`; `~` is the home.
    pub(crate) fn absolute(&self, path: &str) -> PathBuf {
        let joined = match path.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None if path == "~" => self.home.clone(),
            None => self.cwd.join(path),
        };
        let mut clean = PathBuf::new();
        for part in joined.components() {
            match part {
                Component::ParentDir => {
                    clean.pop();
                }
                Component::CurDir => {}
                other => clean.push(other),
            }
        }
        clean
    }

    /// The folder that holds the transcripts of a working directory.
    pub(crate) fn project_folder(&self, cwd: &Path) -> PathBuf {
        self.config_home.join("projects").join(project_name(cwd))
    }

    /// The folder that holds the output of tasks, in the temporary folder of the user.
    pub(crate) fn task_folder(&self) -> PathBuf {
        let user = rustix::process::getuid().as_raw();
        let temporary = PathBuf::from(self.var("TMPDIR").unwrap_or("/tmp"));
        temporary.join(format!("claude-{user}")).join(project_name(&self.cwd))
    }
}

/// What the CLI calls the folder of a working directory.
fn project_name(cwd: &Path) -> String {
    let text = cwd.to_string_lossy();
    let name: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    short_name(&name)
}

/// A name of more than 200 characters is cut, and told apart by a hash.
fn short_name(name: &str) -> String {
    const LONGEST: usize = 200;
    let Some(head) = name.get(..LONGEST).filter(|_| name.len() > LONGEST) else {
        return name.to_owned();
    };
    let hash = name.chars().fold(0_i32, |hash, c| {
        hash.wrapping_mul(31).wrapping_add(i32::try_from(u32::from(c)).unwrap_or(0))
    });
    let mut digits = Vec::new();
    let mut left = hash.unsigned_abs();
    loop {
        digits.push(char::from_digit(left % 36, 36).unwrap_or('0'));
        left /= 36;
        if left == 0 {
            break;
        }
    }
    format!("{head}-{}", digits.iter().rev().collect::<String>())
}
