//! Who did something.

use serde::{Deserialize, Serialize};

use crate::id::TokenId;

/// Who did something, and from where: for the log and the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum By {
    /// Somebody with a token, or with a browser that was let in with one.
    Person {
        /// The name of the token.
        name: String,
        /// The token.
        token: TokenId,
        /// The address that it came from.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    },
    /// A rule, without a person.
    Rule {
        /// Which.
        rule: String,
    },
    /// Nobody: the time that there was for it is over.
    Expiry,
    /// The server itself.
    Server,
}

impl By {
    /// Who, in a word.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Person { name, .. } => name,
            Self::Rule { .. } => "a rule",
            Self::Expiry => "expiry",
            Self::Server => "the server",
        }
    }
}
