//! What a call opens to.

use askama::Template;
use countersign_protocol::tool::{CellEdit, ToolInput, WebSearchInput};
use serde_json::Value;

use super::{Call, Outcome, talk};
use crate::render::code::{self, Language};
use crate::render::diff::Diff;
use crate::render::words::{count, within};
use crate::render::{Html, markdown};

/// How many lines of an output are shown at first, and how many bytes.
const LINES: usize = 60;
const BYTES: usize = 12_000;

/// How many lines of a diff are shown at first.
const DIFF_LINES: usize = 200;

pub(super) fn body(call: &Call, folder: &str) -> Html {
    let outcome = call.outcome.as_ref();
    match call.typed() {
        ToolInput::Bash(input) => Bash {
            command: code::html(&input.command, Language::named("bash")),
            stdout: outcome.map(|outcome| output(call, outcome, streams(outcome).0)),
            stderr: outcome.map(|outcome| output(call, outcome, streams(outcome).1)),
            exit: outcome.and_then(exit),
        }
        .html(),
        ToolInput::Edit(input) => {
            let diff = outcome.and_then(Outcome::diff);
            let diff =
                diff.unwrap_or_else(|| Diff::between(&input.old_string, &input.new_string, false));
            file(call, folder, &input.file_path, diff)
        }
        ToolInput::Write(input) => {
            let diff = outcome.and_then(Outcome::diff);
            let diff = diff.unwrap_or_else(|| Diff::between("", &input.content, true));
            file(call, folder, &input.file_path, diff)
        }
        ToolInput::Read(input) => {
            let text = outcome.and_then(|outcome| {
                Some(outcome.details.get("file")?.get("content")?.as_str()?.to_owned())
            });
            let language = Language::of_file(&input.file_path);
            match (text, outcome) {
                (Some(text), Some(outcome)) => {
                    Text { output: cut(call, outcome, &text, language) }.html()
                }
                _ => result(call),
            }
        }
        ToolInput::NotebookEdit(input) => {
            let detail = |name: &str| outcome.and_then(|outcome| outcome.detail(name));
            let before = detail("old_source").unwrap_or_default();
            let after =
                if input.edit_mode == Some(CellEdit::Delete) { "" } else { &*input.new_source };
            file(call, folder, &input.notebook_path, Diff::between(before, after, false))
        }
        ToolInput::TodoWrite(input) => talk::todos(&input),
        ToolInput::TaskUpdate(input) => talk::task(&input),
        ToolInput::TaskCreate(input) => {
            Prose { text: markdown::html(&input.description), answer: None }.html()
        }
        ToolInput::AskUserQuestion(input) => talk::questions(&input, outcome),
        ToolInput::Agent(input) => {
            // What the CLI says of one that goes on is meant for the model alone.
            let report = outcome.map(|outcome| match outcome.is_in_background() {
                true => Html::of(
                    "It works in the background, and reports to the model when it is done.",
                ),
                false => markdown::html(&outcome.text),
            });
            Agent { prompt: markdown::html(&input.prompt), report }.html()
        }
        ToolInput::WebSearch(input) => search(call, &input),
        ToolInput::WebFetch(input) => Fetch {
            url: &input.url,
            is_address: markdown::is_address(&input.url),
            prompt: &input.prompt,
            answer: outcome
                .map(|outcome| markdown::html(outcome.detail("result").unwrap_or(&outcome.text))),
        }
        .html(),
        ToolInput::ExitPlanMode(input) => {
            let plan = input.plan.as_deref().unwrap_or_default();
            Prose {
                text: markdown::html(plan),
                answer: outcome.map(|outcome| outcome.text.as_str()),
            }
            .html()
        }
        ToolInput::Glob(_) | ToolInput::Grep(_) => result(call),
        _ => Json { input: tidy(&call.value()), result: result(call) }.html(),
    }
}

/// What the model was told.
fn result(call: &Call) -> Html {
    let Some(outcome) = &call.outcome else { return Html::new() };
    let mut html = Text { output: output(call, outcome, &outcome.text) }.html();
    if outcome.pictures > 0 {
        let words = count(outcome.pictures, "picture", "pictures");
        let pictures =
            Pictures { seq: outcome.seq, call: &call.id, words: format!("Show {words}") };
        html.html(&pictures.html());
    }
    html
}

fn file(call: &Call, folder: &str, path: &str, diff: Diff) -> Html {
    let failed = call.outcome.as_ref().filter(|outcome| outcome.is_error);
    let is_empty = diff.is_empty();
    // All of it can be had once the CLI has said what it is.
    let (diff, left) = match call.outcome.as_ref().filter(|outcome| outcome.diff().is_some()) {
        Some(outcome) => {
            let (diff, left) = diff.cut(DIFF_LINES);
            (diff, (left > 0).then(|| Rest::of(call, outcome, left)))
        }
        None => (diff, None),
    };
    File {
        path: within(path, folder),
        diff: diff.html(Language::of_file(path)),
        rest: left,
        is_empty,
        failed: failed.map(|outcome| outcome.text.as_str()),
    }
    .html()
}

