//! Which files a program changes.

use std::borrow::Cow;

use super::folder::Folders;
use super::{Danger, Found, git};
use crate::shell::{Given, Options, Parsed, Run, Word};

impl Found {
    /// Tools that are installed for all projects.
    fn installs(&mut self, run: &Run<'_>) {
        let parsed = Options::NONE.anywhere(run.arguments);
        let does = |names: &[&str]| {
            parsed.operands.first().is_some_and(|word| names.contains(&word.text.as_str()))
        };
        let is_global = match run.program {
            "npm" | "pnpm" => {
                let changes =
                    ["add", "i", "install", "link", "remove", "rm", "uninstall", "update"];
                parsed.has(&["g", "global"]) && does(&changes)
            }
            "yarn" => does(&["global"]),
            _ => false,
        };
        if is_global {
            let text = "changes the tools of all projects, outside the folder of the session";
            self.add(Danger::Outside, format!("{text} ({})", run.program));
        }
    }

    pub(super) fn writes(&mut self, run: &Run<'_>, folders: &Folders<'_>) {
        let folder = run.folder.as_deref();
        let git_folder = git::folder(run);
        if self.away.is_some() {
            return;
        }
        self.installs(run);
        let folder = git_folder.as_deref().or(folder);
        let Some(written) = written(run) else { return };
        let is_deleting = matches!(run.program, "rm" | "rmdir" | "rimraf" | "unlink" | "shred");
        // What git sets is looked at by what it is, and no file runs because of its owner.
        let is_later = match run.program {
            "mkdir" | "chown" | "chgrp" | "git" => false,
            "chmod" => run.arguments.iter().any(|word| makes_executable(&word.text)),
            _ => !is_deleting,
        };
        let mut is_given = written.is_empty();
        for word in &written {
            // What is found stands for all that is below the places in which it is looked for.
            match run.given {
                Given::Found(_) | Given::Piped if run.is_marked(word) => is_given = true,
                _ => {
                    self.change(word, folder, folders);
                    if is_later {
                        self.later(word, folders);
                    }
                }
            }
        }
        match run.given {
            Given::Found(places) if is_given => {
                for place in places {
                    self.change(place, folder, folders);
                }
            }
            Given::Piped if is_given && !is_deleting => {
                let text = "changes what it is given, in places that are only known when it runs";
                self.add(Danger::Opaque, text);
            }
            _ => {}
        }
    }
}

/// Whether a mode of `chmod` makes a program of a file.
fn makes_executable(mode: &str) -> bool {
    let letters = mode.split(['+', '=']).nth(1);
    letters.is_some_and(|letters| letters.contains(['x', 'X', 's']))
        || mode.len() >= 3
            && mode.bytes().all(|digit| matches!(digit, b'0'..=b'7'))
            && mode.bytes().any(|digit| matches!(digit, b'1' | b'3' | b'5' | b'7'))
}

/// Words that a program changes.
pub(super) type Words<'a> = Vec<Cow<'a, Word>>;

fn all<'a>(operands: &[&'a Word]) -> Words<'a> {
    operands.iter().map(|word| Cow::Borrowed(*word)).collect()
}

fn here<'a>() -> Cow<'a, Word> {
    Cow::Owned(Word::known("."))
}

