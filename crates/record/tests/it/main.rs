//! The tests of tapes, in one binary.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod auto_traits;
mod conversations;
mod diffing;
mod meaning;
mod paging;
mod playing;
mod reading;
mod recording;
mod redact_command;
mod redact_fixtures;
mod redact_properties;
mod redact_rules;
mod redact_tapes;
mod replaying;
mod showing;
mod stand_in;
mod support;
mod tee;

/// A test file that is not named above would never run.
#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap();
        assert!(
            module == "main" || include_str!("main.rs").contains(&format!("\nmod {module};\n")),
            "{name} is not a module of main.rs"
        );
    }
}
