//! Which rule is about which call.

use countersign_policy::{Call, Rule};
use serde_json::{Value, json};

use crate::place;

fn covers(rule: &str, tool: &str, input: &Value) -> bool {
    Rule::parse(rule).covers(&Call { tool, input }, &place())
}

fn command(rule: &str, line: &str) -> bool {
    covers(rule, "Bash", &json!({"command": line}))
}

/// What stands before a command, or around it, can make another one of it.
#[test]
fn a_rule_for_a_command_is_not_about_what_is_around_it() {
    for line in [
        "export NODE_OPTIONS=--require=./x.js && npm test",
        "NODE_OPTIONS=--require=./x.js; npm test",
        "NODE_OPTIONS=--require=./x.js npm test",
        "FOO=bar npm test",
        "PATH=. npm test",
        "declare -x A=1; npm test",
        "readonly A=1; npm test",
        "unset PATH; npm test",
        "A=1 B=2; npm test",
        "npm() { rm x; }; npm test",
        "for i in 1 2; do npm test; done",
        "while npm test; do npm test; done",
        "if npm test; then npm test; fi",
        "(npm test)",
        "{ npm test; }",
        "! npm test",
        "[ -f x ] && npm test",
        "((i++)); npm test",
        "npm test <<EOF\nx\nEOF",
        "npm test <<< x",
        "npm test < x",
        "npm test > x",
        "npm test > /dev/null --x; npm test",
        "npm test\nrm x",
        "npm test & rm x",
        "npm test | sh",
        "npm test \"$X\"",
        "npm test <(a)",
        "time npm test",
    ] {
        assert!(!command("Bash(npm test:*)", line), "{line}");
        assert!(!command("Bash(npm test *)", line), "{line}");
        assert!(command("Bash", line), "{line}");
    }
    for line in [
        "npm test",
        "npm test -- a 'b c' *.js",
        "npm test 2>&1",
        "npm test >/dev/null 2>&1",
        "npm test && npm test -- b; npm test c | npm test d & npm test e",
        "npm test # really",
    ] {
        assert!(command("Bash(npm test:*)", line), "{line}");
    }
}

/// The CLI suggests several rules for a line of several commands.
#[test]
fn rules_can_be_about_a_line_together() {
    let rules = ["Bash(npm test:*)", "Bash(git status)", "Read(/src/**)"].map(Rule::parse);
    let cover = |rules: &[Rule], line: &str| {
        let input = json!({"command": line});
        Rule::all_cover(rules, &Call { tool: "Bash", input: &input }, &place())
    };
    assert!(cover(&rules, "npm test && git status"));
    assert!(cover(&rules, "npm test -- a | npm test; git status"));
    assert!(cover(&rules, "git status"));
    assert!(!cover(&rules[..1], "npm test && git status"));
    assert!(!cover(&rules, "npm test && git status && rm x"));
    assert!(!cover(&rules, "A=1 npm test && git status"));
    assert!(!cover(&rules, ""));
    assert!(!cover(&[], "npm test"));
}

#[test]
fn skills_and_agents_are_known_by_their_names() {
    let skill = json!({"skill": "review", "args": "all"});
    assert!(covers("Skill(review)", "Skill", &skill));
    assert!(covers("Skill(review:*)", "Skill", &skill));
    assert!(covers("Skill", "Skill", &skill));
    assert!(!covers("Skill(rev)", "Skill", &skill));
    assert!(!covers("Skill(rev:*)", "Skill", &skill));
    assert!(!covers("Skill(reviewer)", "Skill", &skill));
    assert!(!covers("Skill(review)", "Skill", &json!({})));
    assert!(!covers("Skill(review)", "Agent", &json!({"skill": "review"})));
    let agent = json!({"description": "d", "prompt": "p", "subagent_type": "Explore"});
    assert!(covers("Agent(Explore)", "Agent", &agent));
    assert!(covers("Task(Explore)", "Agent", &agent));
    assert!(covers("Agent(Explore)", "Task", &agent));
    assert!(!covers("Agent(explore)", "Agent", &agent));
    assert!(!covers("Agent(Explore)", "Agent", &json!({"prompt": "p"})));
}

/// Sessions of older versions have calls with the old names; settings have rules with them.
#[test]
fn a_tool_that_was_renamed_is_the_same_tool() {
    let none = json!({});
    for (old, new) in [
        ("Task", "Agent"),
        ("KillShell", "TaskStop"),
        ("KillBash", "TaskStop"),
        ("ListPeers", "ListAgents"),
        ("Brief", "SendUserMessage"),
        ("ListMcpResources", "ListMcpResourcesTool"),
        ("ReadMcpResource", "ReadMcpResourceTool"),
        ("ReadMcpResourceDir", "ReadMcpResourceDirTool"),
    ] {
        assert!(covers(old, new, &none), "{old} covers {new}");
        assert!(covers(new, old, &none), "{new} covers {old}");
        assert!(covers(old, old, &none), "{old} covers {old}");
        assert_eq!(Rule::parse(old).to_string(), new);
        assert!(!covers(old, "Bash", &none), "{old}");
    }
}
