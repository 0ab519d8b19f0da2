//! What a token is good for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a token is good for. Each scope has those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// To see everything and change nothing.
    Read,
    /// To answer what is asked, and to steer sessions.
    Decide,
    /// To make tokens, and everything else.
    Admin,
}

/// Why a text is not a scope.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not a scope; use read, decide or admin")]
pub struct NotAScope(String);

impl Scope {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Decide, Self::Admin];

    /// Whether this scope is good for what needs the other.
    #[must_use]
    pub fn includes(self, needed: Self) -> bool {
        self >= needed
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Decide => "decide",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        let found = Self::ALL.into_iter().find(|scope| scope.name() == text);
        found.ok_or_else(|| NotAScope(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Scope::{self, Admin, Decide, Read};

    #[test]
    fn each_scope_has_those_before_it_and_none_after() {
        for (scope, includes) in
            [(Read, vec![Read]), (Decide, vec![Read, Decide]), (Admin, vec![Read, Decide, Admin])]
        {
            let held: Vec<_> =
                Scope::ALL.into_iter().filter(|other| scope.includes(*other)).collect();
            assert_eq!(held, includes);
        }
    }

    #[test]
    fn a_scope_is_read_as_it_is_written() {
        for scope in Scope::ALL {
            assert_eq!(scope.to_string().parse(), Ok(scope));
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.name());
        }
        assert!("Admin".parse::<Scope>().is_err());
        assert!("".parse::<Scope>().is_err());
    }
}
