//! A tool call in a line or a few.

use std::time::Duration;

use countersign::protocol::RawJson;
use countersign::protocol::tool::{AgentOutput, ReadOutput, ToolInput, ToolOutput, current_name};
use countersign::turn::{Decision, ToolCall};

use super::diff;
use super::line::{Line, Tone};
use super::place::{Found, Place};

/// How many lines of a result are shown.
const FOLDED: usize = 4;

/// How many lines of a change are shown.
const CHANGED: usize = 10;

/// What a call is, in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Title {
    /// The tool, as people call it.
    pub(crate) tool: String,
    /// What it is called for.
    pub(crate) object: String,
}

impl Title {
    pub(crate) fn new(name: &str, input: &RawJson, place: &Place) -> Self {
        let tool = ToolInput::parse(name, input).unwrap_or(ToolInput::Other);
        let object = match &tool {
            ToolInput::Bash(bash) => bash.command.trim().to_owned(),
            ToolInput::Read(read) => place.short(&read.file_path),
            ToolInput::Write(write) => {
                let change = match place.read(&write.file_path) {
                    // It has been written already.
                    Found::Text(text) if text != write.content => {
                        diff::change(&text, &write.content, true)
                    }
                    _ => diff::change("", &write.content, true),
                };
                changed(place, &write.file_path, &change)
            }
            ToolInput::Edit(edit) => {
                let change = diff::change(&edit.old_string, &edit.new_string, false);
                changed(place, &edit.file_path, &change)
            }
            ToolInput::NotebookEdit(edit) => place.short(&edit.notebook_path),
            ToolInput::Glob(glob) => glob.pattern.clone(),
            ToolInput::Grep(grep) => match &grep.path {
                Some(path) => format!("{} in {}", grep.pattern, place.short(path)),
                None => grep.pattern.clone(),
            },
            ToolInput::Agent(agent) => match &agent.subagent_type {
                Some(kind) => format!("{} ({kind})", agent.description),
                None => agent.description.clone(),
            },
            ToolInput::WebFetch(fetch) => fetch.url.clone(),
            ToolInput::WebSearch(search) => search.query.clone(),
            ToolInput::Skill(skill) => skill.skill.clone(),
            ToolInput::TodoWrite(todo) => format!("{} items", todo.todos.len()),
            ToolInput::TaskCreate(task) => task.subject.clone(),
            ToolInput::AskUserQuestion(ask) => {
                ask.questions.first().map(|question| question.question.clone()).unwrap_or_default()
            }
            ToolInput::ExitPlanMode(_) | ToolInput::EnterPlanMode(_) => String::new(),
            _ if input.as_str() == "{}" => String::new(),
            _ => input.as_str().to_owned(),
        };
        Self { tool: tool_name(name), object }
    }

    /// As one line.
    pub(crate) fn line(&self, mark: (Tone, &str)) -> Line {
        let line = Line::of(mark.0, mark.1).and(Tone::Bold, &format!(" {}", self.tool));
        let first = self.object.lines().next().unwrap_or_default();
        let more = if self.object.lines().count() > 1 { " …" } else { "" };
        match first.is_empty() {
            true => line,
            false => line.and(Tone::Plain, &format!("  {first}{more}")),
        }
    }
}

fn changed(place: &Place, path: &str, change: &diff::Change) -> String {
    format!("{} (+{} −{})", place.short(path), change.added, change.removed)
}

/// A tool, as people call it. One of an MCP server with the name of the server.
pub(crate) fn tool_name(name: &str) -> String {
    match name.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
        Some((server, tool)) => format!("{tool} of {server}"),
        None => current_name(name).to_owned(),
    }
}

/// A call that is over, with some of what came of it.
pub(crate) fn done(title: &Title, call: &ToolCall, place: &Place, columns: usize) -> Vec<Line> {
    let failed = call.result.as_ref().is_none_or(|result| result.is_error);
    let denied = matches!(call.decision, Decision::Denied { .. });
    let mark = if failed { (Tone::Bad, "●") } else { (Tone::Good, "●") };
    let mut end = Line::of(mark.0, if failed { " ✗" } else { " ✓" });
    if denied {
        end = end.and(Tone::Bad, " denied");
    } else if let Some(took) = ran_for(call) {
        end = end.and(Tone::Dim, &format!(" {}", span(took)));
    }
    if matches!(call.decision, Decision::Allowed { changed: true, .. }) {
        end = end.and(Tone::Warn, " with your input");
    }
    let written = written(call);
    let title = match &written {
        // What was really changed, whatever the file was like before.
        Some((path, change)) => {
            Title { tool: title.tool.clone(), object: changed(place, path, change) }.line(mark)
        }
        None => title.line(mark),
    };
    let mut lines = vec![title.cut(columns.saturating_sub(end.width())).followed_by(end)];
    let text = call.result.as_ref().map(countersign::turn::ToolResult::text).unwrap_or_default();
    match written {
        Some((_, change)) => lines.extend(folded_change(change.lines, columns)),
        None if failed => lines.extend(folded(without_tags(&text), Tone::Bad, columns)),
        None if is_in_background(call) => {
            lines.push(Line::of(Tone::Dim, "  ⎿ it goes on in the background"));
        }
        None if current_name(&call.name) == "Read" => {
            let count = lines_read(call, &text);
            let words = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
            lines.push(Line::of(Tone::Dim, &format!("  ⎿ {words}")));
        }
        None => lines.extend(folded(&text, Tone::Dim, columns)),
    }
    lines
}

