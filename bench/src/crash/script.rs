//! What the model of a crash test does: what it is told to, once, and so that it can be counted.
//!
//! What is said to it names an errand and a token, as `append T7Z`. A command adds the token to a
//! file: a token that is there twice is a call that ran twice. Nothing here depends on what was said
//! before, so it does not matter in which process a session goes on.

use countersign_lab::script::{Script, ScriptError};

/// The file to which commands add their tokens, in the working folder.
pub(super) const RAN: &str = "ran.txt";

/// What the model can be told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Errand {
    /// Say something.
    Say,
    /// Add the token to the file.
    Append,
    /// The same, and take a while for it.
    Slow,
    /// Add two tokens, with two calls at once: one waits for the other.
    Chain,
    /// Read two files that it has to ask for, both at once.
    Both,
    /// Ask a question.
    Ask,
    /// Enter plan mode.
    Enter,
    /// Make a plan, and do nothing about it before it is approved. In plan mode only.
    Plan,
}

impl Errand {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Say => "say",
            Self::Append => "append",
            Self::Slow => "slow",
            Self::Chain => "chain",
            Self::Both => "both",
            Self::Ask => "ask",
            Self::Enter => "enter",
            Self::Plan => "plan",
        }
    }
}

/// The token of this number. None is part of another.
pub(super) fn token(number: u64) -> String {
    format!("T{number}Z")
}

/// The tokens in a text.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in text.split('T').skip(1) {
        let Some((number, rest)) = piece.split_once('Z') else { continue };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let mut token = format!("T{number}Z");
        token.extend(rest.chars().next().filter(|letter| matches!(letter, 'a' | 'b' | 'x')));
        found.push(token);
    }
    found
}

/// The command that adds a token to the file, as it stands in an input.
pub(super) fn command(token: &str, work: &str) -> String {
    format!("echo {token} >> {work}/{RAN}")
}

/// The script. The real CLI runs commands, so one that takes a while sleeps there; the simulated
/// one is told how long it takes.
pub(super) fn script(is_real: bool) -> Result<Script, ScriptError> {
    let slow = if is_real {
        r#"input = { command = "echo ${match.1} >> ${cwd}/ran.txt; sleep 0.4" }"#
    } else {
        r#"input = { command = "echo ${match.1} >> ${cwd}/ran.txt" }, takes = "250ms""#
    };
    let text = SCRIPT.replace("SLOW", slow);
    Script::parse(&text, "crash.toml")
}

const SCRIPT: &str = r##"
otherwise = "I have nothing to add."

# What was decided while there was no process. Approved calls are made again, exactly as they were.
[[answer]]
when = { text = '/with this input instead: \{"command":"([^"]*)"/' }
tool = { name = "Bash", input = { command = "${match.1}" } }

[[answer]]
when = { text = '/approved your pending call of Bash with the input \{"command":"([^"]*)"/' }
tool = { name = "Bash", input = { command = "${match.1}" } }

[[answer]]
when = { text = '/approved your pending call of Read with the input \{"file_path":"([^"]*)"/' }
tool = { name = "Read", input = { file_path = "${match.1}" } }

[[answer]]
when = { text = "approved your pending call of EnterPlanMode" }
tool = { name = "EnterPlanMode", input = {} }

[[answer]]
when = { text = "approved the plan of your pending call of ExitPlanMode" }
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
when = { text = "restarted while you were working" }
text = "I go on."

# Errands.
[[answer]]
when = { text = '/^append (T\d+Z)/' }
text = "I add it."
tool = { name = "Bash", input = { command = "echo ${match.1} >> ${cwd}/ran.txt" } }

[[answer]]
when = { text = '/^slow (T\d+Z)/' }
tool = { name = "Bash", SLOW }

[[answer]]
when = { text = '/^chain (T\d+Z)/' }
tools = [
    { name = "Bash", input = { command = "echo ${match.1}a >> ${cwd}/ran.txt" } },
    { name = "Bash", input = { command = "echo ${match.1}b >> ${cwd}/ran.txt" } },
]

[[answer]]
when = { text = '/^both (T\d+Z)/' }
tools = [
    { name = "Read", input = { file_path = "${home}/one.txt" } },
    { name = "Read", input = { file_path = "${home}/two.txt" } },
]

[[answer]]
when = { text = '/^ask (T\d+Z)/' }
tool = { name = "AskUserQuestion", input_json = '''{"questions": [
    {"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Red", "description": "Warm"}, {"label": "Green", "description": "Calm"}]}
]}''' }

[[answer]]
when = { text = '/^enter (T\d+Z)/' }
tool = { name = "EnterPlanMode", input = {} }

[[answer]]
when = { text = '/^plan (T\d+Z)/' }
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# Plan\n\n1. Add ${match.1}.\n" } }

[[answer]]
when = { text = '/Implement the following plan[\s\S]*?(T\d+Z)/' }
tool = { name = "Bash", input = { command = "echo ${match.1} >> ${cwd}/ran.txt" } }

[[answer]]
when = { text = '/^say (T\d+Z)/' }
thinking = "What could I say?"
text = "I was told ${match.1}."

# What came of it.
[[answer]]
when = { tool = "Write", error = false }
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
when = { error = true }
text = "It did not work: ${result}"

[[answer]]
when = { error = false }
text = "It worked."
"##;

#[cfg(test)]
mod tests {
    use super::{command, script, token, tokens};

    #[test]
    fn the_script_can_be_played_with_both_kinds_of_cli() {
        for is_real in [true, false] {
            script(is_real).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn tokens_are_found_where_they_are() {
        let text = format!("{}\nT7Zb T8Zc To TZ T9\n{}", command(&token(12), "/w"), token(3));
        assert_eq!(tokens(&text), ["T12Z", "T7Zb", "T8Z", "T3Z"]);
    }
}
