//! Listens for what a server tells by webhook, and prints what it believes.
//!
//! ```sh
//! SECRET=$(openssl rand -hex 32) cargo run -p countersign-server --example webhook_receiver
//! ```
//!
//! In the configuration of the server, with the same secret:
//!
//! ```toml
//! [[webhooks]]
//! url = "http://127.0.0.1:7788/"
//! secret_file = "webhook-secret"
//! ```
#![expect(clippy::print_stdout, reason = "it prints what it is told")]

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use countersign_server::webhook::{Notice, SIGNATURE, TOLERANCE, verify};
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let secret = std::env::var("SECRET")?;
    let routes = Router::new().route("/", post(hear)).with_state(secret);
    axum::serve(TcpListener::bind("127.0.0.1:7788").await?, routes).await?;
    Ok(())
}

/// The body is taken as the bytes that came: they are what was signed.
async fn hear(State(secret): State<String>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let signature = headers.get(SIGNATURE).and_then(|value| value.to_str().ok());
    let signature = signature.unwrap_or_default();
    if let Err(error) = verify(&secret, signature, &body, Timestamp::now(), TOLERANCE) {
        println!("not believed: {error}");
        return StatusCode::FORBIDDEN;
    }
    let Ok(notice) = serde_json::from_slice::<Notice>(&body) else {
        return StatusCode::UNPROCESSABLE_ENTITY;
    };
    // The same may come twice; a receiver that acts on it remembers `notice.id`.
    let name = notice.session.title.clone().unwrap_or_else(|| notice.session.id.to_string());
    match &notice.approval {
        Some(asked) => println!("{name} wants to use {}", asked.tool),
        None => println!("{name} is {}", notice.session.state),
    }
    println!("  {}", notice.link);
    StatusCode::NO_CONTENT
}
