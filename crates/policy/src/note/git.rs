//! What git throws away, or replaces for others.

use std::borrow::Cow;

use super::folder::{Folders, Where};
use super::{Danger, Found, all_shown, shown};
use crate::shell::{Begin, GIT, Options, Parsed, Run, Word};

const UNCOMMITTED: &str = "throws changes away that are not committed";

const UNCOMMITTED_PERHAPS: &str = "may throw changes away that are not committed";

/// What git does that changes the repository it is in, or the files of it.
const CHANGING: &[&str] = &[
    "add",
    "am",
    "apply",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "filter-branch",
    "filter-repo",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "switch",
];

/// Settings whose values are run, or say where what is run comes from.
const RUNNING: &[&str] = &[
    "core.askpass",
    "core.attributesfile",
    "core.fsmonitor",
    "core.gitproxy",
    "core.hookspath",
    "core.sshcommand",
    "diff.external",
    "gpg.program",
    "include.path",
    "init.templatedir",
    "interactive.difffilter",
    "protocol.ext.allow",
    "uploadpack.packobjectshook",
];

/// How such settings begin and end that have a name in them.
const RUNNING_NAMED: &[(&str, &str)] = &[
    ("browser.", ".cmd"),
    ("diff.", ".command"),
    ("diff.", ".textconv"),
    ("difftool.", ".cmd"),
    ("filter.", ""),
    ("gpg.", ".program"),
    ("hook.", ".command"),
    ("includeif.", ".path"),
    ("merge.", ".driver"),
    ("mergetool.", ".cmd"),
    ("remote.", ".receivepack"),
    ("remote.", ".uploadpack"),
    ("trailer.", ".command"),
    ("url.", ".insteadof"),
    ("url.", ".pushinsteadof"),
];

/// Settings that name a program, as a rule one that is known to everybody.
const NAMING: &[&str] = &["core.editor", "core.pager", "credential.helper", "sequence.editor"];

/// What comes after a dot at the end of the name of a version, and of no file.
const VERSIONS: &[&str] =
    &["alpha", "beta", "dev", "final", "lts", "next", "post", "pre", "rc", "x"];

/// The subcommand of git, and its arguments.
fn subcommand(arguments: &[Word]) -> Option<(&str, &[Word])> {
    let (name, rest) = GIT.leading(arguments).rest.split_first()?;
    Some((&name.text, rest))
}

/// The folder that git goes to before it does something, if it goes to one.
pub(super) fn folder<'a>(run: &Run<'a>) -> Option<Cow<'a, Word>> {
    if run.program != "git" {
        return None;
    }
    GIT.leading(run.arguments).values(&["C"]).reduce(|from, to| {
        if matches!(to.begin(), Begin::Text(text) if !text.starts_with('/')) {
            Cow::Owned(Word::joined([&*from, &*to], "/"))
        } else {
            to
        }
    })
}

/// The folder that a repository is cloned into.
pub(super) fn cloned<'a>(run: &Run<'a>) -> Option<Cow<'a, Word>> {
    if run.program != "git" {
        return None;
    }
    let (name, rest) = subcommand(run.arguments).filter(|(name, _)| *name == "clone")?;
    let parsed = parsed(name, rest);
    if let Some(folder) = parsed.operands.get(1) {
        return Some(Cow::Borrowed(*folder));
    }
    let address = parsed.operands.first()?.text.trim_end_matches('/');
    let name = address.rsplit(['/', ':']).next()?.trim_end_matches(".git");
    (!name.is_empty()).then(|| Cow::Owned(Word::known(name)))
}

/// The repository that git pushes to, as it is named.
pub(super) fn pushed_to<'a>(run: &Run<'a>) -> Option<&'a Word> {
    let (name, rest) = subcommand(run.arguments).filter(|(name, _)| *name == "push")?;
    parsed(name, rest).operands.first().copied()
}

/// Arguments of a subcommand, with names that can be cut short.
fn parsed<'a>(name: &str, rest: &'a [Word]) -> Parsed<'a> {
    let options = Options {
        valued: match name {
            "push" => "o",
            "branch" => "u",
            "clean" => "e",
            "checkout" | "switch" => "bBcC",
            "restore" => "s",
            "clone" => "bcjou",
            "init" => "b",
            "worktree" => "bB",
            "tag" => "Fmu",
            _ => "",
        },
        long: &[
            "cached",
            "delete",
            "discard-changes",
            "dry-run",
            "force",
            "force-with-lease",
            "hard",
            "mirror",
            "prune",
            "staged",
            "worktree",
        ],
        long_valued: &[
            "branch",
            "depth",
            "exec",
            "origin",
            "orphan",
            "pathspec-from-file",
            "push-option",
            "receive-pack",
            "recurse-submodules",
            "reference",
            "repo",
            "separate-git-dir",
            "source",
            "template",
        ],
        ..Options::NONE
    };
    options.anywhere(rest)
}

