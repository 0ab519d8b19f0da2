//! What the server was asked, and how it ended.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

use crate::script::{Request, RequestKind, Source, ToolResult};

/// A request that came in.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoggedRequest {
    /// Its number, counted from 1 over all requests.
    pub number: u64,
    /// When it was there, since the server started.
    pub at: Duration,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// What follows the question mark.
    pub query: Option<String>,
    /// The headers, their names in lower case. The values of those that carry keys are not kept.
    pub headers: Vec<(String, String)>,
    /// The body, or null if it was no JSON.
    pub body: Value,
    /// The length of the body in bytes.
    pub bytes: usize,
    /// Whose request it is, if it is one for the model.
    pub kind: Option<RequestKind>,
    /// What served it, if it is one for the model.
    pub by: Option<Source>,
    end: OnceLock<(End, u64)>,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// All of the answer was sent.
    Complete,
    /// An HTTP error was sent.
    Error(u16),
    /// The connection was closed as the script says.
    Cut,
    /// The connection was reset as the script says.
    Reset,
    /// The client went away first.
    ClientGone,
    /// The server was stopped first.
    ServerStopped,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("complete"),
            Self::Error(status) => write!(f, "error {status}"),
            Self::Cut => f.write_str("cut"),
            Self::Reset => f.write_str("reset"),
            Self::ClientGone => f.write_str("client gone"),
            Self::ServerStopped => f.write_str("server stopped"),
        }
    }
}

/// Headers whose values are nobody's business.
const SECRET: [&str; 4] = ["x-api-key", "authorization", "proxy-authorization", "cookie"];
/// What stands in place of their values.
const NOT_KEPT: &str = "(not kept)";

impl LoggedRequest {
    /// A request that has just been read.
    pub(super) fn new(at: Duration, parts: &hyper::http::request::Parts, bytes: usize) -> Self {
        let headers = parts.headers.iter().map(|(name, value)| {
            let value = match SECRET.contains(&name.as_str()) {
                true => NOT_KEPT.to_owned(),
                false => String::from_utf8_lossy(value.as_bytes()).into_owned(),
            };
            (name.as_str().to_owned(), value)
        });
        Self {
            number: 0,
            at,
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().map(str::to_owned),
            headers: headers.collect(),
            body: Value::Null,
            bytes,
            kind: None,
            by: None,
            end: OnceLock::new(),
        }
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// A look at what the model was told.
    #[must_use]
    pub fn request(&self) -> Request<'_> {
        Request::new(&self.body)
    }

    /// The system prompt: its texts, and those of messages with the role `system`.
    #[must_use]
    pub fn system_text(&self) -> String {
        self.request().system_text()
    }

    /// The names of the tools on offer.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.request().tool_names()
    }

    /// The messages, as they are.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        self.request().messages()
    }

    /// What the user said last, without what the CLI adds.
    #[must_use]
    pub fn last_text(&self) -> Option<String> {
        self.request().last_text()
    }

    /// The results of tools, the oldest first.
    #[must_use]
    pub fn tool_results(&self) -> Vec<ToolResult> {
        self.request().tool_results()
    }

    /// How it ended; nothing while it is being answered.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end.get().map(|(end, _)| *end)
    }

    /// How many events of a stream were sent, once it has ended.
    #[must_use]
    pub fn events_sent(&self) -> Option<u64> {
        self.end.get().map(|(_, events)| *events)
    }

    /// What the log keeps of the body, about. A body that was refused is not kept.
    fn kept_bytes(&self) -> usize {
        if self.body.is_null() { 0 } else { self.bytes }
    }

    /// The request as a line of the log file.
    fn to_line(&self) -> Value {
        json!({
            "request": self.number,
            "us": microseconds(self.at),
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "headers": self.headers.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "bytes": self.bytes,
            "body": self.body,
            "kind": self.kind.map(|kind| kind.to_string()),
            "by": self.by.map(|by| by.to_string()),
        })
    }
}

