//! The help of every command, as it stands in `snapshots`; completions and man pages.
//!
//! `INSTA_UPDATE=always` writes the snapshots anew.

use crate::support::run;

/// Every command, found in the help of the one above it.
fn commands(above: &[&str], found: &mut Vec<Vec<String>>) {
    let folder = tempfile::tempdir().unwrap();
    let help = run(folder.path(), &[above, &["--help"]].concat());
    assert_eq!(help.code, Some(0), "{help:?}");
    found.push(above.iter().map(|&word| word.to_owned()).collect());
    let lines = help.out.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in lines.take_while(|line| !line.is_empty()) {
        // Names are indented by two; what is said about them goes on further to the right.
        let name = line.strip_prefix("  ").unwrap().split(' ').next().unwrap();
        if !name.is_empty() && name != "help" {
            commands(&[above, &[name]].concat(), found);
        }
    }
}

#[test]
fn the_help_of_every_command_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    commands(&[], &mut found);
    assert!(found.len() > 15, "{found:?}");
    for words in found {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let help = run(folder.path(), &[&words[..], &["--help"]].concat());
        assert!(help.out.lines().all(|line| line.chars().count() <= 100), "{}", help.out);
        let name = if words.is_empty() { "countersign".to_owned() } else { words.join("-") };
        insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!(name, help.out);
        });
    }
}

#[test]
fn a_command_that_does_not_exist_is_a_wrong_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = run(folder.path(), &["nonsense"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("unrecognized subcommand 'nonsense'"), "{}", wrong.err);
    assert_eq!(run(folder.path(), &[]).code, Some(2));
}

#[test]
fn there_are_completions_and_man_pages_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let completions = run(folder.path(), &["completions", shell]);
        assert_eq!(completions.code, Some(0), "{completions:?}");
        assert!(completions.out.contains("redact"), "{shell} does not know `tape redact`");
    }
    assert_eq!(run(folder.path(), &["man", "pages/man1"]).code, Some(0));
    let mut found = Vec::new();
    commands(&[], &mut found);
    for words in found {
        let name = [vec!["countersign".to_owned()], words].concat().join("-");
        let page = folder.path().join(format!("pages/man1/{name}.1"));
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains(".SH NAME"), "{}", page.display());
    }
}