impl Found {
    pub(super) fn git(&mut self, run: &Run<'_>, folders: &Folders<'_>) {
        let Some((name, rest)) = subcommand(run.arguments) else { return };
        if CHANGING.contains(&name) && self.away.is_none() {
            let here = Word::known(".");
            let to = folder(run);
            let outer = run.folder.as_deref();
            if folders.place_of(to.as_deref().unwrap_or(&here), outer) == Where::Outside {
                let text = "changes a repository outside the folder of the session";
                self.add(Danger::Outside, format!("{text} (git {name})"));
            }
        }
        if let Some(key) = Setting::of(name, rest).filter(Setting::runs) {
            let text = format!("changes {} of git, and what it names runs later", shown(key.key));
            self.add(Danger::RunsLater, text);
        }
        let parsed = parsed(name, rest);
        let first = parsed.operands.first().map_or("", |word| word.text.as_str());
        let has = |names: &[&str]| parsed.has(names);
        let is_forced = has(&["f", "force"]);
        let is_tried = has(&["n", "dry-run"]);
        let lost = match name {
            "push" => return self.push(rest, &parsed),
            "rm" if !has(&["cached"]) && !is_tried => {
                format!("deletes {}", all_shown(&parsed.operands))
            }
            "clean" if is_forced && !is_tried => "deletes files that git does not know".to_owned(),
            "reset" if has(&["hard"]) => UNCOMMITTED.to_owned(),
            "checkout" if is_forced || checks_files_out(rest, &parsed) => UNCOMMITTED.to_owned(),
            "checkout" if may_check_files_out(&parsed) => UNCOMMITTED_PERHAPS.to_owned(),
            "switch" if is_forced || has(&["discard-changes"]) => UNCOMMITTED.to_owned(),
            // Without these options it is about the files, and with one about the index only.
            "restore" if has(&["W", "worktree"]) || !has(&["S", "staged"]) => {
                UNCOMMITTED.to_owned()
            }
            "branch" if has(&["D"]) || is_forced && has(&["d", "delete"]) => {
                "deletes a branch, merged or not".to_owned()
            }
            "branch" if is_forced && !parsed.operands.is_empty() => {
                "moves a branch, so that what only it holds is lost".to_owned()
            }
            "tag" if has(&["d", "delete"]) => "deletes a tag".to_owned(),
            "stash" if matches!(first, "drop" | "clear") => {
                "throws away what was stashed".to_owned()
            }
            "worktree" if first == "remove" && is_forced => UNCOMMITTED.to_owned(),
            "reflog" if matches!(first, "expire" | "delete") => {
                "deletes the record of where branches were".to_owned()
            }
            "gc" if prunes_now(&parsed) => "deletes what no branch holds any more".to_owned(),
            "prune" if !is_tried => "deletes what no branch holds any more".to_owned(),
            "filter-branch" | "filter-repo" => "replaces the history of the repository".to_owned(),
            "update-ref" if has(&["d"]) => "deletes a branch or a tag".to_owned(),
            _ => return,
        };
        self.add(Danger::Deletes, lost);
    }

    fn push(&mut self, rest: &[Word], parsed: &Parsed<'_>) {
        let said = |names: &[&str]| {
            // The word itself is told, as it is written.
            let is_short = |text: &str| {
                text.starts_with('-')
                    && !text.starts_with("--")
                    && names.iter().any(|name| name.len() == 1 && text.contains(name))
            };
            let is_long = |text: &str| {
                let name = text.strip_prefix("--").and_then(|text| text.split('=').next());
                name.is_some_and(|name| name.len() > 2 && names.iter().any(|n| n.starts_with(name)))
            };
            rest.iter().find(|word| is_short(&word.text) || is_long(&word.text))
        };
        let forcing: &[&str] = &["f", "force", "force-with-lease", "mirror"];
        let by_option = said(forcing).filter(|_| parsed.has(forcing));
        let by_name =
            parsed.operands.iter().find(|word| word.text.len() > 1 && word.text.starts_with('+'));
        if let Some(word) = by_option.or(by_name.copied()) {
            let text = format!(
                "replaces what others have in the remote repository (git push {})",
                shown(&word.text)
            );
            self.add(Danger::ForcePush, text);
        }
        let removes = |word: &&Word| word.text.len() > 1 && word.text.starts_with(':');
        if parsed.has(&["d", "delete", "prune"]) || parsed.operands.iter().any(removes) {
            self.add(Danger::Deletes, "deletes a branch or a tag of the remote repository");
        }
    }
}

