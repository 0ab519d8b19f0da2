//! Who does something.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use http::request::Parts;
use serde::{Deserialize, Serialize};

use super::gate::Seen;
use super::scope::Scope;
use crate::id::{BrowserId, TokenId};
use crate::session::By;
use crate::web::problem::{self, Problem};

/// Who does something, with what right and from where: all that the audit wants to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Identity {
    /// Who.
    pub who: Who,
    /// What they may do.
    pub scope: Scope,
    /// The address at the other end of the connection.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub from: IpAddr,
}

/// Who somebody is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Who {
    /// Whoever has a token.
    Token {
        /// Which.
        id: TokenId,
        /// What it is called.
        name: String,
    },
    /// Whoever sits before a browser that was let in.
    Browser {
        /// Which.
        id: BrowserId,
        /// The token that it was let in with.
        token: TokenId,
        /// What that is called.
        name: String,
    },
}

impl Identity {
    /// The token behind it.
    #[must_use]
    pub const fn token(&self) -> TokenId {
        match self.who {
            Who::Token { id, .. } => id,
            Who::Browser { token, .. } => token,
        }
    }

    /// What that token is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.who {
            Who::Token { name, .. } | Who::Browser { name, .. } => name,
        }
    }

    /// Who it is, for the log and the audit.
    #[must_use]
    pub fn by(&self) -> By {
        let from = Some(self.from.to_string());
        By::Person { name: self.name().to_owned(), token: self.token(), from }
    }

    /// This identity, if it may do what needs this scope.
    ///
    /// # Errors
    ///
    /// It may not.
    pub fn allowed(self, needed: Scope) -> Result<Self, Problem> {
        if self.scope.includes(needed) {
            return Ok(self);
        }
        let detail = format!("this needs the scope {needed}, and the token has {}", self.scope);
        Err(Problem::new(problem::SCOPE_TOO_LOW)
            .detail(detail)
            .with("needed", needed)
            .with("scope", self.scope))
    }
}

/// Who it is, or why it is nobody. What no layer has looked at is nobody.
pub(super) fn identity(parts: &http::Extensions) -> Result<Identity, Problem> {
    match parts.get::<Seen>() {
        Some(Seen::Somebody { identity, .. }) => Ok(identity.clone()),
        Some(Seen::Refused { credential, refusal }) => Err(refusal.problem(*credential)),
        Some(Seen::Nobody) | None => Err(Problem::new(problem::NOT_SIGNED_IN)
            .detail("send a token as `Authorization: Bearer cst_…`, or sign in with a link")),
    }
}

macro_rules! extractors {
    ($($(#[$about:meta])* $name:ident;)+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name(pub Identity);

        impl<S: Send + Sync> FromRequestParts<S> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
                identity(&parts.extensions)?.allowed(Scope::$name).map(Self)
            }
        }
    )+};
}

extractors! {
    /// Somebody who may see everything. Others are refused before the handler runs.
    Read;
    /// Somebody who may answer what is asked. Others are refused before the handler runs.
    Decide;
    /// Somebody who may do everything. Others are refused before the handler runs.
    Admin;
}
