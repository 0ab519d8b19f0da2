//! The command line of `claude`, as far as a client of the protocol uses it.

use std::path::PathBuf;

use super::profile::{Profile, Release};

/// What the command line asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Args {
    pub(crate) input_format: Option<String>,
    pub(crate) output_format: Option<String>,
    pub(crate) verbose: bool,
    pub(crate) permission_prompt_tool: Option<String>,
    pub(crate) permission_prompts: Option<String>,
    pub(crate) permission_mode: Option<String>,
    pub(crate) skip_permissions: bool,
    pub(crate) allow_skip_permissions: bool,
    pub(crate) allowed_tools: Vec<String>,
    pub(crate) disallowed_tools: Vec<String>,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) fallback_model: Option<String>,
    pub(crate) max_turns: Option<u64>,
    pub(crate) max_budget_usd: Option<f64>,
    pub(crate) resume: Option<String>,
    /// The entry that the past ends with.
    pub(crate) resume_at: Option<String>,
    pub(crate) continue_latest: bool,
    pub(crate) fork_session: bool,
    pub(crate) session_id: Option<String>,
    pub(crate) no_persistence: bool,
    pub(crate) session_mirror: bool,
    pub(crate) partial_messages: bool,
    pub(crate) replay_user_messages: bool,
    pub(crate) forward_subagent_text: bool,
    pub(crate) setting_sources: Option<String>,
    pub(crate) settings: Option<String>,
    pub(crate) mcp_config: Vec<String>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) append_system_prompt: Option<String>,
    pub(crate) json_schema: Option<String>,
    pub(crate) await_initialize: bool,
    pub(crate) bare: bool,
    pub(crate) safe_mode: bool,
    pub(crate) no_slash_commands: bool,
}

/// What a command line comes to.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// A run.
    Run(Box<Args>),
    /// Text for standard output; exit 0.
    Print(String),
    /// A complaint for standard error; exit 1.
    Refuse(String),
}

/// How many values a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    /// A value, when one follows that is not a flag.
    Maybe,
    /// Values up to the next flag.
    Many,
}

use Takes::{Many, Maybe, Nothing, One};

