//! What a shell command would do, as far as that can be told by looking at it.

use std::path::PathBuf;

use crate::sim::env::Env;

/// Commands that only look.
const LOOKING: &[&str] = &[
    "cal",
    "cat",
    "cd",
    "cut",
    "date",
    "df",
    "diff",
    "docker ps",
    "du",
    "echo",
    "false",
    "file",
    "find",
    "git branch",
    "git diff",
    "git log",
    "git remote",
    "git rev-parse",
    "git show",
    "git status",
    "grep",
    "head",
    "hostname",
    "id",
    "jq",
    "ls",
    "nl",
    "ps",
    "pwd",
    "readlink",
    "rg",
    "sleep",
    "sort",
    "stat",
    "tail",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "uniq",
    "uptime",
    "wc",
    "which",
    "whoami",
];
/// Those that newer versions know as well.
const LOOKING_NEW: &[&str] = &["basename", "dirname", "expr", "printf", "seq", "test"];
/// Commands that change the files they name.
const WRITING: &[&str] = &["cp", "mkdir", "mv", "rm", "rmdir", "sed", "touch"];

/// Something in a command that cannot be seen through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opaque {
    Variable,
    Dollar,
    Backtick,
}

/// One of the commands of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) does: Does,
}

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// It looks around in the folder.
    Looks,
    /// It reads this path.
    Reads(PathBuf),
    /// It changes this path; by redirection, or because it is that kind of command.
    Writes { path: PathBuf, name: String, redirected: bool },
    /// It removes this path, which must not be removed.
    Endangers(PathBuf),
    /// Anything.
    Anything,
}

/// What a line of commands does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) opaque: Option<Opaque>,
    pub(crate) parts: Vec<Part>,
}

/// Looks at a line of commands.
pub(crate) fn look_at(env: &Env, line: &str, knows_more: bool, tee_writes: bool) -> Line {
    let opaque = opaque(line);
    let parts = split(line).into_iter().map(|text| {
        let does = does(env, &text, knows_more, tee_writes);
        Part { text, does }
    });
    Line { opaque, parts: parts.collect() }
}

fn opaque(line: &str) -> Option<Opaque> {
    let mut single = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => single = !single,
            '\\' if !single => {
                characters.next();
            }
            '`' if !single => return Some(Opaque::Backtick),
            '$' if !single => match characters.peek() {
                Some('(') => return Some(Opaque::Dollar),
                Some(c) if c.is_alphanumeric() || matches!(c, '_' | '{' | '?' | '@' | '*') => {
                    return Some(Opaque::Variable);
                }
                _ => {}
            },
            _ => {}
        }
    }
    None
}

/// The commands of a line: what stands between `&&`, `||`, `;`, `|` and ends of lines.
fn split(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let ends = quote.is_none() && matches!(character, ';' | '|' | '\n');
        let and = quote.is_none() && character == '&' && characters.peek() == Some(&'&');
        if ends || and {
            characters.next_if(|next| matches!(next, '&' | '|'));
            parts.push(String::new());
            continue;
        }
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(character);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The words of a command, without their quotes.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in command.chars() {
        match (quote, character) {
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == character => quote = None,
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

fn does(env: &Env, command: &str, knows_more: bool, tee_writes: bool) -> Does {
    let words = words(command);
    if let Some(path) = redirected_to(&words) {
        let name = words.first().cloned().unwrap_or_default();
        return Does::Writes { path: env.absolute(&path), name, redirected: true };
    }
    let Some(name) = words.first().map(String::as_str) else { return Does::Looks };
    let plain: Vec<&str> =
        words.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    if name == "rm"
        && let Some(path) =
            plain.iter().map(|word| env.absolute(word)).find(|path| is_critical(env, path))
    {
        return Does::Endangers(path);
    }
    let writes = WRITING.contains(&name) || (tee_writes && name == "tee");
    let script = usize::from(name == "sed");
    if writes && (name != "sed" || words.iter().any(|word| word.starts_with("-i"))) {
        return match plain.get(script) {
            Some(path) => {
                Does::Writes { path: env.absolute(path), name: name.to_owned(), redirected: false }
            }
            None => Does::Anything,
        };
    }
    let known = |list: &[&str]| {
        list.iter().any(|known| {
            command == *known
                || command.strip_prefix(known).is_some_and(|rest| rest.starts_with(' '))
        })
    };
    let looks = known(LOOKING) || (knows_more && known(LOOKING_NEW));
    if !looks {
        return Does::Anything;
    }
    let outside = plain
        .iter()
        .filter(|word| word.starts_with('/') || word.starts_with("~/") || word.starts_with(".."));
    let outside = outside.map(|word| env.absolute(word)).find(|path| !path.starts_with(&env.cwd));
    match outside {
        Some(path) if !matches!(name, "echo" | "cd" | "printf") => Does::Reads(path),
        _ => Does::Looks,
    }
}

fn redirected_to(words: &[String]) -> Option<String> {
    for (at, word) in words.iter().enumerate() {
        let target = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let Some(target) = target.strip_prefix(">>").or_else(|| target.strip_prefix('>')) else {
            continue;
        };
        let target = if target.is_empty() { words.get(at + 1)?.as_str() } else { target };
        if !target.starts_with('&') && target != "/dev/null" {
            return Some(target.to_owned());
        }
    }
    None
}

/// The root, the home, and what they stand in.
fn is_critical(env: &Env, path: &std::path::Path) -> bool {
    env.home.starts_with(path) || path.parent().is_some_and(|parent| parent.parent().is_none())
}

/// What to allow when this command is allowed for good: `git commit *`, or just this command.
pub(crate) fn rule_for(command: &str, by_prefix: bool) -> String {
    let mut words = command.split(' ');
    if let (true, Some(name), Some(second)) = (by_prefix, words.next(), words.next())
        && is_subcommand(second)
    {
        return format!("{name} {second} *");
    }
    command.to_owned()
}

/// `commit`, `ci-build2`: lower-case letters and digits, joined by single dashes.
fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.split('-').all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}
