//! Servers whose connections are played by hand: what no real server does on purpose.

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{CertifiedKey, KeyPair};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A server whose connections are played by hand.
pub(crate) struct Stage {
    listener: TcpListener,
}

/// A connection that is played by hand.
pub(crate) struct Played<T>(BufReader<T>);

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Came {
    /// The first line.
    pub(crate) line: String,
    head: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Came {
    /// A header, if there is exactly one of that name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.head.iter().filter(|(own, _)| own == name);
        let found = all.next().map(|(_, value)| &**value);
        assert!(all.next().is_none(), "{name} is there twice");
        found
    }
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// The next connection.
    pub(crate) async fn accept(&self) -> Played<TcpStream> {
        Played::new(self.listener.accept().await.unwrap().0)
    }

    /// Takes the next connection, and answers its first request.
    pub(crate) async fn answer(&self, answer: &str) -> Came {
        let mut connection = self.accept().await;
        let came = connection.request().await.unwrap();
        connection.say(answer).await;
        came
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Played<T> {
    pub(crate) fn new(stream: T) -> Self {
        Self(BufReader::new(stream))
    }

    /// The next request; none when there is no more.
    pub(crate) async fn request(&mut self) -> Option<Came> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).await.unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            lines.push(line.to_owned());
        }
        let line = lines.remove(0);
        let head: Vec<_> = lines
            .iter()
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let mut came = Came { line, head, body: String::new() };
        let length = came.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.unwrap();
        came.body = String::from_utf8(body).unwrap();
        Some(came)
    }

    pub(crate) async fn say(&mut self, text: &str) {
        self.say_bytes(text.as_bytes()).await;
    }

    pub(crate) async fn say_bytes(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
        self.0.flush().await.unwrap();
    }

    /// Waits until the other end has gone.
    pub(crate) async fn gone(mut self) {
        let mut rest = Vec::new();
        // A connection that was reset is gone as well.
        drop(self.0.read_to_end(&mut rest).await);
    }
}

/// An answer with a body.
pub(crate) fn answer(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// An answer that is JSON.
pub(crate) fn json(status: &str, body: &serde_json::Value) -> String {
    answer(status, "application/json", &body.to_string())
}

/// A problem.
pub(crate) fn problem(status: u16, kind: &str, further: &serde_json::Value) -> String {
    let mut body = serde_json::json!({
        "type": format!("/problems/{kind}"), "title": "A title", "status": status,
        "detail": "what to do",
    });
    body.as_object_mut().unwrap().extend(further.as_object().cloned().unwrap_or_default());
    answer(&format!("{status} No"), "application/problem+json", &body.to_string())
}

/// A certificate for these names, which has signed itself.
pub(crate) fn certificate(names: &[&str]) -> CertifiedKey<KeyPair> {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    rcgen::generate_simple_self_signed(names).unwrap()
}

impl Stage {
    /// Takes the next connection over TLS with this certificate, and answers its first request.
    pub(crate) async fn answer_secured(
        &self,
        with: &CertifiedKey<KeyPair>,
        answer: &str,
    ) -> std::io::Result<Came> {
        let key = PrivateKeyDer::try_from(with.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![with.cert.der().clone()], key)
            .unwrap();
        let stream = self.listener.accept().await?.0;
        let stream = TlsAcceptor::from(Arc::new(config)).accept(stream).await?;
        let mut connection = Played::new(stream);
        let came = connection.request().await.unwrap();
        connection.say(answer).await;
        Ok(came)
    }
}
