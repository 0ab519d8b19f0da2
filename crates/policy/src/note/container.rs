//! What a container is given of the machine, and files that run with the rights of their owner.

use super::folder::{Folders, Where};
use super::{Danger, Found, all_shown, operands, shown};
use crate::shell::{CONTAINER, Container, Parsed, Run, Word};

/// Words that come before the options of what is done with a container.
const BEFORE: &[&str] = &["build", "buildx", "compose", "container", "create", "exec", "run"];

/// Rights with which a program in a container can do anything to the machine.
const RIGHTS: &[&str] =
    &["ALL", "BPF", "DAC_READ_SEARCH", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO"];

/// Sockets of what runs containers.
const SOCKETS: &[&str] = &["containerd.sock", "docker.sock", "podman.sock"];

impl Found {
    /// What a container can do to the machine that it runs on.
    pub(super) fn container(&mut self, run: &Run<'_>, folders: &Folders<'_>) {
        let known = if CONTAINER.names.contains(&run.program) {
            Some(Container { arguments: run.arguments })
        } else {
            run.container
        };
        let Some(container) = known else { return };
        let mut words = container.arguments;
        loop {
            let parsed = CONTAINER.options.leading(words);
            self.given_rights(&parsed);
            for volume in parsed.values(&["v", "volume"]) {
                let end = volume.text.find(':');
                let is_read = volume.text.split(':').nth(2).is_some_and(is_read_only);
                if let Some(end) = end {
                    self.mount(&until(&volume, end), is_read, run, folders);
                }
            }
            for mount in parsed.values(&["mount"]) {
                let is_read = mount.text.split(',').any(is_read_only);
                let source = ["source=", "src="].iter().find_map(|name| {
                    let at = mount.text.find(name)? + name.len();
                    let path = mount.after(at);
                    let end = path.text.find(',').unwrap_or(path.text.len());
                    Some(until(&path, end))
                });
                if let Some(source) = source {
                    self.mount(&source, is_read, run, folders);
                }
            }
            match parsed.rest.split_first() {
                Some((first, rest)) if BEFORE.contains(&first.text.as_str()) => words = rest,
                _ => break,
            }
        }
    }

    fn given_rights(&mut self, parsed: &Parsed<'_>) {
        let mut rights = Vec::new();
        for option in &parsed.options {
            let value = option.value.as_ref().map_or("", |value| value.text.as_str());
            let is_given = match option.name {
                "privileged" => value != "false",
                "pid" | "net" | "network" | "ipc" | "uts" | "userns" => value == "host",
                "cap-add" => {
                    let name = value.to_ascii_uppercase();
                    RIGHTS.contains(&name.strip_prefix("CAP_").unwrap_or(&name))
                }
                "security-opt" => value.ends_with("unconfined") || value.ends_with("disable"),
                "device" => ["/dev/sd", "/dev/nvme", "/dev/vd", "/dev/mem", "/dev/kmem"]
                    .iter()
                    .any(|device| value.starts_with(device)),
                _ => false,
            };
            if is_given {
                let value = if value.is_empty() { String::new() } else { format!("={value}") };
                rights.push(format!("--{}{value}", option.name));
            }
        }
        for right in rights {
            let text = format!("gives a container rights on the machine ({})", shown(&right));
            self.add(Danger::Unguarded, text);
        }
    }

    fn mount(&mut self, source: &Word, is_read: bool, run: &Run<'_>, folders: &Folders<'_>) {
        // All else is the name of a volume.
        let is_path = source.text.starts_with(['/', '.', '~']) || source.hole == Some(0);
        if !is_path {
            return;
        }
        if SOCKETS.iter().any(|socket| source.text.ends_with(socket)) {
            let text = format!(
                "gives a container all containers of the machine ({})",
                shown(&source.text)
            );
            return self.add(Danger::Unguarded, text);
        }
        let is_root = folders.paths(source).iter().any(|path| path.parent().is_none());
        if is_root {
            return self.add(Danger::Unguarded, "gives a container all files of the machine");
        }
        if is_read {
            return;
        }
        // The folder is the one that the container is begun in, and not the one in it.
        let begun_in = if run.container.is_some() { None } else { run.folder.as_deref() };
        match folders.place_of(source, begun_in) {
            Where::Nowhere | Where::Inside => {}
            Where::Outside | Where::Disk => {
                let text = format!("lets a container change {}", shown(&source.text));
                self.add(Danger::Outside, format!("{text}, outside the folder of the session"));
            }
            Where::Unknown => {
                let text = format!("lets a container change {}", shown(&source.text));
                self.add(
                    Danger::Opaque,
                    format!("{text}, in a place that is only known when it runs"),
                );
            }
        }
    }

    /// Files that run with the rights of their owner, or with more than those of whoever runs them.
    pub(super) fn raises(&mut self, run: &Run<'_>) {
        match run.program {
            "chmod" if run.arguments.iter().any(|word| is_raising(&word.text)) => {
                let text = "lets a program run with the rights of its owner (chmod)";
                self.add(Danger::Privilege, text);
            }
            "install" => {
                let mode = |pair: &[Word]| match pair {
                    [option, mode] => option.text == "-m" && is_raising(&mode.text),
                    _ => false,
                };
                let is_joined = |word: &Word| {
                    let text = word.text.strip_prefix("--mode=").or(word.text.strip_prefix("-m"));
                    text.is_some_and(is_raising)
                };
                if run.arguments.windows(2).any(mode) || run.arguments.iter().any(is_joined) {
                    let text = "lets a program run with the rights of its owner (install)";
                    self.add(Danger::Privilege, text);
                }
            }
            "setcap" if !run.arguments.iter().any(|word| word.text == "-r") => {
                let files = operands(run);
                let files = all_shown(files.get(1..).unwrap_or_default());
                self.add(
                    Danger::Privilege,
                    format!("gives rights on the machine to {files} (setcap)"),
                );
            }
            _ => {}
        }
    }
}

fn is_read_only(option: &str) -> bool {
    option.split(',').any(|option| matches!(option, "ro" | "readonly" | "readonly=true"))
}

/// What of a word stands before this byte.
fn until(word: &Word, end: usize) -> Word {
    Word {
        text: word.text.get(..end).unwrap_or_default().to_owned(),
        hole: word.hole.filter(|hole| *hole < end),
        ..word.clone()
    }
}

/// Whether a mode is one with which a file runs with the rights of its owner.
fn is_raising(mode: &str) -> bool {
    if mode.bytes().all(|digit| digit.is_ascii_digit()) {
        let digits = mode.trim_start_matches('0');
        return digits.len() == 4 && digits.starts_with(['4', '5', '6', '7']);
    }
    mode.split(',').any(|part| {
        let (who, letters) = part.split_once(['+', '=']).unwrap_or_default();
        letters.contains('s')
            && (who.is_empty() || who.contains(['u', 'a']))
            && who.bytes().all(|letter| b"ugoa".contains(&letter))
            && letters.bytes().all(|letter| b"rwxXst".contains(&letter))
    })
}
