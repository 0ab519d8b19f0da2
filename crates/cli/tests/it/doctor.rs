//! `doctor`, on machines with all sorts of things wrong with them.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Ran, command, ran, run, script};

/// Looks at this program.
fn doctor(folder: &TempDir, program: &str) -> Ran {
    let claude = script(&folder.path().join("claude"), program);
    run(folder.path(), &["doctor", "-q", "--cli", claude.to_str().unwrap()])
}

/// Every check by its name.
fn checks(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let Ran { out, .. } = run(folder, &[&["doctor", "--json"], arguments].concat());
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn without_a_cli_it_says_how_to_get_one() {
    let folder = tempfile::tempdir().unwrap();
    let none = run(folder.path(), &["doctor"]);
    assert_eq!(none.code, Some(5), "{none:?}");
    assert!(none.out.contains("✗ claude       not found; "), "{}", none.out);
    for help in ["npm install -g @anthropic-ai/claude-code", "CLAUDE_CODE_PATH", "1 thing to mend."]
    {
        assert!(none.out.contains(help), "{help} in {}", none.out);
    }
    let checks = checks(folder.path(), &[]);
    assert_eq!((&checks[0]["check"], &checks[0]["status"]), (&"claude".into(), &"wrong".into()));
    assert!(checks[0]["mend"].as_str().unwrap().contains("npm install"), "{checks:?}");

    let named = run(folder.path(), &["doctor", "--cli", "nowhere/claude"]);
    assert_eq!(named.code, Some(5));
    assert!(named.out.contains("nowhere/claude (not there)"), "{}", named.out);
    fs::write(folder.path().join("claude"), "").unwrap();
    let mut variable = command(folder.path());
    let variable = ran(variable.arg("doctor").env("CLAUDE_CODE_PATH", "claude"));
    assert_eq!(variable.code, Some(5));
    assert!(variable.out.contains("not executable"), "{}", variable.out);
}

#[test]
fn an_old_cli_is_to_be_updated() {
    let folder = tempfile::tempdir().unwrap();
    let program = "#!/bin/sh\n[ \"$1\" = --version ] && exec echo '1.0.30 (Claude Code)'\n\
                   echo \"error: unknown option '--permission-prompt-tool'\" >&2\nexit 1\n";
    let old = doctor(&folder, program);
    assert_eq!(old.code, Some(5), "{old:?}");
    assert!(old.out.contains("1.0.30 is older than any that is tested (2.1.325, "), "{}", old.out);
    assert!(old.out.contains("Update it: npm install -g"), "{}", old.out);
    assert!(old.out.contains("unknown option '--permission-prompt-tool'"), "{}", old.out);
}

#[test]
fn a_broken_cli_is_told_apart_by_how_it_breaks() {
    let folder = tempfile::tempdir().unwrap();
    let fails =
        doctor(&folder, "#!/bin/sh\necho 'lib\u{1b}[31mnode.so is missing' >&2\nexit 127\n");
    assert_eq!(fails.code, Some(5), "{fails:?}");
    assert!(fails.out.contains("does not work: it ended with exit status: 127"), "{}", fails.out);
    assert!(fails.out.contains("it says: lib\\u{1b}[31mnode.so is missing"), "{}", fails.out);

    let other = doctor(&folder, "#!/bin/sh\necho 'Python 3.12.1'\n");
    assert_eq!(other.code, Some(5), "{other:?}");
    assert!(other.out.contains("said \"Python 3.12.1"), "{}", other.out);

    let ends = "#!/bin/sh\n[ \"$1\" = --version ] && exec echo '2.1.325 (Claude Code)'\n\
                echo 'cannot read the settings' >&2\nexit 3\n";
    let ends = doctor(&folder, ends);
    assert_eq!(ends.code, Some(5), "{ends:?}");
    assert!(ends.out.contains("✓ claude       2.1.325"), "{}", ends.out);
    assert!(ends.out.contains("✗ permissions  a conversation with it failed"), "{}", ends.out);
    assert!(ends.out.contains("cannot read the settings"), "{}", ends.out);
}

/// It answers `initialize`, and to everything else it says that all is done.
const NEVER_ASKS: &str = r#"#!/bin/sh
[ "$1" = --version ] && exec echo '2.1.325 (Claude Code)'
while read -r line; do
  case $line in
    *'"initialize"'*)
      id=${line#*'"request_id":"'}
      echo "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"${id%%'"'*}\",\"response\":{}}}" ;;
    *'"user"'*)
      echo '{"type":"system","subtype":"init","session_id":"11111111-2222-4333-8444-555555555501","permissionMode":"default","model":"m","cwd":"/","tools":[]}'
      echo yes > allowed.txt
      echo no > denied.txt
      echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"11111111-2222-4333-8444-555555555501","num_turns":1,"total_cost_usd":0}' ;;
  esac
done
"#;

#[test]
fn a_cli_that_does_not_ask_is_not_to_be_relied_on() {
    let folder = tempfile::tempdir().unwrap();
    let never = doctor(&folder, NEVER_ASKS);
    assert_eq!(never.code, Some(5), "{never:?}");
    let says = "asked 0 times for the tool that was allowed (it ran) and 0 times for the one that \
                was not (it ran)";
    assert!(never.out.contains(says), "{}", never.out);
    assert!(never.out.contains("Do not rely on approvals"), "{}", never.out);
}

#[test]
fn settings_that_cannot_be_read_are_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".claude")).unwrap();
    fs::write(folder.path().join(".claude/settings.json"), "{\"permissions\": {").unwrap();
    let checks = checks(folder.path(), &[]);
    let settings = checks.iter().find(|check| check["check"] == "settings").unwrap();
    assert_eq!(settings["status"], "wrong");
    assert!(settings["says"].as_str().unwrap().contains("settings.json is not JSON"), "{settings}");
}

#[cfg(feature = "real-cli")]
#[test]
fn permissions_of_the_real_cli_reach_us() {
    use countersign_lab::Versions;
    let folder = tempfile::tempdir().unwrap();
    for version in countersign_lab::Version::TESTED {
        let cli = Versions::in_default_folder().unwrap().get(version).unwrap();
        let program = cli.executable().to_str().unwrap();
        let mut doctor = command(folder.path());
        // Node.js runs the oldest one.
        doctor.env("PATH", std::env::var_os("PATH").unwrap());
        let told = ran(doctor.args(["doctor", "-q", "--cli", program]));
        assert_eq!(told.code, Some(0), "{version}: {told:?}");
        assert!(told.out.contains("✓ permissions  reach us"), "{}", told.out);
        let lacks = told.out.contains("an approval cannot outlive its process");
        assert_eq!(lacks, version.to_string() == "2.1.62", "{}", told.out);
    }
}

#[test]
fn the_tour_needs_a_person() {
    let folder = tempfile::tempdir().unwrap();
    let alone = run(folder.path(), &["tour"]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
    assert!(alone.err.contains("the tour needs a terminal"), "{alone:?}");
}
