//! The tests of the page that need no browser, in one binary.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod calls;
mod cards;
mod log;
mod transcripts;

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
