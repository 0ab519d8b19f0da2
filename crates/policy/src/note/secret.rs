//! Secrets: where they are kept, and what shows them.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Danger, Found, operands, shown, subcommands};
use crate::shell::{Command, Options, Run, Word};

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
const KEYS: &[&str] = &[".jks", ".key", ".keystore", ".p12", ".pem", ".pfx"];

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

/// Whole parts of names of variables that hold secrets.
const PARTS: &[&str] = &["PASS"];

/// Parts of names of variables that are about a secret, and are none.
const ABOUT: &[&str] = &[
    "BUDGET", "COUNT", "COUNTS", "ENDPOINT", "LEN", "LENGTH", "LIMIT", "SIZE", "TTL", "TYPE",
    "URL", "USAGE",
];

/// What comes before `_KEY` in names of variables that are no secrets.
const NO_SECRETS: &[&str] = &[
    "CACHE",
    "FOREIGN",
    "HASH",
    "HOST",
    "INDEX",
    "MAP",
    "OBJECT",
    "PARTITION",
    "PRIMARY",
    "PUBLIC",
    "S3",
    "SORT",
    "UNIQUE",
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

    /// What a program says that keeps secrets.
    pub(super) fn tells(&mut self, run: &Run<'_>) {
        let words = subcommands(run);
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.text.as_str()));
        let shows =
            || run.arguments.iter().any(|word| matches!(&*word.text, "-t" | "--show-token"));
        let is_told = match (run.program, text(0), text(1)) {
            ("gh", "auth", "token") | ("op", "read", _) | ("pass", "show", _) => true,
            ("gh", "auth", "status") => shows(),
            ("kubectl" | "oc", ..) if has(&["get"]) => {
                let is_shown = run
                    .arguments
                    .iter()
                    .any(|word| word.text.starts_with("-o") || word.text.starts_with("--output"));
                is_shown
                    && words.iter().any(|word| {
                        let kind = word.text.split('/').next().unwrap_or_default();
                        kind.split(',').any(|kind| matches!(kind, "secret" | "secrets"))
                    })
            }
            ("aws", "configure", "get" | "export-credentials")
            | ("aws", "secretsmanager", "get-secret-value")
            | ("aws", "sts", "assume-role" | "get-session-token") => true,
            ("gcloud", "auth", _) => has(&["print-access-token", "print-identity-token"]),
            ("vault", "kv", "get") | ("vault", "read", _) => true,
            ("security", "find-generic-password" | "find-internet-password", _) => true,
            _ => false,
        };
        if is_told {
            let said: Vec<&str> =
                [run.program, text(0), text(1)].into_iter().filter(|t| !t.is_empty()).collect();
            self.add(Danger::Secret, format!("shows secrets ({})", shown(&said.join(" "))));
        }
    }

    /// What a command names. What it only shows, looks for or asks about, it does not open.
    pub(super) fn secrets(&mut self, command: &Command, runs: &[Run<'_>]) {
        let Some(run) = runs.first() else { return };
        let passed_over: HashSet<*const Word> = match run.program {
            "echo" | "printf" | "test" | "[" | "ls" | "stat" | "touch" => return,
            "grep" | "egrep" | "fgrep" => patterns(run, "ABCDdefm"),
            "rg" | "ag" | "ack" => patterns(run, "ABCEefgjMmrTt"),
            "jq" | "yq" => operands(run).into_iter().take(1).collect(),
            "find" | "gfind" | "bfs" => {
                let names = ["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"];
                let pairs = run.arguments.windows(2).filter(|pair| {
                    pair.first().is_some_and(|option| names.contains(&option.text.as_str()))
                });
                pairs.filter_map(|pair| pair.get(1)).collect()
            }
            // What they write is not read.
            "cp" | "mv" | "install" => {
                let to = operands(run).into_iter().skip(1).last();
                to.into_iter().filter(|word| is_environment(&word.text)).collect()
            }
            _ => Vec::new(),
        }
        .into_iter()
        .map(std::ptr::from_ref)
        .collect();
        for word in &command.words {
            let is_left_out = ["!", "--exclude", "--ignore", "--regexp="]
                .iter()
                .any(|o| word.text.starts_with(o));
            if !is_left_out && !passed_over.contains(&std::ptr::from_ref(word)) {
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
        for variable in names.iter().filter(|name| is_secret_name(name)) {
            let text = format!("uses ${}, which looks like a secret", shown(variable));
            self.add(Danger::Secret, text);
        }
    }
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts: Vec<&str> = name.split('_').collect();
    if parts.last().is_some_and(|last| ABOUT.contains(last)) {
        return false;
    }
    let is_key = || match parts.as_slice() {
        [.., before, "KEY"] => !NO_SECRETS.contains(before),
        _ => false,
    };
    let is_part = |part: &&str| PARTS.contains(part);
    parts.iter().any(|part| NAMES.iter().any(|end| part.ends_with(end)))
        || KEY_NAMES.iter().any(|part| name.contains(part))
        || parts.len() > 1 && parts.iter().any(is_part)
        || is_key()
}

/// The words of a search that say what is looked for.
fn patterns<'a>(run: &Run<'a>, valued: &'static str) -> Vec<&'a Word> {
    let names = &[
        "after-context",
        "before-context",
        "context",
        "file",
        "glob",
        "max-count",
        "regexp",
        "type",
    ];
    let parsed = Options::with(valued, names).anywhere(run.arguments);
    let given = parsed.options.iter().filter(|option| matches!(option.name, "e" | "regexp"));
    let mut patterns: Vec<&Word> = given
        .filter_map(|option| match option.value {
            Some(Cow::Borrowed(word)) => Some(word),
            _ => None,
        })
        .collect();
    if !parsed.has(&["e", "f", "file", "regexp"]) {
        patterns.extend(parsed.operands.first());
    }
    patterns
}

fn is_secret(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let is_public = file.ends_with(".pub");
    let is_process = path.starts_with("/proc/") && path.ends_with("/environ");
    let is_key = KEYS.iter().any(|end| file.ends_with(end) && file.len() > end.len());
    let is_place = || PLACES.iter().any(|place| has_part(path, place));
    !is_public && (is_environment(path) || is_process || is_key || is_place())
}

/// Whether a path is one of files with the variables of a project, and no example of one.
fn is_environment(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let ends = [".example", ".sample", ".template", ".dist"];
    let begins = [".env.", ".env*", ".env?", ".env["];
    file == ".env"
        || begins.iter().any(|begin| file.starts_with(begin))
            && !ends.iter().any(|end| file.ends_with(end))
}

/// Whether a path has these names next to each other, from a `/` to a `/`.
pub(super) fn has_part(path: &str, part: &str) -> bool {
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
