//! What is sent to other machines.

use std::borrow::Cow;

use super::content::{Contents, is_proxy};
use super::{Danger, Found, all_shown, git, shown, subcommands, write};
use crate::shell::{Command, Given, Line, Options, Parsed, Program, Run, Source, Word, is_here};

/// What makes something public, and the first word of its arguments with which it does.
const PUBLISHING: &[(&str, &str)] = &[
    ("cargo", "publish"),
    ("docker", "push"),
    ("gem", "push"),
    ("npm", "publish"),
    ("pnpm", "publish"),
    ("podman", "push"),
    ("poetry", "publish"),
    ("twine", "upload"),
    ("uv", "publish"),
    ("yarn", "publish"),
];

/// Programs that send mail.
const MAIL: &[&str] = &["mail", "mailx", "msmtp", "mutt", "sendmail", "swaks"];

/// What a program sends, and the machines that it sends it to, as far as they are known.
struct Sent<'a> {
    what: Vec<String>,
    to: Vec<Cow<'a, Word>>,
}

impl Found {
    pub(super) fn sends(
        &mut self,
        line: &Line,
        command: &Command,
        run: &Run<'_>,
        contents: &Contents,
    ) {
        let words = subcommands(run);
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        if is_tried(run) {
            return;
        }
        if PUBLISHING.contains(&(run.program, text(0))) {
            let text = format!("publishes something ({} {})", run.program, text(0));
            return self.add(Danger::Sends, text);
        }
        if run.program == "gh"
            && (text(0) == "gist" && matches!(text(1), "create" | "edit")
                || text(0) == "release" && text(1) == "upload")
        {
            let text = format!("publishes files on GitHub (gh {} {})", text(0), text(1));
            return self.add(Danger::Sends, text);
        }
        let has_option = |names: &[&str]| {
            run.arguments.iter().any(|word| names.iter().any(|name| word.text.starts_with(name)))
        };
        if MAIL.contains(&run.program)
            && (command.input.is_some() || has_option(&["-a", "-A", "--at"]))
        {
            return self.add(Danger::Sends, format!("sends mail (with {})", run.program));
        }
        let read = || contents.read(line, command);
        let sent = match run.program {
            "curl" => curl(run, contents, read),
            "wget" => wget(run, contents, read),
            "http" | "https" | "xh" => httpie(&words, contents, read),
            "nc" | "ncat" | "netcat" | "telnet" => netcat(run, read),
            "socat" => socat(&words, read),
            "dig" | "drill" | "host" | "nslookup" | "ping" => Sent {
                what: within(run, run.arguments.iter(), |word| contents.has_file(word)),
                to: Vec::new(),
            },
            // What a shell there reads is told as what it runs.
            "ssh" if command_of_ssh(run).len() > 1 => Sent {
                what: read().into_iter().collect(),
                to: command_of_ssh(run).first().map(Cow::Borrowed).into_iter().collect(),
            },
            "ftp" | "lftp" | "sftp" | "tftp" => {
                if command.input.is_some() || has_option(&["-b", "-c", "-e", "-f"]) {
                    let text = format!("can send files to another machine (with {})", run.program);
                    self.add(Danger::Sends, text);
                }
                return;
            }
            _ => copied(run, &words),
        };
        if sent.what.is_empty() {
            return;
        }
        let is_led = is_led_elsewhere(command, contents);
        if stays_here(&sent.to, command, contents) {
            return;
        }
        let to = sent.to.iter().find(|to| is_led || !is_this(to)).and_then(|to| host(&to.text));
        let to = to.map_or("another machine".into(), |(host, _)| shown(host));
        for what in sent.what {
            self.add(Danger::Sends, format!("sends {what} to {to} (with {})", run.program));
        }
    }

    /// A file that stands for a connection: `/dev/tcp/x.example/80`. Whether it is one.
    pub(super) fn connection(&mut self, target: &Word) -> bool {
        let Some(rest) = connected(&target.text) else { return false };
        let host = rest.split('/').next().unwrap_or_default();
        if target.hole.is_some() || !is_here(host) {
            let text =
                format!("sends what it writes to {} (with {})", shown(host), shown(&target.text));
            self.add(Danger::Sends, text);
        }
        true
    }