/// An error of a tool, without what marks it as one for the model.
fn without_tags(text: &str) -> &str {
    let inside = text.strip_prefix("<tool_use_error>");
    inside.and_then(|text| text.strip_suffix("</tool_use_error>")).unwrap_or(text)
}

/// How many lines of a file were read.
fn lines_read(call: &ToolCall, text: &str) -> u64 {
    let output = call.result.as_ref().and_then(|result| result.output.as_ref());
    match output.map(|output| ToolOutput::parse(&call.name, output)) {
        Some(Ok(ToolOutput::Read(ReadOutput::Text(read)))) => read.file.num_lines,
        _ => text.lines().count().try_into().unwrap_or(u64::MAX),
    }
}

/// Whether an agent was started that goes on. What the model is told of that is for the model.
fn is_in_background(call: &ToolCall) -> bool {
    let output = call.result.as_ref().and_then(|result| result.output.as_ref());
    let output = output.and_then(|output| ToolOutput::parse(&call.name, output).ok());
    matches!(output, Some(ToolOutput::Agent(AgentOutput::Launched(_))))
}

/// The file that a call has changed, and how.
fn written(call: &ToolCall) -> Option<(String, diff::Change)> {
    let output = call.result.as_ref().filter(|result| !result.is_error)?.output.as_ref()?;
    match ToolOutput::parse(&call.name, output).ok()? {
        ToolOutput::Write(write) => {
            let before = write.original_file.as_deref().unwrap_or_default();
            Some((write.file_path, diff::change(before, &write.content, true)))
        }
        ToolOutput::Edit(edit) => {
            let (old, new) = (&edit.old_string, &edit.new_string);
            let change = match &edit.original_file {
                Some(before) if edit.replace_all => {
                    diff::change(before, &before.replace(old, new), true)
                }
                Some(before) => diff::change(before, &before.replacen(old, new, 1), true),
                None => diff::change(old, new, false),
            };
            Some((edit.file_path, change))
        }
        _ => None,
    }
}

/// The first lines of a change, each one row.
fn folded_change(lines: Vec<Line>, columns: usize) -> Vec<Line> {
    let count = lines.len();
    let shown = if count > CHANGED + 1 { CHANGED } else { count };
    let mut folded: Vec<_> =
        lines.into_iter().take(shown).map(|line| line.indented(4).cut(columns)).collect();
    if count > shown {
        folded.push(Line::of(Tone::Dim, &format!("    … {} more lines", count - shown)));
    }
    folded
}

/// How long a call ran, without the wait for the person.
fn ran_for(call: &ToolCall) -> Option<Duration> {
    let waited = match &call.decision {
        Decision::Allowed { waited, .. } | Decision::Denied { waited, .. } => *waited,
        _ => Duration::ZERO,
    };
    Some(call.duration?.saturating_sub(waited))
}

/// The first lines of a text, each one row, and how many more there are.
pub(crate) fn folded(text: &str, tone: Tone, columns: usize) -> Vec<Line> {
    let text = text.trim_matches('\n');
    let count = text.lines().count();
    let shown = if count > FOLDED + 1 { FOLDED } else { count };
    let mut lines: Vec<_> = text
        .lines()
        .take(shown)
        .enumerate()
        .map(|(number, line)| {
            let sign = if number == 0 { "  ⎿ " } else { "    " };
            Line::of(Tone::Dim, sign).and(tone, line.trim_end()).cut(columns)
        })
        .collect();
    if count > shown {
        lines.push(Line::of(Tone::Dim, &format!("    … {} more lines", count - shown)));
    }
    lines
}

/// A span of time in a few characters.
pub(crate) fn span(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        1..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(name: &str, input: &str) -> String {
        let place = Place::new("/project".into());
        Title::new(name, &input.parse().unwrap(), &place).line((Tone::Dim, "●")).text()
    }

    #[test]
    fn calls_are_said_in_a_few_words() {
        let said = [
            title("Bash", r#"{"command":"cargo test\nls","description":"Test"}"#),
            title("Write", r#"{"file_path":"/project/src/a.rs","content":"a\nb\n"}"#),
            title("Edit", r#"{"file_path":"/etc/b","old_string":"a\nb","new_string":"a\nc\nd"}"#),
            title("Task", r#"{"description":"Look","prompt":"x","subagent_type":"Explore"}"#),
            title("mcp__calc__add", r#"{"a":1}"#),
            title("Bash", r#"{"command":7}"#),
            title("ExitPlanMode", "{}"),
        ];
        insta::assert_snapshot!(said.join("\n"), @r#"
        ● Bash  cargo test …
        ● Write  src/a.rs (+2 −0)
        ● Edit  /etc/b (+2 −1)
        ● Agent  Look (Explore)
        ● add of calc  {"a":1}
        ● Bash  {"command":7}
        ● ExitPlanMode
        "#);
    }

    #[test]
    fn long_results_are_folded() {
        let shown = folded("1\n2\n3\n4\n5\n6\n7\n", Tone::Dim, 80);
        let text: Vec<_> = shown.iter().map(Line::text).collect();
        assert_eq!(text, ["  ⎿ 1", "    2", "    3", "    4", "    … 3 more lines"]);
        assert_eq!(folded("1\n2\n3\n4\n5", Tone::Dim, 80).len(), 5);
        assert!(folded("\n", Tone::Dim, 80).is_empty());
    }
}
