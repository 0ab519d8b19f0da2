//! Lines of commands in the arguments of programs that are no shells.

use std::borrow::Cow;

use super::option::Options;
use super::run::Run;
use super::word::Word;

/// Options of git before the name of what it does.
pub(crate) const GIT: Options = Options::with(
    "Cc",
    &["attr-source", "config-env", "git-dir", "namespace", "super-prefix", "work-tree"],
);

/// Settings of git whose values are run.
const RUN_BY_GIT: &[&str] = &[
    "core.editor",
    "core.fsmonitor",
    "core.pager",
    "core.sshcommand",
    "diff.external",
    "sequence.editor",
];

/// The lines that a program runs, if it is one of those that run some.
pub(super) fn lines<'a>(run: &Run<'a>) -> Option<Cow<'a, Word>> {
    let words = run.arguments;
    let value = |options: Options, names: &[&str]| options.anywhere(words).values(names).next();
    match run.program {
        // They run when they are called, which can be in another line.
        "alias" => {
            let values = words.iter().filter_map(value_of);
            one(values.collect())
        }
        "git" => git(words),
        "nix-shell" => value(
            Options::with("AEIp", &["arg", "argstr", "attr", "command", "packages", "run"]),
            &["run", "command"],
        ),
        "npx" => value(Options::with("cpw", &["call", "package", "workspace"]), &["c", "call"]),
        "npm" | "pnpm" | "yarn" => {
            let parsed = Options::with("cpw", &["call", "package", "workspace"]).anywhere(words);
            let first = parsed.operands.first()?;
            let runs = matches!(&*first.text, "dlx" | "exec" | "x");
            parsed.values(&["c", "call"]).next().filter(|_| runs)
        }
        "cross-env-shell" if !words.is_empty() => Some(Cow::Owned(Word::joined(words, " "))),
        _ => None,
    }
}

/// What git runs: the value of a setting, or what it runs for each of several things.
fn git(words: &[Word]) -> Option<Cow<'_, Word>> {
    let parsed = GIT.leading(words);
    let mut lines: Vec<Cow<'_, Word>> =
        parsed.values(&["c"]).filter_map(|setting| run_by(&setting)).collect();
    if let Some((name, rest)) = parsed.rest.split_first() {
        let operands = || Options::NONE.leading(rest).rest;
        match name.text.as_str() {
            "submodule" | "bisect" => {
                if let Some((first, rest)) = operands().split_first()
                    && matches!(&*first.text, "foreach" | "run")
                {
                    let rest = Options::NONE.leading(rest).rest;
                    lines.push(Cow::Owned(Word::joined(rest, " ")));
                }
            }
            "rebase" => {
                let options = Options::with("Csx", &["exec", "onto", "strategy"]);
                lines.extend(options.anywhere(rest).values(&["x", "exec"]));
            }
            _ => {}
        }
    }
    one(lines)
}

/// What comes after the first `=`.
fn value_of(word: &Word) -> Option<Cow<'_, Word>> {
    let at = word.text.find('=')?;
    Some(Cow::Owned(word.after(at + 1)))
}

/// The command in a setting: `alias.x=!rm y`, `core.sshCommand=rm y`. One without arguments says
/// nothing, as `core.pager=cat`.
fn run_by<'a>(setting: &Word) -> Option<Cow<'a, Word>> {
    let (name, value) = setting.text.split_once('=')?;
    let name = name.to_ascii_lowercase();
    let at = name.len() + 1;
    if name.starts_with("alias.") {
        return value.starts_with('!').then(|| Cow::Owned(setting.after(at + 1)));
    }
    let runs = RUN_BY_GIT.contains(&name.as_str()) && value.contains(' ');
    runs.then(|| Cow::Owned(setting.after(at)))
}

fn one(mut lines: Vec<Cow<'_, Word>>) -> Option<Cow<'_, Word>> {
    if lines.len() > 1 {
        let all = Word::joined(lines.iter().map(|line| &**line), "\n");
        return Some(Cow::Owned(all));
    }
    lines.pop()
}
