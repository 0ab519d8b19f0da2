//! The tests of the laboratory, in one binary.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod experiments;
mod http;
mod lab;
mod model_endings;
mod model_server;
mod playing;
mod requests;
mod script_errors;
mod script_files;
mod script_properties;
mod script_sense;
mod sim_background;
mod sim_client;
mod sim_control;
mod sim_faults;
mod sim_hooks;
mod sim_mcp;
mod sim_names;
mod sim_permission;
mod sim_plan;
mod sim_recorded;
mod sim_recordings;
mod sim_script;
mod sim_session;
mod sim_turn;

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