    /// A program that runs others for whoever it is connected to.
    pub(super) fn serves(&mut self, run: &Run<'_>, redirects: &[&Word]) {
        let runs = match run.program {
            "nc" | "ncat" | "netcat" => {
                netcat_options(run).has(&["e", "c", "exec", "sh-exec", "lua-exec"])
            }
            "socat" => run.arguments.iter().any(|word| {
                let kind = word.text.split(':').next().unwrap_or_default().to_ascii_lowercase();
                matches!(kind.as_str(), "exec" | "shell" | "system")
            }),
            _ => false,
        };
        let is_shell = || {
            Program::of(run)
                .is_some_and(|program| program.is_shell && matches!(program.source, Source::Input))
        };
        if runs || redirects.iter().any(|file| connected(&file.text).is_some()) && is_shell() {
            let text =
                format!("runs programs for whoever it is connected to (with {})", run.program);
            self.add(Danger::RunsInput, text);
        }
    }
}

/// What comes after the beginning of a file that stands for a connection.
pub(super) fn connected(file: &str) -> Option<&str> {
    file.strip_prefix("/dev/tcp/").or_else(|| file.strip_prefix("/dev/udp/"))
}

fn is_tried(run: &Run<'_>) -> bool {
    run.arguments.iter().any(|word| word.text.starts_with("--dry-run") || word.text == "--dryrun")
}

/// What is put into words, in words.
fn within<'a>(
    run: &Run<'_>,
    mut words: impl Iterator<Item = &'a Word>,
    is_in: impl Fn(&Word) -> bool,
) -> Vec<String> {
    let is_given = |word: &Word| run.given != Given::Nothing && run.is_marked(word);
    let has = words.any(|word| is_in(word) || is_given(word));
    has.then(|| "what another command writes".to_owned()).into_iter().collect()
}

/// A file that is named, or what is read by that name.
fn file(name: &str, read: impl Fn() -> Option<String>) -> Option<String> {
    match name {
        "-" | "." | "/dev/stdin" => read(),
        _ => Some(shown(name).into_owned()),
    }
}

fn curl<'a>(run: &Run<'a>, contents: &Contents, read: impl Fn() -> Option<String>) -> Sent<'a> {
    let parsed = write::curl_options().anywhere(run.arguments);
    let mut what = Vec::new();
    let mut data: Vec<&Word> = Vec::new();
    for option in &parsed.options {
        let Some(value) = option.value.as_deref() else { continue };
        let text = value.text.as_str();
        let named = match option.name {
            "d" | "data" | "data-ascii" | "data-binary" | "json" | "H" | "header" => {
                text.strip_prefix('@')
            }
            "data-urlencode" | "url-query" => {
                text.split_once('@').filter(|(name, _)| !name.contains('=')).map(|(_, file)| file)
            }
            "F" | "form" => {
                let value = text.split_once('=').map_or("", |(_, value)| value);
                let value = value.split(';').next().unwrap_or_default();
                value.strip_prefix(['@', '<'])
            }
            "T" | "upload-file" => Some(text),
            _ => None,
        };
        match named {
            Some(name) => what.extend(file(name, &read)),
            None if is_data(option.name) => data.push(value),
            None => {}
        }
    }
    let mut put_in = within(run, data.into_iter(), |word| contents.is_in(word));
    if put_in.is_empty() {
        put_in = within(run, run.arguments.iter(), |word| contents.has_file(word));
        if run.given != Given::Nothing {
            // An address that is given is no data.
            put_in.clear();
        }
    }
    what.extend(put_in);
    let to = parsed.operands.iter().map(|word| Cow::Borrowed(*word));
    Sent { what, to: to.chain(parsed.values(&["url"])).collect() }
}

fn is_data(option: &str) -> bool {
    matches!(option, "d" | "json" | "F" | "url-query")
        || option.starts_with("data")
        || option.starts_with("form")
}

