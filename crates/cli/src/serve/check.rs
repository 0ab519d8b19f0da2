//! What the server would be started with, and whether it would start.

use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use countersign::cli::FindOptions;
use countersign_server::config::{Checked, Config, ConfigError, Origin, Source};
use serde::Serialize;
use serde_json::Value;

use crate::failure::{Exit, Failure};
use crate::output::{Output, plain};

/// The configuration in effect, with all that is wrong, and the CLI that sessions would run.
#[derive(Debug, Serialize)]
pub(super) struct Effective {
    #[serde(flatten)]
    pub(super) checked: Checked,
    /// The program that sessions would run, where there is one.
    claude: Option<PathBuf>,
}

impl Effective {
    /// Reads all layers, and looks at what they name.
    pub(super) fn read(source: &Source) -> Result<Self, Failure> {
        let loaded = Config::load(source).map_err(|error| not_read(&error))?;
        let mut checked = loaded.check();
        let mut options = FindOptions::from_env();
        options.explicit.clone_from(&checked.config.cli.path);
        let claude = match options.find() {
            Ok(path) => Some(path),
            Err(error) => {
                let mut words = error.to_string();
                if options.explicit.is_none() && options.variable.is_none() {
                    words = format!("not found; {} places were looked at", error.looked().len());
                }
                checked.warnings.push(format!(
                    "sessions have no Claude Code to run: {words}; install it with `npm install -g \
                     @anthropic-ai/claude-code`, or name it with --cli PATH"
                ));
                None
            }
        };
        Ok(Self { checked, claude })
    }

    /// Why the server does not start with it, if it does not.
    pub(super) fn refused(&self) -> Option<Failure> {
        let faults = &self.checked.faults;
        let words: Vec<_> = faults.iter().map(ToString::to_string).collect();
        (!words.is_empty()).then(|| {
            let count = if words.len() == 1 { "one fault" } else { "faults" };
            Failure::new(format!("the configuration has {count}:\n  {}", words.join("\n  ")))
                .hint("`countersign serve --check-config` shows all of it.")
        })
    }

    /// Says all of it.
    pub(super) fn tell(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let code = match self.checked.faults.is_empty() {
            true => ExitCode::SUCCESS,
            false => Exit::Failed.into(),
        };
        if output.is_json() {
            output.json(self)?;
            return Ok(code);
        }
        let dim = Style::new().dimmed();
        let file = match &self.checked.file {
            Some(file) => plain(&file.display().to_string()),
            None => "none".to_owned(),
        };
        output.line(format_args!("{dim}# file: {file}{dim:#}"))?;
        let config = serde_json::to_value(&self.checked.config)?;
        let mut lines = Vec::new();
        flatten("", &config, &mut lines);
        for (key, value) in lines {
            let (key, value) = (plain(&key), plain(&value));
            let origin = self.origin(&key).map(|origin| plain(&origin.to_string()));
            match origin {
                Some(origin) => {
                    output.line(format_args!("{key} = {value}  {dim}# {origin}{dim:#}"))?;
                }
                None => output.line(format_args!("{key} = {value}"))?,
            }
        }
        let claude = match &self.claude {
            Some(path) => plain(&path.display().to_string()),
            None => "not found".to_owned(),
        };
        output.line(format_args!("{dim}# Claude Code: {claude}{dim:#}"))?;
        let (warn, bad) = (AnsiColor::Yellow.on_default(), AnsiColor::Red.on_default());
        for warning in &self.checked.warnings {
            output.line(format_args!("{warn}warning{warn:#}: {}", plain(warning)))?;
        }
        for fault in &self.checked.faults {
            output.line(format_args!("{bad}fault{bad:#}: {}", plain(&fault.to_string())))?;
        }
        let verdict = match self.checked.faults.is_empty() {
            true => "The server would start.",
            false => "The server would not start.",
        };
        output.line(verdict)?;
        Ok(code)
    }

    /// Where a key was set, if it was.
    fn origin(&self, key: &str) -> Option<&Origin> {
        let mut key = key;
        loop {
            if let Some(origin) = self.checked.origins.get(key) {
                return Some(origin);
            }
            // A value may be part of one that was set as a whole.
            key = key.get(..key.rfind(['.', '['])?)?;
        }
    }
}

/// Why there is no configuration.
fn not_read(error: &ConfigError) -> Failure {
    let failure = Failure::of(error);
    match error {
        ConfigError::Flag { .. } => failure.code(Exit::Usage),
        _ => failure,
    }
}

/// Every value with its key, as it would stand in the file.
fn flatten(front: &str, value: &Value, lines: &mut Vec<(String, String)>) {
    let is_table = |item: &Value| item.is_object();
    match value {
        Value::Object(members) if !members.is_empty() || front.is_empty() => {
            for (name, value) in members {
                let key = if front.is_empty() { name.clone() } else { format!("{front}.{name}") };
                flatten(&key, value, lines);
            }
        }
        Value::Array(items) if !items.is_empty() && items.iter().all(is_table) => {
            for (number, item) in items.iter().enumerate() {
                flatten(&format!("{front}[{number}]"), item, lines);
            }
        }
        value => lines.push((front.to_owned(), value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::flatten;

    #[test]
    fn every_value_has_the_key_that_sets_it() {
        let value = json!({
            "a": 1, "b": {"c": "x", "d": {}}, "e": [{"f": true}, {"f": false}], "g": [], "h": ["y"],
        });
        let mut lines = Vec::new();
        flatten("", &value, &mut lines);
        let text: Vec<_> = lines.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let expected = [
            "a = 1",
            "b.c = \"x\"",
            "b.d = {}",
            "e[0].f = true",
            "e[1].f = false",
            "g = []",
            "h = [\"y\"]",
        ];
        assert_eq!(text, expected);
    }
}