/// The flags: name, placeholder in complaints, values, and the first release that has it.
const FLAGS: &[(&str, &str, Takes, Release)] = &[
    ("--add-dir", "directories...", Many, Release::V62),
    ("--agent", "agent", One, Release::V62),
    ("--agents", "json", One, Release::V62),
    ("--allow-dangerously-skip-permissions", "", Nothing, Release::V62),
    ("--allowedTools", "tools...", Many, Release::V62),
    ("--allowed-tools", "tools...", Many, Release::V62),
    ("--append-system-prompt", "prompt", One, Release::V62),
    ("--append-system-prompt-file", "file", One, Release::V62),
    ("--autocompact", "auto|tokens", One, Release::V325),
    ("--await-initialize", "", Nothing, Release::V325),
    ("--bare", "", Nothing, Release::V197),
    ("--betas", "betas...", Many, Release::V62),
    ("--brief", "", Nothing, Release::V197),
    ("--chrome", "", Nothing, Release::V62),
    ("--continue", "", Nothing, Release::V62),
    ("--dangerously-skip-permissions", "", Nothing, Release::V62),
    ("--debug", "filter", Maybe, Release::V62),
    ("--debug-file", "path", One, Release::V62),
    ("--debug-to-stderr", "", Nothing, Release::V62),
    ("--disable-slash-commands", "", Nothing, Release::V62),
    ("--disallowedTools", "tools...", Many, Release::V62),
    ("--disallowed-tools", "tools...", Many, Release::V62),
    ("--effort", "level", One, Release::V62),
    ("--enable-auth-status", "", Nothing, Release::V62),
    ("--exclude-dynamic-system-prompt-sections", "", Nothing, Release::V197),
    ("--fallback-model", "model", One, Release::V62),
    ("--file", "specs...", Many, Release::V62),
    ("--fork-session", "", Nothing, Release::V62),
    ("--forward-subagent-text", "", Nothing, Release::V325),
    ("--from-pr", "value", Maybe, Release::V62),
    ("--ide", "", Nothing, Release::V62),
    ("--include-hook-events", "", Nothing, Release::V197),
    ("--include-partial-messages", "", Nothing, Release::V62),
    ("--input-format", "format", One, Release::V62),
    ("--json-schema", "schema", One, Release::V62),
    ("--managed-settings", "json", One, Release::V197),
    ("--max-budget-usd", "amount", One, Release::V62),
    ("--max-thinking-tokens", "tokens", One, Release::V62),
    ("--max-turns", "turns", One, Release::V62),
    ("--mcp-config", "configs...", Many, Release::V62),
    ("--mcp-debug", "", Nothing, Release::V62),
    ("--model", "model", One, Release::V62),
    ("--name", "name", One, Release::V197),
    ("--no-chrome", "", Nothing, Release::V62),
    ("--no-session-persistence", "", Nothing, Release::V62),
    ("--output-format", "format", One, Release::V62),
    ("--permission-mode", "mode", One, Release::V62),
    ("--permission-prompt-tool", "tool", One, Release::V62),
    ("--permission-prompts", "target", One, Release::V325),
    ("--plan-mode-instructions", "text", One, Release::V62),
    ("--plugin-dir", "path", One, Release::V62),
    ("--plugin-dir-no-mcp", "path", One, Release::V325),
    ("--plugin-url", "url", One, Release::V197),
    ("--print", "", Nothing, Release::V62),
    ("--project-config-root", "path", One, Release::V325),
    ("--prompt-suggestions", "value", Maybe, Release::V197),
    ("--replay-user-messages", "", Nothing, Release::V62),
    ("--restricted", "", Nothing, Release::V325),
    ("--resume", "value", Maybe, Release::V62),
    ("--resume-session-at", "uuid", One, Release::V62),
    ("--resume-drops-turn", "uuid", One, Release::V325),
    ("--safe-mode", "", Nothing, Release::V197),
    ("--session-id", "uuid", One, Release::V62),
    ("--session-mirror", "", Nothing, Release::V197),
    ("--setting-sources", "sources", One, Release::V62),
    ("--settings", "file-or-json", One, Release::V62),
    ("--strict-mcp-config", "", Nothing, Release::V62),
    ("--system-prompt", "prompt", One, Release::V62),
    ("--system-prompt-file", "file", One, Release::V62),
    ("--system-prompt-snapshot", "on|off", One, Release::V325),
    ("--task-budget", "tokens", One, Release::V197),
    ("--thinking", "mode", One, Release::V62),
    ("--thinking-display", "display", One, Release::V197),
    ("--tools", "tools...", Many, Release::V62),
    ("--verbose", "", Nothing, Release::V62),
    ("--workload", "tag", One, Release::V197),
    ("--worktree", "name", Maybe, Release::V62),
];

/// One-letter names.
const SHORT: &[(&str, &str)] = &[
    ("-c", "--continue"),
    ("-d", "--debug"),
    ("-n", "--name"),
    ("-p", "--print"),
    ("-r", "--resume"),
    ("-w", "--worktree"),
];

impl Args {
    /// Reads a command line as the CLI of this version does.
    pub(crate) fn parse(profile: &Profile, argv: &[String]) -> Parsed {
        match Self::try_parse(profile, argv) {
            Ok(parsed) | Err(parsed) => parsed,
        }
    }