fn wget<'a>(run: &Run<'a>, contents: &Contents, read: impl Fn() -> Option<String>) -> Sent<'a> {
    let parsed = write::wget_options().anywhere(run.arguments);
    let files = parsed.values(&["post-file", "body-file"]);
    let mut what: Vec<String> = files.filter_map(|name| file(&name.text, &read)).collect();
    let data: Vec<Cow<'_, Word>> = parsed.values(&["post-data", "body-data"]).collect();
    let is_in = |word: &Word| contents.is_in(word);
    what.extend(within(run, data.iter().map(|word| &**word), is_in));
    if what.is_empty() && run.arguments.iter().any(|word| contents.has_file(word)) {
        what.push("what another command writes".to_owned());
    }
    Sent { what, to: parsed.operands.iter().map(|word| Cow::Borrowed(*word)).collect() }
}

/// `http POST x.example a@file b=@file c=d`.
fn httpie<'a>(
    words: &[&'a Word],
    contents: &Contents,
    read: impl Fn() -> Option<String>,
) -> Sent<'a> {
    let is_method = |word: &Word| word.text.chars().all(|letter| letter.is_ascii_uppercase());
    let at = usize::from(words.first().is_some_and(|word| is_method(word)));
    let Some((to, items)) = words.get(at..).and_then(<[_]>::split_first) else {
        return Sent { what: Vec::new(), to: Vec::new() };
    };
    let mut what: Vec<String> = read().into_iter().collect();
    for word in items {
        if let Some((name, path)) = word.text.split_once('@')
            && (name.ends_with('=') || !name.contains(['=', ':']))
        {
            what.push(shown(path).into_owned());
        } else if contents.is_in(word) {
            what.push("what another command writes".to_owned());
        }
    }
    Sent { what, to: vec![Cow::Borrowed(*to)] }
}

fn netcat_options<'a>(run: &Run<'a>) -> Parsed<'a> {
    Options::with("ceIimMOpqsTVwXx", &["exec", "lua-exec", "sh-exec", "proxy", "wait", "source"])
        .anywhere(run.arguments)
}

fn netcat<'a>(run: &Run<'a>, read: impl Fn() -> Option<String>) -> Sent<'a> {
    let parsed = netcat_options(run);
    let to: Vec<_> = parsed.operands.iter().take(1).map(|word| Cow::Borrowed(*word)).collect();
    // With `-l` it is whoever comes.
    let listens = parsed.has(&["l", "listen"]);
    let is_quiet = parsed.has(&["U", "z"]) || to.is_empty() && !listens;
    let what = if is_quiet { None } else { read() };
    Sent { what: what.into_iter().collect(), to: if listens { Vec::new() } else { to } }
}

fn socat<'a>(words: &[&'a Word], read: impl Fn() -> Option<String>) -> Sent<'a> {
    let kind = |word: &Word| word.text.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let is_net = |word: &&&Word| {
        let names = ["openssl", "proxy", "sctp", "socks", "ssl", "tcp", "udp", "vsock"];
        names.iter().any(|name| kind(word).starts_with(name))
    };
    let mut what = Vec::new();
    let net: Vec<&'a Word> = words.iter().filter(is_net).copied().collect();
    if !net.is_empty() {
        for word in words {
            match kind(word).as_str() {
                "-" | "stdin" | "stdio" => what.extend(read()),
                "file" | "open" | "gopen" => what.push(shown(&word.text).into_owned()),
                _ => {}
            }
        }
    }
    // The host is behind the kind: `TCP:x.example:80`.
    let to = net.into_iter().map(|word| {
        let at = word.text.find(':').map_or(0, |at| at + 1);
        Cow::Owned(word.after(at))
    });
    Sent { what, to: to.collect() }
}

/// The host that ssh goes to, and the command that it runs there.
fn command_of_ssh<'a>(run: &Run<'a>) -> &'a [Word] {
    Options::valued("BbcDEeFIiJLlmOoPpQRSWw").leading(run.arguments).rest
}

