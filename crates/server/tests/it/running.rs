//! A whole server, without a CLI, to which requests are written by hand.

use std::path::{Path, PathBuf};

use countersign_server::access::first::read_token;
use countersign_server::access::{NewToken, Scope};
use countersign_server::config::Config;
use countersign_server::server::Server;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::house::{Answer, request};

/// A server that runs until it is stopped, with a root that has a folder `project` in it.
pub(crate) struct Running {
    pub(crate) folder: TempDir,
    pub(crate) admin: String,
    pub(crate) address: std::net::SocketAddr,
    pub(crate) access: std::sync::Arc<countersign_server::access::Access>,
    stop: CancellationToken,
    ended: JoinHandle<()>,
}

pub(crate) const JSON: &str = "Content-Type: application/json";

impl Running {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["root/project", "outside", "data"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let mut config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            data: folder.path().join("data"),
            roots: vec![folder.path().join("root")],
            ..Config::default()
        };
        // What is started as a CLI ends at once.
        config.cli.path = Some(PathBuf::from("/bin/false"));
        config.limits.body = 100_000;
        change(&mut config);
        let server = Server::start(&config).await.unwrap();
        let token = read_token(&config.data).unwrap();
        let admin = format!("Authorization: Bearer {}", token.expose());
        let (address, access) = (server.address(), server.access().clone());
        let stop = CancellationToken::new();
        let ended = TaskTracker::new().spawn(server.run(stop.clone()));
        Self { folder, admin, address, access, stop, ended }
    }

    /// A header with a new token.
    pub(crate) async fn bearer(&self, scope: Scope) -> String {
        let new = NewToken { name: "test".into(), scope, expires_at: None };
        let (secret, _) = self.access.create_token(new).await.unwrap();
        format!("Authorization: Bearer {}", secret.expose())
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn root(&self) -> PathBuf {
        std::fs::canonicalize(self.at("root")).unwrap()
    }

    /// Sends a request as whoever has this header.
    pub(crate) async fn ask(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let host = format!("Host: {}", self.address);
        let mut all = vec![&*host];
        all.extend(headers);
        self.send(request(line, &all, body).as_bytes()).await
    }

    /// Sends JSON as the one who may do everything.
    pub(crate) async fn json(&self, line: &str, body: &str) -> Answer {
        self.ask(line, &[&self.admin, JSON], body).await
    }

    /// Sends bytes as the one who may do everything.
    pub(crate) async fn bytes(&self, line: &str, body: &[u8]) -> Answer {
        let head = format!(
            "{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n{JSON}\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.admin,
            body.len()
        );
        self.send(&[head.as_bytes(), body].concat()).await
    }

    async fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that refuses early may not read all of it.
        drop(stream.write_all(bytes).await);
        let mut got = Vec::new();
        let mut part = [0; 4096];
        // A stream goes on for ever: its head is enough.
        while let Ok(read @ 1..) = stream.read(&mut part).await {
            got.extend(part.iter().take(read));
            let text = String::from_utf8_lossy(&got);
            if text.split("\r\n\r\n").next().unwrap().contains("text/event-stream") {
                break;
            }
        }
        Answer::of(&got)
    }

    /// A stream that goes on, after its head.
    pub(crate) async fn stream(&self, path: &str, header: &str) -> (String, TcpStream) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let host = format!("Host: {}", self.address);
        let text = request(&format!("GET {path}"), &[&host, header], "");
        stream.write_all(text.as_bytes()).await.unwrap();
        let (mut got, mut part) = (String::new(), [0; 4096]);
        while !got.contains("retry: 2000") && !got.contains("problem+json") {
            let read = stream.read(&mut part).await.unwrap();
            assert!(read > 0, "{got}");
            got.push_str(&String::from_utf8_lossy(part.get(..read).unwrap()));
        }
        (got, stream)
    }

    /// A new session in the root, without a prompt.
    pub(crate) async fn session(&self, more: &serde_json::Value) -> String {
        let mut body = serde_json::json!({"folder": self.root().join("project")});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let made = self.json("POST /api/v1/sessions", &body.to_string()).await;
        assert_eq!(made.status, 201, "{made:?}");
        made.json().get("session").and_then(serde_json::Value::as_str).unwrap().to_owned()
    }

    /// What is asked for with a folder and further folders is answered with this status.
    pub(crate) async fn folder(&self, folder: &Path, add: &[&Path]) -> Answer {
        let body = serde_json::json!({"folder": folder, "options": {"add_dirs": add}});
        self.json("POST /api/v1/sessions", &body.to_string()).await
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.ended.await.unwrap();
    }
}
