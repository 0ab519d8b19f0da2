//! Lists that come a page at a time.

use axum::extract::{FromRequestParts, Query};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::problem::{self, Problem};

/// How many are on a page when nothing is said.
pub const USUAL: usize = 50;
/// How many are on a page at most.
pub const MOST: usize = 500;
/// The longest cursor that is looked at.
const LONGEST: usize = 1024;

/// Which page of a list is wanted: `?limit=50&cursor=…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paging {
    /// How many at most.
    pub limit: usize,
    /// Where the page before it ended: what `next` said there.
    pub cursor: Option<String>,
}

/// The same, as it stands in the query and in the description of the API.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct PageQuery {
    /// How many at most.
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 500, default = 50))]
    pub limit: Option<usize>,
    /// Where the page before it ended: what `next` said there.
    #[cfg_attr(feature = "openapi", param(max_length = 1024))]
    pub cursor: Option<String>,
}

impl TryFrom<PageQuery> for Paging {
    type Error = Problem;

    fn try_from(query: PageQuery) -> Result<Self, Problem> {
        let PageQuery { limit, cursor } = query;
        let limit = limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(Problem::new(problem::BAD_PARAMETER)
                .detail(format!("`limit` is from 1 to {MOST}, not {limit}")));
        }
        if cursor.as_ref().is_some_and(|cursor| cursor.len() > LONGEST) {
            return Err(bad_cursor());
        }
        Ok(Self { limit, cursor: cursor.filter(|cursor| !cursor.is_empty()) })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Paging {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(query) = Query::<PageQuery>::from_request_parts(parts, state).await?;
        query.try_into()
    }
}

/// A place in a list, as a text that clients pass back as it is.
///
/// It is not secret, and not protected: what comes back is checked like everything else that a client
/// sends.
#[must_use]
pub fn write_cursor(place: &impl Serialize) -> String {
    // What cannot be written is read back as no place, and refused.
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(place).unwrap_or_default())
}

/// The place that a cursor stands for.
///
/// # Errors
///
/// It is none that this list gave out.
pub fn read_cursor<T: DeserializeOwned>(cursor: &str) -> Result<T, Problem> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| bad_cursor())?;
    serde_json::from_slice(&bytes).map_err(|_| bad_cursor())
}

/// The problem of a cursor that this list did not give out.
pub fn bad_cursor() -> Problem {
    Problem::new(problem::BAD_PARAMETER)
        .detail("the cursor is not from this list; begin without one")
}

#[cfg(test)]
mod tests {
    use axum::extract::{FromRequestParts as _, Request};

    use super::{MOST, Paging, USUAL, read_cursor, write_cursor};

    async fn paging(query: &str) -> Option<Paging> {
        let (mut parts, ()) = Request::get(format!("/list?{query}")).body(()).unwrap().into_parts();
        Paging::from_request_parts(&mut parts, &()).await.ok()
    }

    #[tokio::test]
    async fn a_page_has_a_usual_size_and_a_largest() {
        let page =
            |limit, cursor: Option<&str>| Some(Paging { limit, cursor: cursor.map(str::to_owned) });
        assert_eq!(paging("").await, page(USUAL, None));
        assert_eq!(paging("limit=1&cursor=abc").await, page(1, Some("abc")));
        assert_eq!(paging("limit=500&cursor=&other=1").await, page(MOST, None));
        for query in
            ["limit=0", "limit=501", "limit=-1", "limit=many", &format!("cursor={:01025}", 0)]
        {
            assert_eq!(paging(query).await, None, "{query}");
        }
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is() {
        let place = (1_794_988_800_i64, "7f".to_owned());
        let cursor = write_cursor(&place);
        assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        assert_eq!(read_cursor::<(i64, String)>(&cursor).unwrap(), place);
        for wrong in ["", "a", "====", "bm90IGpzb24", &cursor[1..], "é"] {
            assert!(read_cursor::<(i64, String)>(wrong).is_err(), "{wrong}");
        }
    }
}