    fn try_parse(profile: &Profile, argv: &[String]) -> Result<Parsed, Parsed> {
        let mut args = Self::default();
        let mut rest = argv.iter().map(String::as_str).peekable();
        while let Some(word) = rest.next() {
            if !word.starts_with('-') || word == "-" {
                // A prompt on the command line; with stream-json input the CLI passes it over.
                continue;
            }
            if matches!(word, "-v" | "--version") {
                return Ok(Parsed::Print(format!("{} (Claude Code)", profile.version)));
            }
            if matches!(word, "-h" | "--help") {
                return Ok(Parsed::Print(help(profile)));
            }
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ => (word, None),
            };
            let name =
                SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
            let known = FLAGS.iter().find(|flag| flag.0 == name && flag.3 <= profile.release);
            let Some(&(name, placeholder, takes, _)) = known else {
                return Err(Parsed::Refuse(format!("error: unknown option '{name}'")));
            };
            let mut values: Vec<&str> = inline.into_iter().collect();
            match takes {
                Nothing => {}
                One if values.is_empty() => match rest.next() {
                    Some(value) => values.push(value),
                    None => {
                        return Err(Parsed::Refuse(format!(
                            "error: option '{name} <{placeholder}>' argument missing"
                        )));
                    }
                },
                Maybe if values.is_empty() => {
                    values.extend(rest.next_if(|value| !value.starts_with('-')));
                }
                Many => {
                    while let Some(value) = rest.next_if(|value| !value.starts_with('-')) {
                        values.push(value);
                    }
                }
                One | Maybe => {}
            }
            args.apply(profile, name, &values)?;
        }
        args.check()
    }

    fn apply(&mut self, profile: &Profile, name: &str, values: &[&str]) -> Result<(), Parsed> {
        let first = values.first().copied();
        let text = || first.map(str::to_owned);
        match name {
            "--input-format" => {
                self.input_format = choice(name, "format", first, &["text", "stream-json"])?;
            }
            "--output-format" => {
                self.output_format =
                    choice(name, "format", first, &["text", "json", "stream-json"])?;
            }
            "--verbose" => self.verbose = true,
            "--permission-prompt-tool" => self.permission_prompt_tool = text(),
            "--permission-prompts" => {
                self.permission_prompts = choice(name, "target", first, &["host", "none"])?;
            }
            "--permission-mode" => self.permission_mode = mode(profile, first)?,
            "--dangerously-skip-permissions" => self.skip_permissions = true,
            "--allow-dangerously-skip-permissions" => self.allow_skip_permissions = true,
            "--allowedTools" | "--allowed-tools" => self.allowed_tools.extend(rule_list(values)),
            "--disallowedTools" | "--disallowed-tools" => {
                self.disallowed_tools.extend(rule_list(values));
            }
            "--tools" => self.tools = Some(rule_list(values)),
            "--add-dir" => self.add_dirs.extend(values.iter().map(PathBuf::from)),
            "--model" => self.model = text(),
            "--fallback-model" => self.fallback_model = text(),
            "--max-turns" => self.max_turns = first.and_then(|value| value.parse().ok()),
            "--max-budget-usd" => self.max_budget_usd = first.and_then(|value| value.parse().ok()),
            "--resume" => self.resume = Some(first.unwrap_or_default().to_owned()),
            "--resume-session-at" => self.resume_at = text(),
            "--continue" => self.continue_latest = true,
            "--fork-session" => self.fork_session = true,
            "--session-id" => self.session_id = text(),
            "--no-session-persistence" => self.no_persistence = true,
            "--session-mirror" => self.session_mirror = true,
            "--include-partial-messages" => self.partial_messages = true,
            "--replay-user-messages" => self.replay_user_messages = true,
            "--forward-subagent-text" => self.forward_subagent_text = true,
            "--setting-sources" => self.setting_sources = text(),
            "--settings" => self.settings = text(),
            "--mcp-config" => self.mcp_config.extend(values.iter().map(|&value| value.to_owned())),
            "--system-prompt" => self.system_prompt = text(),
            "--append-system-prompt" => self.append_system_prompt = text(),
            "--json-schema" => self.json_schema = text(),
            "--await-initialize" => self.await_initialize = true,
            "--bare" => self.bare = true,
            "--safe-mode" => self.safe_mode = true,
            "--disable-slash-commands" => self.no_slash_commands = true,
            // The others are known, and change nothing that a client of the protocol can see.
            _ => {}
        }
        Ok(())
    }

    fn check(self) -> Result<Parsed, Parsed> {
        let refuse = |text: &str| Err(Parsed::Refuse(text.to_owned()));
        if self.output_format.as_deref() != Some("stream-json")
            || self.input_format.as_deref() != Some("stream-json")
        {
            return refuse(
                "Error: the simulated CLI only speaks --input-format stream-json --output-format stream-json",
            );
        }
        if !self.verbose {
            return refuse(
                "Error: When using --print, --output-format=stream-json requires --verbose",
            );
        }
        if let Some(id) = &self.session_id {
            if uuid::Uuid::parse_str(id).is_err() {
                return refuse("Error: Invalid session ID. Must be a valid UUID.");
            }
            if (self.resume.is_some() || self.continue_latest) && !self.fork_session {
                return refuse(
                    "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.",
                );
            }
        }
        Ok(Parsed::Run(Box::new(self)))
    }
}