/// What is copied to another machine by programs that copy, or by git.
fn copied<'a>(run: &Run<'a>, words: &[&'a Word]) -> Sent<'a> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let is_bucket =
        |word: &Word| ["s3://", "gs://", "https://"].iter().any(|kind| word.text.starts_with(kind));
    let operands: Vec<&'a Word> = match run.program {
        "rsync" => {
            let parsed = write::rsync_options().anywhere(run.arguments);
            if parsed.has(&["n"]) { Vec::new() } else { parsed.operands }
        }
        "scp" => write::SCP.anywhere(run.arguments).operands,
        "rclone" | "azcopy" | "kubectl" | "oc" | "croc" | "wormhole" | "s3cmd" | "az"
        | "gsutil" => words.to_vec(),
        "aws" | "gcloud" => words.get(1..).unwrap_or_default().to_vec(),
        "git" => return pushed(run),
        _ => Vec::new(),
    };
    let Some((last, before)) = operands.split_last() else {
        return Sent { what: Vec::new(), to: Vec::new() };
    };
    let (first, second) = (text(0), text(1));
    // How many words come before the files.
    let (own, is_sent) = match run.program {
        "rsync" | "scp" => (0, write::is_remote(&last.text)),
        "rclone" => {
            let copies = matches!(first, "copy" | "copyto" | "move" | "moveto" | "rcat" | "sync");
            (1, copies && write::is_remote(&last.text))
        }
        "kubectl" | "oc" => (1, first == "cp" && write::is_remote(&last.text)),
        "aws" if first == "s3" => (1, matches!(second, "cp" | "mv" | "sync") && is_bucket(last)),
        "aws" => (usize::MAX, first == "s3api" && second == "put-object"),
        "gcloud" => {
            (1, first == "storage" && matches!(second, "cp" | "mv" | "rsync") && is_bucket(last))
        }
        "gsutil" => (1, matches!(first, "cp" | "mv" | "rsync") && is_bucket(last)),
        "s3cmd" => (1, matches!(first, "put" | "sync") && is_bucket(last)),
        "azcopy" => (1, matches!(first, "copy" | "sync") && is_bucket(last)),
        "az" => {
            (usize::MAX, words.iter().any(|word| matches!(&*word.text, "upload" | "upload-batch")))
        }
        "croc" | "wormhole" => (usize::MAX, first == "send"),
        _ => (0, false),
    };
    if !is_sent {
        return Sent { what: Vec::new(), to: Vec::new() };
    }
    let files = before.get(own..).unwrap_or_default();
    let what = if files.is_empty() { "files".to_owned() } else { all_shown(files) };
    let to = if own == usize::MAX { Vec::new() } else { vec![Cow::Borrowed(*last)] };
    Sent { what: vec![what], to }
}

/// A repository that is sent to an address, and not to one of those that it has a name for.
fn pushed<'a>(run: &Run<'a>) -> Sent<'a> {
    let is_address = |word: &&Word| word.text.contains("://") || write::is_remote(&word.text);
    let to = git::pushed_to(run).filter(is_address);
    let what = to.map(|_| "the repository".to_owned()).into_iter().collect();
    Sent { what, to: to.map(Cow::Borrowed).into_iter().collect() }
}

/// The host of an address, and where in the address it ends.
fn host(address: &str) -> Option<(&str, usize)> {
    let begin = address.find("://").map_or(0, |at| at + "://".len());
    let rest = address.get(begin..)?;
    let length = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..length)?;
    let host = authority.rsplit('@').next()?;
    let end = if host.starts_with('[') { host.find(']').map(|at| at + 1) } else { host.find(':') };
    let host = host.get(..end.unwrap_or(host.len()))?;
    Some((host, begin + length))
}

/// Whether all of these addresses are of this machine, and there is one.
pub(super) fn stays_here(to: &[Cow<'_, Word>], command: &Command, contents: &Contents) -> bool {
    !to.is_empty() && to.iter().all(|to| is_this(to)) && !is_led_elsewhere(command, contents)
}

/// Whether an address is of this machine.
fn is_this(to: &Word) -> bool {
    let host = host(&to.text).filter(|(host, _)| is_here(host));
    host.is_some_and(|(_, end)| to.hole.is_none_or(|at| at > end))
}

/// Whether an address of this machine could be led to another one.
fn is_led_elsewhere(command: &Command, contents: &Contents) -> bool {
    if contents.sets_proxy {
        return true;
    }
    let is_curl = command.words.iter().any(|word| word.text.ends_with("curl"));
    command.words.iter().any(|word| {
        let text = word.text.as_str();
        let is_short =
            text.starts_with('-') && !text.starts_with("--") && text.contains(['x', 'K']);
        let names = ["--connect-to", "--config", "--preproxy", "--proxy", "--resolve", "--socks"];
        is_curl && (is_short || names.iter().any(|name| text.starts_with(name)))
            || text.split('=').next().is_some_and(is_proxy)
    })
}
