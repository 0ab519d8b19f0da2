//! What is gone afterwards.

use super::{Danger, Found, all_shown, operands};
use crate::shell::{Given, Options, Run, Word};

impl Found {
    pub(super) fn deletes(&mut self, run: &Run<'_>) {
        let has = |wanted: &str| run.arguments.iter().any(|word| word.text == wanted);
        match run.program {
            "rm" | "rmdir" | "unlink" | "shred" => {
                let options = Options::with("ns", &["iterations", "random-source", "size"]);
                let what = match run.program {
                    "shred" => options.anywhere(run.arguments).operands,
                    _ => operands(run),
                };
                self.add(Danger::Deletes, format!("deletes {}", named(&what, run.given)));
            }
            "find" | "gfind" | "bfs" if has("-delete") => {
                self.add(Danger::Deletes, "deletes what it finds");
            }
            "truncate" => self.add(Danger::Deletes, "cuts files short"),
            "rsync" if run.arguments.iter().any(is_deletion) => {
                self.add(Danger::Deletes, "deletes in the target what is not in the source");
            }
            "crontab" => {
                let parsed = Options::valued("u").anywhere(run.arguments);
                if parsed.has(&["r"]) {
                    self.add(Danger::Deletes, "deletes all planned commands");
                } else if !parsed.has(&["l", "e", "T", "V"]) {
                    // Without a file it reads what it is given.
                    self.add(Danger::Deletes, "replaces all planned commands");
                    self.add(Danger::RunsLater, "plans commands that run later (crontab)");
                }
            }
            "dd" => {
                for word in run.arguments.iter().filter(|word| word.text.starts_with("of=")) {
                    let to = word.text.trim_start_matches("of=");
                    if !to.starts_with("/dev/null") {
                        self.add(Danger::Deletes, format!("overwrites {}", super::shown(to)));
                    }
                }
            }
            "wipefs" | "blkdiscard" | "mkswap" | "sgdisk" | "sfdisk" | "fdisk" | "parted"
                if !has("-l") && !has("--list") =>
            {
                self.add(Danger::Deletes, "changes a disk, and what was there can be gone");
            }
            name if name == "mkfs" || name.starts_with("mkfs.") => {
                self.add(Danger::Deletes, "makes a new file system, and what was there is gone");
            }
            _ => {}
        }
    }
}

fn is_deletion(word: &Word) -> bool {
    word.text.starts_with("--delete")
        || word.text.starts_with("--del")
        || word.text == "--remove-source-files"
}

/// What a program that deletes is given.
fn named(words: &[&Word], given: Given<'_>) -> String {
    let is_found = words.is_empty() || words.iter().any(|word| word.text.contains("{}"));
    match given {
        Given::Found(_) if is_found => "what it finds".to_owned(),
        _ if words.is_empty() => "what it is given".to_owned(),
        _ => all_shown(words),
    }
}
