//! What a tool will do if it is allowed, in full.

use countersign::protocol::ask::CanUseTool;
use countersign::protocol::tool::ToolInput;

use super::call::tool_name;
use super::diff;
use super::json::tidy;
use super::line::{Line, Tone, lines};
use super::place::{Found, Place};

/// What is shown of an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Who wants what.
    pub(crate) title: Line,
    /// What exactly would be done.
    pub(crate) body: Vec<Line>,
    /// Whether the body may not be cut: nobody can judge a part of a command.
    pub(crate) is_whole: bool,
    /// Why it is asked, and what else there is to know.
    pub(crate) about: Vec<Line>,
}

impl Shown {
    pub(crate) fn new(ask: &CanUseTool, place: &Place) -> Self {
        let tool = ToolInput::parse(&ask.tool_name, &ask.input).unwrap_or(ToolInput::Other);
        let mut title = Line::of(Tone::Bold, &tool_name(&ask.tool_name));
        if let ToolInput::Write(_) | ToolInput::Edit(_) = &tool {
            title = title.and(Tone::Plain, " ").and(Tone::Accent, &file_of(&tool, place));
        }
        if let Some(server) = &ask.mcp_server {
            title =
                title.and(Tone::Dim, &format!("  (MCP server {}, {})", server.name, server.source));
        }
        if let Some(agent) = &ask.agent_id {
            title = title.and(Tone::Dim, &format!("  (for the agent {agent})"));
        }
        let (body, is_whole) = body(ask, &tool, place);
        Self { title, body, is_whole, about: about(ask, place) }
    }
}

fn file_of(tool: &ToolInput, place: &Place) -> String {
    match tool {
        ToolInput::Write(write) => place.short(&write.file_path),
        ToolInput::Edit(edit) => place.short(&edit.file_path),
        _ => String::new(),
    }
}

fn body(ask: &CanUseTool, tool: &ToolInput, place: &Place) -> (Vec<Line>, bool) {
    match tool {
        ToolInput::Bash(bash) => {
            let mut shown = lines(Tone::Accent, &bash.command);
            shown.extend(bash.description.as_deref().map(|text| Line::of(Tone::Dim, text)));
            if bash.run_in_background == Some(true) {
                shown.push(Line::of(Tone::Warn, "It goes on in the background."));
            }
            if bash.dangerously_disable_sandbox == Some(true) {
                shown.push(Line::of(Tone::Warn, "It runs outside the sandbox."));
            }
            shown.extend(extra(&bash.extra));
            (shown, true)
        }
        ToolInput::Write(write) => (written(&write.file_path, &write.content, place), false),
        ToolInput::Edit(edit) => {
            let all = edit.replace_all == Some(true);
            (edited((&edit.file_path, &edit.old_string, &edit.new_string, all), place), false)
        }
        ToolInput::WebFetch(fetch) => {
            let mut shown = vec![Line::of(Tone::Accent, &fetch.url)];
            shown.extend(lines(Tone::Dim, &fetch.prompt));
            (shown, false)
        }
        ToolInput::WebSearch(search) => (vec![Line::of(Tone::Accent, &search.query)], false),
        ToolInput::Read(read) => {
            (vec![Line::of(Tone::Accent, &place.short(&read.file_path))], false)
        }
        _ => (lines(Tone::Plain, &tidy(ask.input.as_str())), false),
    }
}

/// Fields that are not known here are shown, too: they may mean something to the tool.
fn extra(extra: &countersign::protocol::Extra) -> Vec<Line> {
    let fields = extra.iter().map(|(name, value)| format!("{name}: {}", value.as_str()));
    fields.map(|field| Line::of(Tone::Warn, &field)).collect()
}

fn written(path: &str, content: &str, place: &Place) -> Vec<Line> {
    let before = match place.read(path) {
        Found::Text(text) => text,
        Found::Nothing => String::new(),
        Found::Elsewhere => {
            let mut shown = vec![Line::of(Tone::Dim, "All of the file would be:")];
            shown.extend(diff::change("", content, true).lines);
            return shown;
        }
        Found::Unreadable(why) => {
            let note = format!("There is something already, and {why}. It would be replaced by:");
            let mut shown = vec![Line::of(Tone::Warn, &note)];
            shown.extend(diff::change("", content, true).lines);
            return shown;
        }
    };
    let change = diff::change(&before, content, true);
    if change.lines.is_empty() {
        let note = if content.is_empty() { "An empty file." } else { "Nothing changes." };
        return vec![Line::of(Tone::Dim, note)];
    }
    change.lines
}

