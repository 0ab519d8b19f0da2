//! Secrets: where they are kept, and what shows them.

use super::{Danger, Found, operands, shown};
use crate::shell::{Command, Options, Run};

/// Files and folders in which secrets are kept, by the ends of their paths or parts of them.
const PLACES: &[&str] = &[
    ".aws",
    ".azure",
    ".claude/.credentials.json",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".credentials.json",
    ".docker/config.json",
    ".git-credentials",
    ".gnupg",
    ".htpasswd",
    ".kube/config",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".vault-token",
    "/etc/gshadow",
    "/etc/shadow",
    "/run/secrets",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
];

/// How the names of files end in which there are keys.
const KEYS: &[&str] = &[".jks", ".keystore", ".p12", ".pem", ".pfx"];

/// Endings of the parts of names of variables that hold secrets.
const NAMES: &[&str] = &[
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "SECRET",
    "SECRETS",
    "TOKEN",
];

/// Parts of names of variables that hold keys, next to each other.
const KEY_NAMES: &[&str] = &["ACCESS_KEY", "API_KEY", "PRIVATE_KEY", "SECRET_KEY", "SIGNING_KEY"];

impl Found {
    /// What a program shows of its environment.
    pub(super) fn shows(&mut self, run: &Run<'_>) {
        let is_alone = || operands(run).is_empty();
        match run.program {
            "env" => {
                let options = Options::with("CPSu", &["chdir", "split-string", "unset"]);
                let parsed = options.leading(run.arguments);
                if !parsed.has(&["S", "split-string", "help", "version"]) {
                    self.environment();
                }
            }
            "set" if run.arguments.is_empty() => self.environment(),
            "printenv" if !is_alone() => {
                let names: Vec<String> =
                    operands(run).iter().map(|word| word.text.clone()).collect();
                self.variables(&names);
            }
            // With `-f` they are about functions.
            "printenv" | "export" | "declare" | "typeset" | "readonly"
                if is_alone() && !Options::NONE.leading(run.arguments).has(&["f", "F"]) =>
            {
                self.environment();
            }
            _ => {}
        }
    }

    /// What a command names. What it only shows, or looks for, it does not open.
    pub(super) fn secrets(&mut self, command: &Command, runs: &[Run<'_>]) {
        let Some(run) = runs.first() else { return };
        let pattern = match run.program {
            "echo" | "printf" => return,
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => operands(run).first().copied(),
            _ => None,
        };
        for word in &command.words {
            let is_left_out = ["--exclude", "--ignore"].iter().any(|o| word.text.starts_with(o));
            let is_pattern = pattern.is_some_and(|pattern| std::ptr::eq(word, pattern));
            if !is_left_out && !is_pattern {
                self.secret_path(&word.text);
            }
        }
    }

    fn environment(&mut self) {
        self.add(Danger::Secret, "shows all variables of the environment, secrets among them");
    }

    pub(super) fn secret_path(&mut self, path: &str) {
        // A path can stand in a word with other things: `-d @x`, `--file=x`, `host:x`.
        if path.split(['=', ':', '@', ',']).any(is_secret) {
            let text = format!("is about {}, where secrets are usually kept", shown(path));
            self.add(Danger::Secret, text);
        }
    }

    pub(super) fn variables(&mut self, names: &[String]) {
        for variable in names {
            let name = variable.to_ascii_uppercase();
            let mut parts = name.split('_');
            if parts.any(|part| NAMES.iter().any(|end| part.ends_with(end)))
                || KEY_NAMES.iter().any(|part| name.contains(part))
            {
                let text = format!("uses ${}, which looks like a secret", shown(variable));
                self.add(Danger::Secret, text);
            }
        }
    }
}

fn is_secret(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let is_public = file.ends_with(".pub");
    let is_example =
        [".example", ".sample", ".template", ".dist"].iter().any(|end| file.ends_with(end));
    let is_environment = file == ".env" || file.starts_with(".env.") && !is_example;
    let is_process = path.starts_with("/proc/") && path.ends_with("/environ");
    let is_key = KEYS.iter().any(|end| file.ends_with(end) && file.len() > end.len());
    let is_place = || PLACES.iter().any(|place| has_part(path, place));
    !is_public && (is_environment || is_process || is_key || is_place())
}

/// Whether a path has these names next to each other, from a `/` to a `/`.
fn has_part(path: &str, part: &str) -> bool {
    path.match_indices(part).any(|(at, _)| {
        let before = path.get(..at).unwrap_or_default();
        let after = path.get(at + part.len()..).unwrap_or_default();
        let begins = if part.starts_with('/') {
            before.is_empty()
        } else {
            before.is_empty() || before.ends_with('/')
        };
        begins && (after.is_empty() || after.starts_with('/'))
    })
}
