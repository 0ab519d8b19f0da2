//! The tests of the server, in one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod access_store;
mod client;
mod client_environment;
mod client_server;
mod client_streams;
mod config;
mod connections;
mod content;
mod document;
mod encrypted;
mod errors;
mod foreign_pages;
mod house;
mod killed;
mod no_secrets;
mod outgoing;
#[cfg(feature = "postgres-tests")]
mod postgres;
mod random;
mod running;
mod scopes;
mod signing_in;
mod sqlite;
mod tokens;
mod webhook;
mod wire;

/// A test file that is not named above would never run.
#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        assert!(
            module == "main" || include_str!("main.rs").contains(&format!("\nmod {module};\n")),
            "{name} is not a module of main.rs"
        );
    }
}