/// What a program changes, if it is one that changes files. It can be none where it is given more.
pub(super) fn written<'a>(run: &Run<'a>) -> Option<Words<'a>> {
    let words = run.arguments;
    let operands = |options: Options| options.anywhere(words).operands;
    Some(match run.program {
        "rm" | "rmdir" | "unlink" | "rimraf" | "tee" | "sponge" | "sudoedit" => {
            all(&operands(Options::NONE))
        }
        "touch" => all(&operands(Options::with("drt", &["date", "reference", "time"]))),
        "mkdir" | "mkfifo" => all(&operands(Options::with("m", &["mode"]))),
        "truncate" => all(&operands(Options::with("rs", &["reference", "size"]))),
        "shred" => all(&operands(Options::with("ns", &["iterations", "random-source", "size"]))),
        "chmod" | "chown" | "chgrp" => after_mode(run),
        "cp" | "mv" | "install" | "ln" => copied(run),
        "rsync" => target(&operands(rsync_options())),
        "scp" => target(&operands(SCP)),
        "sed" | "gsed" => edited(
            &Options { attached: "i", ..Options::with("efl", &["expression", "file"]) },
            run,
        )?,
        "perl" | "ruby" => edited(&Options { attached: "CFimMx", ..Options::valued("eEI") }, run)?,
        "dd" => {
            let to = words.iter().filter(|word| word.text.starts_with("of="));
            to.map(|word| Cow::Owned(word.after("of=".len()))).collect()
        }
        "curl" => Some(curl(run)).filter(|files| !files.is_empty())?,
        "wget" => wget(run),
        "tar" | "gtar" | "bsdtar" => tar(run)?,
        "unzip" => {
            let parsed = Options::valued("dPx").anywhere(words);
            if parsed.has(&["l", "p", "t", "v", "z", "Z"]) {
                return None;
            }
            vec![parsed.values(&["d"]).next().unwrap_or_else(here)]
        }
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" => {
            let parsed = Options::valued("So").anywhere(words);
            if parsed.has(&["c", "l", "t", "stdout", "list", "test"]) {
                return None;
            }
            all(&parsed.operands)
        }
        "find" | "gfind" => found(run)?,
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "ld" | "rustc" | "go" => {
            compiled(run)?
        }
        "openssl" => {
            let to = after_option(run, &["-keyout", "-out"]);
            if to.is_empty() {
                return None;
            }
            to
        }
        "patch" => {
            let parsed = Options::with("BdFiopYz", &["directory", "input", "output", "strip"])
                .anywhere(words);
            if parsed.has(&["dry-run"]) {
                return None;
            }
            let mut to: Words<'a> = parsed.values(&["d", "directory", "o", "output"]).collect();
            if to.is_empty() {
                to.push(parsed.operands.first().map_or_else(here, |file| Cow::Borrowed(*file)));
            }
            to
        }
        "sort" | "pandoc" => {
            let parsed = Options::with("o", &["output"]).anywhere(words);
            let to: Words<'a> = parsed.values(&["o", "output"]).collect();
            if to.is_empty() {
                return None;
            }
            to
        }
        "git" => {
            let to = git::written(run);
            if to.is_empty() {
                return None;
            }
            to
        }
        _ => return None,
    })
}

/// All but the mode or the owner, which comes first. A mode can look like an option: `-x`.
fn after_mode<'a>(run: &Run<'a>) -> Words<'a> {
    let is_option = |word: &&Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        word.text.starts_with("--")
            || !letters.is_empty() && letters.chars().all(|letter| "RvcfhHLP".contains(letter))
    };
    let has_reference = run.arguments.iter().any(|word| word.text.starts_with("--ref"));
    let words = run.arguments.iter().filter(|word| !is_option(word));
    words.skip(usize::from(!has_reference)).map(Cow::Borrowed).collect()
}

/// The place that files are copied to, and those that are gone afterwards.
fn copied<'a>(run: &Run<'a>) -> Words<'a> {
    let options = match run.program {
        "install" => {
            Options::with("gmoSt", &["group", "mode", "owner", "suffix", "target-directory"])
        }
        _ => Options::with("St", &["suffix", "target-directory"]),
    };
    let parsed = options.anywhere(run.arguments);
    let to: Words<'a> = parsed.values(&["t", "target-directory"]).collect();
    let operands = &parsed.operands;
    let mut words = match run.program {
        "mv" => all(operands),
        "install" if parsed.has(&["d", "directory"]) => all(operands),
        _ if !to.is_empty() => Vec::new(),
        // With one name only, the link is made here.
        "ln" if operands.len() == 1 => vec![here()],
        _ => target(operands),
    };
    words.extend(to);
    words
}

/// The last one of several, if it is not on another machine.
fn target<'a>(operands: &[&'a Word]) -> Words<'a> {
    match operands {
        [_, .., last] if !is_remote(&last.text) => vec![Cow::Borrowed(*last)],
        _ => Vec::new(),
    }
}

