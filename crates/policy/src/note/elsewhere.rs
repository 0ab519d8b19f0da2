//! What is gone afterwards that is no file: in a cluster, in a cloud, in a database.

use super::{Danger, Found, all_shown, subcommands};
use crate::shell::{Command, Input, Line, Options, Run, Word};

/// Programs that talk to a database, and their options for what is said to it.
const DATABASES: &[(&str, &[&str])] = &[
    ("bq", &[]),
    ("clickhouse-client", &["q", "query"]),
    ("duckdb", &["c"]),
    ("mariadb", &["e", "execute"]),
    ("mysql", &["e", "execute"]),
    ("psql", &["c", "command"]),
    ("sqlcmd", &["Q", "q"]),
    ("sqlite3", &["cmd"]),
];

/// How statements begin after which something is gone.
const STATEMENTS: &[&str] = &["DELETE FROM ", "DROP ", "TRUNCATE "];

impl Found {
    pub(super) fn elsewhere(&mut self, line: &Line, command: &Command, run: &Run<'_>) {
        let words = subcommands(run);
        let mut names = words.iter().map(|word| word.text.as_str());
        let (first, second) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
        let has = |wanted: &str| run.arguments.iter().any(|word| word.text == wanted);
        let is_tried = has("--dryrun")
            || run
                .arguments
                .iter()
                .any(|word| word.text.starts_with("--dry-run") && word.text != "--dry-run=none");
        let what = match run.program {
            "rimraf" | "del-cli" => {
                let text = format!("deletes {}", all_shown(&words));
                return self.add(Danger::Deletes, text);
            }
            "kubectl" | "oc" if first == "delete" => "something in a cluster",
            "helm" if matches!(first, "delete" | "uninstall") => "something in a cluster",
            "aws" if first == "s3" && matches!(second, "rb" | "rm") => "something in the cloud",
            "aws" if first == "s3" && has("--delete") => "something in the cloud",
            "aws" if second.starts_with("delete-") || second.starts_with("terminate-") => {
                "something in the cloud"
            }
            "gcloud" | "az" if words.iter().any(|word| word.text == "delete") => {
                "something in the cloud"
            }
            "gsutil" if first == "rm" => "something in the cloud",
            "terraform" | "tofu" if first == "apply" && has("-destroy") => "what it has made",
            "terraform" | "tofu" | "pulumi" if first == "destroy" => "what it has made",
            // What it would take away is only said when it runs.
            "terraform" | "tofu" | "pulumi" if matches!(first, "apply" | "up") => {
                let text = format!("can delete or replace what it has made (with {})", run.program);
                return self.add(Danger::Deletes, text);
            }
            "cdk" if first == "destroy" => "what it has made",
            "gh" if second == "delete" || first == "api" && has("DELETE") => "something on GitHub",
            "docker" | "podman" if first == "system" && second == "prune" => {
                "what no container uses"
            }
            "docker" | "podman" if first == "volume" && matches!(second, "prune" | "rm") => {
                "volumes, and what is in them"
            }
            "docker" | "podman"
                if first == "compose"
                    && words.iter().any(|word| word.text == "down")
                    && (has("-v") || has("--volumes")) =>
            {
                "volumes, and what is in them"
            }
            "docker-compose" | "podman-compose"
                if words.iter().any(|word| word.text == "down")
                    && (has("-v") || has("--volumes")) =>
            {
                "volumes, and what is in them"
            }
            "prisma"
                if first == "migrate" && second == "reset"
                    || has("--force-reset")
                    || has("--accept-data-loss") =>
            {
                "a database"
            }
            "rails" | "rake"
                if matches!(first, "db:drop" | "db:purge" | "db:reset" | "db:schema:load") =>
            {
                "a database"
            }
            "php"
                if words.iter().any(|word| {
                    matches!(
                        &*word.text,
                        "db:wipe" | "migrate:fresh" | "migrate:refresh" | "migrate:reset"
                    )
                }) =>
            {
                "a database"
            }
            "supabase" if first == "db" && second == "reset" => "a database",
            name if name.starts_with("python")
                && first.ends_with("manage.py")
                && matches!(second, "flush" | "reset_db") =>
            {
                "a database"
            }
            "dropdb" => "a database",
            "redis-cli"
                if words.iter().any(|word| {
                    ["flushall", "flushdb"].iter().any(|name| word.text.eq_ignore_ascii_case(name))
                }) =>
            {
                "a database"
            }
            program => {
                let read = match command.input {
                    Some(Input::Text(text) | Input::Pipe(Some(text))) => line.inputs.get(text),
                    _ => None,
                };
                return self.database(run, program, read);
            }
        };
        if !is_tried {
            self.add(Danger::Deletes, format!("deletes {what} (with {})", run.program));
        }
    }

    /// A statement that is written in the arguments, or in a text that is read.
    fn database(&mut self, run: &Run<'_>, program: &str, read: Option<&Word>) {
        let Some((_, names)) = DATABASES.iter().find(|(name, _)| *name == program) else { return };
        let options = Options::with("cdeEhPpQqU", &["cmd", "command", "execute", "query"]);
        let parsed = options.anywhere(run.arguments);
        let statements: Vec<String> = parsed
            .values(names)
            .map(|word| word.text.clone())
            .chain(parsed.operands.iter().map(|word| word.text.clone()))
            .chain(read.map(|word| word.text.clone()))
            .collect();
        let is_gone = |statement: &str| {
            let statement = statement.trim_start().to_ascii_uppercase();
            STATEMENTS.iter().any(|begin| statement.starts_with(begin))
        };
        if statements.iter().any(|all| all.split(';').any(is_gone)) {
            self.add(Danger::Deletes, format!("deletes something in a database (with {program})"));
        }
    }
}
