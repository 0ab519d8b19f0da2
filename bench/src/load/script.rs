//! What the model of a load test does: one command that it has to ask for, and that can be counted.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use countersign_lab::script::{Script, ScriptError};

/// The file to which commands add their tokens, in the working folder.
const RAN: &str = "ran.txt";

/// A word of the title of every session.
pub(super) const COMMON: &str = "harbour";
/// A word that is said in every session, and is part of no title: those are not as long.
pub(super) const SAID: &str = "everything";

/// The token of this number. None is part of another.
pub(super) fn token(number: u64) -> String {
    format!("T{number}Z")
}

/// What a session is told to do, so that it has to ask once.
pub(super) fn errand(number: u64) -> String {
    let token = token(number);
    format!(
        "append {token}. The list of the {COMMON} master is in the usual place; add the new ship at \
         its end, and leave {SAID} else as it is. Then say what you have done."
    )
}

/// How often each token was added.
pub(super) fn ran(work: &Path) -> io::Result<HashMap<String, u64>> {
    let text = match fs::read_to_string(work.join(RAN)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let mut ran = HashMap::new();
    for line in text.lines() {
        *ran.entry(line.trim().to_owned()).or_default() += 1;
    }
    Ok(ran)
}

pub(super) fn script() -> Result<Script, ScriptError> {
    Script::parse(SCRIPT, "load.toml")
}

const SCRIPT: &str = r##"
otherwise = "I have nothing to add."

[[answer]]
when = { text = '/^append (T\d+Z)/' }
text = "I look for the list first, and add the ship at its end. Nothing else on it changes."
tool = { name = "Bash", input = { command = "echo ${match.1} >> ${cwd}/ran.txt", description = "Add the new ship at the end of the list" } }

[[answer]]
when = { error = true }
text = "It did not work: ${result}"

[[answer]]
when = { error = false }
text = "The ship is on the list, at its end. Everything else is as it was."
"##;

#[cfg(test)]
mod tests {
    use super::script;

    #[test]
    fn the_script_can_be_played() {
        script().unwrap_or_else(|error| panic!("{error}"));
    }
}