pub(super) fn is_remote(text: &str) -> bool {
    text.find(':').is_some_and(|colon| !text.get(..colon).unwrap_or_default().contains('/'))
}

/// What a compiler makes. Its options are words: there is a letter `o` in `-flto`, too.
fn compiled<'a>(run: &Run<'a>) -> Option<Words<'a>> {
    let mut to = after_option(run, &["-o"]);
    let begins = |word: &&Word| word.text.len() > 2 && word.text.starts_with("-o");
    to.extend(
        run.arguments
            .iter()
            .filter(|word| begins(word) && word.text.contains(['/', '.']))
            .map(|word| Cow::Owned(word.after("-o".len()))),
    );
    (!to.is_empty()).then_some(to)
}

/// The words after these options.
fn after_option<'a>(run: &Run<'a>, names: &[&str]) -> Words<'a> {
    let mut found = Vec::new();
    for pair in run.arguments.windows(2) {
        if let [option, value] = pair
            && names.contains(&option.text.as_str())
        {
            found.push(Cow::Borrowed(value));
        }
    }
    found
}

/// Files that are edited in their places.
fn edited<'a>(options: &Options, run: &Run<'a>) -> Option<Words<'a>> {
    let parsed = options.anywhere(run.arguments);
    if !parsed.has(&["i", "in-place"]) {
        return None;
    }
    let has_script = parsed.has(&["e", "E", "f", "expression", "file"]);
    // On some systems the ending of the copies is a word of its own: `sed -i '' s/a/b/ x`.
    let own = usize::from(parsed.operands.first().is_some_and(|word| word.text.is_empty()));
    Some(all(parsed.operands.get(own + usize::from(!has_script)..).unwrap_or_default()))
}

/// The values of options, but for `-`, which is the output.
fn outputs<'a>(parsed: &Parsed<'a>, names: &[&str]) -> Words<'a> {
    parsed.values(names).filter(|word| word.text != "-").collect()
}

/// Options of `scp`.
pub(super) const SCP: Options = Options::valued("cDFiJloPSX");

pub(super) const fn rsync_options() -> Options {
    Options {
        long: &["delete", "delete-after", "delete-before", "delete-excluded"],
        ..Options::with(
            "BefMT",
            &["exclude", "exclude-from", "files-from", "filter", "include", "log-file", "rsh"],
        )
    }
}

pub(super) const fn curl_options() -> Options {
    Options {
        long: &["head", "remote-name", "remote-name-all"],
        ..Options::with(
            "AbCcDdEeFHKmoPQrTtUuwXxYyz",
            &[
                "cacert",
                "capath",
                "cert",
                "ciphers",
                "config",
                "connect-timeout",
                "connect-to",
                "cookie",
                "cookie-jar",
                "data",
                "data-ascii",
                "data-binary",
                "data-raw",
                "data-urlencode",
                "dump-header",
                "etag-save",
                "form",
                "form-string",
                "header",
                "interface",
                "json",
                "key",
                "limit-rate",
                "max-filesize",
                "max-redirs",
                "max-time",
                "noproxy",
                "oauth2-bearer",
                "output",
                "output-dir",
                "proto",
                "proxy",
                "proxy-user",
                "range",
                "referer",
                "request",
                "resolve",
                "retry",
                "retry-delay",
                "retry-max-time",
                "stderr",
                "trace",
                "trace-ascii",
                "unix-socket",
                "upload-file",
                "url",
                "url-query",
                "user",
                "user-agent",
                "write-out",
            ],
        )
    }
}

fn curl<'a>(run: &Run<'a>) -> Words<'a> {
    let parsed = curl_options().anywhere(run.arguments);
    let files = [
        "c",
        "cookie-jar",
        "D",
        "dump-header",
        "etag-save",
        "o",
        "output",
        "output-dir",
        "stderr",
        "trace",
        "trace-ascii",
    ];
    let mut words = outputs(&parsed, &files);
    if parsed.has(&["O", "remote-name", "remote-name-all"]) && !parsed.has(&["output-dir"]) {
        words.push(here());
    }
    words
}

