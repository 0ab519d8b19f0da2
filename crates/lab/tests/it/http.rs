//! A client that speaks HTTP over a plain socket, so that nothing of it is hidden.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// A connection to a server.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    /// What came of a stream of events, and is not read yet.
    pending: String,
}

/// The start of a response.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// An event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Client {
    pub(crate) fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        // A test that waits in vain is to fail, not to hang.
        stream.set_read_timeout(Some(Duration::from_secs(240))).unwrap();
        Self { stream: BufReader::new(stream), pending: String::new() }
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &[u8]) {
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: lab\r\ncontent-length: {length}\r\n\r\n");
        self.write(head.as_bytes());
        self.write(body);
    }

    /// Asks the model.
    pub(crate) fn ask(&mut self, body: &Value) {
        self.send("POST", "/v1/messages?beta=true", body.to_string().as_bytes());
    }

    pub(crate) fn head(&mut self) -> Head {
        self.try_head().unwrap()
    }

    /// The start of a response, or why there is none.
    pub(crate) fn try_head(&mut self) -> io::Result<Head> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        Ok(Head { status, headers })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }

    /// A response with a body of JSON.
    pub(crate) fn json(&mut self) -> (Head, Value) {
        let head = self.head();
        let length = head.header("content-length").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (head, serde_json::from_slice(&body).unwrap())
    }

    /// The next event of a stream, nothing at its proper end, and an error if it breaks off.
    pub(crate) fn event(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some((event, rest)) = self.pending.split_once("\n\n") {
                let (name, data) = event.split_once('\n').unwrap();
                let event = Event {
                    name: name.strip_prefix("event: ").unwrap().to_owned(),
                    data: serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap(),
                };
                assert_eq!(event.data["type"], event.name);
                self.pending = rest.to_owned();
                return Ok(Some(event));
            }
            let length = usize::from_str_radix(&self.line()?, 16).unwrap();
            let mut chunk = vec![0; length + 2];
            self.stream.read_exact(&mut chunk)?;
            if length == 0 {
                assert_eq!(self.pending, "");
                return Ok(None);
            }
            chunk.truncate(length);
            self.pending.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// All events of a stream up to its proper end.
    pub(crate) fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.event().unwrap()).collect()
    }

    /// All events until the connection ends without a proper end, and how it ended.
    pub(crate) fn events_until_it_breaks(&mut self) -> (Vec<Event>, io::ErrorKind) {
        let mut events = Vec::new();
        loop {
            match self.event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => panic!("the stream ends as it should"),
                Err(error) => return (events, error.kind()),
            }
        }
    }
}

/// A request for the model, for a stream.
pub(crate) fn says(text: &str) -> Value {
    json!({
        "model": "model-1",
        "stream": true,
        "tools": [{"name": "Bash"}],
        "messages": [{"role": "user", "content": text}],
    })
}

/// A request for the model, for one message.
pub(crate) fn says_without_stream(text: &str) -> Value {
    let mut body = says(text);
    body["stream"] = json!(false);
    body
}
