//! The guide to scripts keeps to the format.

use std::fs;
use std::path::Path;

use countersign_lab::script::Script;

fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scripts.md");
    fs::read_to_string(path).unwrap()
}

/// The texts between fences of this language, each with the line that it begins on.
fn examples(text: &str, language: &str) -> Vec<(usize, String)> {
    let mut examples = Vec::new();
    let mut current: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        match &mut current {
            None if line == format!("```{language}") => current = Some((at + 2, String::new())),
            None => {}
            Some(_) if line == "```" => examples.extend(current.take()),
            Some((_, example)) => {
                example.push_str(line);
                example.push('\n');
            }
        }
    }
    assert!(current.is_none(), "a fence is not closed");
    examples
}

#[test]
fn every_example_is_a_script() {
    let guide = guide();
    let examples = examples(&guide, "toml");
    assert!(examples.len() > 10, "{} examples", examples.len());
    for (line, example) in examples {
        if let Err(error) = Script::parse(&example, "docs/scripts.md") {
            panic!("the example at line {line}:\n{error}");
        }
    }
}

#[test]
fn every_key_variable_and_fault_is_in_the_guide() {
    let guide = guide();
    // The keys, as the parser lists them itself.
    let mut keys = Vec::new();
    for wrong in [
        "zzzzzzzzzz = 1",
        "[[answer]]\nzzzzzzzzzz = 1",
        "[[answer]]\nwhen = { zzzzzzzzzzzz = 1 }",
        "[[answer]]\ntool = { name = \"A\", zzzzzzzzzzzz = 1 }",
        "[[answer]]\nerror = { status = 400, zzzzzzzzzzzz = 1 }",
        "[[answer]]\nstream_error = { zzzzzzzzzzzz = 1 }",
        "[[answer]]\nusage = { zzzzzzzzzzzz = 1 }",
        "[[misbehave]]\non = \"a\"\ndo = \"refuse\"\nzzzzzzzzzzzz = 1",
    ] {
        let said = Script::parse(wrong, "x").unwrap_err().to_string();
        let list = said.split("expected one of ").nth(1).unwrap().lines().next().unwrap();
        keys.extend(list.split(", ").map(|key| key.trim_matches('`').to_owned()));
    }
    assert!(keys.len() > 40, "{keys:?}");
    for key in keys {
        let known = guide.contains(&format!("`{key}`")) || guide.contains(&format!("`{key} ="));
        assert!(known, "docs/scripts.md does not say what `{key}` is");
    }
    for word in [
        "${cwd}",
        "${home}",
        "${plan_file}",
        "${text}",
        "${turn}",
        "${result}",
        "${result.",
        "${match.1}",
        "$${",
        "die mid-line",
        "exit 3",
        "freeze",
        "flood stderr 10 MB",
        "long line 50 MB",
        "not json",
        "unknown frame",
        "unknown request",
        "answer twice",
        "never answer",
        "refuse",
    ] {
        assert!(guide.contains(word), "docs/scripts.md does not say what {word} is");
    }
}
