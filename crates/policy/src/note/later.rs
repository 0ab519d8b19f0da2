//! Files from which something runs later, without being asked for.

use serde_json::Value;

use super::folder::Folders;
use super::secret::has_part;
use super::{Danger, Found, operands, shown, subcommands};
use crate::call::Call;
use crate::shell::{Run, Word};

/// They, and folders of them. What is run when somebody asks for it, as a script or a `Makefile`, is not
/// among them.
const PLACES: &[&str] = &[
    // Of shells, and of sessions.
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/autostart",
    ".config/environment.d",
    ".config/fish",
    ".cshrc",
    ".kshrc",
    ".pam_environment",
    ".profile",
    ".tcshrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "/etc/bash.bashrc",
    "/etc/bashrc",
    "/etc/environment",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/xdg/autostart",
    "/etc/zsh",
    "/etc/zshenv",
    "/etc/zshrc",
    // Of the machine.
    ".config/systemd",
    ".local/share/systemd",
    "/etc/anacrontab",
    "/etc/init.d",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/pam.d",
    "/etc/rc.local",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/systemd",
    "/etc/udev/rules.d",
    "/lib/systemd",
    "/usr/lib/systemd",
    "/usr/local/lib/systemd",
    "/var/spool/cron",
    "Library/LaunchAgents",
    "Library/LaunchDaemons",
    // Of ssh: who may come in, and what runs then.
    ".ssh/authorized_keys",
    ".ssh/authorized_keys2",
    ".ssh/config",
    ".ssh/environment",
    ".ssh/rc",
    "/etc/ssh",
    // Of git.
    ".config/git/config",
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".git/info/attributes",
    ".git/modules",
    ".gitconfig",
    ".husky",
    ".pre-commit-config.yaml",
    "/etc/gitconfig",
    "lefthook.yml",
    // Of tools that look for them wherever they are begun.
    ".cargo/config",
    ".cargo/config.toml",
    ".circleci/config.yml",
    ".devcontainer",
    ".devcontainer.json",
    ".envrc",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".npmrc",
    ".pnpmfile.cjs",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".yarnrc",
    ".yarnrc.yml",
    "sitecustomize.py",
    "usercustomize.py",
    // Of the CLI itself.
    ".claude.json",
    ".claude/hooks",
    ".claude/plugins",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
];

/// Files, and folders of them, that the model reads later and does what they say.
const INSTRUCTIONS: &[&str] = &[
    ".claude/agents",
    ".claude/commands",
    ".claude/output-styles",
    ".claude/rules",
    ".claude/skills",
    "CLAUDE.local.md",
    "CLAUDE.md",
];

/// How the paths begin of what is planned.
const PLANS: &str = "/etc/cron";

/// What runs by itself when a package is installed, or is made for others.
const SCRIPTS: &[&str] = &[
    "install",
    "postinstall",
    "postprepare",
    "preinstall",
    "prepack",
    "prepare",
    "preprepare",
    "prepublish",
    "prepublishOnly",
];

/// Settings of package managers that say what is run, or where it comes from.
const SETTINGS: &[&str] = &["init-module", "node-options", "registry", "script-shell", "shell"];

/// Why a file is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// What is in it can run.
    Runs,
    /// The model reads it.
    Instructs,
}

impl Found {
    /// A file is changed from which something can run later.
    pub(super) fn later(&mut self, word: &Word, folders: &Folders<'_>) {
        let there = || folders.paths(word).iter().find_map(|path| why(&path.to_string_lossy()));
        if self.away.is_some() {
            return;
        }
        // Which of them say what runs cannot be seen from its name.
        let attributes = || has_part(&word.text, ".gitattributes").then_some(Why::Runs);
        if let Some(why) = why(&word.text).or_else(there).or_else(attributes) {
            self.later_path(&word.text, why);
        }
    }

    /// The same of a tool that writes a file.
    pub(super) fn later_tool(&mut self, call: &Call<'_>, path: &str) {
        if let Some(why) = why(path) {
            self.later_path(path, why);
        }
        let has =
            |parts: &[&str]| written(call).any(|text| parts.iter().any(|part| text.contains(part)));
        if has_part(path, ".gitattributes") && has(&["filter=", "diff=", "merge="]) {
            self.later_path(path, Why::Runs);
        }
        if has_part(path, "package.json") {
            let scripts: Vec<String> = SCRIPTS.iter().map(|name| format!("\"{name}\"")).collect();
            let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
            if has(&scripts) {
                self.later_path(path, Why::Runs);
            }
        }
    }

    /// What a program does so that something runs later.
    pub(super) fn plans(&mut self, run: &Run<'_>) {
        let words = subcommands(run);
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let what = match run.program {
            "systemctl" => {
                let words = operands(run);
                let first = words.first().map_or("", |word| word.text.as_str());
                if !matches!(first, "edit" | "enable" | "link" | "reenable" | "set-default") {
                    return;
                }
                format!("changes what begins by itself (systemctl {first})")
            }
            "launchctl" if matches!(text(0), "bootstrap" | "enable" | "load" | "submit") => {
                format!("changes what begins by itself (launchctl {})", text(0))
            }
            "claude"
                if text(0) == "mcp" && text(1).starts_with("add")
                    || matches!(text(0), "plugin" | "plugins") && text(1) == "install" =>
            {
                format!("changes what the CLI runs later (claude {} {})", text(0), text(1))
            }
            "npm" | "pnpm" | "yarn" => {
                let from = usize::from(text(0) == "config");
                let name = text(from + 1).split('=').next().unwrap_or_default();
                let is_script = |word: &&Word| {
                    let name = word.text.strip_prefix("scripts.");
                    let name = name.and_then(|name| name.split('=').next());
                    name.is_some_and(|name| SCRIPTS.contains(&name))
                };
                if text(from) == "set" && SETTINGS.contains(&name) {
                    format!("changes {name} of {}, and what it names runs later", run.program)
                } else if text(0) == "pkg" && text(1) == "set" && words.iter().any(is_script) {
                    "changes what runs when the package is installed".to_owned()
                } else {
                    return;
                }
            }
            _ => return,
        };
        self.add(Danger::RunsLater, what);
    }

    fn later_path(&mut self, path: &str, why: Why) {
        let why = match why {
            Why::Runs => "what is in it can run later",
            Why::Instructs => "the model does later what is in it",
        };
        self.add(Danger::RunsLater, format!("changes {}, and {why}", shown(path)));
    }
}

fn why(path: &str) -> Option<Why> {
    let is_in = |places: &[&str]| places.iter().any(|place| has_part(path, place));
    let is_python = || {
        path.ends_with(".pth")
            && (path.contains("site-packages/") || path.contains("dist-packages/"))
    };
    if is_in(INSTRUCTIONS) {
        Some(Why::Instructs)
    } else {
        (is_in(PLACES) || path.starts_with(PLANS) || is_python()).then_some(Why::Runs)
    }
}

/// What a tool writes into a file.
fn written<'a>(call: &Call<'a>) -> impl Iterator<Item = &'a str> {
    let edits = call.input.get("edits").and_then(Value::as_array).into_iter().flatten();
    let texts = [call.text("content"), call.text("new_string")].into_iter().flatten();
    texts.chain(edits.filter_map(|edit| edit.get("new_string")?.as_str()))
}
