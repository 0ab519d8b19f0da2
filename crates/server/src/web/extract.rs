//! Extractors that refuse with a [`Problem`].
//!
//! They are those of axum, with errors as all others are. Use them and not axum's own.

use std::fmt;
use std::marker::PhantomData;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::request::Parts;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::problem::{self, Kind, Problem};
use super::strict::Strict;

/// A body of JSON; as an answer, too.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let axum::Json(Object(value)) = axum::Json::from_request(request, state).await?;
        Ok(Self(value))
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

/// What is read from an object and nothing else.
///
/// The same holds for everything in it: see [`strict`](super::strict).
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(PhantomData)).map(Self)
    }
}

struct Members<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(Strict(MapAccessDeserializer::new(members)))
    }
}

/// The parts of the path that have names.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let extract::Path(value) = extract::Path::from_request_parts(parts, state).await?;
        Ok(Self(value))
    }
}

/// The query.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let extract::Query(value) = extract::Query::from_request_parts(parts, state).await?;
        Ok(Self(value))
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        let kind = match &rejection {
            JsonRejection::JsonSyntaxError(_) => problem::NOT_JSON,
            JsonRejection::JsonDataError(_) => problem::BAD_BODY,
            JsonRejection::MissingJsonContentType(_) => problem::UNSUPPORTED_MEDIA_TYPE,
            _ => of_body(rejection.status()),
        };
        Self::new(kind).detail(rejection.body_text())
    }
}

/// The kind of problem that reading a body ended with.
pub(crate) fn of_body(status: StatusCode) -> Kind {
    if status == StatusCode::PAYLOAD_TOO_LARGE { problem::TOO_LARGE } else { problem::BAD_REQUEST }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        // A path that cannot be what it should be names nothing; anything else is our own mistake.
        if rejection.status().is_client_error() {
            Self::new(problem::BAD_PARAMETER).detail(rejection.body_text())
        } else {
            Self::internal(&rejection)
        }
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(problem::BAD_PARAMETER).detail(rejection.body_text())
    }
}
