//! What came of an experiment on one program.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::summary::Summary;

/// What came of an experiment on one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Observed {
    /// The letter of the experiment.
    pub experiment: String,
    /// Its name.
    pub name: String,
    /// What it asks.
    pub question: String,
    /// How the findings stand to what is documented.
    pub verdict: Verdict,
    /// What was found, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// What was said, in numbers.
    pub summary: Summary,
    /// The tapes of its conversations: paths from the folder of the results.
    pub tapes: Vec<String>,
    /// How long it took, in milliseconds, all of its cases added up.
    pub took_ms: u64,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// What is asked, such as `mode in init`, after the name of the case where there are several.
    pub name: String,
    /// What was found.
    pub value: Value,
    /// What is documented, where something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documented: Option<String>,
}

impl Finding {
    /// The value as it is shown and compared: a text as it is, anything else as JSON.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Whether it is as documented; also where nothing is.
    #[must_use]
    pub fn is_as_documented(&self) -> bool {
        self.documented.as_deref().is_none_or(|documented| documented == self.text())
    }
}

/// How what was found stands to what is documented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Everything that is documented was found.
    AsDocumented,
    /// Something else was found.
    Differs {
        /// What.
        differences: Vec<Difference>,
    },
    /// The experiment did not get to its end.
    Broken {
        /// Why, and what was said until then.
        error: String,
    },
    /// This version cannot do it.
    DoesNotApply,
}

/// A finding that is not as documented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Difference {
    /// The name of the finding.
    pub finding: String,
    /// What is documented.
    pub documented: String,
    /// What was found, if anything was.
    pub found: Option<String>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsDocumented => f.write_str("as documented"),
            Self::Differs { differences } => {
                f.write_str("differs")?;
                differences.iter().try_for_each(|difference| write!(f, "\n  {difference}"))
            }
            Self::Broken { error } => write!(f, "broken: {error}"),
            Self::DoesNotApply => f.write_str("does not apply"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { finding, documented, found } = self;
        match found {
            Some(found) => write!(f, "{finding}: documented is {documented:?}, found {found:?}"),
            None => write!(f, "{finding}: documented is {documented:?}, nothing was found"),
        }
    }
}
