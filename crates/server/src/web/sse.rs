//! Server-sent events.

use std::convert::Infallible;
use std::fmt::Display;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts, Query};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt as _, unfold};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use http::request::Parts;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::problem::{self, Problem};

/// How long nothing is said before it is said that we are still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a browser waits before it connects again, in milliseconds.
const RETRY: &str = "retry: 2000\n\n";

/// An event as it goes over the wire. It is made once, however many listen: a clone costs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame(Bytes);

impl Frame {
    /// An event with this name and this data, which may have several lines.
    #[must_use]
    pub fn new(event: &str, data: &str) -> Self {
        Self::write(None, event, data)
    }

    /// An event that a client can go on after: it says the id when it connects again.
    #[must_use]
    pub fn with_id(id: impl Display, event: &str, data: &str) -> Self {
        Self::write(Some(&id.to_string()), event, data)
    }

    /// Something that clients pass over.
    #[must_use]
    pub fn comment(text: &str) -> Self {
        let mut out = String::new();
        field(&mut out, "", text);
        out.push('\n');
        Self(out.into())
    }

    /// Says after which event a stream begins. It is no event itself.
    #[must_use]
    pub fn open_after(id: impl Display) -> Self {
        let mut out = String::new();
        field(&mut out, "", "open");
        field(&mut out, "id", &id.to_string());
        out.push('\n');
        Self(out.into())
    }

    fn write(id: Option<&str>, event: &str, data: &str) -> Self {
        let mut out = String::with_capacity(data.len() + event.len() + 40);
        if let Some(id) = id {
            field(&mut out, "id", id);
        }
        field(&mut out, "event", event);
        // What counts as the end of a line there counts here: otherwise data could be taken for fields.
        let mut rest = data;
        loop {
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let (line, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            out.push_str("data: ");
            out.push_str(line);
            out.push('\n');
            rest = match after.strip_prefix("\r\n").or_else(|| after.strip_prefix(['\n', '\r'])) {
                Some(rest) => rest,
                None => break,
            };
        }
        out.push('\n');
        Self(out.into())
    }
}

/// Writes a field of one line. What would end the line is left out.
fn field(out: &mut String, name: &str, value: &str) {
    out.push_str(name);
    out.push_str(": ");
    out.extend(value.chars().filter(|letter| !matches!(letter, '\n' | '\r' | '\0')));
    out.push('\n');
}

/// The answer that sends these events, and a comment when there has been none for a while. It ends with
/// the stream, or when the server stops: the client connects again then.
pub fn response(
    events: impl Stream<Item = Frame> + Send + 'static,
    stop: CancellationToken,
) -> Response {
    let events = Box::pin(events);
    let body = unfold((events, stop, true), async |(mut events, stop, first)| {
        // At once, so that a client knows that it is connected.
        let frame = if first {
            Some(Frame(Bytes::from_static(RETRY.as_bytes())))
        } else {
            next(&mut events, &stop).await
        };
        frame.map(|Frame(bytes)| (Ok::<_, Infallible>(bytes), (events, stop, false)))
    });
    let headers = [
        (CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        // nginx keeps answers back otherwise.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(body)).into_response()
}

async fn next(
    events: &mut (impl Stream<Item = Frame> + Unpin),
    stop: &CancellationToken,
) -> Option<Frame> {
    let silence = pin!(tokio::time::sleep(KEEP_ALIVE));
    tokio::select! {
        biased;
        () = stop.cancelled() => None,
        frame = events.next() => frame,
        () = silence => Some(Frame::comment("still here")),
    }
}

/// After which event a stream or a list begins: what `Last-Event-ID` says, or else `?after=`.
///
/// A browser that connects again sends both: the address is the old one, and the header is newer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After(pub Option<u64>);

/// The same, as it stands in the query and in the description of the API.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct AfterQuery {
    /// The number of the last event that is known. Everything after it is sent.
    pub after: Option<u64>,
}

impl<S: Send + Sync> FromRequestParts<S> for After {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(query) = Query::<AfterQuery>::from_request_parts(parts, state).await?;
        let Some(header) = parts.headers.get("last-event-id").filter(|id| !id.is_empty()) else {
            return Ok(Self(query.after));
        };
        let id = header.to_str().ok().and_then(|id| id.parse().ok());
        id.map(|id| Self(Some(id))).ok_or_else(|| {
            Problem::new(problem::BAD_PARAMETER).detail(
                "Last-Event-ID is the number of an event; begin without it, or with `after`",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::{FromRequestParts as _, Request};
    use futures_util::stream::{self, StreamExt as _};
    use http_body_util::BodyExt as _;
    use tokio_util::sync::CancellationToken;

    use super::{After, Frame, response};

    fn text(frame: &Frame) -> &str {
        str::from_utf8(&frame.0).unwrap()
    }

    #[test]
    fn an_event_is_written_with_id_name_and_data() {
        let frame = Frame::with_id(7, "approval", r#"{"a":1}"#);
        assert_eq!(text(&frame), "id: 7\nevent: approval\ndata: {\"a\":1}\n\n");
        assert_eq!(text(&Frame::new("a", "")), "event: a\ndata: \n\n");
        assert_eq!(text(&Frame::comment("hello")), ": hello\n\n");
        assert_eq!(text(&Frame::open_after(7)), ": open\nid: 7\n\n");
    }

    #[test]
    fn nothing_in_an_event_can_look_like_another() {
        let frame = Frame::with_id("1\n2", "a\r\nevent: b", "x\ny\r\nz\rid: 9\n\nevent: c");
        assert_eq!(
            text(&frame),
            "id: 12\nevent: aevent: b\ndata: x\ndata: y\ndata: z\ndata: id: 9\ndata: \ndata: event: c\n\n"
        );
        assert_eq!(text(&Frame::comment("a\n\ndata: b")), ": adata: b\n\n");
    }

    async fn after(uri: &str, header: Option<&str>) -> Result<Option<u64>, u16> {
        let mut request = Request::get(uri);
        if let Some(header) = header {
            request = request.header("last-event-id", header);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let after = After::from_request_parts(&mut parts, &()).await;
        after.map(|After(id)| id).map_err(|problem| problem.kind().status.as_u16())
    }

    #[tokio::test]
    async fn the_header_is_newer_than_the_address() {
        assert_eq!(after("/", None).await, Ok(None));
        assert_eq!(after("/?after=3", None).await, Ok(Some(3)));
        assert_eq!(after("/?after=3", Some("9")).await, Ok(Some(9)));
        assert_eq!(after("/?after=3", Some("")).await, Ok(Some(3)));
        for (uri, header) in [("/?after=x", None), ("/?after=-1", None), ("/", Some("x"))] {
            assert_eq!(after(uri, header).await, Err(400));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn in_silence_it_is_said_that_we_are_still_there_until_the_server_stops() {
        let stop = CancellationToken::new();
        let events = stream::iter([Frame::with_id(1, "a", "b")]).chain(stream::pending());
        let response = response(events, stop.clone());
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        let mut body = response.into_body();
        let mut next = async || body.frame().await.map(|frame| frame.unwrap().into_data().unwrap());
        assert_eq!(next().await.unwrap(), "retry: 2000\n\n");
        assert_eq!(next().await.unwrap(), "id: 1\nevent: a\ndata: b\n\n");
        assert_eq!(next().await.unwrap(), ": still here\n\n");
        assert_eq!(next().await.unwrap(), ": still here\n\n");
        stop.cancel();
        assert_eq!(next().await, None);
    }
}