/// One line that says what was asked and what served it.
impl fmt::Display for LoggedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, method, path, bytes, .. } = self;
        write!(f, "#{number} {method} {path}, {bytes} bytes")?;
        if let (Some(kind), Some(by)) = (self.kind, self.by) {
            write!(f, ", {kind}: {by}")?;
        }
        Ok(())
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The bytes of bodies that are kept; what is older is forgotten.
const KEPT_BYTES: usize = 256 * 1024 * 1024;
/// The number of requests that are kept; what is older is forgotten.
const KEPT_REQUESTS: usize = 100_000;

/// The log: the latest requests in memory, and all of them in a file, if there is one.
#[derive(Debug, Default)]
pub(super) struct Log {
    requests: VecDeque<Arc<LoggedRequest>>,
    bytes: usize,
    count: u64,
    file: Option<File>,
    /// Why the file is incomplete, if it is.
    failure: Option<io::Error>,
}

impl Log {
    pub(super) fn new(file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(File::create).transpose()?;
        Ok(Self { file, ..Self::default() })
    }

    /// Takes a request in and gives it its number.
    pub(super) fn add(&mut self, mut request: LoggedRequest) -> Arc<LoggedRequest> {
        self.count = self.count.saturating_add(1);
        request.number = self.count;
        self.bytes = self.bytes.saturating_add(request.kept_bytes());
        if self.file.is_some() {
            self.write(&request.to_line());
        }
        let request = Arc::new(request);
        self.requests.push_back(Arc::clone(&request));
        self.forget_beyond(KEPT_BYTES, KEPT_REQUESTS);
        request
    }

    /// Forgets the oldest requests, but never the latest.
    fn forget_beyond(&mut self, bytes: usize, requests: usize) {
        while self.requests.len() > 1 && (self.bytes > bytes || self.requests.len() > requests) {
            let Some(oldest) = self.requests.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.kept_bytes());
        }
    }

    /// Notes how a request ended.
    pub(super) fn end(&mut self, request: &LoggedRequest, end: End, events: u64, at: Duration) {
        if request.end.set((end, events)).is_ok() {
            let number = request.number;
            let line = json!({
                "request": number,
                "us": microseconds(at),
                "end": end.to_string(),
                "events": events,
            });
            self.write(&line);
        }
    }

    /// The models that were asked for, each once.
    pub(super) fn models(&self) -> Vec<String> {
        let mut models: Vec<String> = Vec::new();
        for request in self.requests.iter().filter(|request| request.kind.is_some()) {
            let model = request.request().model();
            if !models.iter().any(|known| known == model) {
                models.push(model.to_owned());
            }
        }
        models
    }

    /// The requests after the one with this number.
    pub(super) fn after(&self, number: u64) -> Vec<Arc<LoggedRequest>> {
        self.requests.iter().filter(|request| request.number > number).cloned().collect()
    }

    /// Why the log file is incomplete, if it is.
    pub(super) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Writes a line. The first failure is kept, and ends the file: a log with a gap misleads.
    fn write(&mut self, line: &Value) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            self.failure = Some(error);
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bytes: usize) -> LoggedRequest {
        let (parts, ()) = hyper::Request::new(()).into_parts();
        let mut request = LoggedRequest::new(Duration::ZERO, &parts, bytes);
        request.body = json!({});
        request
    }

    fn numbers(log: &Log) -> Vec<u64> {
        log.after(0).iter().map(|request| request.number).collect()
    }

    #[test]
    fn the_oldest_requests_are_forgotten_and_never_the_latest() {
        let mut log = Log::default();
        for bytes in [10, 20, 30, 40] {
            log.add(request(bytes));
        }
        log.forget_beyond(90, 9);
        assert_eq!(numbers(&log), [2, 3, 4]);
        log.forget_beyond(90, 2);
        assert_eq!(numbers(&log), [3, 4]);
        log.forget_beyond(0, 0);
        assert_eq!(numbers(&log), [4]);
        log.add(request(1));
        assert_eq!(log.after(4).len(), 1);
        assert_eq!(log.bytes, 41);
    }

    #[test]
    fn a_body_that_was_refused_takes_no_place_of_others() {
        let mut log = Log::default();
        log.add(request(10));
        log.add(LoggedRequest { body: Value::Null, ..request(KEPT_BYTES + 1) });
        assert_eq!(numbers(&log), [1, 2]);
    }
}
