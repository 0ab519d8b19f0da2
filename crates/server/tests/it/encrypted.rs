//! TLS from certificate files.

use std::fs;
use std::sync::Arc;

use countersign_server::access::Scope;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::house::{Answer, House, exchange, request};

/// A server with a certificate of its own, and those who trust it.
struct Vault {
    house: House,
    certificate: CertificateDer<'static>,
    _files: tempfile::TempDir,
}

impl Vault {
    async fn new() -> Self {
        let files = tempfile::tempdir().unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| files.path().join(name));
        fs::write(&certificate, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let house =
            House::with(&format!("tls = {{ certificate = {certificate:?}, key = {key:?} }}\n"))
                .await;
        Self { house, certificate: made.cert.der().clone(), _files: files }
    }

    async fn connect(
        &self,
        trusting: Option<&CertificateDer<'static>>,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusting.cloned());
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(self.house.address).await.unwrap();
        let name = "localhost".try_into().unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    async fn ask(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let host = format!("Host: localhost:{}", self.house.address.port());
        let mut all = vec![&*host];
        all.extend(headers);
        exchange(self.connect(Some(&self.certificate)).await.unwrap(), &request(line, &all, body))
            .await
    }
}

#[tokio::test]
async fn requests_are_answered_over_tls() {
    let vault = Vault::new().await;
    let bearer = vault.house.bearer(Scope::Read).await;
    let answer = vault.ask("GET /api/v1/see", &[&bearer], "").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(
        vault.connect(None).await.is_err(),
        "who does not trust the certificate is not deceived"
    );
}

#[tokio::test]
async fn over_tls_a_cookie_is_for_tls_and_this_host_alone() {
    let vault = Vault::new().await;
    let bearer = vault.house.bearer(Scope::Decide).await;
    let link = vault.ask("POST /api/v1/login-links", &[&bearer], "").await.json();
    let (address, code) = link["url"].as_str().unwrap().split_once('#').unwrap();
    assert_eq!(address, format!("https://{}/login", vault.house.address));
    let body = serde_json::json!({ "code": code }).to_string();
    let answer = vault.ask("POST /login", &["Content-Type: application/json"], &body).await;
    let (cookie, flags) = answer.header("set-cookie").unwrap().split_once("; ").unwrap();
    assert!(cookie.starts_with(&format!("__Host-countersign-{}=csb_", vault.house.address.port())));
    assert_eq!(flags, "Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure");

    let cookie = format!("Cookie: {cookie}");
    let port = vault.house.address.port();
    for (scheme, status) in [("https", 200), ("http", 403)] {
        let origin = format!("Origin: {scheme}://localhost:{port}");
        let answer = vault.ask("POST /api/v1/decide", &[&cookie, &origin], "").await;
        assert_eq!(answer.status, status, "{scheme}");
    }
}

#[tokio::test]
async fn who_does_not_speak_tls_gets_nothing() {
    let vault = Vault::new().await;
    let bearer = vault.house.bearer(Scope::Admin).await;
    let host = format!("Host: {}", vault.house.address);
    let mut stream = TcpStream::connect(vault.house.address).await.unwrap();
    stream.write_all(request("GET /healthz", &[&host, &bearer], "").as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    drop(stream.read_to_end(&mut bytes).await);
    let said = String::from_utf8_lossy(&bytes);
    assert!(!said.contains("HTTP") && bytes.len() < 16, "at most the alert of TLS: {said:?}");
    // And it holds up nobody else.
    assert_eq!(vault.ask("GET /healthz", &[], "").await.status, 200);
}
