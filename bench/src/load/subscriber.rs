//! Somebody who watches, and only counts: what it costs to watch is not what is measured.

use std::time::Instant;

use bytes::Bytes;
use countersign_server::outgoing::{Ask, Limits, Outgoing, Pieces};
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::Failure;
use super::stage::Served;

/// Opens streams.
#[derive(Clone)]
pub(super) struct Watching {
    outgoing: Outgoing,
    address: String,
    token: HeaderValue,
}

/// What a subscriber was told.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// The numbers of events, in the order in which they came.
    pub(super) numbers: Vec<u64>,
    /// How often it was told that it is too slow.
    pub(super) lagged: u64,
    pub(super) bytes: u64,
    /// When the last one came.
    pub(super) last: Option<Instant>,
}

impl Watching {
    pub(super) fn new(served: &Served) -> Result<Self, Failure> {
        let outgoing = Outgoing::new(Limits::default())?;
        let token = HeaderValue::try_from(format!("Bearer {}", served.token))?;
        Ok(Self { outgoing, address: served.address.clone(), token })
    }

    /// Opens a stream that begins after this number.
    pub(super) async fn open(&self, path: &str, after: u64) -> Result<Subscriber, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.token.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(HeaderName::from_static("last-event-id"), HeaderValue::from(after));
        let url = format!("{}/api/v1{path}", self.address).parse()?;
        let ask = Ask { method: Method::GET, url, headers, body: Bytes::new() };
        let answer = self.outgoing.open(ask).await?;
        if !answer.status().is_success() {
            return Err(format!("{path}: {}", answer.status()).into());
        }
        Ok(Subscriber { pieces: answer.into_body(), told: Told::default(), rest: Vec::new() })
    }
}

pub(super) struct Subscriber {
    pieces: Pieces,
    told: Told,
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
}

impl Subscriber {
    /// Reads until so many events have come.
    pub(super) async fn read(mut self, events: usize) -> Result<Told, Failure> {
        while self.told.numbers.len() < events {
            let piece = self.pieces.next().await?.ok_or("the stream has ended")?;
            self.take(&piece);
        }
        Ok(self.told)
    }

    /// What comes, as it comes.
    #[cfg(feature = "browser")]
    pub(super) fn into_pieces(self) -> Pieces {
        self.pieces
    }

    fn take(&mut self, piece: &[u8]) {
        self.told.bytes += piece.len() as u64;
        let mut lines = piece.split_inclusive(|byte| *byte == b'\n');
        if !self.rest.is_empty()
            && let Some(end) = lines.next()
        {
            self.rest.extend_from_slice(end);
            if self.rest.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                self.line(&line);
            }
        }
        for line in lines {
            if line.ends_with(b"\n") {
                self.line(line);
            } else {
                self.rest.extend_from_slice(line);
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        // The number that a stream begins after comes first, and is no event.
        if let Some(number) = line.strip_prefix(b"id: ") {
            let number = std::str::from_utf8(number).ok();
            let number = number.and_then(|text| text.trim().parse::<u64>().ok());
            self.told.numbers.extend(number);
            self.told.last = Some(Instant::now());
        } else if line == b"event: lagged\n" {
            self.told.lagged += 1;
        }
    }
}