/// What a command wrote. Without the CLI's word on it, what the model was told is all there is.
fn streams(outcome: &Outcome) -> (&str, &str) {
    match (outcome.detail("stdout"), outcome.detail("stderr")) {
        (None, None) if outcome.is_error => ("", &outcome.text),
        (None, None) => (&outcome.text, ""),
        (stdout, stderr) => (stdout.unwrap_or_default(), stderr.unwrap_or_default()),
    }
}

/// How a command ended.
fn exit(outcome: &Outcome) -> Option<String> {
    if outcome.details.get("interrupted") == Some(&Value::Bool(true)) {
        return Some("interrupted".to_owned());
    }
    if let Some(words) = outcome.detail("returnCodeInterpretation") {
        return Some(words.to_owned());
    }
    if outcome.detail("backgroundTaskId").is_some() {
        return Some("goes on in the background".to_owned());
    }
    // The CLI has nothing to say of a command that ended well.
    let code = match outcome.text.lines().next().and_then(|line| line.strip_prefix("Exit code ")) {
        Some(code) if outcome.is_error => code.parse::<i32>().ok()?,
        _ if outcome.is_error => return None,
        _ => 0,
    };
    Some(format!("exit code {code}"))
}

/// A text that may be long: its beginning, and how to get the rest.
struct Cut {
    text: Html,
    /// How much is not shown, and where all of it is.
    rest: Option<Rest>,
}

struct Rest {
    lines: String,
    seq: u64,
    call: String,
}

impl Rest {
    fn of(call: &Call, outcome: &Outcome, left: usize) -> Self {
        let lines = count(left, "more line", "more lines");
        Self { lines, seq: outcome.seq, call: call.id.clone() }
    }
}

fn output(call: &Call, outcome: &Outcome, text: &str) -> Cut {
    cut(call, outcome, text, None)
}

fn cut(call: &Call, outcome: &Outcome, text: &str, language: Option<Language>) -> Cut {
    let text = text.trim_end_matches('\n');
    let mut end = text.match_indices('\n').nth(LINES - 1).map_or(text.len(), |(at, _)| at);
    if end > BYTES {
        end =
            text.char_indices().map(|(at, _)| at).take_while(|at| *at <= BYTES).last().unwrap_or(0);
    }
    let (shown, left) = text.split_at_checked(end).unwrap_or((text, ""));
    let left = left.strip_prefix('\n').unwrap_or(left);
    let rest = (!left.trim().is_empty()).then(|| Rest::of(call, outcome, left.lines().count()));
    Cut { text: code::html(shown, language), rest }
}

fn search(call: &Call, input: &WebSearchInput) -> Html {
    let mut links = Vec::new();
    let results = call.outcome.as_ref().and_then(|outcome| outcome.details.get("results"));
    for result in results.and_then(Value::as_array).into_iter().flatten() {
        for page in result.get("content").and_then(Value::as_array).into_iter().flatten() {
            let text =
                |name: &str| page.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            links.push((text("title"), text("url")));
        }
    }
    links.retain(|(_, url)| markdown::is_address(url));
    if links.is_empty() {
        return result(call);
    }
    Search { query: &input.query, links }.html()
}

/// JSON as somebody would write it.
#[must_use]
pub(crate) fn tidy(value: &Value) -> Html {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    code::html(&text, Language::named("json"))
}

/// A template that is made of what was escaped, or is escaped by it.
trait Shown: Template + Sized {
    fn html(&self) -> Html {
        Html::of_template(self)
    }
}

impl<T: Template> Shown for T {}

#[derive(Template)]
#[template(path = "call/bash.html")]
struct Bash {
    command: Html,
    stdout: Option<Cut>,
    stderr: Option<Cut>,
    exit: Option<String>,
}

#[derive(Template)]
#[template(path = "call/file.html")]
struct File<'a> {
    path: &'a str,
    diff: Html,
    rest: Option<Rest>,
    is_empty: bool,
    failed: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "call/text.html")]
struct Text {
    output: Cut,
}

#[derive(Template)]
#[template(path = "call/pictures.html")]
struct Pictures<'a> {
    seq: u64,
    call: &'a str,
    words: String,
}

#[derive(Template)]
#[template(path = "call/agent.html")]
struct Agent {
    prompt: Html,
    report: Option<Html>,
}

#[derive(Template)]
#[template(path = "call/search.html")]
struct Search<'a> {
    query: &'a str,
    links: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "call/fetch.html")]
struct Fetch<'a> {
    url: &'a str,
    is_address: bool,
    prompt: &'a str,
    answer: Option<Html>,
}

#[derive(Template)]
#[template(path = "call/prose.html")]
struct Prose<'a> {
    text: Html,
    answer: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "call/json.html")]
struct Json {
    input: Html,
    result: Html,
}
