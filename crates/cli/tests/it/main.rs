//! The tests of the command, in one binary: each starts it as a person would.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod deciding;
mod demo;
mod doctor;
mod documents;
mod drift;
mod for_programs;
mod help;
#[path = "../../../lab/tests/it/http.rs"]
#[expect(dead_code, reason = "the laboratory's own tests use all of it")]
mod http;
mod lab;
mod progress;
mod recording;
#[cfg(feature = "real-cli")]
mod report;

mod served;
mod serving;
mod steering;
mod support;
mod transcripts;
mod versions;
mod watching;

/// A test file that is not named above would never run.
#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(
            module == "main" || include_str!("main.rs").contains(&format!("\nmod {module};\n")),
            "{name} is not a module of main.rs"
        );
    }
}
