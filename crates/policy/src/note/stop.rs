//! What ends programs, services, or the machine.

use std::collections::HashMap;

use super::{Danger, Found, all_shown, subcommands};
use crate::shell::{Given, Line, Options, Run, Step, Word};

/// What ends the machine, or all sessions on it.
const MACHINE: &[&str] = &["halt", "poweroff", "reboot", "shutdown"];

/// What `systemctl` does that ends services, or keeps them from beginning.
const SERVICES: &[&str] = &["disable", "isolate", "kill", "mask", "stop"];

/// The same of the machine.
const POWER: &[&str] =
    &["emergency", "halt", "hibernate", "kexec", "poweroff", "reboot", "rescue", "suspend"];

/// Variables that only ever have the number of a command that the line itself has begun.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    variables: HashMap<String, bool>,
}

impl Jobs {
    pub(super) fn of(line: &Line) -> Self {
        let mut jobs = Self::default();
        for step in &line.steps {
            if let Step::Set { name, values } = step {
                let are_jobs = values.iter().all(|value| is_job(&value.text));
                *jobs.variables.entry(name.clone()).or_insert(true) &= are_jobs;
            }
        }
        jobs
    }

    /// Whether a word names such a command.
    fn has(&self, text: &str) -> bool {
        let name = text.strip_prefix('$').unwrap_or_default();
        let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
        is_job(text) || self.variables.get(name) == Some(&true)
    }
}

impl Found {
    pub(super) fn stops(&mut self, jobs: &Jobs, run: &Run<'_>) {
        let words = subcommands(run);
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let has =
            |wanted: &[&str]| run.arguments.iter().any(|word| wanted.contains(&word.text.as_str()));
        match run.program {
            "kill" | "killall" | "pkill" | "skill" => self.kills(jobs, run),
            "fuser" if Options::valued("n").anywhere(run.arguments).has(&["k", "kill"]) => {
                self.processes(run, "those that use a file");
            }
            "taskkill" | "xkill" => self.processes(run, &all_shown(&words)),
            "tmux" if matches!(text(0), "kill-server" | "kill-session") => {
                self.processes(run, "those in a terminal");
            }
            name if MACHINE.contains(&name) && !has(&["-c", "--help", "--show"]) => {
                self.machine(run);
            }
            "init" | "telinit" if matches!(text(0), "0" | "1" | "6" | "S") => self.machine(run),
            "systemctl" | "loginctl" => {
                let options = Options::with(
                    "HMnopst",
                    &["host", "machine", "output", "property", "root", "signal", "type"],
                );
                let words = options.anywhere(run.arguments).operands;
                let Some((first, units)) = words.split_first() else { return };
                match first.text.as_str() {
                    name if POWER.contains(&name) => self.machine(run),
                    name if run.program == "systemctl" && SERVICES.contains(&name)
                        || name.starts_with("kill-")
                        || name.starts_with("terminate-") =>
                    {
                        self.services(run, name, units);
                    }
                    _ => {}
                }
            }
            "service" | "rc-service" if text(1) == "stop" => {
                self.services(run, "stop", words.get(..1).unwrap_or_default());
            }
            "launchctl"
                if matches!(
                    text(0),
                    "bootout" | "disable" | "kill" | "remove" | "stop" | "unload"
                ) =>
            {
                self.services(run, text(0), words.get(1..).unwrap_or_default());
            }
            _ => {}
        }
    }

    /// What is not one of the commands that the line itself has begun.
    fn kills(&mut self, jobs: &Jobs, run: &Run<'_>) {
        let is_asked =
            |word: &Word| matches!(&*word.text, "-0" | "-l" | "-L" | "--list" | "--table");
        if run.arguments.first().is_some_and(is_asked) {
            return;
        }
        let words: Vec<&Word> = if run.program == "kill" {
            // A number with a `-` is a signal where it comes first, and a group of processes behind it.
            let own = match run.arguments.first().map(|word| word.text.as_str()) {
                Some("-s" | "-n" | "--signal") => 2,
                Some(text) => usize::from(text.starts_with('-')),
                None => 0,
            };
            run.arguments.iter().skip(own).filter(|word| word.text != "--").collect()
        } else {
            let options = Options::with("FGgPstUu", &["parent", "pidfile", "signal", "user"]);
            options.anywhere(run.arguments).operands
        };
        if run.program == "kill"
            && !words.is_empty()
            && words.iter().all(|word| jobs.has(&word.text))
        {
            return;
        }
        let what = match run.given {
            Given::Nothing if run.arguments.is_empty() => return,
            Given::Nothing if words.is_empty() => {
                all_shown(&run.arguments.iter().collect::<Vec<_>>())
            }
            _ if words.is_empty() => "those that it is given".to_owned(),
            _ => all_shown(&words),
        };
        self.processes(run, &what);
    }

    fn processes(&mut self, run: &Run<'_>, what: &str) {
        self.add(Danger::Stops, format!("ends processes: {what} (with {})", run.program));
    }

    fn services(&mut self, run: &Run<'_>, does: &str, units: &[&Word]) {
        let text = format!("ends services: {} ({} {does})", all_shown(units), run.program);
        self.add(Danger::Stops, text);
    }

    fn machine(&mut self, run: &Run<'_>) {
        self.add(
            Danger::Stops,
            format!("ends the machine, or all that runs on it ({})", run.program),
        );
    }
}

/// Whether it names a command that this shell has begun.
fn is_job(text: &str) -> bool {
    matches!(text, "$!" | "${!}") || text.starts_with('%')
}
