//! The body of a response: at once, or event by event.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

use super::events::{Event, Events};
use super::exchange::Exchange;
use super::log::End;
use super::wire::Fate;
use crate::script::Ending;

/// The body of a response.
#[derive(Debug)]
pub(super) enum Reply {
    /// Everything at once. Nothing, once it is sent.
    Whole(Option<Whole>),
    /// A stream of events.
    Stream(Box<Stream>),
}

/// A body that is there as a whole.
#[derive(Debug)]
pub(super) struct Whole {
    bytes: Bytes,
    end: End,
    exchange: Exchange,
}

impl Reply {
    /// A body that is there as a whole, and how the request ended when it is sent.
    pub(super) fn whole(bytes: impl Into<Bytes>, end: End, mut exchange: Exchange) -> Self {
        let bytes = bytes.into();
        if bytes.is_empty() {
            exchange.end(end);
            return Self::Whole(None);
        }
        Self::Whole(Some(Whole { bytes, end, exchange }))
    }
}

/// A stream of events, with the pauses between them, and its end.
pub(super) struct Stream {
    events: Events,
    /// How many more events are sent before it ends.
    left: Option<usize>,
    ending: Ending,
    pace: Duration,
    pause: Option<Pin<Box<Sleep>>>,
    /// An event that waits for the pause to end.
    next: Option<Event>,
    /// Whether a delta was sent: there is no pause before the first.
    begun: bool,
    fate: Fate,
    exchange: Exchange,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("ending", &self.ending).finish_non_exhaustive()
    }
}

impl Stream {
    pub(super) fn new(
        events: Events,
        pace: Duration,
        ending: Ending,
        fate: Fate,
        exchange: Exchange,
    ) -> Self {
        let left = match ending {
            Ending::Cut { after } | Ending::Hang { after } => Some(after),
            Ending::Complete | Ending::Error(_) | Ending::StreamError { .. } | Ending::Reset => {
                None
            }
        };
        let (pause, next) = (None, None);
        Self { events, left, ending, pace, pause, next, begun: false, fate, exchange }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.next.is_none() && self.left != Some(0) {
            self.next = self.events.next();
            let is_delta = self.next.as_ref().is_some_and(Event::is_delta);
            if is_delta && std::mem::replace(&mut self.begun, true) && !self.pace.is_zero() {
                self.pause = Some(Box::pin(tokio::time::sleep(self.pace)));
            }
        }
        if self.next.is_none() {
            return self.poll_end(cx);
        }
        if let Some(pause) = &mut self.pause {
            std::task::ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.exchange.sent_event();
        Poll::Ready(self.next.take().map(|event| Bytes::from(event.to_bytes())))
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self.ending {
            Ending::Cut { .. } => {
                self.fate.close();
                self.exchange.end(End::Cut);
                // The connection is looked at once more, and finds out what becomes of it.
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            // Whoever waits for more is told nothing; the connection notices when they leave.
            Ending::Hang { .. } => Poll::Pending,
            Ending::Complete | Ending::Error(_) | Ending::StreamError { .. } | Ending::Reset => {
                self.exchange.end(End::Complete);
                Poll::Ready(None)
            }
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match self.get_mut() {
            Self::Whole(whole) => whole.take().map(|mut whole| {
                whole.exchange.end(whole.end);
                whole.bytes
            }),
            Self::Stream(stream) => std::task::ready!(stream.poll(cx)),
        };
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(whole) => {
                let length = whole.as_ref().map_or(0, |whole| whole.bytes.len());
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Self::Stream(_) => SizeHint::default(),
        }
    }
}
