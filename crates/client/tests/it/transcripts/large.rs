//! A transcript that does not fit into memory.

use std::fs;
use std::io::Write as _;

use countersign::transcript::{ForkOptions, ListOptions, MessageOptions, Sessions};

use super::{Home, SESSION, id, user};

/// How much memory this process has had at most, in bytes.
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
#[expect(clippy::disallowed_methods, reason = "memory is that of a process, so it has to be one")]
fn a_large_transcript_is_read_in_little_memory() {
    const VARIABLE: &str = "COUNTERSIGN_TEST_LARGE_TRANSCRIPT";
    if let Some(home) = std::env::var_os(VARIABLE) {
        let before = most_memory();
        let sessions = Sessions::at(home);
        assert_eq!(sessions.list(&ListOptions::new()).unwrap().len(), 1);
        let listed = most_memory();
        let messages = sessions.messages(&id(), &MessageOptions::new().offset(10)).unwrap();
        let said: usize = messages.map(|message| message.unwrap().raw.as_str().len()).sum();
        assert!(said > 8 << 20, "{said}");
        let fork = sessions.fork(&id(), &ForkOptions::new()).unwrap();
        sessions.delete(&fork).unwrap();
        let after = most_memory();
        // Pages of the program itself count as well, and are some megabytes.
        assert!(listed - before < 8 << 20, "{before} {listed}");
        assert!(after - before < 24 << 20, "{before} {after}");
        return;
    }
    let home = Home::new();
    let mut file = fs::File::create(home.file(&format!("{SESSION}.jsonl"))).unwrap();
    let megabyte = "x".repeat(1 << 20);
    writeln!(file, "{}", user("n0", None, "hi")).unwrap();
    for n in 1..20 {
        writeln!(file, "{}", user(&format!("n{n}"), Some(&format!("n{}", n - 1)), &megabyte))
            .unwrap();
    }
    // The index passes over what it does not know, but has to find its end.
    for _ in 0..285 {
        writeln!(file, r#"{{"type":"file-history-snapshot","data":"{megabyte}"}}"#).unwrap();
    }
    writeln!(file, "{}", user("end", Some("n19"), "bye")).unwrap();
    assert!(file.metadata().unwrap().len() > 300 << 20);
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "transcripts::large::a_large_transcript_is_read_in_little_memory"])
        .env(VARIABLE, home.folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}
