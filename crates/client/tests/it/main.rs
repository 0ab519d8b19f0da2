//! The tests of the client, in one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod capabilities;
mod finding;
#[cfg(feature = "mcp")]
mod mcp;
mod options;
mod parity;
mod process;
mod real_launch;
mod stores;
mod transcripts;

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
