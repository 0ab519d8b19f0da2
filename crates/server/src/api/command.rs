//! A request that wants something done.

use axum::extract::{FromRequest, FromRequestParts as _, Request};
use serde::de::DeserializeOwned;

use crate::access::{Decide, Identity};
use crate::service::{Caller, Key};
use crate::web::idempotency;
use crate::web::problem::Problem;

/// Somebody who may decide, and what they want.
///
/// An empty body is read as an empty object, so that commands without fields need none.
#[derive(Clone, Debug)]
pub struct Command<T> {
    /// Who.
    pub caller: Caller,
    /// The same, with what they may do.
    pub identity: Identity,
    /// What.
    pub body: T,
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Command<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let Decide(identity) = Decide::from_request_parts(&mut parts, state).await?;
        let request = Request::from_parts(parts, body);
        let command = idempotency::Command::<T>::from_request(request, state).await?;
        let key = command.key.map(|key| {
            let digest = command.fingerprint.as_bytes();
            Key {
                owner: identity.token().to_string(),
                key: key.as_str().to_owned(),
                fingerprint: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            }
        });
        let caller = Caller { by: identity.by(), key };
        Ok(Self { caller, identity, body: command.body })
    }
}
