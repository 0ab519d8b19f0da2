//! Somebody who loads pages as a browser does, and nothing else.

use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_server::outgoing::{Ask, Limits, Outgoing};
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Method};

use crate::load::Failure;
use crate::load::stage::Served;

/// Somebody who is signed in.
pub(super) struct Visitor {
    outgoing: Outgoing,
    address: String,
    headers: HeaderMap,
}

/// What a server answered.
pub(super) struct Loaded {
    pub(super) text: String,
    /// From the request until all of it was there.
    pub(super) took: Duration,
}

impl Visitor {
    pub(super) fn of(served: &Served) -> Result<Self, Failure> {
        let outgoing = Outgoing::new(Limits::default())?;
        let mut headers = HeaderMap::new();
        let token = HeaderValue::try_from(format!("Bearer {}", served.token))?;
        headers.insert(AUTHORIZATION, token);
        headers.insert(ACCEPT, HeaderValue::from_static("text/html,*/*"));
        Ok(Self { outgoing, address: served.address.clone(), headers })
    }

    /// Loads something, which has to be there.
    pub(super) async fn get(&self, path: &str) -> Result<Loaded, Failure> {
        let url = format!("{}{path}", self.address).parse()?;
        let headers = self.headers.clone();
        let ask = Ask { method: Method::GET, url, headers, body: Bytes::new() };
        let began = Instant::now();
        let answer = self.outgoing.send(ask).await?;
        let took = began.elapsed();
        if !answer.status().is_success() {
            return Err(format!("{path}: {}", answer.status()).into());
        }
        Ok(Loaded { text: String::from_utf8(answer.into_body().to_vec())?, took })
    }
}
