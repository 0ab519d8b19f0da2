//! The results of experiments on one program, as a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::observed::Observed;
use crate::lab::Program;

/// What came of experiments on one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Results {
    /// The version of the CLI.
    pub version: String,
    /// It was the simulated CLI.
    pub simulated: bool,
    /// When the last of them were played.
    pub time: Timestamp,
    /// The experiments, by their letters.
    pub experiments: Vec<Observed>,
}

/// The name of the file in the folder of a program.
const FILE: &str = "results.json";

impl Results {
    /// No results yet.
    pub(super) fn new(program: &Program, time: Timestamp) -> Self {
        let simulated = matches!(program, Program::Simulated { .. });
        let version = program.version().to_string();
        Self { version, simulated, time, experiments: Vec::new() }
    }

    /// The folder of a program in the folder that the caller gave: named by its version, and
    /// apart from that of the real CLI where it is simulated.
    #[must_use]
    pub fn folder(out: &Path, program: &Program) -> PathBuf {
        let suffix = if matches!(program, Program::Simulated { .. }) { "-simulated" } else { "" };
        out.join(format!("{}{suffix}", program.version()))
    }

    /// Reads the results in the folder of a program, if there are any.
    ///
    /// # Errors
    ///
    /// When there is a file that cannot be read, or is not of this kind.
    pub fn read(folder: &Path) -> Result<Option<Self>, ResultsError> {
        let path = folder.join(FILE);
        match fs::read(&path) {
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(results) => match strange(&results) {
                    None => Ok(Some(results)),
                    Some(name) => Err(ResultsError::Name { path, name }),
                },
                Err(source) => Err(ResultsError::Json { path, source }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ResultsError::File { path, source }),
        }
    }

    /// Writes them into the folder of a program. Earlier results of experiments that are not among
    /// these stay in the file.
    pub(super) fn write(&self, folder: &Path) -> Result<(), ResultsError> {
        let mut all = self.clone();
        let ours =
            |old: &Observed| self.experiments.iter().any(|new| new.experiment == old.experiment);
        let earlier = Self::read(folder)?.into_iter().flat_map(|results| results.experiments);
        all.experiments.extend(earlier.filter(|old| !ours(old)));
        let order = |observed: &Observed| (observed.experiment.len(), observed.experiment.clone());
        all.experiments.sort_by_key(order);
        let path = folder.join(FILE);
        let failed = |source| ResultsError::File { path: path.clone(), source };
        let text = serde_json::to_vec_pretty(&all).map_err(|error| failed(error.into()))?;
        // Written beside it first: whoever reads finds the old results or the new ones.
        let draft = folder.join(format!(".{FILE}"));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&draft, text))
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(failed)
    }
}

/// The first name in results that is none: names become parts of paths and of links, and a file of
/// results may come from anywhere.
fn strange(results: &Results) -> Option<String> {
    let word = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        !text.is_empty() && text.chars().all(plain) && text.chars().any(|c| c != '.')
    };
    let path = |text: &str| text.split('/').all(word);
    let of = |observed: &Observed| {
        let names = [&observed.experiment, &observed.name].into_iter().filter(|name| !word(name));
        names.chain(observed.tapes.iter().filter(|tape| !path(tape))).next().cloned()
    };
    let version = (!word(&results.version)).then(|| results.version.clone());
    version.or_else(|| results.experiments.iter().find_map(of))
}

/// Why results could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// A file or folder cannot be used.
    #[error("cannot use {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file has a name in it that is none.
    #[error("{} names {name:?}, which no run of experiments does", path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The file holds something else.
    #[error("{} does not hold results of experiments", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let text = |version: &str, tape: &str| {
            format!(
                r#"{{"version": {version:?}, "simulated": false, "time": "2026-11-16T08:00:00Z",
                "experiments": [{{"experiment": "A", "name": "a-name", "question": "?",
                "verdict": {{"is": "as-documented"}}, "findings": [], "tapes": [{tape:?}],
                "summary": {{"mode": null, "from_cli": 0, "to_cli": 0, "control_responses": 0,
                "permission_requests": 0, "permission_answers": 0, "tools_asked_for": [],
                "cost": null}}, "took_ms": 1}}]}}"#
            )
        };
        let folder = tempfile::tempdir().unwrap();
        let read = |version: &str, tape: &str| {
            fs::write(folder.path().join(FILE), text(version, tape)).unwrap();
            Results::read(folder.path())
        };
        assert!(read("2.1.325", "A-a-name/case-1.tape").unwrap().is_some());
        for (version, tape) in [
            ("2.1.325", "../../secret.tape"),
            ("2.1.325", "/etc/passwd"),
            ("2.1.325", "a](javascript:1)"),
            ("..", "A-a-name/1.tape"),
            ("<img src=x>", "A-a-name/1.tape"),
        ] {
            let error = read(version, tape).unwrap_err();
            assert!(matches!(error, ResultsError::Name { .. }), "{version} {tape}: {error}");
        }
    }
}