/// Whether `git checkout` is about files, and not about a branch.
fn checks_files_out(rest: &[Word], parsed: &Parsed<'_>) -> bool {
    let makes = parsed.has(&["b", "B", "orphan", "t", "track"]);
    rest.iter().any(|word| matches!(&*word.text, "--" | "."))
        || (!makes && parsed.operands.len() > 1)
}

/// Whether `git checkout` is about files by what it is given: a branch could have the same name.
fn may_check_files_out(parsed: &Parsed<'_>) -> bool {
    let makes = parsed.has(&["b", "B", "d", "detach", "orphan", "t", "track"]);
    parsed.has(&["ours", "theirs", "pathspec-from-file"])
        || !makes && parsed.operands.iter().any(|word| looks_like_file(&word.text))
}

/// Whether a name is one of files rather than of a branch or a version.
fn looks_like_file(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    if name.contains(['*', '?', '['])
        || name.starts_with(['.', '/', '~', ':'])
        || name.contains("/.")
        || file.is_empty()
    {
        return true;
    }
    let Some((_, end)) = file.rsplit_once('.') else { return false };
    let is_version = |end: &str| {
        let end = end.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
        VERSIONS.contains(&end.as_str())
    };
    end.starts_with(|c: char| c.is_ascii_alphabetic())
        && end.chars().all(|c| c.is_ascii_alphanumeric())
        && end.len() <= 8
        && !is_version(end)
}

fn prunes_now(parsed: &Parsed<'_>) -> bool {
    parsed.values(&["prune"]).any(|when| matches!(&*when.text, "now" | "all"))
}

/// A setting that `git config` changes.
struct Setting<'a> {
    key: &'a str,
    value: &'a str,
    /// The file, where it is not the one of the repository.
    file: Option<Cow<'a, Word>>,
}

impl<'a> Setting<'a> {
    fn of(name: &str, rest: &'a [Word]) -> Option<Self> {
        if name != "config" {
            return None;
        }
        let parsed = Options::with("f", &["blob", "default", "file", "type"]).anywhere(rest);
        let asks = ["get", "get-all", "get-color", "get-regexp", "get-urlmatch", "l", "list"];
        let mut operands = parsed.operands.iter().map(|word| word.text.as_str()).peekable();
        let said = operands.next_if(|word| matches!(*word, "set" | "unset" | "get" | "list"));
        if parsed.has(&asks) || matches!(said, Some("get" | "list")) {
            return None;
        }
        let (key, value) = (operands.next()?, operands.next());
        let removes = ["unset", "unset-all", "remove-section", "rename-section"];
        if value.is_none() && said != Some("unset") && !parsed.has(&removes) {
            return None;
        }
        let file = if parsed.has(&["global"]) {
            Some(Cow::Owned(Word::known("~/.gitconfig")))
        } else if parsed.has(&["system"]) {
            Some(Cow::Owned(Word::known("/etc/gitconfig")))
        } else {
            parsed.values(&["f", "file"]).last()
        };
        Some(Self { key, value: value.unwrap_or_default(), file })
    }

    /// Whether its value is run later.
    fn runs(&self) -> bool {
        let key = self.key.to_ascii_lowercase();
        let is_switch = matches!(self.value, "" | "false" | "true" | "/dev/null");
        let has_name = |(begin, end): &(&str, &str)| {
            key.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end)).is_some()
        };
        let is_naming = || {
            NAMING.contains(&key.as_str())
                || key.starts_with("pager.")
                || key.starts_with("credential.") && key.ends_with(".helper")
        };
        !is_switch
            && (RUNNING.contains(&key.as_str())
                || RUNNING_NAMED.iter().any(has_name)
                || is_naming() && self.value.contains(['!', '/', ';', '|', '&', '$', '`', '('])
                || (key.starts_with("alias.") || key.starts_with("submodule."))
                    && self.value.starts_with('!'))
    }
}

/// Where git writes to besides the repository that it is in.
pub(super) fn written<'a>(run: &Run<'a>) -> Vec<Cow<'a, Word>> {
    let Some((name, rest)) = subcommand(run.arguments) else { return Vec::new() };
    let parsed = parsed(name, rest);
    let place = match name {
        "config" => Setting::of(name, rest).and_then(|setting| setting.file),
        "clone" => Some(
            parsed
                .operands
                .get(1)
                .map_or_else(|| Cow::Owned(Word::known(".")), |place| Cow::Borrowed(*place)),
        ),
        "init" => parsed.operands.first().map(|place| Cow::Borrowed(*place)),
        "worktree" if parsed.operands.first().is_some_and(|word| word.text == "add") => {
            parsed.operands.get(1).map(|place| Cow::Borrowed(*place))
        }
        _ => None,
    };
    place.into_iter().collect()
}