fn help(profile: &Profile) -> String {
    let mut text = String::from("Usage: claude [options]\n\nOptions:");
    for (name, placeholder, takes, since) in FLAGS {
        if *since <= profile.release {
            text.push_str("\n  ");
            text.push_str(name);
            if *takes != Nothing {
                text.push_str(" <");
                text.push_str(placeholder);
                text.push('>');
            }
        }
    }
    text
}

fn choice(
    name: &str,
    placeholder: &str,
    value: Option<&str>,
    allowed: &[&str],
) -> Result<Option<String>, Parsed> {
    let value = value.unwrap_or_default();
    if allowed.contains(&value) {
        return Ok(Some(value.to_owned()));
    }
    Err(Parsed::Refuse(format!(
        "error: option '{name} <{placeholder}>' argument '{value}' is invalid. Allowed choices are {}.",
        allowed.join(", ")
    )))
}

fn mode(profile: &Profile, value: Option<&str>) -> Result<Option<String>, Parsed> {
    // `default` and `manual` are the same mode; which of the two the list shows depends on the
    // version, and 2.1.325 takes both.
    if profile.mode_choices.contains(&"manual") && value == Some("default") {
        return Ok(Some("default".to_owned()));
    }
    let mode = choice("--permission-mode", "mode", value, profile.mode_choices)?;
    Ok(mode.map(|mode| if mode == "manual" { "default".to_owned() } else { mode }))
}

/// Splits lists of rules at commas and spaces outside of parentheses.
fn rule_list(values: &[&str]) -> Vec<String> {
    let mut rules = Vec::new();
    for value in values {
        let mut depth = 0_usize;
        let mut rule = String::new();
        for character in value.chars() {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && (character == ',' || character.is_whitespace()) {
                rules.push(std::mem::take(&mut rule));
            } else {
                rule.push(character);
            }
        }
        rules.push(rule);
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::profile;

    fn parse(line: &[&str]) -> Parsed {
        let argv: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
        Args::parse(profile::find("2.1.325").unwrap(), &argv)
    }

    const STREAM: [&str; 3] =
        ["--input-format=stream-json", "--output-format=stream-json", "--verbose"];

    #[test]
    fn a_value_may_stand_behind_an_equals_sign_or_a_space() {
        let Parsed::Run(args) =
            parse(&[&STREAM[..], &["--model=opus", "--resume", "--fork-session"]].concat())
        else {
            panic!("refused");
        };
        assert_eq!(args.model.as_deref(), Some("opus"));
        assert_eq!(args.resume.as_deref(), Some(""));
        assert!(args.fork_session);
    }

    #[test]
    fn rules_are_split_outside_of_parentheses() {
        assert_eq!(
            rule_list(&["Write,Bash(git log, x)", "Read Edit"]),
            ["Write", "Bash(git log, x)", "Read", "Edit"]
        );
    }

    #[test]
    fn what_the_cli_does_not_know_it_refuses() {
        let Parsed::Refuse(text) = parse(&["--cwd", "x"]) else { panic!("taken") };
        assert_eq!(text, "error: unknown option '--cwd'");
    }
}