fn edited((path, old, new, all): (&str, &str, &str, bool), place: &Place) -> Vec<Line> {
    let part = |note: &str| {
        let mut shown = vec![Line::of(Tone::Warn, note)];
        shown.extend(diff::change(old, new, false).lines);
        shown
    };
    let before = match place.read(path) {
        Found::Text(text) => text,
        Found::Nothing if old.is_empty() => String::new(),
        Found::Nothing => return part("There is no such file."),
        Found::Elsewhere => {
            let times = if all { "Wherever it stands in the file:" } else { "In the file:" };
            let mut shown = vec![Line::of(Tone::Dim, times)];
            shown.extend(diff::change(old, new, false).lines);
            return shown;
        }
        Found::Unreadable(why) => return part(&format!("The file: {why}.")),
    };
    let after = match (old.is_empty(), before.matches(old).count()) {
        (true, _) => new.to_owned(),
        (false, 0) => return part("The text to replace is not in the file."),
        (false, _) if all => before.replace(old, new),
        (false, 1) => before.replacen(old, new, 1),
        (false, count) => return part(&format!("The text to replace is there {count} times.")),
    };
    diff::change(&before, &after, true).lines
}

fn about(ask: &CanUseTool, place: &Place) -> Vec<Line> {
    let mut about = Vec::new();
    if let Some(path) = &ask.blocked_path {
        about.push(format!("It reaches {}.", place.short(path)));
    }
    if let Some(rule) = &ask.matched_ask_rule {
        let content = rule.rule_content.as_ref().map(|content| format!("({content})"));
        let content = content.unwrap_or_default();
        about.push(format!("The rule {}{content} says to ask.", rule.tool_name));
    }
    if let Some(reason) = &ask.decision_reason {
        about.push(without_colours(reason));
    }
    about.iter().map(|text| Line::of(Tone::Dim, text.trim())).collect()
}

/// The CLI may colour its reasons. The colours are left out; all else is shown.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('m') {
            Some((code, rest)) if code.chars().all(|c| c.is_ascii_digit() || c == ';') => {
                shown.push_str(rest);
            }
            _ => {
                shown.push_str("\u{1b}[");
                shown.push_str(part);
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(ask: &str, place: &Place) -> String {
        let ask: CanUseTool = serde_json::from_str(ask).unwrap();
        let shown = Shown::new(&ask, place);
        let lines = [vec![shown.title], shown.body, shown.about].concat();
        lines.iter().map(Line::text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_command_is_shown_whole_with_what_is_special_about_it() {
        let ask = r#"{"tool_name":"Bash","tool_use_id":"t","input":{"command":"a &&\nb","description":"Do it","run_in_background":true,"new_field":[1]},
            "blocked_path":"/project/x","decision_reason":"\u001b[1mrm\u001b[22m is \u001b]0;bad","agent_id":"a1"}"#;
        insta::assert_snapshot!(shown(ask, &Place::new("/project".into())), @r"
        Bash  (for the agent a1)
        a &&
        b
        Do it
        It goes on in the background.
        new_field: [1]
        It reaches x.
        rm is \u{1b}]0;bad
        ");
    }

    #[test]
    fn a_file_elsewhere_is_not_compared_with_one_here() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "one\ntwo\n").unwrap();
        let place = Place::elsewhere(folder.path());
        let write = r#"{"tool_name":"Write","tool_use_id":"t","input":{"file_path":"a.txt","content":"one\nthree\n"}}"#;
        insta::assert_snapshot!(shown(write, &place), @r"
        Write a.txt
        All of the file would be:
        1 + one
        2 + three
        ");
        let edit = r#"{"tool_name":"Edit","tool_use_id":"t","input":{"file_path":"a.txt","old_string":"nine","new_string":"ten"}}"#;
        insta::assert_snapshot!(shown(edit, &place), @r"
        Edit a.txt
        In the file:
          - nine (no line break at the end)
          + ten (no line break at the end)
        ");
    }

    #[test]
    fn a_change_is_shown_against_the_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
        let place = Place::new(folder.path().to_owned());
        let edit = |old: &str| {
            shown(
                &format!(
                    r#"{{"tool_name":"Edit","tool_use_id":"t","input":{{"file_path":"a.txt","old_string":"{old}","new_string":"2"}}}}"#
                ),
                &place,
            )
        };
        insta::assert_snapshot!(edit("two"), @r"
        Edit a.txt
        1   one
        2 - two
        2 + 2
        3   three
        ");
        assert!(edit("four").contains("is not in the file"));
        assert!(edit("e").contains("is there 3 times"));
    }
}
