//! What git throws away, or replaces for others.

use std::borrow::Cow;

use super::{Danger, Found, all_shown, shown};
use crate::shell::{Options, Parsed, Run, Word};

const UNCOMMITTED: &str = "throws changes away that are not committed";

/// The subcommand of git, and its arguments.
fn subcommand(arguments: &[Word]) -> Option<(&str, &[Word])> {
    const OPTIONS: Options = Options::with(
        "Cc",
        &["attr-source", "config-env", "git-dir", "namespace", "super-prefix", "work-tree"],
    );
    let (name, rest) = OPTIONS.leading(arguments).rest.split_first()?;
    Some((&name.text, rest))
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
    pub(super) fn git(&mut self, run: &Run<'_>) {
        let Some((name, rest)) = subcommand(run.arguments) else { return };
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
            "switch" if is_forced || has(&["discard-changes"]) => UNCOMMITTED.to_owned(),
            // Without these options it is about the files, and with one about the index only.
            "restore" if has(&["W", "worktree"]) || !has(&["S", "staged"]) => {
                UNCOMMITTED.to_owned()
            }
            "branch" if has(&["D"]) || is_forced && has(&["d", "delete"]) => {
                "deletes a branch, merged or not".to_owned()
            }
            "tag" if has(&["d", "delete"]) => "deletes a tag".to_owned(),
            "stash" if matches!(first, "drop" | "clear") => {
                "throws away what was stashed".to_owned()
            }
            "worktree" if first == "remove" && is_forced => UNCOMMITTED.to_owned(),
            "reflog" if matches!(first, "expire" | "delete") => {
                "deletes the record of where branches were".to_owned()
            }
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

/// Where git writes to besides the repository that it is in.
pub(super) fn written<'a>(run: &Run<'a>) -> Vec<Cow<'a, Word>> {
    let Some((name, rest)) = subcommand(run.arguments) else { return Vec::new() };
    let parsed = parsed(name, rest);
    let place = match name {
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