pub(super) const fn wget_options() -> Options {
    Options::with(
        "aABDeiIlOoPQRtTUwX",
        &[
            "append-output",
            "body-data",
            "body-file",
            "directory-prefix",
            "header",
            "input-file",
            "load-cookies",
            "method",
            "output-document",
            "output-file",
            "password",
            "post-data",
            "post-file",
            "save-cookies",
            "timeout",
            "tries",
            "user",
            "user-agent",
        ],
    )
}

fn wget<'a>(run: &Run<'a>) -> Words<'a> {
    let parsed = wget_options().anywhere(run.arguments);
    let mut words = outputs(&parsed, &["a", "append-output", "o", "output-file", "save-cookies"]);
    let documents = ["O", "output-document"];
    if parsed.has(&documents) {
        words.extend(outputs(&parsed, &documents));
    } else if !parsed.has(&["spider"]) {
        words.push(parsed.values(&["P", "directory-prefix"]).next().unwrap_or_else(here));
    }
    words
}

/// The archive that is made, or the folder that one is taken apart in.
fn tar<'a>(run: &Run<'a>) -> Option<Words<'a>> {
    const VALUED: &str = "bCfFgHIKLNTVX";
    let options = Options {
        long: &["append", "create", "delete", "extract", "get", "list", "update"],
        ..Options::with(
            VALUED,
            &["directory", "exclude", "file", "files-from", "strip-components", "transform"],
        )
    };
    // Letters without `-` in the first word have their values in the words after it, in their order.
    let mut letters = "";
    let mut values: Vec<(char, &'a Word)> = Vec::new();
    let mut rest = run.arguments;
    if let Some((first, after)) = rest.split_first()
        && !first.text.starts_with('-')
        && !first.is_open
    {
        letters = &first.text;
        let valued = letters.chars().filter(|letter| VALUED.contains(*letter));
        values = valued.zip(after).collect();
        rest = after.get(values.len()..).unwrap_or_default();
    }
    let parsed = options.anywhere(rest);
    let does = |letter: char, names: &[&str]| letters.contains(letter) || parsed.has(names);
    let values = |letter: char, names: &[&str]| {
        let old = values.iter().filter(|(name, _)| *name == letter);
        let mut all: Words<'a> = old.map(|(_, word)| Cow::Borrowed(*word)).collect();
        all.extend(outputs(&parsed, names));
        all.retain(|word| word.text != "-");
        all
    };
    if does('x', &["x", "extract", "get"]) {
        if does('O', &["O", "to-stdout"]) {
            return None;
        }
        let to = values('C', &["C", "directory"]);
        return Some(if to.is_empty() { vec![here()] } else { to });
    }
    let changes =
        does('c', &["c", "create"]) || does('r', &["r", "append"]) || does('u', &["u", "update"]);
    changes.then(|| values('f', &["f", "file"]))
}

/// What `find` deletes, and the lists that it writes.
fn found<'a>(run: &Run<'a>) -> Option<Words<'a>> {
    let mut words = after_option(run, &["-fprint", "-fprint0", "-fprintf", "-fls"]);
    if run.arguments.iter().any(|word| word.text == "-delete") {
        let is_test = |word: &Word| word.text.starts_with(['-', '(', '!']);
        let options = Options::valued("D").leading(run.arguments);
        let first = run.arguments.iter().position(|word| !is_leading(&word.text));
        let rest = run.arguments.get(first.unwrap_or_default()..).unwrap_or_default();
        // After options of its own, `-D x` among them, come the places.
        let rest = if options.has(&["D"]) { options.rest } else { rest };
        let places: Words<'a> =
            rest.iter().take_while(|word| !is_test(word)).map(Cow::Borrowed).collect();
        words.extend(if places.is_empty() { vec![here()] } else { places });
    }
    (!words.is_empty()).then_some(words)
}

/// Whether it is an option of `find` that comes before the places.
fn is_leading(text: &str) -> bool {
    matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O")
}
